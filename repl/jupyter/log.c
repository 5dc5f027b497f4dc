/* log.c - lines for whoever runs the kernel. */
#include "repl/jupyter/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static int to = STDERR_FILENO;

void td_log_open(void) {
  int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (fd >= 0) to = fd;
}

void td_log(const char *fmt, ...) {
  char line[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  dprintf(to, "tide kernel: %s\n", line);
}
