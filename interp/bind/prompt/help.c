/* help.c - help from the one registry: primitives, functions and methods, commands. */
#include <string.h>
#include <strings.h>

#include "bind/history/primitive.h"
#include "bind/step/stp.h"
#include "bind/prompt/prompt.h"
#include "bind/program/unit.h"
#include "drive/build.h"
#include "rewrite/prim.h"
#include "step/stp_kind.h"

typedef struct Doc {
  const char *name, *usage, *summary;
} Doc;

static const Doc docs[] = {
#define TD_DOC(name, usage, summary) {name, usage, summary},
#include "bind/prompt/docs.def"
};
enum { NDOCS = sizeof docs / sizeof *docs };

static const Doc fields[] = {
#define TD_FIELD(name, summary) {name, name, summary},
#include "bind/prompt/docs.def"
};
enum { NFIELDS = sizeof fields / sizeof *fields };

static const Doc classes[] = {
#define TD_CLASS(class, words, origin) {class, words, origin},
#include "bind/prompt/docs.def"
};
enum { NCLASSES = sizeof classes / sizeof *classes };

/* The words of the class of n characters. */
static const char *class_of(const char *name, size_t n, const char **origin) {
  for (size_t i = 0; i < NCLASSES; i++)
    if (strlen(classes[i].name) == n && strncmp(classes[i].name, name, n) == 0) {
      *origin = classes[i].summary;
      return classes[i].usage;
    }
  return NULL;
}

const char *td_help_origin(const char *words) {
  for (size_t i = 0; i < NCLASSES; i++)
    if (strcmp(classes[i].usage, words) == 0) return classes[i].summary;
  return NULL;
}

const char *td_help_class(const char *class, const char **origin) {
  return strncmp(class, "tide.", 5) == 0 ? class_of(class + 5, strlen(class + 5), origin) : NULL;
}

const char *td_help_function(size_t i, const char **usage, const char **summary) {
  if (i >= NDOCS) return NULL;
  *usage = docs[i].usage;
  *summary = docs[i].summary;
  return docs[i].name;
}

const char *td_help_member(size_t i, const char **summary) {
  if (i >= NFIELDS) return NULL;
  *summary = fields[i].summary;
  return fields[i].name;
}

const char *td_help_class_row(size_t i, const char **words) {
  if (i >= NCLASSES) return NULL;
  *words = classes[i].usage;
  return classes[i].name;
}

static const TdKind *const kinds[] = {&td_prim_kind, &td_stp_kind};
enum { NKINDS = sizeof kinds / sizeof *kinds };
/* The classes whose methods they are. */
static const char *const schedules[NKINDS] = {"schedule", "step.schedule"};

const TdKind *td_help_kind(size_t i) {
  return i < NKINDS ? kinds[i] : NULL;
}

const char *td_help_name(size_t i, const char **summary) {
  for (size_t q = 0; q < NKINDS; q++)
    for (size_t k = 0; kinds[q]->prims[k]; k++)
      if (i-- == 0) {
        *summary = kinds[q]->prims[k]->summary;
        return kinds[q]->prims[k]->name;
      }
  if (i < NDOCS) {
    *summary = docs[i].summary;
    return docs[i].name;
  }
  return NULL;
}

/* The part of a documented name that people type: after "tide." or "class:". */
static const char *short_name(const char *name) {
  const char *sign = strchr(name, ':');
  if (!sign) sign = strchr(name, '.');
  return sign ? sign + 1 : name;
}

const char *td_help_field(const char *name) {
  for (size_t i = 0; i < NFIELDS; i++)
    if (strcmp(short_name(fields[i].name), name) == 0) return fields[i].summary;
  return NULL;
}

const char *td_help_owner(const char *method, const char **origin) {
  for (size_t q = 0; q < NKINDS; q++)
    if (td_kind_find(kinds[q], method)) return class_of(schedules[q], strlen(schedules[q]), origin);
  for (size_t i = 0; i < NDOCS; i++) {
    const char *colon = strchr(docs[i].name, ':');
    if (colon && strcmp(colon + 1, method) == 0)
      return class_of(docs[i].name, (size_t)(colon - docs[i].name), origin);
  }
  return NULL;
}

