/* complete_call.c - what an argument can be: names of the very schedule that a call is made
 * on, of the kind that the primitive's struct says; words, options, targets, files. */
#include <string.h>

#include "analysis/time/target.h"
#include "bind/prompt/complete.h"
#include "bind/step/stp.h"
#include "bind/program/unit.h"
#include "bind/value/tensor.h"
#include "drive/build.h"
#include "eval/time/offchip.h"
#include "rewrite/prim.h"
#include "step/stp_kind.h"

#define MOST_INSTANCES 256

/* A bracket that is open at the cursor: its token, the place of what follows among its items, and
 * the key of that + 1. */
typedef struct Frame {
  size_t open, key;
  int item;
} Frame;
typedef TD_VEC(Frame) Frames;

/* Whether token i is this one-byte sign. */
static bool is_sign(const TdBefore *b, size_t i, char ch) {
  return i < b->token.n && b->token.at[i].kind == TD_COLOUR_SIGN && b->s[b->token.at[i].at] == ch;
}

/* Whether token i is a name. */
static bool is_name(const TdBefore *b, size_t i) {
  return i < b->token.n && b->token.at[i].kind == TD_COLOUR_WORD &&
         !td_colour_is_keyword(b->s, b->token.at[i]);
}

static const char *text_of(const TdBefore *b, size_t i) {
  TdColourToken t = b->token.at[i];
  return td_arena_strndup(b->arena, b->s + t.at, t.end - t.at);
}

/* Whether token i is the `=` of a field: no part of a comparison. */
static bool is_assign(const TdBefore *b, size_t i) {
  return is_sign(b, i, '=') && i > 0 && is_name(b, i - 1) && !is_sign(b, i + 1, '=');
}

static Frames open_frames(const TdBefore *b) {
  Frames f = {0};
  for (size_t i = 0; i < b->token.n; i++) {
    TdColourToken t = b->token.at[i];
    char ch = t.kind == TD_COLOUR_SIGN ? b->s[t.at] : 0;
    Frame *top = f.n ? &f.at[f.n - 1] : NULL;
    if (ch && strchr("([{", ch)) {
      td_vec_push(b->arena, &f, ((Frame){.open = i}));
    } else if (ch && strchr(")]}", ch)) {
      if (top) f.n--;
    } else if (top && ch && strchr(",;", ch)) {
      top->item++;
      top->key = 0;
    } else if (top && is_assign(b, i)) {
      top->key = i;
    }
  }
  return f;
}

/* Whether what begins after token i is the argument of a call without parentheses: f "x", f {..}.
 */
static bool is_bare_call(const TdBefore *b, size_t i) {
  if (!is_name(b, i)) return false;
  return i == 0 || !is_name(b, i - 1);
}

bool td_complete_find_call(const TdBefore *b, TdCallAround *c) {
  Frames f = open_frames(b);
  size_t n = b->token.n;
  *c = (TdCallAround){.open = SIZE_MAX};
  if (b->in_string && n && is_bare_call(b, n - 1)) {
    c->callee = n - 1;
    return true;
  }
  c->wants_key = n && (is_sign(b, n - 1, '{') || is_sign(b, n - 1, ','));
  for (; f.n && is_sign(b, f.at[f.n - 1].open, '{'); f.n--) {
    const Frame *top = &f.at[f.n - 1];
    if (c->in_table && c->wants_key) {
      c->wants_inner = true;
      c->wants_key = false;
    }
    if (!c->key) c->key = top->key;
    c->in_table = true;
    if (top->open == 0 || !is_bare_call(b, top->open - 1)) continue;
    c->callee = top->open - 1;
    return true;
  }
  if (!f.n || !is_sign(b, f.at[f.n - 1].open, '(')) return false;
  c->open = f.at[f.n - 1].open;
  c->argument = f.at[f.n - 1].item;
  c->callee = c->open - 1;
  return c->open > 0 && is_name(b, c->callee);
}

/* The first token of the brackets, or of the string, that end at token i. */
static size_t opener_of(const TdBefore *b, size_t i) {
  int depth = 0;
  for (size_t k = i + 1; k-- > 0;) {
    char ch = b->token.at[k].kind == TD_COLOUR_SIGN ? b->s[b->token.at[k].at] : 0;
    if (ch && strchr(")]}", ch)) depth++;
    if (ch && strchr("([{", ch)) depth--;
    if (depth == 0) return k;
  }
  return 0;
}

/* What a method is called on: at most one of them is known. */
typedef struct Receiver {
  const TdProg *prog;
  const TdStpGraph *graph;
} Receiver;

