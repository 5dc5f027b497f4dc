/* size.c - tide.size "n": a name without value, as extents and in index arithmetic. */
#include <ctype.h>
#include <string.h>

#include "bind/bind.h"

const TdExpr *td_bind_test_size(lua_State *L, int idx) {
  const TdExpr *const *box = luaL_testudata(L, idx, TD_CLASS_SIZE);
  return box ? *box : NULL;
}

/* The session's one copy of index expression e. */
static const TdExpr *keep(TdSession *s, const TdExpr *e) {
  return td_type_tensor(s, td_type_bool(s), 1, &e)->dim[0];
}

/* The session's one expression of an integer. */
static const TdExpr *constant(TdSession *s, int64_t v) {
  return td_type_tensor_of(s, td_type_bool(s), 1, &v)->dim[0];
}

const TdExpr *td_bind_check_extent(lua_State *L, int idx) {
  const TdExpr *size = td_bind_test_size(L, idx);
  if (size) return size;
  int whole = 0;
  lua_Integer v = lua_type(L, idx) == LUA_TNUMBER ? lua_tointegerx(L, idx, &whole) : 0;
  if (!whole)
    td_bind_refuse(L, TD_USAGE, "extent",
                   lua_isnil(L, idx) ? "has the name of the size a value? tide.size \"n\" is one "
                                       "that arguments tell"
                                     : NULL,
                   "an extent is an integer or a tide.size, not %s", td_bind_words(L, idx));
  if (v < 0) td_bind_fail(L, "extent", "an extent cannot be negative (%lld)", (long long)v);
  return constant(td_bind_enter(L)->session, v);
}

/* Whether s is a Lua name that is not a reserved word. */
static bool is_name(const char *s) {
  static const char reserved[] = " and break do else elseif end false for function goto if in local"
                                 " nil not or repeat return then true until while ";
  if (!isalpha((unsigned char)*s) && *s != '_') return false;
  for (const char *p = s; *p; p++)
    if (!isalnum((unsigned char)*p) && *p != '_') return false;
  size_t n = strlen(s);
  for (const char *p = strstr(reserved, s); p; p = strstr(p + 1, s))
    if (p[-1] == ' ' && p[n] == ' ') return false;
  return true;
}

/* tide.size "n" */
static int l_size(lua_State *L) {
  const char *name = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : NULL;
  if (!name || !is_name(name) || strlen(name) != lua_rawlen(L, 1))
    td_bind_fail(L, "arguments", "tide.size takes a name: tide.size \"n\"");
  TdSession *s = td_bind_enter(L)->session;
  TdArena *a = td_bind_arena(L);
  td_bind_push_unique(L, TD_CLASS_SIZE, keep(s, td_expr_size(s, a, name, (TdLoc){0})));
  return 1;
}

/* Operand idx as an index expression; *v is its value if it has one. */
static const TdExpr *operand(lua_State *L, int idx, bool *known, int64_t *v) {
  const TdExpr *size = td_bind_test_size(L, idx);
  int whole = 0;
  if (!size && lua_type(L, idx) == LUA_TNUMBER) *v = lua_tointegerx(L, idx, &whole);
  if (!size && !whole)
    td_bind_fail(L, "arguments", "sizes combine with integers and sizes, not with %s",
                 td_bind_words(L, idx));
  *known = !size;
  return size ? size : constant(td_bind_enter(L)->session, *v);
}

/* Raises unless x op y is affine, given what is known of them. */
static void check_affine(lua_State *L, int op, bool known_x, bool known_y, int64_t y) {
  if (op == TD_OP_MUL && !known_x && !known_y)
    td_bind_refuse(L, TD_USAGE, "not-affine", "extents are affine in sizes",
                   "a size is multiplied by a size");
  if ((op == TD_OP_FLOORDIV || op == TD_OP_MOD) && (!known_y || y < 1))
    td_bind_refuse(L, TD_USAGE, "not-affine", "extents are affine in sizes",
                   "sizes are divided by positive integers only");
}

/* Metamethod of the operator in the first upvalue. */
static int l_size_op(lua_State *L) {
  int op = (int)lua_tointeger(L, lua_upvalueindex(1));
  TdSession *s = td_bind_enter(L)->session;
  TdArena *a = td_bind_arena(L);
  bool known[2];
  int64_t v[2] = {0, 0};
  const TdExpr *x = operand(L, 1, &known[0], &v[0]), *y = operand(L, 2, &known[1], &v[1]);
  check_affine(L, op, known[0], known[1], v[1]);
  const TdExpr *e = keep(s, td_expr_op2(a, (TdOp)op, td_type_index(s), x, y));
  if (td_expr_is_const(e, &v[0]))
    lua_pushinteger(L, v[0]);
  else
    td_bind_push_unique(L, TD_CLASS_SIZE, e);
  return 1;
}

static int l_size_unm(lua_State *L) {
  lua_pushinteger(L, 0);
  lua_replace(L, 2);
  lua_insert(L, 1);
  return l_size_op(L);
}

static int l_size_tostring(lua_State *L) {
  const TdExpr *const *e = luaL_checkudata(L, 1, TD_CLASS_SIZE);
  lua_pushstring(L, td_print_expr_str(td_bind_arena(L), *e));
  return 1;
}

void td_bind_opt_depth(lua_State *L, int idx, int64_t *depth, const TdExpr **of_sizes) {
  lua_getfield(L, idx, "depth");
  if (td_bind_test_size(L, -1))
    *of_sizes = td_bind_check_extent(L, -1);
  else if (!td_bind_opt_integer(L, idx, "depth", depth))
    td_bind_fail(L, "depth", "the depth of a stream is an integer");
  if (*depth < 1)
    td_bind_fail(L, "depth", "a stream holds at least one token (depth = %d)", (int)*depth);
  lua_pop(L, 1);
}

void td_bind_open_size(lua_State *L) {
  static const luaL_Reg meta[] = {{"__tostring", l_size_tostring}, {NULL, NULL}};
  static const struct {
    const char *name;
    TdOp op;
    lua_CFunction fn;
  } ops[] = {{"__add", TD_OP_ADD, l_size_op},       {"__sub", TD_OP_SUB, l_size_op},
             {"__mul", TD_OP_MUL, l_size_op},       {"__mod", TD_OP_MOD, l_size_op},
             {"__idiv", TD_OP_FLOORDIV, l_size_op}, {"__unm", TD_OP_SUB, l_size_unm}};
  td_bind_class(L, TD_CLASS_SIZE, meta, NULL);
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    lua_pushinteger(L, ops[i].op);
    lua_pushcclosure(L, ops[i].fn, 1);
    lua_setfield(L, -2, ops[i].name);
  }
  lua_pop(L, 1);
  lua_pushcfunction(L, l_size);
  lua_setfield(L, -2, "size");
}
