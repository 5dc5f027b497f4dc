/* sqlite.c - the few functions of libsqlite3 that keep rows in a file, found by name. */
#include "backends/host/sqlite.h"

#include <dlfcn.h>
#include <string.h>

enum { OK = 0, ROW = 100, DONE = 101, PATIENCE = 20000 /* ms that another writer may take */ };

/* What is loaded; `open` is NULL where something lacks. */
static struct {
  bool tried;
  int (*open)(const char *path, void **db);
  int (*close)(void *db);
  int (*wait)(void *db, int ms);
  int (*prepare)(void *db, const char *sql, int n, void **statement, const char **tail);
  int (*bind)(void *statement, int i, const char *text, int n, void (*free)(void *));
  int (*step)(void *statement);
  int (*finalize)(void *statement);
  int (*count)(void *statement);
  const unsigned char *(*text)(void *statement, int i);
  const char *(*message)(void *db);
} lib;

struct TdSqlite {
  void *db;
};

/* Puts the address of a function into *to; whether it is there. */
static bool find(void *library, const char *name, void *to) {
  void *symbol = library ? dlsym(library, name) : NULL;
  memcpy(to, &symbol, sizeof symbol);
  return symbol;
}

static void load(void) {
  void *l = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
  lib.tried = true;
  bool all =
      find(l, "sqlite3_close_v2", &lib.close) && find(l, "sqlite3_busy_timeout", &lib.wait) &&
      find(l, "sqlite3_prepare_v2", &lib.prepare) && find(l, "sqlite3_bind_text", &lib.bind) &&
      find(l, "sqlite3_step", &lib.step) && find(l, "sqlite3_finalize", &lib.finalize) &&
      find(l, "sqlite3_column_count", &lib.count) && find(l, "sqlite3_column_text", &lib.text) &&
      find(l, "sqlite3_errmsg", &lib.message);
  if (!all || !find(l, "sqlite3_open", &lib.open)) lib.open = NULL;
}

/* Closes the file, with the arena that owns it. */
static void close_db(void *sqlite) {
  TdSqlite *s = sqlite;
  if (s->db) lib.close(s->db);
  s->db = NULL;
}

static bool fail(TdDiag *d, const char *what, const char *why) {
  return td_diag_set(d, TD_USAGE, "sqlite", (TdLoc){0}, "%s: %s", what, why);
}

TdSqlite *td_sqlite_open(TdArena *a, const char *path, TdDiag *d) {
  if (!lib.tried) load();
  if (!lib.open) {
    td_diag_set(d, TD_UNSUPPORTED, "no-sqlite", (TdLoc){0},
                "a file of rows needs SQLite, which is not here");
    td_diag_help(d, "apt-get install libsqlite3-0; without file = rows are kept in memory");
    return NULL;
  }
  TdSqlite *s = TD_NEW(a, TdSqlite);
  td_arena_defer(a, close_db, s);
  if (lib.open(path, &s->db) != OK) {
    fail(d, path, s->db ? lib.message(s->db) : "no memory");
    close_db(s);
    return NULL;
  }
  lib.wait(s->db, PATIENCE);
  return s;
}

bool td_sqlite_run(TdSqlite *s, const char *sql, const char *const *value, int n, TdSqliteRow *row,
                   void *ud, TdDiag *d) {
  void *statement = NULL;
  const char *text[64];
  if (!s->db) return fail(d, sql, "the file is closed");
  if (lib.prepare(s->db, sql, -1, &statement, NULL) != OK) return fail(d, sql, lib.message(s->db));
  for (int i = 0; i < n; i++) lib.bind(statement, i + 1, value[i], -1, NULL);
  int state;
  while ((state = lib.step(statement)) == ROW) {
    int columns = lib.count(statement);
    for (int i = 0; i < columns && i < 64; i++) text[i] = (const char *)lib.text(statement, i);
    row(ud, text, columns < 64 ? columns : 64);
  }
  bool ok = state == DONE || fail(d, sql, lib.message(s->db));
  lib.finalize(statement);
  return ok;
}
