/* schedule.c - steps on immutable versions of programs of any kind: apply, undo, log, diff. */
#include "history/schedule.h"

#include <string.h>
#include <time.h>

/* A version in the store, counters included, so that a step after an undo draws the same uids. */
static TdVersion *new_version(TdStore *st, const TdKind *kind, const TdVersion *parent,
                              const void *p) {
  TdVersion *v = TD_NEW(st->arena, TdVersion);
  v->kind = kind;
  v->parent = parent;
  v->prog = p;
  v->step = parent ? parent->step + 1 : 0;
  v->next_uid = st->next_uid;
  v->next_sym = st->next_sym;
  return v;
}

TdSchedule td_schedule_new(TdStore *st, const TdKind *kind, const void *p) {
  TdSchedule s = {.store = st};
  const void *copy = kind->clone(st, p);
  s.now = new_version(st, kind, NULL, copy);
  return s;
}

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The program that the step makes of what is there now; NULL: refused, t->diag says why. */
static const void *attempt(TdSchedule *s, TdTaking *t) {
  s->store->next_uid = s->now->next_uid;
  s->store->next_sym = s->now->next_sym;
  const void *p = s->now->kind->attempt(t);
  if (!p && !td_diag_failed(t->diag)) {
    TdLoc none = {0};
    td_diag_set(t->diag, TD_BUG, "silent", none, "%s failed without saying why", t->prim->name);
  }
  if (td_diag_failed(t->diag)) t->diag->prim = t->prim->name;
  return p;
}

/* n strings, copied into the store. */
static const char *const *keep_strings(TdStore *st, const char *const *at, size_t n) {
  const char **copy = TD_NEWN(st->arena, const char *, n);
  for (size_t i = 0; i < n; i++) copy[i] = td_arena_strdup(st->arena, at[i]);
  return copy;
}

/* The arguments of prim, copied into the store. */
static const TdArgValue *keep_args(TdStore *st, const TdArgValue *arg) {
  TdArgValue *copy = td_arena_copy(st->arena, arg, TD_PRIM_ARGS * sizeof *copy);
  for (int i = 0; i < TD_PRIM_ARGS; i++) {
    TdArgValue *v = &copy[i];
    if (v->text) v->text = td_arena_strdup(st->arena, v->text);
    if (v->ints) v->ints = td_arena_copy(st->arena, v->ints, v->n * sizeof *v->ints);
    if (v->names) v->names = keep_strings(st, v->names, v->n);
    v->schedule = NULL;
    if (v->prog) v->prog = td_clone_prog(td_store_inner(st->arena, st->session), v->prog, true);
  }
  return copy;
}

/* Whether a step is made of those of another schedule. */
static bool is_composite(const TdArgValue *arg) {
  for (int i = 0; i < TD_PRIM_ARGS; i++)
    if (arg[i].schedule) return true;
  return false;
}

/* The steps of a version: the one that was asked for, or those that it was made of. */
static void keep_steps(TdStore *st, TdVersion *v, const TdTaking *t) {
  TdPrimStep one = {.prim = t->prim, .arg = t->arg};
  bool composite = t->ndid > 0 || is_composite(t->arg);
  const TdPrimStep *from = composite ? t->did : &one;
  v->ndid = composite ? t->ndid : 1;
  TdPrimStep *did = TD_NEWN(st->arena, TdPrimStep, v->ndid);
  for (size_t i = 0; i < v->ndid; i++) {
    did[i] = from[i];
    did[i].arg = keep_args(st, from[i].arg);
    did[i].made = keep_strings(st, from[i].made, from[i].nmade);
  }
  v->did = did;
}

/* Gives back what a refused or dropped step put into the store. */
static void roll_back(TdSchedule *s, TdMark mark) {
  td_arena_release(s->store->arena, mark);
  s->store->next_uid = s->now->next_uid;
  s->store->next_sym = s->now->next_sym;
}

