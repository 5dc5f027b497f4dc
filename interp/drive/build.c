/* build.c - targets, and what is done for each: verify, validate, emit, data, files, runs. */
#include "build.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/order/effects.h"
#include "backends/cpu/cpu.h"
#include "base/file.h"
#include "eval/eval.h"
#include "lower/lower.h"
#include "admit.h"
#include "drive/complete.h"
#include "check_times.h"

struct TdModule {
  const TdBackend *target;
  TdArena *arena;
  const TdProg *prog;
  const TdProg *whole; /* prog with the tasks that the target needs besides */
  const char *steps;   /* that lead there */
  TdLowered lowered;
  const char **value; /* of the options */
  const struct TdOffchip *memory;
  const bool *written;
  TD_VEC(TdFile) file;
  bool has_data, watch;
  const char *report;
  void *run;          /* NULL until the first call */
  TdCheckTimes *twin; /* the timed run that it is held against, or NULL */
};

const TdBackend *const *td_build_targets(void) {
  return td_backends;
}

const TdBackend *td_build_find(const char *name) {
  for (size_t i = 0; td_backends[i]; i++)
    if (strcmp(td_backends[i]->name, name) == 0) return td_backends[i];
  return NULL;
}

static TdBuild build_of(const TdModule *m, TdDiag *d) {
  return (TdBuild){.prog = m->prog,
                   .lowered = m->lowered.prog ? &m->lowered : NULL,
                   .steps = m->steps,
                   .value = m->value,
                   .memory = m->memory,
                   .watch = m->watch,
                   .arena = m->arena,
                   .diag = d};
}

static void add(TdModule *m, const TdFile *file, size_t n) {
  for (size_t i = 0; i < n; i++) td_vec_push(m->arena, &m->file, file[i]);
}

/* The pipeline: the target validates, the program is lowered, the target writes its files. */
static bool emit(TdModule *m, TdDiag *d) {
  TdBuild b = build_of(m, d);
  const TdBackend *x = m->target;
  size_t n = 0;
  if (!x->validate(&b)) return false;
  if (!b.lowered && !td_lower_prog(m->arena, m->whole, x->passes, x->name, &m->lowered, d))
    return false;
  b.lowered = &m->lowered;
  const TdFile *file = x->emit(&b, &n);
  if (!file) return false;
  m->file.n = 0;
  add(m, file, n);
  return true;
}

/* Which parameters of the root are written. */
static const bool *written_of(TdArena *a, const TdProg *p) {
  TdAsk q = {.affine = td_affine_new(a), .arena = a, .prog = p, .unit = td_prog_root(p)};
  return td_effects_written(&q);
}

/* Whether instances of run r of design d hold copies of a block that they write. */
static bool holds_copies(TdArena *a, const TdProg *p, const TdUnit *d, const TdRun *r) {
  TdAsk q = {.affine = td_affine_new(a), .arena = a, .prog = p, .unit = td_prog_unit(p, r->unit)};
  const bool *written = td_effects_written(&q);
  for (size_t i = 0; i < r->nbind; i++) {
    const char *layout = r->bind[i].layout;
    bool writes = false, shared = false;
    for (size_t k = 0; k < q.unit->nparam; k++)
      writes |= q.unit->param[k].sym == r->bind[i].param && written[k];
    for (int axis = 0; layout && axis < r->rank; axis++) {
      int64_t n = 1;
      bool many = td_unit_value(d, r->map[axis], &n) && n > 1;
      shared |= many && !strstr(layout, td_text_fmt(a, "S%d", axis));
    }
    if (writes && shared) return true;
  }
  return false;
}

/* Whether a run on symbols, which may end undecided, finds no copies that differ. Runs on numbers
 * look themselves; hardware stores the first. */
static bool copies_agree(TdArena *a, const TdProg *p, TdDiag *d) {
  bool copies = false;
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nrun && !copies; k++)
      copies = holds_copies(a, p, p->unit[i], &p->unit[i]->run[k]);
  if (!copies) return true;
  const TdEvalOptions o = {.steps = 1 << 20, .bytes = 1 << 28};
  const TdValue **cell = TD_NEWN(a, const TdValue *, td_prog_root(p)->nparam);
  TdDiag why = {.arena = d->arena};
  bool ran = td_eval_symbolic(a, p, TD_LEVEL_STRICT, NULL, &o, cell, &why);
  if (ran || strcmp(why.code, "copies-differ") != 0) return true;
  td_diag_help(&why,
               "name every axis of the map in the layout, or have instances compute the same");
  *d = why;
  return false;
}

