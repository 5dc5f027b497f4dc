/* ctx.c - budget, interrupt, recursion depth, memory accounting and the escape hook. */
#include "base/ctx.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define TICK_SLICE 4096

/* Beyond what malloc keeps for itself when it is freed, so that asking costs two system calls. */
enum { ROOM = 40 << 20 };

struct TdCtx {
  TdEscape escape;
  void *escape_ud;
  size_t bytes, limit;
  uint64_t slice, budget;
  bool budgeted;
  int depth;
  void *scratch;
  atomic_int pressed, late, stop; /* Ctrl-C; time is up; either */
  TdWork work;
  TdWorkHook hook;
  void *hook_ud;
};

TdCtx *td_ctx_new(void) {
  TdCtx *c = malloc(sizeof *c);
  if (c) *c = (TdCtx){.slice = TICK_SLICE};
  return c;
}

void td_ctx_free(TdCtx *c) {
  free(c);
}

void td_ctx_set_escape(TdCtx *c, TdEscape escape, void *ud) {
  c->escape = escape;
  c->escape_ud = ud;
}

_Noreturn void td_ctx_escape(TdCtx *c, TdWhy why) {
  if (c->escape) c->escape(c->escape_ud, why);
  fprintf(stderr, "tide: no way out set for reason %d\n", (int)why);
  abort();
}

void *td_ctx_take(TdCtx *c, size_t size) {
  void *p = c->limit && c->bytes + size > c->limit ? NULL : calloc(1, size);
  if (p) c->bytes += size;
  return p;
}

void td_ctx_give(TdCtx *c, void *p, size_t size) {
  free(p);
  c->bytes -= size;
}

bool td_ctx_has(TdCtx *c, size_t size) {
  void *p = td_ctx_take(c, size);
  if (p) td_ctx_give(c, p, size);
  return p != NULL;
}

void td_ctx_need_room(TdCtx *c) {
  void *p = malloc(ROOM);
  if (!p) td_ctx_escape(c, TD_WHY_MEMORY);
  free(p);
}

size_t td_ctx_bytes(const TdCtx *c) {
  return c->bytes;
}

void td_ctx_set_memory_limit(TdCtx *c, size_t bytes) {
  c->limit = bytes;
}

void **td_ctx_scratch(TdCtx *c) {
  return &c->scratch;
}

/* End of a slice: charges it to the budget and looks whether to stop. */
static void end_slice(TdCtx *c, uint64_t n) {
  c->slice = TICK_SLICE;
  if (!c->work.total) c->work.done += n > TICK_SLICE ? n : TICK_SLICE;
  if (c->stop) td_ctx_escape(c, c->pressed ? TD_WHY_INTERRUPT : TD_WHY_TIME);
  if (!c->budgeted) return;
  uint64_t spent = n > TICK_SLICE ? n : TICK_SLICE;
  if (spent >= c->budget) td_ctx_escape(c, TD_WHY_BUDGET);
  c->budget -= spent;
}

void td_ctx_tick(TdCtx *c, uint64_t n) {
  if (n < c->slice && !c->stop)
    c->slice -= n;
  else
    end_slice(c, n);
}

void td_ctx_watch_work(TdCtx *c, TdWorkHook hook, void *ud) {
  c->hook = hook;
  c->hook_ud = ud;
}

/* Makes w the operation under way, telling the hook where it is the outermost or none. */
static void set_work(TdCtx *c, TdWork w) {
  bool began = !c->work.name && w.name, ended = c->work.name && !w.name;
  c->work = w;
  if (c->hook && (began || ended)) c->hook(c->hook_ud, &c->work, began);
}

TdWork td_ctx_begin_work(TdCtx *c, TdWorkKind kind, const char *detail) {
  static const char *const names[] = {
#define TD_WORK(NAME, name, how, where) name,
#include "base/work.def"
  };
  TdWork outer = c->work;
  set_work(c, (TdWork){.name = detail ? detail : names[kind]});
  return outer;
}

void td_ctx_end_work(TdCtx *c, TdWork outer) {
  set_work(c, outer);
}

void td_ctx_note_work(TdCtx *c, uint64_t done, uint64_t total) {
  c->work.done = done;
  c->work.total = total;
}

void td_ctx_set_budget(TdCtx *c, uint64_t units) {
  c->budgeted = units > 0;
  c->budget = units;
  c->slice = TICK_SLICE;
}

void td_ctx_interrupt(TdCtx *c) {
  c->pressed = 1;
  c->stop = 1;
}

void td_ctx_call_time(TdCtx *c) {
  c->late = 1;
  c->stop = 1;
}

/* Takes one reason to stop back; the other is looked at last, so that none is lost that comes
 * meanwhile. */
static void take_back(TdCtx *c, atomic_int *reason, const atomic_int *other) {
  *reason = 0;
  c->stop = 0;
  if (*other) c->stop = 1;
}

void td_ctx_clear_interrupt(TdCtx *c) {
  take_back(c, &c->pressed, &c->late);
}

void td_ctx_clear_time(TdCtx *c) {
  take_back(c, &c->late, &c->pressed);
}

bool td_ctx_must_stop(const TdCtx *c) {
  return c->stop != 0;
}

const volatile int *td_ctx_stop_flag(const TdCtx *c) {
  _Static_assert(sizeof(atomic_int) == sizeof(int) && ATOMIC_INT_LOCK_FREE == 2,
                 "emitted code polls the flag as an int, signal handlers set it");
  return (const volatile int *)&c->stop;
}

void td_ctx_enter(TdCtx *c) {
  if (++c->depth > TD_MAX_DEPTH) {
    c->depth = 0;
    td_ctx_escape(c, TD_WHY_DEPTH);
  }
}

void td_ctx_leave(TdCtx *c) {
  if (c->depth > 0) c->depth--;
}

void td_ctx_set_depth(TdCtx *c, int depth) {
  c->depth = depth;
}

TdWhy td_ctx_why(const TdCtx *c) {
  return c->pressed ? TD_WHY_INTERRUPT : TD_WHY_TIME;
}

TdCtxState td_ctx_state(const TdCtx *c) {
  return (TdCtxState){c->escape, c->escape_ud, c->scratch, c->depth, c->work};
}

void td_ctx_reset(TdCtx *c, const TdCtxState *s) {
  td_ctx_set_escape(c, s->escape, s->ud);
  c->depth = s->depth;
  set_work(c, s->work);
}
