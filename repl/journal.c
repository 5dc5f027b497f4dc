/* journal.c - a journal is a file: a line for the folder, then for each input `> bytes`, its text,
 * and, once it has run, `+` or, if it is not to be replayed, `-`. A lock tells the journals of
 * living sessions from those of killed ones. */
#include "repl/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX ".journal"
#define FIRST "tide journal 1 "

struct TdJournal {
  const char *path;
  int fd;      /* -1: it keeps nothing */
  pid_t owner; /* copies of this process write nothing */
  size_t bytes;
  bool full;
};

const char *td_journal_folder(TdArena *a) {
  const char *own = getenv("TIDE_JOURNAL"), *history = getenv("TIDE_HISTORY");
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  if (own) return *own ? td_arena_strdup(a, own) : NULL;
  if (history && !*history) return NULL;
  if (state && *state == '/') return td_text_fmt(a, "%s/tide/journal", state);
  return home && *home ? td_text_fmt(a, "%s/.local/state/tide/journal", home) : NULL;
}

/* Makes a folder and those that lead to it. */
static void make_folder(TdArena *a, const char *path) {
  char *dir = td_arena_strdup(a, path);
  for (char *slash = strchr(dir + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(dir, 0700);
    *slash = '/';
  }
  mkdir(dir, 0700);
}

/* Locks a file for as long as this process has it open; whether nobody else has. */
static bool lock(int fd) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_SETLK, &whole) == 0;
}

