/* child.c - a program as a child process: found, started in a process group of its own, waited for
 * in short naps that look at the clock and at Ctrl-C. */
#include "backends/host/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alarm.h"

extern char **environ;

/* The process groups that run, of process `owner`; a copy of it has none. 0: a free place. */
static struct { volatile sig_atomic_t group[64], owner; } running;
enum { PLACES = sizeof running.group / sizeof *running.group };

const char *td_child_find(TdArena *a, const char *name) {
  const char *path = getenv("PATH");
  for (const char *s = path ? path : ""; *s;) {
    size_t n = strcspn(s, ":");
    const char *file = td_text_fmt(a, "%.*s/%s", (int)n, s, name);
    if (n && access(file, X_OK) == 0) return file;
    s += n + (s[n] == ':');
  }
  return NULL;
}

const char **td_child_words(TdArena *a, const char *text, const char *otherwise, size_t more,
                            size_t *n) {
  TD_VEC(const char *) word = {0};
  const char *s = text ? text : "";
  s += strspn(s, " \t");
  for (s = *s ? s : otherwise; *s;) {
    size_t len = strcspn(s, " \t");
    td_vec_push(a, &word, td_arena_strndup(a, s, len));
    s += len + strspn(s + len, " \t");
  }
  const char **all = TD_NEWN(a, const char *, word.n + more + 1);
  for (size_t i = 0; i < word.n; i++) all[i] = word.at[i];
  *n = word.n;
  return all;
}

/* The environment with messages in English, which their readers know. */
static char *const *plain_environment(TdArena *a) {
  size_t n = 0;
  while (environ[n]) n++;
  char **plain = TD_NEWN(a, char *, n + 2);
  memcpy(plain, environ, n * sizeof *plain);
  for (size_t i = 0; i < n; i++)
    if (strncmp(plain[i], "LC_ALL=", 7) == 0) plain[i--] = plain[--n];
  plain[n] = td_arena_strdup(a, "LC_ALL=C");
  plain[n + 1] = NULL;
  return plain;
}

/* Starts a command with its output in `log`; 0, or an errno. */
static int start(TdArena *a, const char *const *command, const char *log, pid_t *pid) {
  char *const *environment = plain_environment(a);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attr;
  sigset_t none;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attr);
  sigemptyset(&none);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attr, &none);
  union {
    const char *const *from;
    char *const *to;
  } argv = {command};
  int error = posix_spawnp(pid, command[0], &files, &attr, argv.to, environment);
  posix_spawnattr_destroy(&attr);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

/* Asks a group to end, waits a fifth of a second, in which compilers remove their files, and kills
 * what is left of it. Async-signal-safe. */
static void end_group(pid_t pid) {
  kill(-pid, SIGTERM);
  for (int i = 0; i < 40 && waitpid(pid, NULL, WNOHANG) == 0; i++) poll(NULL, 0, 5);
  kill(-pid, SIGKILL);
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
}

void td_child_stop_all(void) {
  if (running.owner != getpid()) return;
  for (int i = 0; i < PLACES; i++) {
    if (running.group[i]) end_group(running.group[i]);
    running.group[i] = 0;
  }
}

/* Ends all that runs and lets the signal do what it does by itself. */
static void on_end(int sig) {
  td_child_stop_all();
  signal(sig, SIG_DFL);
  raise(sig);
}

/* Has the signals that end this process end what it started too, where nobody else takes them. */
static void watch_ends(void) {
  static const int ends[] = {SIGTERM, SIGHUP, SIGQUIT};
  static bool at_exit;
  if (!at_exit) at_exit = atexit(td_child_stop_all) == 0;
  struct sigaction mine = {.sa_handler = on_end}, old;
  sigfillset(&mine.sa_mask);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
      sigaction(ends[i], &mine, NULL);
}

/* The place that holds a group, 0: a free one; or NULL. */
static volatile sig_atomic_t *place_of(long group) {
  for (int i = 0; i < PLACES; i++)
    if (running.group[i] == group) return &running.group[i];
  return NULL;
}

/* A free place of this process, whose end is watched; or NULL. */
static volatile sig_atomic_t *own_place(void) {
  if (running.owner != getpid())
    for (int i = 0; i < PLACES; i++) running.group[i] = 0;
  running.owner = getpid();
  watch_ends();
  return place_of(0);
}

/* Notes that it does not run any more. */
static void forget(TdChild *k) {
  volatile sig_atomic_t *place = place_of(k->pid);
  if (place) *place = 0;
  k->pid = 0;
}

