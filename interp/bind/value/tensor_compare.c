/* tensor_compare.c - t:equal(u) and t:allclose(u, {rtol =, atol =}). Both return true, or
 * false and a text that names the first element that differs, so that assert shows it. */
#include <math.h>

#include "bind/value/tensor.h"

/* Two tensors of one shape, and what difference is none: |x - y| <= atol + rtol * |y|. */
typedef struct Pair {
  const TdTensor *t, *u;
  double rtol, atol;
} Pair;

/* Whether values x and y of types tx and ty are equal; two NaNs are. */
static bool same_value(const TdType *tx, uint64_t x, const TdType *ty, uint64_t y) {
  const TdType *types[] = {tx, ty};
  const uint64_t v[] = {x, y};
  TdFault none;
  if (td_num_op(TD_OP_EQ, &(TdType){.kind = TD_T_BOOL, .w = 1}, types, v, 2, &none)) return true;
  return isnan(td_num_to_double(tx, x)) && isnan(td_num_to_double(ty, y));
}

/* Whether the elements at an index differ by no more than p allows. */
static bool is_close(const Pair *p, const int64_t *index) {
  const TdType *tx = p->t->type->elem, *ty = p->u->type->elem;
  uint64_t x = td_tensor_get(p->t, index), y = td_tensor_get(p->u, index);
  if (same_value(tx, x, ty, y)) return true;
  double a = td_num_to_double(tx, x), b = td_num_to_double(ty, y);
  return p->rtol + p->atol > 0 && isfinite(a) && isfinite(b) &&
         fabs(a - b) <= p->atol + p->rtol * fabs(b);
}

/* Pushes false and "element [0][1] is 3, not 4". */
static int push_difference(lua_State *L, const Pair *p, const int64_t *index) {
  TdText text = td_text_new(td_bind_arena(L));
  td_text_puts(&text, "element ");
  td_bind_put_index(&text, index, p->t->type->rank, 0);
  td_text_puts(&text, " is ");
  td_num_print(&text, p->t->type->elem, td_tensor_get(p->t, index));
  td_text_puts(&text, ", not ");
  td_num_print(&text, p->u->type->elem, td_tensor_get(p->u, index));
  lua_pushboolean(L, 0);
  lua_pushstring(L, td_text_str(&text));
  return 2;
}

/* Pushes false and a text about the types of p. */
static int push_mismatch(lua_State *L, const Pair *p, const char *what) {
  TdArena *a = td_bind_arena(L);
  lua_pushboolean(L, 0);
  lua_pushfstring(L, "%s differ: %s and %s", what, td_type_str(a, p->t->type),
                  td_type_str(a, p->u->type));
  return 2;
}

/* Pushes the verdict on p. */
static int push_verdict(lua_State *L, const Pair *p) {
  const TdType *x = p->t->type, *y = p->u->type;
  if (!td_bind_same_shape(x, y)) return push_mismatch(L, p, "shapes");
  if ((x->elem->kind == TD_T_BOOL) != (y->elem->kind == TD_T_BOOL))
    return push_mismatch(L, p, "types");
  td_bind_work(L, TD_WORK_TENSOR);
  td_bind_check_readable(L, p->t);
  td_bind_check_readable(L, p->u);
  TdCtx *c = td_bind_enter(L)->ctx;
  int64_t index[TD_MAX_RANK] = {0};
  if (td_tensor_count(p->t)) do {
      td_ctx_tick(c, 1);
      if (!is_close(p, index)) return push_difference(L, p, index);
    } while (td_tensor_next(p->t, index));
  lua_pushboolean(L, 1);
  return 1;
}

/* t:equal(u): by value, whatever the types; two NaNs are equal. */
int td_bind_tensor_equal(lua_State *L) {
  Pair p = {.t = td_bind_check_tensor(L, 1), .u = td_bind_check_tensor(L, 2)};
  return push_verdict(L, &p);
}

/* What rounding leaves between two ways to compute in t. */
static double default_tolerance(const TdType *t) {
  if (t->kind != TD_T_FLOAT) return 0;
  return t->w == 16 ? 1e-2 : t->w == 32 ? 1e-4 : 1e-10;
}

/* The option `key` at idx, at least 0, or what stands by default. */
static double tolerance(lua_State *L, int idx, const char *key, double otherwise) {
  if (lua_getfield(L, idx, key) == LUA_TNIL) {
    lua_pop(L, 1);
    return otherwise;
  }
  if (lua_type(L, -1) != LUA_TNUMBER || !(lua_tonumber(L, -1) >= 0))
    td_bind_fail(L, "option-value", "%s is a number of at least 0", key);
  double x = lua_tonumber(L, -1);
  lua_pop(L, 1);
  return x;
}

/* t:allclose(u, {rtol =, atol =}): equal elements, and finite ones within the tolerance. */
int td_bind_tensor_allclose(lua_State *L) {
  static const char *const options[] = {"rtol", "atol", NULL};
  lua_settop(L, 3);
  Pair p = {.t = td_bind_check_tensor(L, 1), .u = td_bind_check_tensor(L, 2)};
  p.rtol = p.atol = fmax(default_tolerance(p.t->type->elem), default_tolerance(p.u->type->elem));
  if (td_bind_check_options(L, 3, options)) {
    p.rtol = tolerance(L, 3, "rtol", p.rtol);
    p.atol = tolerance(L, 3, "atol", p.atol);
  }
  return push_verdict(L, &p);
}
