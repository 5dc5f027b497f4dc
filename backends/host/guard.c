/* guard.c - signals of faults, caught on an alternate stack while a call runs. */
#define _XOPEN_SOURCE 700 /* alternate stacks */
#include "backends/host/guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

static const struct {
  int sig;
  const char *text;
} faults[] = {
    {SIGSEGV, "SIGSEGV: a bad address, or no stack left"},
    {SIGBUS, "SIGBUS: a bad address"},
    {SIGFPE, "SIGFPE: a division by zero, or one that overflows"},
    {SIGILL, "SIGILL: a bad instruction"},
    {SIGABRT, "SIGABRT: it called abort"},
};
enum { FAULTS = sizeof faults / sizeof *faults, STACK_BYTES = 1 << 16 };

/* A call under way. */
typedef struct Guard {
  sigjmp_buf back;
  volatile sig_atomic_t how;   /* it ended */
  const volatile int *foreign; /* not 0: it can be left */
  struct sigaction old[FAULTS];
  stack_t stack; /* that was the alternate one before */
} Guard;

/* Of this thread, or NULL. */
static _Thread_local Guard *volatile under_way;

_Noreturn static void go_back(Guard *g, int how) {
  g->how = how;
  siglongjmp(g->back, 1);
}

/* Goes back to the guarded call of this thread; without one, does what the signal does by default.
 */
static void on_fault(int sig) {
  if (under_way) go_back(under_way, sig);
  signal(sig, SIG_DFL);
  raise(sig);
}

void td_guard_leave(int sig) {
  Guard *g = under_way;
  if (g && *g->foreign) go_back(g, sig);
}

static void open_guard(Guard *g, void *stack) {
  struct sigaction mine = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
  sigemptyset(&mine.sa_mask);
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = STACK_BYTES}, &g->stack);
  for (size_t i = 0; i < FAULTS; i++) sigaction(faults[i].sig, &mine, &g->old[i]);
}

static void close_guard(const Guard *g) {
  for (size_t i = 0; i < FAULTS; i++) sigaction(faults[i].sig, &g->old[i], NULL);
  sigaltstack(&g->stack, NULL);
}

TdGuardEnd td_guard_call(void (*fn)(void *ud), void *ud, const volatile int *foreign) {
  _Alignas(max_align_t) char stack[STACK_BYTES];
  Guard g, *outer = under_way;
  g.how = 0;
  g.foreign = foreign;
  open_guard(&g, stack);
  if (sigsetjmp(g.back, 1) == 0) {
    under_way = &g;
    fn(ud);
  }
  under_way = outer;
  close_guard(&g);
  return (TdGuardEnd){g.how};
}

void td_guard_outside(void (*fn)(void *ud), void *ud) {
  Guard *g = under_way;
  under_way = NULL;
  fn(ud);
  under_way = g;
}

const char *td_guard_text(TdArena *a, TdGuardEnd e) {
  for (size_t i = 0; i < FAULTS; i++)
    if (faults[i].sig == e.how) return td_text_fmt(a, "crashed (%s)", faults[i].text);
  return "crashed (a signal)";
}
