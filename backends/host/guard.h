/* guard.h - calls of code that may crash, hang or end the process: what was compiled, the foreign
 * functions in it, and libtcc. A guard, and not a child process: a call costs two microseconds,
 * works on the caller's tensors in place, and what a foreign library keeps between calls stays.
 * Its limits: nothing that the code did before is undone, so memory that it broke stays broken and
 * locks that it held stay held; only the calling thread is guarded, so foreign functions run on no
 * other. A program that links these has them stand before the C library's exit, _exit, _Exit,
 * quick_exit and pthread_exit; outside of a guarded call, in other threads and in forked processes
 * they are those. A module (tide.so) comes behind the C library; there they end the process. */
#ifndef TD_HOST_GUARD_H
#define TD_HOST_GUARD_H

#include "base/base.h"
#include "base/text.h"

/* How a call ended: by a signal, SIGSEGV (a full stack, too), SIGBUS, SIGFPE, SIGILL, SIGABRT, or
 * SIGINT (td_guard_leave); by a function that ends the process, given `code`; 0: it returned. */
typedef struct TdGuardEnd {
  int how, code;
} TdGuardEnd;

/* Calls fn(ud), which must not escape. Handlers of the signals and the alternate stack are the
 * caller's again afterwards. While *foreign is not 0, and only then, td_guard_leave leaves it. */
TdGuardEnd td_guard_call(void (*fn)(void *ud), void *ud, const volatile int *foreign);

/* Called by a handler of SIGINT: leaves the guarded call of this thread, where it can be left. */
void td_guard_leave(int sig);

/* _exit, also from within a guarded call. */
_Noreturn void td_guard_quit(int code);

/* Whether it called a function that ends the process. */
bool td_guard_exited(TdGuardEnd e);
/* "crashed (SIGSEGV: a bad address, or no stack left)", "called exit(3)"; owned by a. */
const char *td_guard_text(TdArena *a, TdGuardEnd e);

#endif
