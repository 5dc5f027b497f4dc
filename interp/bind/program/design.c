/* design.c - tide.design and tide.task: the builder runs as plain Lua and fills a list of what
 * it declares. */
#include <string.h>

#include "analysis/net/layouts.h"
#include "bind/program/unit.h"
#include "bind/value/layout.h"
#include "frontend/design.h"
#include "lower/collective.h"

#define CLASS_BUILDER "tide.builder"
#define CLASS_ARGUMENT "tide.argument"
#define CLASS_STREAM "tide.stream"
#define CLASS_TASK "tide.task"

/* User values of a builder: tasks by number (a list of tables {task, name, loc}), and by name. */
enum {
  BUILDER_TASKS = 1,
  BUILDER_NAMES,
  BUILDER_MADE, /* all tasks made while the builder ran */
  BUILDER_USER_VALUES = BUILDER_MADE
};
#define KEY_BUILDER "tide.open_builder"

/* What a builder declared; owned by its arena, closed when the builder returned. */
typedef struct DesignBox {
  TdArena *arena;
  bool open;
  uint32_t id;
  TD_VEC(TdDesignArg) args;
  TD_VEC(TdDesignStream) streams;
  TD_VEC(TdLoc) task_locs;
  TD_VEC(TdLoc) made_locs; /* of tide.task */
  TdMap calls;             /* line * 2 + kind -> calls seen there */
} DesignBox;

/* An argument or stream of a builder, as Lua holds it. Its user value is the builder. */
typedef struct PartBox {
  uint32_t design;
  size_t index;
  const TdType *type;
  const char *layout; /* of an argument, or NULL */
} PartBox;

static int l_builder_gc(lua_State *L) {
  DesignBox *d = lua_touserdata(L, 1);
  td_arena_free(d->arena);
  d->arena = NULL;
  return 0;
}

static DesignBox *check_builder(lua_State *L) {
  DesignBox *d = luaL_testudata(L, 1, CLASS_BUILDER);
  if (!d) td_bind_fail(L, "argument", "call it as a method of the design: d:stream(...)");
  if (!d->open) td_bind_fail(L, "design-closed", "the design is already made");
  return d;
}

/* A name that no argument or stream has yet. */
static const char *unique_name(const TdBind *b, DesignBox *d, const char *want) {
  const char *name = td_names_str(b->session->names, want);
  for (int n = 1;; n++) {
    bool taken = false;
    for (size_t i = 0; i < d->args.n; i++) taken |= d->args.at[i].name == name;
    for (size_t i = 0; i < d->streams.n; i++) taken |= d->streams.at[i].name == name;
    if (!taken) return name;
    name = td_names_str(b->session->names, td_text_fmt(d->arena, "%s_%d", want, n));
  }
}

static void push_part(lua_State *L, const char *class, const DesignBox *d, size_t index,
                      const TdType *t) {
  PartBox *p = lua_newuserdatauv(L, sizeof *p, 1);
  *p = (PartBox){.design = d->id, .index = index, .type = t};
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, class);
}

/* d:arg(T). */
static int l_arg(lua_State *L) {
  DesignBox *d = check_builder(L);
  const TdType *t = td_bind_check_type(L, 2);
  TdBind *b = td_bind_enter(L);
  const TdAst *ast;
  uint32_t source;
  const TdAstExpr *call = td_bind_method_call(L, d->arena, &d->calls, "arg", &ast, &source);
  const char *name = call ? td_context_name(ast, call) : NULL;
  TdDesignArg arg = {.name = unique_name(b, d, name ? name : "arg"), .type = t};
  if (call) {
    arg.loc = call->loc;
    arg.source = call->call.args.n ? call->call.args.at[0] : NULL;
  }
  push_part(L, CLASS_ARGUMENT, d, d->args.n, t);
  td_vec_push(d->arena, &d->args, arg);
  return 1;
}

