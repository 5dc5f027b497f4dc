/* vshell.h - a module around the top: names of its clock and reset, another interface. */
#ifndef TD_VSHELL_H
#define TD_VSHELL_H

#include "backends/verilog/verilog.h"

typedef struct TdShell {
  const char *name, *clock, *reset, *interface; /* as options of the build say */
} TdShell;
/* The shell of a core, whose arrays and ends are as they are outside; NULL with d filled. */
const TdVlogModule *td_shell_module(TdArena *a, const TdShell *o, const TdVlogModule *core,
                                    TdDiag *d);
/* Whether a reset of this name is active while it is low. */
bool td_shell_is_low(const char *reset);
/* Bytes of an element of so many bits on a bus. */
int64_t td_shell_bytes(int width);

#endif
