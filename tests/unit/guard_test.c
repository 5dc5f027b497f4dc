/* guard_test.c - calls that crash come back as a signal, with the process as it was. */
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

static int guarded(void (*fn)(void *ud), void *ud) {
  return td_guard_call(fn, ud, &foreign).how;
}

/* Ends the process, as the letter says. */
static void end_process(char way) {
  switch (way) {
  case 'e': exit(3);
  case '_': _exit(-4);
  case 'E': _Exit(5);
  case 'q': quick_exit(0);
  default: pthread_exit(NULL);
  }
}

static void do_end(void *way) {
  end_process(*(char *)way);
  ran = -100;
}

/* fork, with nothing left to print twice. */
static pid_t part(void) {
  fflush(stdout);
  return fork();
}

/* Forks; the child ends by exit, and what the parent saw of it is in *status. */
static void do_fork(void *status) {
  pid_t pid = part();
  if (pid == 0) exit(7);
  waitpid(pid, status, 0);
}

static void *end_thread(void *value) {
  pthread_exit(value);
}

/* A thread beside the guarded one ends itself. */
static void do_thread(void *value) {
  pthread_t t;
  void *got = NULL;
  if (pthread_create(&t, NULL, end_thread, value) == 0) pthread_join(t, &got);
  foreign = got == value;
}

/* A process that ends, by the first letter, in a guarded call, then, by the second, outside of one;
 * its status. */
static int ended_by(const char *way) {
  int status = 0;
  pid_t pid = part();
  if (pid == 0) {
    char first = way[0];
    if (guarded(do_end, &first) >= 0) _exit(99);
    end_process(way[1]);
  }
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void do_quit(void *unused) {
  (void)unused;
  td_guard_quit(9);
}

/* What a guarded call that ends the process is told to have done. */
static const char *told(TdArena *a, char way) {
  TdGuardEnd end = td_guard_call(do_end, &way, &foreign);
  return td_guard_exited(end) ? td_guard_text(a, end) : "nothing";
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

static void escaped(void *unused, TdWhy why) {
  (void)unused;
  exit(100 + (int)why);
}

/* What is made here is static, so that a child that exits has it still. */
static void check_exits(void) {
  static TdCtx *c;
  static TdArena *a;
  c = td_ctx_new();
  td_ctx_set_escape(c, escaped, NULL);
  a = td_arena_new(c);
  int status = 0, seven = 7;
  is_text(told(a, 'e'), "called exit(3)", "exit");
  is_text(told(a, '_'), "called _exit(-4)", "_exit");
  is_text(told(a, 'E'), "called _Exit(5)", "_Exit");
  is_text(told(a, 'q'), "called quick_exit(0)", "quick_exit");
  is_text(told(a, 'p'), "called pthread_exit", "pthread_exit");
  ok(guarded(do_fork, &status) == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 7,
     "what a guarded call forks ends as it says");
  foreign = 0;
  ok(guarded(do_thread, &seven) == 0 && foreign, "and so does another thread");
  ok(ended_by("ee") == 3 && ended_by("e_") == 252 && ended_by("qE") == 5 && ended_by("pq") == 0 &&
         ended_by("_p") == 0,
     "outside of guarded calls they end the process");
  pid_t pid = part();
  if (pid == 0) guarded(do_quit, NULL);
  waitpid(pid, &status, 0);
  ok(WIFEXITED(status) && WEXITSTATUS(status) == 9, "a quit ends it also from within one");
  td_arena_free(a);
  td_ctx_free(c);
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
  td_guard_leave(SIGINT);
  check_exits();
  ok(is_restored(&stack), "handlers, mask and stack are the caller's again");
  return done_testing();
}
