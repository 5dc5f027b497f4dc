/* shell.h - a module around the top: names of its clock and reset, another interface. */
#ifndef TD_SHELL_H
#define TD_SHELL_H

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
/* Opens a generate loop over copies or members of n, of which G is the number. */
void td_shell_loop(TdText *o, int64_t count, const char *n, const char *what);

/* inside.c: the memory of a state inside the top: its text, the pins of the core that it is
 * connected to, what is high while it fills after a reset; in a bench, words of bank b that go into
 * its copies before the start, or come out after the end. */
void td_inside_put(const TdVlogArray *x, TdText *o, TdText *connect, TdText *fills);
void td_inside_peek(TdArena *a, const TdVlogArray *x, int64_t b, bool load, TdText *out);

#endif
