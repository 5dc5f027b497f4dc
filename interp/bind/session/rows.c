/* rows.c - what tide.explore stands on: rows in a file, and functions that run in processes of
 * their own. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/host/sqlite.h"
#include "bind/bind.h"
#include "bind/program/unit.h"

#define CLASS_ROWS "tide.rows"

typedef struct RowsBox {
  TdArena *arena;
  TdSqlite *file;
} RowsBox;

static int l_rows_gc(lua_State *L) {
  RowsBox *b = luaL_checkudata(L, 1, CLASS_ROWS);
  if (b->arena) td_arena_free(b->arena);
  *b = (RowsBox){0};
  return 0;
}

static int l_rows_index(lua_State *L) {
  return td_bind_method(L, CLASS_ROWS, luaL_checkstring(L, 2));
}

/* rows.open(path) */
static int l_open(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  RowsBox *b = lua_newuserdatauv(L, sizeof *b, 0);
  *b = (RowsBox){0};
  luaL_setmetatable(L, CLASS_ROWS);
  b->arena = td_arena_new(td_bind_enter(L)->ctx);
  TdDiag d = td_bind_diag(td_bind_arena(L));
  b->file = td_sqlite_open(b->arena, path, &d);
  if (!b->file) td_bind_raise(L, &d);
  lua_pushvalue(L, 2);
  return 1;
}

/* Appends a row to the table on top of the stack. */
static void add_row(void *ud, const char *const *text, int ncol) {
  lua_State *L = ud;
  lua_createtable(L, ncol, 0);
  for (int i = 0; i < ncol; i++) {
    lua_pushstring(L, text[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* file:run(sql, ...): the rows. */
static int l_run(lua_State *L) {
  RowsBox *b = luaL_checkudata(L, 1, CLASS_ROWS);
  const char *sql = luaL_checkstring(L, 2), *value[32];
  int n = lua_gettop(L) - 2;
  if (!b->file || n > 32) return td_bind_fail(L, "sqlite", "the file is closed");
  for (int i = 0; i < n; i++) value[i] = luaL_checkstring(L, i + 3);
  TdDiag d = td_bind_diag(td_bind_arena(L));
  lua_newtable(L);
  if (!td_sqlite_run(b->file, sql, value, n, add_row, L, &d)) td_bind_raise(L, &d);
  return 1;
}

/* ---- processes ---- */

typedef struct Worker {
  luaL_Stream stream; /* first: it is a file of Lua's */
  pid_t pid;
} Worker;

/* Ends a worker: closes its pipe, which ends it if it still writes, and waits for it. */
static int close_worker(lua_State *L) {
  Worker *w = lua_touserdata(L, 1);
  int status = 0;
  fclose(w->stream.f);
  kill(w->pid, SIGTERM);
  while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) continue;
  lua_pushboolean(L, 1);
  return 1;
}

/* rows.spawn(f): f(write) runs in a copy of the session; the file that it writes to. */
static int l_spawn(lua_State *L) {
  int end[2];
  luaL_checktype(L, 1, LUA_TFUNCTION);
  Worker *w = lua_newuserdatauv(L, sizeof *w, 0);
  memset(w, 0, sizeof *w);
  luaL_setmetatable(L, LUA_FILEHANDLE);
  fflush(NULL);
  if (pipe(end) < 0) return td_bind_fail(L, "job", "no process: %s", strerror(errno));
  w->pid = fork();
  if (w->pid < 0) return td_bind_fail(L, "job", "no process: %s", strerror(errno));
  if (w->pid == 0) {
    close(end[0]);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    luaL_Stream *out = lua_newuserdatauv(L, sizeof *out, 0);
    out->closef = NULL;
    out->f = fdopen(end[1], "w");
    luaL_setmetatable(L, LUA_FILEHANDLE);
    out->closef = close_worker;
    setvbuf(out->f, NULL, _IOLBF, BUFSIZ);
    lua_pushvalue(L, 1);
    lua_insert(L, -2);
    int status = lua_pcall(L, 1, 0, 0);
    if (status != LUA_OK) fprintf(stderr, "%s\n", luaL_tolstring(L, -1, NULL));
    fflush(NULL);
    _exit(status != LUA_OK);
  }
  close(end[1]);
  w->stream.f = fdopen(end[0], "r");
  w->stream.closef = close_worker;
  return 1;
}

static int l_load(lua_State *L) {
  static const luaL_Reg functions[] = {{"open", l_open}, {"spawn", l_spawn}, {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", l_rows_gc}, {"__index", l_rows_index}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"run", l_run}, {"close", l_rows_gc}, {NULL, NULL}};
  td_bind_class(L, CLASS_ROWS, meta, methods);
  lua_pop(L, 1);
  luaL_newlib(L, functions);
  return 1;
}

void td_bind_open_rows(lua_State *L) {
  td_bind_set_module(L, "tide.rows", l_load);
}
