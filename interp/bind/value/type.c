/* type.c - types as Lua values: making, shaping, asking; calling one converts. */
#include <stdlib.h>
#include <string.h>

#include "bind/value/tensor.h"
#include "bind/foreign/signature.h"
#include "bind/program/trace.h"
#include "bind/program/unit.h"

#define KEY_UNIQUE "tide.unique"

void td_bind_push_unique(lua_State *L, const char *class, const void *p) {
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_UNIQUE);
  if (lua_rawgetp(L, -1, p) == LUA_TNIL) {
    lua_pop(L, 1);
    const void **box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = p;
    luaL_setmetatable(L, class);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, p);
  }
  lua_remove(L, -2);
}

void td_bind_push_type(lua_State *L, const TdType *t) {
  td_bind_push_unique(L, TD_CLASS_TYPE, t);
}

const TdType *td_bind_test_type(lua_State *L, int idx) {
  const TdType *const *box = luaL_testudata(L, idx, TD_CLASS_TYPE);
  return box ? *box : NULL;
}

const TdType *td_bind_check_type(lua_State *L, int idx) {
  const TdType *t = td_bind_test_type(L, idx);
  if (!t)
    td_bind_refuse(L, TD_USAGE, "arguments",
                   lua_type(L, idx) == LUA_TSTRING
                       ? "types stand without quotes"
                       : "types are i32, f32[8][8], tide.int(5) and the like",
                   "a type is expected here, not %s", td_bind_words(L, idx));
  return t;
}

const TdType *td_bind_check_scalar_type(lua_State *L, int idx) {
  const TdType *t = td_bind_check_type(L, idx);
  if (!td_type_is_scalar(t))
    td_bind_fail(L, "arguments", "a scalar type is expected here, not %s",
                 td_type_str(td_bind_arena(L), t));
  return t;
}

/* The integer argument at idx, from lo to hi, or raises: `what` must be so. */
static int check_int(lua_State *L, int idx, const char *what, int lo, int hi) {
  int whole = 0;
  lua_Integer v = lua_type(L, idx) == LUA_TNUMBER ? lua_tointegerx(L, idx, &whole) : 0;
  if (!whole || v < lo || v > hi)
    td_bind_fail(L, "type-width", "%s is an integer from %d to %d", what, lo, hi);
  return (int)v;
}

static int l_int(lua_State *L) {
  int w = check_int(L, 1, "the width", 1, TD_MAX_BITS);
  td_bind_push_type(L, td_type_int(td_bind_enter(L)->session, w));
  return 1;
}

static int l_uint(lua_State *L) {
  int w = check_int(L, 1, "the width", 1, TD_MAX_BITS);
  td_bind_push_type(L, td_type_uint(td_bind_enter(L)->session, w));
  return 1;
}

static int push_fixed(lua_State *L, bool is_signed) {
  int w = check_int(L, 1, "the width", 1, TD_MAX_BITS);
  int f = check_int(L, 2, "the number of fraction bits", -TD_MAX_BITS, TD_MAX_BITS);
  td_bind_push_type(L, td_type_fixed(td_bind_enter(L)->session, is_signed, w, f));
  return 1;
}

static int l_fixed(lua_State *L) {
  return push_fixed(L, true);
}

static int l_ufixed(lua_State *L) {
  return push_fixed(L, false);
}

/* tide.stream(T, {block = true}) */
static int l_stream(lua_State *L) {
  static const char *const options[] = {"block", NULL};
  lua_settop(L, 2);
  const TdType *t = td_bind_check_type(L, 1);
  if (t->kind == TD_T_PORT)
    td_bind_fail(L, "arguments", "a token is a scalar or a tensor, not a stream");
  bool block = td_bind_check_options(L, 2, options) && td_bind_opt_boolean(L, 2, "block", false);
  td_bind_push_type(L, td_type_port(td_bind_enter(L)->session, t, 0, NULL, block));
  return 1;
}

/* T:with {overflow = "wrap" or "saturate", rounding = "floor" or "nearest"}; what is not given
 * stays as it was. */
