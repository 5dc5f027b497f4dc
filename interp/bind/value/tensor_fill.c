/* tensor_fill.c - whole tensors from numbers, lists and tensors, and back to lists. */
#include <inttypes.h>
#include <math.h>

#include "bind/value/tensor.h"

/* Raises unless a store casts elements of type from to type to. */
static void check_store(lua_State *L, const TdType *to, const TdType *from) {
  TdDiag d = td_bind_diag(td_bind_arena(L));
  bool boolean = to->kind == TD_T_BOOL && from->kind != TD_T_BOOL;
  if (boolean || !td_promote_can_store(to, from)) {
    const char *type = td_type_str(d.arena, to);
    td_bind_refuse(L, TD_USAGE, "needs-cast",
                   boolean ? NULL : td_text_fmt(d.arena, "convert it: %s[..](x)", type),
                   "%s does not become %s by itself", td_type_str(d.arena, from), type);
  }
  if (!td_promote_cast(td_bind_enter(L)->session, to, from, (TdLoc){0}, &d)) td_bind_raise(L, &d);
}

/* Copies a tensor of equal shape, which may share memory with `to`. */
static void copy_all(lua_State *L, TdTensor *to, const TdTensor *from) {
  if (td_tensor_overlap(to, from)) {
    TdTensor *aside = td_tensor_new(td_bind_arena(L), from->type, false);
    td_tensor_copy(td_bind_enter(L)->ctx, aside, from);
    from = aside;
  }
  td_tensor_copy(td_bind_enter(L)->ctx, to, from);
}

/* Begins work on whole tensors, which lasts until the C function returns. */
static void begin(lua_State *L) {
  td_bind_work(L, TD_WORK_TENSOR);
}

/* Whether a number (at idx), stored as `bits`, is within what type t of integers or fixed point
 * holds; one that saturates holds all, and 64 bits without sign are Lua's words. */
static bool is_held(lua_State *L, int idx, const TdType *t, uint64_t bits) {
  bool counted = td_type_is_integer(t) || t->kind == TD_T_FIXED || t->kind == TD_T_UFIXED;
  if (!counted || t->saturate || lua_type(L, idx) != LUA_TNUMBER) return true;
  int64_t v = lua_isinteger(L, idx) ? lua_tointeger(L, idx) : 0;
  if (td_type_is_integer(t) && t->w >= 64) return td_type_is_signed(t) || t->w == 64 || v >= 0;
  if (td_type_is_integer(t)) return (int64_t)bits == v;
  double is = (double)(td_type_is_signed(t) ? (double)(int64_t)bits : (double)bits),
         step = ldexp(1, -t->f);
  return fabs(is * step - lua_tonumber(L, idx)) <= step;
}

/* "entry [2][1]". */
static const char *entry_text(lua_State *L, const int64_t *index, int n) {
  TdText at = td_text_new(td_bind_arena(L));
  td_text_puts(&at, "entry ");
  td_bind_put_index(&at, index, n, 1);
  return td_text_str(&at);
}

/* Raises because entry `index` of a list for t, at stack slot `value`, is more, or less, than its
 * elements hold. */
static void refuse_entry(lua_State *L, const TdTensor *t, const int64_t *index, int value) {
  TdArena *a = td_bind_arena(L);
  const char *type = td_type_str(a, t->type->elem), *number = luaL_tolstring(L, value, NULL);
  const char *help = td_text_fmt(a,
                                 "take a wider type, or cast it: %s(%s), or a type that saturates: "
                                 "with {overflow = \"saturate\"}",
                                 type, number);
  td_bind_refuse(L, TD_USAGE, "out-of-range", help, "%s is %s, which %s does not hold",
                 entry_text(L, index, t->type->rank), number, type);
}

/* Writes the nested list at stack slot `list` to t, whose first d indices are fixed. */
static void set_list(lua_State *L, TdTensor *t, int list, int d, int64_t *index) {
  const TdType *e = t->type->elem;
  int64_t n = lua_istable(L, list) ? (int64_t)lua_rawlen(L, list) : -1;
  if (n != t->extent[d]) {
    TdText at = td_text_new(td_bind_arena(L));
    td_text_puts(&at, d ? "entry " : "the list");
    td_bind_put_index(&at, index, d, 1);
    if (n < 0)
      td_bind_fail(L, "list", "%s is %s, not a list of %" PRId64, td_text_str(&at),
                   td_bind_words(L, list), t->extent[d]);
    td_bind_fail(L, "list", "%s has length %" PRId64 ", not %" PRId64, td_text_str(&at), n,
                 t->extent[d]);
  }
  luaL_checkstack(L, 2, "nested list");
  for (index[d] = 0; index[d] < n; index[d]++) {
    uint64_t bits;
    td_ctx_tick(td_bind_enter(L)->ctx, 1);
    lua_rawgeti(L, list, index[d] + 1);
    if (d + 1 < t->type->rank) {
      set_list(L, t, lua_gettop(L), d + 1, index);
    } else if (td_bind_to_stored(L, -1, e, &bits)) {
      if (!is_held(L, -1, e, bits)) refuse_entry(L, t, index, lua_gettop(L));
      td_tensor_put(t, index, bits);
    } else {
      int value = lua_gettop(L);
      const char *at = td_text_fmt(td_bind_arena(L), "%s: ", entry_text(L, index, d + 1));
      td_bind_fail_stored(L, value, e, at);
    }
    lua_pop(L, 1);
  }
}

