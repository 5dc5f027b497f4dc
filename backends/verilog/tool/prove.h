/* prove.h - what the files of m:prove share. */
#ifndef TD_VERILOG_PROVE_H
#define TD_VERILOG_PROVE_H

#include "backends/verilog/tool/ask.h"

/* reference.c: a module that computes what the arguments hold at the end from what they held at
 * first, without registers: input P, output P_last of all elements of argument P, the first lowest.
 * It is printed from a run of the program on symbols; NULL with the diagnostic filled where data
 * decides what runs. */
const char *td_reference_module(TdArena *a, const TdProg *p, TdDiag *d);

/* prove_bench.c: the top between memories of any content and the reference; it asserts that both
 * agree when the top is done, and (TIDE_ENDS) that it is by cycle `most`. NULL: too many elements.
 */
const char *td_prove_bench(TdArena *a, const TdVlogModule *top, int64_t most);

/* prove_unit.c: modules of the library with what they promise, to a NULL; text is the proof's. */
typedef struct TdProveUnit {
  const char *module, *params, *property;
} TdProveUnit;
extern const TdProveUnit td_prove_units[];

#endif
