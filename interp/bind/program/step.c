/* step.c - the Lua arguments of a step as values for its primitive's specs. */
#include <stdarg.h>
#include <string.h>

#include "analysis/time/target.h"
#include "bind/program/unit.h"
#include "bind/step/stp.h"
#include "bind/value/layout.h"
#include "rewrite/prim.h"

/* Raises a usage error that shows how the primitive is called. */
static int wrong(lua_State *L, const TdPrim *prim, const char *fmt, ...) {
  TdArena *a = td_bind_arena(L);
  va_list ap;
  va_start(ap, fmt);
  const char *message = td_text_vfmt(a, fmt, ap);
  va_end(ap);
  return td_bind_refuse(L, TD_USAGE, "argument", td_text_fmt(a, "for example %s", prim->example),
                        "%s: %s", prim->name, message);
}

/* What an argument of this kind names: "a loop", or NULL. */
static const char *named_by(TdArgKind kind) {
  switch (kind) {
  case TD_ARG_LOOP:
  case TD_ARG_BAND: return "a loop";
  case TD_ARG_ARRAY: return "an array";
  case TD_ARG_UNIT: return "a task or kernel";
  case TD_ARG_STREAM: return "a stream";
  case TD_ARG_NODE:
  case TD_ARG_FAMILY: return "a node";
  default: return NULL;
  }
}

/* The variable that the caller wrote as argument n (from 0) of a step, or NULL. */
static const char *written_name(lua_State *L, const TdPrim *prim, size_t n) {
  TdLoc at = td_bind_caller(L);
  const TdAst *ast = at.source ? td_bind_ast(L, at.source) : NULL;
  const TdAstExpr *call = ast ? td_bind_find_call(ast, at.line, prim->name) : NULL;
  if (!call || call->kind != TD_AST_METHOD || n >= call->call.args.n) return NULL;
  const TdAstExpr *e = call->call.args.at[n];
  return e->kind == TD_AST_NAME ? e->name.id : NULL;
}

/* Raises that argument n of a step, which is nil, is needed: names stand in quotes. */
static int missing(lua_State *L, const TdPrim *prim, const TdArgSpec *spec, size_t n) {
  TdArena *a = td_bind_arena(L);
  const char *what = named_by(spec->kind), *name = what ? written_name(L, prim, n) : NULL;
  if (name)
    return td_bind_refuse(
        L, TD_USAGE, "argument", td_text_fmt(a, "%s is named by a string: \"%s\"", what, name),
        "%s needs '%s' (%s), and %s is nil", prim->name, spec->name, spec->help, name);
  return td_bind_refuse(L, TD_USAGE, "argument", td_text_fmt(a, "for example %s", prim->example),
                        "%s needs '%s' (%s)", prim->name, spec->name, spec->help);
}

/* A string argument for spec. */
static void take_text(lua_State *L, const TdPrim *prim, const TdArgSpec *spec, int idx,
                      TdArgValue *v) {
  if (lua_type(L, idx) != LUA_TSTRING)
    wrong(L, prim, "'%s' (%s) must be a string, not %s", spec->name, spec->help,
          td_bind_words(L, idx));
  v->text = lua_tostring(L, idx);
}