/* Adds what moves data: with more streams or, where these are too many, fewer; through what an
 * iteration touches or, where no DMA moves that, all that a core does. */
static bool emit_completed(TdModule *m, TdDiag *d) {
  TdBuild b = build_of(m, d);
  int columns = m->target->columns(&b);
  const TdCompleteWay way[] = {
      {0},
      {.columns = columns},
      {.whole = true},
      {.columns = columns, .whole = true},
      {.columns = columns, .join = true},
      {.columns = columns, .whole = true, .join = true},
      {.columns = columns, .pass = true},
      {.columns = columns, .whole = true, .pass = true},
  };
  enum { WAYS = sizeof way / sizeof *way, TOLD = 2 }; /* the last of which the refusal tells */
  const char *tried[WAYS];
  for (size_t i = 0, n = 0; i < WAYS; i++) {
    TdDiag why = {.arena = d->arena};
    bool again = false;
    m->whole = td_complete_prog(m->arena, m->prog, way[i], &m->steps);
    m->lowered = (TdLowered){0};
    for (size_t k = 0; k < n; k++) again |= strcmp(tried[k], m->steps) == 0;
    if (again) continue;
    tried[n++] = m->steps;
    if (emit(m, &why)) return true;
    if (i < TOLD) *d = why;
    if (why.kind != TD_UNSUPPORTED || !*m->steps) return false;
  }
  return false;
}

TdModule *td_build_new(TdArena *a, const TdProg *p, const TdBackend *x, const char *const *value,
                       const struct TdOffchip *memory, TdDiag *d) {
  if (!td_verify_prog(p, d)) return NULL;
  TdModule *m = TD_NEW(a, TdModule);
  m->arena = a;
  m->prog = p;
  m->value = TD_NEWN(a, const char *, x->noption);
  for (size_t i = 0; i < x->noption; i++) m->value[i] = value[i];
  m->memory = memory;
  m->target = x;
  m->whole = p;
  m->steps = "";
  if (!m->target->looks && !copies_agree(a, p, d)) return NULL;
  if (!(x->columns ? emit_completed(m, d) : emit(m, d))) return NULL;
  m->written = written_of(a, p);
  return m;
}

const char *td_build_steps(const TdModule *m) {
  return m->steps;
}

const TdBackend *td_build_target(const TdModule *m) {
  return m->target;
}

const TdFile *td_build_files(const TdModule *m, size_t *n) {
  *n = m->file.n;
  return m->file.at;
}

const char *td_build_report(const TdModule *m) {
  bool ran = m->run && m->target->report;
  return ran ? m->target->report(m->run) : m->report;
}

const char *td_build_read_report(TdArena *a, const char *folder) {
  const char *lines = NULL;
  for (size_t i = 0; td_backends[i] && !lines; i++)
    if (td_backends[i]->read_report) lines = td_backends[i]->read_report(a, folder);
  return lines;
}

const TdTimed *td_build_timed(const TdModule *m) {
  return m->run && m->target->timed ? m->target->timed(m->run) : NULL;
}

/* The number of an option; -1: there is none. */
static int option_of(const TdModule *m, const char *name) {
  const TdBackend *x = m->target;
  for (size_t i = 0; i < x->noption && name; i++)
    if (strcmp(x->option[i].name, name) == 0) return (int)i;
  return -1;
}

/* The option that asks for a test bench; -1: there is none. */
static int bench_option(const TdModule *m) {
  return option_of(m, m->target->data_option);
}

bool td_build_wants_data(const TdModule *m) {
  int i = bench_option(m);
  TdBuild b = build_of(m, NULL);
  return i >= 0 && m->target->data && !m->has_data &&
         strcmp(td_backend_option(m->target, &b, (size_t)i), "true") == 0;
}

bool td_build_drop_data(TdModule *m, TdDiag *d) {
  m->value[bench_option(m)] = "false";
  return emit(m, d);
}

