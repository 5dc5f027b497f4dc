/* which.c - which of several functions on a line a closure is. Lua tells lines only, so the chunk
 * is compiled again with a mark in half of the candidates: where the closure's code is no longer
 * found in it, the closure is one of that half. Functions that still cannot be told apart have the
 * same code over the same variables. */
#include <string.h>

#include "bind/session/which.h"
#include "frontend/lua/input.h"
#include "frontend/lua/parse.h"

static const char mark[] = " do local _ = \"\\1 tide \\1\" end ";

/* The chunk of the functions, and what is looked for in it. */
typedef struct Search {
  lua_State *L;
  TdArena *arena;
  uint32_t id;
  const char *text;
  size_t n;
  TdText code;   /* of the closure: as it stands in the code of the chunk */
  size_t copies; /* of it in the chunk as it is */
} Search;

static int put_piece(lua_State *L, const void *piece, size_t n, void *ud) {
  (void)L;
  td_text_putn(ud, piece, n);
  return 0;
}

/* The code of the function on top of the stack, which it pops; without Lua's head, which ends in
 * the number of upvalues. */
static TdText code_of(Search *s) {
  TdText t = td_text_new(s->arena);
  lua_dump(s->L, put_piece, &t, 1);
  lua_pop(s->L, 1);
  return t;
}

/* Bytes before the code of a function: those that a chunk, which has an upvalue, and a function
 * without have in common, and the number of upvalues in which they differ. */
static size_t head_size(Search *s) {
  TdText one[2];
  for (int i = 0; i < 2; i++) {
    luaL_loadstring(s->L, "return function() end");
    if (i) lua_call(s->L, 0, 1);
    one[i] = code_of(s);
  }
  size_t same = 0;
  while (same < one[0].n && same < one[1].n && one[0].at[same] == one[1].at[same]) same++;
  return same + 1;
}

/* How often the closure's code stands in that of a chunk. */
static size_t count(const Search *s, const TdText *chunk) {
  size_t n = 0;
  for (size_t i = 0; i + s->code.n <= chunk->n; i++)
    n += memcmp(chunk->at + i, s->code.at, s->code.n) == 0;
  return n;
}

/* Where the body of a function begins in the text; false: beyond what places can tell. */
static bool body_at(const Search *s, const TdAstFn *fn, size_t *at) {
  bool empty = fn->body.n == 0;
  TdLoc loc = empty ? fn->loc : fn->body.at[0]->begin;
  size_t line = 1, i = 0;
  while (i < s->n && line < loc.line) {
    size_t end = td_sources_line_end(s->text + i, s->n - i);
    i += end ? end : 1;
    line += end > 0;
  }
  *at = i + loc.col - 1u;
  while (empty && *at < s->n && s->text[(*at)++] != ')') continue;
  return loc.col != UINT16_MAX && *at <= s->n;
}

/* The text with a mark at the start of the body of each of n functions, which stand in the order of
 * the text; NULL: a place is not known. */
static const char *put_marks(const Search *s, const TdAstFn *const *fn, size_t n, size_t *length) {
  TdText t = td_text_new(s->arena);
  size_t done = 0, at;
  for (size_t i = 0; i < n; i++) {
    if (!body_at(s, fn[i], &at) || at < done) return NULL;
    td_text_putn(&t, s->text + done, at - done);
    td_text_puts(&t, mark);
    done = at;
  }
  td_text_putn(&t, s->text + done, s->n - done);
  *length = t.n;
  return td_text_str(&t);
}

/* Compiles a text as the chunk was, an input of the prompt or other; pushes the function, or
 * false. */
static bool push_chunk(const Search *s, const char *text, size_t n) {
  const char *chunk = td_sources_chunk(td_bind_enter(s->L)->session->sources, s->id);
  if (strncmp(chunk, "=tide:", 6) == 0) {
    TdSources *sources = td_sources_new(s->arena);
    TdDiag d = {.arena = s->arena};
    TdInputCode code;
    uint32_t id = td_sources_add(sources, chunk, text, n);
    const TdAst *ast =
        td_parse_chunk(s->arena, td_names_new(s->arena), sources, id, TD_PARSE_INPUT, &d);
    if (!ast || !td_input_rewrite(s->arena, text, n, ast, &code, &d)) return false;
    text = code.lua, n = code.nlua;
  }
  if (*chunk == '@' && n && *text == '#') text = td_text_fmt(s->arena, "--%s", text), n += 2;
  if (luaL_loadbufferx(s->L, text, n, chunk, "t") == LUA_OK) return true;
  lua_pop(s->L, 1);
  return false;
}

/* Whether the closure is one of n functions; false too where the chunk cannot be compiled. */
static bool is_among(Search *s, const TdAstFn *const *fn, size_t n) {
  size_t length;
  const char *text = put_marks(s, fn, n, &length);
  if (!text || !push_chunk(s, text, length)) return false;
  TdText code = code_of(s);
  return count(s, &code) < s->copies;
}

/* The outermost of the candidates around fn that the closure may be, as an inner function's mark is
 * also one of the outer. */
static const TdAstFn *widen(Search *s, const TdAstFn *const *fn, size_t n, const TdAstFn *found) {
  for (const TdAstFn *o = found->outer; o; o = o->outer)
    for (size_t i = 0; i < n; i++)
      if (fn[i] == o && is_among(s, &o, 1)) found = o;
  return found;
}

const TdAstFn *td_which_function(lua_State *L, int idx, uint32_t id, const TdAstFn *const *fn,
                                 size_t n) {
  Search s = {.L = L, .arena = td_bind_arena(L), .id = id};
  s.text = td_sources_code(td_bind_enter(L)->session->sources, id, &s.n);
  lua_pushvalue(L, idx);
  s.code = code_of(&s);
  size_t head = head_size(&s);
  const TdAstFn *const *all = fn;
  size_t count_all = n;
  if (s.code.n <= head || !push_chunk(&s, s.text, s.n)) return NULL;
  s.code.at += head, s.code.n -= head;
  TdText chunk = code_of(&s);
  s.copies = count(&s, &chunk);
  if (!s.copies || !is_among(&s, fn, n)) return NULL;
  while (n > 1) {
    size_t half = n / 2;
    bool first = is_among(&s, fn, half);
    fn += first ? 0 : half;
    n = first ? half : n - half;
  }
  return widen(&s, all, count_all, fn[0]);
}
