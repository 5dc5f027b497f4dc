/* tcc_memory_test.c - memory ends while libtcc works: each of its allocations fails in turn, once
 * and from then on, in a process of its own. libtcc ends the process where it cannot go on; Tide
 * goes on, with the system's compiler if need be. */
#include <sys/wait.h>
#include <unistd.h>

#include "backends/cpu/cpu.h"
#include "backends/cpu/load/code.h"
#include "build_ir.h"
#include "failing_malloc.h"

enum { CELLS = 4 };

/* A[0] = n, and then as many statements like it as are asked for. */
static const TdProg *program(int64_t n, int statements) {
  TdSym A = arg("A");
  const TdStmt **s = TD_NEWN(B.a, const TdStmt *, statements + 1);
  for (int i = 0; i < statements; i++) s[i] = store(LD(A, B.i32, num(1 + i % 3)), lit(B.i32, i));
  s[statements] = store(LD(A, B.i32, num(0)), lit(B.i32, n));
  const TdStmt *body = td_stmt_block(B.st, s, (size_t)statements + 1, here());
  return PROG(KERNEL("k", body, P(A, T(B.i32, CELLS))));
}

/* Runs p by a tier; what A[0] is then, or the code of the error. */
static const char *attempt(const TdProg *p, TdTier tier) {
  TdDiag d = {.arena = B.a};
  TdArena *a = td_arena_new(B.ctx);
  TdTensor *x = td_tensor_new(a, T(B.i32, CELLS), false);
  td_ctx_set_escape(B.ctx, escape, NULL);
  int why = setjmp(out);
  int64_t at = 0;
  const char *said = "memory";
  if (!why) {
    TdCpu *c = td_cpu_new(a, p, &(TdCpuOptions){.tier = tier}, &d);
    failing.armed = false;
    bool good = c && td_cpu_call(c, &(TdCallArg){.tensor = x}, 1, &d);
    said = good ? td_text_fmt(B.a, "%d", (int)td_tensor_get(x, &at)) : d.code;
  }
  failing.armed = false;
  td_ctx_set_escape(B.ctx, bail, NULL);
  td_arena_free_scratch(B.ctx);
  td_arena_free(a);
  return said;
}

static bool is(const char *got, const char *want) {
  return strcmp(got, want) == 0;
}

/* How a process went on after its attempt. */
typedef enum { DONE = 10, FAILED, LOST, WRONG, ENDS } End;

/* After an attempt that said this: programs run, in memory if libtcc is still there. */
static End go_on(const char *said) {
  bool there = td_cpu_tcc_is_there();
  if (!is(said, "7") && !is(said, "memory")) return WRONG;
  if (is(said, "7") && !there) return WRONG;
  if (!is(attempt(program(8, 0), TD_TIER_AUTO), "8")) return WRONG;
  if (!is(attempt(program(9, 0), TD_TIER_TCC), there ? "9" : "no-tcc")) return WRONG;
  if ((td_cpu_tcc_version(B.a) != NULL) != there) return WRONG;
  return is(said, "7") ? DONE : there ? FAILED : LOST;
}

/* Runs fn in a process of its own: how that ended. */
static End apart(End (*fn)(const void *ud), const void *ud) {
  int status = 0;
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    _exit((int)fn(ud));
  }
  waitpid(pid, &status, 0);
  if (!WIFEXITED(status)) printf("# ended by signal %d\n", WTERMSIG(status));
  int end = WIFEXITED(status) ? WEXITSTATUS(status) : WRONG;
  return end >= DONE && end < WRONG ? (End)end : WRONG;
}

/* The allocation of number *strike fails. */
static End go_on_without(const void *strike) {
  let_fail(*(const int *)strike);
  return go_on(attempt(program(7, 40), TD_TIER_TCC));
}

/* Fails every allocation in turn, once or from then on. */
static void sweep(bool on) {
  int count[ENDS] = {0}, n = 0;
  failing.on = on;
  for (End end = WRONG; end != DONE && n < 100000; count[end]++) {
    n++;
    end = apart(go_on_without, &n);
    if (end == WRONG) printf("# allocation %d\n", n);
  }
  printf("# of %d allocations %d ended libtcc, %d an attempt\n", n - 1, count[LOST], count[FAILED]);
  ok(count[DONE] == 1 && !count[WRONG],
     on ? "each allocation and all later ones fail" : "each allocation fails once");
  ok(count[LOST] > 10, "libtcc would have ended the process");
}

int main(void) {
  build_open();
  is_text(attempt(program(7, 0), TD_TIER_AUTO), "7", "with enough memory");
  sweep(false);
  sweep(true);
  build_close();
  return done_testing();
}