bool td_schedule_apply(TdSchedule *s, void *tools, const TdPrim *prim, const TdArgValue *arg,
                       const char *const **made, size_t *nmade, TdDiag *d) {
  TdMark mark = td_arena_mark(s->store->arena);
  double before = now_ms();
  TdTaking t = {s->now, s->store, tools, prim, arg, .diag = d};
  const void *p = attempt(s, &t);
  if (!p) {
    roll_back(s, mark);
    return false;
  }
  TdVersion *v = new_version(s->store, s->now->kind, s->now, p);
  v->prim = prim;
  TdText call = td_text_new(s->store->arena);
  td_schedule_call(&call, prim, arg);
  v->call = td_text_str(&call);
  v->note = keep_strings(s->store, t.note, t.nnote);
  v->nnote = t.nnote;
  v->relative = keep_strings(s->store, t.relative, t.nrelative);
  v->nrelative = t.nrelative;
  v->used_value = t.used_value || s->now->used_value;
  v->legality_ms = now_ms() - before;
  v->made = keep_strings(s->store, t.made, t.nmade);
  v->nmade = t.nmade;
  keep_steps(s->store, v, &t);
  *made = v->made;
  *nmade = v->nmade;
  s->now = v;
  return true;
}

bool td_schedule_can(TdSchedule *s, void *tools, const TdPrim *prim, const TdArgValue *arg,
                     TdDiag *d) {
  TdMark mark = td_arena_mark(s->store->arena);
  TdTaking t = {s->now, s->store, tools, prim, arg, .diag = d};
  bool ok = attempt(s, &t) != NULL;
  roll_back(s, mark);
  return ok;
}

const TdVersion *td_schedule_at(const TdSchedule *s, int n) {
  const TdVersion *v = s->now;
  while (v && v->step > n) v = v->parent;
  return v && v->step == n && n >= 0 ? v : NULL;
}

/* Whether a step of version v was to change what the program computes. */
static bool makes_reference(const TdVersion *v) {
  bool made = false;
  for (size_t i = 0; i < v->ndid; i++) made |= v->did[i].prim->new_reference;
  return made;
}

const TdVersion *td_schedule_reference(const TdSchedule *s) {
  const TdVersion *v = s->now;
  while (v->parent && !makes_reference(v)) v = v->parent;
  return v;
}

/* Writes what steps up to v made another program of. */
static void put_relative(TdText *out, const TdVersion *v) {
  if (v->parent) put_relative(out, v->parent);
  for (size_t i = 0; i < v->nrelative; i++)
    td_text_putf(out, "%s%s", out->n ? ", " : "", v->relative[i]);
}

const char *td_schedule_relative(TdArena *a, const TdSchedule *s) {
  TdText t = td_text_new(a);
  const TdVersion *first = s->now;
  while (first->parent) first = first->parent;
  put_relative(&t, s->now);
  if (s->now->kind->put_assumed) s->now->kind->put_assumed(&t, first->prog, s->now->prog);
  return td_text_str(&t);
}

static void put_list(TdText *out, const TdArgValue *v) {
  td_text_putc(out, '{');
  for (size_t i = 0; i < v->n; i++) {
    if (i) td_text_puts(out, ", ");
    if (v->names)
      td_text_put_quoted(out, v->names[i], strlen(v->names[i]));
    else
      td_text_putf(out, "%lld", (long long)v->ints[i]);
  }
  td_text_putc(out, '}');
}

static void put_pairs(TdText *out, const TdArgValue *v) {
  for (size_t i = 0; i + 1 < v->n; i += 2)
    td_text_putf(out, "%s{%lld, %lld}", i ? ", " : "{", (long long)v->ints[i],
                 (long long)v->ints[i + 1]);
  td_text_puts(out, v->n ? "}" : "{}");
}

/* {inputs = 2, outputs = 1}. */
static void put_counts(TdText *out, const TdArgSpec *spec, const TdArgValue *v) {
  const char *w = spec->words;
  int n = 0;
  td_text_putc(out, '{');
  for (size_t i = 0; i < v->n; i++) {
    size_t len = strcspn(w, "|");
    if (v->ints[i] >= 0)
      td_text_putf(out, "%s%.*s = %lld", n++ ? ", " : "", (int)len, w, (long long)v->ints[i]);
    w += len + (w[len] == '|');
  }
  td_text_putc(out, '}');
}

