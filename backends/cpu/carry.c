/* carry.c - finds loops of which GCC 12 makes vectors though an element that one iteration writes
 * is read by a later one: where the write stands in front of the read it takes that for an order
 * that vectors keep, and then reads neighbours together, before the write (docs/compilers.md). That
 * takes copies side by side: an inner loop of few iterations, which is unrolled, or several
 * statements. A loop with an inner loop that stays is safe. */
#include "backends/cpu/text.h"
#include "ir/lin.h"

#include <stdlib.h>

enum { FEW = 32 /* iterations that a compiler may unroll */, PAIRS = 50000 };

/* An access of the body. */
typedef struct Access {
  TdSym sym;
  const TdExpr *place; /* LOAD, or VIEW of a call or tensor statement */
  bool write, copied;  /* inside of an inner loop, or in a call */
  uint32_t order;      /* of its statement */
} Access;

typedef struct Body {
  TdCpuProg *p;
  TdArena *arena;
  TdSym var; /* of the loop */
  int64_t step;
  TD_VEC(TdSym) inner; /* variables of loops below */
  TD_VEC(Access) access;
  int depth;
  uint32_t order;
  bool stays; /* an inner loop is not unrolled */
} Body;

static void add(Body *b, const TdExpr *e, bool write, bool copied) {
  Access x = {e->sym, e, write, copied || b->depth, b->order};
  td_vec_push(b->arena, &b->access, x);
}

static bool add_read(void *ud, const TdExpr *e) {
  Body *b = ud;
  if (e->kind == TD_EXPR_LOAD && e->nkid) add(b, e, false, false);
  if (e->kind == TD_EXPR_VIEW) add(b, e, false, true);
  return true;
}

/* Whether the iterations of s are few, whatever the variables around it. */
static bool is_few(const Body *b, const TdStmt *s) {
  TdSession *se = b->p->w->session;
  const TdUnit *u = b->p->w->unit;
  TdLin lo = td_lin_of(se, b->arena, td_for_lo(s));
  TdLin n = td_lin_add(se, b->arena, td_lin_of(se, b->arena, td_for_hi(s)), -1, lo);
  int64_t trips = n.constant;
  for (size_t i = 0; i < n.n; i++) {
    if (n.term[i].atom->kind != TD_EXPR_SIZE) return false;
    size_t k = 0;
    while (k < u->nsize && u->size[k].name != n.term[i].atom->u.name) k++;
    if (k == u->nsize || !u->size[k].known || llabs(u->size[k].value) > INT32_MAX ||
        llabs(n.term[i].coef) > INT32_MAX)
      return false;
    trips += n.term[i].coef * u->size[k].value;
  }
  return trips <= FEW * s->step;
}

/* What a call reads and writes. */
static void add_call(Body *b, const TdStmt *s) {
  const TdCpuUnit *f = td_cpu_param_unit(b->p, s->sym);
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (s->expr[i]->kind == TD_EXPR_VIEW && f->param[i].written) add(b, s->expr[i], true, true);
}

static void collect(Body *b, const TdStmt *s) {
  td_ctx_enter(b->p->w->session->ctx);
  b->order++;
  b->stays |= s->kind == TD_STMT_WHILE || (s->kind == TD_STMT_FOR && !is_few(b, s));
  bool place = s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET;
  for (uint32_t i = place; i < s->nexpr; i++) td_walk_expr(s->expr[i], add_read, b);
  if (place && s->expr[0]->nkid) add(b, s->expr[0], true, s->kind == TD_STMT_SET);
  if (s->kind == TD_STMT_CALL) add_call(b, s);
  if (s->kind == TD_STMT_FOR) td_vec_push(b->arena, &b->inner, s->sym);
  b->depth += s->kind == TD_STMT_FOR;
  for (uint32_t i = 0; i < s->nkid && !b->stays; i++) collect(b, s->kid[i]);
  b->depth -= s->kind == TD_STMT_FOR;
  td_ctx_leave(b->p->w->session->ctx);
}

/* How an index depends on the loop: the coefficients of its variable and of inner ones. */
typedef struct Form {
  TdLin at;
  int64_t own;
  bool inner, same; /* inner variables occur; all with the sign of its own */
  bool known;
} Form;

static bool is_inner(const Body *b, TdSym v) {
  for (size_t i = 0; i < b->inner.n; i++)
    if (b->inner.at[i] == v) return true;
  return false;
}