/* Extents, depth and block of the options at slot 3. */
static const TdType *stream_type(lua_State *L, const TdType *token, int64_t *depth,
                                 const TdExpr **of_sizes) {
  const TdExpr *dim[TD_MAX_RANK];
  *depth = 2;
  *of_sizes = NULL;
  if (lua_isnoneornil(L, 3)) return td_type_port(td_bind_enter(L)->session, token, 0, dim, false);
  if (!lua_istable(L, 3)) td_bind_misuse(L, 3, "design:stream", "extents and depth in a table");
  size_t rank = lua_rawlen(L, 3);
  if (rank > TD_MAX_RANK)
    td_bind_fail(L, "rank", "a stream array has at most %d dimensions", TD_MAX_RANK);
  for (size_t i = 0; i < rank; i++) {
    lua_rawgeti(L, 3, (lua_Integer)i + 1);
    dim[i] = td_bind_check_extent(L, -1);
    lua_pop(L, 1);
  }
  td_bind_opt_depth(L, 3, depth, of_sizes);
  bool block = td_bind_opt_boolean(L, 3, "block", false);
  lua_pushnil(L);
  while (lua_next(L, 3)) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
    if (key && strcmp(key, "depth") != 0 && strcmp(key, "block") != 0)
      td_bind_fail(L, "option", "a stream has no option '%s' (depth, block)", key);
    lua_pop(L, 1);
  }
  return td_type_port(td_bind_enter(L)->session, token, (int)rank, dim, block);
}

/* d:stream(T, {extents.., depth = 2, block = false}). */
static int l_stream(lua_State *L) {
  DesignBox *d = check_builder(L);
  const TdType *token = td_bind_check_type(L, 2);
  if (token->kind == TD_T_PORT)
    return td_bind_fail(L, "argument", "a stream carries scalars or tensors");
  int64_t depth;
  const TdExpr *of_sizes;
  const TdType *t = stream_type(L, token, &depth, &of_sizes);
  TdBind *b = td_bind_enter(L);
  const TdAst *ast;
  uint32_t source;
  const TdAstExpr *call = td_bind_method_call(L, d->arena, &d->calls, "stream", &ast, &source);
  const char *name = call ? td_context_name(ast, call) : NULL;
  TdDesignStream s = {.name = unique_name(b, d, name ? name : "s"), .type = t, .depth = depth};
  s.of_sizes = of_sizes;
  if (call) {
    s.loc = call->loc;
    s.token = call->call.args.n > 0 ? call->call.args.at[0] : NULL;
    s.options = call->call.args.n > 1 ? call->call.args.at[1] : NULL;
  }
  push_part(L, CLASS_STREAM, d, d->streams.n, t);
  td_vec_push(d->arena, &d->streams, s);
  return 1;
}

/* Raises an error at the key of `d.name = value`. */
static int refuse_task(lua_State *L, const char *name, const char *code, const char *message) {
  TdDiag d = td_bind_diag(td_bind_arena(L));
  td_diag_set(&d, TD_USAGE, code, td_bind_caller_key(L, name), "%s", message);
  return td_bind_raise(L, &d);
}

/* s.put, s[i]: raises, for only the functions of tasks are read for what they do with streams. */
static int l_stream_index(lua_State *L) {
  TdDiag d = td_bind_diag(td_bind_arena(L));
  TdLoc loc =
      lua_type(L, 2) == LUA_TSTRING ? td_bind_caller_key(L, lua_tostring(L, 2)) : td_bind_caller(L);
  td_diag_set(&d, TD_USAGE, "outside-task", loc,
              "a stream is put to and got from in functions of tasks");
  return td_bind_raise(L, &d);
}

/* d.name = task. */
static int l_builder_newindex(lua_State *L) {
  DesignBox *d = check_builder(L);
  const char *name = luaL_checkstring(L, 2);
  TdArena *a = td_bind_arena(L);
  if (strcmp(name, "arg") == 0 || strcmp(name, "stream") == 0)
    return refuse_task(L, name, "task-name",
                       td_text_fmt(a, "a task cannot be named '%s', like a method of d", name));
  if (!luaL_testudata(L, 3, CLASS_TASK))
    return refuse_task(
        L, name, "argument",
        td_text_fmt(a, "d.%s must be a tide.task, not %s", name, td_bind_words(L, 3)));
  lua_getiuservalue(L, 1, BUILDER_NAMES);
  lua_getfield(L, -1, name);
  if (!lua_isnil(L, -1))
    return refuse_task(L, name, "task-name", td_text_fmt(a, "there is a task '%s' already", name));
  lua_pop(L, 1);
  lua_pushvalue(L, 3);
  lua_setfield(L, -2, name);
  lua_getiuservalue(L, 1, BUILDER_TASKS);
  lua_pushvalue(L, 3);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pushstring(L, name);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_Debug ar;
  TdLoc loc = {0};
  if (lua_getstack(L, 1, &ar) && lua_getinfo(L, "Sl", &ar))
    loc = (TdLoc){.source = td_sources_find(td_bind_enter(L)->session->sources, ar.source),
                  .line = (uint32_t)(ar.currentline > 0 ? ar.currentline : 0),
                  .col = 1};
  td_vec_push(d->arena, &d->task_locs, loc);
  lua_pushboolean(L, 1);
  lua_setiuservalue(L, 3, 2);
  return 0;
}

