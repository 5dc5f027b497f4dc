/* simulator.h - Icarus or Verilator on a design and its bench: files in a folder, the program
 * compiled or kept from before, its runs. Functions return false with diag filled. */
#ifndef TD_VERILOG_SIMULATOR_H
#define TD_VERILOG_SIMULATOR_H

#include "backends/host/cache.h"

typedef struct TdSimulator {
  TdArena *arena;
  TdDiag *diag;
  bool icarus; /* else Verilator */
  TdCache cache;
  const char *folder, *program;
} TdSimulator;

/* The simulator of the option `sim`. */
TdSimulator td_simulator_new(TdArena *a, const char *sim, TdDiag *d);
/* A folder for its files. */
bool td_simulator_open(TdSimulator *s);
/* The path of a file in it; writes one. */
const char *td_simulator_path(const TdSimulator *s, const char *name);
bool td_simulator_write(TdSimulator *s, const char *name, const char *text);
/* The program of a text with a module `bench`, and of `clocked` with a clock for Icarus; `main` is
 * the C++ that Verilator needs. */
bool td_simulator_compile(TdSimulator *s, const char *design, const char *bench, const char *main);
/* Runs it on words, the last one NULL, behind the folder as +dir. What it says is in `log`. */
bool td_simulator_run(TdSimulator *s, const char *const *word, int seconds);

#endif