static bool is_fixed(void *ud, const TdExpr *e) {
  const Body *b = ud;
  return e->kind != TD_EXPR_LOAD && (!e->sym || (e->sym != b->var && !is_inner(b, e->sym)));
}

static Form form_of(Body *b, const TdExpr *e) {
  Form f = {.at = td_lin_of(b->p->w->session, b->arena, e), .same = true, .known = true};
  for (size_t i = 0; i < f.at.n; i++) {
    const TdExpr *atom = f.at.term[i].atom;
    if (atom->kind == TD_EXPR_VAR && atom->sym == b->var)
      f.own = f.at.term[i].coef;
    else if (atom->kind == TD_EXPR_VAR && is_inner(b, atom->sym))
      f.inner = true;
    else
      f.known &= td_walk_expr(atom, is_fixed, b);
  }
  for (size_t i = 0; i < f.at.n; i++)
    if (f.at.term[i].atom->kind == TD_EXPR_VAR && is_inner(b, f.at.term[i].atom->sym))
      f.same &= (f.at.term[i].coef < 0) == (f.own < 0);
  return f;
}

/* Whether dimension d of a place is one index. */
static bool is_index(const TdExpr *place, uint32_t d) {
  return place->kind == TD_EXPR_LOAD || place->u.dim[d].out < 0;
}

/* Whether a write and a read of one array never meet in different iterations of the loop, or only
 * where the read comes first in the text. */
static bool is_apart(Body *b, const Access *x, const Access *y) {
  bool equal = true, ordered = true;
  for (uint32_t d = 0; d < x->place->nkid; d++) {
    if (!is_index(x->place, d) || !is_index(y->place, d)) {
      equal = false;
      continue;
    }
    Form f = form_of(b, x->place->kid[d]), g = form_of(b, y->place->kid[d]);
    TdLin diff = td_lin_add(b->p->w->session, b->arena, f.at, -1, g.at);
    bool constant = diff.n == 0 && f.known;
    if (constant && !f.inner && (f.own ? diff.constant % (f.own * b->step) : diff.constant))
      return true;
    if (constant && !f.inner && f.own && !diff.constant) return true;
    equal &= constant && !diff.constant;
    ordered &= !f.own || f.same;
  }
  return equal && ordered;
}

/* Whether the places of an array that consecutive iterations name lie apart, so that neighbours are
 * read or written together. */
static bool is_strided(Body *b, const Access *x) {
  for (uint32_t d = 0; d < x->place->nkid; d++) {
    if (!is_index(x->place, d)) return true;
    Form f = form_of(b, x->place->kid[d]);
    bool next = d + 1 == x->place->nkid && llabs(f.own) * b->step < 2;
    if (!f.known || (f.own && !next)) return true;
  }
  return false;
}

/* Whether the array of x is read, or written, several times. */
static bool is_many(const Body *b, TdSym sym) {
  size_t n[2] = {0};
  for (size_t i = 0; i < b->access.n; i++)
    if (b->access.at[i].sym == sym) n[b->access.at[i].write] += 1 + b->access.at[i].copied;
  return n[0] > 1 || n[1] > 1;
}

/* Whether x, a write, and y, a read, are what a compiler may exchange. */
static bool may_cross(Body *b, const Access *x, const Access *y) {
  if (!x->write || y->write || x->sym != y->sym) return false;
  if (!x->copied && !y->copied && y->order <= x->order) return false;
  return !is_apart(b, x, y) && (is_strided(b, x) || is_strided(b, y)) && is_many(b, x->sym);
}

bool td_cpu_carry_is_in(TdCpuProg *p, const TdStmt *loop) {
  TdArena *a = td_arena_scratch(p->w->session->ctx);
  Body b = {.p = p, .arena = a, .var = loop->sym, .step = loop->step};
  for (uint32_t i = 0; i < loop->nkid; i++) collect(&b, loop->kid[i]);
  size_t writes = 0;
  for (size_t i = 0; i < b.access.n; i++) writes += b.access.at[i].write;
  bool found = !b.stays && writes * b.access.n > PAIRS;
  for (size_t i = 0; i < b.access.n && !found && !b.stays; i++)
    for (size_t k = 0; k < b.access.n && b.access.at[i].write && !found; k++)
      found = may_cross(&b, &b.access.at[i], &b.access.at[k]);
  td_arena_free(a);
  return found;
}