/* A run here: compiled, or by the evaluator where the program does not run compiled. */
static bool run_here(TdModule *m, const TdCallArg *arg, TdDiag *d) {
  size_t n = td_prog_root(m->prog)->nparam;
  TdDiag why = {.arena = d->arena};
  TdCpu *c = td_cpu_new(m->arena, m->prog, NULL, &why);
  if (c) return td_cpu_call(c, arg, n, d);
  TdEvalArg *e = TD_NEWN(m->arena, TdEvalArg, n);
  for (size_t i = 0; i < n; i++)
    e[i] =
        (TdEvalArg){.tensor = arg[i].tensor, .scalar = arg[i].scalar, .has_scalar = !arg[i].tensor};
  TdEvalOptions o = {.state = td_state_new(m->arena)};
  TdEvalResult result;
  return td_eval_run(m->arena, m->prog, e, n, &o, d, &result);
}

bool td_build_set_data(TdModule *m, const TdCallArg *arg, TdDiag *d) {
  size_t n = td_prog_root(m->prog)->nparam, nfile = 0;
  TdCallArg *after = TD_NEWN(m->arena, TdCallArg, n);
  for (size_t i = 0; i < n; i++) {
    after[i] = arg[i];
    if (!arg[i].tensor) continue;
    after[i].tensor = td_tensor_new(m->arena, arg[i].tensor->type, false);
    td_tensor_copy(td_arena_ctx(m->arena), after[i].tensor, arg[i].tensor);
  }
  if (!run_here(m, after, d)) return false;
  TdBuild b = build_of(m, d);
  const TdFile *file = m->target->data(&b, arg, after, &nfile);
  if (!file) return false;
  add(m, file, nfile);
  m->has_data = true;
  return true;
}

static bool fail(TdDiag *d, const char *path) {
  return td_diag_set(d, TD_USAGE, "write", (TdLoc){0}, "cannot write %s: %s", path,
                     strerror(errno));
}

/* Makes the folders above a path. */
static bool make_folders(char *path, TdDiag *d) {
  for (char *s = path + 1; *s; s++) {
    if (*s != '/') continue;
    *s = 0;
    bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
    if (!ok) fail(d, path);
    *s = '/';
    if (!ok) return false;
  }
  return true;
}

bool td_build_write(TdModule *m, const char *folder, const char **said, TdDiag *d) {
  for (size_t i = 0; i < m->file.n; i++) {
    char *path = td_text_fmt(m->arena, "%s/%s", folder, m->file.at[i].name);
    const char *text = m->file.at[i].text;
    if (!make_folders(path, d)) return false;
    if (!td_file_write(m->arena, path, text, strlen(text))) return fail(d, path);
  }
  const char *wrote = td_text_fmt(m->arena, "wrote %zu files to %s", m->file.n, folder), *did;
  *said = wrote;
  if (!m->target->tool) return true;
  TdBuild b = build_of(m, d);
  if (!m->target->tool(&b, folder, &did, &m->report)) return false;
  *said = td_text_fmt(m->arena, "%s; %s", wrote, did);
  return true;
}

/* What is known when a call is checked: sizes, and scalar arguments. */
typedef struct Known {
  const TdModule *m;
  const TdCallArg *arg;
} Known;

static const TdExpr *known(void *ud, const TdExpr *e) {
  const Known *k = ud;
  const TdUnit *u = td_prog_root(k->m->prog);
  TdSession *s = k->m->prog->store->session;
  int64_t v;
  if (e->kind == TD_EXPR_SIZE && td_unit_value(u, e, &v))
    return td_expr_index(s, k->m->arena, v, e->loc);
  for (size_t i = 0; i < u->nparam && e->kind == TD_EXPR_VAR; i++)
    if (u->param[i].sym == e->sym)
      return td_expr_lit(k->m->arena, e->type, k->arg[i].scalar, e->loc);
  return td_expr_fold(s, k->m->arena, e);
}

/* Whether what the program assumes holds for these arguments, and what is written is shared with
 * nothing. */
