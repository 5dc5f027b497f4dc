/* taken.c - a step of a schedule as a value: what it was given, what it changed, its verdict; taken
 * again on another schedule. */
#include <string.h>

#include "bind/history/primitive.h"
#include "bind/program/unit.h"

#define CLASS_TAKEN "tide.step"

typedef struct TakenBox {
  const TdVersion *v; /* of the store of the schedule that is user value 1 */
} TakenBox;

void td_bind_push_taken(lua_State *L, int idx, const TdVersion *v) {
  idx = lua_absindex(L, idx);
  TakenBox *box = lua_newuserdatauv(L, sizeof *box, 1);
  box->v = v;
  lua_pushvalue(L, idx);
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, CLASS_TAKEN);
}

static const TdVersion *check_taken(lua_State *L, int idx) {
  const TakenBox *box = luaL_testudata(L, idx, CLASS_TAKEN);
  if (!box) td_bind_expect(L, idx, "a step of a schedule");
  return box->v;
}

/* The n-th word of "a|b|c", pushed. */
static void push_word(lua_State *L, const char *words, size_t n) {
  for (; n > 0; n--) words += strcspn(words, "|") + 1;
  lua_pushlstring(L, words, strcspn(words, "|"));
}

/* Pushes a value that was given for a spec; nil for a kernel or a schedule. */
static void push_value(lua_State *L, const TdArgSpec *spec, const TdArgValue *v) {
  switch (spec->kind) {
  case TD_ARG_INT: lua_pushinteger(L, v->integer); break;
  case TD_ARG_NUMBER: lua_pushnumber(L, v->number); break;
  case TD_ARG_FLAG: lua_pushboolean(L, v->integer != 0); break;
  case TD_ARG_TYPE: td_bind_push_type(L, v->type); break;
  case TD_ARG_KERNEL:
  case TD_ARG_SCHEDULE: lua_pushnil(L); break;
  case TD_ARG_COUNTS:
    lua_newtable(L);
    for (size_t i = 0; i < v->n; i++) {
      if (v->ints[i] < 0) continue;
      push_word(L, spec->words, i);
      lua_pushinteger(L, v->ints[i]);
      lua_rawset(L, -3);
    }
    break;
  default:
    if (!v->ints && !v->names) {
      lua_pushstring(L, v->text);
      break;
    }
    lua_createtable(L, (int)v->n, 0);
    for (size_t i = 0; i < v->n; i++) {
      if (v->ints)
        lua_pushinteger(L, v->ints[i]);
      else
        lua_pushstring(L, v->names[i]);
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
  }
}

/* Pushes what the step was given, by name. */
static void push_arguments(lua_State *L, const TdPrim *p, const TdArgValue *arg) {
  lua_newtable(L);
  for (int i = 0; i < TD_PRIM_ARGS && p->args[i].kind != TD_ARG_END; i++) {
    if (!arg[i].given) continue;
    push_value(L, &p->args[i], &arg[i]);
    lua_setfield(L, -2, p->args[i].name);
  }
}

/* Pushes the arguments as a call has them; returns how many. */
static int push_call(lua_State *L, const TdPrim *p, const TdArgValue *arg) {
  int n = 0, options = 0;
  luaL_checkstack(L, TD_PRIM_ARGS + 4, "arguments");
  for (int i = 0; i < TD_PRIM_ARGS && p->args[i].kind != TD_ARG_END; i++) {
    options += p->args[i].place == TD_ARG_OPTION && arg[i].given;
    if (p->args[i].place == TD_ARG_OPTION) continue;
    if (p->args[i].place == TD_ARG_REST) {
      luaL_checkstack(L, (int)arg[i].n + 4, "arguments");
      for (size_t k = 0; k < arg[i].n; k++, n++) lua_pushstring(L, arg[i].names[k]);
      continue;
    }
    if (arg[i].given)
      push_value(L, &p->args[i], &arg[i]);
    else
      lua_pushnil(L);
    n++;
  }
  if (!options) return n;
  lua_newtable(L);
  for (int i = 0; i < TD_PRIM_ARGS && p->args[i].kind != TD_ARG_END; i++) {
    if (p->args[i].place != TD_ARG_OPTION || !arg[i].given) continue;
    push_value(L, &p->args[i], &arg[i]);
    lua_setfield(L, -2, p->args[i].name);
  }
  return n + 1;
}

/* Raises for a step that was given what belongs to its own session of work. */
static void check_portable(lua_State *L, const TdPrimStep *s) {
  for (int i = 0; i < TD_PRIM_ARGS && s->prim->args[i].kind != TD_ARG_END; i++) {
    TdArgKind kind = s->prim->args[i].kind;
    if (s->arg[i].given && (kind == TD_ARG_KERNEL || kind == TD_ARG_SCHEDULE))
      td_bind_refuse(L, TD_USAGE, "step", "call the primitive, with the kernel or schedule",
                     "%s was given a %s, which the step does not hold", s->prim->name,
                     kind == TD_ARG_KERNEL ? "kernel" : "schedule");
  }
}

/* st:apply(s): the step on another schedule; returns that, then the names that it made. Where it is
 * made of several, all of them are taken, or none. */
static int l_apply(lua_State *L) {
  const TdVersion *v = check_taken(L, 1);
  lua_settop(L, 2);
  if (!luaL_testudata(L, 2, TD_CLASS_SCHEDULE)) td_bind_expect(L, 2, "a schedule");
  for (size_t i = 0; i < v->ndid; i++) check_portable(L, &v->did[i]);
  lua_Integer taken = 0;
  for (size_t i = 0; i < v->ndid; i++, taken++) {
    lua_settop(L, 2);
    lua_getfield(L, 2, v->did[i].prim->name);
    lua_pushvalue(L, 2);
    int n = push_call(L, v->did[i].prim, v->did[i].arg);
    if (lua_pcall(L, n + 1, LUA_MULTRET, 0) == LUA_OK) continue;
    lua_getfield(L, 2, "undo");
    lua_pushvalue(L, 2);
    lua_pushinteger(L, taken);
    lua_call(L, 2, 0);
    return lua_error(L);
  }
  return lua_gettop(L) - 2;
}

/* Pushes the schedule after the step n, of that at idx. */
static void push_at(lua_State *L, int idx, int n) {
  lua_getfield(L, idx, "at");
  lua_pushvalue(L, idx);
  lua_pushinteger(L, n);
  lua_call(L, 2, 1);
}

/* Pushes the level at which the program is what it was before the step; where it is not, what the
 * verdict says; of graphs nothing. */
static void push_verdict(lua_State *L, const TdVersion *v) {
  lua_settop(L, 2);
  lua_getiuservalue(L, 1, 1);
  td_stdlib_push_module(L, "tide");
  lua_getfield(L, 4, "verify");
  push_at(L, 3, v->step - 1);
  push_at(L, 3, v->step);
  lua_call(L, 2, 2);
  if (lua_isstring(L, -2))
    lua_pop(L, 1);
  else
    luaL_tolstring(L, -1, NULL);
}

static void push_strings(lua_State *L, const char *const *list, size_t n) {
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushstring(L, list[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_diff(lua_State *L, const TdVersion *v) {
  TdText t = td_text_new(td_bind_arena(L));
  td_schedule_diff(&t, v->kind, v->parent->prog, v->kind, v->prog);
  lua_pushlstring(L, td_text_str(&t), t.n);
}

static int l_index(lua_State *L) {
  const TdVersion *v = check_taken(L, 1);
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  if (strcmp(key, "call") == 0)
    lua_pushstring(L, v->call);
  else if (strcmp(key, "ms") == 0)
    lua_pushnumber(L, v->legality_ms);
  else if (strcmp(key, "number") == 0)
    lua_pushinteger(L, v->step);
  else if (strcmp(key, "notes") == 0)
    push_strings(L, v->note, v->nnote);
  else if (strcmp(key, "names") == 0)
    push_strings(L, v->made, v->nmade);
  else if (strcmp(key, "primitive") == 0)
    td_bind_push_primitive(L, v->prim);
  else if (strcmp(key, "args") == 0 && v->did[0].prim == v->prim)
    push_arguments(L, v->prim, v->did[0].arg);
  else if (strcmp(key, "args") == 0)
    lua_newtable(L);
  else if (strcmp(key, "diff") == 0)
    push_diff(L, v);
  else if (strcmp(key, "verdict") == 0)
    push_verdict(L, v);
  else
    return td_bind_method(L, CLASS_TAKEN, key);
  return 1;
}

static int l_tostring(lua_State *L) {
  const TdVersion *v = check_taken(L, 1);
  lua_pushfstring(L, "step %d: %s", v->step, v->call);
  return 1;
}

void td_bind_open_taken(lua_State *L) {
  static const luaL_Reg meta[] = {{"__index", l_index}, {"__tostring", l_tostring}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"apply", l_apply}, {NULL, NULL}};
  td_bind_class(L, CLASS_TAKEN, meta, methods);
  td_bind_class_fields(L, "number call primitive args names notes ms verdict diff");
  lua_pop(L, 1);
}
