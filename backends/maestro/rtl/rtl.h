/* rtl.h - a system as Verilog: modules of one concept each with parameters, and a top that joins
 * them; a bench; runs. */
#ifndef TD_MAESTRO_RTL_H
#define TD_MAESTRO_RTL_H

#include "backends/backend.h"
#include "backends/maestro/job.h"
#include "backends/maestro/user.h"
#include "backends/verilog/tool/simulator.h"
#include "backends/verilog/verilog.h"
#include "backends/verilog/vtree.h"

/* What Verilator's -Wall is told not to look for: a file has the modules of one concept, which have
 * the same ports whether they use them all or not. */
extern const char *const td_maestro_rtl_waived;
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
/* The lines of a bus as ports of m, to the pins of x of the same names. */
void td_maestro_rtl_pins(TdVlModule *m, TdVlItem *x, bool axi);
/* The files of a system, the top first; NULL with d filled where its types have no modules. */
const TdFile *td_maestro_rtl_files(const TdMaestroSystem *s, bool axi, TdArena *a, size_t *n,
                                   TdDiag *d);

/* What a bench is around, where that is no system alone: a module with one in it, which has the
 * pins of a design's arrays and scalars, too, and tells `moves` bits more of each cycle. */
typedef struct TdMaestroDut {
  const char *module;
  int moves;
  const TdVlogModule *design;
} TdMaestroDut;
/* rtl_bench.c: runs registers, and checks nothing: reads words, registers and writes of a job from
 * files, writes the memory, the cycles, and what happened in each. dut: NULL for a system alone. */
const char *td_maestro_rtl_bench(const TdMaestroSystem *s, bool axi, const TdMaestroDut *dut,
                                 TdArena *a);

/* rtl_sim.c: a text with a system in it in a simulator. What stands before `cycles` is given. */
typedef struct TdMaestroBed {
  const TdMaestroSystem *system;
  TdSimulator tool;
  int seconds;
  bool check;     /* every cycle against the model */
  int64_t cycles; /* the model's */
  TdText trace;   /* the model's: a row for each cycle */
  size_t nimage, nwrite, nread;
} TdMaestroBed;
/* The text compiled, or kept from before. */
bool td_maestro_bed_compile(TdMaestroBed *s, const TdFile *file, size_t n, const char *bench);
/* What the memory holds where bytes are touched; the words that are read in the end. */
bool td_maestro_bed_image(TdMaestroBed *s, const uint8_t *memory, const uint8_t *touched);
bool td_maestro_bed_reads(TdMaestroBed *s, const uint8_t *result);
/* Adds the registers of a job, the array's, then all others, the start last; all of them. */
void td_maestro_bed_registers(const TdMaestroBed *s, TdText *t, const TdMaestroWork *work,
                              const TdMaestroPattern *pattern);
bool td_maestro_bed_writes(TdMaestroBed *s, const TdText *t);
/* Adds a cycle of the model as the bench writes it, with the bits of what moves beside. */
void td_maestro_bed_row(TdMaestroBed *s, const TdMaestroCycle *c, const uint8_t *moves, int nmove);
/* Runs it: its cycles; false with d filled, also where the model has another cycle. Then takes
 * the words of the results into the memory, and marks their bytes. */
bool td_maestro_bed_run(TdMaestroBed *s, int64_t *cycles);
bool td_maestro_bed_back(TdMaestroBed *s, uint8_t *memory, uint8_t *written);

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
