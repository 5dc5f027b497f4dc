/* guard.h - calls of code that may crash: what was compiled, and the foreign functions in it.
   A guard, and not a child process: a call costs a few microseconds, works on the caller's tensors
   in place, and what a foreign library keeps between calls stays. Its limits: nothing that the code
   did before it crashed is undone, so memory that it broke stays broken and locks that it held stay
   held; only the calling thread is guarded, so foreign functions run on no other; code that calls
   exit ends the process; code that hangs is not stopped. */
#ifndef TD_GUARD_H
#define TD_GUARD_H

/* Calls fn(ud). Returns 0, or the signal that ended it: SIGSEGV (a full stack, too), SIGBUS,
   SIGFPE, SIGILL or SIGABRT. Handlers of these signals and the alternate stack are the caller's
   again. */
int td_guard_call(void (*fn)(void *ud), void *ud);

/* "SIGSEGV: a bad address, or no stack left". */
const char *td_guard_signal(int sig);

#endif
