/* expand.c - expand: statements on tensors become the loops that they mean. */
#include "lower/collective.h"
#include "lower/tensor_loops.h"
#include "rewrite/util.h"

enum { WHAT };

/* A search for a statement on tensors: of one array, or (NULL) any. */
typedef struct Find {
  TdSym array;
  const TdStmt *found;
} Find;

static bool has_tensor(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_TENSOR;
}

/* Whether s puts a token of many elements that no array holds. */
static bool is_tensor_put(const TdStmt *s) {
  return s->kind == TD_STMT_PUT && s->expr[1]->type->kind == TD_T_TENSOR &&
         s->expr[1]->kind != TD_EXPR_VIEW;
}

/* Whether s is a statement that loops can stand for. */
static bool is_tensor_statement(const TdStmt *s) {
  if (s->kind == TD_STMT_SET || is_tensor_put(s)) return true;
  if (s->kind == TD_STMT_LOCAL)
    return s->cls == TD_LOCAL_AUTO && s->init == TD_INIT_VALUE &&
           (s->type->kind == TD_T_TENSOR || !td_walk_expr(s->expr[0], has_tensor, NULL));
  return s->kind == TD_STMT_STORE && !td_walk_expr(s->expr[1], has_tensor, NULL);
}

static bool look(void *ud, const TdStmt *s) {
  Find *f = ud;
  bool of = !f->array || s->sym == f->array || (s->nexpr && s->expr[0]->sym == f->array);
  if (of && is_tensor_statement(s)) f->found = s;
  return !f->found;
}

/* Notes the loops that a statement became, the last first: of a matmul, those that multiply. */
static void note_loops(TdRewrite *r, const TdStmt *const *s, size_t n) {
  for (size_t i = n; i-- > 0;)
    if (s[i]->kind == TD_STMT_FOR) td_util_made(r, s[i]->sym->name);
}

/* u with statement s as loops; NULL with the diagnostic filled. */
static const TdUnit *expanded(TdRewrite *r, const TdUnit *u, const TdStmt *s) {
  TdTensorLoops w = {r->session, r->store->arena, r->store, r->diag};
  const TdStmt *now = td_tensor_loops_of(&w, s);
  if (td_diag_failed(r->diag) || now == s) return NULL;
  TdSym own = s->kind == TD_STMT_LOCAL ? s->sym : NULL;
  const TdStmt **list = TD_NEWN(r->arena, const TdStmt *, now->nkid);
  const TdStmt *block = own ? td_edit_slice(r->store, now, 1, now->nkid) : now;
  const TdStmt *named = td_util_rename(r, u, block);
  size_t n = 0;
  if (own) list[n++] = now->kid[0];
  for (uint32_t i = 0; i < named->nkid; i++) list[n++] = named->kid[i];
  note_loops(r, list, n);
  return td_unit_with_body(r->store, u, td_edit_replace(r->store, u->body, s->uid, list, n));
}

/* u with s, which puts a token, as its parts: a local, or the slot of a block stream, that is
 * filled, and the put of that. */
static const TdUnit *in_array(TdRewrite *r, const TdUnit *u, const TdStmt *s) {
  TdStore *st = r->store;
  const TdType *port = s->expr[0]->type;
  const char *want = td_text_fmt(r->arena, "%s_out", s->expr[0]->sym->name);
  TdSym token = td_store_sym(st, td_util_name(r, u, NULL, want), TD_SYM_LOCAL);
  const TdExpr *whole = td_expr_whole(r->session, st->arena, token, port->elem, s->loc);
  const TdStmt *list[3];
  size_t n = 0;
  if (port->block) {
    list[n++] = td_stmt_slot(st, s->expr[0], token, port->elem, s->loc);
    list[n++] = td_stmt_set(st, whole, s->expr[1], s->loc);
  } else {
    list[n++] = td_stmt_local(st, token, port->elem, TD_INIT_VALUE, s->expr[1], s->loc);
  }
  const TdExpr *end[] = {s->expr[0], whole};
  list[n++] = td_stmt_with_exprs(st, s, end, 2);
  return td_unit_with_body(st, u, td_edit_replace(st, u->body, s->uid, list, n));
}

/* The unit that the step is about, and the array; false with the diagnostic filled. */
static bool find(TdRewrite *r, const TdUnit **unit, TdSym *array) {
  TdDiag quiet = {.arena = r->arena};
  TdPlace at;
  if (td_cursor_array(r->arena, r->prog, r->arg[WHAT].text, NULL, &at, &quiet)) {
    *unit = at.unit;
    *array = at.sym;
    return true;
  }
  *array = NULL;
  return td_cursor_unit(r->arena, r->prog, r->arg[WHAT].text, unit, r->diag);
}

static const TdProg *apply(TdRewrite *r) {
  Find f = {0};
  const TdUnit *u;
  size_t n = 0;
  r->prog = td_collective_expand(r->prog);
  if (!find(r, &u, &f.array)) return NULL;
  for (; u->body; n++) {
    f.found = NULL;
    td_walk_stmt(r->session->ctx, u->body, look, &f);
    if (!f.found) break;
    const TdStmt *s = f.found;
    const TdUnit *now = is_tensor_put(s) ? in_array(r, u, s) : expanded(r, u, s);
    if (!now && !td_diag_failed(r->diag))
      return td_util_refuse(r, TD_UNSUPPORTED, "elements", s->loc, "no loops mean this statement");
    if (!now) return NULL;
    u = now;
  }
  if (n) return td_prog_with(r->prog, u);
  return td_util_refuse(r, TD_USAGE, "no-tensor", u->loc, "'%s' has no statement on tensors",
                        r->arg[WHAT].text);
}

const TdPrim td_prim_expand = {
    .name = "expand",
    .on = "array",
    .summary = "Write statements on tensors as the loops that they mean.",
    .args =
        {{"what", TD_ARG_ARRAY, TD_ARG_NEEDED,
          "an array, of which the statements are that set it, or a kernel or task, of which all "
          "are",
          NULL}},
    .rewrite = "C:set(tide.matmul(A, B))  =>  for i, j: C[i][j] = 0; "
               "for i, k, j: C[i][j] = C[i][j] + A[i][k] * B[k][j]",
    .legal = "always: docs/ir.md says which loops a statement on tensors is",
    .errors = "no-tensor elements collective",
    .example = "local g = tide.kernel {A = tide.f32[4], function(A) A:set(A * 2) end}; "
               "tide.schedule(g):expand(\"A\"); s:pipeline(\"k\")",
    .apply = apply,
};
