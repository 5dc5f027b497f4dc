/* blocks.c - streams of tensors as streams of blocks: objectFIFOs hold buffers that tasks fill and
 * read in place. A local that is filled and put is the buffer itself, a token that is got and only
 * read too; all else is copied. */
#include "backends/npu/form.h"

typedef struct Blocks {
  TdSession *session;
  TdStore *store;
  TdArena *arena;
  TdMap stream; /* that were of tensors */
} Blocks;

static bool is_tensor_stream(const TdStream *s) {
  return !s->type->block && s->type->elem->kind == TD_T_TENSOR;
}

/* Whether a statement moves a token of a stream that becomes one of blocks. */
static bool is_end(const Blocks *b, const TdStmt *s) {
  return (s->kind == TD_STMT_GET || s->kind == TD_STMT_PUT) &&
         td_map_getp(&b->stream, s->expr[0]->sym);
}

/* The stream of an end, of blocks. */
static const TdExpr *port_of(const Blocks *b, const TdExpr *e) {
  const TdType *t = td_type_port(b->session, e->type->elem, 0, NULL, true);
  return td_expr_view(b->store->arena, e->sym, t, e->kid, e->u.dim, (int)e->nkid, e->loc);
}

static const TdExpr *whole(const Blocks *b, TdSym sym, const TdType *t, TdLoc loc) {
  return td_expr_whole(b->session, b->store->arena, sym, t, loc);
}

/* ---- what an array is used for ---- */

typedef struct Use {
  TdSym sym;
  const TdStmt *put; /* of it as a whole */
  size_t puts;
  bool written, passed;
} Use;

static bool look(void *ud, const TdStmt *s) {
  Use *u = ud;
  bool stores = s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET;
  u->written |= stores && s->expr[0]->sym == u->sym;
  u->written |= s->kind == TD_STMT_GET && s->nexpr > 1 && s->expr[1]->sym == u->sym;
  for (uint32_t i = 0; s->kind == TD_STMT_CALL && i < s->nexpr; i++)
    u->written |= s->expr[i]->sym == u->sym;
  if (s->kind == TD_STMT_PUT && s->expr[1]->sym == u->sym &&
      td_expr_keeps_dims(s->expr[1], u->sym)) {
    u->put = s;
    u->puts++;
  }
  return true;
}

static Use use_of(const Blocks *b, const TdStmt *const *s, size_t n, TdSym sym) {
  Use u = {.sym = sym};
  for (size_t i = 0; i < n; i++) td_walk_stmt(b->session->ctx, s[i], look, &u);
  return u;
}

/* The statement of s that puts the local of s[0], which nothing uses behind it; NULL: the local is
 * no buffer. */
static const TdStmt *put_of(const Blocks *b, const TdStmt *const *s, size_t n) {
  const TdStmt *local = s[0];
  if (local->kind != TD_STMT_LOCAL || local->cls != TD_LOCAL_AUTO ||
      local->type->kind != TD_T_TENSOR || local->init == TD_INIT_VALUE)
    return NULL;
  Use u = use_of(b, s + 1, n - 1, local->sym);
  if (u.puts != 1 || !is_end(b, u.put) || u.put->expr[0]->type->elem != local->type) return NULL;
  size_t at = 1;
  while (at < n && s[at] != u.put) at++;
  for (size_t i = at + 1; i < n; i++)
    if (td_walk_uses(b->session->ctx, s[i], local->sym)) return NULL;
  return at < n ? u.put : NULL;
}

static bool is_no_load(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD;
}

/* ---- the rewrite ---- */

typedef TD_VEC(const TdStmt *) Stmts;

static const TdStmt *rewrite(Blocks *b, const TdStmt *s);

/* A put of what is no buffer: of a buffer that it is copied to. */
static void copy_out(Blocks *b, const TdStmt *s, Stmts *out) {
  TdStore *st = b->store;
  const TdExpr *port = port_of(b, s->expr[0]);
  const TdType *t = port->type->elem;
  TdSym o = td_store_sym(st, s->expr[0]->sym->name, TD_SYM_LOCAL);
  td_vec_push(b->arena, out, td_stmt_slot(st, port, o, t, s->loc));
  td_vec_push(b->arena, out, td_stmt_set(st, whole(b, o, t, s->loc), s->expr[1], s->loc));
  td_vec_push(b->arena, out, td_stmt_put(st, port, whole(b, o, t, s->loc), s->loc));
}

