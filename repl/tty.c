/* tty.c - the terminal. A process has one: its state is static, so that signal handlers and exit
 * can restore it. */
#include "repl/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define BEGIN "\033[?2004h"
#define END "\033[?2004l\033[?7h"

/* Signals after which the terminal must be as it was found: they end or stop the process. */
static const int leaving[] = {SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV,
                              SIGBUS,  SIGFPE, SIGILL,  SIGTSTP};
/* Signals that the wait reports. */
static const int reported[] = {SIGWINCH, SIGCONT, SIGINT};
enum {
  N_LEAVING = sizeof leaving / sizeof *leaving,
  N_REPORTED = sizeof reported / sizeof *reported
};

static struct {
  int in, out, wake[2];
  bool is_open, wants_raw;
  struct termios cooked;
  struct sigaction old_leaving[N_LEAVING], old_reported[N_REPORTED];
  volatile sig_atomic_t is_raw, happened;
} tty;

bool td_tty_is_able(int in, int out) {
  const char *term = getenv("TERM");
  return isatty(in) && isatty(out) && term && *term && strcmp(term, "dumb") != 0;
}

bool td_tty_has_colour(void) {
  const char *no_color = getenv("NO_COLOR");
  return !no_color || !*no_color;
}

bool td_tty_is_reflowing(void) {
  return !getenv("XTERM_VERSION") && !getenv("STY");
}

void td_tty_write(int out, const char *s, size_t n) {
  while (n > 0) {
    ssize_t done = write(out, s, n);
    if (done < 0 && errno == EAGAIN) {
      poll(&(struct pollfd){.fd = out, .events = POLLOUT}, 1, -1);
    } else if (done < 0 && errno != EINTR) {
      return;
    } else if (done > 0) {
      s += done;
      n -= (size_t)done;
    }
  }
}

/* Undoes raw mode. Async-signal-safe. */
static void restore(void) {
  if (!tty.is_raw) return;
  tty.is_raw = 0;
  td_tty_write(tty.out, END, strlen(END));
  tcsetattr(tty.in, TCSANOW, &tty.cooked);
}

/* Ends a wait. Async-signal-safe. */
static void wake(void) {
  ssize_t done = write(tty.wake[1], "", 1);
  (void)done;
}

/* Installs `handler` for n signals, keeping what was there; ignored ones stay ignored. */
static void take_signals(const int *sig, size_t n, struct sigaction *old, void (*handler)(int)) {
  struct sigaction mine = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigfillset(&mine.sa_mask);
  for (size_t i = 0; i < n; i++) {
    sigaction(sig[i], NULL, &old[i]);
    if (old[i].sa_handler != SIG_IGN) sigaction(sig[i], &mine, NULL);
  }
}

/* Puts back what take_signals kept. Async-signal-safe. */
static void give_signals(const int *sig, size_t n, const struct sigaction *old) {
  for (size_t i = 0; i < n; i++) sigaction(sig[i], &old[i], NULL);
}

/* Restores the terminal and lets the signal do what it did before. If the process lives on, the
 * next wait says TD_TTY_LOST. */
static void on_leaving(int sig) {
  int saved = errno;
  give_signals(leaving, N_LEAVING, tty.old_leaving);
  if (tty.is_raw) td_tty_write(tty.out, "\r\n\033[J", 5);
  restore();
  tty.happened |= TD_TTY_LOST;
  wake();
  raise(sig);
  errno = saved;
}

/* Notes the signal for the next wait. */
static void on_reported(int sig) {
  int saved = errno;
  tty.happened |= sig == SIGWINCH ? TD_TTY_RESIZED : sig == SIGINT ? TD_TTY_INTERRUPT : TD_TTY_LOST;
  wake();
  errno = saved;
}

/* Undoes raw mode, for a stop or the end. */
static void leave_raw(void) {
  if (!tty.is_raw) return;
  restore();
  give_signals(leaving, N_LEAVING, tty.old_leaving);
}

bool td_tty_enter(void) {
  if (!tty.wants_raw) return true;
  if (!tty.is_raw) {
    if (tcgetattr(tty.in, &tty.cooked) < 0) return false;
    take_signals(leaving, N_LEAVING, tty.old_leaving, on_leaving);
  }
  struct termios raw = tty.cooked;
  raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | IXON | ISTRIP | BRKINT);
  raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
  raw.c_cflag = (raw.c_cflag & ~(tcflag_t)(CSIZE | PARENB)) | CS8;
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  tty.is_raw = 1;
  if (tcsetattr(tty.in, TCSANOW, &raw) < 0) {
    leave_raw();
    return false;
  }
  td_tty_write(tty.out, BEGIN, strlen(BEGIN));
  return true;
}

/* Ends what td_tty_open began. */
static void close_tty(void *unused) {
  (void)unused;
  leave_raw();
  give_signals(reported, N_REPORTED, tty.old_reported);
  close(tty.wake[0]);
  close(tty.wake[1]);
  tty.is_open = false;
}

bool td_tty_open(TdArena *life, int in, int out, bool raw) {
  static bool at_exit;
  if (!at_exit) at_exit = atexit(restore) == 0;
  if (tty.is_open || pipe(tty.wake) < 0) return false;
  for (int i = 0; i < 2; i++) {
    fcntl(tty.wake[i], F_SETFL, O_NONBLOCK);
    fcntl(tty.wake[i], F_SETFD, FD_CLOEXEC);
  }
  tty.is_open = true;
  tty.in = in;
  tty.out = out;
  tty.wants_raw = raw;
  tty.happened = 0;
  take_signals(reported, N_REPORTED, tty.old_reported, on_reported);
  td_arena_defer(life, close_tty, NULL);
  return td_tty_enter();
}

void td_tty_stop(void) {
  leave_raw();
  kill(0, SIGTSTP);
  raise(SIGCONT);
}

/* Takes the events that handlers noted. */
static int take_happened(void) {
  char drained[64];
  while (read(tty.wake[0], drained, sizeof drained) > 0) {
  }
  sigset_t all, old;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &old);
  int happened = tty.happened;
  tty.happened = 0;
  sigprocmask(SIG_SETMASK, &old, NULL);
  return happened;
}

int td_tty_wait(int watched, int timeout) {
  struct pollfd at[] = {{.fd = tty.wake[0], .events = POLLIN},
                        {.fd = tty.in, .events = POLLIN},
                        {.fd = watched, .events = POLLIN}};
  int n = tty.happened ? 0 : poll(at, watched < 0 ? 2 : 3, timeout);
  int events = take_happened();
  if (n > 0 && at[1].revents) events |= TD_TTY_INPUT;
  if (n > 0 && watched >= 0 && at[2].revents) events |= TD_TTY_WATCHED;
  return events;
}

void td_tty_size(int out, int *rows, int *cols) {
  struct winsize size = {0};
  bool known = ioctl(out, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
  *rows = known ? size.ws_row : 24;
  *cols = known ? size.ws_col : 80;
}
