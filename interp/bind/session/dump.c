/* dump.c - tide --dump-ir=dir: the program of every schedule after each step, and of every build
 * after each pass of lower/, in numbered files. Passes are heard of inside the core, where nothing
 * may be raised: what could not be written then is told by the next step. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bind/program/unit.h"
#include "tide.h"

#define KEY_DUMP "tide.dump"

/* Where files go, and the number of the last. */
typedef struct Dump {
  char folder[4096];
  int number;
} Dump;

/* Writes p to the next file, under a line that says what made it; 0, or why that failed. */
static int write_prog(Dump *dump, const TdProg *p, const char *what, const char *line) {
  TdArena *a = td_arena_scratch(p->store->session->ctx);
  TdText t = td_text_new(a);
  td_text_putf(&t, "-- %s\n", line);
  td_print_prog(&t, p);
  const char *path = td_text_fmt(a, "%s/%04d_%s_%s.lua", dump->folder, ++dump->number,
                                 td_prog_root(p)->sym->name, what);
  FILE *f = fopen(path, "w");
  bool written = f && fwrite(td_text_str(&t), 1, t.n, f) == t.n;
  int why = written ? 0 : errno;
  if (f && fclose(f) != 0 && !why) why = errno;
  td_arena_free(a);
  return why;
}

/* A pass of lower/ made p. */
static void hear(void *listener, const char *pass, const TdProg *p) {
  write_prog(listener, p, pass, pass);
}

void td_dump_to(lua_State *L, const char *dir) {
  if (mkdir(dir, 0777) != 0 && errno != EEXIST)
    luaL_error(L, "--dump-ir: %s: %s", dir, strerror(errno));
  Dump *dump = lua_newuserdatauv(L, sizeof *dump, 0);
  *dump = (Dump){.number = 0};
  snprintf(dump->folder, sizeof dump->folder, "%s", dir);
  lua_setfield(L, LUA_REGISTRYINDEX, KEY_DUMP);
  TdSession *s = td_bind_enter(L)->session;
  s->passed = hear;
  s->listener = dump;
}

void td_bind_dump(lua_State *L, const TdProg *p, const char *prim, const char *call) {
  lua_getfield(L, LUA_REGISTRYINDEX, KEY_DUMP);
  Dump *dump = lua_touserdata(L, -1);
  lua_pop(L, 1);
  int why = dump ? write_prog(dump, p, prim, call) : 0;
  if (why) td_bind_fail(L, "dump", "--dump-ir: %s: %s", dump->folder, strerror(why));
}