/* Writes the Lua value at idx to all of t, as a store does: a tensor, a number or a boolean. */
static void set_value(lua_State *L, TdTensor *t, int idx) {
  const TdTensorBox *from = td_bind_test_tensor(L, idx);
  const TdType *e = t->type->elem;
  uint64_t bits;
  if (from) {
    td_bind_check_shapes(L, t->type, from->tensor->type);
    check_store(L, e, from->tensor->type->elem);
    td_bind_check_written(L, from->tensor);
    copy_all(L, t, from->tensor);
  } else if (td_bind_to_stored(L, idx, e, &bits)) {
    td_tensor_fill(td_bind_enter(L)->ctx, t, bits);
  } else {
    td_bind_fail_stored(L, idx, e, "");
  }
}

/* t:set(v) */
int td_bind_tensor_set(lua_State *L) {
  lua_settop(L, 2);
  begin(L);
  set_value(L, td_bind_check_tensor(L, 1), 2);
  return 0;
}

int td_bind_convert_tensor(lua_State *L, const TdType *t) {
  const TdTensorBox *from = td_bind_test_tensor(L, 2);
  if (lua_isnone(L, 2)) {
    td_bind_push_tensor(L, t, true);
    return 1;
  }
  begin(L);
  if (from) {
    TdDiag d = td_bind_diag(td_bind_arena(L));
    td_bind_check_shapes(L, t, from->tensor->type);
    td_bind_check_written(L, from->tensor);
    if (!td_promote_cast(td_bind_enter(L)->session, t->elem, from->tensor->type->elem, (TdLoc){0},
                         &d))
      td_bind_raise(L, &d);
    td_tensor_copy(td_bind_enter(L)->ctx, td_bind_push_tensor(L, t, false), from->tensor);
    return 1;
  }
  uint64_t bits;
  if (lua_istable(L, 2)) {
    const char *type = td_type_str(td_bind_arena(L), t);
    return td_bind_refuse(L, TD_USAGE, "arguments",
                          "tide.tensor(type, list) makes a tensor of a list",
                          "a table does not become %s by itself", type);
  }
  if (!td_bind_to_stored(L, 2, t->elem, &bits)) td_bind_fail_stored(L, 2, t->elem, "");
  TdTensor *made = td_bind_push_tensor(L, t, false);
  if (bits) td_tensor_fill(td_bind_enter(L)->ctx, made, bits);
  return 1;
}

/* The tensor type at idx, or raises. */
static const TdType *check_tensor_type(lua_State *L, int idx) {
  const TdType *t = td_bind_check_type(L, idx);
  if (t->kind != TD_T_TENSOR)
    td_bind_fail(L, "arguments", "a tensor type is expected here, not %s",
                 td_type_str(td_bind_arena(L), t));
  return t;
}

/* tide.tensor(T[M][N], list) */
static int l_tensor(lua_State *L) {
  lua_settop(L, 2);
  begin(L);
  TdTensor *t = td_bind_push_tensor(L, check_tensor_type(L, 1), false);
  int64_t index[TD_MAX_RANK];
  set_list(L, t, 2, 0, index);
  return 1;
}

/* tide.state(T[n], start): start is a number, a boolean, a list or a tensor. */
static int l_state(lua_State *L) {
  lua_settop(L, 2);
  const TdType *type = check_tensor_type(L, 1);
  TdTensor *t = td_bind_push_tensor(L, type, false);
  TdTensorBox *box = lua_touserdata(L, 3);
  TdTensor *start = td_tensor_new(box->memory->arena, type, false);
  int64_t index[TD_MAX_RANK];
  begin(L);
  if (lua_istable(L, 2))
    set_list(L, start, 2, 0, index);
  else
    set_value(L, start, 2);
  td_tensor_copy(td_bind_enter(L)->ctx, t, start);
  box->order = 1;
  box->restored = start;
  td_bind_account(L);
  td_bind_settop(L, 3);
  return 1;
}

/* t:reset() of a state: it holds again what it started with. */
int td_bind_tensor_reset(lua_State *L) {
  TdTensorBox *box = td_bind_check_box(L, 1);
  if (!box->restored) td_bind_fail(L, "not-a-state", "only what tide.state made can be reset");
  begin(L);
  td_bind_state_reset(L, box);
  return 0;
}

/* t:copy(): its own memory, row-major; what was not written is not written in the copy. */
int td_bind_tensor_copy(lua_State *L) {
  const TdTensor *t = td_bind_check_tensor(L, 1);
  int64_t index[TD_MAX_RANK];
  begin(L);
  bool declared = td_tensor_first_unwritten(td_bind_enter(L)->ctx, t, index);
  td_tensor_copy(td_bind_enter(L)->ctx, td_bind_push_tensor(L, t->type, declared), t);
  return 1;
}

/* Pushes the list of what lies in t below d indices. */
static void push_list(lua_State *L, const TdTensor *t, int d, int64_t *index) {
  luaL_checkstack(L, 2, "nested list");
  int64_t n = t->extent[d];
  lua_createtable(L, n < INT32_MAX ? (int)n : 0, 0);
  for (index[d] = 0; index[d] < n; index[d]++) {
    if (d + 1 < t->type->rank)
      push_list(L, t, d + 1, index);
    else
      td_bind_push_bits(L, t->type->elem, td_tensor_get(t, index));
    td_ctx_tick(td_bind_enter(L)->ctx, 1);
    lua_rawseti(L, -2, index[d] + 1);
  }
}

/* t:table() */
int td_bind_tensor_table(lua_State *L) {
  const TdTensor *t = td_bind_check_tensor(L, 1);
  begin(L);
  td_bind_check_readable(L, t);
  int64_t index[TD_MAX_RANK];
  push_list(L, t, 0, index);
  return 1;
}

void td_bind_open_fill(lua_State *L) {
  static const luaL_Reg functions[] = {{"tensor", l_tensor}, {"state", l_state}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
