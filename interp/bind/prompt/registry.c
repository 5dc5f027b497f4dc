/* registry.c - tide.registry(): what there is, as data, for documents and editors. */
#include <string.h>

#include "bind/prompt/prompt.h"
#include "repl/line.h"
#include "rewrite/prim.h"
#include "step/stp_kind.h"

void td_registry_push_arguments(lua_State *L, const TdPrim *p) {
  static const char *const kinds[] = {
      [TD_ARG_LOOP] = "loop",     [TD_ARG_BAND] = "band",         [TD_ARG_ARRAY] = "array",
      [TD_ARG_UNIT] = "unit",     [TD_ARG_STREAM] = "stream",     [TD_ARG_NAME] = "name",
      [TD_ARG_INT] = "int",       [TD_ARG_INTS] = "ints",         [TD_ARG_PAIRS] = "pairs",
      [TD_ARG_NAMES] = "names",   [TD_ARG_WORD] = "word",         [TD_ARG_FLAG] = "flag",
      [TD_ARG_TYPE] = "type",     [TD_ARG_SCHEDULE] = "schedule", [TD_ARG_COUNTS] = "counts",
      [TD_ARG_KERNEL] = "kernel", [TD_ARG_NUMBER] = "number",     [TD_ARG_DEVICE] = "device",
      [TD_ARG_NODE] = "node",     [TD_ARG_FAMILY] = "family"};
  static const char *const places[] = {"needed", "optional", "rest", "option"};
  lua_newtable(L);
  for (int i = 0; i < TD_PRIM_ARGS && p->args[i].kind != TD_ARG_END; i++) {
    lua_newtable(L);
    td_bind_set_string(L, "name", p->args[i].name);
    td_bind_set_string(L, "kind", kinds[p->args[i].kind]);
    td_bind_set_string(L, "place", places[p->args[i].place]);
    td_bind_set_string(L, "help", p->args[i].help);
    td_bind_set_string(L, "words", p->args[i].words);
    lua_rawseti(L, -2, i + 1);
  }
}

static void push_primitive(lua_State *L, const TdPrim *p) {
  lua_newtable(L);
  td_bind_set_string(L, "name", p->name);
  td_bind_set_string(L, "on", p->on);
  td_bind_set_string(L, "summary", p->summary);
  td_bind_set_string(L, "rewrite", p->rewrite);
  td_bind_set_string(L, "legal", p->legal);
  td_bind_set_string(L, "errors", p->errors);
  td_bind_set_string(L, "example", p->example);
  td_registry_push_arguments(L, p);
  lua_setfield(L, -2, "args");
}

/* A list of {name, usage, summary} of a kind, from an iterator over the tables of help. */
static void push_functions(lua_State *L) {
  lua_newtable(L);
  const char *usage, *summary, *name;
  for (size_t i = 0; (name = td_help_function(i, &usage, &summary)); i++) {
    lua_newtable(L);
    td_bind_set_string(L, "name", name);
    td_bind_set_string(L, "usage", usage);
    td_bind_set_string(L, "summary", summary);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_commands(lua_State *L) {
  static const char *const takes[] = {"nothing", "value",   "schedule", "code",  "file",
                                      "number",  "setting", "word",     "lesson"};
  lua_newtable(L);
  for (int i = 0; td_commands[i].name; i++) {
    lua_newtable(L);
    td_bind_set_string(L, "name", td_commands[i].name);
    td_bind_set_string(L, "usage", td_commands[i].usage);
    td_bind_set_string(L, "summary", td_commands[i].summary);
    td_bind_set_string(L, "takes", takes[td_commands[i].takes]);
    lua_rawseti(L, -2, i + 1);
  }
}

/* A word of the command line or the environment. */
typedef struct Word {
  const char *list; /* of the registry */
  char letter;      /* 0: none */
  const char *name, *args, *summary;
} Word;

static const Word words[] = {
#define TD_OPTION(letter, name, args, summary) {"options", letter, name, args, summary},
#define TD_VERB(name, args, summary) {"verbs", 0, name, args, summary},
#define TD_VARIABLE(name, summary) {"environment", 0, name, NULL, summary},
#include "words.def"
};

/* A list of {letter, name, args, summary}: those words that are of one list. */
static void push_words(lua_State *L, const char *list) {
  lua_newtable(L);
  for (size_t i = 0, n = 0; i < sizeof words / sizeof *words; i++) {
    const Word *w = &words[i];
    const char letter[] = {w->letter, 0};
    if (strcmp(w->list, list) != 0) continue;
    lua_newtable(L);
    td_bind_set_string(L, "letter", w->letter ? letter : NULL);
    td_bind_set_string(L, "name", w->name);
    td_bind_set_string(L, "args", w->args);
    td_bind_set_string(L, "summary", w->summary);
    lua_rawseti(L, -2, (lua_Integer)++n);
  }
}

/* A list of {name, summary}: the keys of the prompt. */
static void push_keys(lua_State *L) {
  const char *name, *help = NULL;
  lua_newtable(L);
  for (size_t i = 0; (name = td_line_key(i, &help)); i++) {
    lua_newtable(L);
    td_bind_set_string(L, "name", name);
    td_bind_set_string(L, "summary", help);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* A list of {id, name, how, where}: the operations that can take long. */
static void push_work(lua_State *L) {
  static const char *const works[][4] = {
#define TD_WORK(NAME, name, how, where) {#NAME, name, how, where},
#include "base/work.def"
  };
  lua_newtable(L);
  for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
    lua_newtable(L);
    td_bind_set_string(L, "id", works[i][0]);
    td_bind_set_string(L, "name", works[i][1]);
    td_bind_set_string(L, "how", works[i][2]);
    td_bind_set_string(L, "where", works[i][3]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void push_primitives(lua_State *L, const TdKind *kind) {
  lua_newtable(L);
  for (int i = 0; kind->prims[i]; i++) {
    push_primitive(L, kind->prims[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

/* tide.registry(): {primitives =, graph_primitives =, functions =, commands =, keys =, options =,
 * verbs =, environment =, work =}. */
static int l_registry(lua_State *L) {
  lua_newtable(L);
  push_primitives(L, &td_prim_kind);
  lua_setfield(L, -2, "primitives");
  push_primitives(L, &td_stp_kind);
  lua_setfield(L, -2, "graph_primitives");
  push_functions(L);
  lua_setfield(L, -2, "functions");
  push_commands(L);
  lua_setfield(L, -2, "commands");
  push_keys(L);
  lua_setfield(L, -2, "keys");
  push_work(L);
  lua_setfield(L, -2, "work");
  static const char *const lists[] = {"options", "verbs", "environment"};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    push_words(L, lists[i]);
    lua_setfield(L, -2, lists[i]);
  }
  return 1;
}

void td_bind_open_registry(lua_State *L) {
  lua_pushcfunction(L, l_registry);
  lua_setfield(L, -2, "registry");
}
