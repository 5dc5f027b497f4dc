/* token_layout.c - tokens of a stream travel as they lie where they come from. */
#include "rewrite/array/collapse_nest.h"
#include "rewrite/array/local.h"

/* The ends of a stream, and how its tokens are to travel. */
typedef struct Token {
  TdRewrite *r;
  TdStreamAt at;
  const TdStream *stream;
  const TdUnit *put_unit;
  const TdStmt *put;
  TD_VEC(TdPlace) get; /* unit, statement */
  const TdUnit *unit;  /* whose body is walked */
  const TdStmt *other; /* a use that is no such end */
  TdCopy copy;         /* that fills the token; copy.from is where it lies */
  TdTurn from;         /* of copy.from */
  TdCopyOf was;        /* a token as it was, of one as it is to be; type NULL: not known */
  const TdType *type;  /* of the tokens to be */
} Token;

static bool refuse(const Token *t, const char *code, TdLoc loc, const char *why) {
  td_util_refuse(t->r, TD_ILLEGAL, code, loc, "'%s' %s", t->stream->sym->name, why);
  return false;
}

static bool is_other(void *ud, const TdExpr *e) {
  return e->kind != TD_EXPR_VIEW || e->sym != ud;
}

static bool look_end(void *ud, const TdStmt *s) {
  Token *t = ud;
  TdPlace at = {.unit = t->unit, .stmt = s, .sym = s->sym};
  bool put = s->kind == TD_STMT_PUT, get = s->kind == TD_STMT_GET && s->nexpr == 1;
  for (uint32_t i = 0; i < s->nexpr; i++) {
    if (td_walk_expr(s->expr[i], is_other, (void *)(uintptr_t)t->stream->sym)) continue;
    if (i || !(put || get) || (put && t->put)) {
      t->other = s;
    } else if (get) {
      td_vec_push(t->r->arena, &t->get, at);
    } else {
      t->put = s;
      t->put_unit = t->unit;
    }
  }
  return true;
}

/* Finds the ends: one put of a whole local array, and gets that declare what they get. */
static bool find_ends(Token *t) {
  const TdProg *p = t->r->prog;
  const TdType *token = t->stream->type->elem;
  if (token->kind != TD_T_TENSOR || t->stream->type->block)
    return refuse(t, "token", t->stream->loc,
                  t->stream->type->block ? "is a block stream: its tokens are the storage itself"
                                         : "carries elements, which have no arrangement");
  for (size_t i = 0; i < p->nunit; i++) {
    t->unit = p->unit[i];
    if (t->unit->body) td_walk_stmt(t->r->session->ctx, t->unit->body, look_end, t);
  }
  if (t->other && t->other->kind == TD_STMT_GET)
    return refuse(t, "ends", t->other->loc, "is got into an array here: get it into a local first");
  if (t->other)
    return refuse(t, "ends", t->other->loc, "is used in another way, or put again, here");
  if (!t->put || !t->get.n) return refuse(t, "ends", t->stream->loc, "has no two ends");
  const TdExpr *v = t->put->expr[1];
  return v->kind == TD_EXPR_VIEW ||
         refuse(t, "not-a-copy", t->put->loc, "is put a value that is no array");
}

/* A search for the only store of an array. */
typedef struct Store {
  TdSym sym;
  const TdStmt *at;
  int n;
} Store;

static bool look_store(void *ud, const TdStmt *s) {
  Store *k = ud;
  bool place = s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET || s->kind == TD_STMT_GET;
  for (uint32_t i = 0; place && i < s->nexpr; i++)
    if (s->expr[i]->sym == k->sym && (i == 0 || s->kind == TD_STMT_GET)) k->at = s, k->n++;
  return true;
}

/* The element's indices that the loops move, from where they begin. */
static int from_base(const Token *t, const TdExpr **index) {
  int n = 0;
  for (int d = 0; d < t->from.rank; d++)
    if (!t->from.fixed[d])
      index[n++] =
          td_lin_minus(t->r->session, t->r->store->arena, t->copy.from->kid[d], t->from.base[d]);
  return n;
}

