/* bind_run.c - arguments from Lua to a run, and what comes back. */
#include <string.h>

#include "bind/unit.h"
#include "eval/eval.h"
#include "ir/at.h"

/* Whether the table at idx is a list of arguments by name for p. */
static bool is_by_name(lua_State *L, int idx) {
  return lua_istable(L, idx) && lua_rawlen(L, idx) == 0;
}

void td_bind_name_arguments(lua_State *L, const TdProg *p, int first) {
  const TdUnit *u = td_prog_root(p);
  if (lua_gettop(L) != first || !is_by_name(L, first)) return;
  luaL_checkstack(L, (int)u->nparam + 8, "arguments");
  for (size_t i = 0; i < u->nparam; i++) lua_getfield(L, first, u->param[i].sym->name);
  lua_pushnil(L);
  while (lua_next(L, first)) {
    bool found = false;
    for (size_t i = 0; i < u->nparam; i++)
      found |=
          lua_type(L, -2) == LUA_TSTRING && strcmp(lua_tostring(L, -2), u->param[i].sym->name) == 0;
    if (!found)
      td_bind_fail(L, "argument", "'%s' has no parameter '%s'", u->sym->name,
                   luaL_tolstring(L, -2, NULL));
    lua_pop(L, 1);
  }
  lua_remove(L, first);
}

static int wrong_argument(lua_State *L, const TdUnit *u, size_t i, int idx) {
  TdArena *a = td_bind_arena(L);
  TdTensorBox *box = td_bind_test_tensor(L, idx);
  return td_bind_fail(L, "argument-type", "argument '%s' of '%s' is %s, not %s",
                      u->param[i].sym->name, u->sym->name, td_type_str(a, u->param[i].type),
                      box ? td_type_str(a, box->tensor->type) : luaL_typename(L, idx));
}

/* Whether the value at idx fits parameter i, whose type at the unit's sizes is t. */
static bool fits(lua_State *L, const TdType *t, int idx) {
  uint64_t bits;
  if (td_type_is_scalar(t)) return td_bind_to_bits(L, idx, t, &bits);
  if (t->kind == TD_T_PORT) return lua_istable(L, idx);
  TdTensorBox *box = td_bind_test_tensor(L, idx);
  return box && box->tensor->type == t;
}

/* p with its missing sizes taken from the arguments. */
static const TdProg *resolve_sizes(lua_State *L, const TdProg *p, int first) {
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  size_t n = td_prog_root(p)->nparam;
  const TdType **t = TD_NEWN(a, const TdType *, n);
  for (size_t i = 0; i < n; i++) {
    TdTensorBox *box = td_bind_test_tensor(L, first + (int)i);
    t[i] = box ? box->tensor->type : NULL;
  }
  const TdProg *at = td_at_arguments(p, t, n, &d);
  if (!at) td_bind_raise(L, &d);
  return at;
}

void td_bind_check_arguments(lua_State *L, const TdProg *p, int first) {
  TdBind *b = td_bind_enter(L);
  const TdUnit *u = td_prog_root(p);
  size_t n = (size_t)(lua_gettop(L) - first + 1);
  if (n != u->nparam)
    td_bind_fail(L, "arguments", "'%s' takes %d arguments, not %d", u->sym->name, (int)u->nparam,
                 (int)n);
  const TdUnit *at = td_prog_root(resolve_sizes(L, p, first));
  for (size_t i = 0; i < n; i++) {
    const TdType *t = td_unit_type(b->session, at, u->param[i].type);
    if (!t || !fits(L, t, first + (int)i)) wrong_argument(L, u, i, first + (int)i);
  }
}

/* The tokens of a list as a tensor T[n].. in arena a. */
static TdTensor *tokens_of_list(lua_State *L, TdArena *a, const TdType *token, int idx) {
  TdBind *b = td_bind_enter(L);
  int64_t n = (int64_t)lua_rawlen(L, idx), extent[TD_MAX_RANK] = {n};
  const TdType *elem = td_type_scalar(token);
  int rank = token->kind == TD_T_TENSOR ? token->rank : 0;
  for (int d = 0; d < rank; d++) td_type_extent(token, d, &extent[d + 1]);
  TdTensor *t = td_tensor_new(a, td_type_tensor_of(b->session, elem, rank + 1, extent), false);
  for (int64_t i = 0; i < n; i++) {
    lua_rawgeti(L, idx, i + 1);
    TdTensorBox *box = td_bind_test_tensor(L, -1);
    uint64_t bits = 0;
    if (rank && box && box->tensor->type == token) {
      TdTensor row = *t;
      row.type = token;
      row.data += (size_t)(i * t->stride[0]) * td_type_bytes(elem);
      memmove(row.extent, t->extent + 1, (size_t)rank * sizeof *row.extent);
      memmove(row.stride, t->stride + 1, (size_t)rank * sizeof *row.stride);
      td_tensor_copy(&row, box->tensor);
    } else if (!rank && td_bind_to_bits(L, -1, elem, &bits)) {
      td_tensor_put(t, &i, bits);
    } else {
      td_bind_fail(L, "argument-type", "token %d of the list is not %s", (int)(i + 1),
                   td_type_str(a, token));
    }
    lua_pop(L, 1);
  }
  return t;
}

