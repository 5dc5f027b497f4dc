/* schedule.c - steps on immutable versions: apply, undo, log, diff. */
#include "rewrite/schedule.h"

#include <string.h>
#include <time.h>

#include "analysis/range/bounds.h"
#include "rewrite/copied.h"
#include "rewrite/normalise.h"
#include "rewrite/stream/check_deadlock.h"
#include "rewrite/owner.h"

/* A version in the store, counters included, so that a step after an undo draws the same uids. */
static TdVersion *new_version(TdStore *st, const TdVersion *parent, const TdProg *p) {
  TdVersion *v = TD_NEW(st->arena, TdVersion);
  v->parent = parent;
  v->prog = p;
  v->step = parent ? parent->step + 1 : 0;
  v->next_uid = st->next_uid;
  v->next_sym = st->next_sym;
  return v;
}

TdSchedule td_schedule_new(TdStore *st, const TdProg *p) {
  TdSchedule s = {.store = st};
  const TdProg *copy = td_clone_prog(st, p, false);
  s.now = new_version(st, NULL, copy);
  return s;
}

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Whether what primitives declare is derived again. */
#ifdef TD_DEBUG
enum { debugs = 1 };
#else
enum { debugs = 0 };
#endif

/* Refuses a new unit that would not load: what ran nowhere in its place may be out of range. */
static bool check_bounds(TdRewrite *r, const TdProg *p) {
  bool ok = true;
  for (size_t i = 0; i < p->nunit && ok; i++) {
    if (td_prog_unit(r->prog, p->unit[i]->sym)) continue;
    TdAsk q = {.affine = r->affine, .arena = r->arena, .prog = p, .unit = p->unit[i]};
    const TdBoundsItem *item;
    size_t n;
    ok = td_bounds_check(&q, &item, &n, r->diag);
  }
  return ok;
}

const TdProg *td_schedule_attempt(TdRewrite *r, const TdPrim *prim) {
  const TdProg *before = r->prog, *p = prim->apply(r);
  r->prog = before;
  if (p && !r->did.n) p = td_normalise_sound(r, p);
  if (p && !td_verify_prog(p, r->diag)) p = NULL;
  if (p && !(td_check_deadlock_check(r, p) && check_bounds(r, p))) p = NULL;
  if (p && !r->did.n && !td_owner_check(r, p)) p = NULL;
  if (p && debugs && !r->did.n && !td_copied_check(r, p)) p = NULL;
  if (!p && !td_diag_failed(r->diag)) {
    TdLoc none = {0};
    td_diag_set(r->diag, TD_BUG, "silent", none, "%s failed without saying why", prim->name);
  }
  if (td_diag_failed(r->diag)) r->diag->prim = prim->name;
  return p;
}

const TdProg *td_schedule_try(const TdRewrite *r, TdArena *a, const TdProg *p, TdPrimStep step) {
  TdDiag quiet = {.arena = a};
  TdRewrite one = {.prog = p,
                   .since = r->since,
                   .store = r->store,
                   .session = r->session,
                   .arena = a,
                   .affine = r->affine,
                   .arg = step.arg,
                   .diag = &quiet};
  return td_schedule_attempt(&one, step.prim);
}

const TdProg *td_schedule_part(TdRewrite *r, const TdProg *p, TdPrimStep step,
                               const char *const **made) {
  TdRewrite one = *r;
  one.prog = p;
  one.arg = step.arg;
  one.naming = (TdNaming){0};
  memset(&one.made, 0, sizeof one.made);
  memset(&one.did, 0, sizeof one.did);
  memset(&one.copied, 0, sizeof one.copied);
  p = td_schedule_attempt(&one, step.prim);
  r->note.at = one.note.at, r->note.n = one.note.n, r->note.cap = one.note.cap;
  r->relative.at = one.relative.at, r->relative.n = one.relative.n;
  r->relative.cap = one.relative.cap;
  r->used_value |= one.used_value;
  *made = (const char *const *)one.made.at;
  step.before = one.prog;
  step.made = *made;
  step.nmade = one.made.n;
  td_vec_push(r->arena, &r->did, step);
  return p;
}