static int l_builder_index(lua_State *L) {
  const char *key = luaL_checkstring(L, 2);
  lua_getiuservalue(L, 1, BUILDER_NAMES);
  lua_getfield(L, -1, key);
  if (!lua_isnil(L, -1)) return 1;
  return td_bind_method(L, CLASS_BUILDER, key);
}

/* The text of the layout, or string, at idx, or raises. */
static const char *layout_text(lua_State *L, int idx) {
  const char *text = td_bind_layout_text(L, idx);
  if (!text) td_bind_fail(L, "layout", "a layout is a string, not %s", td_bind_words(L, idx));
  return text;
}

/* A:layout "S0": the argument with a layout. */
static int l_argument_layout(lua_State *L) {
  PartBox *p = luaL_checkudata(L, 1, CLASS_ARGUMENT);
  td_bind_check_layout_fits(L, 2, p->type);
  const char *text = td_bind_check_layout(L, p->type, layout_text(L, 2));
  PartBox *copy = lua_newuserdatauv(L, sizeof *copy, 1);
  *copy = *p;
  copy->layout = text;
  lua_getiuservalue(L, 1, 1);
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, CLASS_ARGUMENT);
  return 1;
}

static int l_argument_index(lua_State *L) {
  return td_bind_method(L, CLASS_ARGUMENT, luaL_checkstring(L, 2));
}

bool td_bind_is_building(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_BUILDER);
  const DesignBox *d = luaL_testudata(L, -1, CLASS_BUILDER);
  lua_pop(L, 1);
  return d && d->open;
}

/* Notes the task on top of the stack with the builder that runs now, if one does. */
static void note_made(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_BUILDER);
  DesignBox *d = luaL_testudata(L, -1, CLASS_BUILDER);
  if (d && d->open) {
    lua_getiuservalue(L, -1, BUILDER_MADE);
    lua_pushvalue(L, -3);
    lua_rawseti(L, -2, (lua_Integer)d->made_locs.n + 1);
    td_vec_push(d->arena, &d->made_locs, td_bind_caller(L));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* tide.task { map =, parameters, function }. */
static int l_task(lua_State *L) {
  if (!lua_istable(L, 1)) return td_bind_misuse(L, 1, "tide.task", "a table");
  lua_newuserdatauv(L, 1, 2);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, CLASS_TASK);
  note_made(L);
  return 1;
}

bool td_bind_test_stream(lua_State *L, int idx, TdConst *out) {
  PartBox *p = luaL_testudata(L, idx, CLASS_STREAM);
  if (!p) return false;
  TdBind *b = td_bind_enter(L);
  uintptr_t number = p->design == b->design ? p->index : TD_FOREIGN_STREAM;
  *out = (TdConst){.kind = TD_C_STREAM, .u.type = p->type, .handle = number};
  return true;
}

/* ---- from what was declared to the spec ---- */

typedef struct Assembly {
  lua_State *L;
  TdBind *b;
  TdArena *arena;
  DesignBox *d;
  TdDiag diag;
  int anchor;
} Assembly;