/* The program of the expression that ends at token i: a schedule or kernel by its path, what a
 * method of a schedule returned, tide.schedule(x). */
static Receiver program_at(lua_State *L, const TdBefore *b, size_t i) {
  const Receiver unknown = {NULL, NULL};
  for (;;) {
    if (i >= b->token.n) return unknown;
    if (is_name(b, i)) break;
    size_t open = opener_of(b, i), callee = open - 1;
    if (open == 0) return is_sign(b, 0, '(') && i > 1 ? program_at(L, b, i - 1) : unknown;
    if (!is_name(b, callee)) {
      i--;
    } else if (callee > 1 && is_sign(b, callee - 1, ':')) {
      i = callee - 2;
    } else {
      if (strcmp(text_of(b, callee), "schedule") != 0 || i == open) return unknown;
      i--;
    }
  }
  size_t first = i;
  while (first > 1 && is_sign(b, first - 1, '.') && is_name(b, first - 2)) first -= 2;
  td_complete_push_path(L, b, first, i);
  Receiver r = {td_bind_test_schedule(L, -1), td_stp_test_program(L, -1)};
  if (!r.prog) r.prog = td_bind_test_unit(L, -1);
  lua_pop(L, 1);
  return r;
}

/* The spec of a primitive's option, or of its positional argument number n. */
static const TdArgSpec *spec_of(const TdPrim *p, int n, const char *option) {
  for (int i = 0; i < TD_PRIM_ARGS && p->args[i].kind != TD_ARG_END; i++) {
    const TdArgSpec *a = &p->args[i];
    if ((a->place == TD_ARG_OPTION) != (option != NULL)) continue;
    if (option ? strcmp(a->name, option) == 0 : n-- == 0 || a->place == TD_ARG_REST) return a;
  }
  return NULL;
}

static void add(TdPromptItems *out, const char *name, const char *help) {
  td_complete_add(out, name, strlen(name), help);
}

/* Whether an argument can name a kernel, task, instance, loop, as its spec says. */
static bool names_a(const TdArgSpec *a, const char *word) {
  size_t len = strlen(word);
  const char *words = a->words ? a->words : a->kind == TD_ARG_UNIT ? "kernel|task" : "";
  for (size_t n; *words; words += n + (words[n] == '|')) {
    n = strcspn(words, "|");
    if (n == len && strncmp(words, word, n) == 0) return true;
  }
  return false;
}

/* Adds the instances of a task of unit u, "gemm[0][1]"; by its name a task of one. */
static void add_instances(TdPromptItems *out, const TdUnit *u, const TdRun *run) {
  int64_t extent[TD_MAX_RANK] = {0}, id[TD_MAX_RANK] = {0}, n = 1;
  for (int d = 0; d < run->rank; d++) {
    td_unit_value(u, run->map[d], &extent[d]);
    n = extent[d] > MOST_INSTANCES ? MOST_INSTANCES : n * extent[d];
  }
  if (n == 1) add(out, run->sym->name, "task");
  if (n > MOST_INSTANCES) n = MOST_INSTANCES;
  for (int64_t i = 0; n > 1 && i < n; i++) {
    TdText name = td_text_new(out->arena);
    td_text_puts(&name, run->sym->name);
    td_bind_put_index(&name, id, run->rank, 0);
    add(out, td_text_str(&name), "instance");
    for (int d = run->rank - 1; d >= 0 && ++id[d] == extent[d]; d--) id[d] = 0;
  }
}

static bool add_array(void *ud, const TdStmt *s) {
  if (s->kind == TD_STMT_LOCAL && s->type->kind == TD_T_TENSOR) add(ud, s->sym->name, "local");
  return true;
}

static bool add_band(void *ud, const TdStmt *s) {
  const TdAttr *band = s->kind == TD_STMT_FOR ? td_attrs_get(s->attrs, TD_ATTR_BAND) : NULL;
  if (band) add(ud, band->arg[0].s, "band");
  return true;
}

static void add_loops(TdPromptItems *out, const TdProg *p) {
  const char *const *specs;
  size_t n = td_cursor_list_loops(out->arena, p, &specs);
  for (size_t i = 0; i < n; i++) add(out, specs[i], "loop");
}