/* "split(loop, factor, {names =, tail =})". */
static void put_signature(TdText *out, const TdPrim *p) {
  td_text_putf(out, "s:%s(", p->name);
  int n = 0, options = 0;
  for (int i = 0; i < TD_PRIM_ARGS && p->args[i].kind != TD_ARG_END; i++) {
    const TdArgSpec *a = &p->args[i];
    if (a->place == TD_ARG_OPTION) continue;
    bool optional = a->place == TD_ARG_OPTIONAL;
    td_text_putf(out, "%s%s%s%s", n++ ? ", " : "", optional ? "[" : "", a->name,
                 optional ? "]" : "");
    if (a->place == TD_ARG_REST) td_text_puts(out, ", ..");
  }
  for (int i = 0; i < TD_PRIM_ARGS && p->args[i].kind != TD_ARG_END; i++) {
    if (p->args[i].place != TD_ARG_OPTION) continue;
    td_text_putf(out, "%s%s =", options++ ? ", " : n ? ", {" : "{", p->args[i].name);
  }
  td_text_puts(out, options ? "})\n" : ")\n");
}

void td_help_put_primitive(TdText *out, const TdPrim *p) {
  put_signature(out, p);
  td_text_putf(out, "  %s\n", p->summary);
  for (int i = 0; i < TD_PRIM_ARGS && p->args[i].kind != TD_ARG_END; i++)
    td_text_putf(out, "  %-10s %s%s%s%s\n", p->args[i].name, p->args[i].help,
                 p->args[i].words ? " (" : "", p->args[i].words ? p->args[i].words : "",
                 p->args[i].words ? ")" : "");
  td_text_putf(out, "  rewrite    %s\n  legal      %s\n  errors     %s\n  example    %s\n",
               p->rewrite, p->legal, p->errors, p->example);
}

/* What a build can be asked, by target. */
static void show_targets(TdText *out) {
  td_text_puts(out, "  options by target:\n");
  for (const TdBackend *const *t = td_build_targets(); *t; t++) {
    td_text_putf(out, "  %-10s %s\n", (*t)->name, (*t)->summary);
    for (size_t i = 0; i < (*t)->noption; i++) {
      const TdOption *o = &(*t)->option[i];
      const char *words = o->kind == TD_OPTION_WORD ? o->initial : NULL;
      td_text_putf(out, "    %-12s %s%s%s%s\n", o->name, o->help, words ? " (" : "",
                   words ? words : "", words ? ")" : "");
    }
  }
}

bool td_help_source(lua_State *L, TdText *out, const char *name) {
  lua_Debug ar;
  lua_pushglobaltable(L);
  lua_pushstring(L, name);
  lua_rawget(L, -2);
  if (td_bind_test_unit(L, -1) || td_bind_test_schedule(L, -1))
    lua_getiuservalue(L, -1, TD_UNIT_FUNCTION);
  if (!lua_isfunction(L, -1)) return false;
  lua_getinfo(L, ">S", &ar);
  const TdSources *s = td_bind_enter(L)->session->sources;
  uint32_t id = td_sources_find(s, ar.source);
  if (!id || ar.linedefined < 1) return false;
  td_text_putf(out, "%s:%d:\n", td_sources_name(s, id), ar.linedefined);
  td_help_put_lines(out, s, id, ar.linedefined, ar.lastlinedefined);
  return true;
}

/* Pushes the value of a dotted path of globals, read raw, or nil. */
static void push_path(lua_State *L, const char *path) {
  lua_pushglobaltable(L);
  for (size_t n; *path && lua_istable(L, -1); path += n + (path[n] == '.')) {
    n = strcspn(path, ".");
    lua_pushlstring(L, path, n);
    lua_rawget(L, -2);
    lua_remove(L, -2);
  }
  if (!*path) return;
  lua_pop(L, 1);
  lua_pushnil(L);
}

