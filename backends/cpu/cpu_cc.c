/* cpu_cc.c - the system's compiler as a child process: found, asked who it is, run for a limited
   time. */
#include "backends/cpu/cpu_code.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

const char *const *td_cpu_cc_command(TdArena *a) {
  const char *given = getenv("TIDE_CC");
  TD_VEC(const char *) word = {0};
  for (const char *s = given && *given ? given : "cc"; *s;) {
    size_t n = strcspn(s, " \t");
    if (n) td_vec_push(a, &word, td_arena_strndup(a, s, n));
    s += n + strspn(s + n, " \t");
  }
  td_vec_push(a, &word, NULL);
  return word.at;
}

/* Starts a command with its output in `log`; 0, or an errno. */
static int start(const char *const *command, const char *log, pid_t *pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attr;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attr);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attr, &none);
  union {
    const char *const *from;
    char *const *to;
  } argv = {command};
  int error = posix_spawnp(pid, command[0], &files, &attr, argv.to, environ);
  posix_spawnattr_destroy(&attr);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Waits for the child; whether it ended before the limit and before Ctrl-C, else it is killed with
   all it started. */
static bool wait_for(TdCtx *c, pid_t pid, int seconds, int *status) {
  double end = now() + seconds;
  struct timespec nap = {0, 200 * 1000};
  for (;;) {
    pid_t ended = waitpid(pid, status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) return true;
    if (td_ctx_interrupted(c) || now() > end) break;
    nanosleep(&nap, NULL);
    if (nap.tv_nsec < 2 * 1000 * 1000) nap.tv_nsec += nap.tv_nsec / 4;
  }
  kill(-pid, SIGKILL);
  while (waitpid(pid, status, 0) < 0 && errno == EINTR) continue;
  return false;
}

int td_cpu_cc_run(TdCtx *c, const char *const *command, const char *log, int seconds, TdDiag *d) {
  pid_t pid;
  int status = 0, error = start(command, log, &pid);
  if (error) {
    td_diag_set(d, TD_USAGE, "no-compiler", (TdLoc){0}, "cannot run %s: %s", command[0],
                strerror(error));
    td_diag_help(d, "install a C compiler, or name one in TIDE_CC");
    return -1;
  }
  if (!wait_for(c, pid, seconds, &status)) {
    if (td_ctx_interrupted(c))
      td_diag_set(d, TD_LIMIT, "interrupted", (TdLoc){0}, "interrupted");
    else
      td_diag_set(d, TD_LIMIT, "compiler-time", (TdLoc){0}, "%s did not end within %d s",
                  command[0], seconds);
    return -1;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

const char *const *td_cpu_cc_words(TdArena *a, const char *from, const char *to, int threads,
                                   const TdCpuInput *in) {
  static const char *const flags[] = {
      "-std=c11",        "-O3", "-march=native", "-ffp-contract=off",
      "-fno-math-errno", "-w",  "-shared",       "-fPIC"};
  /* The threads that OpenMP keeps must find its code, so such a program stays loaded. */
  static const char *const parallel[] = {"-fopenmp", "-Wl,-z,nodelete"};
  TD_VEC(const char *) word = {0};
  for (const char *const *s = td_cpu_cc_command(a); *s; s++) td_vec_push(a, &word, *s);
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) td_vec_push(a, &word, flags[i]);
  for (int i = 0; threads > 1 && i < 2; i++) td_vec_push(a, &word, parallel[i]);
  td_vec_push(a, &word, td_text_fmt(a, "-DTD_THREADS=%d", threads));
  if (from) {
    const char *const files[] = {"-o", to, from};
    for (int i = 0; i < 3; i++) td_vec_push(a, &word, files[i]);
  }
  for (size_t i = 0; i < in->nforeign; i++)
    td_vec_push(a, &word,
                in->foreign[i]->source ? in->foreign[i]->source : in->foreign[i]->library);
  td_vec_push(a, &word, "-lm");
  td_vec_push(a, &word, NULL);
  return word.at;
}
