/* draw_library.c - kernels of a library for inject: a nest of the program as a kernel of its own,
 * over fewer iterations, with operands in an order of their own, and sometimes spoilt. */
#include <string.h>

#include "rewrite/kernel/inject.h"
#include "tests/fuzz/draw.h"

const char *const draw_foreign_library =
    "local tide = require \"tide\"\n"
    "local add4 = tide.kernel {name = \"add4\", A = tide.i32[4], function(A)\n"
    "  for i = 0, 3 do A[i] = A[i] + 1 end\n"
    "end}\n"
    "return add4\n";

enum { TILED = 35, ARRANGED = 35, IN_VECTORS = 20, SPOILT = 12, DIVIDES = 15 };

/* A kernel under construction. */
typedef struct Library {
  Draw *draw;
  TdRewrite r; /* on a copy of the program, in a store of its own */
  TdDiag diag;
  const TdUnit *unit; /* that holds the nest */
} Library;

/* A loop over a part of its iterations that divides them, and so the loop that is all of its body;
 * as it is where its range is no number. */
static const TdStmt *cut_loop(Library *l, const TdStmt *loop) {
  const TdStmt *body = td_for_body(loop), *in = body->nkid == 1 ? body->kid[0] : NULL;
  int64_t lo, hi;
  if (in && in->kind == TD_STMT_FOR) body = td_util_block1(&l->r, cut_loop(l, in));
  const TdExpr *from = td_for_lo(loop), *to = td_for_hi(loop);
  if (loop->step == 1 && td_unit_value(l->unit, from, &lo) && td_unit_value(l->unit, to, &hi)) {
    int64_t by = draw_divisor(l->draw, hi - lo);
    if (hi > lo && (hi - lo) % by == 0) to = td_util_const(&l->r, lo + by);
  }
  return td_util_reloop(&l->r, loop, loop->sym, from, to, loop->step, body);
}

/* The program with a smaller nest, which is returned. */
static const TdStmt *cut_nest(Library *l, const TdStmt *nest) {
  const TdStmt *now = cut_loop(l, nest);
  const TdStmt *body = td_edit_replace(l->r.store, l->unit->body, nest->uid, &now, 1);
  l->unit = td_unit_with_body(l->r.store, l->unit, body);
  l->r.prog = td_prog_with(l->r.prog, l->unit);
  return now;
}

/* An operand in another order: its dimensions backwards or, by > 0, its last one in parts. */
typedef struct Arranged {
  Library *library;
  TdSym sym;
  int64_t by;
} Arranged;

/* The place of an element in the new order. */
static const TdExpr *arrange_load(void *ud, const TdExpr *e) {
  const Arranged *x = ud;
  TdRewrite *r = &x->library->r;
  TdArena *a = r->store->arena;
  const TdExpr *kid[TD_MAX_RANK + 1];
  int rank = (int)e->nkid;
  if (e->kind != TD_EXPR_LOAD || e->sym != x->sym) return e;
  for (int d = 0; d < rank; d++) kid[d] = e->kid[x->by ? d : rank - 1 - d];
  if (x->by) {
    const TdExpr *last = kid[rank - 1], *by = td_util_const(r, x->by);
    kid[rank - 1] = td_expr_op2(a, TD_OP_FLOORDIV, td_type_index(r->session), last, by);
    kid[rank++] = td_expr_op2(a, TD_OP_MOD, td_type_index(r->session), last, by);
  }
  return td_expr_load(a, e->sym, e->type, kid, rank, e->loc);
}

/* "a b -> b a" or "a b -> a b/2 b%2". */
static const char *order_text(const Arranged *x, int rank) {
  TdText t = td_text_new(x->library->draw->arena);
  for (int d = 0; d < rank; d++) td_text_putf(&t, "%c ", 'a' + d);
  td_text_puts(&t, "->");
  for (int d = 0; d < rank - (x->by > 0); d++)
    td_text_putf(&t, " %c", x->by ? 'a' + d : 'a' + rank - 1 - d);
  if (x->by)
    td_text_putf(&t, " %c/%lld %c%%%lld", 'a' + rank - 1, (long long)x->by, 'a' + rank - 1,
                 (long long)x->by);
  return td_text_str(&t);
}

/* The tensor in the new order. */
static const TdType *arranged_type(const Arranged *x, const TdType *t) {
  int64_t extent[TD_MAX_RANK + 1], was;
  for (int d = 0; d < t->rank; d++) td_type_extent(t, x->by ? d : t->rank - 1 - d, &extent[d]);
  if (x->by) {
    was = extent[t->rank - 1];
    extent[t->rank - 1] = was / x->by;
    extent[t->rank] = x->by;
  }
  return td_type_tensor_of(x->library->r.session, t->elem, t->rank + (x->by > 0), extent);
}

static bool is_no_view(void *ud, const TdExpr *e) {
  return e->kind != TD_EXPR_VIEW || e->sym != ud;
}

/* Gives one operand of the root an order of its own, or leaves all as they are. */
static void arrange(Library *l, TdUnit *u) {
  TdStore *st = l->r.store;
  TdParam *param = td_arena_copy(st->arena, u->param, u->nparam * sizeof *param);
  TdParam *p = &param[rng_below(l->draw->rng, (int)u->nparam)];
  Arranged x = {l, p->sym, 0};
  int64_t last;
  if (p->type->kind != TD_T_TENSOR ||
      !td_walk_exprs(l->r.session->ctx, u->body, is_no_view, (void *)(uintptr_t)p->sym))
    return;
  td_type_extent(p->type, p->type->rank - 1, &last);
  if (p->type->rank < 2 || rng_chance(l->draw->rng, 40)) x.by = draw_divisor(l->draw, last);
  if (p->type->rank == TD_MAX_RANK || (x.by && last % x.by)) return;
  const char *order = order_text(&x, p->type->rank);
  TdAttr mark = {.kind = TD_ATTR_ORDER, .arg = {{.s = td_names_str(l->r.session->names, order)}}};
  p->attrs = td_attrs_set(st->arena, p->attrs, mark);
  p->type = arranged_type(&x, p->type);
  u->param = param;
  u->body = td_walk_map(st, u->body, arrange_load, &x);
}