static TdRewrite start(TdSchedule *s, TdAffine *affine, const TdArgValue *arg, TdDiag *d) {
  s->store->next_uid = s->now->next_uid;
  s->store->next_sym = s->now->next_sym;
  return (TdRewrite){.prog = s->now->prog,
                     .since = s->now,
                     .store = s->store,
                     .session = s->store->session,
                     .arena = d->arena,
                     .affine = affine,
                     .arg = arg,
                     .diag = d};
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
static void keep_steps(TdStore *st, TdVersion *v, const TdRewrite *r, const TdPrim *prim) {
  TdPrimStep one = {.prim = prim, .arg = r->arg};
  bool composite = r->did.n > 0 || is_composite(r->arg);
  const TdPrimStep *from = composite ? r->did.at : &one;
  v->ndid = composite ? r->did.n : 1;
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

bool td_schedule_apply(TdSchedule *s, TdAffine *affine, const TdPrim *prim, const TdArgValue *arg,
                       const char *const **made, size_t *nmade, TdDiag *d) {
  TdMark mark = td_arena_mark(s->store->arena);
  double before = now_ms();
  TdRewrite r = start(s, affine, arg, d);
  const TdProg *p = td_schedule_attempt(&r, prim);
  if (!p) {
    roll_back(s, mark);
    return false;
  }
  TdVersion *v = new_version(s->store, s->now, p);
  v->prim = prim;
  TdText call = td_text_new(s->store->arena);
  td_schedule_call(&call, prim, arg);
  v->call = td_text_str(&call);
  v->note = keep_strings(s->store, (const char *const *)r.note.at, r.note.n);
  v->nnote = r.note.n;
  v->relative = keep_strings(s->store, (const char *const *)r.relative.at, r.relative.n);
  v->nrelative = r.relative.n;
  v->used_value = r.used_value || s->now->used_value;
  v->legality_ms = now_ms() - before;
  v->made = keep_strings(s->store, (const char *const *)r.made.at, r.made.n);
  v->nmade = r.made.n;
  keep_steps(s->store, v, &r, prim);
  *made = v->made;
  *nmade = v->nmade;
  s->now = v;
  return true;
}

bool td_schedule_can(TdSchedule *s, TdAffine *affine, const TdPrim *prim, const TdArgValue *arg,
                     TdDiag *d) {
  TdMark mark = td_arena_mark(s->store->arena);
  TdRewrite r = start(s, affine, arg, d);
  bool ok = td_schedule_attempt(&r, prim) != NULL;
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

/* Whether u assumes the fact e. */
static bool assumes(const TdUnit *u, const TdExpr *e) {
  bool found = false;
  for (size_t i = 0; i < u->nassert && !found; i++) found = td_equal_expr(u->assert_[i], e);
  return found;
}

const char *td_schedule_relative(TdArena *a, const TdSchedule *s) {
  TdText t = td_text_new(a);
  const TdVersion *first = s->now;
  while (first->parent) first = first->parent;
  const TdUnit *was = td_prog_root(first->prog), *now = td_prog_root(s->now->prog);
  put_relative(&t, s->now);
  for (size_t i = 0; i < now->nassert; i++)
    if (!assumes(was, now->assert_[i]))
      td_text_putf(&t, "%sassume %s", t.n ? ", " : "", td_print_expr_str(a, now->assert_[i]));
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
  case TD_ARG_INT: td_text_putf(out, "%lld", (long long)v->integer); break;
  case TD_ARG_NUMBER: td_text_putf(out, "%g", v->number); break;
  case TD_ARG_FLAG: td_text_puts(out, v->integer ? "true" : "false"); break;
  case TD_ARG_INTS:
  case TD_ARG_NAMES: put_list(out, v); break;
  case TD_ARG_COUNTS: put_counts(out, spec, v); break;
  case TD_ARG_SCHEDULE: td_text_puts(out, td_prog_root(v->schedule->prog)->sym->name); break;
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

void td_schedule_diff(TdText *out, const TdProg *from, const TdProg *to) {
  TdText before = td_text_new(out->arena), after = td_text_new(out->arena);
  td_print_prog(&before, from);
  td_print_prog(&after, to);
  td_text_diff(out, td_text_str(&before), td_text_str(&after), 2);
}
