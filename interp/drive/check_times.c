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

/* What is the first to differ: a token that moves in another cycle or is another, or is missing;
 * when a task begins or ends. */
typedef struct Differs {
  const char *name, *does;
  size_t token;
  int64_t cycle, other; /* -1: it does not happen */
} Differs;

static int64_t earlier(int64_t x, int64_t y) {
  return y < 0 || (x >= 0 && x < y) ? x : y;
}

static void keep_first(Differs *m, Differs x) {
  if (!m->name || earlier(x.cycle, x.other) < earlier(m->cycle, m->other)) *m = x;
}

/* The tokens of one end of a stream: their cycles, and hashes or NULL. */
typedef struct End {
  const char *stream, *does;
  const int64_t *at;
  size_t n;
  const uint64_t *token;
} End;

/* Keeps the first token of one end that differs, if it is the earliest so far. */
static void find_token(const End *x, const End *y, Differs *m) {
  for (size_t k = 0; k < x->n || k < y->n; k++) {
    int64_t own = k < x->n ? x->at[k] : -1, other = k < y->n ? y->at[k] : -1;
    bool known = own == other && x->token && y->token && x->token[k] && y->token[k];
    if (own == other && (!known || x->token[k] == y->token[k])) continue;
    keep_first(m, (Differs){x->stream, x->does, k, own, other});
    return;
  }
}

static void find_stream(const TdTimedStream *x, const TdTimedStream *y, Differs *m) {
  const uint64_t *got = y->taken ? y->taken : y->token;
  End put[] = {{x->name, "put", x->put, x->nput, x->token},
               {y->name, "put", y->put, y->nput, y->token}};
  End get[] = {{x->name, "got", x->got, x->ngot, x->token}, {y->name, "got", y->got, y->ngot, got}};
  find_token(&put[0], &put[1], m);
  find_token(&get[0], &get[1], m);
}

static void find_task(const TdTimedTask *x, const TdTimedTask *y, Differs *m) {
  if (x->begin != y->begin) keep_first(m, (Differs){x->name, "begins", 0, x->begin, y->begin});
  if (x->end != y->end) keep_first(m, (Differs){x->name, "ends", 0, x->end, y->end});
}

/* Where a stream is declared. */
static TdLoc place_of(const TdUnit *u, const char *stream) {
  for (size_t i = 0; i < u->nstream; i++) {
    size_t n = strlen(u->stream[i].sym->name);
    if (strncmp(stream, u->stream[i].sym->name, n) == 0 && (!stream[n] || stream[n] == '['))
      return u->stream[i].loc;
  }
  return u->loc;
}

/* "in cycle 4", or that it is not. */
static const char *when(TdCheckTimes *c, int64_t cycle) {
  return cycle < 0 ? "never" : td_text_fmt(c->arena, "in cycle %" PRId64, cycle);
}

static bool tell(TdCheckTimes *c, const Differs *m, TdDiag *d) {
  const TdUnit *u = td_prog_root(c->prog);
  bool task = *m->does == 'b' || *m->does == 'e';
  TdLoc loc = task ? u->loc : place_of(u, m->name);
  if (task)
    return td_diag_set(d, TD_BUG, "verilog-differs", loc, "%s %s %s of the timed run, here %s",
                       m->name, m->does, when(c, m->cycle), when(c, m->other));
  if (m->cycle == m->other)
    return td_diag_set(d, TD_BUG, "verilog-differs", loc,
                       "token %zu of %s, %s %s, has another value than in the timed run", m->token,
                       m->name, m->does, when(c, m->cycle));
  return td_diag_set(d, TD_BUG, "verilog-differs", loc,
                     "token %zu of %s is %s %s of the timed run, "
                     "here %s",
                     m->token, m->name, m->does, when(c, m->cycle), when(c, m->other));
}

/* Whether all tokens are the same and moved in the same cycles, and tasks began and ended in them,
 * where both runs kept that. */
static bool is_same_time(TdCheckTimes *c, const TdTimed *x, const TdTimed *y, TdDiag *d) {
  Differs m = {0};
  if (!x->kept || !y->kept) return true;
  for (size_t i = 0; i < x->nstream; i++)
    for (size_t k = 0; k < y->nstream; k++)
      if (strcmp(x->stream[i].name, y->stream[k].name) == 0) {
        find_stream(&x->stream[i], &y->stream[k], &m);
        break;
      }
  for (size_t i = 0; i < x->ntask; i++)
    for (size_t k = 0; k < y->npart; k++)
      if (strcmp(x->task[i].name, y->part[k].name) == 0) find_task(&x->task[i], &y->part[k], &m);
  return !m.name || tell(c, &m, d);
}

bool td_check_times_after(TdCheckTimes *c, const TdCallArg *arg, const TdTimed *other, TdDiag *d) {
  const TdUnit *u = td_prog_root(c->prog);
  if (other && !is_same_time(c, td_timed_run_report(c->run), other, d)) return false;
  for (size_t i = 0; i < u->nparam; i++)
    if (arg[i].tensor && !is_same(c, &u->param[i], c->arg[i].tensor, arg[i].tensor, d))
      return false;
  for (size_t i = 0; i < u->nparam; i++)
    if (arg[i].port && !is_same_end(c, &u->param[i], c->arg[i].port, arg[i].port, d)) return false;
  int64_t cycles = td_timed_run_report(c->run)->cycles;
  return !other || other->cycles == cycles ||
         td_diag_set(d, TD_BUG, "verilog-differs", u->loc,
                     "%s takes %" PRId64 " cycles in the timed run, here %" PRId64, u->sym->name,
                     cycles, other->cycles);
}

void td_check_times_reset(TdCheckTimes *c) {
  td_timed_run_reset(c->run);
}
