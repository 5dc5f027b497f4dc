/* wire_end.c - whether a body goes through the rows of an array in order, and its gets and puts. */
#include "rewrite/stream/wire.h"

#include "analysis/order/effects.h"

static bool refuse(const TdWireEnd *e, const char *code, TdLoc loc, const char *why) {
  td_util_refuse(e->r, TD_ILLEGAL, code, loc, "'%s' %s", e->array->name, why);
  return false;
}

/* ---- uses ---- */

typedef struct Find {
  TdWireEnd *e;
  const TdStmt *stmt;
  const TdExpr *place;
  bool other;
} Find;

static bool same_element(const TdWireEnd *e, const TdExpr *x, const TdExpr *y) {
  for (uint32_t d = 0; d < x->nkid; d++) {
    int64_t by;
    if (!td_lin_diff(e->r->session, x->kid[d], y->kid[d], &by) || by) return false;
  }
  return true;
}

static bool look_expr(void *ud, const TdExpr *x) {
  Find *f = ud;
  if (x->sym != f->e->array) return true;
  if (x->kind != TD_EXPR_LOAD) {
    f->other = true;
    return true;
  }
  for (size_t i = 0; i < f->e->use.n; i++) {
    const TdWireUse *u = &f->e->use.at[i];
    if (u->stmt == f->stmt && u->write == (x == f->place) && same_element(f->e, u->at, x))
      return true;
  }
  TdWireUse u = {.stmt = f->stmt, .at = x, .write = x == f->place};
  td_vec_push(f->e->r->arena, &f->e->use, u);
  return true;
}

static bool look_stmt(void *ud, const TdStmt *s) {
  Find *f = ud;
  f->stmt = s;
  f->place = s->kind == TD_STMT_STORE ? s->expr[0] : NULL;
  for (uint32_t i = 0; i < s->nexpr; i++) td_walk_expr(s->expr[i], look_expr, f);
  return true;
}

bool td_wire_find(TdWireEnd *e) {
  Find f = {.e = e};
  td_walk_stmt(e->r->session->ctx, e->body, look_stmt, &f);
  if (f.other) {
    refuse(e, "elements", e->body->loc, "is used as a whole, and a stream has single elements");
    td_diag_help(e->r->diag, "inline the kernel that it is passed to");
    return false;
  }
  for (size_t i = 0; i < e->use.n; i++) {
    const TdStmt *s = e->use.at[i].stmt;
    if (s->kind == TD_STMT_FOR || s->kind == TD_STMT_WHILE)
      return refuse(e, "elements", s->loc, "is used in the head of a loop");
  }
  return true;
}

/* ---- counters ---- */

static const TdExpr *bare(const TdExpr *e) {
  while (e->kind == TD_EXPR_CAST) e = e->kid[0];
  return e;
}

/* Whether e is 0. */
static bool is_zero(const TdExpr *e) {
  e = bare(e);
  return e->kind == TD_EXPR_LIT && e->u.bits == 0;
}

/* Whether s is `at = at + 1` of the counter element at. */
static bool is_step(const TdWireEnd *e, const TdStmt *s, const TdExpr *at) {
  if (s->kind != TD_STMT_STORE || s->expr[0]->sym != at->sym) return false;
  const TdExpr *sum = bare(s->expr[1]);
  if (sum->kind != TD_EXPR_OP || sum->op != TD_OP_ADD) return false;
  int k = bare(sum->kid[0])->sym == at->sym ? 0 : 1;
  const TdExpr *one = bare(sum->kid[1 - k]), *was = bare(sum->kid[k]);
  return one->kind == TD_EXPR_LIT && one->u.bits == 1 && was->sym == at->sym &&
         same_element(e, s->expr[0], at) && same_element(e, was, at);
}

/* A walk that looks at how a counter is used. */
typedef struct Counting {
  const TdWireEnd *e;
  TdSym sym;
  const TdStmt *decl;
  size_t uses, steps,
      right; /* statements that have it; that move it on; that move it after a use */
} Counting;

static bool uses_counter(const TdStmt *s, TdSym sym) {
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (td_walk_uses_expr(s->expr[i], sym)) return true;
  return false;
}

/* The use by that statement, or NULL. */
static const TdWireUse *use_of(const TdWireEnd *e, const TdStmt *s) {
  for (size_t i = 0; i < e->use.n; i++)
    if (e->use.at[i].stmt == s) return &e->use.at[i];
  return NULL;
}