/* What is to be started: a command, or a function in a copy of this process. */
typedef struct Start {
  TdArena *arena;
  const char *const *command;
  void (*fn)(void *ud);
  void *ud;
  const char *log;
} Start;

void td_child_become_copy(long parent) {
  static const int sig[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT, SIGTERM,
                            SIGHUP,  SIGQUIT, SIGALRM, SIGTSTP, SIGWINCH};
  for (size_t i = 0; i < sizeof sig / sizeof *sig; i++) signal(sig[i], SIG_DFL);
  signal(SIGINT, SIG_IGN);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
}

/* Copies this process, whose copy calls the function; 0, or an errno. */
static int copy(const Start *s, pid_t *pid) {
  pid_t parent = getpid();
  sigset_t none;
  fflush(NULL);
  *pid = fork();
  if (*pid > 0) setpgid(*pid, *pid);
  if (*pid) return *pid < 0 ? errno : 0;
  td_child_become_copy(parent);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  int to = open(s->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (to < 0 || dup2(to, 1) < 0 || dup2(to, 2) < 0) _exit(1);
  s->fn(s->ud);
  _exit(0);
}

/* Starts it, with a place that watches its end. */
static TdChildEnd begin(TdChild *k, const char *name, int seconds, const Start *s) {
  pid_t pid = 0;
  *k = (TdChild){.name = name, .owner = getpid(), .end = td_alarm_now() + seconds};
  volatile sig_atomic_t *place = own_place();
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  if (place)
    k->status = s->fn ? copy(s, &pid) : start(s->arena, s->command, s->log, &pid);
  else
    k->status = EAGAIN;
  if (!k->status) k->pid = *place = pid;
  sigprocmask(SIG_SETMASK, &before, NULL);
  return k->status ? TD_CHILD_ABSENT : TD_CHILD_RUNS;
}

TdChildEnd td_child_start(TdChild *k, TdArena *a, const char *const *command, const char *log,
                          int seconds) {
  return begin(k, command[0], seconds, &(Start){.arena = a, .command = command, .log = log});
}

TdChildEnd td_child_start_copy(TdChild *k, void (*fn)(void *ud), void *ud, const char *name,
                               const char *log, int seconds) {
  return begin(k, name, seconds, &(Start){.fn = fn, .ud = ud, .log = log});
}

void td_child_stop(TdChild *k) {
  if (!k->pid || k->owner != getpid()) return;
  end_group((pid_t)k->pid);
  forget(k);
}

TdChildEnd td_child_look(TdChild *k) {
  int status = 0;
  if (k->owner != getpid()) return TD_CHILD_ABSENT;
  pid_t ended = waitpid((pid_t)k->pid, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) {
    if (td_alarm_now() < k->end) return TD_CHILD_RUNS;
    td_child_stop(k);
    return TD_CHILD_LATE;
  }
  forget(k);
  k->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return k->status ? TD_CHILD_FAILED : TD_CHILD_DONE;
}

/* Looks again and again until it does not run, or the work must stop. */
static TdChildEnd wait_for(TdCtx *c, TdChild *k) {
  struct timespec nap = {0, 200 * 1000};
  for (;;) {
    TdChildEnd how = td_child_look(k);
    if (how != TD_CHILD_RUNS) return how;
    if (td_ctx_must_stop(c)) break;
    nanosleep(&nap, NULL);
    if (nap.tv_nsec < 2 * 1000 * 1000) nap.tv_nsec += nap.tv_nsec / 4;
  }
  td_child_stop(k);
  return TD_CHILD_STOPPED;
}

TdChildEnd td_child_wait(TdCtx *c, TdChild *k) {
  const char *slash = strrchr(k->name, '/');
  TdWork outer = td_ctx_begin_work(c, TD_WORK_CHILD, slash ? slash + 1 : k->name);
  TdChildEnd how = wait_for(c, k);
  td_ctx_end_work(c, outer);
  return how;
}

TdChildEnd td_child_run(TdCtx *c, const char *const *command, const char *log, int seconds,
                        int *status) {
  TdChild k;
  TdArena *scratch = td_arena_scratch(c);
  TdChildEnd how = td_child_start(&k, scratch, command, log, seconds);
  td_arena_free(scratch);
  if (how == TD_CHILD_RUNS) how = td_child_wait(c, &k);
  *status = k.status;
  return how;
}
