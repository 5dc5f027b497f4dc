/* shrink.c - the nest of an array, for the part of it that an iteration reads. */
#include "rewrite/loop/shrink.h"

#include "analysis/order/faults.h"

/* What is known of the producer. */
typedef struct Producer {
  const TdMove *m;
  const TdStmt *nest;
  TdSym array;
  const TdType *type;
  const TdStmt *decl;              /* of a local, else NULL */
  const TdStmt *loop[TD_MAX_RANK]; /* that indexes each dimension, NULL: a constant does */
  int64_t offset[TD_MAX_RANK];     /* index less variable */
  bool known;                      /* an access was seen */
  const char *unfit;               /* why the nest cannot be cut */
} Producer;

static bool refuse(const Producer *p, const char *why) {
  td_util_refuse(p->m->r, TD_ILLEGAL, "ranges", p->nest->loc, "'%s' cannot be computed again: %s",
                 p->array ? p->array->name : p->nest->sym->name, why);
  return false;
}

const TdStmt *td_shrink_moved(const TdMove *m, const TdStmt *const *first, size_t n) {
  TdStore *st = m->r->store;
  const TdStmt *body = td_for_body(m->target);
  const TdStmt **kid = TD_NEWN(st->arena, const TdStmt *, n + body->nkid + m->to);
  for (size_t i = 0; i < n; i++) kid[i] = first[i];
  for (uint32_t i = 0; i < body->nkid; i++) kid[n + i] = body->kid[i];
  const TdStmt *now = td_stmt_with_kids(st, body, kid, n + body->nkid);
  const TdStmt *consumer = td_edit_replace(st, m->block->kid[m->to], body->uid, &now, 1);
  n = 0;
  for (size_t i = m->from + 1; i < m->to; i++) kid[n++] = m->block->kid[i];
  kid[n++] = consumer;
  return td_stmt_block(st, kid, n, consumer->loc);
}

const TdProg *td_shrink_replaced(const TdMove *m, const TdUnit *u, const TdStmt *after) {
  TdStore *st = m->r->store;
  const TdStmt **kid = TD_NEWN(st->arena, const TdStmt *, m->block->nkid);
  size_t n = 0;
  for (size_t i = 0; i < m->from; i++) kid[n++] = m->block->kid[i];
  for (uint32_t i = 0; i < after->nkid; i++) kid[n++] = after->kid[i];
  for (size_t i = m->to + 1; i < m->block->nkid; i++) kid[n++] = m->block->kid[i];
  return td_util_with_stmt(m->r, u, m->block->uid, td_stmt_with_kids(st, m->block, kid, n));
}

/* A search for the FOR of a symbol. */
typedef struct LoopOf {
  TdSym sym;
  const TdStmt *found;
} LoopOf;

static bool is_other_loop(void *ud, const TdStmt *s) {
  LoopOf *q = ud;
  if (s->kind == TD_STMT_FOR && s->sym == q->sym) q->found = s;
  return !q->found;
}

/* The loop of the nest with this variable, or NULL. */
static const TdStmt *loop_of(const Producer *p, TdSym v) {
  LoopOf q = {v, NULL};
  td_walk_stmt(p->m->r->session->ctx, p->nest, is_other_loop, &q);
  return q.found;
}

/* Reads index e as a loop variable of the nest plus a constant, or as a constant. */
static bool read_index(const Producer *p, const TdExpr *e, const TdStmt **loop, int64_t *offset) {
  TdLin x = td_lin_of(p->m->r->session, p->m->r->arena, e);
  *offset = x.constant;
  *loop = NULL;
  if (x.n == 0) return true;
  if (x.n > 1 || x.term[0].coef != 1 || x.term[0].atom->kind != TD_EXPR_VAR) return false;
  *loop = loop_of(p, x.term[0].atom->sym);
  return *loop != NULL;
}