/* Whether an expression has the counter anywhere but in an index of the array. */
static bool is_elsewhere(const Counting *c, const TdExpr *x) {
  if (x->sym == c->sym) return true;
  if (x->kind == TD_EXPR_LOAD && x->sym == c->e->array) return false;
  for (uint32_t i = 0; i < x->nkid; i++)
    if (is_elsewhere(c, x->kid[i])) return true;
  return false;
}

static bool count(void *ud, const TdStmt *s) {
  Counting *c = ud;
  for (uint32_t i = 0; use_of(c->e, s) && i < s->nexpr; i++) c->uses += is_elsewhere(c, s->expr[i]);
  if (s->kind == TD_STMT_LOCAL && s->sym == c->sym) c->decl = s;
  c->uses += s->kind != TD_STMT_BLOCK && uses_counter(s, c->sym);
  for (uint32_t i = 0; s->kind == TD_STMT_BLOCK && i < s->nkid; i++) {
    const TdStmt *k = s->kid[i];
    const TdWireUse *u = i ? use_of(c->e, s->kid[i - 1]) : NULL;
    if (k->kind != TD_STMT_STORE || k->expr[0]->sym != c->sym) continue;
    c->steps++;
    for (uint32_t d = 0; u && d < u->at->nkid; d++) {
      const TdExpr *at = bare(u->at->kid[d]);
      c->right += at->sym == c->sym && is_step(c->e, k, at);
    }
  }
  return true;
}

/* Whether a counter begins at 0, each use moves it on right after, and nothing else uses it. */
static bool is_counter(const TdWireEnd *e, TdSym sym, size_t nuse, const TdStmt **decl) {
  Counting c = {.e = e, .sym = sym};
  td_walk_stmt(e->r->session->ctx, e->body, count, &c);
  *decl = c.decl;
  return c.decl && c.decl->cls == TD_LOCAL_AUTO && c.decl->nexpr == 1 && is_zero(c.decl->expr[0]) &&
         c.steps == nuse && c.right == nuse && c.uses == 2 * nuse;
}

/* Variables of an index that are declared by loops inside a statement. */
typedef struct Inner {
  TdRewrite *r;
  const TdStmt *block; /* that holds the declaration */
  const TdExpr *at;
  bool bad;
} Inner;

/* Whether a loop of that variable is inside the block. */
static bool look_loop(void *ud, const TdStmt *s) {
  TdSym *v = ud;
  if (s->kind == TD_STMT_FOR && s->sym == *v) *v = NULL;
  return *v != NULL;
}

static bool look_inner(void *ud, const TdExpr *e) {
  Inner *n = ud;
  if (e->kind == TD_EXPR_LOAD) n->bad = true;
  if (e->kind != TD_EXPR_VAR) return true;
  bool own = false;
  for (uint32_t k = 0; k < n->at->nkid; k++) own |= bare(n->at->kid[k])->sym == e->sym;
  TdSym v = e->sym;
  td_walk_stmt(n->r->session->ctx, n->block, look_loop, &v);
  n->bad |= !v && !own;
  return true;
}

/* Whether the row of a use is the counter's own: what it varies with inside the counter's life, the
 * counter is indexed by. */
static bool is_own_row(const TdWireEnd *e, const TdWireUse *u, uint32_t token, const TdExpr *at,
                       const TdStmt *decl) {
  TdPath p = td_edit_path(e->r->arena, e->body, decl->uid);
  Inner n = {.r = e->r, .at = at};
  if (p.n < 2) return false;
  n.block = p.at[p.n - 2];
  for (uint32_t d = 0; d < u->at->nkid; d++)
    if (d != token) td_walk_expr(u->at->kid[d], look_inner, &n);
  for (uint32_t k = 0; k < at->nkid; k++) n.bad |= bare(at->kid[k])->kind != TD_EXPR_VAR;
  return !n.bad;
}

/* ---- loops ---- */

/* A term of a row: a loop's variable with its factor, how far it goes. */
typedef struct Term {
  TdSym v;
  int64_t coef, extent;
} Term;

static bool add_terms(const TdWireEnd *e, const TdWireUse *u, const TdExpr *index,
                      const TdStmt *const *loop, size_t nloop, TdMap *seen) {
  TdAsk q = td_util_ask(e->r, e->unit);
  TdLin x = td_lin_of(e->r->session, e->r->arena, index);
  Term t[16];
  size_t n = 0;
  for (size_t i = 0; i < x.n; i++) {
    TdSym v = x.term[i].atom->kind == TD_EXPR_VAR ? x.term[i].atom->sym : NULL;
    size_t k = 0;
    while (k < nloop && loop[k]->sym != v) k++;
    if (!v || n == 16) return false;
    if (k == nloop) continue; /* the same for all of the body */
    int64_t lo = 0, hi = -1;
    if (td_map_getp(seen, v)) return false;
    if (!td_range_of(&q, u->stmt, x.term[i].atom, &lo, &hi)) hi = lo - 1; /* as far as it likes */
    td_map_putp(e->r->arena, seen, v, (void *)(uintptr_t)loop[k]);
    if (lo == hi) continue; /* runs once */
    Term one = {v, x.term[i].coef, hi - lo + 1};
    size_t at = n++;
    for (; at > 0 && t[at - 1].coef > one.coef; at--) t[at] = t[at - 1];
    t[at] = one;
  }
  int64_t span = 1;
  for (size_t i = 0; i < n; i++) {
    if (t[i].coef < span || (i + 1 < n && t[i].extent < 1)) return false;
    span = t[i].coef * t[i].extent;
  }
  return true;
}