static void put_value(TdText *out, const TdArgSpec *spec, const TdArgValue *v) {
  switch (spec->kind) {
  case TD_ARG_INT:
    if (v->text)
      td_text_put_quoted(out, v->text, strlen(v->text));
    else
      td_text_putf(out, "%lld", (long long)v->integer);
    break;
  case TD_ARG_NUMBER: td_text_putf(out, "%g", v->number); break;
  case TD_ARG_FLAG: td_text_puts(out, v->integer ? "true" : "false"); break;
  case TD_ARG_INTS:
  case TD_ARG_NAMES: put_list(out, v); break;
  case TD_ARG_PAIRS: put_pairs(out, v); break;
  case TD_ARG_COUNTS: put_counts(out, spec, v); break;
  case TD_ARG_SCHEDULE: td_text_puts(out, v->schedule->kind->title(v->schedule->prog)); break;
  case TD_ARG_KERNEL: td_text_puts(out, td_prog_root(v->prog)->sym->name); break;
  case TD_ARG_TYPE: {
    const char *type = td_type_str(out->arena, v->type);
    td_text_putf(out, "%s%s", strncmp(type, "tide.", 5) ? "tide." : "", type);
    break;
  }
  default: td_text_put_quoted(out, v->text, strlen(v->text));
  }
}

/* The arguments by position; a list that takes the rest is spread. */
static int put_positional(TdText *out, const TdPrim *prim, const TdArgValue *arg) {
  int n = 0;
  for (int i = 0; i < TD_PRIM_ARGS && prim->args[i].kind != TD_ARG_END; i++) {
    const TdArgSpec *spec = &prim->args[i];
    if (spec->place == TD_ARG_OPTION || !arg[i].given) continue;
    if (spec->place == TD_ARG_REST) {
      for (size_t k = 0; k < arg[i].n; k++) {
        td_text_puts(out, n++ ? ", " : "");
        td_text_put_quoted(out, arg[i].names[k], strlen(arg[i].names[k]));
      }
      continue;
    }
    td_text_puts(out, n++ ? ", " : "");
    bool one = arg[i].names && arg[i].n == 1;
    if (one)
      td_text_put_quoted(out, arg[i].names[0], strlen(arg[i].names[0]));
    else
      put_value(out, spec, &arg[i]);
  }
  return n;
}

void td_schedule_call(TdText *out, const TdPrim *prim, const TdArgValue *arg) {
  td_text_putf(out, "%s(", prim->name);
  int n = put_positional(out, prim, arg), options = 0;
  for (int i = 0; i < TD_PRIM_ARGS && prim->args[i].kind != TD_ARG_END; i++) {
    if (prim->args[i].place != TD_ARG_OPTION || !arg[i].given) continue;
    td_text_puts(out, options++ ? ", " : n ? ", {" : "{");
    td_text_putf(out, "%s = ", prim->args[i].name);
    put_value(out, &prim->args[i], &arg[i]);
  }
  td_text_puts(out, options ? "})" : ")");
}

/* The kernels that a step takes, as locals. */
static void put_kernels(TdText *out, const TdPrimStep *step) {
  for (int i = 0; i < TD_PRIM_ARGS; i++) {
    if (!step->arg[i].prog) continue;
    TdText text = td_text_new(out->arena);
    td_print_prog(&text, step->arg[i].prog);
    td_text_putf(out, "local %s = load [==[\n%s]==]()\n",
                 td_prog_root(step->arg[i].prog)->sym->name, td_text_str(&text));
  }
}

void td_schedule_log(TdText *out, const TdSchedule *s) {
  td_text_puts(out, "local tide = require \"tide\"\nlocal s = tide.schedule(...)\n");
  for (int n = 1; n <= s->now->step; n++) {
    const TdVersion *v = td_schedule_at(s, n);
    for (size_t i = 0; i < v->ndid; i++) {
      put_kernels(out, &v->did[i]);
      td_text_puts(out, "s:");
      td_schedule_call(out, v->did[i].prim, v->did[i].arg);
      td_text_putc(out, '\n');
    }
  }
  td_text_puts(out, "return s\n");
}

void td_schedule_diff(TdText *out, const TdKind *from_kind, const void *from, const TdKind *to_kind,
                      const void *to) {
  TdText before = td_text_new(out->arena), after = td_text_new(out->arena);
  from_kind->print(&before, from);
  to_kind->print(&after, to);
  td_text_diff(out, td_text_str(&before), td_text_str(&after), 2);
}
