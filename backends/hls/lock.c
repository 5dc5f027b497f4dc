/* lock.c - buffers of block streams. hls::stream_of_blocks lends one block at a time to either
 * end, by a lock that lasts as long as its scope: a buffer of the program is such a lock where its
 * life fits, else an array that is copied. Giving a buffer back sooner or asking for it later never
 * blocks anyone. */
#include "analysis/order/effects.h"
#include "backends/hls/text.h"

typedef struct Find {
  TdArena *arena;
  TdCtx *ctx;
  const TdAsk *ask;
  TdMap lock;
  const TdExpr *stream; /* the one that is looked for */
  TdMap stored;         /* memory that is written, by symbol */
} Find;

static bool moves(const TdStmt *s) {
  return s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT || s->kind == TD_STMT_PUT;
}

/* Whether s is something else than an operation on the stream, or the use of it by a call. */
static bool leaves_alone(void *ud, const TdStmt *s) {
  const Find *f = ud;
  for (uint32_t i = 0; i < s->nexpr; i++)
    if ((moves(s) || s->kind == TD_STMT_CALL) && s->expr[i]->kind == TD_EXPR_VIEW &&
        s->expr[i]->sym == f->stream->sym)
      return false;
  return true;
}

/* Whether the statements lo to hi - 1 of block b do. */
static bool all_leave_alone(Find *f, const TdStmt *b, uint32_t lo, uint32_t hi) {
  for (uint32_t i = lo; i < hi; i++)
    if (!td_walk_stmt(f->ctx, b->kid[i], leaves_alone, f)) return false;
  return true;
}

static bool declares(const TdStmt *s) {
  return s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_SLOT ||
         (s->kind == TD_STMT_GET && s->nexpr == 1);
}

/* Whether what statements lo to hi - 1 of block b declare is used from hi on. */
static bool outlives(Find *f, const TdStmt *b, uint32_t lo, uint32_t hi) {
  for (uint32_t i = lo; i < hi; i++)
    for (uint32_t k = hi; declares(b->kid[i]) && k < b->nkid; k++)
      if (td_walk_uses(f->ctx, b->kid[k], b->kid[i]->sym)) return true;
  return false;
}

bool td_hls_lock_ends(const TdStmt *s, TdSym slot, const TdExpr *stream) {
  return s->kind == TD_STMT_PUT && td_equal_expr(s->expr[0], stream) &&
         td_expr_keeps_dims(s->expr[1], slot);
}

/* A slot: from here to its put in the same block nothing else touches the stream, and what is
 * declared on the way ends there too. */
static void find_slot(Find *f, const TdStmt *b, uint32_t at) {
  const TdStmt *s = b->kid[at];
  f->stream = s->expr[0];
  for (uint32_t k = at + 1; k < b->nkid; k++) {
    if (!td_hls_lock_ends(b->kid[k], s->sym, f->stream)) continue;
    if (all_leave_alone(f, b, at + 1, k) && !outlives(f, b, at, k + 1))
      td_map_putp(f->arena, &f->lock, s->sym, f);
    return;
  }
}

/* A buffer that was got: to the end of the block nothing else is got, and it is only read. */
static void find_got(Find *f, const TdStmt *b, uint32_t at) {
  const TdStmt *s = b->kid[at];
  f->stream = s->expr[0];
  if (!td_map_getp(&f->stored, s->sym) && all_leave_alone(f, b, at + 1, b->nkid))
    td_map_putp(f->arena, &f->lock, s->sym, f);
}

static void note(Find *f, const TdExpr *e) {
  td_map_putp(f->arena, &f->stored, e->sym, f);
}

/* Notes what a call writes. */
static void note_call(Find *f, const TdStmt *s) {
  const TdUnit *u = td_prog_unit(f->ask->prog, s->sym);
  TdAsk q = {.affine = f->ask->affine, .arena = f->arena, .prog = f->ask->prog, .unit = u};
  const TdEffect *e;
  size_t n = u->body ? td_effects_of(&q, u->body, &e) : 0;
  for (size_t i = 0; i < u->nparam; i++) {
    const TdEffect *x = u->body ? td_effects_find(e, n, u->param[i].sym) : NULL;
    bool foreign = !u->body && s->expr[i]->kind == TD_EXPR_VIEW;
    if (foreign || (x && x->write)) note(f, s->expr[i]);
  }
}

static bool note_store(void *ud, const TdStmt *s) {
  Find *f = ud;
  if (s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET) note(f, s->expr[0]);
  if (s->kind == TD_STMT_GET && s->nexpr > 1) note(f, s->expr[1]);
  if (s->kind == TD_STMT_CALL) note_call(f, s);
  return true;
}

static bool visit(void *ud, const TdStmt *b) {
  for (uint32_t i = 0; b->kind == TD_STMT_BLOCK && i < b->nkid; i++) {
    const TdStmt *s = b->kid[i];
    if (!moves(s) || !s->expr[0]->type->block) continue;
    if (s->kind == TD_STMT_SLOT) find_slot(ud, b, i);
    if (s->kind == TD_STMT_GET && s->nexpr == 1) find_got(ud, b, i);
  }
  return true;
}

TdMap td_hls_lock_find(const TdAsk *q, TdCtx *c, const TdStmt *s) {
  Find f = {.arena = q->arena, .ctx = c, .ask = q};
  td_walk_stmt(c, s, note_store, &f);
  td_walk_stmt(c, s, visit, &f);
  return f.lock;
}
