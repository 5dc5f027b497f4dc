/* arena.h - memory by lifetime: chunks freed in one stroke, with deferred calls for foreign
 * resources. */
#ifndef TD_ARENA_H
#define TD_ARENA_H

#include <stddef.h>
#include "base/ctx.h"

typedef struct TdArena TdArena;

/* A point in the life of an arena; what was allocated or deferred after it can be released. */
typedef struct TdMark {
  void *chunk, *defer;
  size_t used;
} TdMark;

/* Returns a new empty arena; the caller frees it. Escapes when out of memory. */
TdArena *td_arena_new(TdCtx *c);

/* The same for temporary use: whoever catches an escape frees, with td_arena_free_scratch, what was
 * under way. */
TdArena *td_arena_scratch(TdCtx *c);
void td_arena_free_scratch(TdCtx *c);
/* Has a scratch arena stay, as td_arena_new's: what it was made for is whole. */
void td_arena_keep(TdArena *a);

/* Runs the deferred calls, newest first, and frees everything. NULL is allowed. */
void td_arena_free(TdArena *a);

/* Returns n zeroed bytes aligned to 16, owned by a. Escapes when out of memory. */
void *td_arena_alloc(TdArena *a, size_t n);

/* Returns count*size zeroed bytes; a product beyond size_t escapes as out of memory. */
void *td_arena_array(TdArena *a, size_t count, size_t size);

/* Returns a NUL-terminated copy of the n bytes at s, owned by a. */
char *td_arena_strndup(TdArena *a, const char *s, size_t n);
char *td_arena_strdup(TdArena *a, const char *s);

/* Returns a copy of the n bytes at p, owned by a. */
void *td_arena_copy(TdArena *a, const void *p, size_t n);

/* Has fn(p) called when a is freed or released to an older mark; at once, with an escape, when out
 * of memory. */
void td_arena_defer(TdArena *a, void (*fn)(void *), void *p);

/* Returns a new arena that is freed with a, or when a is released to an older mark. */
TdArena *td_arena_inner(TdArena *a);

/* A mark now, and the return to one: later allocations are gone, later deferred calls have run. */
TdMark td_arena_mark(const TdArena *a);
void td_arena_release(TdArena *a, TdMark m);

/* Bytes that a holds from the system. */
size_t td_arena_bytes(const TdArena *a);

/* The context that a draws from. */
TdCtx *td_arena_ctx(const TdArena *a);

#define TD_NEW(a, T) ((T *)td_arena_alloc((a), sizeof(T)))
#define TD_NEWN(a, T, n) ((T *)td_arena_array((a), (size_t)(n), sizeof(T)))

#endif
