/* load_input.c - any bytes as a Lua chunk that makes kernels and designs, as printed programs do:
 * an error, or a value whose text loads back to the same text (libFuzzer). Only Tide and harmless
 * libraries are there; endless loops are stopped by count. */
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "tide.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MOST_STEPS = 100000, MOST_WORK = 2000000 };

static void stop(lua_State *L, lua_Debug *ar) {
  (void)ar;
  luaL_error(L, "too many steps");
}

/* What `require` finds: tide. */
static int l_require(lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "input.tide");
  return 1;
}

/* A state with Tide in it. */
static lua_State *open_state(void) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  luaL_requiref(L, "tide", luaopen_tide, 0);
  lua_setfield(L, LUA_REGISTRYINDEX, "input.tide");
  lua_pushcfunction(L, l_require);
  lua_setglobal(L, "require");
  static const char *const no[] = {"print", "dofile", "loadfile", "os", "io", "debug", "package"};
  for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
    lua_pushnil(L);
    lua_setglobal(L, no[i]);
  }
  lua_sethook(L, stop, LUA_MASKCOUNT, MOST_STEPS);
  td_ctx_set_memory_limit(td_prompt_ctx(L), (size_t)256 << 20);
  return L;
}

/* Loads a chunk, with the `load` that remembers sources, and turns what it returns into text;
 * argument: its text. */
static int l_text_of(lua_State *L) {
  td_ctx_set_budget(td_prompt_ctx(L), MOST_WORK);
  lua_getglobal(L, "load");
  lua_pushvalue(L, 1);
  lua_pushliteral(L, "=input");
  lua_pushliteral(L, "t");
  lua_call(L, 3, 2);
  if (!lua_isfunction(L, -2)) return lua_error(L);
  lua_pop(L, 1);
  lua_call(L, 0, 1);
  if (!lua_isuserdata(L, -1)) luaL_error(L, "no program");
  luaL_tolstring(L, -1, NULL);
  return 1;
}

/* Replaces the text on the stack by that of the program it makes; whether it makes one. */
static bool again(lua_State *L) {
  lua_pushcfunction(L, l_text_of);
  lua_insert(L, -2);
  return lua_pcall(L, 1, 1, 0) == LUA_OK && lua_isstring(L, -1);
}

/* Whether a chunk makes a program; aborts if the program's text does not load back to the same
 * text. */
static bool makes_program(const char *data, size_t n) {
  lua_State *L = open_state();
  lua_pushlstring(L, data, n);
  bool made = again(L) && strncmp(lua_tostring(L, -1), "local tide", 10) == 0;
  if (made) {
    lua_pushvalue(L, -1);
    if (!again(L) || strcmp(lua_tostring(L, -1), lua_tostring(L, -2)) != 0) abort();
  }
  lua_close(L);
  return made;
}

/* Aborts if no program can be made at all: then every input would be an error. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  static const char program[] = "local tide = require 'tide'\n"
                                "return tide.kernel {A = tide.i8[4], function(A) A[1] = 2 end}\n";
  if (!makes_program(program, strlen(program))) abort();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  makes_program((const char *)data, n);
  return 0;
}
