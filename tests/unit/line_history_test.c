/* line_history_test.c - the history file that sessions share. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "repl/history.h"
#include "tests/unit/tap.h"

static TdCtx *ctx;
static TdArena *arena;

/* Whether entry i is this text. */
static bool entry_is(const TdHistory *h, size_t i, const char *text) {
  if (i >= td_history_count(h)) return false;
  const TdEntry *e = td_history_at(h, i);
  return e->n == strlen(text) && memcmp(e->text, text, e->n) == 0;
}

/* Adds a text to a history. */
static void add(TdHistory *h, const char *text, int64_t when) {
  td_history_add(h, text, strlen(text), when);
}

static void test_history(const char *dir) {
  const char *path = td_text_fmt(arena, "%s/deep/er/history", dir);
  TdHistory *a = td_history_new(ctx, path, 8), *b = td_history_new(ctx, path, 8);
  struct stat st;
  add(a, "one", 100);
  add(b, "two\n\tlines\n\n@end", 200);
  add(a, "three", 300);
  add(a, "three", 301);
  add(a, " \n", 302);
  td_history_sync(b);
  ok(td_history_count(b) == 3 && entry_is(b, 0, "one") && entry_is(b, 2, "three"),
     "history: two sessions share it, in order");
  ok(entry_is(a, 1, "two\n\tlines\n\n@end") && td_history_at(a, 1)->time == 200,
     "history: lines, tabs and times come back");
  ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600, "history: private");
  ok(td_history_find(a, 3, -1, "t", 1, "", 0) == 2 &&
         td_history_find(a, 2, -1, "t", 1, "", 0) == 1 &&
         td_history_find(a, 1, -1, "t", 1, "", 0) == TD_NO_ENTRY,
     "history: older entries that start alike");
  ok(td_history_find(a, 3, -1, "t", 1, "three", 5) == 1 &&
         td_history_find(a, 0, 1, "th", 2, "", 0) == 2,
     "history: but not the same one; newer ones");
  for (int i = 0; i < 30; i++) add(i % 2 ? a : b, td_text_fmt(arena, "n%d", i), i);
  TdHistory *c = td_history_new(ctx, path, 8);
  td_history_sync(a);
  ok(td_history_count(a) <= 16 && td_history_count(c) <= 16 &&
         entry_is(c, td_history_count(c) - 1, "n29") && entry_is(a, td_history_count(a) - 1, "n29"),
     "history: capped, and both sessions go on");
  td_history_free(a);
  td_history_free(b);
  td_history_free(c);
}

/* Four sessions write at once. */
static void test_history_race(const char *dir) {
  enum { N_WRITERS = 4, N_EACH = 200 };
  const char *path = td_text_fmt(arena, "%s/race", dir);
  int next[N_WRITERS] = {0}, w, k, good = 0;
  fflush(stdout);
  for (w = 0; w < N_WRITERS; w++) {
    if (fork() != 0) continue;
    TdHistory *h = td_history_new(ctx, path, 10000);
    for (k = 0; k < N_EACH; k++) add(h, td_text_fmt(arena, "writer %d\nentry %d", w, k), k);
    _exit(0);
  }
  while (wait(NULL) > 0) continue;
  TdHistory *h = td_history_new(ctx, path, 10000);
  for (size_t i = 0; i < td_history_count(h); i++) {
    const char *text = td_arena_strndup(arena, td_history_at(h, i)->text, td_history_at(h, i)->n);
    if (sscanf(text, "writer %d\nentry %d", &w, &k) == 2 && next[w]++ == k) good++;
  }
  ok(good == N_WRITERS * N_EACH, "history: four writers at once lose nothing");
  td_history_free(h);
}

/* Another session holds the lock and puts a new file in place: an entry waits for the lock, then
 * goes to the new file. */
static void test_history_lock(const char *dir) {
  const char *path = td_text_fmt(arena, "%s/locked", dir), *new = td_text_fmt(arena, "%s.x", path);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  TdHistory *h = td_history_new(ctx, path, 100);
  add(h, "old", 1);
  int fd = open(path, O_RDWR), new_fd = open(new, O_RDWR | O_CREAT, 0600);
  bool locked = fcntl(fd, F_SETLK, &lock) == 0 && write(new_fd, "@5\n\tkept\n", 9) == 9;
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    add(h, "late", 2);
    _exit(0);
  }
  nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
  ok(locked && waitpid(pid, NULL, WNOHANG) == 0, "history: an entry waits for the lock");
  bool renamed = rename(new, path) == 0;
  close(fd);
  close(new_fd);
  waitpid(pid, NULL, 0);
  td_history_sync(h);
  ok(renamed && td_history_count(h) == 2 && entry_is(h, 0, "kept") && entry_is(h, 1, "late"),
     "history: and goes to the file that is there then");
  td_history_free(h);
}

static void test_history_path(const char *dir) {
  setenv("HOME", "/home/me", 1);
  unsetenv("XDG_STATE_HOME");
  unsetenv("TIDE_HISTORY");
  is_text(td_history_path(arena), "/home/me/.local/state/tide/history", "history: at home");
  setenv("XDG_STATE_HOME", "/state", 1);
  is_text(td_history_path(arena), "/state/tide/history", "history: in the state directory");
  setenv("TIDE_HISTORY", "mine", 1);
  is_text(td_history_path(arena), "mine", "history: named");
  setenv("TIDE_HISTORY", "", 1);
  ok(!td_history_path(arena), "history: off");
  TdHistory *h = td_history_new(ctx, NULL, 4), *no = td_history_new(ctx, dir, 4);
  for (int i = 0; i < 20; i++) add(h, td_text_fmt(arena, "%d", i), i);
  add(no, "kept", 1);
  ok(td_history_count(h) < 9 && entry_is(h, td_history_count(h) - 1, "19"), "history: in memory");
  ok(entry_is(no, 0, "kept"), "history: of a path that is no file, in memory");
  td_history_free(h);
  td_history_free(no);
}

/* Removes a file or folder of the test. */
static int clean(const char *path, const struct stat *st, int what, struct FTW *walk) {
  (void)st, (void)what, (void)walk;
  return remove(path);
}

int main(void) {
  char dir[] = "/tmp/tide_line_XXXXXX";
  if (!mkdtemp(dir)) return 1;
  ctx = td_ctx_new();
  arena = td_arena_new(ctx);
  test_history(dir);
  test_history_race(dir);
  test_history_lock(dir);
  test_history_path(dir);
  nftw(dir, clean, 8, FTW_DEPTH | FTW_PHYS);
  td_arena_free(arena);
  ok(td_ctx_bytes(ctx) == 0, "no memory is left");
  td_ctx_free(ctx);
  return done_testing();
}
