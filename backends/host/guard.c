/* guard.c - signals of faults, caught on an alternate stack while a call runs, and the C library's
 * ways out of the process, which stand here under their own names: a program finds these first, and
 * so does all that it loads. */
#define _GNU_SOURCE /* alternate stacks, RTLD_NEXT */
#include "backends/host/guard.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Ways out of the process: what ends a call by number n is -1 - n. */
typedef enum { EXIT, EXIT_NOW, EXIT_NOW_C, QUICK_EXIT, THREAD_EXIT, WAYS } Way;
static const char *const ways[WAYS] = {"exit", "_exit", "_Exit", "quick_exit", "pthread_exit"};

/* A call under way. */
typedef struct Guard {
  sigjmp_buf back;
  volatile sig_atomic_t how, code; /* it ended */
  const volatile int *foreign;     /* not 0: it can be left */
  pid_t process;                   /* that runs it, and not one that it forked */
  struct sigaction old[FAULTS];
  stack_t stack; /* that was the alternate one before */
} Guard;

/* Of this thread, or NULL. */
static _Thread_local Guard *volatile under_way;

_Noreturn static void go_back(Guard *g, int how, int code) {
  g->how = how;
  g->code = code;
  siglongjmp(g->back, 1);
}

/* Goes back to the guarded call of this thread; without one, does what the signal does by default.
 */
static void on_fault(int sig) {
  if (under_way) go_back(under_way, sig, 0);
  signal(sig, SIG_DFL);
  raise(sig);
}

void td_guard_leave(int sig) {
  Guard *g = under_way;
  if (g && *g->foreign) go_back(g, sig, 0);
}

/* A way out as the C library has it. That it does not return is said, so that a sanitizer knows the
 * frames to be gone. */
typedef void (*Leave)(int) __attribute__((noreturn));
typedef void (*LeaveThread)(void *) __attribute__((noreturn));

/* The C library's function of this name, in `to`. */
static void find_real(const char *name, void *to) {
  void *real = dlsym(RTLD_NEXT, name);
  if (!real) abort();
  memcpy(to, &real, sizeof real);
}

/* Goes back to the guarded call of this thread; without one, leaves as the C library does. */
_Noreturn static void leave(Way way, int code) {
  Guard *g = under_way;
  Leave real;
  if (g && g->process == getpid()) go_back(g, -1 - (int)way, code);
  find_real(ways[way], &real);
  real(code);
}

_Noreturn void exit(int code) {
  leave(EXIT, code);
}

_Noreturn void _exit(int code) {
  leave(EXIT_NOW, code);
}

_Noreturn void _Exit(int code) {
  leave(EXIT_NOW_C, code);
}

_Noreturn void quick_exit(int code) {
  leave(QUICK_EXIT, code);
}

_Noreturn void pthread_exit(void *value) {
  Guard *g = under_way;
  LeaveThread real;
  if (g && g->process == getpid()) go_back(g, -1 - THREAD_EXIT, 0);
  find_real(ways[THREAD_EXIT], &real);
  real(value);
}

_Noreturn void td_guard_quit(int code) {
  under_way = NULL;
  _exit(code);
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
  g.how = g.code = 0;
  g.foreign = foreign;
  g.process = getpid();
  open_guard(&g, stack);
  if (sigsetjmp(g.back, 1) == 0) {
    under_way = &g;
    fn(ud);
  }
  under_way = outer;
  close_guard(&g);
  return (TdGuardEnd){g.how, g.code};
}

bool td_guard_exited(TdGuardEnd e) {
  return e.how < 0;
}

const char *td_guard_text(TdArena *a, TdGuardEnd e) {
  if (e.how == -1 - THREAD_EXIT) return "called pthread_exit";
  if (e.how < 0) return td_text_fmt(a, "called %s(%d)", ways[-1 - e.how], e.code);
  for (size_t i = 0; i < FAULTS; i++)
    if (faults[i].sig == e.how) return td_text_fmt(a, "crashed (%s)", faults[i].text);
  return "crashed (a signal)";
}
