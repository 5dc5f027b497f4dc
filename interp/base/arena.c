/* arena.c - chunked arenas; the only place that asks the system for memory. */
#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

#include "base/vec.h"

/* The least size of a chunk, and the part of its arena that a new one may be at most. */
#ifndef TD_ARENA_CHUNK
#  define TD_ARENA_CHUNK 16384u
#  define TD_ARENA_PART 4
#endif

typedef struct Chunk {
  struct Chunk *below;
  size_t size; /* of the payload */
  alignas(16) unsigned char at[];
} Chunk;

typedef struct Defer {
  struct Defer *below;
  void (*fn)(void *);
  void *p;
} Defer;

struct TdArena {
  TdCtx *ctx;
  Chunk *top;
  size_t used, dirty; /* of the top chunk: bytes given out, and bytes that may be no zeros */
  size_t bytes;
  Defer *defer;
  bool is_scratch;
  TdArena *next, *prev; /* among scratch arenas */
};

TdArena *td_arena_new(TdCtx *c) {
  TdArena *a = td_ctx_take(c, sizeof *a);
  if (!a) td_ctx_escape(c, TD_WHY_MEMORY);
  *a = (TdArena){.ctx = c, .bytes = sizeof *a};
  return a;
}

TdArena *td_arena_scratch(TdCtx *c) {
  TdArena *a = td_arena_new(c), *head = *td_ctx_scratch(c);
  a->is_scratch = true;
  a->next = head;
  if (head) head->prev = a;
  *td_ctx_scratch(c) = a;
  return a;
}

void td_arena_free_scratch(TdCtx *c) {
  while (*td_ctx_scratch(c)) td_arena_free(*td_ctx_scratch(c));
}

/* Takes a out of the list of scratch arenas. */
static void unlink_scratch(TdArena *a) {
  if (a->next) a->next->prev = a->prev;
  if (a->prev)
    a->prev->next = a->next;
  else
    *td_ctx_scratch(a->ctx) = a->next;
}

void td_arena_keep(TdArena *a) {
  if (!a->is_scratch) return;
  unlink_scratch(a);
  a->is_scratch = false;
  a->next = a->prev = NULL;
}

/* Runs deferred calls down to `stop`, newest first. */
static void run_deferred(TdArena *a, const Defer *stop) {
  while (a->defer != stop) {
    Defer *d = a->defer;
    a->defer = d->below;
    d->fn(d->p);
  }
}

/* Gives back the chunks above `stop`. */
static void drop_chunks(TdArena *a, const Chunk *stop) {
  while (a->top != stop) {
    Chunk *c = a->top;
    a->top = c->below;
    a->bytes -= sizeof *c + c->size;
    td_ctx_give(a->ctx, c, sizeof *c + c->size);
  }
}

void td_arena_free(TdArena *a) {
  if (!a) return;
  run_deferred(a, NULL);
  drop_chunks(a, NULL);
  if (a->is_scratch) unlink_scratch(a);
  td_ctx_give(a->ctx, a, sizeof *a);
}

/* Puts a chunk with room for n bytes on top; false when there is no memory. Chunks grow with the
 * arena, so that big ones stay few. */
static bool add_chunk(TdArena *a, size_t n) {
  size_t size = a->bytes / TD_ARENA_PART;
  if (size < TD_ARENA_CHUNK) size = TD_ARENA_CHUNK;
  if (size > ((size_t)1 << 24)) size = (size_t)1 << 24;
  if (size < n) size = n;
  Chunk *c = td_ctx_take(a->ctx, sizeof *c + size);
  if (!c) return false;
  c->below = a->top;
  c->size = size;
  a->top = c;
  a->used = a->dirty = 0;
  a->bytes += sizeof *c + size;
  return true;
}

/* n zeroed bytes, or NULL when there is no memory. */
static void *take(TdArena *a, size_t n) {
  if (n > SIZE_MAX / 2) return NULL;
  n = (n + 15) & ~(size_t)15;
  if ((!a->top || a->top->size - a->used < n) && !add_chunk(a, n)) return NULL;
  unsigned char *p = a->top->at + a->used;
  size_t dirty = a->dirty > a->used ? a->dirty - a->used : 0;
  a->used += n;
  return memset(p, 0, dirty < n ? dirty : n);
}

void *td_arena_alloc(TdArena *a, size_t n) {
  void *p = take(a, n);
  if (!p) td_ctx_escape(a->ctx, TD_WHY_MEMORY);
  return p;
}

void *td_arena_array(TdArena *a, size_t count, size_t size) {
  if (size && count > SIZE_MAX / size) td_ctx_escape(a->ctx, TD_WHY_MEMORY);
  return td_arena_alloc(a, count * size);
}

char *td_arena_strndup(TdArena *a, const char *s, size_t n) {
  char *p = td_arena_alloc(a, n + 1);
  if (n) memcpy(p, s, n);
  return p;
}

char *td_arena_strdup(TdArena *a, const char *s) {
  return td_arena_strndup(a, s, strlen(s));
}

void *td_arena_copy(TdArena *a, const void *p, size_t n) {
  void *q = td_arena_alloc(a, n);
  if (n) memcpy(q, p, n);
  return q;
}

void td_arena_defer(TdArena *a, void (*fn)(void *), void *p) {
  Defer *d = take(a, sizeof *d);
  if (!d) {
    fn(p);
    td_ctx_escape(a->ctx, TD_WHY_MEMORY);
  }
  *d = (Defer){.below = a->defer, .fn = fn, .p = p};
  a->defer = d;
}

static void free_inner(void *a) {
  td_arena_free(a);
}

TdArena *td_arena_inner(TdArena *a) {
  TdArena *inner = td_arena_new(a->ctx);
  td_arena_defer(a, free_inner, inner);
  return inner;
}

TdMark td_arena_mark(const TdArena *a) {
  return (TdMark){.chunk = a->top, .defer = a->defer, .used = a->used};
}

void td_arena_release(TdArena *a, TdMark m) {
  run_deferred(a, m.defer);
  if (a->top != m.chunk)
    a->dirty = SIZE_MAX;
  else if (a->dirty < a->used)
    a->dirty = a->used;
  drop_chunks(a, m.chunk);
  a->used = m.used;
}

size_t td_arena_bytes(const TdArena *a) {
  return a->bytes;
}

TdCtx *td_arena_ctx(const TdArena *a) {
  return a->ctx;
}

void *td_vec_grow(TdArena *a, const void *old, size_t n, size_t *cap, size_t size) {
  size_t more = *cap ? *cap * 2 : 8;
  void *p = td_arena_array(a, more, size);
  if (n) memcpy(p, old, n * size);
  *cap = more;
  return p;
}
