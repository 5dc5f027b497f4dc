/* target.h - what hardware costs, by device: the rows of targets.def, asked by operator, and block
 * RAM by size. */
#ifndef TD_ANALYSIS_TIME_TARGET_H
#define TD_ANALYSIS_TIME_TARGET_H

#include "ir/ir.h"

/* What one target has beside operators. Times are picoseconds where not cycles. */
typedef struct TdTarget {
  const char *name;
  int id, rows;     /* rows: the target whose operators it has */
  const char *part; /* of Xilinx, or NULL */
  int64_t clock, usable;
  int32_t read, read_delay, write_delay, fifo_delay;
  int64_t ports;        /* of one bank; 0: any number */
  int64_t enter, again; /* cycles around a loop, and between iterations of an unpipelined one */
  int64_t straight;     /* least cycles of straight code */
  int64_t dsp, bram, uram, ff, lut;
} TdTarget;

/* A target by name, or NULL; the names, NULL at the end. */
const TdTarget *td_target_find(const char *name);
extern const char *const td_target_names[];
/* The names, each after a '|', as an option has its words: of all, of those that Vitis knows. */
extern const char td_target_words[], td_target_parts[];
/* Whether control takes time: that is hardware, and no ideal of it. */
bool td_target_is_hardware(const TdTarget *t);
/* Whether its pipelines stall as a whole, as those that Vitis makes do: the second contract. */
bool td_target_fires(const TdTarget *t);

/* An operator of some width. Zeroed is a wire. */
typedef struct TdOperator {
  const char *key;       /* as in targets.def, NULL: a wire */
  const TdType *type;    /* of its widest operand */
  int32_t stages, delay; /* cycles, or (0 stages) ps of logic */
  int32_t pressed;       /* cycles where a recurrence waits for it */
  int64_t interval;
  int64_t dsp, ff, lut;
} TdOperator;

/* The operator under a cost key on operands of scalar type t, of which only `bits` matter. */
TdOperator td_target_operator(const TdTarget *t, const char *key, const TdType *type, int bits);

/* Block RAMs of 18 kbit for `depth` words of `width` bits, two ports; URAMs for the same. */
int64_t td_target_bram(int64_t width, int64_t depth);
int64_t td_target_uram(int64_t width, int64_t depth);
/* Whether a memory of this size is made of LUTs. */
bool td_target_is_small(int64_t width, int64_t depth);

#endif
