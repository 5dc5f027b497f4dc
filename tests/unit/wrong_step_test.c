/* wrong_step_test.c - primitives that are wrong, in the place of `pipeline`: whatever they do, the
 * step is refused as Tide's own bug and the schedule's program stays the very same. */
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "bind/bind.h"
#include "ir/edit.h"
#include "rewrite/prim.h"
#include "tap.h"
#include "tide.h"

static bool is_store(const TdStmt *s) {
  return s->kind == TD_STMT_STORE;
}

static const TdStmt *store_below(const TdStmt *s) {
  const TdStmt *found = is_store(s) ? s : NULL;
  for (uint32_t i = 0; !found && i < s->nkid; i++) found = store_below(s->kid[i]);
  return found;
}

/* The program with its first store in place of which others stand. */
static const TdProg *with_stores(TdRewrite *r, const TdStmt *const *s, size_t n) {
  const TdUnit *u = td_prog_root(r->prog);
  const TdStmt *body = td_edit_replace(r->store, u->body, store_below(u->body)->uid, s, n);
  return td_prog_with(r->prog, td_unit_with_body(r->store, u, body));
}

/* Says nothing. */
static const TdProg *give_up(TdRewrite *r) {
  (void)r;
  return NULL;
}

/* Has a store twice, which no program may. */
static const TdProg *double_store(TdRewrite *r) {
  const TdStmt *s = store_below(td_prog_root(r->prog)->body);
  return with_stores(r, (const TdStmt *[]){s, s}, 2);
}

/* Drops a store. */
static const TdProg *drop_store(TdRewrite *r) {
  return with_stores(r, NULL, 0);
}

static TdPrim wrong = {.name = "pipeline"};

/* What Lua code gives: the code of its error, or "". */
static const char *code_of(lua_State *L, const char *text) {
  lua_settop(L, 0);
  if (luaL_dostring(L, text) == LUA_OK) return "";
  if (lua_istable(L, -1) && lua_getfield(L, -1, "kind") && lua_getfield(L, -2, "code"))
    return lua_pushfstring(L, "%s %s", lua_tostring(L, -2), lua_tostring(L, -1));
  return lua_tostring(L, -1);
}

static const TdProg *program(lua_State *L) {
  lua_getglobal(L, "s");
  const TdProg *p = td_bind_test_schedule(L, -1);
  lua_pop(L, 1);
  return p;
}

static void test_wrong(lua_State *L, TdPrimApply apply, const char *want, const char *name) {
  const TdProg *before = program(L);
  wrong.apply = apply;
  is_text(code_of(L, "wrong(s, 'i')"), want, name);
  ok(program(L) == before && before, "the program is the very same");
  is_text(code_of(L, "local f = s:fork():split('i', 2); assert(f:verify() == 'strict')"), "",
          "and the session goes on");
}

int main(void) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  luaL_requiref(L, "tide", luaopen_tide, 1);
  is_text(code_of(L, "tide.check(true)\n"
                     "s = tide.schedule(tide.kernel {name = 'k', A = tide.i32[4],\n"
                     "  function(A) for i = 0, 3 do A[i] = A[i] + 1 end end})\n"
                     "wrong = s.pipeline"),
          "", "a schedule");
  is_text(code_of(L, "s:pipeline('i')"), "", "a primitive that is right");
  wrong = *td_prim_find("pipeline");
  lua_getglobal(L, "wrong");
  lua_pushlightuserdata(L, &wrong);
  ok(lua_setupvalue(L, -2, 1), "the method of a primitive calls another");
  test_wrong(L, give_up, "bug silent", "a primitive that fails without a reason");
  test_wrong(L, double_store, "bug structure", "one that makes no program");
  test_wrong(L, drop_store, "bug wrong-step", "one that makes another program");
  lua_close(L);
  return done_testing();
}
