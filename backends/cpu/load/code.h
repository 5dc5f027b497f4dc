/* code.h - emitted text turned into functions: in memory, or by the system's compiler through a
 * folder of compiled programs. */
#ifndef TD_CPU_LOAD_CODE_H
#define TD_CPU_LOAD_CODE_H

#include "backends/host/child.h"
#include "backends/cpu/cpu.h"
#include "backends/c/runtime/runtime.h"
#include "backends/host/guard.h"
#include "backends/host/library.h"

typedef struct TdCpuCode {
  const void *root; /* the address of the root */
  void (*reset)(struct td_run *run, void *state);
  uint64_t room_bytes, state_bytes;
  /* Of twins: fill arrays with the symbolic values of constants, and of inputs. */
  void (*lift)(struct td_run *run, void *to, const uint64_t *bits, uint64_t n, uint64_t key,
               int kind, int f);
  void (*input)(struct td_run *run, void *to, uint64_t n, uint64_t key);
  /* And give values that are equal in `width` bits, or as such (0), one form. */
  void (*settle)(void *at, uint64_t n, unsigned width);
} TdCpuCode;

/* code.c: finds the symbols of a compiled program by `find`; whether all are there. */
typedef void *(*TdCpuFind)(void *handle, const char *name);
bool td_cpu_code_link(TdCpuCode *code, TdCpuFind find, void *handle);

/* Calls the root by its signature; a crash becomes the fault of the run. */
void td_cpu_code_run(const TdCpuCode *code, TdFfi *signature, struct td_run *run, void *const *arg);
/* Fills d with the fault of a run of `root` and the user's lines; returns false. */
bool td_cpu_code_tell(const TdCpuText *text, TdSession *s, const TdUnit *root,
                      const struct td_run *run, TdDiag *d);

/* A task that waits at a stream, by the names of both: to get from it, or for a place or buffer. */
typedef struct TdCpuWait {
  const char *task, *stream;
  bool gets;
} TdCpuWait;
/* cycle.c: "a -> x -> b -> y -> a" where the first of these tasks that do so wait for each
 * other in a circle, by the tasks of p's root; NULL: none are seen to. */
const char *td_cpu_cycle(TdArena *a, const TdProg *p, const TdCpuWait *w, int count);

/* watch.c: fills d with the race that a run's watch found; returns false. */
bool td_cpu_watch_tell(const TdCpuText *text, TdSession *s, const struct td_run *run, TdDiag *d);

/* "pe[0][1]": instance i of a run of design d; "Z[3]": its stream of a number. Owned by a. */
const char *td_cpu_code_instance(TdArena *a, const TdUnit *d, const TdRun *r, int64_t i);
const char *td_cpu_code_stream(TdArena *a, TdSession *s, const TdUnit *d, int64_t number);

/* cpu.c: what a program is made of. */
typedef struct TdCpuFacts {
  TdSession *session;
  const TdUnit *root;
  const TdCpuText *text;
  const TdTimes *times;
} TdCpuFacts;
/* Of c, which owns all of it. */
TdCpuFacts td_cpu_facts(const TdCpu *c);
/* td_cpu_call of it with clocks, of which `timed` has the tables; NULL: without. */
bool td_cpu_call_with(TdCpu *c, const struct td_timed *timed, const TdCallArg *arg, size_t narg,
                      TdDiag *d);

/* What is compiled, and the foreign functions that it calls. */
typedef struct TdCpuInput {
  const char *text;
  const void **fn; /* their addresses; NULL: the host calls it */
  void **callee;   /* their TdForeignFn */
  size_t nforeign;
  double bytes;                 /* of its large arrays and streams */
  bool moves, narrows, squares; /* as TdCpuText */
} TdCpuInput;

/* tcc.c: compiles in memory; the code goes with a. False with d filled. Once libtcc has ended
 * in the midst of its work, it is there no more. */
bool td_cpu_tcc_compile(TdArena *a, const TdCpuInput *in, TdCpuCode *code, TdDiag *d);
bool td_cpu_tcc_is_there(void);

/* cc.c: the words of the compiler's command. */
const char *const *td_cpu_cc_command(TdArena *a);
/* The words that compile file `from` into the shared object `to` (both NULL: the flags alone). */
const char *const *td_cpu_cc_words(TdArena *a, const char *from, const char *to, int threads,
                                   const TdCpuInput *in);

/* cache.c: the shared object of a text, compiled unless it is in the folder, opened; it is
 * closed with a. False with d filled. */
bool td_cpu_cache_load(TdArena *a, const TdCpuInput *in, const TdCpuOptions *o, TdCpuCode *code,
                       TdDiag *d);

/* The same beside the caller: a job that ends with `a` at the latest, which `in` and `o` must
 * outlive. NULL with d filled: there is no compiler, or no folder. */
typedef struct TdCpuJob TdCpuJob;
TdCpuJob *td_cpu_cache_begin(TdArena *a, const TdCpuInput *in, const TdCpuOptions *o, TdDiag *d);
/* How the job stands; DONE: *code is filled and goes with `a`; unless it RUNS d is filled else. */
TdChildEnd td_cpu_cache_look(TdCpuJob *j, TdArena *a, TdCpuCode *code, TdDiag *d);

/* tier.c: a program ready to run, which is compiled better once that pays. */
typedef struct TdCpuProgram {
  TdArena *arena;
  TdCpuInput in;
  TdCpuOptions options;
  TdTier tier;
  TdCpuCode code;
  void *room, *state;
  TdFfi *signature;
  const TdType *const *type; /* of each parameter: arrays are passed by where they lie */
  size_t nparam;
  void **arg, **pointer; /* of a call */
  bool runs;             /* a call is under way */
  double work;           /* statements of a run, estimated */
  double done;           /* statements that ran in memory */
  bool settled;          /* no better code will come */
  /* What makes better code, in an arena of its own; NULL: nothing does. */
  TdArena *beside;
  TdCpuJob *job;
} TdCpuProgram;
/* The text of p compiled by the tier that o asks for, or that suits its work; what x holds is owned
 * by a. Its state is to be reset. False with d filled. */
bool td_cpu_tier_begin(TdCpuProgram *x, TdArena *a, const TdProg *p, const TdCpuText *text,
                       const TdCpuOptions *o, TdDiag *d);
/* One run on laid out arguments: at[i] is where argument i lies. */
void td_cpu_tier_run(TdCpuProgram *x, struct td_run *run, void *const *at);

#endif
