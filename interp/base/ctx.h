/* ctx.h - one per session: memory hook, budget, interrupt flag, recursion depth, and the only way
 * out of the core. */
#ifndef TD_CTX_H
#define TD_CTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TdCtx TdCtx;

/* Why the core gave up in the middle of something. */
typedef enum { TD_WHY_MEMORY, TD_WHY_BUDGET, TD_WHY_INTERRUPT, TD_WHY_DEPTH, TD_WHY_TIME } TdWhy;

/* Called when the core cannot go on; does not return (bind raises a Lua error, unit tests longjmp).
 */
typedef void (*TdEscape)(void *ud, TdWhy why);

/* Returns a context, or NULL when there is no memory for it. */
TdCtx *td_ctx_new(void);
void td_ctx_free(TdCtx *c);

/* Sets the way out; bind refreshes it at every entry, because coroutines change the Lua state. */
void td_ctx_set_escape(TdCtx *c, TdEscape escape, void *ud);

/* Leaves through the escape hook; aborts with a message when there is none. */
_Noreturn void td_ctx_escape(TdCtx *c, TdWhy why);

/* Memory for arenas only: `size` zeroed bytes, of which the system gives big ones lazily; NULL when
 * out of memory or over the limit. bytes counts what is live. */
void *td_ctx_take(TdCtx *c, size_t size);
/* Whether td_ctx_take would give that much. */
bool td_ctx_has(TdCtx *c, size_t size);
void td_ctx_give(TdCtx *c, void *p, size_t size);
/* Escapes for want of memory unless the process may have 40 MiB more: asked before work of a
 * library that cannot go on when it has none (GMP under isl, libtcc). */
void td_ctx_need_room(TdCtx *c);
size_t td_ctx_bytes(const TdCtx *c);
void td_ctx_set_memory_limit(TdCtx *c, size_t bytes);

/* Head of the list of scratch arenas under way; arena.c keeps it. */
void **td_ctx_scratch(TdCtx *c);

/* Counts n units of work; escapes when Ctrl-C was pressed, time is up or the budget is spent. */
void td_ctx_tick(TdCtx *c, uint64_t n);

/* ---- operations that can take long (work.def) ---- */

typedef enum {
#define TD_WORK(NAME, name, how, where) TD_WORK_##NAME,
#include "base/work.def"
  TD_WORKS
} TdWorkKind;

/* The innermost operation under way; `name` is NULL between them. Read by a signal handler. */
typedef struct TdWork {
  const char *volatile name;
  volatile uint64_t done, total; /* units of work so far, or parts of a total that is known */
} TdWork;

/* Told when the outermost operation begins, and when it ends. */
typedef void (*TdWorkHook)(void *ud, const TdWork *w, bool begins);
void td_ctx_watch_work(TdCtx *c, TdWorkHook hook, void *ud);

/* Begins an operation; `detail` names it, or else its kind does, and lives as long. What is
 * returned is given to its end. */
TdWork td_ctx_begin_work(TdCtx *c, TdWorkKind kind, const char *detail);
void td_ctx_end_work(TdCtx *c, TdWork outer);
/* Says that `done` of `total` parts are done. */
void td_ctx_note_work(TdCtx *c, uint64_t done, uint64_t total);

/* Sets how many units of work may follow (0: no limit). */
void td_ctx_set_budget(TdCtx *c, uint64_t units);

/* Asks the work under way to stop at its next tick, because of Ctrl-C or because its time is up.
 * Async-signal-safe, and from any thread. */
void td_ctx_interrupt(TdCtx *c);
void td_ctx_call_time(TdCtx *c);
/* Takes that back. */
void td_ctx_clear_interrupt(TdCtx *c);
void td_ctx_clear_time(TdCtx *c);

/* Whether either was asked for; and what says so, for emitted code that polls it: not 0. */
bool td_ctx_must_stop(const TdCtx *c);
const volatile int *td_ctx_stop_flag(const TdCtx *c);

/* Which of the two it was; Ctrl-C goes before time. */
TdWhy td_ctx_why(const TdCtx *c);

/* Bounds recursion: enter escapes with TD_WHY_DEPTH past `TD_MAX_DEPTH` levels. */
#define TD_MAX_DEPTH 1000
void td_ctx_enter(TdCtx *c);
void td_ctx_leave(TdCtx *c);
/* The return to a depth by whoever catches an escape. */
void td_ctx_set_depth(TdCtx *c, int depth);

/* What base/attempt.c puts back: the way out, depth, work under way, and the newest scratch arena.
 */
typedef struct TdCtxState {
  TdEscape escape;
  void *ud, *scratch;
  int depth;
  TdWork work;
} TdCtxState;
/* What is there now; and the return to it. */
TdCtxState td_ctx_state(const TdCtx *c);
void td_ctx_reset(TdCtx *c, const TdCtxState *s);

#endif
