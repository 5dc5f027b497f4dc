/* cpu_cache_test.c - the folder of compiled programs: found again, shared, kept small; compilers
 * that are missing, fail, or hang. */
/* [slow] */
#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/cpu/cpu.h"
#include "build_ir.h"

static char folder[] = "/tmp/tide-cache-XXXXXX";

/* What /proc/cpuinfo is replaced by, or NULL. */
static const char *processor;

/* fopen is linked as this. */
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode) {
  return __real_fopen(processor && strcmp(path, "/proc/cpuinfo") == 0 ? processor : path, mode);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* x[0] = n. */
static const TdProg *constant(int64_t n) {
  TdSym x = arg("x");
  return PROG(
      KERNEL("constant", BLOCK(store(LD(x, B.i32, num(0)), lit(B.i32, n))), P(x, T(B.i32, 1))));
}

/* Compiles and runs constant(n); the code of the failure, or "". *ms is the time to compile. */
static const char *attempt(int64_t n, const TdCpuOptions *o, double *ms) {
  TdArena *a = td_arena_new(B.ctx);
  TdDiag d = {.arena = B.a};
  const TdProg *p = constant(n);
  TdTensor *x = td_tensor_new(B.a, T(B.i32, 1), false);
  int64_t at = 0;
  double from = now();
  TdCpu *c = td_cpu_new(a, p, o, &d);
  if (ms) *ms = now() - from;
  bool good = c && td_cpu_call(c, &(TdCallArg){.tensor = x}, 1, &d);
  if (good && td_tensor_get(x, &at) != (uint64_t)n) d.code = "wrong";
  if (d.kind && getenv("TIDE_TEST_VERBOSE")) printf("# %s\n", d.message);
  td_arena_free(a);
  return d.code ? d.code : "";
}

/* Files in the folder whose names end so; *bytes their size. */
static int count_files(const char *end, long *bytes) {
  DIR *dir = opendir(folder);
  int n = 0;
  char path[600];
  struct stat st;
  if (bytes) *bytes = 0;
  for (const struct dirent *e; dir && (e = readdir(dir));) {
    size_t k = strlen(e->d_name);
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (k < strlen(end) || strcmp(e->d_name + k - strlen(end), end) != 0) continue;
    n++;
    if (bytes && stat(path, &st) == 0) *bytes += (long)st.st_size;
  }
  closedir(dir);
  return n;
}

/* Whether nothing but programs and compilers' names is left. */
static bool is_clean(void) {
  return count_files("", NULL) == count_files(".so", NULL) + count_files(".cc", NULL) + 2;
}

/* A compiler that is a script. */
static void pretend(const char *script) {
  char path[600];
  snprintf(path, sizeof path, "%s.sh", folder);
  FILE *f = fopen(path, "w");
  fprintf(f, "#!/bin/sh\n%s\n", script);
  fclose(f);
  chmod(path, 0700);
  setenv("TIDE_CC", path, 1);
}

/* Has every compiler start a program that sleeps, and note its number. */
static void pretend_to_sleep(void) {
  pretend("case $1 in --version) echo sleeper;; *) sleep 100 & echo $! >\"$0.pid\"; wait; esac");
}

/* Whether the program that sleeps was started, and has been ended. */
static bool sleeper_is_gone(void) {
  char path[600];
  int pid = 0, alive = 1;
  snprintf(path, sizeof path, "%s.sh.pid", folder);
  FILE *f = fopen(path, "r");
  bool started = f && fscanf(f, "%d", &pid) == 1;
  if (f) fclose(f);
  remove(path);
  snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
  for (int tries = 0; alive && tries < 100; tries++) {
    f = fopen(path, "r");
    alive = f && fgetc(f) != EOF;
    if (f) fclose(f);
    if (alive) nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  }
  return started && !alive;
}

static void test_found_again(void) {
  const TdCpuOptions o = {.tier = TD_TIER_CC};
  double first, second;
  is_text(attempt(7, &o, &first), "", "compiled by the system's compiler");
  is_text(attempt(7, &o, &second), "", "found again");
  printf("# %.1f ms, then %.2f ms\n", first, second);
  ok(count_files(".so", NULL) == 1 && second < first / 4, "one file, and no second compilation");
  struct stat st;
  ok(stat(folder, &st) == 0 && (st.st_mode & 0777) == 0700, "the folder is the user's alone");
  ok(is_clean(), "nothing else is left");
}

/* How many programs are new in the folder when constant(80) has run; -1 when it fails. */
static int compiled_anew(void) {
  const TdCpuOptions o = {.tier = TD_TIER_CC};
  int before = count_files(".so", NULL);
  return *attempt(80, &o, NULL) ? -1 : count_files(".so", NULL) - before;
}

/* The compiler's version and its flags are part of what a program is found by. */
static void test_key(void) {
  pretend("case $1 in --version) echo cc 1.0;; *) exec cc \"$@\"; esac");
  ok(compiled_anew() == 1 && compiled_anew() == 0, "one version of a compiler");
  pretend("case $1 in --version) echo cc 1.0.1;; *) exec cc \"$@\"; esac");
  ok(compiled_anew() == 1 && compiled_anew() == 0, "another version is another compiler");
  char command[600];
  snprintf(command, sizeof command, "%s.sh -g0", folder);
  setenv("TIDE_CC", command, 1);
  ok(compiled_anew() == 1 && compiled_anew() == 0, "and so are other flags");
  setenv("TIDE_CC", "cc", 1);
}

/* Pretends that the processor says this of itself. */
static void pretend_processor(const char *model, const char *flags) {
  static char path[600];
  snprintf(path, sizeof path, "%s.cpuinfo", folder);
  FILE *f = fopen(path, "w");
  fprintf(f, "processor\t: 0\nmodel name\t: %s\ncpu MHz\t\t: 2000\nflags\t\t: %s\n", model, flags);
  fclose(f);
  processor = path;
}

/* So is the processor, whose own instructions a program may hold. */
static void test_processor(void) {
  ok(compiled_anew() >= 0 && compiled_anew() == 0, "the same processor");
  pretend_processor("One", "fpu sse2");
  ok(compiled_anew() == 1 && compiled_anew() == 0, "another processor");
  pretend_processor("One", "fpu sse2 avx2");
  ok(compiled_anew() == 1 && compiled_anew() == 0, "the same with more instructions");
  pretend_processor("Two", "fpu sse2 avx2");
  ok(compiled_anew() == 1 && compiled_anew() == 0, "another model with the same");
  remove(processor);
  processor = NULL;
}

/* Two processes compile the same five programs at the same time. */
static void test_processes(void) {
  const TdCpuOptions o = {.tier = TD_TIER_CC};
  fflush(stdout);
  pid_t child = fork();
  int wrong = 0, status = 1;
  for (int n = 20; n < 25; n++) wrong += *attempt(n, &o, NULL) != 0;
  if (child == 0) _exit(wrong);
  waitpid(child, &status, 0);
  ok(child > 0 && wrong == 0 && status == 0, "two processes at once");
  ok(count_files(".so", NULL) == 6 && is_clean(), "share their files");
}

static void test_small(void) {
  long bytes;
  count_files(".so", &bytes);
  TdCpuOptions o = {.tier = TD_TIER_CC, .cache_bytes = bytes / 2};
  is_text(attempt(99, &o, NULL), "", "a program that does not fit any more");
  long after;
  int n = count_files(".so", &after);
  ok(n > 0 && after <= bytes / 2, "has the oldest go");
  double ms;
  is_text(attempt(99, &o, &ms), "", "and stays itself");
}

static void test_compilers(void) {
  const TdCpuOptions cc = {.tier = TD_TIER_CC, .seconds = 1}, any = {.tier = TD_TIER_AUTO};
  setenv("TIDE_CC", "/nonexistent/compiler -O9", 1);
  is_text(attempt(50, &cc, NULL), "no-compiler", "a compiler that is not there");
  is_text(attempt(51, &any, NULL), "", "is not needed for little work");
  pretend(
      "case $1 in --version) echo pretender;; *) echo 'x.c:3: error: no such word'; exit 1; esac");
  is_text(attempt(52, &cc, NULL), "compiler-failed", "a compiler that refuses");
  pretend_to_sleep();
  is_text(attempt(53, &cc, NULL), "compiler-time", "a compiler that hangs");
  ok(sleeper_is_gone(), "is killed with what it started");
  ok(is_clean(), "and leaves no files");
  setenv("TIDE_CC", "cc -w -g0", 1);
  is_text(attempt(54, &cc, NULL), "", "a compiler with arguments");
  setenv("TIDE_CC", "cc", 1);
}

/* Calls constant(n) until it runs in this tier, or for so many seconds; whether all is right. */
static bool call_until(int64_t n, TdTier tier, double seconds) {
  TdArena *a = td_arena_new(B.ctx);
  TdDiag d = {.arena = B.a};
  TdTensor *x = td_tensor_new(B.a, T(B.i32, 1), false);
  int64_t at = 0;
  double end = now() + seconds * 1e3;
  TdCpu *c = td_cpu_new(a, constant(n), NULL, &d);
  bool good = c && td_cpu_tier(c) == TD_TIER_TCC;
  while (good && td_cpu_tier(c) != tier && now() < end) {
    td_tensor_put(x, &at, 0);
    good = td_cpu_call(c, &(TdCallArg){.tensor = x}, 1, &d) && td_tensor_get(x, &at) == (uint64_t)n;
  }
  good = good && !d.kind && (td_cpu_tier(c) == tier || (int)tier < 0);
  td_arena_free(a);
  return good;
}

/* A program that is called often is compiled beside its calls. */
static void test_moves_up(void) {
  const TdTier never = (TdTier)-1;
  ok(call_until(70, TD_TIER_CC, 60), "many calls: to the system's compiler");
  ok(is_clean(), "which leaves no files");
  int files = count_files(".so", NULL);
  ok(call_until(70, TD_TIER_CC, 60) && count_files(".so", NULL) == files,
     "and again, what is in the folder");
  setenv("TIDE_CC", "/nonexistent/compiler", 1);
  ok(call_until(71, never, 1), "without a compiler they stay in memory");
  pretend("case $1 in --version) echo pretender;; *) exit 1; esac");
  ok(call_until(72, never, 1) && is_clean(), "and with one that refuses");
  pretend_to_sleep();
  ok(call_until(73, never, 1) && sleeper_is_gone(), "one that hangs is killed with the program");
  ok(is_clean(), "and leaves no files");
  setenv("TIDE_CC", "cc", 1);
}

static void test_folders(void) {
  const TdCpuOptions cc = {.tier = TD_TIER_CC};
  chmod(folder, 0777);
  is_text(attempt(60, &cc, NULL), "cache", "a folder that others may write to");
  chmod(folder, 0700);
  setenv("TIDE_CACHE", "/proc/no/such/folder", 1);
  is_text(attempt(61, &cc, NULL), "cache", "a folder that cannot be made");
  unsetenv("TIDE_CACHE");
  setenv("HOME", "/proc/no/such/home", 1);
  setenv("TMPDIR", folder, 1);
  is_text(attempt(62, &cc, NULL), "", "a home that cannot be written: the folder is in TMPDIR");
  is_text(attempt(62, &cc, NULL), "", "and is found again");
  setenv("XDG_CACHE_HOME", "/proc/no/such/cache", 1);
  is_text(attempt(62, &cc, NULL), "", "a folder of caches that cannot be written");
  setenv("TIDE_CACHE", folder, 1);
}

int main(void) {
  if (!mkdtemp(folder)) return 1;
  setenv("TIDE_CACHE", folder, 1);
  build_open();
  test_found_again();
  test_processes();
  test_small();
  test_compilers();
  test_key();
  test_processor();
  test_moves_up();
  test_folders();
  build_close();
  char command[100];
  snprintf(command, sizeof command, "rm -rf '%s' '%s.sh'", folder, folder);
  return system(command) || done_testing();
}
