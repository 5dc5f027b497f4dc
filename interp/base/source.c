/* source.c - the chunks of source that were loaded, by id and by line. */
#include <string.h>

#include "base/base.h"

typedef struct Source {
  const char *chunk, *name, *text, *code;
  size_t n, ncode;
  TD_VEC(uint32_t) starts; /* offset of each line */
} Source;

struct TdSources {
  TdArena *arena;
  TD_VEC(Source) list;
};

TdSources *td_sources_new(TdArena *a) {
  TdSources *s = TD_NEW(a, TdSources);
  s->arena = a;
  return s;
}

static bool is_newline(char c) {
  return c == '\n' || c == '\r';
}

size_t td_sources_line_end(const char *s, size_t n) {
  if (!n || !is_newline(*s)) return 0;
  return n > 1 && is_newline(s[1]) && s[1] != *s ? 2 : 1;
}

uint32_t td_sources_add(TdSources *s, const char *chunkname, const char *text, size_t n) {
  Source src = {.chunk = td_arena_strdup(s->arena, chunkname),
                .text = td_arena_strndup(s->arena, text, n),
                .n = n};
  bool marked = *chunkname == '@' || *chunkname == '=';
  src.name = marked ? src.chunk + 1 : "[string]";
  td_vec_push(s->arena, &src.starts, 0);
  for (size_t i = 0; i < n;) {
    size_t end = td_sources_line_end(text + i, n - i);
    i += end ? end : 1;
    if (end) td_vec_push(s->arena, &src.starts, (uint32_t)i);
  }
  src.code = src.text;
  src.ncode = n;
  td_vec_push(s->arena, &s->list, src);
  return (uint32_t)s->list.n;
}

void td_sources_set_code(TdSources *s, uint32_t id, const char *code, size_t n) {
  s->list.at[id - 1].code = td_arena_strndup(s->arena, code, n);
  s->list.at[id - 1].ncode = n;
}

/* The source of an id, or NULL. */
static const Source *get(const TdSources *s, uint32_t id) {
  return id && id <= s->list.n ? &s->list.at[id - 1] : NULL;
}

const char *td_sources_name(const TdSources *s, uint32_t id) {
  const Source *src = get(s, id);
  return src ? src->name : "?";
}

const char *td_sources_chunk(const TdSources *s, uint32_t id) {
  const Source *src = get(s, id);
  return src ? src->chunk : "=?";
}

const char *td_sources_text(const TdSources *s, uint32_t id, size_t *n) {
  const Source *src = get(s, id);
  *n = src ? src->n : 0;
  return src ? src->text : NULL;
}

const char *td_sources_code(const TdSources *s, uint32_t id, size_t *n) {
  const Source *src = get(s, id);
  *n = src ? src->ncode : 0;
  return src ? src->code : NULL;
}

const char *td_sources_line(const TdSources *s, uint32_t id, uint32_t line, size_t *n) {
  const Source *src = get(s, id);
  *n = 0;
  if (!src || !line || line > src->starts.n) return NULL;
  const char *at = src->text + src->starts.at[line - 1];
  while (at + *n < src->text + src->n && !is_newline(at[*n])) ++*n;
  return at;
}

/* Whether Lua shortens a chunk name to these n bytes. */
static bool is_short(const char *chunk, const char *name, size_t n, size_t most) {
  const char *full = chunk + 1;
  size_t size = strlen(full), dots = strlen("...");
  if (*chunk != '@' && *chunk != '=') return false;
  if (size < most) return n == size && memcmp(full, name, n) == 0;
  if (n != most - 1) return false;
  if (*chunk == '=') return memcmp(full, name, n) == 0;
  return memcmp(name, "...", dots) == 0 &&
         memcmp(full + size - n + dots, name + dots, n - dots) == 0;
}

uint32_t td_sources_find_short(const TdSources *s, const char *name, size_t n, size_t most) {
  for (size_t i = s->list.n; i-- > 0;)
    if (is_short(s->list.at[i].chunk, name, n, most)) return (uint32_t)(i + 1);
  return 0;
}

uint32_t td_sources_find(const TdSources *s, const char *chunkname) {
  for (size_t i = s->list.n; i-- > 0;)
    if (strcmp(s->list.at[i].chunk, chunkname) == 0) return (uint32_t)(i + 1);
  return 0;
}