/* Puts the names in `list` that are of a class of documented names, joined by `sign`, after a
 * title. */
static void put_members(TdText *out, const char *title, const Doc *list, size_t n,
                        const char *owner, char sign) {
  size_t length = strlen(owner), shown = 0;
  for (size_t i = 0; i < n; i++) {
    if (strncmp(list[i].name, owner, length) != 0 || list[i].name[length] != sign) continue;
    td_text_putf(out, "%s%s", shown++ ? ", " : title, list[i].name + length + 1);
  }
  if (shown) td_text_putc(out, '\n');
}

/* The class of the userdata at idx, as names of its methods begin, and what it can do. */
static void show_class(lua_State *L, TdText *out, int idx) {
  if (lua_type(L, idx) != LUA_TUSERDATA || !lua_getmetatable(L, idx)) return;
  lua_pushliteral(L, "__name");
  lua_rawget(L, -2);
  const char *owner = lua_tostring(L, -1);
  if (owner && strncmp(owner, "tide.", 5) == 0) {
    const char *origin, *words = td_help_class(owner, &origin);
    if (words)
      td_text_putf(out, "  is %s: %s (?%s:name tells of a method)\n", words, origin, owner + 5);
    put_members(out, "  methods: ", docs, NDOCS, owner + 5, ':');
    put_members(out, "  fields: ", fields, NFIELDS, owner + 5, '.');
    if (strcmp(owner, "tide.schedule") == 0)
      td_text_puts(out, "  primitives: those that ? lists\n");
  }
  lua_pop(L, 2);
}

/* What the value of a path of globals is, and can do, for names that are not documented. */
static bool show_global(lua_State *L, TdText *out, const char *name) {
  push_path(L, name);
  bool known = !lua_isnil(L, -1);
  int idx = lua_gettop(L);
  if (known && !td_help_show_comment(L, out, idx) && !td_help_show_module(L, out, name, idx)) {
    td_text_putf(out, "%s: ", name);
    td_show_value(L, out, idx, false);
    if (out->at[out->n - 1] != '\n') td_text_putc(out, '\n');
    show_class(L, out, idx);
  }
  lua_settop(L, idx - 1);
  return known;
}

/* What the module tide.NAME of stdlib says of itself, unless a global of that name is another. */
static bool show_stdlib(lua_State *L, TdText *out, const char *name) {
  bool found = false;
  int top = lua_gettop(L);
  for (size_t i = 0; td_help_modules[i]; i++) found |= strcmp(td_help_modules[i], name) == 0;
  if (!found) return false;
  td_stdlib_push_module(L, lua_pushfstring(L, "tide.%s", name));
  push_path(L, name);
  found = lua_isnil(L, -1) || lua_rawequal(L, -1, -2);
  bool told = found && td_help_show_module(L, out, name, top + 2);
  if (found && (!told || luaL_getmetafield(L, top + 2, "__tostring") != LUA_TNIL)) {
    td_text_putf(out, "%s: ", name);
    td_show_value(L, out, top + 2, false);
    td_text_putc(out, '\n');
  }
  lua_settop(L, top);
  return found;
}

/* ---- search ---- */

/* Whether a word stands in a text, in either case. */
static bool holds(const char *text, const char *word) {
  size_t n = strlen(word);
  for (; text && *text; text++)
    if (strncasecmp(text, word, n) == 0) return true;
  return false;
}

static bool prim_holds(const TdPrim *p, const char *word) {
  bool found = holds(p->summary, word) || holds(p->rewrite, word) || holds(p->legal, word) ||
               holds(p->errors, word);
  for (int i = 0; i < TD_PRIM_ARGS && p->args[i].kind != TD_ARG_END && !found; i++)
    found = holds(p->args[i].name, word) || holds(p->args[i].help, word);
  return found || holds(p->name, word);
}

