/* cpu.h - programs on this machine: written as C, compiled in memory or by the system's compiler,
 * cached, run. */
#ifndef TD_CPU_H
#define TD_CPU_H

#include "backends/backend.h"
#include "backends/host/ffi.h"
#include "eval/time/timed.h"

extern const TdBackend td_backend_cpu;

/* A design of a program, and the numbers of its first run and stream among those of all. */
typedef struct TdCpuDesign {
  const TdUnit *unit;
  int64_t run, stream;
} TdCpuDesign;

/* A program as C: one function for each unit. */
typedef struct TdCpuText {
  const TdProg *prog;
  const char *text;
  const TdLoc *place; /* of faults, by number */
  size_t nplace;
  const char *const *apart;   /* what is said of views that meet */
  const void *const *table;   /* constants that are not in the text */
  const void *const *known;   /* times (TdTime) and statements, by number */
  const bool *written;        /* of each parameter of the root */
  const TdFfiType *signature; /* of the root as a function of C */
  size_t narg;
  const TdCpuDesign *design; /* in the order of the numbers */
  size_t ndesign;
  double work;  /* statements of a run, estimated */
  double bytes; /* of large arrays and of streams, each once */
  bool moves;   /* every loop of a run moves tokens, and no clock counts them */
  bool narrows; /* some double is made a float */
  bool squares; /* some product of an integer with itself comes back to it */
  bool watch;   /* as TdCpuExtra */
} TdCpuText;

/* What runs of a program do besides. Zeroed: nothing. */
typedef struct TdCpuExtra {
  const TdTimes *times; /* of runs with a clock; NULL: without */
  bool watch;           /* they find out who touches the elements of designs' arguments */
} TdCpuExtra;

/* text.c: the text of p at its sizes, owned by a; NULL with d filled when it cannot be. */
const TdCpuText *td_cpu_text_of(TdArena *a, const TdProg *p, TdCpuExtra extra, TdDiag *d);

typedef enum { TD_TIER_AUTO, TD_TIER_TCC, TD_TIER_CC } TdTier;

/* Zeroed is the default. */
typedef struct TdCpuOptions {
  TdTier tier;         /* AUTO: in memory until much work is done */
  int seconds;         /* most time of the system's compiler; 0: 60 */
  int64_t cache_bytes; /* most that the folder of compiled programs holds; 0: 256 MiB */
  int threads;         /* of parallel loops; 0: one for each processor */
  size_t bytes;        /* most memory of the arguments of a run on fingerprints; 0: no limit */
  TdCpuExtra extra;
} TdCpuOptions;

/* A program ready to run, with its state. */
typedef struct TdCpu TdCpu;

/* cpu.c: p compiled, owned by a; NULL with d filled. What it holds of the system goes with a. */
TdCpu *td_cpu_new(TdArena *a, const TdProg *p, const TdCpuOptions *o, TdDiag *d);
/* Calls the root. Arguments are checked; tensors that it writes are marked as written. False with d
 * filled: wrong arguments (nothing ran), or a fault, after which written tensors hold anything.
 * Escapes when interrupted. */
bool td_cpu_call(TdCpu *c, const TdCallArg *arg, size_t narg, TdDiag *d);
/* Has the states of c go on from those of another, which is the same program at other sizes. */
void td_cpu_take_state(TdCpu *c, const TdCpu *from);
/* timed.c: the same of a program with a clock, whose root is a design; *report tells what the
 * tasks and streams did, owned by a. */
bool td_cpu_timed_call(TdCpu *c, TdArena *a, const TdCallArg *arg, size_t narg,
                       const TdTimed **report, TdDiag *d);
/* Has states start from their declared values again. */
void td_cpu_reset(TdCpu *c);
const TdCpuText *td_cpu_source(const TdCpu *c);
/* TCC or CC, of its last run. */
TdTier td_cpu_tier(const TdCpu *c);
/* tcc.c: "0.9.27", the libtcc that compiles in memory; NULL: Tide was built without. Owned by
 * a. */
const char *td_cpu_tcc_version(TdArena *a);

#endif
