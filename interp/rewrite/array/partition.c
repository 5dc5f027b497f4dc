/* partition.c - partition: the banks that hold an array, here and wherever it is passed. */
#include <string.h>

#include "analysis/net/interface.h"
#include "rewrite/array/call_aliases.h"

enum { ARRAY, DIMS, KIND, FACTOR };

/* What is asked for. */
typedef struct Banks {
  TdRewrite *r;
  TdInterface graph;
  uint32_t array;              /* in graph */
  bool dim[TD_MAX_RANK], less; /* less: dimensions were left out */
  TdBanks banks;
} Banks;

static bool refuse(const Banks *b, const char *code, const char *fmt, ...) TD_PRINTF(3, 4);
/* Refuses with "'A' <what>"; false. */
static bool refuse(const Banks *b, const char *code, const char *fmt, ...) {
  TdLoc none = {0};
  va_list ap;
  va_start(ap, fmt);
  const char *what = td_text_vfmt(b->r->arena, fmt, ap);
  va_end(ap);
  td_util_refuse(b->r, TD_USAGE, code, none, "'%s' %s", b->graph.array.at[b->array].at.sym->name,
                 what);
  return false;
}

/* Finds the array that is named, among all. */
static bool read_array(Banks *b) {
  TdRewrite *r = b->r;
  TdPlace at;
  TdLoc none = {0};
  if (!td_cursor_array(r->arena, r->prog, r->arg[ARRAY].text, NULL, &at, r->diag)) return false;
  const TdType *t = at.stmt ? at.stmt->type : td_unit_param(at.unit, at.sym)->type;
  if (t->kind != TD_T_TENSOR) {
    td_util_refuse(r, TD_USAGE, "not-an-array", none, "'%s' is no array", at.sym->name);
    return false;
  }
  TdAsk q = td_util_ask(r, td_prog_root(r->prog));
  td_interface_of(&q, &b->graph);
  b->array = td_interface_array(&b->graph, at.sym);
  return true;
}

/* Reads kind and factor, which must make sense together. */
static bool read_kind(Banks *b) {
  const TdArgValue *kind = &b->r->arg[KIND], *factor = &b->r->arg[FACTOR];
  const char *name = kind->given ? kind->text : factor->given ? "cyclic" : "complete";
  if (strcmp(name, "complete") == 0) {
    b->banks = (TdBanks){TD_BANKS_COMPLETE, 0};
    return !factor->given ||
           refuse(b, "factor", "is to be partitioned completely, which takes no factor");
  }
  TdBanksKind of = strcmp(name, "block") == 0 ? TD_BANKS_BLOCK : TD_BANKS_CYCLIC;
  b->banks = (TdBanks){of, factor->given ? factor->integer : 0};
  if (!factor->given) return refuse(b, "factor", "needs a factor to be %s", name);
  return b->banks.n >= 2 ||
         refuse(b, "factor", "cannot lie in %lld banks: at least 2", (long long)b->banks.n);
}

static TdBanksNode *node_of(Banks *b, int64_t d) {
  return &b->graph.banks.node.at[b->graph.array.at[b->array].first + (size_t)d];
}

/* Marks dimension d, which must exist, have as many elements as banks, and gain by it; a replay
 * leaves out what does not. */
static bool take_dim(Banks *b, int64_t d) {
  const TdType *t = b->graph.array.at[b->array].type;
  if (d < 0 || d >= t->rank)
    return refuse(b, "dimension", "has no dimension %lld (dimensions: 0 to %d)", (long long)d,
                  t->rank - 1);
  if (b->dim[d])
    return refuse(b, "dimension", "is to be partitioned twice in dimension %lld", (long long)d);
  const TdBanksNode *n = node_of(b, d);
  if (n->extent && b->banks.n > n->extent)
    return refuse(b, "factor", "has %lld elements in dimension %lld, fewer than %lld banks",
                  (long long)n->extent, (long long)d, (long long)b->banks.n);
  TdBanks asked = td_banks_norm(b->banks, n->extent);
  b->dim[d] = !td_banks_serves(n->banks, asked, n->extent);
  b->less |= !b->dim[d];
  return b->dim[d] || b->r->replays ||
         refuse(b, "partitioned", "is %s in dimension %lld already",
                td_banks_str(b->r->arena, n->banks), (long long)d);
}

/* Reads the dimensions; none given are all. */
static bool read_dims(Banks *b) {
  const TdArgValue *dims = &b->r->arg[DIMS];
  size_t n = dims->given ? dims->n : b->graph.array.at[b->array].type->rank;
  for (size_t i = 0; i < n; i++)
    if (!take_dim(b, dims->given ? dims->ints[i] : (int64_t)i)) return false;
  return n > 0 || refuse(b, "dimension", "is to be partitioned in no dimension");
}