/* The argument called name, made at its first appearance. */
static size_t argument_named(Assembly *m, const char *name, const TdType *t,
                             const TdAstExpr *source, TdLoc loc) {
  for (size_t i = 0; i < m->d->args.n; i++) {
    if (strcmp(m->d->args.at[i].name, name) != 0) continue;
    if (m->d->args.at[i].type != t) {
      td_diag_set(&m->diag, TD_USAGE, "argument-type", loc,
                  "argument '%s' is %s here and %s elsewhere", name, td_type_str(m->arena, t),
                  td_type_str(m->arena, m->d->args.at[i].type));
      td_diag_note(&m->diag, m->d->args.at[i].loc, "elsewhere");
      td_bind_raise(m->L, &m->diag);
    }
    return i;
  }
  TdDesignArg arg = {
      .name = td_names_str(m->b->session->names, name), .type = t, .source = source, .loc = loc};
  td_vec_push(m->d->arena, &m->d->args, arg);
  return m->d->args.n - 1;
}

/* The type part of `T:layout "S0"` in the text. */
static const TdAstExpr *type_text(const TdAstExpr *e) {
  return e && e->kind == TD_AST_METHOD ? e->call.callee : e;
}

/* Binds parameter `name` to the entry at the top of the stack; false when the entry is no
 * parameter. */
static bool bind_entry(Assembly *m, const TdAstExpr *table, const char *name, TdDesignBind *out) {
  lua_State *L = m->L;
  const TdAstItem *item = td_context_item(table, name);
  TdLoc loc = {0};
  if (item) loc = item->loc;
  *out = (TdDesignBind){.name = td_names_str(m->b->session->names, name), .loc = loc};
  const TdType *t = td_bind_test_type(L, -1);
  const TdLayoutBox *layout = t ? NULL : td_bind_test_layout(L, -1);
  PartBox *part = t || layout ? NULL : luaL_testudata(L, -1, CLASS_ARGUMENT);
  const TdAstExpr *text = item ? type_text(item->value) : NULL;
  if (t) {
    out->arg = argument_named(m, name, t, text, loc);
  } else if (layout) {
    if (!layout->text || strchr(layout->text, ' '))
      td_bind_fail(L, "layout", "'%s' has a layout that is none over a map, as \"S0R\" is", name);
    out->layout = layout->text;
    out->arg = argument_named(m, name, layout->type, text, loc);
  } else if (part) {
    if (part->design != m->d->id)
      td_bind_fail(L, "argument", "'%s' is an argument of another design", name);
    out->arg = part->index;
    out->layout = part->layout;
  }
  return t || layout || part;
}