/* Names of one unit that an argument can have. */
static void add_unit_names(TdPromptItems *out, const TdProg *p, const TdUnit *u,
                           const TdArgSpec *a) {
  TdCtx *ctx = td_arena_ctx(out->arena);
  bool any_array = names_a(a, "array") || (a->kind == TD_ARG_ARRAY && !a->words);
  for (size_t k = 0; k < u->nrun; k++) {
    if (names_a(a, "task")) add(out, u->run[k].sym->name, "task");
    if (names_a(a, "instance")) add_instances(out, u, &u->run[k]);
  }
  if (names_a(a, "kernel") && u != td_prog_root(p) && !td_prog_is_task(p, u->sym))
    add(out, u->sym->name, "kernel");
  for (size_t k = 0; (a->kind == TD_ARG_STREAM || names_a(a, "stream")) && k < u->nstream; k++)
    add(out, u->stream[k].sym->name, "stream");
  for (size_t k = 0; any_array && k < u->nparam; k++)
    if (u->param[k].type->kind == TD_T_TENSOR) add(out, u->param[k].sym->name, "parameter");
  if (u->body && (any_array || a->kind == TD_ARG_ARRAY)) td_walk_stmt(ctx, u->body, add_array, out);
  if (u->body && a->kind == TD_ARG_BAND) td_walk_stmt(ctx, u->body, add_band, out);
}

/* Names of p that an argument can have. */
static void add_names(TdPromptItems *out, const TdProg *p, const TdArgSpec *a) {
  if (a->kind == TD_ARG_LOOP || a->kind == TD_ARG_BAND || names_a(a, "loop")) add_loops(out, p);
  for (size_t i = 0; i < p->nunit; i++) add_unit_names(out, p, p->unit[i], a);
}

/* Adds the nodes of a graph, and, where the argument takes them, families of several. */
static void add_nodes(TdPromptItems *out, const TdStpGraph *g, const TdArgSpec *a) {
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    const char *op = td_stp_ops[n->op].name;
    if (a->kind == TD_ARG_FAMILY && n->ordinal == 1) add(out, n->name, op);
    add(out, td_stp_graph_name(out->arena, n), op);
  }
}

/* What an argument of a primitive can be. */
static void add_values(TdPromptItems *out, Receiver r, const TdArgSpec *a) {
  const TdProg *p = r.prog;
  for (size_t k = 0; a->kind == TD_ARG_DEVICE && td_target_names[k]; k++)
    td_complete_add_words(out, td_target_names[k], " ", a->help);
  if (a->kind == TD_ARG_WORD)
    td_complete_add_words(out, a->words, "|", a->help);
  else if (r.graph && (a->kind == TD_ARG_NODE || a->kind == TD_ARG_FAMILY))
    add_nodes(out, r.graph, a);
  else if (p)
    add_names(out, p, a);
}

/* Whether the value at idx can be an argument of this kind. */
static bool fits(lua_State *L, int idx, TdArgKind kind) {
  const TdType *t = td_bind_test_type(L, idx);
  switch (kind) {
  case TD_ARG_TYPE: return t && td_type_is_scalar(t);
  case TD_ARG_SCHEDULE: return td_bind_test_schedule(L, idx) != NULL;
  case TD_ARG_KERNEL: return td_bind_test_unit(L, idx) != NULL;
  default: return false;
  }
}

/* Adds the variables that hold what the argument takes, and begin with what is typed. */
static void add_variables(lua_State *L, const TdBefore *b, const TdArgSpec *a, TdPromptItems *out) {
  const char *typed = b->s + b->from;
  if (a->kind == TD_ARG_FLAG) td_complete_add_words(out, "true false", " ", a->help);
  lua_pushglobaltable(L);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING || !fits(L, -1, a->kind)) continue;
    const char *name = lua_tostring(L, -2);
    if (strncmp(name, typed, strlen(typed)) == 0) add(out, name, a->help);
  }
  lua_pop(L, 1);
}

/* Names of options, of a primitive. */
static void add_options(TdPromptItems *out, const TdPrim *p) {
  for (int i = 0; i < TD_PRIM_ARGS && p->args[i].kind != TD_ARG_END; i++)
    if (p->args[i].place == TD_ARG_OPTION) add(out, p->args[i].name, p->args[i].help);
}

/* s:can("split", ..): names of primitives, then the arguments of that one. */
static const TdPrim *asked_prim(const TdBefore *b, const TdCallAround *c, const TdKind *kind,
                                TdPromptItems *out) {
  if (c->open == SIZE_MAX || c->argument == 0) {
    for (int i = 0; kind->prims[i] && b->in_string; i++)
      add(out, kind->prims[i]->name, kind->prims[i]->summary);
    return NULL;
  }
  TdColourToken t = b->token.at[c->open + 1];
  bool quoted = t.kind == TD_COLOUR_STRING && t.end - t.at > 2;
  const char *name = quoted ? td_arena_strndup(b->arena, b->s + t.at + 1, t.end - t.at - 2) : NULL;
  return name ? td_kind_find(kind, name) : NULL;
}

