/* parse_input.c - any bytes as a chunk: our parser accepts what Lua accepts (libFuzzer). */
#include <lauxlib.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "frontend/lua/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static jmp_buf out;

static void escape(void *ud, TdWhy why) {
  (void)ud;
  longjmp(out, (int)why + 1);
}

/* Whether our parser takes the text; its message, owned by a, is in *said. */
static bool is_ours(TdArena *a, const char *text, size_t n, const char **said) {
  TdDiag diag = {.arena = a};
  TdSources *sources = td_sources_new(a);
  uint32_t id = td_sources_add(sources, "=x", text, n);
  bool good = td_parse_chunk(a, td_names_new(a), sources, id, 0, &diag) != NULL;
  *said = diag.message ? diag.message : "accepted";
  return good;
}

/* Whether a message is of a limit that the two parsers do not share. */
static bool is_limit(const char *said) {
  return strstr(said, "overflow") || strstr(said, "too many") || strstr(said, "limit") ||
         strstr(said, "deeply") || strstr(said, "too long") || strstr(said, "not enough memory");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  const char *text = (const char *)data, *said;
  TdCtx *c = td_ctx_new();
  td_ctx_set_escape(c, escape, NULL);
  TdArena *volatile a = NULL;
  if (!setjmp(out)) {
    a = td_arena_new(c);
    bool ours = is_ours(a, text, n, &said);
    lua_State *L = luaL_newstate();
    bool theirs = luaL_loadbufferx(L, text, n, "=x", "t") == LUA_OK;
    const char *told = theirs ? "accepted" : lua_tostring(L, -1);
    if (ours != theirs && !is_limit(said) && !is_limit(told)) {
      printf("Tide: %s\nLua: %s\n", said, told);
      abort();
    }
    lua_close(L);
  }
  td_arena_free_scratch(c);
  td_arena_free(a);
  td_ctx_free(c);
  return 0;
}
