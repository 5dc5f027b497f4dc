/* fault_meant.c - the name that was meant where Lua found nil: among the variables of the
 * function, the globals, what tide has, or the members of the very value. */
#include <string.h>

#include "bind/prompt/complete.h"
#include "bind/session/fault.h"

typedef TD_VEC(const char *) Names;

/* Pushes the local variable of a name that the function at f's level sees; false: none. */
static bool push_local(const TdLuaFault *f, const char *name) {
  lua_Debug ar;
  int found = 0;
  if (f->level < 0 || !lua_getstack(f->L, f->level, &ar)) return false;
  const char *have;
  for (int i = 1; (have = lua_getlocal(f->L, &ar, i)); i++) {
    lua_pop(f->L, 1);
    if (strcmp(have, name) == 0) found = i;
  }
  return found && lua_getlocal(f->L, &ar, found);
}

/* Pushes the upvalue of a name; false: none. */
static bool push_upvalue(const TdLuaFault *f, const char *name) {
  lua_Debug ar;
  if (f->level < 0 || !lua_getstack(f->L, f->level, &ar)) return false;
  lua_getinfo(f->L, "f", &ar);
  const char *have;
  for (int i = 1; (have = lua_getupvalue(f->L, -1, i)); i++) {
    if (strcmp(have, name) == 0) {
      lua_remove(f->L, -2);
      return true;
    }
    lua_pop(f->L, 1);
  }
  lua_pop(f->L, 1);
  return false;
}

static bool push_variable(const TdLuaFault *f, const TdAstExpr *e) {
  switch (e->name.binding) {
  case TD_AST_IS_LOCAL: return push_local(f, e->name.id);
  case TD_AST_IS_UPVAL: return push_upvalue(f, e->name.id);
  default: break;
  }
  lua_pushglobaltable(f->L);
  lua_pushstring(f->L, e->name.id);
  lua_rawget(f->L, -2);
  lua_remove(f->L, -2);
  return true;
}

/* Replaces the key on top by what it is in the value of `of`. */
static bool push_member(const TdLuaFault *f, const TdAstExpr *of) {
  bool known = td_fault_push_value(f, of);
  if (known && lua_istable(f->L, -1)) {
    lua_insert(f->L, -2);
    lua_rawget(f->L, -2);
    lua_remove(f->L, -2);
    return true;
  }
  lua_pop(f->L, known ? 2 : 1);
  return false;
}

bool td_fault_push_value(const TdLuaFault *f, const TdAstExpr *e) {
  luaL_checkstack(f->L, 8, "too many names in one expression");
  const TdAstExpr *c = e->constant;
  if (c && c->kind == TD_AST_STRING) {
    lua_pushlstring(f->L, c->string.at, c->string.n);
    return true;
  }
  switch (e->kind) {
  case TD_AST_NAME: return push_variable(f, e);
  case TD_AST_PAREN: return td_fault_push_value(f, e->paren);
  case TD_AST_FIELD: lua_pushstring(f->L, e->field.key); return push_member(f, e->field.of);
  case TD_AST_INDEX:
    c = e->index.key->constant;
    if (!c || (c->kind != TD_AST_STRING && c->kind != TD_AST_INT)) return false;
    if (c->kind == TD_AST_INT)
      lua_pushinteger(f->L, c->integer);
    else
      lua_pushlstring(f->L, c->string.at, c->string.n);
    return push_member(f, e->index.of);
  default: return false;
  }
}

static void add_items(const TdLuaFault *f, Names *names, const TdPromptItems *items) {
  for (size_t i = 0; i < items->list.n; i++) td_vec_push(f->arena, names, items->list.at[i].insert);
}

/* Adds the members of the value on top, which it pops. */
static void add_members(const TdLuaFault *f, Names *names, bool callable) {
  TdPromptItems items = {.arena = f->arena};
  td_complete_add_members(f->L, callable, &items);
  add_items(f, names, &items);
}

/* Adds the variables that the function at f's level sees. */
static void add_variables(const TdLuaFault *f, Names *names) {
  lua_Debug ar;
  lua_pushglobaltable(f->L);
  add_members(f, names, false);
  if (f->level < 0 || !lua_getstack(f->L, f->level, &ar)) return;
  const char *have;
  for (int i = 1; (have = lua_getlocal(f->L, &ar, i)); i++) {
    if (*have != '(') td_vec_push(f->arena, names, td_arena_strdup(f->arena, have));
    lua_pop(f->L, 1);
  }
  lua_getinfo(f->L, "f", &ar);
  for (int i = 1; (have = lua_getupvalue(f->L, -1, i)); i++) {
    td_vec_push(f->arena, names, td_arena_strdup(f->arena, have));
    lua_pop(f->L, 1);
  }
  lua_pop(f->L, 1);
}

/* Adds every method that help knows. */
static void add_methods(const TdLuaFault *f, Names *names) {
  const char *summary, *name;
  for (size_t i = 0; (name = td_help_name(i, &summary)); i++) {
    const char *colon = strchr(name, ':');
    td_vec_push(f->arena, names, colon ? colon + 1 : name);
  }
}

static const char *nearest(const char *id, const Names *names) {
  return td_text_nearest(id, names->at, names->n);
}

static bool is_listed(const char *id, const Names *names) {
  for (size_t i = 0; i < names->n; i++)
    if (strcmp(names->at[i], id) == 0) return true;
  return false;
}

/* The names of what the module tide has. */
static void add_tide(const TdLuaFault *f, Names *names) {
  lua_getfield(f->L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(f->L, -1, "tide") == LUA_TTABLE)
    add_members(f, names, false);
  else
    lua_pop(f->L, 1);
  lua_pop(f->L, 1);
}

/* The variable that was meant by a global name; or what the module tide has, by its path; or the
 * module. */
static const char *meant_variable(const TdLuaFault *f, const TdAstExpr *e) {
  Names names = {0}, of_tide = {0};
  if (e->name.binding != TD_AST_IS_GLOBAL) return NULL;
  const char *id = e->name.id;
  if (strcmp(id, "tide") == 0) return "require \"tide\"";
  add_tide(f, &of_tide);
  if (is_listed(id, &of_tide)) return td_text_fmt(f->arena, "tide.%s", id);
  add_variables(f, &names);
  const char *near = nearest(id, &names);
  if (near) return near;
  near = nearest(id, &of_tide);
  return near ? td_text_fmt(f->arena, "tide.%s", near) : NULL;
}

/* The member of the value of `of` that was meant. */
static const char *meant_member(const TdLuaFault *f, const TdAstExpr *of, const char *key,
                                bool callable) {
  Names names = {0};
  if (td_fault_push_value(f, of))
    add_members(f, &names, callable);
  else if (callable)
    add_methods(f, &names);
  return nearest(key, &names);
}

const char *td_fault_meant(const TdLuaFault *f, const TdAstExpr *operand) {
  const TdAstExpr *key;
  switch (operand->kind) {
  case TD_AST_NAME: return meant_variable(f, operand);
  case TD_AST_FIELD: return meant_member(f, operand->field.of, operand->field.key, false);
  case TD_AST_METHOD: return meant_member(f, operand->call.callee, operand->call.method, true);
  case TD_AST_INDEX:
    key = operand->index.key->constant;
    if (!key || key->kind != TD_AST_STRING) return NULL;
    return meant_member(f, operand->index.of, key->string.at, false);
  default: return NULL;
  }
}
