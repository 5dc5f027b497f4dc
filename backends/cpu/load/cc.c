/* cc.c - the words of the C compiler's command. */
#include "backends/cpu/load/code.h"

#include <stdlib.h>

#include "backends/host/child.h"

const char *const *td_cpu_cc_command(TdArena *a) {
  size_t n;
  return td_child_words(a, getenv("TIDE_CC"), "cc", 0, &n);
}

const char *const *td_cpu_cc_words(TdArena *a, const char *from, const char *to, int threads,
                                   const TdCpuInput *in) {
  static const char *const flags[] = {
      "-std=c11",
      "-march=native",
      "-ffp-contract=off",
      "-fno-math-errno",
      "-w",
      "-shared",
      "-fPIC",
      "-pipe",
      "-fno-asynchronous-unwind-tables",
#ifdef __x86_64__
      "-mprefer-vector-width=512",
#endif
  };
  /* Loops that move tokens go on by tests and jumps, which neither vectors nor ranges make faster:
   * without them a compiler ends sooner. */
  static const char *const best[] = {"-O3"}, *const moving[] = {"-O2", "-fno-tree-vectorize",
                                                                "-fno-tree-vrp"};
  /* GCC 12 takes a vector of doubles that becomes one of as many floats, and doubles again, for the
   * first: what each iteration rounds is not rounded. Only straight code has such pairs. */
  static const char *const narrowing = "-fno-tree-slp-vectorize";
  /* GCC 12 takes `x = x * x` in a loop for a product of as many factors as there are iterations,
   * each of which lanes may square for themselves, if the square comes after a conversion or
   * another product. */
  static const char *const squaring = "-fno-tree-loop-vectorize";
  /* The threads that OpenMP keeps must find its code, so such a program stays loaded. */
  static const char *const parallel[] = {"-fopenmp", "-Wl,-z,nodelete"};
  /* The library of threads brings start files. A program alone needs none, nor the C
   * library, which is in this process: most of the linker's time. */
  static const char *const alone[] = {"-nostdlib", "-lgcc"};
  TD_VEC(const char *) word = {0};
  for (const char *const *s = td_cpu_cc_command(a); *s; s++) td_vec_push(a, &word, *s);
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) td_vec_push(a, &word, flags[i]);
  for (int i = 0; i < (in->moves ? 3 : 1); i++)
    td_vec_push(a, &word, in->moves ? moving[i] : best[i]);
  if (in->narrows) td_vec_push(a, &word, narrowing);
  if (in->squares) td_vec_push(a, &word, squaring);
  for (int i = 0; threads > 1 && i < 2; i++) td_vec_push(a, &word, parallel[i]);
  td_vec_push(a, &word, td_text_fmt(a, "-DTD_THREADS=%d", threads));
  if (from) {
    const char *const files[] = {"-o", to, from};
    for (int i = 0; i < 3; i++) td_vec_push(a, &word, files[i]);
  }
  td_vec_push(a, &word, "-lm");
  for (int i = 0; threads == 1 && i < 2; i++) td_vec_push(a, &word, alone[i]);
  td_vec_push(a, &word, NULL);
  return word.at;
}