/* Lowers the types of all that is this array, or part of it, under other names. */
static void solve(Banks *b) {
  for (uint32_t d = 0; d < TD_MAX_RANK; d++) {
    if (!b->dim[d]) continue;
    TdBanksNode *n = node_of(b, d);
    n->banks = td_banks_meet(n->banks, td_banks_norm(b->banks, n->extent), n->extent);
    td_banks_solve(b->r->arena, &b->graph.banks, b->graph.array.at[b->array].first + d);
  }
}

/* Tells what an array became, unless it is the one that was named and is just what was asked. */
static void note(const Banks *b, uint32_t array, int d, TdBanks was, TdBanks now) {
  const TdInterfaceArray *x = &b->graph.array.at[array];
  const TdBanksNode *n = &b->graph.banks.node.at[x->first + (size_t)d];
  if (td_banks_equal(now, td_banks_norm(b->banks, n->extent))) {
    if (array != b->array)
      td_util_note(b->r, "'%s' of '%s' too", x->at.sym->name, x->at.unit->sym->name);
    return;
  }
  TdArena *a = b->r->arena;
  bool met = was.kind != TD_BANKS_NONE;
  td_util_note(b->r, "'%s' of '%s' is %s in dimension %d%s%s", x->at.sym->name,
               x->at.unit->sym->name, td_banks_str(a, now), d, met ? ", where it was " : "",
               met ? td_banks_str(a, was) : "");
}

/* p with the new types of one array. */
static const TdProg *mark(const Banks *b, const TdProg *p, uint32_t array) {
  const TdInterfaceArray *x = &b->graph.array.at[array];
  TdStore *st = b->r->store;
  TdAttrs attrs = x->attrs;
  for (int d = 0; d < x->type->rank; d++) {
    const TdBanksNode *n = &b->graph.banks.node.at[x->first + (size_t)d];
    TdBanks was = td_banks_of(x->attrs, d, n->extent);
    if (td_banks_equal(was, n->banks)) continue;
    attrs = td_banks_set(st->arena, b->r->session->names, attrs, d, n->banks);
    note(b, array, d, was, n->banks);
  }
  return attrs.at == x->attrs.at ? p : td_call_aliases_set(b->r, p, &x->at, attrs);
}

/* Tells the log that a replay of the step was one on the dimensions that are marked. */
static void note_marked(const Banks *b) {
  TdRewrite *r = b->r;
  int64_t *dims = TD_NEWN(r->arena, int64_t, TD_MAX_RANK);
  TdArgValue *arg = td_arena_copy(r->arena, r->arg, TD_PRIM_ARGS * sizeof *arg);
  arg[DIMS] = (TdArgValue){.given = true, .ints = dims};
  for (int d = 0; d < TD_MAX_RANK; d++)
    if (b->dim[d]) dims[arg[DIMS].n++] = d;
  td_vec_push(r->arena, &r->did, ((TdPrimStep){td_prim_find("partition"), arg, r->prog, NULL, 0}));
}

static const TdProg *apply(TdRewrite *r) {
  Banks b = {.r = r};
  if (!read_array(&b) || !read_kind(&b) || !read_dims(&b)) return NULL;
  if (b.less) note_marked(&b);
  solve(&b);
  const TdProg *p = mark(&b, r->prog, b.array);
  for (uint32_t i = 0; i < b.graph.array.n; i++)
    if (i != b.array) p = mark(&b, p, i);
  return p;
}

const TdPrim td_prim_partition = {
    .name = "partition",
    .on = "array",
    .summary = "Spread an array over banks, so that several elements can be reached in one cycle.",
    .args = {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED, "the array", NULL},
             {"dims", TD_ARG_INTS, TD_ARG_OPTIONAL, "the dimensions, from 0; all by default", NULL},
             {"kind", TD_ARG_WORD, TD_ARG_OPTION,
              "how elements go to banks; cyclic if there is a "
              "factor",
              TD_WORDS_BANKS},
             {"factor", TD_ARG_INT, TD_ARG_OPTION, "how many banks", NULL}},
    .rewrite = "A = T[m][n]  =>  A = T[m][n] --@ partition(dim, kind, factor)",
    .legal =
        "where the dimension gains by it; what A is passed as, or comes from, gets the greatest "
        "partition below all that are asked for: cyclic 4 and cyclic 6 meet in cyclic 12, "
        "cyclic and block in complete",
    .errors = "not-an-array factor dimension partitioned",
    .example = "s:partition(\"A\", 1, {factor = 2})",
    .apply = apply,
};