/* Where the elements of a token as it was lie in one as it is to be. */
static void find_places(Token *t) {
  TdCopy c = t->copy;
  const TdExpr *index[TD_MAX_RANK];
  int n = from_base(t, index);
  bool shifts;
  t->was.other = t->stream->sym;
  c.from = td_expr_load(t->r->store->arena, c.from->sym, c.from->type, index, n, c.from->loc);
  if (td_copy_places(&c, t->type, &t->was.at, &shifts)) t->was.type = t->stream->type->elem;
}

/* Finds the copy that fills what is put, and the tile that it is a copy of. */
static bool find_copy(Token *t) {
  TdRewrite *r = t->r;
  Store k = {.sym = t->put->expr[1]->sym};
  td_walk_stmt(r->session->ctx, t->put_unit->body, look_store, &k);
  if (k.n != 1 || !td_copy_is(k.at))
    return refuse(t, "not-a-copy", t->put->loc, "is put what no single copy fills");
  td_copy_find(&t->copy, r, t->put_unit, k.at, k.sym);
  TdCopy *c = &t->copy;
  if (!td_index_inverse_of(&c->turn, r, t->put_unit, c->loop, c->nloop, c->to) ||
      !td_index_inverse_covers(&c->turn, t->stream->type->elem) ||
      !td_index_inverse_of(&t->from, r, t->put_unit, c->loop, c->nloop, c->from))
    return refuse(t, "index", k.at->loc, "is put a copy that is not of each element once");
  int rank = 0;
  int64_t extent[TD_MAX_RANK];
  for (int d = 0; d < t->from.rank; d++)
    if (!t->from.fixed[d] && !td_index_inverse_extent(&t->from, d, &extent[rank++]))
      return refuse(t, "index", k.at->loc, "is put a copy of what is no tile");
  t->put_unit = td_util_assume_sizes(r, c->turn.unit, &(TdUnit){.body = c->nest});
  t->type = td_type_tensor_of(r->session, t->stream->type->elem->elem, rank, extent);
  find_places(t);
  return true;
}

/* Where element e of a token as it was is in one as it is to be. */
static int element_at(const Token *t, const TdUnit *u, const TdStmt *s, const TdExpr *e,
                      const TdExpr **index) {
  TdRewrite *r = t->r;
  const TdCopy *c = &t->copy;
  const TdExpr **value = TD_NEWN(r->arena, const TdExpr *, c->nloop + 1);
  TdSubst sub = td_subst_new(r->store);
  int n = from_base(t, index);
  td_index_inverse_at(&c->turn, e->kid, value);
  for (size_t k = 0; k < c->nloop; k++) td_subst_expr(&sub, c->loop[k]->sym, value[k]);
  for (int d = 0; d < n; d++)
    index[d] = td_index_inverse_reduce(r, u, s, td_subst_in_expr(&sub, index[d]));
  return n;
}

/* The tokens of one end being turned. */
typedef struct Turning {
  const Token *t;
  const TdUnit *unit;
  const TdStmt *at;
  TdSym sym;
} Turning;

static const TdExpr *turn(void *ud, const TdExpr *e) {
  const Turning *q = ud;
  TdRewrite *r = q->t->r;
  TdArena *a = r->store->arena;
  const TdExpr *index[TD_MAX_RANK];
  if (e->kind == TD_EXPR_VIEW && e->sym == q->t->stream->sym) {
    const TdType *t = td_type_port(r->session, q->t->type, e->type->rank, e->type->dim, false);
    return td_expr_view(a, e->sym, t, e->kid, e->u.dim, (int)e->nkid, e->loc);
  }
  if (e->sym != q->sym) return e;
  if (e->kind == TD_EXPR_VIEW) return td_expr_whole(r->session, a, q->sym, q->t->type, e->loc);
  if (e->kind != TD_EXPR_LOAD) return e;
  int n = element_at(q->t, q->unit, q->at, e, index);
  return td_expr_load(a, e->sym, e->type, index, n, e->loc);
}

/* The statements that use a symbol or the stream. */
typedef struct Users {
  const Token *t;
  TdSym sym;
  TD_VEC(const TdStmt *) at;
} Users;

