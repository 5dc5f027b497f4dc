/* guard.h - calls of code that may crash or hang: what was compiled, and the foreign functions in
   it. A guard, and not a child process: a call costs two microseconds, works on the caller's
   tensors in place, and what a foreign library keeps between calls stays. Its limits: nothing that
   the code did before is undone, so memory that it broke stays broken and locks that it held stay
   held; only the calling thread is guarded, so foreign functions run on no other; code that calls
   exit ends the process. */
#ifndef TD_GUARD_H
#define TD_GUARD_H

/* Calls fn(ud). Returns 0, or the signal that ended it: SIGSEGV (a full stack, too), SIGBUS,
   SIGFPE, SIGILL, SIGABRT, or SIGINT: td_guard_leave. Handlers of these signals and the alternate
   stack are the caller's again. While *foreign is not 0, and only then, the call can be left. */
int td_guard_call(void (*fn)(void *ud), void *ud, const volatile int *foreign);

/* Called by a handler of SIGINT: leaves the guarded call of this thread, where it can be left. */
void td_guard_leave(int sig);

/* "SIGSEGV: a bad address, or no stack left". */
const char *td_guard_signal(int sig);

#endif
