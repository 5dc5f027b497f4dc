/* lua_dump.h - what Lua 5.4's own compiler says of the functions of a chunk, read from its dump. */
#ifndef LUA_DUMP_H
#define LUA_DUMP_H

#include <lua.h>

#include "base/text.h"

typedef struct Dump {
  const unsigned char *at;
} Dump;

/* Appends a part of the dump to the TdText ud. */
static int dump_writer(lua_State *L, const void *p, size_t n, void *ud) {
  (void)L;
  td_text_putn(ud, p, n);
  return 0;
}

/* Steps over a size and returns it. */
static size_t dump_size(Dump *d) {
  size_t x = 0;
  do x = x << 7 | (*d->at & 0x7F);
  while (!(*d->at++ & 0x80));
  return x;
}

/* Appends " <string>" to out, if that is not NULL, and steps over the string. */
static void dump_string(Dump *d, TdText *out) {
  size_t n = dump_size(d);
  if (n && out) td_text_putf(out, " %.*s", (int)n - 1, (const char *)d->at);
  if (n) d->at += n - 1;
}

/* Steps over the constants of a function. */
static void skip_constants(Dump *d) {
  for (size_t n = dump_size(d); n; n--) {
    int type = *d->at++ & 0x0F;
    if (type == LUA_TNUMBER)
      d->at += 8;
    else if (type == LUA_TSTRING)
      dump_string(d, NULL);
  }
}

/* Appends " p1 p2 |", the names of the first `params` variables of a function. */
static void dump_params(Dump *d, size_t params, TdText *out) {
  size_t n = dump_size(d);
  for (size_t i = 0; i < n; i++) {
    dump_string(d, i < params ? out : NULL);
    dump_size(d);
    dump_size(d);
  }
  td_text_puts(out, " |");
}

/* Appends "first-last params: names | upvalues" for the function at d, and for each inside it. */
static void dump_function(Dump *d, TdText *out) {
  TdText inner = td_text_new(out->arena);
  dump_string(d, NULL);
  size_t first = dump_size(d), last = dump_size(d);
  size_t params = *d->at++, is_vararg = *d->at++;
  d->at++;
  size_t instructions = dump_size(d);
  d->at += instructions * 4;
  skip_constants(d);
  size_t upvals = dump_size(d);
  d->at += upvals * 3;
  for (size_t n = dump_size(d); n; n--) dump_function(d, &inner);
  size_t lines = dump_size(d);
  d->at += lines;
  for (size_t n = dump_size(d); n; n--) dump_size(d), dump_size(d);
  td_text_putf(out, "%zu-%zu %zu%s:", first, last, params, is_vararg ? "..." : "");
  dump_params(d, params, out);
  for (size_t n = dump_size(d); n; n--) dump_string(d, out);
  td_text_putc(out, '\n');
  td_text_puts(out, td_text_str(&inner));
}

#define DUMP_HEADER 32 /* signature, version, sizes, check values, number of upvalues */

/* Appends a line for each function of the chunk on top of the stack, in source order. */
static void dump_functions(lua_State *L, TdText *out) {
  TdText dump = td_text_new(out->arena);
  lua_dump(L, dump_writer, &dump, 0);
  Dump d = {(const unsigned char *)dump.at + DUMP_HEADER};
  dump_function(&d, out);
}

#endif