/* map of the task table on top of the stack. */
static void read_map(Assembly *m, TdDesignTask *t) {
  lua_State *L = m->L;
  lua_getfield(L, -1, "map");
  if (!lua_isnil(L, -1)) {
    if (!lua_istable(L, -1) || lua_rawlen(L, -1) > TD_MAX_RANK)
      td_bind_fail(L, "map", "map of '%s' is a list of extents, as in {4, 4}", t->name);
    t->rank = (int)lua_rawlen(L, -1);
    for (int i = 0; i < t->rank; i++) {
      int ok;
      lua_rawgeti(L, -1, i + 1);
      t->map[i] = lua_tointegerx(L, -1, &ok);
      if (!ok || t->map[i] < 1)
        td_bind_fail(L, "map", "map of '%s': extents are integers of at least 1", t->name);
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
}

/* The function of the task table on top; pushes it. */
static void push_function(Assembly *m, const char *name) {
  lua_State *L = m->L;
  lua_rawgeti(L, -1, 1);
  if (!lua_isfunction(L, -1)) td_bind_fail(L, "argument", "task '%s' needs a function", name);
  lua_rawgeti(L, -2, 2);
  if (!lua_isnil(L, -1)) td_bind_fail(L, "argument", "task '%s' takes one function", name);
  lua_pop(L, 1);
}

/* Entries that are neither parameters nor map are refused. */
static void check_entries(Assembly *m, const TdDesignTask *t) {
  lua_State *L = m->L;
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (lua_type(L, -2) == LUA_TSTRING) {
      const char *key = lua_tostring(L, -2);
      bool known = strcmp(key, "map") == 0;
      for (size_t i = 0; i < t->nbind; i++) known |= strcmp(t->bind[i].name, key) == 0;
      bool typed = td_bind_test_type(L, -1) || td_bind_test_layout(L, -1) ||
                   luaL_testudata(L, -1, CLASS_ARGUMENT);
      if (!known && typed)
        td_bind_fail(L, "no-parameter",
                     "'%s' has a type but the function of task '%s' has no such parameter", key,
                     t->name);
      if (!known) td_bind_fail(L, "option", "task '%s' has no option '%s' (map)", t->name, key);
    }
    lua_pop(L, 1);
  }
}

/* Fills t from the task table on top of the stack; its parameters in the function's order. */
static void read_task(Assembly *m, TdDesignTask *t) {
  lua_State *L = m->L;
  read_map(m, t);
  push_function(m, t->name);
  if (!td_bind_function(L, -1, &t->ast, &t->source, &m->diag)) td_bind_raise(L, &m->diag);
  t->fn = td_bind_handle(L, m->anchor, -1);
  lua_pop(L, 1);
  TdFnContext around = td_context_of(t->ast, t->source);
  t->table = around.table;
  if (around.call) t->loc = around.call->loc;
  TdDesignBind *bind = TD_NEWN(m->arena, TdDesignBind, t->source->params.n);
  for (size_t i = 0; i < t->source->params.n; i++) {
    lua_getfield(L, -1, t->source->params.at[i]->name);
    if (bind_entry(m, t->table, t->source->params.at[i]->name, &bind[t->nbind])) t->nbind++;
    lua_pop(L, 1);
  }
  t->bind = bind;
  check_entries(m, t);
}

static TdDesignTask *read_tasks(Assembly *m, int builder, size_t *n) {
  lua_State *L = m->L;
  lua_getiuservalue(L, builder, BUILDER_TASKS);
  *n = lua_rawlen(L, -1) / 2;
  TdDesignTask *t = TD_NEWN(m->arena, TdDesignTask, *n);
  for (size_t i = 0; i < *n; i++) {
    lua_rawgeti(L, -1, (lua_Integer)i * 2 + 2);
    t[i].name = td_names_str(m->b->session->names, lua_tostring(L, -1));
    t[i].loc = m->d->task_locs.at[i];
    lua_pop(L, 1);
    lua_rawgeti(L, -1, (lua_Integer)i * 2 + 1);
    lua_getiuservalue(L, -1, 1);
    read_task(m, &t[i]);
    lua_pop(L, 2);
  }
  lua_pop(L, 1);
  return t;
}

static DesignBox *push_builder(lua_State *L) {
  TdBind *b = td_bind_enter(L);
  DesignBox *d = lua_newuserdatauv(L, sizeof *d, BUILDER_USER_VALUES);
  memset(d, 0, sizeof *d);
  luaL_setmetatable(L, CLASS_BUILDER);
  d->arena = td_arena_new(b->ctx);
  d->open = true;
  d->id = ++b->designs;
  lua_newtable(L);
  lua_setiuservalue(L, -2, BUILDER_TASKS);
  lua_newtable(L);
  lua_setiuservalue(L, -2, BUILDER_NAMES);
  lua_newtable(L);
  lua_setiuservalue(L, -2, BUILDER_MADE);
  return d;
}

/* Raises when a task was made and not put into the design. */
static void check_made(Assembly *m, int builder) {
  lua_State *L = m->L;
  lua_getiuservalue(L, builder, BUILDER_MADE);
  for (size_t i = 0; i < m->d->made_locs.n; i++) {
    lua_rawgeti(L, -1, (lua_Integer)i + 1);
    lua_getiuservalue(L, -1, 2);
    if (!lua_toboolean(L, -1)) {
      td_diag_set(&m->diag, TD_USAGE, "task-unplaced", m->d->made_locs.at[i],
                  "this task is not put into the design");
      td_diag_help(&m->diag, "give it a name: d.name = tide.task {...}");
      td_bind_raise(L, &m->diag);
    }
    lua_pop(L, 2);
  }
  lua_pop(L, 1);
}

/* Whether an argument of d, or a parameter of one of its tasks, is called so. */
static bool is_parameter(const DesignBox *d, const TdDesignSpec *s, const char *name) {
  for (size_t i = 0; i < d->args.n; i++)
    if (d->args.at[i].name == name) return true;
  for (size_t i = 0; i < s->ntask; i++)
    for (size_t k = 0; k < s->task[i].source->params.n; k++)
      if (strcmp(s->task[i].source->params.at[k]->name, name) == 0) return true;
  return false;
}

/* Streams that a parameter would hide in the printed form get another name. */
static void rename_streams(Assembly *m, const TdDesignSpec *s) {
  for (size_t i = 0; i < m->d->streams.n; i++) {
    TdDesignStream *z = &m->d->streams.at[i];
    const char *stem = z->name;
    for (int n = 1; is_parameter(m->d, s, z->name); n++)
      z->name = unique_name(m->b, m->d, td_text_fmt(m->arena, "%s_%d", stem, n));
  }
}

/* Captures what the builder at slot `builder` declared; pushes the design, checked if asked. */
static int assemble(lua_State *L, DesignBox *d, int builder, bool check) {
  TdArena *a = td_bind_work(L, TD_WORK_CAPTURE);
  Assembly m = {.L = L, .b = td_bind_enter(L), .arena = a, .d = d, .diag = td_bind_diag(a)};
  lua_newtable(L);
  m.anchor = lua_gettop(L);
  TdDesignSpec s = {.session = m.b->session};
  if (!td_bind_function(L, 1, &s.ast, &s.source, &m.diag)) return td_bind_raise(L, &m.diag);
  check_made(&m, builder);
  s.task = read_tasks(&m, builder, &s.ntask);
  rename_streams(&m, &s);
  TdHost host = td_bind_host(L, m.anchor);
  s.host = &host;
  s.builder = td_bind_handle(L, m.anchor, 1);
  const char *name = td_context_of(s.ast, s.source).name;
  s.name = name ? name : "design";
  s.arg = d->args.at;
  s.narg = d->args.n;
  s.stream = d->streams.at;
  s.nstream = d->streams.n;
  TdStore *st = td_bind_push_store(L);
  int store = lua_gettop(L);
  TdUnits units = {.store = st};
  uint32_t outer = m.b->design;
  m.b->design = d->id;
  const TdUnit *u = td_design_capture(&s, &units, &m.diag);
  m.b->design = outer;
  if (!u) return td_bind_raise(L, &m.diag);
  const TdProg *p = td_prog_prune(td_prog_new(st, units.list.at, units.list.n));
  p = td_collective_settle(p);
  if (!td_bind_check_program(m.b, p, &m.diag)) return td_bind_raise(L, &m.diag);
  td_bind_push_unit(L, store, p);
  if (check) td_bind_check_design(L, p);
  return 1;
}

/* tide.design(builder, {check = true}). */
static int l_design(lua_State *L) {
  static const char *const options[] = {"check", NULL};
  if (!lua_isfunction(L, 1)) return td_bind_misuse(L, 1, "tide.design", "a function of d");
  lua_settop(L, 2);
  bool given = td_bind_check_options(L, 2, options);
  bool check = !given || td_bind_opt_boolean(L, 2, "check", true);
  DesignBox *d = push_builder(L);
  lua_insert(L, 2);
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_BUILDER);
  lua_pushvalue(L, 2);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_BUILDER);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 1, 0);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_BUILDER);
  d->open = false;
  return assemble(L, d, 2, check);
}

