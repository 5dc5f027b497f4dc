/* history.c - the history file: `@seconds`, then the lines of the entry, each after a tab. Sessions
 * append to it under a lock and read what the others appended. */
#include "repl/history.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef TD_VEC(TdEntry) Entries;

struct TdHistory {
  TdCtx *ctx;
  TdArena *own;   /* this struct */
  TdArena *arena; /* the entries; renewed when they are cut to cap or the file was rewritten */
  const char *path;
  size_t cap;
  Entries entries;
  off_t seen; /* bytes of the file that are in entries */
  ino_t inode;
};

const char *td_history_path(TdArena *a) {
  const char *own = getenv("TIDE_HISTORY"), *state = getenv("XDG_STATE_HOME");
  const char *home = getenv("HOME");
  if (own) return *own ? td_arena_strdup(a, own) : NULL;
  if (state && *state == '/') return td_text_fmt(a, "%s/tide/history", state);
  return home && *home ? td_text_fmt(a, "%s/.local/state/tide/history", home) : NULL;
}

size_t td_history_count(const TdHistory *h) {
  return h->entries.n;
}

const TdEntry *td_history_at(const TdHistory *h, size_t i) {
  return &h->entries.at[i];
}

/* For td_arena_defer. */
static void close_fd(void *fd) {
  close(*(int *)fd);
}

/* Makes the directories that lead to path. */
static void make_parents(TdArena *a, const char *path) {
  char *dir = td_arena_strdup(a, path);
  for (char *slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(dir, 0700);
    *slash = '/';
  }
}

/* Opens path and locks it whole for `type`, F_RDLCK or F_WRLCK; life closes it. Another session may
 * have put a new file in its place meanwhile: then that one. Returns -1 when it cannot. */
static int open_locked(TdArena *life, const char *path, short type, struct stat *st) {
  int flags = type == F_WRLCK ? O_RDWR | O_CREAT | O_APPEND : O_RDONLY;
  for (int tries = 0; tries < 16; tries++) {
    int *fd = TD_NEW(life, int);
    *fd = open(path, flags | O_CLOEXEC, 0600);
    if (*fd < 0) return -1;
    td_arena_defer(life, close_fd, fd);
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    while (fcntl(*fd, F_SETLKW, &lock) < 0)
      if (errno != EINTR) return -1;
    struct stat now;
    if (fstat(*fd, st) < 0 || !S_ISREG(st->st_mode)) return -1;
    if (stat(path, &now) == 0 && now.st_ino == st->st_ino && now.st_dev == st->st_dev) return *fd;
  }
  return -1;
}

/* The bytes of fd from an offset to the end, owned by a. */
static TdText read_from(TdArena *a, int fd, off_t from) {
  TdText text = td_text_new(a);
  char block[4096];
  ssize_t n = 0;
  if (lseek(fd, from, SEEK_SET) < 0) return text;
  while ((n = read(fd, block, sizeof block)) > 0) td_text_putn(&text, block, (size_t)n);
  return text;
}

/* Writes all bytes; false when the disk refuses. */
static bool write_all(int fd, const char *s, size_t n) {
  while (n > 0) {
    ssize_t done = write(fd, s, n);
    if (done < 0 && errno != EINTR) return false;
    if (done < 0) continue;
    s += done;
    n -= (size_t)done;
  }
  return true;
}

/* Puts an entry in the form that the file holds. */
static void format(TdText *out, const TdEntry *e) {
  td_text_putf(out, "@%" PRId64 "\n\t", e->time);
  for (size_t i = 0; i < e->n; i++) {
    td_text_putc(out, e->text[i]);
    if (e->text[i] == '\n') td_text_putc(out, '\t');
  }
  td_text_putc(out, '\n');
}

/* Whether the entry is these n bytes. */
static bool is_text(const TdEntry *e, const char *text, size_t n) {
  return e->n == n && (n == 0 || memcmp(e->text, text, n) == 0);
}

/* Adds an entry whose text is owned by the history's arena; equal neighbours are one. */
static void push(TdHistory *h, TdEntry e) {
  if (e.n == 0) return;
  if (h->entries.n > 0 && is_text(&h->entries.at[h->entries.n - 1], e.text, e.n)) h->entries.n--;
  td_vec_push(h->arena, &h->entries, e);
}

/* Adds the entries of a text in the file's form, in place; what is not in it is skipped. */
static void parse(TdHistory *h, char *s, size_t n) {
  TdEntry e = {0};
  char *put = NULL;
  for (char *line = s, *end = s + n, *stop; line < end; line = stop + 1) {
    stop = memchr(line, '\n', (size_t)(end - line));
    if (!stop) break;
    if (*line == '@') {
      push(h, e);
      put = line;
      e = (TdEntry){.text = line, .time = strtoll(line + 1, NULL, 10)};
    } else if (*line == '\t' && put) {
      if (put > e.text) *put++ = '\n';
      memmove(put, line + 1, (size_t)(stop - line - 1));
      put += stop - line - 1;
      e.n = (size_t)(put - e.text);
    }
  }
  push(h, e);
}

