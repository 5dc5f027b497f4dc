/* page.c - what is longer than the window goes through a pager: $TIDE_PAGER, $PAGER, else less. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bind/prompt/prompt.h"
#include "repl/tty.h"

enum { NOT_FOUND = 127 }; /* the status of a shell that has no such command */

/* Rows that a text takes in a window of so many columns; escapes of colours take none. */
static int rows_of(const char *text, size_t n, int columns) {
  int rows = 0, column = 0;
  for (size_t i = 0; i < n; i++) {
    bool ends = text[i] == '\n';
    if (text[i] == '\033')
      while (i + 1 < n && text[i] != 'm') i++;
    else if (((unsigned char)text[i] & 0xC0) != 0x80)
      column++;
    if (!ends && column < columns) continue;
    rows += ends || i + 1 == n || text[i + 1] != '\n';
    column = 0;
  }
  return rows + (column > 0);
}

static const char *pager(void) {
  const char *own = getenv("TIDE_PAGER"), *any = getenv("PAGER");
  return own ? own : any && *any ? any : "command -v less >/dev/null || exit 127; exec less";
}

/* Sends a text through a pager; false when there is none. Ctrl-C is the pager's meanwhile. */
static bool send(const char *text, size_t n) {
  struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, pipe;
  sigemptyset(&ignore.sa_mask);
  fflush(stdout);
  sigaction(SIGINT, &ignore, &interrupt);
  sigaction(SIGPIPE, &ignore, &pipe);
  setenv("LESS", "FRX", 0);
  FILE *to = popen(pager(), "w");
  int status = -1;
  if (to) {
    fwrite(text, 1, n, to);
    status = pclose(to);
  }
  sigaction(SIGINT, &interrupt, NULL);
  sigaction(SIGPIPE, &pipe, NULL);
  return to && !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND);
}

void td_page_put(lua_State *L, const char *text, size_t n) {
  int rows, columns;
  bool shown = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
               td_bind_enter(L)->setting[TD_SET_PAGER] && *pager() &&
               td_tty_is_able(STDIN_FILENO, STDOUT_FILENO);
  if (shown) td_tty_size(STDOUT_FILENO, &rows, &columns);
  if (shown && rows_of(text, n, columns) >= rows && send(text, n)) return;
  fwrite(text, 1, n, stdout);
  fflush(stdout);
}