/* Whether loops go through each row once, from its first element on. */
static bool is_scan(const TdWireEnd *e, const TdWireUse *u, uint32_t token) {
  TdPath p = td_edit_path(e->r->arena, e->body, u->stmt->uid);
  const TdStmt *const *loop;
  size_t n = td_edit_loops(e->r->arena, p, &loop), seen_n = 0;
  TdMap seen = {0};
  const TdExpr *t = bare(u->at->kid[token]);
  int64_t zero;
  for (size_t i = 0; i + 1 < p.n; i++)
    if (p.at[i]->kind == TD_STMT_IF || p.at[i]->kind == TD_STMT_WHILE) return false;
  for (size_t i = 0; i < n; i++) {
    if (td_util_leaves_by_break(td_for_body(loop[i]))) return false;
    if (loop[i]->sym != t->sym) continue;
    if (loop[i]->step != 1 || !td_expr_is_const(td_for_lo(loop[i]), &zero) || zero) return false;
    td_map_putp(e->r->arena, &seen, t->sym, (void *)(uintptr_t)loop[i]);
  }
  if (t->kind != TD_EXPR_VAR || !td_map_getp(&seen, t->sym)) return false;
  for (uint32_t d = 0; d < u->at->nkid; d++)
    if (d != token && !add_terms(e, u, u->at->kid[d], loop, n, &seen)) return false;
  for (size_t i = 0; i < n; i++) seen_n += td_map_getp(&seen, loop[i]->sym) != NULL;
  return seen_n == n;
}

bool td_wire_is_ordered(TdWireEnd *e, uint32_t token, bool tell) {
  e->counter.n = 0;
  for (size_t i = 0; i < e->use.n; i++) {
    const TdWireUse *u = &e->use.at[i];
    const TdExpr *at = bare(u->at->kid[token]);
    const TdStmt *decl;
    size_t n = 0;
    bool ok = false;
    if (at->kind == TD_EXPR_LOAD) {
      for (size_t k = 0; k < e->use.n; k++) n += bare(e->use.at[k].at->kid[token])->sym == at->sym;
      ok = is_counter(e, at->sym, n, &decl) && is_own_row(e, u, token, at, decl);
      td_vec_push(e->r->arena, &e->counter, at->sym);
    } else {
      for (size_t k = 0; k < e->use.n; k++) n += e->use.at[k].write == u->write;
      ok = n == 1 && is_scan(e, u, token);
    }
    if (ok) continue;
    if (!tell) return false;
    refuse(e, "order", u->stmt->loc, "is not gone through in order: first token, second, ..");
    td_diag_help(e->r->diag, "one loop from 0 by 1 over the tokens of a row, or a counter that "
                             "begins at 0 and each use moves on right after");
    return false;
  }
  return true;
}

/* ---- gets and puts ---- */

typedef struct Body {
  const TdWireEnd *e;
  TdWireStream stream;
  void *ud;
  const TdExpr *from, *to; /* an element, and what stands for it */
} Body;

static const TdExpr *replace(void *ud, const TdExpr *x) {
  const Body *b = ud;
  return x->kind == TD_EXPR_LOAD && x->sym == b->e->array && same_element(b->e, x, b->from) ? b->to
                                                                                            : x;
}

static bool is_gone(const Body *b, const TdStmt *s) {
  TdSym v = s->kind == TD_STMT_LOCAL ? s->sym : s->kind == TD_STMT_STORE ? s->expr[0]->sym : NULL;
  for (size_t i = 0; v && i < b->e->counter.n; i++)
    if (b->e->counter.at[i] == v) return true;
  return false;
}

typedef TD_VEC(const TdStmt *) List;

static const TdStmt *in_body(Body *b, const TdStmt *s);

/* A statement in the place of another, by the other's uid: other arrays have uses there. */
static const TdStmt *in_place_of(TdStore *st, const TdStmt *was, const TdStmt *now) {
  TdStmt *same = td_arena_copy(st->arena, now, sizeof *same);
  same->uid = was->uid;
  return same;
}