/* Learns how the array is indexed; all accesses must be of one element for each iteration. */
static bool look_access(void *ud, const TdExpr *e) {
  Producer *p = ud;
  if (e->sym != p->array) return true;
  if (e->kind != TD_EXPR_LOAD) {
    p->unfit = "it is used as a whole";
    return false;
  }
  for (uint32_t d = 0; d < e->nkid && !p->unfit; d++) {
    const TdStmt *loop;
    int64_t offset;
    if (!read_index(p, e->kid[d], &loop, &offset) || (loop && loop->step != 1))
      p->unfit = "an index is not a loop variable plus a constant";
    else if (p->known && (loop != p->loop[d] || offset != p->offset[d]))
      p->unfit = "an iteration uses several of its elements";
    p->loop[d] = loop;
    p->offset[d] = offset;
    for (uint32_t k = 0; k < d && loop && !p->unfit; k++)
      if (p->loop[k] == loop) p->unfit = "one loop indexes two dimensions";
  }
  p->known = true;
  return !p->unfit;
}

/* The innermost loop that indexes the array, or the nest itself. */
static const TdStmt *innermost(const Producer *p) {
  const TdStmt *in = p->nest;
  TdCtx *c = p->m->r->session->ctx;
  for (int d = 0; p->type->kind == TD_T_TENSOR && d < p->type->rank; d++)
    if (p->loop[d] && td_edit_find(c, in, p->loop[d]->uid)) in = p->loop[d];
  return in;
}

static bool is_not_jump(void *ud, const TdStmt *s) {
  (void)ud;
  return s->kind != TD_STMT_BREAK && s->kind != TD_STMT_RETURN;
}

/* Finds the array among what the nest does, which must be nothing else that lasts. */
static bool find_array(Producer *p) {
  TdRewrite *r = p->m->r;
  TdAsk q = td_util_ask(r, p->m->unit);
  const TdEffect *e;
  size_t n = td_effects_of(&q, p->nest, &e), written = 0;
  p->array = p->m->array;
  for (size_t i = 0; i < n; i++) {
    if (e[i].kind != TD_CELL_MEMORY) return refuse(p, "it uses streams");
    if (!e[i].write || e[i].inside) continue;
    if (!p->array) p->array = e[i].sym;
    written += e[i].sym != p->array;
  }
  if (!p->array || written) return refuse(p, "its nest writes other things too");
  TdPlace at;
  if (!td_cursor_array(r->arena, r->prog, p->array->name, p->m->unit, &at, r->diag)) return false;
  p->decl = at.stmt;
  p->type = at.stmt ? at.stmt->type : td_unit_param(at.unit, at.sym)->type;
  return true;
}

/* Whether no iteration of a loop that is cut hands anything on to the next in a local of the nest.
 */
static bool check_locals(const Producer *p) {
  TdAsk q = td_util_ask(p->m->r, p->m->unit);
  for (int d = 0; p->type->kind == TD_T_TENSOR && d < p->type->rank; d++) {
    const TdEffect *e;
    size_t n = p->loop[d] ? td_effects_of(&q, td_for_body(p->loop[d]), &e) : 0;
    for (size_t i = 0; i < n; i++)
      if (e[i].write && !e[i].inside && e[i].kind == TD_CELL_MEMORY && e[i].sym != p->array)
        return refuse(p, td_text_fmt(p->m->r->arena, "iterations of '%s' hand on '%s'",
                                     p->loop[d]->sym->name, e[i].sym->name));
  }
  return true;
}

/* Whether the nest computes each element by itself and afresh. */
static bool check_nest(Producer *p) {
  TdRewrite *r = p->m->r;
  TdFootprint f;
  if (!find_array(p)) return false;
  if (!td_walk_stmt(r->session->ctx, p->nest, is_not_jump, NULL))
    return refuse(p, "its nest may end early");
  td_walk_exprs(r->session->ctx, p->nest, look_access, p);
  if (p->unfit) return refuse(p, p->unfit);
  if (!check_locals(p)) return false;
  TdAsk q = td_util_ask(r, p->m->unit);
  if (!td_footprint_of(&q, td_for_body(innermost(p)), p->array, p->type, &f) ||
      (f.read && !f.prepared))
    return refuse(p, "it depends on what it held before");
  return true;
}