static void take_word(lua_State *L, TdArena *a, const TdPrim *prim, const TdArgSpec *spec,
                      TdArgValue *v) {
  const char *words[8];
  size_t n = 0, len = strlen(v->text);
  for (const char *w = spec->words; *w && n < 8; w += *w == '|') {
    size_t k = strcspn(w, "|");
    words[n++] = td_arena_strndup(a, w, k);
    if (k == len && strncmp(w, v->text, k) == 0) return;
    w += k;
  }
  const char *near = td_text_nearest(v->text, words, n);
  td_bind_fail(L, "option", "%s: '%s' is one of %s%s%s%s", prim->name, spec->name, spec->words,
               near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

/* A list (or one value) of integers or strings, in arena a. */
static void take_list(lua_State *L, TdArena *a, const TdPrim *prim, const TdArgSpec *spec, int idx,
                      TdArgValue *v) {
  bool one = !lua_istable(L, idx);
  size_t n = one ? 1 : lua_rawlen(L, idx);
  int64_t *ints = TD_NEWN(a, int64_t, n);
  const char **names = TD_NEWN(a, const char *, n);
  for (size_t i = 0; i < n; i++) {
    if (one)
      lua_pushvalue(L, idx);
    else
      lua_rawgeti(L, idx, (lua_Integer)i + 1);
    int ok = 0;
    if (spec->kind == TD_ARG_INTS) {
      ints[i] = lua_tointegerx(L, -1, &ok);
    } else if (lua_type(L, -1) == LUA_TSTRING) {
      names[i] = td_arena_strdup(a, lua_tostring(L, -1));
      ok = 1;
    }
    if (!ok)
      wrong(L, prim, "'%s' (%s) takes %s", spec->name, spec->help,
            spec->kind == TD_ARG_INTS ? "integers" : "names");
    lua_pop(L, 1);
  }
  v->n = n;
  v->ints = spec->kind == TD_ARG_INTS ? ints : NULL;
  v->names = spec->kind == TD_ARG_INTS ? NULL : names;
}

/* A list of pairs of integers: {{0, 1}, {1, 0}}. */
static void take_pairs(lua_State *L, TdArena *a, const TdPrim *prim, const TdArgSpec *spec, int idx,
                       TdArgValue *v) {
  bool good = lua_istable(L, idx);
  size_t n = good ? (size_t)lua_rawlen(L, idx) : 0;
  int64_t *ints = TD_NEWN(a, int64_t, 2 * n + 1);
  for (size_t i = 0; i < 2 * n && good; i++) {
    int ok = 0;
    lua_rawgeti(L, idx, (lua_Integer)(i / 2 + 1));
    good = lua_istable(L, -1) && lua_rawlen(L, -1) == 2;
    if (good) lua_rawgeti(L, -1, (lua_Integer)(i % 2 + 1));
    if (good) ints[i] = lua_tointegerx(L, -1, &ok);
    lua_pop(L, good ? 2 : 1);
    good = good && ok;
  }
  if (!good)
    wrong(L, prim, "'%s' (%s) takes pairs of integers: {{0, 1}, {1, 0}}", spec->name, spec->help);
  v->ints = ints;
  v->n = 2 * n;
}

/* A table of integers by the names of spec->words. */
static void take_counts(lua_State *L, TdArena *a, const TdPrim *prim, const TdArgSpec *spec,
                        int idx, TdArgValue *v) {
  const char *names[8];
  size_t n = 0;
  for (const char *w = spec->words; *w && n < 8; w += strcspn(w, "|"), w += *w == '|')
    names[n++] = td_arena_strndup(a, w, strcspn(w, "|"));
  int64_t *ints = TD_NEWN(a, int64_t, n);
  for (size_t i = 0; i < n; i++) ints[i] = -1;
  if (!lua_istable(L, idx))
    wrong(L, prim, "'%s' (%s) is a table of numbers by name, not %s", spec->name, spec->help,
          td_bind_words(L, idx));
  lua_pushnil(L);
  while (lua_next(L, idx)) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
    size_t i = 0;
    int ok = 0;
    while (i < n && strcmp(names[i], key) != 0) i++;
    if (i < n) ints[i] = lua_tointegerx(L, -1, &ok);
    if (!ok || ints[i] < 0)
      td_bind_fail(L, "option", "%s: '%s' (%s) gives numbers to %s, not to '%s'", prim->name,
                   spec->name, spec->help, spec->words, key);
    lua_pop(L, 1);
  }
  v->ints = ints;
  v->n = n;
}

/* A device is one of those that estimates and runs with a clock know. */
static void take_device(lua_State *L, const TdPrim *prim, const TdArgSpec *spec,
                        const TdArgValue *v) {
  size_t n = 0;
  if (td_target_find(v->text)) return;
  while (td_target_names[n]) n++;
  const char *near = td_text_nearest(v->text, td_target_names, n);
  td_bind_fail(L, "option", "%s: there is no %s '%s'%s%s%s", prim->name, spec->name, v->text,
               near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static const char *expected(TdArgKind kind) {
  return kind == TD_ARG_INT ? "an integer" : kind == TD_ARG_NUMBER ? "a number" : "a boolean";
}

static void take_value(lua_State *L, TdArena *a, const TdPrim *prim, const TdArgSpec *spec, int idx,
                       TdArgValue *v) {
  int ok = 1;
  idx = lua_absindex(L, idx);
  v->given = true;
  switch (spec->kind) {
  case TD_ARG_INT:
    if (spec->words && lua_type(L, idx) == LUA_TSTRING) {
      take_text(L, prim, spec, idx, v);
      take_word(L, a, prim, spec, v);
    } else {
      v->integer = lua_tointegerx(L, idx, &ok);
    }
    break;
  case TD_ARG_NUMBER: v->number = lua_tonumberx(L, idx, &ok); break;
  case TD_ARG_FLAG:
    ok = lua_isboolean(L, idx);
    v->integer = lua_toboolean(L, idx);
    break;
  case TD_ARG_INTS:
  case TD_ARG_NAMES: take_list(L, a, prim, spec, idx, v); break;
  case TD_ARG_PAIRS: take_pairs(L, a, prim, spec, idx, v); break;
  case TD_ARG_COUNTS: take_counts(L, a, prim, spec, idx, v); break;
  case TD_ARG_TYPE: v->type = td_bind_check_type(L, idx); break;
  case TD_ARG_KERNEL:
    v->prog = td_bind_check_unit(L, idx);
    if (strcmp(prim->on, "graph") == 0) td_stp_keep_unit(L, idx);
    break;
  case TD_ARG_SCHEDULE: v->schedule = td_bind_check_schedule(L, idx)->now; break;
  case TD_ARG_DEVICE:
    take_text(L, prim, spec, idx, v);
    take_device(L, prim, spec, v);
    break;
  case TD_ARG_WORD:
    take_text(L, prim, spec, idx, v);
    take_word(L, a, prim, spec, v);
    break;
  default: take_text(L, prim, spec, idx, v);
  }
  if (!ok)
    wrong(L, prim, "'%s' (%s) must be %s, not %s", spec->name, spec->help, expected(spec->kind),
          td_bind_words(L, idx));
}

/* Whether the value at idx is a table of options by name: no object of a library. */
static bool is_options(lua_State *L, int idx) {
  if (!lua_istable(L, idx) || lua_rawlen(L, idx) > 0) return false;
  if (lua_getmetatable(L, idx)) {
    lua_pop(L, 1);
    return false;
  }
  lua_pushnil(L);
  if (!lua_next(L, idx)) return true;
  bool named = lua_type(L, -2) == LUA_TSTRING;
  lua_pop(L, 2);
  return named;
}

static void unknown_option(lua_State *L, const TdPrim *prim, const char *key) {
  const char *names[TD_PRIM_ARGS];
  size_t n = 0;
  for (int i = 0; i < TD_PRIM_ARGS && prim->args[i].kind != TD_ARG_END; i++)
    if (prim->args[i].place == TD_ARG_OPTION) names[n++] = prim->args[i].name;
  const char *near = td_text_nearest(key, names, n);
  td_bind_refuse(L, TD_USAGE, "option",
                 near ? td_text_fmt(td_bind_arena(L), "did you mean '%s'?", near)
                      : td_text_fmt(td_bind_arena(L), "for example %s", prim->example),
                 "%s has no option '%s'", prim->name, key);
}

static void take_options(lua_State *L, TdArena *a, const TdPrim *prim, int idx, TdArgValue *arg) {
  lua_pushnil(L);
  while (lua_next(L, idx)) {
    const char *key = lua_tostring(L, -2);
    bool found = false;
    for (int i = 0; !found && i < TD_PRIM_ARGS && prim->args[i].kind != TD_ARG_END; i++) {
      if (prim->args[i].place != TD_ARG_OPTION || strcmp(prim->args[i].name, key) != 0) continue;
      take_value(L, a, prim, &prim->args[i], -1, &arg[i]);
      found = true;
    }
    if (!found) unknown_option(L, prim, key);
    lua_pop(L, 1);
  }
}

static bool has_options(const TdPrim *prim) {
  for (int i = 0; i < TD_PRIM_ARGS && prim->args[i].kind != TD_ARG_END; i++)
    if (prim->args[i].place == TD_ARG_OPTION) return true;
  return false;
}

/* Takes the layout at idx, of banks, in the place of the dimensions that spec i asks for, and of
 * the options that say how they are spread. */
static void take_banks(lua_State *L, TdArena *a, const TdPrim *prim, int i, int idx,
                       TdArgValue *arg) {
  const TdLayoutBox *box = td_bind_test_layout(L, idx);
  if (!box->kind)
    wrong(L, prim, "'%s' (%s) takes a layout of banks, tide.layout.partition(..)",
          prim->args[i].name, prim->args[i].help);
  int64_t *dims = TD_NEWN(a, int64_t, TD_MAX_RANK);
  arg[i] = (TdArgValue){.given = true, .ints = dims};
  for (int d = 0; d < TD_MAX_RANK; d++)
    if (box->banked[d]) dims[arg[i].n++] = d;
  for (int k = 0; k < TD_PRIM_ARGS && prim->args[k].kind != TD_ARG_END; k++) {
    const TdArgSpec *spec = &prim->args[k];
    if (spec->kind == TD_ARG_WORD && *box->kind == 'b')
      arg[k] = (TdArgValue){.given = true, .text = box->kind};
    if (spec->kind == TD_ARG_INT && box->factor)
      arg[k] = (TdArgValue){.given = true, .integer = box->factor};
  }
}

TdArgValue *td_bind_take_step(lua_State *L, TdArena *a, const TdPrim *prim, int first, int top) {
  TdArgValue *arg = TD_NEWN(a, TdArgValue, TD_PRIM_ARGS);
  int last = top;
  if (last >= first && has_options(prim) && is_options(L, last))
    take_options(L, a, prim, last--, arg);
  int at = first;
  for (int i = 0; i < TD_PRIM_ARGS && prim->args[i].kind != TD_ARG_END; i++) {
    const TdArgSpec *spec = &prim->args[i];
    if (spec->place == TD_ARG_OPTION) continue;
    if (spec->place == TD_ARG_REST) {
      size_t n = at <= last ? (size_t)(last - at + 1) : 0;
      const char **names = TD_NEWN(a, const char *, n);
      for (size_t k = 0; k < n; k++, at++) {
        TdArgValue one = {0};
        take_text(L, prim, spec, at, &one);
        names[k] = one.text;
      }
      arg[i] = (TdArgValue){.given = true, .names = names, .n = n};
      continue;
    }
    bool present = at <= last && !lua_isnil(L, at);
    if (present && spec->kind == TD_ARG_INTS && td_bind_test_layout(L, at))
      take_banks(L, a, prim, i, at, arg);
    else if (present)
      take_value(L, a, prim, spec, at, &arg[i]);
    else if (spec->place == TD_ARG_NEEDED)
      missing(L, prim, spec, (size_t)(at - first));
    at++;
  }
  if (at <= last)
    td_bind_fail(L, "arguments", "%s: %d argument%s too many", prim->name, last - at + 1,
                 last == at ? "" : "s");
  return arg;
}