/* Adds a get of a token from an end; returns the local that has it. */
static const TdExpr *add_get(Body *b, const TdExpr *end, const char *array, const TdStmt *s,
                             const TdType *t, List *out) {
  TdRewrite *r = b->e->r;
  const char *want = td_text_fmt(r->arena, "%s_token", array);
  TdSym v = td_store_sym(r->store, td_util_name(r, b->e->unit, NULL, want), TD_SYM_LOCAL);
  td_vec_push(r->arena, out, td_stmt_get(r->store, end, v, t, NULL, s->loc));
  return td_expr_load(r->store->arena, v, t, NULL, 0, s->loc);
}

/* Adds what a statement becomes. */
static void add(Body *b, const TdStmt *s, List *out) {
  TdRewrite *r = b->e->r;
  TdStore *st = r->store;
  if (is_gone(b, s)) return;
  for (size_t i = 0; i < b->e->use.n; i++) {
    const TdWireUse *u = &b->e->use.at[i];
    if (u->stmt->uid != s->uid) continue;
    const TdExpr *end = b->stream(b->ud, u);
    if (u->write) {
      const TdExpr *value = s->expr[1];
      if (s->kind == TD_STMT_GET) /* straight into the element, from another stream */
        value = add_get(b, s->expr[0], s->expr[0]->sym->name, s, s->type, out);
      s = in_place_of(st, s, td_stmt_put(st, end, value, s->loc));
      continue;
    }
    if (s->kind == TD_STMT_STORE && bare(s->expr[1]) == s->expr[1] &&
        s->expr[1]->sym == u->at->sym && s->expr[0]->type == u->at->type) {
      s = in_place_of(st, s, td_stmt_get(st, end, NULL, u->at->type, s->expr[0], s->loc));
      continue;
    }
    b->from = u->at;
    b->to = add_get(b, end, b->e->array->name, s, u->at->type, out);
    const TdExpr **e = TD_NEWN(r->arena, const TdExpr *, s->nexpr);
    for (uint32_t k = 0; k < s->nexpr; k++)
      e[k] = td_walk_map_expr(st->arena, s->expr[k], replace, b);
    s = td_stmt_with_exprs(st, s, e, s->nexpr);
  }
  td_vec_push(r->arena, out, in_body(b, s));
}

static const TdStmt *in_body(Body *b, const TdStmt *s) {
  TdStore *st = b->e->r->store;
  List list = {0};
  if (!s->nkid) return s;
  for (uint32_t i = 0; i < s->nkid; i++)
    if (s->kind == TD_STMT_BLOCK)
      add(b, s->kid[i], &list);
    else
      td_vec_push(b->e->r->arena, &list, in_body(b, s->kid[i]));
  return td_stmt_with_kids(st, s, list.at, list.n);
}

const TdStmt *td_wire_body(const TdWireEnd *e, TdWireStream stream, void *ud) {
  Body b = {.e = e, .stream = stream, .ud = ud};
  if (e->body->kind == TD_STMT_BLOCK) return in_body(&b, e->body);
  List list = {0};
  add(&b, e->body, &list);
  return list.n == 1 ? list.at[0] : td_stmt_block(e->r->store, list.at, list.n, e->body->loc);
}

/* What a statement does to an array or state, or NULL. */
static const TdEffect *effect_on(const TdEffect *e, size_t n, TdSym sym) {
  for (size_t i = 0; i < n; i++)
    if (e[i].sym == sym && !e[i].inside) return &e[i];
  return NULL;
}

bool td_wire_check_apart(TdRewrite *r, const TdUnit *u, const TdStmt *first, const TdStmt *second,
                         const TdStmt *const *array, size_t n) {
  TdAsk q = td_util_ask(r, u);
  const TdEffect *x, *y;
  size_t nx = td_effects_of(&q, first, &x), ny = td_effects_of(&q, second, &y);
  for (size_t i = 0; i < nx; i++) {
    const TdEffect *other = effect_on(y, ny, x[i].sym);
    bool wired = x[i].inside;
    for (size_t k = 0; k < n; k++) wired |= array[k]->sym == x[i].sym;
    if (wired || !other || !(x[i].write || other->write)) continue;
    td_util_refuse(r, TD_ILLEGAL, "shared", second->loc,
                   "'%s' is written by one task and used by another", x[i].sym->name);
    td_diag_note(r->diag, first->loc, "the other one");
    td_diag_help(r->diag, "put it through a local tensor, and name that too");
    return false;
  }
  return true;
}
