/* foreign.h - foreign functions: found, and called through libffi, here or in a process of their
 * own (apart.h). */
#ifndef TD_HOST_FOREIGN_H
#define TD_HOST_FOREIGN_H

#include "ir/foreign.h"
#include "ir/ir.h"

enum { TD_FOREIGN_MOST = 64 /* arguments */ };

/* The host that a session has calls made by. */
extern const TdForeignHost td_foreign_host;

/* The address of a function, or NULL where only td_foreign_host can call it: it is in a process of
 * its own, or calls back. */
const void *td_foreign_address(const TdForeignFn *f);

#endif