/* Appends the tokens of tensor t (T[n]..) to the list at idx. */
static void append_tokens(lua_State *L, const TdType *token, const TdTensor *t, int idx) {
  lua_Integer at = (lua_Integer)lua_rawlen(L, idx);
  for (int64_t i = 0; i < t->extent[0]; i++) {
    if (token->kind != TD_T_TENSOR) {
      td_bind_push_bits(L, token, td_tensor_get(t, &i));
    } else {
      TdTensor row = *t;
      row.type = token;
      row.data += (size_t)(i * t->stride[0]) * td_type_bytes(token->elem);
      memmove(row.extent, t->extent + 1, (size_t)token->rank * sizeof *row.extent);
      memmove(row.stride, t->stride + 1, (size_t)token->rank * sizeof *row.stride);
      td_tensor_copy(td_bind_push_tensor(L, token, false), &row);
    }
    lua_rawseti(L, idx, at + i + 1);
  }
}

/* The ports of a parameter: one list, or a list of lists for an array of streams. Pushes nothing.
 */
static TdEvalPort *ports_of(lua_State *L, TdArena *a, const TdType *t, int idx) {
  int64_t n = 1, extent;
  for (int d = 0; d < t->rank; d++) n *= td_type_extent(t, d, &extent) ? extent : 1;
  TdEvalPort *port = TD_NEWN(a, TdEvalPort, n);
  for (int64_t i = 0; i < n; i++) {
    if (t->rank) lua_rawgeti(L, idx, i + 1);
    int list = t->rank ? lua_gettop(L) : idx;
    if (!lua_istable(L, list)) td_bind_fail(L, "argument-type", "a list of tokens is expected");
    port[i].in = tokens_of_list(L, a, t->elem, list);
    if (t->rank) lua_pop(L, 1);
  }
  return port;
}

static void return_tokens(lua_State *L, const TdType *t, const TdEvalPort *port, int idx) {
  int64_t n = 1, extent;
  for (int d = 0; d < t->rank; d++) n *= td_type_extent(t, d, &extent) ? extent : 1;
  for (int64_t i = 0; i < n; i++) {
    if (!port[i].out) continue;
    if (t->rank) lua_rawgeti(L, idx, i + 1);
    append_tokens(L, t->elem, port[i].out, t->rank ? lua_gettop(L) : idx);
    if (t->rank) lua_pop(L, 1);
  }
}

/* The state of the unit at slot `owner`, made at its first run. */
static TdEvalState *state_of(lua_State *L, int owner) {
  lua_getiuservalue(L, owner, TD_UNIT_STATE);
  TdEvalState **box = lua_touserdata(L, -1);
  if (!box) {
    lua_pop(L, 1);
    TdStore *st = td_bind_push_store(L);
    box = lua_newuserdatauv(L, sizeof *box, 1);
    *box = td_state_new(st->arena);
    lua_pushvalue(L, -2);
    lua_setiuservalue(L, -2, 1);
    lua_setiuservalue(L, owner, TD_UNIT_STATE);
  }
  lua_pop(L, 1);
  return *box;
}

int td_bind_reset(lua_State *L) {
  td_bind_check_unit(L, 1);
  td_state_reset(state_of(L, 1));
  lua_settop(L, 1);
  return 1;
}

void td_bind_run(lua_State *L, const TdProg *p, int owner, int first) {
  TdBind *b = td_bind_enter(L);
  td_bind_name_arguments(L, p, first);
  td_bind_check_arguments(L, p, first);
  const TdProg *at = resolve_sizes(L, p, first);
  const TdUnit *u = td_prog_root(at);
  TdArena *a = td_bind_arena(L);
  TdDiag d = td_bind_diag(a);
  TdEvalArg *arg = TD_NEWN(a, TdEvalArg, u->nparam);
  for (size_t i = 0; i < u->nparam; i++) {
    int idx = first + (int)i;
    const TdType *t = td_unit_type(b->session, u, u->param[i].type);
    if (t->kind == TD_T_PORT) {
      arg[i].port = ports_of(L, a, t, idx);
    } else if (t->kind == TD_T_TENSOR) {
      arg[i].tensor = td_bind_check_tensor(L, idx);
    } else {
      td_bind_to_bits(L, idx, t, &arg[i].scalar);
      arg[i].has_scalar = true;
    }
  }
  TdEvalOptions o = {.state = state_of(L, owner)};
  TdEvalResult result;
  if (!td_eval_run(a, at, arg, u->nparam, &o, &d, &result)) td_bind_raise(L, &d);
  for (size_t i = 0; i < u->nparam; i++)
    if (arg[i].port)
      return_tokens(L, td_unit_type(b->session, u, u->param[i].type), arg[i].port, first + (int)i);
}

int td_bind_method(lua_State *L, const char *class, const char *key) {
  luaL_getmetatable(L, class);
  lua_getfield(L, -1, "methods");
  lua_getfield(L, -1, key);
  if (!lua_isnil(L, -1)) return 1;
  lua_pop(L, 1);
  TdArena *a = td_bind_arena(L);
  TD_VEC(const char *) names = {0};
  lua_pushnil(L);
  while (lua_next(L, -3)) {
    td_vec_push(a, &names, lua_tostring(L, -2));
    lua_pop(L, 1);
  }
  for (size_t i = 1; i < names.n; i++)
    for (size_t m = i; m && strcmp(names.at[m - 1], names.at[m]) > 0; m--) {
      const char *t = names.at[m];
      names.at[m] = names.at[m - 1];
      names.at[m - 1] = t;
    }
  const char *near = td_text_nearest(key, names.at, names.n);
  return near ? td_bind_fail(L, "no-method", "no method '%s' (did you mean '%s'?)", key, near)
              : td_bind_fail(L, "no-method", "no method '%s'", key);
}
