/* line_pty.h - runs the editor on a pseudo-terminal for tests: a child runs it under a small shell
 * with job control, bytes go in, and a tiny terminal shows what comes out. */
#ifndef LINE_PTY_H
#define LINE_PTY_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/line_demo.h"
#include "tests/unit/tap.h"
#include "tests/unit/vt.h"

enum { PATIENCE_MS = 5000, QUIET_MS = 60, CALM_MS = 15, PLAIN_ROWS = 24 };

static struct {
  Vt vt;
  int fd;
  pid_t shell;
  char name[64]; /* of the run: width and locale */
} t;

/* ---- the child: a demo of the editor, under a shell of a few lines ---- */

static TdLine *demo;
static TdCtx *demo_ctx;
static jmp_buf escaped;
static int job[2];

/* The toy language, which gives up in the middle of one input. */
static TdInputState state_or_escape(void *ud, const char *text, size_t n) {
  if (demo_is_word(text, n, 0, "escape")) td_ctx_escape(demo_ctx, TD_WHY_MEMORY);
  return demo_state(ud, text, n);
}

/* The way out of the core. */
static void on_escape(void *ud, TdWhy why) {
  (void)ud, (void)why;
  longjmp(escaped, 1);
}

/* What the demo does when its background job writes: shows it above the prompt. */
static void on_job(void *ud) {
  char line[256];
  ssize_t n = read(job[0], line, sizeof line);
  (void)ud;
  if (n > 0) td_line_print_above(demo, line, (size_t)n);
}

/* Shows a result on one line, newlines as `|`. */
static void echo(const char *what, const char *text) {
  printf("%s <", what);
  for (; *text; text++) putchar(*text == '\n' ? '|' : *text);
  printf(">\n");
  fflush(stdout);
}

/* Does what a few inputs mean to the demo. */
static void obey(const char *text) {
  if (strcmp(text, "job") == 0 && fork() == 0) {
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    ssize_t n = write(job[1], "from the job\n", 13);
    _exit(n != 13);
  }
  if (strcmp(text, "partial") == 0) printf("no newline");
  if (strcmp(text, "ghost off") == 0) td_line_set_ghost(demo, false);
  if (strcmp(text, "exit now") == 0) exit(7);
  fflush(stdout);
}

/* Whether the terminal is as a shell wants it. */
static bool is_cooked(void) {
  struct termios mode;
  return tcgetattr(0, &mode) == 0 && mode.c_lflag & ICANON && mode.c_lflag & ECHO;
}

/* Reads inputs and echoes them until the end of the file. */
static int run_demo(void) {
  TdLineHooks hooks = demo_hooks;
  const char *text;
  size_t n;
  hooks.state = state_or_escape;
  demo_ctx = td_ctx_new();
  td_ctx_set_escape(demo_ctx, on_escape, NULL);
  demo = td_line_new(demo_ctx, &hooks, 0, 1);
  if (pipe(job) == 0) td_line_watch(demo, job[0], on_job, NULL);
  if (setjmp(escaped)) {
    td_arena_free_scratch(demo_ctx);
    echo("escaped", is_cooked() ? "cooked" : "raw");
  }
  for (;;) {
    TdLineResult result = td_line_read(demo, "tide> ", " ..> ", &text, &n);
    if (result == TD_LINE_EOF) break;
    echo(result == TD_LINE_TEXT ? "got" : "gave up", text);
    obey(text);
  }
  printf("bye\n");
  td_line_free(demo);
  size_t left = td_ctx_bytes(demo_ctx);
  td_ctx_free(demo_ctx);
  return left != 0;
}

/* Runs the demo as the job of a shell that reports how it ends or stops; any line is `fg`. */
static int run_shell(void) {
  int status;
  char line[64];
  pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(0, getpid());
    signal(SIGTTOU, SIG_DFL);
    exit(run_demo());
  }
  signal(SIGTTOU, SIG_IGN);
  printf("pid %d\n", (int)pid);
  fflush(stdout);
  while (waitpid(pid, &status, WUNTRACED) == pid) {
    tcsetpgrp(0, getpgrp());
    printf("[%s %d %s]\n",
           WIFSTOPPED(status)    ? "stopped"
           : WIFSIGNALED(status) ? "killed"
                                 : "exit",
           WIFSIGNALED(status) ? WTERMSIG(status)
           : WIFEXITED(status) ? WEXITSTATUS(status)
                               : 0,
           is_cooked() ? "cooked" : "raw");
    fflush(stdout);
    if (!WIFSTOPPED(status)) break;
    if (read(0, line, sizeof line) <= 0) break;
    tcsetpgrp(0, pid);
    kill(-pid, SIGCONT);
  }
  return 0;
}

/* ---- the parent: sends bytes, looks at the screen ---- */

/* Reads what the child wrote until it is quiet for `quiet` milliseconds; false when nothing came.
 */