/* Has the kernel divide by an element of an operand first, for nothing: where that is 0, it faults.
 */
static void add_division(Library *l, TdUnit *u) {
  TdStore *st = l->r.store;
  const TdParam *p = &u->param[rng_below(l->draw->rng, (int)u->nparam)];
  const TdExpr *zero[TD_MAX_RANK];
  if (p->type->kind != TD_T_TENSOR || !td_type_is_integer(p->type->elem) || p->type->elem->w > 32)
    return;
  for (int d = 0; d < p->type->rank; d++) zero[d] = td_util_const(&l->r, 0);
  const TdExpr *x = td_expr_load(st->arena, p->sym, td_type_plain(l->r.session, p->type->elem),
                                 zero, p->type->rank, u->loc);
  const TdType *of[] = {x->type, x->type};
  const TdType *t = td_promote_op(l->r.session, TD_OP_FLOORDIV, of, 2, u->loc, &l->diag);
  if (!t) return;
  TdSym spare = td_store_sym(st, "spare", TD_SYM_LOCAL);
  const TdExpr *value = td_expr_op2(st->arena, TD_OP_FLOORDIV, t, x, x);
  const TdStmt **list = TD_NEWN(st->arena, const TdStmt *, u->body->nkid + 1);
  list[0] = td_stmt_local(st, spare, t, TD_INIT_VALUE, value, u->loc);
  for (uint32_t i = 0; i < u->body->nkid; i++) list[i + 1] = u->body->kid[i];
  u->body = td_stmt_block(st, list, u->body->nkid + 1, u->loc);
}

/* Says that an operand comes in vectors. */
static void ask_vectors(Library *l, TdUnit *u) {
  TdStore *st = l->r.store;
  TdParam *param = td_arena_copy(st->arena, u->param, u->nparam * sizeof *param);
  TdParam *p = &param[rng_below(l->draw->rng, (int)u->nparam)];
  TdAttr mark = {.kind = TD_ATTR_LANES, .arg = {{.i = 2 + rng_below(l->draw->rng, 2)}}};
  if (p->type->kind == TD_T_TENSOR) p->attrs = td_attrs_set(st->arena, p->attrs, mark);
  u->param = param;
}

/* The text with one thing changed, of those that mostly mean something else. */
static const char *spoil(Draw *d, const char *text) {
  static const char *const change[][2] = {{" + ", " - "}, {" * ", " + "},     {" - ", " + "},
                                          {"[0]", "[1]"}, {" = 0,", " = 1,"}, {" < ", " <= "},
                                          {"i8", "i16"},  {"b a", "a b"},     {"/2", "%2"}};
  const char *start = strstr(text, "tide.kernel"), *at = NULL, *const *one = NULL;
  int met = 0;
  for (size_t i = 0; start && i < sizeof change / sizeof *change; i++)
    for (const char *p = start; (p = strstr(p, change[i][0])); p++)
      if (rng_below(d->rng, ++met) == 0) at = p, one = change[i];
  if (!at) return text;
  return td_text_fmt(d->arena, "%.*s%s%s", (int)(at - text), text, one[1], at + strlen(one[0]));
}

/* The program under a store of its own, so that nothing that is drawn gets into the schedule's. */
static void open_library(Library *l, Draw *d, const TdUnit *unit) {
  TdStore *st = td_store_inner(d->arena, d->prog->store->session);
  st->next_uid = d->prog->store->next_uid;
  st->next_sym = d->prog->store->next_sym;
  *l = (Library){.draw = d, .diag = {.arena = d->arena}, .unit = unit};
  l->r = (TdRewrite){.prog = td_prog_new(st, d->prog->unit, d->prog->nunit),
                     .store = st,
                     .session = st->session,
                     .arena = d->arena,
                     .affine = d->affine,
                     .diag = &l->diag};
}

bool draw_library(Draw *d, int site, TdArgValue *v) {
  Library l;
  TdContract none = {0};
  TdInject j;
  size_t *from;
  const TdStmt *nest = d->site[site].loop;
  open_library(&l, d, d->site[site].unit);
  if (rng_chance(d->rng, TILED)) nest = cut_nest(&l, nest);
  if (!td_inject_find(&j, &l.r, &none, l.unit, nest) || !j.ntile) return false;
  const TdProg *p = td_inject_nest(&j, &from);
  TdUnit *root = td_unit_copy(l.r.store, td_prog_root(p));
  if (rng_chance(d->rng, DIVIDES)) add_division(&l, root);
  if (rng_chance(d->rng, ARRANGED)) arrange(&l, root);
  if (rng_chance(d->rng, IN_VECTORS)) ask_vectors(&l, root);
  TdText t = td_text_new(d->arena);
  td_print_prog(&t, td_prog_with(p, root));
  bool spoilt = rng_chance(d->rng, SPOILT);
  *v = (TdArgValue){.given = true, .text = spoilt ? spoil(d, td_text_str(&t)) : td_text_str(&t)};
  return true;
}
