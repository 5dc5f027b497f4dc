/* guard_test.c - calls that crash come back as a signal, with the process as it was. */
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backends/host/guard.h"
#include "tap.h"

#if defined(__SANITIZE_ADDRESS__)
#  define SANITIZED true
#else
#  define SANITIZED false
#endif

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static volatile int foreign, ran, zero;

static void own_handler(int sig) {
  (void)sig;
}

static void do_raise(void *sig) {
  ran++;
  raise(*(int *)sig);
  ran = -100;
}

static void do_nothing(void *unused) {
  (void)unused;
  ran++;
}

static void do_divide(void *unused) {
  (void)unused;
  zero = ran / zero;
}

static void do_write(void *at) {
  **(int *volatile *)at = 1;
}

static void do_abort(void *unused) {
  (void)unused;
  abort();
}

/* Fills the stack. */
static int deepen(int n) {
  volatile char frame[4096];
  frame[0] = (char)n;
  return ran < 0 ? n : deepen(n + 1) + frame[0];
}

static void do_deepen(void *unused) {
  (void)unused;
  zero = deepen(0);
}

/* A guarded call in a guarded call, whose crash is its own. */
static void do_nest(void *inner) {
  int sig = SIGSEGV;
  *(int *)inner = td_guard_call(do_raise, &sig, &foreign).how;
  raise(SIGFPE);
}

static void do_leave(void *unused) {
  (void)unused;
  td_guard_leave(SIGINT);
  ran++;
}

/* Code of Tide's own that was called back: nothing can leave it. */
static void do_outside(void *unused) {
  (void)unused;
  td_guard_leave(SIGINT);
  ran++;
}

static void do_call_back(void *unused) {
  (void)unused;
  td_guard_outside(do_outside, NULL);
  td_guard_leave(SIGINT);
  ran = -100;
}

static int guarded(void (*fn)(void *ud), void *ud) {
  return td_guard_call(fn, ud, &foreign).how;
}

/* Whether handlers and stack are those of the process. */
static bool is_restored(const stack_t *stack) {
  bool same = true;
  for (int i = 0; i < 5; i++) {
    struct sigaction now;
    sigaction(signals[i], NULL, &now);
    same = same && now.sa_handler == own_handler;
  }
  stack_t now;
  sigset_t blocked;
  sigaltstack(NULL, &now);
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  for (int i = 0; i < 5; i++) same = same && !sigismember(&blocked, signals[i]);
  return same && now.ss_sp == stack->ss_sp && now.ss_flags == stack->ss_flags;
}

int main(void) {
  stack_t stack;
  for (int i = 0; i < 5; i++) signal(signals[i], own_handler);
  sigaltstack(NULL, &stack);
  ok(guarded(do_nothing, NULL) == 0 && ran == 1, "a call that returns");
  for (int i = 0; i < 5; i++) {
    int sig = signals[i];
    ok(guarded(do_raise, &sig) == sig && guarded(do_raise, &sig) == sig, strsignal(sig));
  }
  ok(ran == 11, "what was done before stays done, what comes after is not");
  int *nowhere = (int *)(uintptr_t)64;
  ok(guarded(do_write, &nowhere) == SIGSEGV, "a bad address");
  ok(guarded(do_abort, NULL) == SIGABRT, "abort");
  if (!SANITIZED) {
    ok(guarded(do_divide, NULL) == SIGFPE, "a division by zero");
    ok(guarded(do_deepen, NULL) == SIGSEGV && guarded(do_deepen, NULL) == SIGSEGV, "a full stack");
  }
  int inner = 0;
  ok(guarded(do_nest, &inner) == SIGFPE && inner == SIGSEGV, "calls in calls");
  ok(guarded(do_leave, NULL) == 0 && ran == 13, "a call that cannot be left");
  foreign = 1;
  ok(guarded(do_leave, NULL) == SIGINT && ran == 13, "and one that can");
  ok(guarded(do_call_back, NULL) == SIGINT && ran == 14, "but not what it calls back");
  td_guard_leave(SIGINT);
  ok(is_restored(&stack), "handlers, mask and stack are the caller's again");
  return done_testing();
}