/* Whether nothing up to the end of the consumer changes what the nest reads, or the array. */
static bool check_inputs(const Producer *p) {
  const TdMove *m = p->m;
  TdAsk q = td_util_ask(m->r, m->unit);
  const TdEffect *own, *other;
  size_t nown = td_effects_of(&q, p->nest, &own);
  for (size_t i = m->from + 1; i <= m->to; i++) {
    size_t n = td_effects_of(&q, m->block->kid[i], &other);
    for (size_t k = 0; k < n; k++) {
      const TdEffect *e = td_effects_find(own, nown, other[k].sym);
      if (!e || e->inside || other[k].inside) continue;
      if (other[k].write || (e->sym == p->array && i < m->to))
        return refuse(p, td_text_fmt(m->r->arena, "'%s' is used on the way", e->sym->name));
    }
  }
  return true;
}

/* Uses of a symbol in a tree. */
typedef struct Uses {
  TdSym sym;
  size_t n;
} Uses;

static bool count_use(void *ud, const TdExpr *e) {
  Uses *u = ud;
  u->n += e->sym == u->sym;
  return true;
}

static size_t uses_in(const Producer *p, const TdStmt *s) {
  Uses u = {p->array, 0};
  td_walk_exprs(p->m->r->session->ctx, s, count_use, &u);
  return u.n;
}

/* The greater (op MAX), or the lesser, of bound x and the loop's own bound y; y where that could
 * not be said as a bound. */
static const TdExpr *tighter(const Producer *p, TdOp op, const TdExpr *x, const TdExpr *y) {
  TdRewrite *r = p->m->r;
  TdAsk q = td_util_ask(r, p->m->unit);
  const TdType *t = td_type_bool(r->session);
  const TdStmt *body = td_for_body(p->m->target);
  bool less = td_range_holds(&q, body, td_expr_op2(r->arena, TD_OP_LE, t, x, y), false) == TD_YES;
  bool more = td_range_holds(&q, body, td_expr_op2(r->arena, TD_OP_LE, t, y, x), false) == TD_YES;
  if (less) return op == TD_OP_MAX ? y : x;
  if (more) return op == TD_OP_MAX ? x : y;
  bool varies = td_util_varies(x) || td_util_varies(y);
  return varies ? td_expr_op2(r->store->arena, op, x->type, x, y) : y;
}

/* The loop's own bound tightened by all parts of e (a max, or a min), moved by `by`. */
static const TdExpr *cut_bound(const Producer *p, TdOp op, const TdExpr *e, int64_t by,
                               const TdExpr *own) {
  TdRewrite *r = p->m->r;
  TdParts part = td_util_parts(r, e, op);
  for (size_t i = 0; i < part.n; i++) {
    const TdExpr *x = td_lin_plus(r->session, r->store->arena, part.at[i], td_util_const(r, by));
    own = tighter(p, op, x, own);
  }
  return own;
}

/* The nest, a block, with the loop of dimension d cut down to indices [from, to). */
static const TdStmt *cut_loop(const Producer *p, const TdStmt *nest, int d, const TdExpr *from,
                              const TdExpr *to) {
  TdRewrite *r = p->m->r;
  const TdStmt *loop = td_edit_find(r->session->ctx, nest, p->loop[d]->uid);
  const TdExpr *lo = cut_bound(p, TD_OP_MAX, from, -p->offset[d], td_for_lo(loop));
  const TdExpr *hi = cut_bound(p, TD_OP_MIN, to, -p->offset[d], td_for_hi(loop));
  int64_t n;
  if (!td_lin_diff(r->session, hi, lo, &n) || n != 1) {
    const TdStmt *now = td_util_reloop(r, loop, loop->sym, lo, hi, loop->step, td_for_body(loop));
    return td_edit_replace(r->store, nest, loop->uid, &now, 1);
  }
  TdSubst sub = td_subst_new(r->store);
  td_subst_expr(&sub, loop->sym, td_util_written_out(r->store->arena, lo));
  const TdStmt *body = td_subst_in_stmt(&sub, td_for_body(loop));
  return td_edit_replace(r->store, nest, loop->uid, body->kid, body->nkid);
}