static int l_type_with(lua_State *L) {
  static const char *const options[] = {"overflow", "rounding", NULL};
  static const char *const overflow[] = {"wrap", "saturate", NULL};
  static const char *const rounding[] = {"floor", "nearest", NULL};
  lua_settop(L, 2);
  const TdType *t = td_bind_check_scalar_type(L, 1);
  if (!td_bind_check_options(L, 2, options))
    td_bind_fail(L, "arguments", "with takes {overflow = ..., rounding = ...}");
  int saturate = td_bind_opt_word(L, 2, "overflow", overflow, t->saturate);
  int nearest = td_bind_opt_word(L, 2, "rounding", rounding, t->nearest);
  const TdType *r = td_type_with(td_bind_enter(L)->session, t, saturate == 1, nearest == 1);
  if (r->saturate != (saturate == 1) || r->nearest != (nearest == 1))
    td_bind_refuse(L, TD_USAGE, "option-value",
                   "integers and fixed point may saturate, fixed point may round to nearest",
                   "%s has no such mode", td_type_str(td_bind_arena(L), t));
  td_bind_push_type(L, r);
  return 1;
}

/* Pushes T[extent], for the extent at idx. */
static void push_shaped(lua_State *L, const TdType *t, int idx) {
  const TdExpr *dim[TD_MAX_RANK + 1];
  int rank = t->rank;
  for (int d = 0; d < rank; d++) dim[d] = t->dim[d];
  if (rank == TD_MAX_RANK) td_bind_fail(L, "rank", "a type has at most %d dimensions", TD_MAX_RANK);
  dim[rank] = td_bind_check_extent(L, idx);
  TdSession *s = td_bind_enter(L)->session;
  td_bind_push_type(L, t->kind == TD_T_PORT ? td_type_port(s, t->elem, rank + 1, dim, t->block)
                                            : td_type_tensor(s, td_type_scalar(t), rank + 1, dim));
}

/* Pushes the extents of t as a list of integers and sizes. */
static void push_shape(lua_State *L, const TdType *t) {
  lua_createtable(L, t->rank, 0);
  for (int d = 0; d < t->rank; d++) {
    int64_t extent;
    if (td_type_extent(t, d, &extent))
      lua_pushinteger(L, extent);
    else
      td_bind_push_unique(L, TD_CLASS_SIZE, t->dim[d]);
    lua_rawseti(L, -2, d + 1);
  }
}

/* Pushes what is known of t under a name; false when that is no field. */
static bool push_field(lua_State *L, const TdType *t, const char *key) {
  static const char *const kinds[] = {"int",  "uint",  "fixed",  "ufixed", "float",
                                      "bool", "index", "tensor", "stream"};
  const TdType *e = td_type_scalar(t);
  if (strcmp(key, "kind") == 0)
    lua_pushstring(L, kinds[t->kind]);
  else if (strcmp(key, "bits") == 0)
    lua_pushinteger(L, e->w);
  else if (strcmp(key, "fraction") == 0)
    lua_pushinteger(L, e->f);
  else if (strcmp(key, "signed") == 0)
    lua_pushboolean(L, td_type_is_signed(e) || e->kind == TD_T_FLOAT || e->kind == TD_T_INDEX);
  else if (strcmp(key, "shape") == 0)
    push_shape(L, t);
  else if (strcmp(key, "elem") == 0)
    td_bind_push_type(L, t->elem ? t->elem : t);
  else
    return false;
  return true;
}

/* T[extent], T.field, T:method. */
static int l_type_index(lua_State *L) {
  const TdType *t = td_bind_check_type(L, 1);
  if (lua_type(L, 2) != LUA_TSTRING) {
    push_shaped(L, t, 2);
  } else if (!push_field(L, t, lua_tostring(L, 2))) {
    return td_bind_method(L, TD_CLASS_TYPE, lua_tostring(L, 2));
  }
  return 1;
}