static bool complete_prim(lua_State *L, const TdBefore *b, const TdCallAround *c, Receiver r,
                          const TdPrim *prim, int argument, TdPromptItems *out) {
  const TdArgSpec *a = spec_of(prim, argument, c->key ? text_of(b, c->key - 1) : NULL);
  if (b->in_string && a) add_values(out, r, a);
  if (!b->in_string && c->wants_key && c->in_table)
    add_options(out, prim);
  else if (a && a->kind == TD_ARG_COUNTS && c->wants_inner)
    td_complete_add_words(out, a->words, "|", a->help);
  else if (a && !b->in_string)
    add_variables(L, b, a, out);
  return b->in_string || out->list.n;
}

/* What a build can be asked: targets, and their options. */
static bool complete_build(const TdBefore *b, const TdCallAround *c, TdPromptItems *out) {
  const char *key = c->key ? text_of(b, c->key - 1) : "";
  if (!b->in_string && c->wants_key) add(out, "target", "what to build for");
  for (const TdBackend *const *t = td_build_targets(); *t; t++) {
    if (b->in_string && strcmp(key, "target") == 0) add(out, (*t)->name, (*t)->summary);
    for (size_t i = 0; i < (*t)->noption; i++) {
      const TdOption *o = &(*t)->option[i];
      if (!b->in_string && c->wants_key) add(out, o->name, o->help);
      if (b->in_string && strcmp(key, o->name) == 0 && o->kind == TD_OPTION_WORD)
        td_complete_add_words(out, o->initial, "|", o->help);
      for (size_t k = 0; o->kind == TD_OPTION_MEMORY && td_offchip_models[k]; k++)
        if (b->in_string && strcmp(key, o->name) == 0)
          add(out, td_offchip_models[k]->name, td_offchip_models[k]->help);
    }
  }
  return b->in_string || out->list.n;
}

/* Adds the options that a usage shows, "{lo =, hi =}", or what it shows behind the option `key`. */
static void complete_usage(const char *usage, const char *key, TdPromptItems *out) {
  bool wanted = false;
  for (const char *s = strchr(usage, '{'); s && *s && *s != '}';) {
    size_t n = strcspn(s, " ,={}\"");
    const char *after = s + n + strspn(s + n, " ");
    if (n && *after == '=' && !key) td_complete_add(out, s, n, NULL);
    if (n && *after == '=') wanted = key && strlen(key) == n && memcmp(key, s, n) == 0;
    size_t quoted = *s == '"' ? strcspn(s + 1, "\"") : 0;
    if (quoted && wanted) td_complete_add(out, s + 1, quoted, NULL);
    s += quoted ? quoted + 2 : n ? n : 1;
  }
}

/* Whether strings that a function takes are paths. */
static bool takes_path(const char *name) {
  static const char *const names[] = {"dofile", "loadfile", "open",  "lines", "load",
                                      "save",   "html",     "write", "vcd",   "svg"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

bool td_complete_argument(lua_State *L, const TdBefore *b, const TdCallAround *c,
                          TdPromptItems *out) {
  const char *name = text_of(b, c->callee), *usage, *summary, *documented;
  bool is_method = c->callee > 0 && is_sign(b, c->callee - 1, ':');
  bool asks = is_method && strcmp(name, "can") == 0;
  Receiver r = {NULL, NULL};
  if (is_method && c->callee > 1) r = program_at(L, b, c->callee - 2);
  const TdKind *kind = r.graph ? &td_stp_kind : &td_prim_kind;
  const TdPrim *prim = asks        ? asked_prim(b, c, kind, out)
                       : is_method ? td_kind_find(kind, name)
                                   : NULL;
  if (prim) return complete_prim(L, b, c, r, prim, c->argument - asks, out);
  if (asks) return b->in_string;
  if (is_method && strcmp(name, "build") == 0) return complete_build(b, c, out);
  if (b->in_string && !c->in_table && takes_path(name)) {
    td_complete_add_files(out, b->s + b->from, strlen(b->s + b->from));
    return true;
  }
  bool wants_key = !b->in_string && c->in_table && c->wants_key;
  if (wants_key && !is_method && td_complete_parameter(L, b, c->callee, out)) return true;
  for (size_t i = 0; (documented = td_help_function(i, &usage, &summary)); i++) {
    const char *stem = strpbrk(documented, ":.");
    if (!stem || (*stem == ':') != is_method || strcmp(stem + 1, name) != 0 || !c->in_table)
      continue;
    if (b->in_string && c->key) complete_usage(usage, text_of(b, c->key - 1), out);
    if (!b->in_string && c->wants_key) complete_usage(usage, NULL, out);
  }
  return b->in_string || out->list.n;
}
