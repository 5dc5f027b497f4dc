/* math.c - operators with names on Lua numbers, outside kernels: what Lua's math library does,
 * and 64-bit words for the ones on bits. */
#include <math.h>

#include "bind/value/tensor.h"
#include "ir/num/exact.h"

/* Raises unless the argument at idx is a number. */
static void check_number(lua_State *L, int idx, int op) {
  if (lua_type(L, idx) != LUA_TNUMBER)
    td_bind_fail(L, "arguments", "tide.%s takes numbers, not %s", td_ops[op].lua,
                 td_bind_words(L, idx));
}

/* The argument at idx as an integer, or raises. */
static int64_t check_integer(lua_State *L, int idx, int op) {
  int whole = 0;
  lua_Integer v = lua_type(L, idx) == LUA_TNUMBER ? lua_tointegerx(L, idx, &whole) : 0;
  if (!whole)
    td_bind_fail(L, "arguments", "tide.%s takes integers, not %s", td_ops[op].lua,
                 td_bind_words(L, idx));
  return v;
}

static int push_abs(lua_State *L) {
  if (!lua_isinteger(L, 1)) {
    lua_pushnumber(L, fabs(lua_tonumber(L, 1)));
    return 1;
  }
  lua_Integer v = lua_tointeger(L, 1);
  lua_pushinteger(L, v < 0 ? (lua_Integer)(0u - (lua_Unsigned)v) : v);
  return 1;
}

/* Pushes x, which is whole, as an integer if it is one of 64 bits. */
static int push_whole(lua_State *L, double x) {
  if (x >= -0x1p63 && x < 0x1p63)
    lua_pushinteger(L, (lua_Integer)x);
  else
    lua_pushnumber(L, x);
  return 1;
}

static int push_asr(lua_State *L) {
  int64_t v = check_integer(L, 1, TD_OP_ASR), n = check_integer(L, 2, TD_OP_ASR);
  if (n < 0) td_bind_check_fault(L, TD_FAULT_NEGATIVE_SHIFT);
  uint64_t flip = v < 0 ? UINT64_MAX : 0;
  lua_pushinteger(L, (lua_Integer)(td_exact_shr((uint64_t)v ^ flip, n < 64 ? (int)n : 64) ^ flip));
  return 1;
}

/* tide.bits(x, lo, hi) and tide.with_bits(x, lo, hi, v) of a 64-bit word. */
static int push_slice(lua_State *L, int op) {
  uint64_t x = (uint64_t)check_integer(L, 1, op);
  int64_t lo = check_integer(L, 2, op), hi = check_integer(L, 3, op);
  if (lo < 0 || lo >= hi || hi > 64)
    td_bind_refuse(L, TD_USAGE, "bits-range",
                   "bits are counted from 0 at the low end; hi is not "
                   "taken",
                   "a Lua integer has no bits %lld to %lld: it has 64", (long long)lo,
                   (long long)hi);
  uint64_t mask = td_exact_shr(UINT64_MAX, 64 - (int)(hi - lo));
  uint64_t r = x >> lo & mask;
  if (op == TD_OP_SETBITS)
    r = (x & ~(mask << lo)) | ((uint64_t)check_integer(L, 4, op) & mask) << lo;
  lua_pushinteger(L, (lua_Integer)r);
  return 1;
}

/* tide.bitcast(T, x): a Lua integer gives its low bits, a float those of the float as wide as T. */
static int push_bitcast(lua_State *L) {
  const TdType *t = td_bind_check_scalar_type(L, 1);
  TdSession *s = td_bind_enter(L)->session;
  bool is_float = lua_type(L, 2) == LUA_TNUMBER && !lua_isinteger(L, 2);
  if (!lua_isboolean(L, 2)) check_number(L, 2, TD_OP_BITCAST);
  if (t->w > 64 || (is_float && t->w != 16 && t->w != 32 && t->w != 64))
    td_bind_fail(L, "bitcast-width", "no Lua number has %d bits", t->w);
  const TdType *from = is_float ? td_type_float(s, t->w) : td_type_uint(s, t->w);
  uint64_t v = 0;
  TdFault none;
  td_bind_to_bits(L, 2, from, &v);
  td_bind_push_bits(L, t, td_num_op(TD_OP_BITCAST, t, &from, &v, 1, &none));
  return 1;
}

/* tide.select(c, a, b) */
static int push_select(lua_State *L) {
  if (!lua_isboolean(L, 1))
    td_bind_refuse(L, TD_USAGE, "needs-bool",
                   "the condition comes first: tide.select(x ~= 0, a, b)",
                   "the condition of tide.select is a boolean, not %s", td_bind_words(L, 1));
  lua_pushvalue(L, lua_toboolean(L, 1) ? 2 : 3);
  return 1;
}

/* Pushes a function of floats. */
static int push_float(lua_State *L, int op) {
  double x = lua_tonumber(L, 1);
  switch (op) {
  case TD_OP_SQRT: x = sqrt(x); break;
  case TD_OP_EXP: x = exp(x); break;
  case TD_OP_LOG: x = log(x); break;
  case TD_OP_SIN: x = sin(x); break;
  case TD_OP_COS: x = cos(x); break;
  case TD_OP_TANH: x = tanh(x); break;
  default: x = fma(x, lua_tonumber(L, 2), lua_tonumber(L, 3));
  }
  lua_pushnumber(L, x);
  return 1;
}

int td_bind_scalar_op(lua_State *L, int op) {
  if (op == TD_OP_SELECT) return push_select(L);
  if (op == TD_OP_BITCAST) return push_bitcast(L);
  for (int i = 1; i <= lua_gettop(L); i++) check_number(L, i, op);
  switch (op) {
  case TD_OP_MIN: lua_pushvalue(L, lua_compare(L, 2, 1, LUA_OPLT) ? 2 : 1); return 1;
  case TD_OP_MAX: lua_pushvalue(L, lua_compare(L, 1, 2, LUA_OPLT) ? 2 : 1); return 1;
  case TD_OP_ABS: return push_abs(L);
  case TD_OP_ASR: return push_asr(L);
  case TD_OP_GETBITS:
  case TD_OP_SETBITS: return push_slice(L, op);
  case TD_OP_FLOOR:
    return lua_isinteger(L, 1) ? (lua_settop(L, 1), 1) : push_whole(L, floor(lua_tonumber(L, 1)));
  case TD_OP_CEIL:
    return lua_isinteger(L, 1) ? (lua_settop(L, 1), 1) : push_whole(L, ceil(lua_tonumber(L, 1)));
  default: return push_float(L, op);
  }
}