/* The nest cut down to what an iteration of the target reads, as a block. */
static const TdStmt *cut_nest(const Producer *p) {
  TdRewrite *r = p->m->r;
  TdAsk q = td_util_ask(r, p->m->unit);
  TdMoved load, store;
  q.arena = r->store->arena;
  if (!td_footprint_moves(&q, td_for_body(p->m->target), p->array, p->type, &load, &store) ||
      !load.any) {
    refuse(p, "the loop reads nothing of it");
    return NULL;
  }
  const TdStmt *nest = td_util_block1(r, p->nest);
  for (int d = 0; d < load.rank; d++)
    if (p->loop[d]) nest = cut_loop(p, nest, d, load.from[d], load.to[d]);
  return nest;
}

/* Whether the consumer now writes all that the nest wrote. */
static bool is_all_written(const Producer *p, const TdProg *now, const TdStmt *after) {
  TdRewrite *r = p->m->r;
  TdAsk q = td_util_ask(r, p->m->unit), then = q;
  TdFootprint x, y;
  int64_t d;
  then.prog = now;
  then.unit = td_prog_unit(now, p->m->unit->sym);
  if (!td_footprint_of(&q, p->nest, p->array, p->type, &x) ||
      !td_footprint_of(&then, after->kid[after->nkid - 1], p->array, p->type, &y) || !y.filled)
    return false;
  for (int k = 0; k < x.box.rank; k++)
    if (!td_lin_diff(r->session, x.box.lo[k], y.box.lo[k], &d) || d ||
        !td_lin_diff(r->session, x.box.extent[k], y.box.extent[k], &d) || d)
      return false;
  return true;
}

/* Whether the array is a local of the block, new each time, that only the two nests use. */
static bool is_private(const Producer *p) {
  const TdMove *m = p->m;
  bool here = false;
  for (size_t i = 0; i < m->from; i++) here |= m->block->kid[i] == p->decl;
  return here && p->decl->kind == TD_STMT_LOCAL && p->decl->cls == TD_LOCAL_AUTO &&
         uses_in(p, m->block) == uses_in(p, p->nest) + uses_in(p, m->block->kid[m->to]);
}

/* A search for what may fault. */
typedef struct Faulty {
  TdAsk q;
  const TdStmt *nest;
  const TdExpr *found;
} Faulty;

static bool is_faultless(void *ud, const TdExpr *e) {
  Faulty *f = ud;
  const TdExpr *bad = e->kind == TD_EXPR_OP ? td_faults_may(&f->q, f->nest, e) : NULL;
  if (bad && bad->kind == TD_EXPR_OP) f->found = bad;
  return !f->found;
}

/* Tells of a fault that elements had which are not computed any more. */
static void note_dropped(const Producer *p) {
  TdRewrite *r = p->m->r;
  Faulty f = {td_util_ask(r, p->m->unit), p->nest, NULL};
  td_walk_exprs(r->session->ctx, p->nest, is_faultless, &f);
  if (f.found)
    td_util_note(r, "a fault of '%s' on line %u is dropped where nothing reads '%s'",
                 td_print_expr_str(r->arena, f.found), f.found->loc.line, p->array->name);
}

const TdProg *td_shrink_into(const TdMove *m) {
  TdRewrite *r = m->r;
  Producer p = {.m = m, .nest = m->block->kid[m->from]};
  if (!check_nest(&p) || !check_inputs(&p)) return NULL;
  const TdStmt *consumer = m->block->kid[m->to], *body = td_for_body(m->target);
  if (uses_in(&p, consumer) != uses_in(&p, body)) {
    refuse(&p, "the consumer uses it outside the loop too");
    return NULL;
  }
  const TdStmt *nest = cut_nest(&p);
  if (!nest) return NULL;
  const TdStmt *after = td_shrink_moved(m, nest->kid, nest->nkid);
  const TdProg *now = td_shrink_replaced(m, m->unit, after);
  if (!is_private(&p) && !is_all_written(&p, now, after)) {
    refuse(&p, "others use it, and not all of it would be written");
    return NULL;
  }
  td_util_note(r, "each iteration of '%s' computes the part of '%s' that it reads",
               m->target->sym->name, p.array->name);
  note_dropped(&p);
  return now;
}
