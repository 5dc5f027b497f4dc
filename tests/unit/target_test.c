/* target_test.c - a target is one file: it is built, written, run and completed like the others,
 * with nothing about it anywhere else. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "backends/backend.h"
#include "lower/lower.h"
#include "tap.h"
#include "tide.h"

/* A target that counts statements, and whose runs fill what is written with ones. */
static const TdOption options[] = {
    {"unit", TD_OPTION_WORD, "statements|stores", "what is counted"},
};

static bool validate(const TdBuild *b) {
  const TdUnit *u = td_prog_root(b->prog);
  if (u->kind == TD_UNIT_KERNEL) return true;
  return td_diag_set(b->diag, TD_UNSUPPORTED, "no-designs", u->loc, "%s is a design", u->sym->name);
}

static bool count(void *ud, const TdStmt *s) {
  int *n = ud;
  *n += s->kind == TD_STMT_STORE;
  return true;
}

static const TdFile *emit(const TdBuild *b, size_t *nfile) {
  TdFile *f = TD_NEW(b->arena, TdFile);
  int n = 0;
  td_walk_stmt(b->prog->store->session->ctx, td_prog_root(b->prog)->body, count, &n);
  const char *unit = td_backend_option(&(TdBackend){.option = options}, b, 0);
  *f = (TdFile){"count.txt", td_text_fmt(b->arena, "%d %.*s\n", n, (int)strcspn(unit, "|"), unit)};
  *nfile = 1;
  return f;
}

static void *open_run(const TdBuild *b) {
  return td_arena_copy(b->arena, "run", 4);
}

static bool call_run(void *run, const TdCallArg *arg, size_t narg, TdDiag *d) {
  (void)run, (void)d;
  int64_t at[TD_MAX_RANK] = {0};
  if (narg && arg[narg - 1].tensor) td_tensor_put(arg[narg - 1].tensor, at, 1);
  return true;
}

static void reset_run(void *run) {
  (void)run;
}

static const TdBackend counts = {
    .name = "counts",
    .summary = "the number of stores",
    .option = options,
    .noption = 1,
    .validate = validate,
    .emit = emit,
    .open = open_run,
    .call = call_run,
    .reset = reset_run,
};

/* The table of targets of this program. */
extern const TdBackend td_backend_cpu;
const TdBackend *const td_backends[] = {&td_backend_cpu, &counts, NULL};

static lua_State *L;

/* Whether Lua code runs and gives true; its error is shown. */
static void check(const char *name, const char *code) {
  bool fine = luaL_dostring(L, code) == LUA_OK && lua_toboolean(L, -1);
  ok(fine, name);
  if (!fine) printf("# %s\n", luaL_tolstring(L, -1, NULL));
  lua_settop(L, 0);
}

int main(void) {
  L = luaL_newstate();
  luaL_openlibs(L);
  luaL_requiref(L, "tide", luaopen_tide, 1);
  lua_settop(L, 0);
  check("a kernel is built for it",
        "i8 = tide.i8; k = tide.kernel {A = i8[4], function(A) for i = 0, 3 do A[i] = i end end, "
        "name = 'k'}; m = k:build {target = 'counts'}; return m.source == '1 statements\\n'");
  check("its option is taken",
        "return k:build {target = 'counts', unit = 'stores'}.source == '1 stores\\n'");
  check("a wrong option is refused",
        "local ok, e = pcall(k.build, k, {target = 'counts', unit = 'x'}); return not ok and "
        "tostring(e):find 'statements'");
  check("what it refuses is told",
        "local d = tide.design(function(d) d.t = tide.task {A = i8[2], function(A) A[0] = 1 end} "
        "end); local ok, e = pcall(d.build, d, {target = 'counts'}); return not ok and "
        "e.code == 'no-designs'");
  check("it runs", "A = i8[4](0); m(A); return A[0] == 1");
  check("an unknown target lists it",
        "local ok, e = pcall(k.build, k, {target = 'none'}); return not ok and "
        "tostring(e):find 'counts'");
  lua_close(L);
  return done_testing();
}