static bool drain(int quiet) {
  char block[65536];
  bool came = false;
  while (poll(&(struct pollfd){.fd = t.fd, .events = POLLIN}, 1, quiet) > 0) {
    ssize_t n = read(t.fd, block, sizeof block);
    if (n <= 0) return came;
    vt_feed(&t.vt, block, (size_t)n);
    came = true;
  }
  return came;
}

/* Sends bytes as if they were typed. */
static void type(const char *s) {
  for (size_t n = strlen(s); n > 0;) {
    ssize_t done = write(t.fd, s, n);
    if (done <= 0) return;
    s += done;
    n -= (size_t)done;
  }
}

/* The whole screen with nothing between rows and no blanks: what it says at any width. */
static const char *screen(void) {
  static char out[VT_ROWS * VT_COLS * 4];
  size_t n = 0;
  for (int r = 0; r < t.vt.rows; r++)
    for (const char *s = vt_row(&t.vt, r); *s; s++)
      if (*s != ' ') out[n++] = *s;
  out[n] = 0;
  return out;
}

/* Whether the screen shows text, blanks and line ends aside. */
static bool shows(const char *text) {
  char packed[1024];
  size_t n = 0;
  for (; *text; text++)
    if (*text != ' ') packed[n++] = *text;
  packed[n] = 0;
  return strstr(screen(), packed) != NULL;
}

/* Shows the screen. */
static void dump(void) {
  for (int r = 0; r < t.vt.rows; r++)
    if (*vt_row(&t.vt, r) || r == t.vt.row) printf("#  %2d |%s\n", r, vt_row(&t.vt, r));
  printf("#  cursor %d,%d\n", t.vt.row, t.vt.col);
}

/* A fact of this run; the screen is shown when it does not hold. */
static void fact(bool holds, const char *fmt, ...) {
  char name[256];
  va_list ap;
  int n = snprintf(name, sizeof name, "%s: ", t.name);
  va_start(ap, fmt);
  vsnprintf(name + n, sizeof name - (size_t)n, fmt, ap);
  va_end(ap);
  ok(holds, name);
  if (!holds) dump();
}

/* Waits until the screen shows text, and then for quiet. */
static bool wait_for(const char *text) {
  for (int waited = 0; waited < PATIENCE_MS && !shows(text); waited += 20) drain(20);
  drain(CALM_MS);
  return shows(text);
}

/* Waits until the screen no longer shows text. */
static bool wait_gone(const char *text) {
  for (int waited = 0; waited < PATIENCE_MS && shows(text); waited += 20) drain(20);
  drain(CALM_MS);
  return !shows(text);
}

/* Waits until the cursor stands at column col. */
static bool wait_col(int col) {
  for (int waited = 0; waited < PATIENCE_MS && t.vt.col != col; waited += 20) drain(20);
  drain(CALM_MS);
  return t.vt.col == col;
}

/* Types s and expects the screen to show text. */
static void expect(const char *s, const char *text, const char *name) {
  type(s);
  fact(wait_for(text), "%s", name);
}

/* Waits for quiet. */
static void settle(void) {
  drain(QUIET_MS);
}

/* Clears the screen to begin with nothing on it. */
static void fresh(void) {
  type("\x0c");
  settle();
}

/* Gives the child's terminal a new size. */
static void set_size(int rows, int cols) {
  struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};
  ioctl(t.fd, TIOCSWINSZ, &size);
}

/* The demo's process id, which the shell prints, before or after the demo prompts. Ends the test
 * without one: signals would go to whoever runs it. */
static pid_t demo_pid(void) {
  bool told = wait_for("pid ");
  int r = vt_find(&t.vt, 0, "pid ");
  pid_t pid = r < 0 ? 0 : atoi(vt_row(&t.vt, r) + 4);
  if (told && pid > 1) return pid;
  fact(false, "the shell tells the demo's process");
  kill(t.shell, SIGKILL);
  exit(1);
}

/* Starts the shell and the demo on a new terminal. Returns the demo's process id. */
static pid_t start(int cols, bool is_summing) {
  t.fd = posix_openpt(O_RDWR | O_NOCTTY);
  grantpt(t.fd);
  unlockpt(t.fd);
  const char *name = ptsname(t.fd);
  vt_init(&t.vt, PLAIN_ROWS, cols);
  t.vt.is_summing = is_summing;
  fflush(stdout);
  t.shell = fork();
  if (t.shell == 0) {
    setsid();
    int fd = open(name, O_RDWR);
    struct winsize size = {.ws_row = PLAIN_ROWS, .ws_col = (unsigned short)cols};
    ioctl(fd, TIOCSWINSZ, &size);
    for (int i = 0; i < 3; i++) dup2(fd, i);
    close(t.fd);
    exit(run_shell());
  }
  wait_for("tide>");
  return demo_pid();
}

/* Waits for the end of the shell. */
static void finish(void) {
  int status;
  for (int i = 0; i < 100 && waitpid(t.shell, &status, WNOHANG) == 0; i++) drain(50);
  close(t.fd);
}

#endif
