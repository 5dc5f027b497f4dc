/* banks.c - banks of the buffers of block streams: a buffer is a block of its stream, which all
 * tasks see alike, so that the stream has the banks in which those of all its buffers meet. */
#include "analysis/net/banks.h"
#include "lower/net/net.h"

/* A stream, and what its buffers ask for so far. */
typedef struct Blocks {
  TdNet *n;
  TdStream *stream;
  const TdType *block;
  TdSym sym; /* the stream in the body that is looked at */
} Blocks;

static void look_in(Blocks *b, const TdUnit *u, TdSym sym);

/* Joins what a buffer is asked to have. */
static void join(Blocks *b, TdAttrs asked) {
  TdNames *names = b->n->store->session->names;
  for (int d = 0; d < b->block->rank; d++) {
    int64_t extent = 0;
    td_type_extent(b->block, d, &extent);
    TdBanks own = td_banks_of(b->stream->attrs, d, extent);
    TdBanks both = td_banks_meet(own, td_banks_of(asked, d, extent), extent);
    if (td_banks_equal(own, both)) continue;
    b->stream->attrs = td_banks_set(b->n->store->arena, names, b->stream->attrs, d, both);
  }
}

static bool look(void *ud, const TdStmt *s) {
  Blocks *b = ud;
  bool got = s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
  if (got && s->expr[0]->sym == b->sym) join(b, s->attrs);
  if (s->kind != TD_STMT_CALL) return true;
  const TdUnit *f = td_prog_unit(b->n->prog, s->sym);
  TdSym own = b->sym;
  for (size_t i = 0; f->body && i < f->nparam; i++)
    if (s->expr[i]->kind == TD_EXPR_VIEW && s->expr[i]->sym == own) look_in(b, f, f->param[i].sym);
  b->sym = own;
  return true;
}

/* Looks at the buffers that come from stream `sym` of unit u. */
static void look_in(Blocks *b, const TdUnit *u, TdSym sym) {
  td_ctx_enter(b->n->store->session->ctx);
  b->sym = sym;
  td_walk_stmt(b->n->store->session->ctx, u->body, look, b);
  td_ctx_leave(b->n->store->session->ctx);
}

void td_net_banks(TdNet *n) {
  for (size_t i = 0; i < n->stream.n; i++) {
    TdStream *s = &n->stream.at[i];
    if (!s->type->block) continue;
    Blocks b = {n, s, td_unit_type(n->store->session, n->design, s->type)->elem, NULL};
    for (size_t r = 0; r < n->design->nrun; r++)
      look_in(&b, td_prog_unit(n->prog, n->design->run[r].unit), s->sym);
  }
}
