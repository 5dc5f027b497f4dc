/* no_tcc_test.c - a Tide that was built without libtcc: its file stands here, compiled so. */
#ifndef TIDE_NO_TCC
#  define TIDE_NO_TCC
#endif
#include "backends/cpu/load/tcc.c"

#include "build_ir.h"

/* Runs A[0] = 7 by a tier; the code of the error, or what A[0] is. */
static const char *attempt(TdTier tier) {
  TdSym A = arg("A");
  const TdProg *p =
      PROG(KERNEL("k", BLOCK(store(LD(A, B.i32, num(0)), lit(B.i32, 7))), P(A, T(B.i32, 4))));
  TdArena *a = td_arena_new(B.ctx);
  TdDiag d = {.arena = B.a};
  TdTensor *x = td_tensor_new(a, T(B.i32, 4), false);
  TdCpu *c = td_cpu_new(a, p, &(TdCpuOptions){.tier = tier}, &d);
  bool good = c && td_cpu_call(c, &(TdCallArg){.tensor = x}, 1, &d);
  int64_t at = 0;
  const char *said = good ? td_text_fmt(B.a, "%d", (int)td_tensor_get(x, &at)) : d.code;
  td_arena_free(a);
  return said;
}

int main(void) {
  build_open();
  ok(!td_cpu_tcc_version(B.a), "there is no version of libtcc to tell");
  is_text(attempt(TD_TIER_TCC), "no-tcc", "the tier in memory is refused");
  is_text(attempt(TD_TIER_AUTO), "7", "little work is done by the system's compiler");
  build_close();
  return done_testing();
}
