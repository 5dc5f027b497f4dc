/* cpu_code.h - emitted text turned into functions: in memory, or by the system's compiler through a
   folder of compiled programs. */
#ifndef TD_CPU_CODE_H
#define TD_CPU_CODE_H

#include "backends/cpu/cpu.h"
#include "backends/cpu/runtime.h"

typedef struct TdCpuCode {
  void (*entry)(struct td_run *run, void *room, void *state, void *const *arg);
  void (*reset)(struct td_run *run, void *state);
  uint64_t room_bytes, state_bytes;
  /* Of twins: fill arrays with the symbolic values of constants, and of inputs. */
  void (*lift)(struct td_run *run, void *to, const uint64_t *bits, uint64_t n, uint64_t key,
               int kind, int f);
  void (*input)(struct td_run *run, void *to, uint64_t n, uint64_t key);
} TdCpuCode;

/* cpu_code.c: finds the symbols of a compiled program by `find`; whether all are there. */
typedef void *(*TdCpuFind)(void *handle, const char *name);
bool td_cpu_code_link(TdCpuCode *code, TdCpuFind find, void *handle);

/* Compiles the text of p by the tier that o asks for, or that suits its work; code is owned by a.
   False with d filled. */
bool td_cpu_code_compile(TdArena *a, const TdProg *p, const TdCpuText *text, const TdCpuOptions *o,
                         TdTier *tier, TdCpuCode *code, TdDiag *d);
/* Fills d with the fault of a run of `root` and the user's lines; returns false. */
bool td_cpu_code_tell(const TdCpuText *text, TdSession *s, const TdUnit *root,
                      const struct td_run *run, TdDiag *d);

/* What is compiled: the text, and the foreign functions it calls. */
typedef struct TdCpuInput {
  const char *text;
  const TdForeign *const *foreign;
  size_t nforeign;
} TdCpuInput;

/* cpu_tcc.c: compiles in memory; the code goes with a. False with d filled. */
bool td_cpu_tcc_compile(TdArena *a, const TdCpuInput *in, TdCpuCode *code, TdDiag *d);
bool td_cpu_tcc_is_there(void);

/* cpu_cc.c: the words of the compiler's command. */
const char *const *td_cpu_cc_command(TdArena *a);
/* The words that compile file `from` into the shared object `to` (both NULL: the flags alone). */
const char *const *td_cpu_cc_words(TdArena *a, const char *from, const char *to, int threads,
                                   const TdCpuInput *in);
/* cpu_cache.c: the shared object of a text, compiled unless it is in the folder, opened; it is
   closed with a. False with d filled. */
bool td_cpu_cache_load(TdArena *a, const TdCpuInput *in, const TdCpuOptions *o, TdCpuCode *code,
                       TdDiag *d);

#endif
