/* job.c - jobs: code that runs in a copy of the session, beside the prompt. What it prints and
 * how it ended is told above the prompt when it ends; what it compiled stays in the cache. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/host/child.h"
#include "bind/prompt/prompt.h"

#define MOST 64        /* jobs that are known */
#define TOLD (1 << 16) /* bytes of what a job printed that are told */
#define CLASS_JOBS "tide.jobs"

typedef enum { RUNS, DONE, FAILED, STOPPED } State;
static const char *const states[] = {"runs", "done", "failed", "stopped"};

typedef struct Job {
  pid_t pid; /* of the process that waits for the one that works; they are a group */
  int out;   /* the file of what it prints */
  char *code;
  State state;
  bool is_told;
  int status; /* of waitpid */
  struct timespec since;
  double took; /* seconds */
} Job;

/* How job `number` ended, as waitpid says it. */
typedef struct Word {
  int number, status;
} Word;

/* The jobs of this process; a copy has none. */
static struct {
  Job job[MOST];
  int n;
  int bell[2]; /* a Word comes through it when a job has ended */
  bool is_open, is_copy;
} jobs;

static double seconds_since(struct timespec t) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - t.tv_sec) + (double)(now.tv_nsec - t.tv_nsec) * 1e-9;
}

/* Makes the pipe through which ends are told; false with errno. */
static bool open_bell(void) {
  if (jobs.is_open) return true;
  if (pipe(jobs.bell) < 0) return false;
  for (int i = 0; i < 2; i++) fcntl(jobs.bell[i], F_SETFD, FD_CLOEXEC);
  fcntl(jobs.bell[0], F_SETFL, O_NONBLOCK);
  jobs.is_open = true;
  return true;
}

int td_job_bell(void) {
  return jobs.is_open ? jobs.bell[0] : -1;
}

/* A file without a name, or -1 with errno. */
static int open_output(void) {
  FILE *f = tmpfile();
  int fd = f ? fcntl(fileno(f), F_DUPFD_CLOEXEC, 3) : -1;
  if (f) fclose(f);
  return fd;
}

/* In the copy: runs the code with its output in file `out` and leaves. */
_Noreturn static void work(lua_State *L, const char *code, int out) {
  int nothing = open("/dev/null", O_RDONLY);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  jobs.is_copy = true;
  jobs.n = 0;
  bool ok = td_prompt_run(L, code, strlen(code));
  fflush(stdout);
  fflush(stderr);
  td_child_stop_all();
  _exit(ok ? 0 : 1);
}

/* Whether the process between was asked to end its group. */
static volatile sig_atomic_t is_ending;

static void on_end(int sig) {
  (void)sig;
  is_ending = 1;
}

/* Waits until a process has ended; has the group end when it is asked to, or the session is gone
 * before. Who works ends its compilers then, which are groups of their own, or is killed after half
 * a second. */
static int wait_for(pid_t worker, pid_t session) {
  int status = 1, naps = 25;
  const struct timespec nap = {0, 20 * 1000 * 1000};
  while (worker > 0 && waitpid(worker, &status, WNOHANG) == 0) {
    if (getppid() != session && !is_ending) kill(0, SIGTERM);
    if (is_ending && naps-- == 0) kill(0, SIGKILL);
    nanosleep(&nap, NULL);
  }
  return status;
}

/* In the process between: has a copy work, waits for it, and says how it ended. */
_Noreturn static void attend(lua_State *L, int number, const char *code, int out, pid_t session) {
  setpgid(0, 0);
  signal(SIGHUP, SIG_DFL);
  signal(SIGTERM, on_end);
  pid_t worker = fork();
  if (worker == 0) work(L, code, out);
  Word word = {number, wait_for(worker, session)};
  if (is_ending) _exit(1);
  ssize_t done = write(jobs.bell[1], &word, sizeof word);
  _exit(done != (ssize_t)sizeof word);
}

/* A place for another job: a new one, or that of the oldest which does not run; NULL: none. */
static Job *free_place(void) {
  if (jobs.n < MOST) return &jobs.job[jobs.n++];
  Job *oldest = NULL;
  for (int i = 0; i < MOST; i++)
    if (jobs.job[i].is_told && (!oldest || jobs.job[i].since.tv_sec < oldest->since.tv_sec))
      oldest = &jobs.job[i];
  return oldest;
}

