/* check_times.c - the timed run beside another, and the first difference between them. */
#include "drive/check_times.h"

#include <inttypes.h>
#include <string.h>

#include "backends/cpu/time/timed_run.h"
#include "eval/eval.h"

struct TdCheckTimes {
  TdArena *arena;
  const TdProg *prog;
  TdClocked *run;
  TdCallArg *arg; /* what it left in copies of the arguments */
};

TdCheckTimes *td_check_times_new(TdArena *a, const TdProg *p, const char *device, const char *ready,
                                 TdDiag *d) {
  TdCheckTimes *c = TD_NEW(a, TdCheckTimes);
  TdClockedOptions o = {.device = device, .ready = ready, .host = true};
  *c = (TdCheckTimes){.arena = a, .prog = p, .run = td_timed_run_new(a, p, &o, d)};
  c->arg = TD_NEWN(a, TdCallArg, td_prog_root(p)->nparam);
  return c->run ? c : NULL;
}

/* The streams of a parameter. */
static int64_t streams_of(const TdUnit *u, const TdParam *p) {
  int64_t n = 1, extent = 0;
  for (int k = 0; k < p->type->rank; k++)
    if (td_unit_value(u, p->type->dim[k], &extent)) n *= extent;
  return n;
}

bool td_check_times_before(TdCheckTimes *c, const TdCallArg *arg, TdDiag *d) {
  const TdUnit *u = td_prog_root(c->prog);
  size_t n = u->nparam;
  for (size_t i = 0; i < n; i++) {
    c->arg[i] = arg[i];
    if (arg[i].port) {
      int64_t count = streams_of(u, &u->param[i]);
      c->arg[i].port = td_arena_copy(c->arena, arg[i].port, (size_t)count * sizeof *arg[i].port);
    }
    if (!arg[i].tensor) continue;
    c->arg[i].tensor = td_tensor_new(c->arena, arg[i].tensor->type, true);
    td_tensor_copy(td_arena_ctx(c->arena), c->arg[i].tensor, arg[i].tensor);
  }
  return td_timed_run_call(c->run, c->arg, n, d);
}

/* "A[1][2]" */
static const char *element(TdArena *a, const char *name, const TdTensor *t, const int64_t *index) {
  TdText out = td_text_new(a);
  td_text_puts(&out, name);
  for (int k = 0; k < td_tensor_rank(t); k++) td_text_putf(&out, "[%" PRId64 "]", index[k]);
  return td_text_str(&out);
}

/* Whether two tensors hold the same; what was never written is not looked at. */
static bool is_same(TdCheckTimes *c, const TdParam *p, const TdTensor *x, const TdTensor *y,
                    TdDiag *d) {
  int64_t index[TD_MAX_RANK] = {0};
  const TdType *e = td_type_scalar(x->type);
  if (!td_tensor_count(x)) return true;
  do {
    uint64_t v = td_tensor_get(x, index), w = td_tensor_get(y, index);
    td_ctx_tick(td_arena_ctx(c->arena), 1);
    if (v == w || !td_tensor_is_written(x, index)) continue;
    TdText t = td_text_new(c->arena);
    td_num_print(&t, e, v);
    td_text_puts(&t, " in the timed run, here ");
    td_num_print(&t, e, w);
    return td_diag_set(d, TD_BUG, "verilog-differs", p->loc, "%s is %s",
                       element(c->arena, p->sym->name, x, index), td_text_str(&t));
  } while (td_tensor_next(x, index));
  return true;
}

/* Whether as many tokens moved at the ends of a parameter, and the same were put. */
static bool is_same_end(TdCheckTimes *c, const TdParam *p, const TdEvalPort *x, const TdEvalPort *y,
                        TdDiag *d) {
  for (int64_t i = 0; i < streams_of(td_prog_root(c->prog), p); i++) {
    int64_t put = x[i].out ? x[i].out->extent[0] : 0, also = y[i].out ? y[i].out->extent[0] : 0;
    if (x[i].consumed != y[i].consumed || put != also)
      return td_diag_set(d, TD_BUG, "verilog-differs", p->loc,
                         "%" PRId64 " tokens move at %s in the timed run, here %" PRId64,
                         x[i].consumed + put, p->sym->name, y[i].consumed + also);
    if (put && !is_same(c, p, x[i].out, y[i].out, d)) return false;
  }
  return true;
}

/* A token that moves in another cycle. */
typedef struct Moved {
  const char *stream, *does;
  size_t token;
  int64_t cycle, other;
} Moved;

/* Keeps the first token of one end whose cycle differs, if it is the earliest so far. */
static void find_moved(const char *stream, const char *does, const int64_t *x, size_t nx,
                       const int64_t *y, size_t ny, Moved *m) {
  size_t k = 0;
  while (k < nx && k < ny && x[k] == y[k]) k++;
  if (k == nx || k == ny) return;
  int64_t first = x[k] < y[k] ? x[k] : y[k], was = m->cycle < m->other ? m->cycle : m->other;
  if (!m->stream || first < was) *m = (Moved){stream, does, k, x[k], y[k]};
}

/* Whether all tokens moved in the same cycles, where both runs kept them. */
static bool is_same_time(TdCheckTimes *c, const TdTimed *x, const TdTimed *y, TdDiag *d) {
  const TdUnit *u = td_prog_root(c->prog);
  Moved m = {0};
  for (size_t i = 0; i < x->nstream && x->kept && y->kept; i++)
    for (size_t k = 0; k < y->nstream; k++) {
      const TdTimedStream *s = &x->stream[i], *o = &y->stream[k];
      if (strcmp(s->name, o->name) != 0) continue;
      find_moved(s->name, "put", s->put, s->nput, o->put, o->nput, &m);
      find_moved(s->name, "got", s->got, s->ngot, o->got, o->ngot, &m);
      break;
    }
  if (!m.stream) return true;
  TdLoc loc = u->loc;
  for (size_t i = 0; i < u->nstream; i++) {
    size_t n = strlen(u->stream[i].sym->name);
    bool own = strncmp(m.stream, u->stream[i].sym->name, n) == 0;
    if (own && (!m.stream[n] || m.stream[n] == '[')) loc = u->stream[i].loc;
  }
  return td_diag_set(d, TD_BUG, "verilog-differs", loc,
                     "token %zu of %s is %s in cycle %" PRId64
                     " of the timed run, here in %" PRId64,
                     m.token, m.stream, m.does, m.cycle, m.other);
}

bool td_check_times_after(TdCheckTimes *c, const TdCallArg *arg, const TdTimed *other, TdDiag *d) {
  const TdUnit *u = td_prog_root(c->prog);
  for (size_t i = 0; i < u->nparam; i++)
    if (arg[i].tensor && !is_same(c, &u->param[i], c->arg[i].tensor, arg[i].tensor, d))
      return false;
  for (size_t i = 0; i < u->nparam; i++)
    if (arg[i].port && !is_same_end(c, &u->param[i], c->arg[i].port, arg[i].port, d)) return false;
  if (other && !is_same_time(c, td_timed_run_report(c->run), other, d)) return false;
  int64_t cycles = td_timed_run_report(c->run)->cycles;
  return !other || other->cycles == cycles ||
         td_diag_set(d, TD_BUG, "verilog-differs", u->loc,
                     "%s takes %" PRId64 " cycles in the timed run, here %" PRId64, u->sym->name,
                     cycles, other->cycles);
}

void td_check_times_reset(TdCheckTimes *c) {
  td_timed_run_reset(c->run);
}
