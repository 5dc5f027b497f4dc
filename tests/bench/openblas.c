/* openblas.c - C = C + A B, 1024 x 1024 in f32, by OpenBLAS on one thread: a peer of schedules. A
 * version that is older than the processor takes it for an ancient one, so the kernels are chosen
 * here, before it is loaded, by the vectors that there are. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdlib.h>

enum { N = 1024, ROWS = 101, AS_IT_IS = 111 };

typedef void Product(int order, int left, int right, int m, int n, int k, float alpha,
                     const float *a, int lda, const float *b, int ldb, float beta, float *c,
                     int ldc);

/* cblas_sgemm, loaded at the first call. */
static Product *product(void) {
  static union {
    void *symbol;
    Product *function;
  } found;
  if (found.symbol) return found.function;
#ifdef __x86_64__
  const char *core = __builtin_cpu_supports("avx512f") ? "SkylakeX" : "Haswell";
  setenv("OPENBLAS_CORETYPE", core, 0);
#endif
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  void *library = dlopen("libopenblas.so.0", RTLD_NOW);
  found.symbol = library ? dlsym(library, "cblas_sgemm") : NULL;
  if (!found.symbol) abort();
  return found.function;
}

void openblas(const float *a, const float *b, float *c) {
  product()(ROWS, AS_IT_IS, AS_IT_IS, N, N, N, 1, a, N, b, N, 1, c, N);
}