/* A get: of a buffer that is read in place, or copied to what is written. */
static void get_in(Blocks *b, const TdStmt *s, const TdStmt *const *rest, size_t n, Stmts *out) {
  TdStore *st = b->store;
  const TdExpr *port = port_of(b, s->expr[0]);
  const TdType *t = port->type->elem;
  bool read = s->sym && !use_of(b, rest, n, s->sym).written;
  TdSym o = read ? s->sym : td_store_sym(st, s->expr[0]->sym->name, TD_SYM_LOCAL);
  td_vec_push(b->arena, out, td_stmt_get(st, port, o, t, NULL, s->loc));
  if (read) return;
  if (s->sym) td_vec_push(b->arena, out, td_stmt_local(st, s->sym, t, TD_INIT_NONE, NULL, s->loc));
  const TdExpr *to = s->sym ? whole(b, s->sym, t, s->loc) : s->expr[1];
  td_vec_push(b->arena, out, td_stmt_set(st, to, whole(b, o, t, s->loc), s->loc));
}

static const TdStmt *rewrite_block(Blocks *b, const TdStmt *s) {
  TdStore *st = b->store;
  Stmts out = {0};
  TdMap direct = {0};
  for (uint32_t i = 0; i < s->nkid; i++) {
    const TdStmt *k = s->kid[i], *put = put_of(b, s->kid + i, s->nkid - i);
    if (put && td_walk_expr(put->expr[0], is_no_load, NULL)) {
      td_map_putp(b->arena, &direct, put, b);
      td_vec_push(b->arena, &out,
                  td_stmt_slot(st, port_of(b, put->expr[0]), k->sym, k->type, k->loc));
      if (k->init == TD_INIT_FILL)
        td_vec_push(b->arena, &out,
                    td_stmt_set(st, whole(b, k->sym, k->type, k->loc), k->expr[0], k->loc));
    } else if (is_end(b, k) && td_map_getp(&direct, k)) {
      td_vec_push(b->arena, &out, td_stmt_put(st, port_of(b, k->expr[0]), k->expr[1], k->loc));
    } else if (is_end(b, k) && k->kind == TD_STMT_PUT) {
      copy_out(b, k, &out);
    } else if (is_end(b, k)) {
      get_in(b, k, s->kid + i + 1, s->nkid - i - 1, &out);
    } else {
      td_vec_push(b->arena, &out, rewrite(b, k));
    }
  }
  return td_stmt_with_kids(st, s, out.at, out.n);
}

static const TdStmt *rewrite(Blocks *b, const TdStmt *s) {
  if (s->kind == TD_STMT_BLOCK) return rewrite_block(b, s);
  if (!s->nkid) return s;
  const TdStmt **kid = TD_NEWN(b->arena, const TdStmt *, s->nkid);
  for (uint32_t i = 0; i < s->nkid; i++) kid[i] = rewrite(b, s->kid[i]);
  return td_stmt_with_kids(b->store, s, kid, s->nkid);
}

/* The design with streams of blocks. */
static const TdUnit *with_blocks(Blocks *b, const TdUnit *d) {
  TdUnit *u = td_unit_copy(b->store, d);
  TdStream *stream = td_arena_copy(b->store->arena, u->stream, u->nstream * sizeof *stream);
  for (size_t i = 0; i < u->nstream; i++) {
    const TdType *t = stream[i].type;
    if (!is_tensor_stream(&stream[i])) continue;
    stream[i].type = td_type_port(b->session, t->elem, t->rank, t->dim, true);
    td_map_putp(b->arena, &b->stream, stream[i].sym, b);
  }
  u->stream = stream;
  return u;
}

const TdProg *td_npu_blocks(TdArena *a, const TdProg *p) {
  TdSession *ss = p->store->session;
  Blocks b = {.session = ss, .store = td_store_inner(a, ss), .arena = a};
  const TdUnit **unit = td_arena_copy(a, p->unit, p->nunit * sizeof *unit);
  bool any = false;
  for (size_t i = 0; i < p->nunit; i++) {
    bool has = false;
    for (size_t k = 0; k < unit[i]->nstream; k++) has |= is_tensor_stream(&unit[i]->stream[k]);
    if (has) unit[i] = with_blocks(&b, unit[i]);
    any |= has;
  }
  for (size_t i = 0; i < p->nunit && any; i++)
    if (unit[i]->body) unit[i] = td_unit_with_body(b.store, unit[i], rewrite(&b, unit[i]->body));
  return any ? td_prog_new(b.store, unit, p->nunit) : p;
}