/* Moves the newest entries, at most cap, to a new arena. */
static void renew(TdHistory *h, size_t cap) {
  TdArena *a = td_arena_new(h->ctx), *old = h->arena;
  size_t skip = h->entries.n > cap ? h->entries.n - cap : 0;
  Entries kept = {0};
  for (size_t i = skip; i < h->entries.n; i++) {
    TdEntry e = h->entries.at[i];
    e.text = td_arena_strndup(a, e.text, e.n);
    td_vec_push(a, &kept, e);
  }
  h->arena = a;
  h->entries = kept;
  td_arena_free(old);
}

/* Reads what the locked file has beyond what was seen, or all of it when it is another file. */
static void catch_up(TdHistory *h, int fd, const struct stat *st) {
  if (st->st_ino != h->inode || st->st_size < h->seen) {
    renew(h, 0);
    h->seen = 0;
    h->inode = st->st_ino;
  }
  if (st->st_size == h->seen) return;
  TdText text = read_from(h->arena, fd, h->seen);
  parse(h, text.at, text.n);
  h->seen += (off_t)text.n;
}

/* Puts a file with only the entries held in the place of the locked one. */
static void rewrite(TdHistory *h, TdArena *scratch) {
  const char *path = td_text_fmt(scratch, "%s.new", h->path);
  TdText text = td_text_new(scratch);
  struct stat st;
  int *fd = TD_NEW(scratch, int);
  *fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (*fd < 0) return;
  td_arena_defer(scratch, close_fd, fd);
  for (size_t i = 0; i < h->entries.n; i++) format(&text, &h->entries.at[i]);
  if (!write_all(*fd, text.at, text.n) || fstat(*fd, &st) < 0 || rename(path, h->path) < 0) return;
  h->seen = (off_t)text.n;
  h->inode = st.st_ino;
}

/* Appends e to the file, after what others appended; without a file, only here. */
static void append(TdHistory *h, TdArena *scratch, const TdEntry *e) {
  struct stat st;
  TdText text = td_text_new(scratch);
  int fd = h->path ? open_locked(scratch, h->path, F_WRLCK, &st) : -1;
  if (fd >= 0) catch_up(h, fd, &st);
  push(h, (TdEntry){td_arena_strndup(h->arena, e->text, e->n), e->n, e->time});
  format(&text, e);
  if (fd >= 0 && write_all(fd, text.at, text.n)) h->seen += (off_t)text.n;
  if (h->entries.n < 2 * h->cap) return;
  renew(h, h->cap);
  if (fd >= 0) rewrite(h, scratch);
}

TdHistory *td_history_new(TdCtx *c, const char *path, size_t cap) {
  TdArena *own = td_arena_new(c);
  TdHistory *h = TD_NEW(own, TdHistory);
  *h = (TdHistory){.ctx = c, .own = own, .arena = td_arena_new(c), .cap = cap};
  if (path) {
    h->path = td_arena_strdup(own, path);
    make_parents(own, path);
  }
  td_history_sync(h);
  return h;
}

void td_history_free(TdHistory *h) {
  if (!h) return;
  td_arena_free(h->arena);
  td_arena_free(h->own);
}

void td_history_sync(TdHistory *h) {
  struct stat st;
  if (!h->path) return;
  if (stat(h->path, &st) < 0 || (st.st_ino == h->inode && st.st_size == h->seen)) return;
  TdArena *scratch = td_arena_scratch(h->ctx);
  int fd = open_locked(scratch, h->path, F_RDLCK, &st);
  if (fd >= 0) catch_up(h, fd, &st);
  td_arena_free(scratch);
  if (h->entries.n > 2 * h->cap) renew(h, h->cap);
}

void td_history_add(TdHistory *h, const char *text, size_t n, int64_t time) {
  const TdEntry e = {text, n, time};
  size_t blank = 0;
  while (blank < n && strchr(" \t\n", text[blank])) blank++;
  if (blank == n) return;
  if (h->entries.n > 0 && is_text(&h->entries.at[h->entries.n - 1], text, n)) return;
  TdArena *scratch = td_arena_scratch(h->ctx);
  append(h, scratch, &e);
  td_arena_free(scratch);
}

size_t td_history_find(const TdHistory *h, size_t i, int by, const char *prefix, size_t n,
                       const char *except, size_t n_except) {
  while (by < 0 ? i > 0 : i + 1 < h->entries.n) {
    i = by < 0 ? i - 1 : i + 1;
    const TdEntry *e = &h->entries.at[i];
    if (e->n >= n && (n == 0 || memcmp(e->text, prefix, n) == 0) && !is_text(e, except, n_except))
      return i;
  }
  return TD_NO_ENTRY;
}
