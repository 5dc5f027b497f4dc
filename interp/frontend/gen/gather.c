/* gather.c - an array of streams as a whole: Z:gather() takes a token from each stream,
 * Z:scatter(x) gives each its part, in the order of their indices; both become loops. */
#include "frontend/gen/irgen.h"

/* The loops over the indices of an array of streams, and their variables as indices. */
typedef struct Nest {
  TdSym v[TD_MAX_RANK];
  const TdType *type; /* of the array */
  TdLoc loc;
} Nest;

static Nest open_nest(TdIrgen *l, const TdType *type, TdLoc loc) {
  Nest n = {.type = type, .loc = loc};
  for (int d = 0; d < type->rank; d++) n.v[d] = td_irgen_declare(l, "s", TD_SYM_LOOP);
  return n;
}

/* Emits the loops of n around a statement. */
static void close_nest(TdIrgen *l, const Nest *n, const TdStmt *s) {
  const TdExpr *zero = td_expr_index(l->session, l->arena, 0, n->loc);
  for (int d = n->type->rank; d-- > 0;) {
    td_irgen_hide(l, n->v[d]);
    s = td_stmt_for(l->store, n->v[d], zero, n->type->dim[d], 1,
                    td_stmt_block(l->store, &s, 1, n->loc), n->loc);
  }
  td_irgen_emit(l, s);
}

/* Element `of` at the variables of n: of an array of streams a stream, of a tensor its part. */
static TdVal part_of(TdIrgen *l, TdVal of, const Nest *n) {
  for (int d = 0; d < n->type->rank && td_irgen_ok(&of); d++) {
    const TdExpr *i = td_expr_var(l->arena, n->v[d], td_type_index(l->session), n->loc);
    of = td_irgen_index(l, of, td_irgen_scalar(i), n->loc);
  }
  return of;
}

/* The type of all tokens of an array of streams side by side, or NULL with a failure. */
static const TdType *type_of_all(TdIrgen *l, const TdType *array, TdLoc loc) {
  const TdType *token = array->elem;
  const TdExpr *dim[2 * TD_MAX_RANK];
  int rank = 0, inner = token->kind == TD_T_TENSOR ? token->rank : 0;
  for (int d = 0; d < array->rank; d++) dim[rank++] = array->dim[d];
  for (int d = 0; d < inner; d++) dim[rank++] = token->dim[d];
  if (rank <= TD_MAX_RANK) return td_type_tensor(l->session, td_type_scalar(token), rank, dim);
  td_irgen_fail(l, "rank", loc, "a tensor has at most %d dimensions", TD_MAX_RANK);
  return NULL;
}

TdVal td_irgen_gather(TdIrgen *l, TdVal of, TdLoc loc) {
  const TdType *all = type_of_all(l, of.e->type, loc);
  if (!all) return td_irgen_failed();
  TdSym sym = td_irgen_declare(l, "tokens", TD_SYM_LOCAL);
  td_irgen_emit(l, td_stmt_local(l->store, sym, all, TD_INIT_NONE, NULL, loc));
  TdVal tokens = td_irgen_tensor(td_expr_whole(l->session, l->arena, sym, all, loc), loc);
  Nest n = open_nest(l, of.e->type, loc);
  TdVal from = part_of(l, of, &n), to = part_of(l, tokens, &n);
  if (!td_irgen_ok(&from) || !td_irgen_ok(&to)) return td_irgen_failed();
  close_nest(l, &n, td_stmt_get(l->store, from.e, NULL, to.e->type, to.e, loc));
  return tokens;
}

bool td_irgen_scatter(TdIrgen *l, TdVal of, TdVal x, TdLoc loc) {
  const TdType *all = type_of_all(l, of.e->type, loc);
  if (!all) return false;
  if (x.kind != TD_V_TENSOR || !td_irgen_same_shape(l, all, x.e->type))
    return td_irgen_fail(l, "shapes", loc,
                         "scatter gives '%s' a tensor %s: a token for each stream", of.e->sym->name,
                         td_type_str(l->arena, all));
  Nest n = open_nest(l, of.e->type, loc);
  TdVal to = part_of(l, of, &n), part = part_of(l, x, &n);
  if (!td_irgen_ok(&to) || !td_irgen_ok(&part)) return false;
  const TdType *token = of.e->type->elem;
  const TdExpr *value = token->kind == TD_T_TENSOR ? td_irgen_to_tensor(l, part, token, loc)
                                                   : td_irgen_to_stored(l, part, token);
  if (!value) return false;
  close_nest(l, &n, td_stmt_put(l->store, to.e, value, loc));
  return true;
}