void td_bind_open_design(lua_State *L) {
  static const luaL_Reg builder_meta[] = {{"__gc", l_builder_gc},
                                          {"__index", l_builder_index},
                                          {"__newindex", l_builder_newindex},
                                          {NULL, NULL}};
  static const luaL_Reg builder_methods[] = {{"arg", l_arg}, {"stream", l_stream}, {NULL, NULL}};
  static const luaL_Reg argument_meta[] = {{"__index", l_argument_index}, {NULL, NULL}};
  static const luaL_Reg argument_methods[] = {{"layout", l_argument_layout}, {NULL, NULL}};
  static const luaL_Reg stream_meta[] = {{"__index", l_stream_index}, {NULL, NULL}};
  static const luaL_Reg nothing[] = {{NULL, NULL}};
  td_bind_class(L, CLASS_BUILDER, builder_meta, builder_methods);
  td_bind_class(L, CLASS_ARGUMENT, argument_meta, argument_methods);
  td_bind_class(L, CLASS_STREAM, stream_meta, NULL);
  td_bind_class(L, CLASS_TASK, nothing, NULL);
  lua_pop(L, 4);
  lua_pushcfunction(L, l_design);
  lua_setfield(L, -2, "design");
  lua_pushcfunction(L, l_task);
  lua_setfield(L, -2, "task");
}
