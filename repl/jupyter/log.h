/* log.h - lines for whoever runs the kernel, apart from what its cells print. */
#ifndef TD_REPL_JUPYTER_LOG_H
#define TD_REPL_JUPYTER_LOG_H

#include "base/text.h"

/* Has lines go to what standard error is now. */
void td_log_open(void);
/* Writes a line, which needs no newline; any thread may. */
void td_log(const char *fmt, ...) TD_PRINTF(1, 2);

#endif
