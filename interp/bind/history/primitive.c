/* primitive.c - tide.primitives: primitives as values, by name and in groups; tide.recipe: a Lua
 * function over schedules that is called, helped and completed as they are, and logged as its
 * steps. */
#include <string.h>

#include "bind/history/primitive.h"
#include "bind/program/unit.h"
#include "bind/prompt/prompt.h"
#include "rewrite/prim.h"
#include "step/stp_kind.h"

#define CLASS_PRIMITIVE "tide.primitive"
#define CLASS_RECIPE "tide.recipe"
#define KEY_RECIPES "tide.recipes"

/* ---- primitives ---- */

void td_bind_push_primitive(lua_State *L, const TdPrim *p) {
  td_bind_push_unique(L, CLASS_PRIMITIVE, p);
}

static const TdPrim *check_primitive(lua_State *L, int idx) {
  const TdPrim *const *box = luaL_testudata(L, idx, CLASS_PRIMITIVE);
  if (!box) td_bind_expect(L, idx, "a primitive");
  return *box;
}

/* Pushes the words of a list, divided by blanks. */
static void push_words(lua_State *L, const char *words) {
  lua_newtable(L);
  for (int n = 1; *words; n++) {
    size_t k = strcspn(words, " ");
    lua_pushlstring(L, words, k);
    lua_rawseti(L, -2, n);
    words += k + strspn(words + k, " ");
  }
}

static int l_primitive_index(lua_State *L) {
  const TdPrim *p = check_primitive(L, 1);
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  const struct {
    const char *key, *value;
  } text[] = {{"name", p->name},       {"group", p->on},    {"summary", p->summary},
              {"rewrite", p->rewrite}, {"legal", p->legal}, {"example", p->example}};
  for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
    if (strcmp(key, text[i].key) != 0) continue;
    lua_pushstring(L, text[i].value);
    return 1;
  }
  if (strcmp(key, "args") == 0)
    td_registry_push_arguments(L, p);
  else if (strcmp(key, "errors") == 0)
    push_words(L, p->errors);
  else
    return td_bind_method(L, CLASS_PRIMITIVE, key);
  return 1;
}

static int l_primitive_tostring(lua_State *L) {
  const TdPrim *p = check_primitive(L, 1);
  TdText t = td_text_new(td_bind_arena(L));
  td_help_put_primitive(&t, p);
  lua_pushlstring(L, td_text_str(&t), t.n);
  return 1;
}

/* Calls the method `name` of the schedule at slot 2 with it and what is above; returns all that it
 * returns. */
static int call_method(lua_State *L, const char *name) {
  int n = lua_gettop(L);
  if (!luaL_testudata(L, 2, TD_CLASS_SCHEDULE))
    td_bind_refuse(L, TD_USAGE, "argument", NULL, "%s takes a schedule first, not %s", name,
                   td_bind_words(L, 2));
  lua_getfield(L, 2, name);
  lua_replace(L, 1);
  lua_call(L, n - 1, LUA_MULTRET);
  return lua_gettop(L);
}

/* tide.primitives.split(s, "k", 8) is s:split("k", 8). */
static int l_primitive_call(lua_State *L) {
  return call_method(L, check_primitive(L, 1)->name);
}

/* Appends the value on top, which it keeps, to the list at field `name` of the table at idx. */
static void add_to(lua_State *L, int idx, const char *name) {
  idx = lua_absindex(L, idx);
  if (lua_getfield(L, idx, name) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, idx, name);
  }
  lua_pushvalue(L, -2);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
}

/* Lists the value on top, which it takes, in tide.primitives at idx. */
static void list_primitive(lua_State *L, int idx, const char *name, const char *group) {
  idx = lua_absindex(L, idx);
  lua_pushvalue(L, -1);
  lua_rawseti(L, idx, (lua_Integer)lua_rawlen(L, idx) + 1);
  if (lua_getfield(L, idx, name) == LUA_TNIL) {
    lua_pushvalue(L, -2);
    lua_setfield(L, idx, name);
  }
  lua_pop(L, 1);
  lua_getfield(L, idx, "groups");
  lua_insert(L, -2);
  add_to(L, -2, group);
  lua_pop(L, 2);
}

/* ---- recipes ---- */

