/* progress.c - long work says at a terminal what it does, how far it is and for how long it
 * has run: a line that a timer renews and that the end of the work takes away. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "bind/prompt/prompt.h"

#define LONG 1000 /* milliseconds that work may take in silence */
#define AGAIN 200 /* between two lines */
#define LINE 120

static struct {
  const TdWork *volatile work;
  struct timespec since;
  int to; /* the terminal, also while standard error leads elsewhere */
  volatile sig_atomic_t shown;
} progress;

/* Puts a number at the end of the n characters in line; returns how many there are then. Like all
 * below, async-signal-safe. */
static size_t put_number(char line[LINE], size_t n, uint64_t v) {
  char digits[20];
  size_t k = 0;
  do digits[k++] = (char)('0' + v % 10);
  while ((v /= 10) && k < sizeof digits);
  while (k && n < LINE) line[n++] = digits[--k];
  return n;
}

static size_t put_text(char line[LINE], size_t n, const char *s) {
  while (*s && n < LINE) line[n++] = *s++;
  return n;
}

/* How far the work is: a part of a total, or the steps that it counted. */
static size_t put_far(char line[LINE], size_t n, const TdWork *w) {
  uint64_t done = w->done, total = w->total;
  if (total) {
    n = put_number(line, put_text(line, n, "  "), done);
    return put_number(line, put_text(line, n, " of "), total);
  }
  if (done < 1000000) return n;
  n = put_number(line, put_text(line, n, "  "), done / 1000000);
  return put_text(line, n, " million steps");
}

/* Writes the n characters that fit into a row of the terminal, in place of what is there. */
static void draw(const char *line, size_t n) {
  struct winsize size;
  bool known = ioctl(progress.to, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  size_t fits = known ? size.ws_col - 1u : 79;
  char out[LINE + 8];
  size_t k = put_text(out, 0, "\r\033[K");
  memcpy(out + k, line, n < fits ? n : fits);
  ssize_t done = write(progress.to, out, k + (n < fits ? n : fits));
  (void)done;
}

static void on_alarm(int sig) {
  (void)sig;
  int saved = errno;
  struct timespec now;
  char line[LINE];
  const TdWork *w = progress.work;
  const char *name = w ? w->name : NULL;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (name) {
    size_t n = put_number(line, put_text(line, put_text(line, 0, name), "  "),
                          (uint64_t)(now.tv_sec - progress.since.tv_sec));
    n = put_far(line, put_text(line, n, " s"), w);
    draw(line, put_text(line, n, "  (Ctrl-C stops it)"));
    progress.shown = 1;
  }
  errno = saved;
}

/* Has the alarm come after `first` milliseconds and then again and again; 0: not any more. */
static void set_alarm(long first) {
  struct itimerval t = {.it_value = {first / 1000, first % 1000 * 1000}};
  if (first) t.it_interval.tv_usec = AGAIN * 1000;
  setitimer(ITIMER_REAL, &t, NULL);
}

static void on_work(void *bind, const TdWork *w, bool begins) {
  const TdBind *b = bind;
  if (begins && b->setting[TD_SET_PROGRESS] == 0) return;
  progress.work = begins ? w : NULL;
  if (begins) clock_gettime(CLOCK_MONOTONIC, &progress.since);
  set_alarm(begins ? LONG : 0);
  if (!begins && progress.shown) draw("", 0);
  if (!begins) progress.shown = 0;
}

void td_progress_open(lua_State *L) {
  const char *term = getenv("TERM");
  if (!isatty(STDERR_FILENO) || !term || !*term || strcmp(term, "dumb") == 0) return;
  progress.to = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (progress.to < 0) return;
  struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigemptyset(&sa.sa_mask);
  sigaction(SIGALRM, &sa, NULL);
  TdBind *b = td_bind_enter(L);
  td_ctx_watch_work(b->ctx, on_work, b);
}

/* session.progress(done, total): how far a document is; without a total it is at its end. */
int td_progress_note(lua_State *L) {
  TdCtx *c = td_bind_enter(L)->ctx;
  if (lua_isnoneornil(L, 2)) {
    td_ctx_end_work(c, (TdWork){0});
    return 0;
  }
  td_ctx_begin_work(c, TD_WORK_DOCUMENT, NULL);
  td_ctx_note_work(c, (uint64_t)luaL_checkinteger(L, 1), (uint64_t)luaL_checkinteger(L, 2));
  return 0;
}