int td_job_start(lua_State *L, const char *code) {
  if (jobs.is_copy) td_bind_fail(L, "job", "a job does not start others");
  int out = open_bell() ? open_output() : -1;
  Job *k = out < 0 ? NULL : free_place();
  if (!k)
    td_bind_fail(L, "job", "no job can be started: %s", out < 0 ? strerror(errno) : "too many");
  int number = (int)(k - jobs.job) + 1;
  TdArena *own = td_bind_enter(L)->session->arena;
  *k = (Job){.out = out, .code = td_arena_strdup(own, code), .state = RUNS};
  clock_gettime(CLOCK_MONOTONIC, &k->since);
  fflush(stdout);
  fflush(stderr);
  pid_t session = getpid();
  k->pid = fork();
  if (k->pid == 0) attend(L, number, code, out, session);
  if (k->pid > 0) {
    setpgid(k->pid, k->pid);
    return number;
  }
  k->state = FAILED;
  close(out);
  return td_bind_fail(L, "job", "no job can be started: %s", strerror(errno));
}

/* Puts what a job printed, as far as TOLD bytes go. */
static void put_output(TdText *text, const Job *k) {
  char block[4096];
  off_t at = 0, all = lseek(k->out, 0, SEEK_END);
  for (ssize_t n; at < TOLD && (n = pread(k->out, block, sizeof block, at)) > 0; at += n)
    td_text_putn(text, block, (size_t)n);
  if (text->n && text->at[text->n - 1] != '\n') td_text_putc(text, '\n');
  if (at < all) td_text_putf(text, ".. and %" PRId64 " more bytes\n", (int64_t)(all - at));
}

/* Puts "[1] done after 2.1 s: code". */
static void put_line(TdText *text, const Job *k) {
  double s = k->state == RUNS ? seconds_since(k->since) : k->took;
  int tenths = (int)(s * 10);
  td_text_putf(text, "[%d] %s %s %d.%d s: %.*s%s\n", (int)(k - jobs.job) + 1, states[k->state],
               k->state == RUNS ? "for" : "after", tenths / 10, tenths % 10,
               (int)strcspn(k->code, "\n"), k->code, strchr(k->code, '\n') ? " .." : "");
}

/* Notes that a job ended. */
static void end_job(Job *k, State state) {
  k->state = state;
  k->took = seconds_since(k->since);
  while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR) continue;
}

/* Notes which jobs have ended. */
static void note_ends(void) {
  Word word;
  while (jobs.is_open && read(jobs.bell[0], &word, sizeof word) == (ssize_t)sizeof word) {
    Job *k = &jobs.job[word.number - 1];
    if (k->state != RUNS) continue;
    k->status = word.status;
    end_job(k, word.status == 0 ? DONE : FAILED);
  }
}

void td_job_hear(TdText *text) {
  note_ends();
  for (Job *k = jobs.job; k < jobs.job + jobs.n; k++) {
    if (k->state == RUNS || k->is_told) continue;
    put_output(text, k);
    if (WIFSIGNALED(k->status))
      td_text_putf(text, "it was ended by signal %d\n", WTERMSIG(k->status));
    put_line(text, k);
    close(k->out);
    k->is_told = true;
  }
}

/* Ends a job that runs, with all that it started. */
static void stop(Job *k) {
  kill(-k->pid, SIGTERM);
  end_job(k, STOPPED);
  close(k->out);
  k->is_told = true;
}

void td_job_stop(lua_State *L, const char *number, TdText *text) {
  char *end;
  long n = strtol(number, &end, 10);
  if (*end || n < 1 || n > jobs.n || jobs.job[n - 1].state != RUNS)
    td_bind_fail(L, "job", "no job '%s' runs; jobs() lists them", number);
  stop(&jobs.job[n - 1]);
  put_line(text, &jobs.job[n - 1]);
}

void td_job_close(void) {
  for (int i = 0; i < jobs.n; i++)
    if (jobs.job[i].state == RUNS) stop(&jobs.job[i]);
  jobs.n = 0;
}

/* tide.jobs(): a list of {state =, seconds =, code =} by number, which draws itself. */
static int l_jobs(lua_State *L) {
  TdText text = td_text_new(td_bind_arena(L));
  note_ends();
  lua_createtable(L, jobs.n, 1);
  for (int i = 0; i < jobs.n; i++) {
    const Job *k = &jobs.job[i];
    put_line(&text, k);
    lua_createtable(L, 0, 3);
    td_bind_set_string(L, "state", states[k->state]);
    td_bind_set_number(L, "seconds", k->state == RUNS ? seconds_since(k->since) : k->took);
    td_bind_set_string(L, "code", k->code);
    lua_rawseti(L, -2, i + 1);
  }
  td_bind_set_string(L, "text", jobs.n ? td_text_str(&text) : "no jobs\n");
  luaL_setmetatable(L, CLASS_JOBS);
  return 1;
}

static int l_tostring(lua_State *L) {
  lua_getfield(L, 1, "text");
  return 1;
}

void td_bind_open_job(lua_State *L) {
  static const luaL_Reg meta[] = {{"__tostring", l_tostring}, {NULL, NULL}};
  td_bind_class(L, CLASS_JOBS, meta, NULL);
  lua_pop(L, 1);
  lua_pushcfunction(L, l_jobs);
  lua_setfield(L, -2, "jobs");
}
