/* interrupt.c - Ctrl-C stops Lua code wherever it runs: a hook on the running thread, a flag
 * for the core. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "backends/host/child.h"
#include "backends/host/guard.h"
#include "bind/prompt/prompt.h"

static struct {
  lua_State *volatile running; /* the thread that executes Lua code now */
  TdBind *volatile bind;
  volatile sig_atomic_t armed, presses;
} watch;

/* Raises in the running thread; stays set until the prompt clears it, so that pcall cannot swallow
 * it for long. */
static void stop_hook(lua_State *L, lua_Debug *ar) {
  (void)ar;
  if (!watch.armed) {
    lua_sethook(L, NULL, 0, 0);
    return;
  }
  luaL_error(L, "interrupted");
}

/* Has Lua code stop at its next instruction. Calls of C are left alone: those that close what is to
 * be closed must run. */
static void arm(lua_State *L) {
  lua_sethook(L, stop_hook, LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

/* The first press asks what runs to stop, the second leaves foreign code, the third ends Tide. */
static void on_interrupt(int sig) {
  watch.armed = 1;
  if (watch.bind) {
    td_ctx_interrupt(watch.bind->ctx);
    td_affine_abort(watch.bind->affine);
  }
  if (watch.running) arm(watch.running);
  if (++watch.presses == 2) td_guard_leave(sig);
  static const char again[] = "\n(not stopped yet: press Ctrl-C once more to leave)\n";
  if (watch.presses == 2 && write(STDERR_FILENO, again, sizeof again - 1) < 0) return;
  if (watch.presses < 3) return;
  td_child_stop_all();
  _exit(130);
}

void td_prompt_watch(lua_State *L, bool on) {
  struct sigaction sa;
  memset(&sa, 0, sizeof sa);
  sa.sa_handler = on ? on_interrupt : SIG_DFL;
  sigemptyset(&sa.sa_mask);
  watch.bind = td_bind_enter(L);
  watch.running = L;
  td_prompt_clear(L);
  sigaction(SIGINT, &sa, NULL);
}

void td_prompt_clear(lua_State *L) {
  watch.armed = 0;
  watch.presses = 0;
  TdCtx *c = td_bind_enter(L)->ctx;
  td_ctx_clear_interrupt(c);
  td_ctx_end_work(c, (TdWork){0});
  lua_sethook(L, NULL, 0, 0);
}

void td_prompt_answered(lua_State *L) {
  if (!watch.armed || td_ctx_must_stop(td_bind_enter(L)->ctx)) return;
  watch.armed = 0;
  watch.presses = 0;
}

void td_prompt_interrupt(lua_State *L) {
  watch.armed = 1;
  arm(L);
}

bool td_prompt_was_interrupted(void) {
  return watch.armed != 0;
}

/* coroutine.resume that tells who runs: upvalue 1 is Lua's own. The thread is argument 1. */
static int l_resume(lua_State *L) {
  lua_State *co = lua_tothread(L, 1), *outer = watch.running;
  int n = lua_gettop(L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  if (co) {
    watch.running = co;
    if (watch.armed) arm(co);
  }
  int status = lua_pcall(L, n, LUA_MULTRET, 0);
  watch.running = outer;
  if (watch.armed && outer) arm(outer);
  return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* The function that coroutine.wrap gives: resumes upvalue 1 through coroutine.resume (upvalue 2)
 * and raises its errors. */
static int l_wrapped(lua_State *L) {
  int n = lua_gettop(L);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_rotate(L, 1, 2);
  lua_call(L, n + 1, LUA_MULTRET);
  if (lua_toboolean(L, 1)) return lua_gettop(L) - 1;
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  if (co && lua_status(co) != LUA_OK && lua_status(co) != LUA_YIELD) lua_resetthread(co);
  lua_settop(L, 2);
  return lua_error(L);
}

static int l_wrap(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State *co = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushcclosure(L, l_wrapped, 2);
  return 1;
}

void td_prompt_open_coroutines(lua_State *L) {
  lua_getglobal(L, "coroutine");
  lua_getfield(L, -1, "resume");
  lua_pushcclosure(L, l_resume, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "resume");
  lua_pushcclosure(L, l_wrap, 1);
  lua_setfield(L, -2, "wrap");
  lua_pop(L, 1);
}