/* Writes all of a text; false, and the journal keeps nothing any more, when that fails. */
static bool put(TdJournal *j, const char *text, size_t n) {
  while (n) {
    ssize_t done = write(j->fd, text, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    text += done;
    n -= (size_t)done;
    j->bytes += (size_t)done;
  }
  return true;
}

/* A journal of a killed session: opened, locked. */
typedef struct Found {
  const char *path;
  int fd;
  struct timespec time;
} Found;

static bool is_older(struct timespec x, struct timespec y) {
  return x.tv_sec < y.tv_sec || (x.tv_sec == y.tv_sec && x.tv_nsec < y.tv_nsec);
}

typedef TD_VEC(Found) Founds;

/* The journals of killed sessions in a folder, the newest last, all locked. */
static Founds find_left(TdArena *a, const char *folder) {
  Founds all = {0};
  DIR *dir = opendir(folder);
  for (struct dirent *e; dir && (e = readdir(dir));) {
    size_t n = strlen(e->d_name), k = strlen(SUFFIX);
    if (n <= k || strcmp(e->d_name + n - k, SUFFIX) != 0) continue;
    Found f = {.path = td_text_fmt(a, "%s/%s", folder, e->d_name)};
    struct stat st;
    f.fd = open(f.path, O_RDWR | O_APPEND | O_CLOEXEC);
    if (f.fd < 0) continue;
    if (!lock(f.fd) || fstat(f.fd, &st) != 0) {
      close(f.fd);
      continue;
    }
    f.time = st.st_mtim;
    td_vec_push(a, &all, f);
    for (size_t i = all.n - 1; i && is_older(all.at[i].time, all.at[i - 1].time); i--) {
      Found swap = all.at[i];
      all.at[i] = all.at[i - 1];
      all.at[i - 1] = swap;
    }
  }
  if (dir) closedir(dir);
  return all;
}

/* All of a file, or NULL. */
static char *read_all(TdArena *a, int fd, size_t *n) {
  struct stat st;
  if (fstat(fd, &st) != 0 || st.st_size > 2 * (off_t)TD_JOURNAL_BYTES) return NULL;
  char *text = td_arena_alloc(a, (size_t)st.st_size + 1);
  ssize_t got = pread(fd, text, (size_t)st.st_size, 0);
  if (got < 0) return NULL;
  *n = (size_t)got;
  return text;
}

/* Reads a journal; how many of its bytes are whole records. False: it is none. */
static bool read_journal(TdArena *a, int fd, TdJournalLeft *left, size_t *whole) {
  size_t n = 0;
  char *text = read_all(a, fd, &n);
  char *at = text && strncmp(text, FIRST, strlen(FIRST)) == 0 ? strchr(text, '\n') : NULL;
  if (!at) return false;
  left->folder = td_arena_strndup(a, text + strlen(FIRST), (size_t)(at - text) - strlen(FIRST));
  for (at++; at < text + n; at++) {
    char *end;
    *whole = (size_t)(at - text);
    if (*at == '!') left->full = true;
    if (strncmp(at, "> ", 2) != 0) break;
    size_t bytes = strtoul(at + 2, &end, 10), rest = (size_t)(text + n - end);
    if (*end != '\n' || rest < bytes + 2) break;
    TdJournalInput input = {end + 1, bytes};
    at = end + 1 + bytes + 1;
    left->last = *at ? (TdJournalInput){0} : input;
    if (*at == '+') td_vec_push(a, &left->input, input);
    if (!*at || at[1] != '\n') break;
    at++;
    *whole = (size_t)(at + 1 - text);
  }
  return true;
}

/* Goes on from the newest journal that was left; false: there is none. */
static bool resume(TdJournal *j, TdArena *a, Founds *all, TdJournalLeft *left) {
  while (all->n) {
    Found f = all->at[--all->n];
    size_t whole = 0;
    if (read_journal(a, f.fd, left, &whole) && ftruncate(f.fd, (off_t)whole) == 0) {
      *j = (TdJournal){f.path, f.fd, getpid(), whole, left->full};
      return true;
    }
    close(f.fd);
  }
  return false;
}

/* Begins a new file in the folder. */
static void begin_file(TdJournal *j, TdArena *a, const char *folder) {
  char now[4096];
  if (!getcwd(now, sizeof now)) return;
  const char *path = td_text_fmt(a, "%s/%ld-%ld" SUFFIX, folder, (long)time(NULL), (long)getpid());
  int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return;
  *j = (TdJournal){path, fd, getpid(), 0, false};
  const char *first = td_text_fmt(a, FIRST "%s\n", now);
  if (!lock(fd) || !put(j, first, strlen(first))) td_journal_close(j);
}

static void let_go(void *journal) {
  TdJournal *j = journal;
  if (j->fd >= 0) close(j->fd);
  j->fd = -1;
}

TdJournal *td_journal_open(TdArena *a, const char *folder, TdJournalLeft *left) {
  TdJournal *j = TD_NEW(a, TdJournal);
  *j = (TdJournal){.fd = -1};
  td_arena_defer(a, let_go, j);
  if (!folder) return left ? NULL : j;
  make_folder(a, folder);
  Founds all = find_left(a, folder);
  bool resumes = left && resume(j, a, &all, left);
  for (size_t i = 0; i < all.n; i++) {
    if (all.n - i >= TD_JOURNAL_FILES) unlink(all.at[i].path);
    close(all.at[i].fd);
  }
  if (left) return resumes ? j : NULL;
  begin_file(j, a, folder);
  return j;
}

/* Whether it keeps what this process runs. */
static bool keeps(const TdJournal *j) {
  return j->fd >= 0 && !j->full && j->owner == getpid();
}

bool td_journal_begin(TdJournal *j, const char *text, size_t n) {
  char head[32];
  if (!keeps(j)) return true;
  int k = snprintf(head, sizeof head, "> %zu\n", n);
  if (j->bytes + (size_t)k + n + 8 > TD_JOURNAL_BYTES) {
    put(j, "!\n", 2);
    j->full = true;
    return false;
  }
  if (!put(j, head, (size_t)k) || !put(j, text, n) || !put(j, "\n", 1)) td_journal_close(j);
  return true;
}

void td_journal_end(TdJournal *j, bool keep) {
  if (keeps(j) && !put(j, keep ? "+\n" : "-\n", 2)) td_journal_close(j);
}

void td_journal_close(TdJournal *j) {
  if (j->fd < 0 || j->owner != getpid()) return;
  unlink(j->path);
  close(j->fd);
  j->fd = -1;
}