/* Pushes field `key` of the table that the recipe at idx was made of. */
static int push_recipe_field(lua_State *L, int idx, const char *key) {
  luaL_checkudata(L, idx, CLASS_RECIPE);
  lua_getiuservalue(L, idx, 1);
  int type = lua_getfield(L, -1, key);
  lua_remove(L, -2);
  return type;
}

static int l_recipe_index(lua_State *L) {
  static const char *const fields[] = {"name",   "summary", "args",  "rewrite", "legal",
                                       "errors", "example", "apply", NULL};
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  for (int i = 0; fields[i]; i++) {
    if (strcmp(key, fields[i]) != 0) continue;
    push_recipe_field(L, 1, key);
    return 1;
  }
  if (strcmp(key, "group") != 0) return td_bind_method(L, CLASS_RECIPE, key);
  lua_pushliteral(L, "recipe");
  return 1;
}

/* Puts the arguments of the recipe at idx: a list of names, or of {name =, help =}. */
static void put_recipe_arguments(lua_State *L, TdText *t, int idx, bool lines) {
  if (push_recipe_field(L, idx, "args") == LUA_TTABLE) {
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
      bool described = lua_istable(L, -1);
      if (described) lua_getfield(L, -1, "name");
      const char *name = lua_tostring(L, -1);
      if (!lines) td_text_putf(t, "%s%s", i > 1 ? ", " : "", name ? name : "?");
      if (described) lua_pop(L, 1);
      if (described && lines) {
        lua_getfield(L, -1, "help");
        td_text_putf(t, "  %-10s %s\n", name ? name : "?", lua_tostring(L, -1));
        lua_pop(L, 1);
      }
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* Puts what help says of the recipe at idx. */
static void put_recipe(lua_State *L, TdText *t, int idx) {
  static const char *const more[] = {"rewrite", "legal", "example"};
  push_recipe_field(L, idx, "name");
  push_recipe_field(L, idx, "summary");
  td_text_putf(t, "s:%s(", lua_tostring(L, -2));
  const char *summary = lua_tostring(L, -1);
  put_recipe_arguments(L, t, idx, false);
  td_text_putf(t, ")\n  %s\n", summary ? summary : "a recipe, logged as its steps");
  put_recipe_arguments(L, t, idx, true);
  for (int i = 0; i < 3; i++) {
    if (push_recipe_field(L, idx, more[i]) == LUA_TSTRING)
      td_text_putf(t, "  %-10s %s\n", more[i], lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
}

static int l_recipe_tostring(lua_State *L) {
  luaL_checkudata(L, 1, CLASS_RECIPE);
  TdText t = td_text_new(td_bind_arena(L));
  put_recipe(L, &t, 1);
  lua_pushlstring(L, td_text_str(&t), t.n);
  return 1;
}

bool td_bind_show_recipe(lua_State *L, TdText *out, const char *name) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, KEY_RECIPES);
  bool known = lua_getfield(L, -1, name) == LUA_TUSERDATA;
  if (known) put_recipe(L, out, lua_gettop(L));
  lua_pop(L, 2);
  return known;
}

/* The steps of the schedule at idx. */
static lua_Integer count_steps(lua_State *L, int idx) {
  lua_getfield(L, idx, "steps");
  lua_pushvalue(L, idx);
  lua_call(L, 1, 1);
  lua_Integer n = (lua_Integer)lua_rawlen(L, -1);
  lua_pop(L, 1);
  return n;
}

/* Applies the recipe, upvalue 1, to the schedule at slot 1: all of its steps, or none. */
static int l_recipe_apply(lua_State *L) {
  int top = lua_gettop(L);
  if (!luaL_testudata(L, 1, TD_CLASS_SCHEDULE))
    td_bind_refuse(L, TD_USAGE, "argument", NULL, "a recipe takes a schedule first, not %s",
                   td_bind_words(L, 1));
  lua_Integer before = count_steps(L, 1);
  lua_pushvalue(L, 1);
  lua_insert(L, 1);
  push_recipe_field(L, lua_upvalueindex(1), "apply");
  lua_insert(L, 2);
  if (lua_pcall(L, top, LUA_MULTRET, 0) == LUA_OK) {
    if (lua_gettop(L) > 1 && lua_rawequal(L, 1, 2)) lua_remove(L, 2);
    return lua_gettop(L);
  }
  lua_Integer taken = count_steps(L, 1) - before;
  if (taken > 0) {
    lua_getfield(L, 1, "undo");
    lua_pushvalue(L, 1);
    lua_pushinteger(L, taken);
    lua_call(L, 2, 0);
  }
  return lua_error(L);
}

/* recipe(s, ..) */
static int l_recipe_call(lua_State *L) {
  push_recipe_field(L, 1, "name");
  const char *name = lua_tostring(L, -1);
  lua_pop(L, 1);
  return call_method(L, name);
}

/* Raises unless the string on top is a name that schedules have free, or a recipe's. */
static void check_free(lua_State *L, const char *name) {
  static const char help[] = "a recipe's name is one that no method of schedules has";
  size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  if (!*name || name[n] || (*name >= '0' && *name <= '9'))
    td_bind_refuse(L, TD_USAGE, "recipe", help, "'%s' is no name", name);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, KEY_RECIPES);
  bool recipe = lua_getfield(L, -1, name) != LUA_TNIL;
  luaL_getmetatable(L, TD_CLASS_SCHEDULE);
  lua_getfield(L, -1, "methods");
  if (lua_getfield(L, -1, name) != LUA_TNIL && !recipe)
    td_bind_refuse(L, TD_USAGE, "recipe", help, "schedules have a method '%s'", name);
  lua_pop(L, 5);
}

/* tide.recipe {name =, apply =, summary =, args =, ..}: upvalue 1 is tide.primitives. */
static int l_recipe(lua_State *L) {
  static const char *const options[] = {"name",  "apply",  "summary", "args", "rewrite",
                                        "legal", "errors", "example", NULL};
  lua_settop(L, 1);
  bool given = td_bind_check_options(L, 1, options);
  const char *name = given ? td_bind_opt_string(L, 1, "name") : NULL;
  if (!name || lua_getfield(L, 1, "apply") != LUA_TFUNCTION)
    td_bind_refuse(L, TD_USAGE, "recipe",
                   "tide.recipe {name = \"rows\", apply = function(s, loop) s:split(loop, 8) end}",
                   "a recipe has a name and a function over schedules");
  check_free(L, name);
  lua_settop(L, 1);
  lua_newuserdatauv(L, 1, 1);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, 2, 1);
  luaL_setmetatable(L, CLASS_RECIPE);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, KEY_RECIPES);
  lua_pushvalue(L, 2);
  lua_setfield(L, -2, name);
  luaL_getmetatable(L, TD_CLASS_SCHEDULE);
  lua_getfield(L, -1, "methods");
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, l_recipe_apply, 1);
  lua_setfield(L, -2, name);
  lua_settop(L, 2);
  lua_pushnil(L);
  lua_setfield(L, lua_upvalueindex(1), name);
  lua_pushvalue(L, 2);
  list_primitive(L, lua_upvalueindex(1), name, "recipe");
  lua_settop(L, 2);
  return 1;
}