static bool check(const TdModule *m, const TdCallArg *arg, TdDiag *d) {
  const TdUnit *u = td_prog_root(m->prog);
  Known k = {m, arg};
  for (size_t i = 0; i < u->nassert; i++) {
    const TdExpr *e = td_walk_map_expr(m->arena, u->assert_[i], known, &k);
    if (e->kind == TD_EXPR_LIT && !e->u.bits)
      return td_diag_set(d, TD_ILLEGAL, "assume", u->assert_[i]->loc, "%s",
                         td_unit_assumes(d->arena, u, i));
  }
  for (size_t i = 0; i < u->nparam; i++)
    for (size_t o = 0; o < u->nparam && arg[i].tensor; o++) {
      const char *why = o == i ? NULL : td_unit_is_apart(u, i, o, m->written[i]);
      if (!why || !arg[o].tensor || !td_tensor_overlap(arg[i].tensor, arg[o].tensor)) continue;
      TdLoc call = {0};
      td_diag_set(d, TD_USAGE, "overlap", call, "%s of %s %s shares elements with %s",
                  u->param[i].sym->name, u->sym->name, why, u->param[o].sym->name);
      td_diag_note(d, u->param[i].loc, "declared here");
      return false;
    }
  return true;
}

/* Runs m; and, where its target says so, the timed run beside it, whose values and cycles are to be
 * the same. */
static bool call_checked(TdModule *m, const TdCallArg *arg, TdDiag *d) {
  size_t n = td_prog_root(m->prog)->nparam;
  TdBuild b = build_of(m, d);
  int i = option_of(m, m->target->check_option);
  if (i < 0 || strcmp(td_backend_option(m->target, &b, (size_t)i), "true") != 0)
    return m->target->call(m->run, arg, n, d);
  int device = option_of(m, "device");
  const char *name = td_backend_option(m->target, &b, (size_t)device);
  name = td_arena_strndup(m->arena, name, strcspn(name, "|"));
  int ready = option_of(m, "ready");
  const char *when = ready < 0 ? NULL : td_backend_option(m->target, &b, (size_t)ready);
  if (!m->twin) m->twin = td_check_times_new(m->arena, m->prog, name, when, d);
  if (!m->twin || !td_check_times_before(m->twin, arg, d)) return false;
  return m->target->call(m->run, arg, n, d) &&
         td_check_times_after(m->twin, arg, td_build_timed(m), d);
}

bool td_build_call(TdModule *m, const TdCallArg *arg, TdDiag *d) {
  const TdUnit *u = td_prog_root(m->prog);
  if (!m->target->open)
    return td_diag_set(d, TD_UNSUPPORTED, "no-run", u->loc, "a build for %s does not run here",
                       m->target->name);
  if (!check(m, arg, d)) return false;
  if (!m->run) {
    m->watch = td_admit_needs_watch(m->arena, m->prog);
    TdBuild b = build_of(m, d);
    m->run = m->target->open(&b);
  }
  if (!m->run || !call_checked(m, arg, d)) return false;
  for (size_t i = 0; i < u->nparam; i++)
    if (m->written[i] && arg[i].tensor && arg[i].tensor->written)
      memset(arg[i].tensor->written, 1, (size_t)td_tensor_count(arg[i].tensor));
  return true;
}

const TdTimed *td_build_simulate(TdModule *m, TdDiag *d) {
  TdLoc none = {0};
  if (!m->target->simulate) {
    td_diag_set(d, TD_UNSUPPORTED, "no-run", none, "a build for %s has no times without data",
                m->target->name);
    return NULL;
  }
  TdBuild b = build_of(m, d);
  if (!m->run) m->run = m->target->open(&b);
  return m->run ? m->target->simulate(m->run, d) : NULL;
}

const TdQuestion *td_build_question(const TdModule *m, const char *name) {
  const TdQuestion *const *q = m->target->question;
  for (; q && *q; q++)
    if (strcmp((*q)->name, name) == 0) return *q;
  return NULL;
}

bool td_build_ask(const TdModule *m, const TdQuestion *q, const char *const *value,
                  TdAnswer *answer, TdDiag *d) {
  TdBuild b = build_of(m, d);
  return q->ask(q, &b, value, answer);
}

void td_build_reset(TdModule *m) {
  if (m->twin) td_check_times_reset(m->twin);
  if (m->run && m->target->reset) m->target->reset(m->run);
}
