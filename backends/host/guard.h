/* guard.h - calls of code that may crash or hang: what was compiled, the foreign functions in it,
 * and libtcc. A guard, and not a child process (apart.h): a call costs two microseconds, works on
 * the caller's tensors in place, and what a foreign library keeps between calls stays. Its limits:
 * nothing that the code did before is undone, so memory that it broke stays broken and locks that
 * it held stay held; only the calling thread is guarded, so foreign functions run on no other; and
 * who ends the process ends it. */
#ifndef TD_HOST_GUARD_H
#define TD_HOST_GUARD_H

#include "base/base.h"
#include "base/text.h"

/* How a call ended: by a signal, SIGSEGV (a full stack, too), SIGBUS, SIGFPE, SIGILL, SIGABRT, or
 * SIGINT (td_guard_leave); 0: it returned. */
typedef struct TdGuardEnd {
  int how;
} TdGuardEnd;

/* Calls fn(ud), which must not escape. Handlers of the signals and the alternate stack are the
 * caller's again afterwards. While *foreign is not 0, and only then, td_guard_leave leaves it. */
TdGuardEnd td_guard_call(void (*fn)(void *ud), void *ud, const volatile int *foreign);

/* Called by a handler of SIGINT: leaves the guarded call of this thread, where it can be left. */
void td_guard_leave(int sig);

/* Calls fn(ud) within a guarded call as if there were none: code of Tide's own that foreign code
 * called back. */
void td_guard_outside(void (*fn)(void *ud), void *ud);
/* "crashed (SIGSEGV: a bad address, or no stack left)"; owned by a. */
const char *td_guard_text(TdArena *a, TdGuardEnd e);

#endif