void td_help_push_library(lua_State *L, const char *module, const char *function,
                          const char *name) {
  td_stdlib_push_global(L, "require");
  lua_pushstring(L, module);
  bool ok = lua_pcall(L, 1, 1, 0) == LUA_OK && lua_istable(L, -1);
  if (ok) {
    lua_getfield(L, -1, function);
    lua_remove(L, -2);
    lua_pushstring(L, name);
    ok = lua_pcall(L, 1, 1, 0) == LUA_OK;
  }
  if (ok) return;
  lua_pop(L, 1);
  lua_pushnil(L);
}

/* Puts the text that a function of a library of stdlib has of a name; false when it has none. */
static bool show_library(lua_State *L, TdText *out, const char *module, const char *function,
                         const char *name) {
  td_help_push_library(L, module, function, name);
  const char *text = lua_tostring(L, -1);
  if (text) td_text_putf(out, "%s\n", text);
  lua_pop(L, 1);
  return text != NULL;
}

/* Puts a line for each documented thing whose name or text holds a word. */
static bool show_matches(lua_State *L, TdText *out, const char *word) {
  size_t start = out->n;
  td_text_putf(out, "nothing is called '%s'; it is said of:\n", word);
  size_t none = out->n;
  for (size_t q = 0; q < NKINDS; q++)
    for (const TdPrim *const *p = kinds[q]->prims; *p; p++)
      if (prim_holds(*p, word)) td_text_putf(out, "  %-20s %s\n", (*p)->name, (*p)->summary);
  for (size_t i = 0; i < NDOCS; i++)
    if (holds(docs[i].name, word) || holds(docs[i].usage, word) || holds(docs[i].summary, word))
      td_text_putf(out, "  %-20s %s\n", docs[i].name, docs[i].summary);
  for (size_t i = 0; i < NFIELDS; i++)
    if (holds(fields[i].name, word) || holds(fields[i].summary, word))
      td_text_putf(out, "  %-20s %s\n", fields[i].name, fields[i].summary);
  for (int i = 0; td_commands[i].name; i++)
    if (holds(td_commands[i].usage, word) || holds(td_commands[i].summary, word))
      td_text_putf(out, "  :%-19s %s\n", td_commands[i].name, td_commands[i].summary);
  show_library(L, out, TD_HELP_CODES, "search", word);
  if (out->n > none) return true;
  out->n = start;
  out->at[start] = 0;
  return false;
}

bool td_help_show(lua_State *L, TdText *out, const char *name) {
  if (!*name) {
    td_overview_put(out);
    return true;
  }
  if (*name == ':') {
    const TdCommand *c = td_command_find(name + 1);
    if (c) td_text_putf(out, ":%s\n  %s\n", c->usage, c->summary);
    return c != NULL;
  }
  if (td_stp_show_help(out, name)) return true;
  const char *stem = strrchr(name, ':');
  bool found = show_stdlib(L, out, name), builds = false;
  for (size_t q = 0; q < NKINDS; q++) {
    const TdPrim *p = td_kind_find(kinds[q], stem ? stem + 1 : name);
    if (p && found) td_text_putf(out, "of a %s:\n", kinds[q]->name);
    if (p) td_help_put_primitive(out, p);
    found |= p != NULL;
  }
  for (size_t i = 0; i < NDOCS + NFIELDS; i++) {
    const Doc *d = i < NDOCS ? &docs[i] : &fields[i - NDOCS];
    if (strcmp(d->name, name) != 0 && strcmp(short_name(d->name), stem ? stem + 1 : name) != 0)
      continue;
    td_text_putf(out, "%s\n  %s\n", d->usage, d->summary);
    found = true;
    builds = builds || strcmp(short_name(d->name), "build") == 0;
  }
  if (builds) show_targets(out);
  found |= td_overview_put_group(out, name);
  if (strcmp(name, "modules") == 0) {
    td_help_put_modules(L, out);
    found = true;
  }
  found = found || td_bind_show_recipe(L, out, stem ? stem + 1 : name) ||
          show_global(L, out, name) || show_library(L, out, TD_HELP_TEMPLATES, "help", name);
  return show_library(L, out, TD_HELP_CODES, "help", name) || found ||
         (strlen(name) > 2 && show_matches(L, out, name));
}