/* T(x): a Lua number or boolean as a value of scalar type t. */
static int convert_scalar(lua_State *L, const TdType *t) {
  uint64_t bits;
  const TdType *from = lua_isboolean(L, 2)   ? td_type_bool(td_bind_enter(L)->session)
                       : lua_isinteger(L, 2) ? td_type_int(td_bind_enter(L)->session, 64)
                                             : td_type_float(td_bind_enter(L)->session, 64);
  const char *given = td_bind_words(L, 2);
  bool known = lua_isboolean(L, 2) || lua_type(L, 2) == LUA_TNUMBER;
  TdDiag d = td_bind_diag(td_bind_arena(L));
  if (!known)
    td_bind_fail(L, "arguments", "%s takes a number or a boolean, not %s", td_type_str(d.arena, t),
                 given);
  if (t->w > 64)
    td_bind_fail(L, "too-wide", "%s has more bits than a Lua number", td_type_str(d.arena, t));
  if (!td_promote_cast(td_bind_enter(L)->session, t, from, (TdLoc){0}, &d)) td_bind_raise(L, &d);
  td_bind_to_bits(L, 2, t, &bits);
  td_bind_push_bits(L, t, bits);
  return 1;
}

/* T(x) of a scalar type, T[..](x) and T[..]() of a tensor type. */
static int l_type_call(lua_State *L) {
  const TdType *t = td_bind_check_type(L, 1);
  if (t->kind == TD_T_PORT)
    td_bind_fail(L, "arguments", "a stream type converts nothing; designs make streams");
  if (t->kind != TD_T_TENSOR && td_signature_is_meant(L, 2)) return td_signature_push(L, t, 2);
  if (t->kind == TD_T_TENSOR && lua_gettop(L) > 1 && td_signature_is_meant(L, 2))
    return td_signature_push(L, t, 2);
  if (lua_gettop(L) > 2) td_bind_fail(L, "arguments", "a type takes at most one value");
  if (td_bind_has_traced(L)) return td_bind_trace(L, "cast");
  if (t->kind == TD_T_TENSOR) return td_bind_convert_tensor(L, t);
  return convert_scalar(L, t);
}

/* T[i] = v: a type has no elements. */
static int l_type_newindex(lua_State *L) {
  const TdType *t = td_bind_check_type(L, 1);
  return td_bind_refuse(L, TD_USAGE, "type-element", "T(0) is a tensor of zeros, T() declares one",
                        "%s is a type, which has no elements to assign to",
                        td_type_str(td_bind_arena(L), t));
}

static int l_type_tostring(lua_State *L) {
  const TdType *t = td_bind_check_type(L, 1);
  lua_pushstring(L, td_type_str(td_bind_arena(L), t));
  return 1;
}

/* Sets a field of the module on top to a type. */
static void set_type(lua_State *L, const char *name, const TdType *t) {
  td_bind_push_type(L, t);
  lua_setfield(L, -2, name);
}

/* The types that have words. */
static void set_types(lua_State *L) {
  static const char *const integer[][2] = {
      {"i8", "u8"}, {"i16", "u16"}, {"i32", "u32"}, {"i64", "u64"}};
  TdSession *s = td_bind_enter(L)->session;
  for (int i = 0; i < 4; i++) {
    set_type(L, integer[i][0], td_type_int(s, 8 << i));
    set_type(L, integer[i][1], td_type_uint(s, 8 << i));
  }
  set_type(L, "f16", td_type_float(s, 16));
  set_type(L, "bf16", td_type_bf16(s));
  set_type(L, "f32", td_type_float(s, 32));
  set_type(L, "f64", td_type_float(s, 64));
  set_type(L, "bool", td_type_bool(s));
  set_type(L, "index", td_type_index(s));
}

void td_bind_open_type(lua_State *L) {
  static const luaL_Reg meta[] = {{"__index", l_type_index},
                                  {"__newindex", l_type_newindex},
                                  {"__call", l_type_call},
                                  {"__tostring", l_type_tostring},
                                  {NULL, NULL}};
  static const luaL_Reg methods[] = {{"with", l_type_with}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"int", l_int},       {"uint", l_uint},
                                       {"fixed", l_fixed},   {"ufixed", l_ufixed},
                                       {"stream", l_stream}, {NULL, NULL}};
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_UNIQUE);
  td_bind_class(L, TD_CLASS_TYPE, meta, methods);
  td_bind_class_fields(L, "kind bits fraction signed shape elem");
  lua_pop(L, 1);
  set_types(L);
  luaL_setfuncs(L, functions, 0);
  td_bind_open_size(L);
  td_bind_open_layout(L);
}
