/* rtl.h - a system as Verilog: modules of one concept each with parameters, and a top that joins
 * them; a bench; runs. */
#ifndef TD_MAESTRO_RTL_H
#define TD_MAESTRO_RTL_H

#include "backends/backend.h"
#include "backends/maestro/job.h"
#include "backends/maestro/user.h"
#include "backends/verilog/vtree.h"

/* The text of the modules: pieces one after the other, to a NULL. */
extern const char *const td_maestro_rtl_stream[];
extern const char *const td_maestro_rtl_memory[];
extern const char *const td_maestro_rtl_ext[];
extern const char *const td_maestro_rtl_array[];
extern const char *const td_maestro_rtl_csr[];

/* rtl_array.c: the module of a sum of products, for the array's types. */
const char *td_maestro_rtl_dot(const TdMaestroArray *x, TdArena *a);
/* rtl_ext.c: a user's kernel behind the ports of an extension. */
const char *td_maestro_rtl_user(const TdMaestroUser *u, TdArena *a);
/* rtl_ext.c: the name of an extension's module; gives item i of m its parameters. */
const char *td_maestro_rtl_ext_module(TdVlModule *m, const TdMaestroExt *x, TdVlItem *i);

/* What a system is in bits. */
typedef struct TdMaestroShape {
  int address, word, place; /* bits: of an address, of a byte in a word, of the place of a word */
  int banks, rows, port;    /* bits that number banks, rows, ports */
  int high, mode;           /* bits of a byte in a row of banks; of the mode */
  int registers, extra;     /* those with the start, and those of the array */
  int64_t lows;             /* bits of a byte in the row of a group, five for each mode */
  int64_t width, count;     /* bits of a word; of the counts of words that are traced */
} TdMaestroShape;
TdMaestroShape td_maestro_rtl_shape(const TdMaestroSystem *s, TdArena *a);
/* rtl.c: the top module; axi: its registers are behind AXI4-Lite, not valid and ready. */
const char *td_maestro_rtl_top(const TdMaestroSystem *s, bool axi, TdArena *a);
/* rtl_csr.c: the bus that the registers x are written by as ports of m; the slave of AXI4-Lite in
 * front of them, whose clock is not connected yet, or NULL. */
TdVlItem *td_maestro_rtl_bus(TdVlModule *m, TdVlItem *x, bool axi);
/* The files of a system, the top first; NULL with d filled where its types have no modules. */
const TdFile *td_maestro_rtl_files(const TdMaestroSystem *s, bool axi, TdArena *a, size_t *n,
                                   TdDiag *d);

/* rtl_bench.c: runs registers, and checks nothing: reads words, registers and writes of a job from
 * files, writes the memory, the cycles, and what happened in each. */
const char *td_maestro_rtl_bench(const TdMaestroSystem *s, bool axi, TdArena *a);

/* rtl_run.c: jobs in a simulator, one behind the other: the registers of each are written while
 * the one before runs. */
typedef struct TdMaestroSimJob {
  const TdMaestroJob *job;
  TdTensor *const *param; /* of its kernel; NULL: the memory is zeros */
} TdMaestroSimJob;
typedef struct TdMaestroSim {
  const TdMaestroSystem *system;
  const TdMaestroSimJob *at;
  size_t n;
  TdArena *arena;
  const char *sim; /* "icarus" or "verilator" */
  int seconds;
  bool axi;           /* registers by AXI4-Lite */
  bool check;         /* every cycle against the model */
  const char *writes; /* what a host writes to registers, in place of the jobs' own; or NULL */
} TdMaestroSim;
/* Runs them: the cycles of all; false with d filled, also where the model has another cycle. */
bool td_maestro_sim_run(const TdMaestroSim *x, int64_t *cycles, TdDiag *d);

#endif