void td_bind_open_primitive(lua_State *L) {
  static const luaL_Reg meta[] = {{"__index", l_primitive_index},
                                  {"__tostring", l_primitive_tostring},
                                  {"__call", l_primitive_call},
                                  {NULL, NULL}};
  static const luaL_Reg recipe[] = {{"__index", l_recipe_index},
                                    {"__tostring", l_recipe_tostring},
                                    {"__call", l_recipe_call},
                                    {NULL, NULL}};
  static const luaL_Reg none[] = {{NULL, NULL}};
  static const char fields[] = "name group args summary rewrite legal errors example";
  const TdKind *const kinds[] = {&td_prim_kind, &td_stp_kind};
  td_bind_class(L, CLASS_PRIMITIVE, meta, none);
  td_bind_class_fields(L, fields);
  td_bind_class(L, CLASS_RECIPE, recipe, none);
  td_bind_class_fields(L, fields);
  lua_pop(L, 2);
  lua_newtable(L);
  lua_newtable(L);
  lua_setfield(L, -2, "groups");
  for (size_t q = 0; q < sizeof kinds / sizeof *kinds; q++)
    for (int i = 0; kinds[q]->prims[i]; i++) {
      td_bind_push_primitive(L, kinds[q]->prims[i]);
      list_primitive(L, -2, kinds[q]->prims[i]->name, kinds[q]->prims[i]->on);
    }
  lua_pushvalue(L, -1);
  lua_pushcclosure(L, l_recipe, 1);
  lua_setfield(L, -3, "recipe");
  lua_setfield(L, -2, "primitives");
}