static bool is_unused(void *ud, const TdExpr *e) {
  const Users *k = ud;
  return !e->sym || (e->sym != k->sym && e->sym != k->t->stream->sym);
}

static bool look_user(void *ud, const TdStmt *s) {
  Users *k = ud;
  bool uses = s->sym == k->sym;
  for (uint32_t i = 0; i < s->nexpr && !uses; i++) uses = !td_walk_expr(s->expr[i], is_unused, k);
  if (uses) td_vec_push(k->t->r->arena, &k->at, s);
  return true;
}

/* Unit u with the token `sym` (and the ends of the stream) turned. */
static const TdUnit *turn_unit(const Token *t, const TdUnit *u, TdSym sym) {
  TdRewrite *r = t->r;
  Users k = {.t = t, .sym = sym};
  const TdStmt *body = u->body;
  td_walk_stmt(r->session->ctx, body, look_user, &k);
  for (size_t i = 0; i < k.at.n; i++) {
    Turning q = {t, u, k.at.at[i], sym};
    const TdStmt *s = td_edit_find(r->session->ctx, body, q.at->uid);
    const TdExpr **e = TD_NEWN(r->arena, const TdExpr *, s->nexpr);
    for (uint32_t x = 0; x < s->nexpr; x++)
      e[x] = td_walk_map_expr(r->store->arena, s->expr[x], turn, &q);
    TdStmt *now =
        td_arena_copy(r->store->arena, td_stmt_with_exprs(r->store, s, e, s->nexpr), sizeof *now);
    if (s->sym == sym && (s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET)) now->type = t->type;
    const TdStmt *one = now;
    body = td_edit_replace(r->store, body, s->uid, &one, 1);
  }
  return td_unit_with_body(r->store, u, body);
}

/* The program with tokens in the other arrangement at both ends; NULL: refused. */
static const TdProg *turn_ends(Token *t) {
  TdRewrite *r = t->r;
  const TdProg *p = td_prog_with(r->prog, turn_unit(t, t->put_unit, t->put->expr[1]->sym));
  for (size_t i = 0; i < t->get.n; i++) {
    const TdPlace *g = &t->get.at[i];
    TdLocalArray l = {.r = r, .unit = td_prog_unit(p, g->unit->sym), .sym = g->sym};
    l.decl = g->stmt;
    l.type = g->stmt->type;
    if (!td_local_write_out(&l, false)) return NULL;
    t->was.unit = l.unit;
    t->was.array = l.sym;
    if (t->was.type) td_copy_note(r, &t->was);
    p = td_prog_with(p, turn_unit(t, l.unit, g->sym));
  }
  TdUnit *d = td_unit_copy(r->store, td_prog_unit(p, t->at.design->sym));
  TdStream *s = td_arena_copy(r->store->arena, d->stream, d->nstream * sizeof *s);
  const TdType *was = s[t->at.at].type;
  s[t->at.at].type = td_type_port(r->session, t->type, was->rank, was->dim, false);
  d->stream = s;
  return td_prog_with(p, d);
}

/* A search for the declaration of an array. */
typedef struct Declared {
  TdSym sym;
  const TdStmt *at;
} Declared;

static bool look_declared(void *ud, const TdStmt *s) {
  Declared *d = ud;
  bool declares = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
  if (declares && s->sym == d->sym) d->at = s;
  return true;
}

const TdProg *td_token_collapse(TdRewrite *r, const TdStreamAt *stream) {
  Token t = {.r = r, .at = *stream, .stream = &stream->design->stream[stream->at]};
  if (!find_ends(&t) || !find_copy(&t)) return NULL;
  const TdProg *was = r->prog, *p = turn_ends(&t);
  if (!p) return NULL;
  Declared d = {.sym = t.copy.to->sym};
  const TdUnit *u = td_prog_unit(p, t.put_unit->sym);
  td_walk_stmt(r->session->ctx, u->body, look_declared, &d);
  r->prog = p;
  p = td_collapse_array(r, &(TdPlace){.unit = u, .stmt = d.at, .sym = d.sym});
  r->prog = was;
  return p;
}
