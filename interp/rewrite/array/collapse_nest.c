/* collapse_nest.c - a local array that only holds other elements in another arrangement goes; who
 * uses
 * it reads or writes those elements themselves. */
#include "rewrite/array/collapse_nest.h"

#include "affine/uses.h"
#include "rewrite/copied.h"
#include "rewrite/array/copy.h"
#include "rewrite/array/local.h"

/* A statement that touches the array. */
typedef struct Use {
  const TdStmt *stmt;
  bool read, write;
} Use;

typedef struct Collapse {
  TdLocalArray l;
  TD_VEC(Use) use; /* in source order */
  TdCopy copy;
  bool out;           /* the copy moves the array's elements away; else it fills it */
  const TdStmt *load; /* a nest that only fetched what the copy takes back, or NULL */
} Collapse;

static bool refuse(const Collapse *k, const char *code, const TdStmt *at, const char *why) {
  td_util_refuse(k->l.r, TD_ILLEGAL, code, at->loc, "'%s' %s", k->l.sym->name, why);
  return false;
}

static bool is_not_of(void *ud, const TdExpr *e) {
  return (e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VIEW) || e->sym != ud;
}

static bool uses(const Collapse *k, const TdExpr *e) {
  return !td_walk_expr(e, is_not_of, (void *)(uintptr_t)k->l.sym);
}

/* How statement s uses what it is given as operand i, if that is a place or part of the array. */
static unsigned use_of(const Collapse *k, const TdStmt *s, uint32_t i) {
  const TdProg *p = k->l.r->prog;
  const TdUnit *callee = s->kind == TD_STMT_CALL ? td_prog_unit(p, s->sym) : NULL;
  bool place = (s->kind == TD_STMT_STORE && i == 0) || (s->kind == TD_STMT_GET && i == 1);
  if (callee) return td_uses_param(p, callee, callee->param[i].sym);
  return place ? TD_USES_WRITE : TD_USES_READ;
}

static bool look_use(void *ud, const TdStmt *s) {
  Collapse *k = ud;
  Use use = {.stmt = s};
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const TdExpr *e = s->expr[i];
    bool itself = e->sym == k->l.sym && (e->kind == TD_EXPR_VIEW || e->kind == TD_EXPR_LOAD);
    unsigned how = itself ? use_of(k, s, i) : 0;
    use.write |= (how & TD_USES_WRITE) != 0;
    use.read |= (how & TD_USES_READ) != 0 || (!itself && uses(k, e));
    for (uint32_t d = 0; itself && d < e->nkid; d++) use.read |= uses(k, e->kid[d]);
  }
  if (use.read || use.write) td_vec_push(k->l.r->arena, &k->use, use);
  return true;
}

/* Position among the statements of the copy's block of the one that holds s; the block's length if
 * s is not in it. */
static size_t position(const Collapse *k, const TdStmt *s) {
  TdPath p = td_edit_path(k->l.r->arena, k->l.unit->body, s->uid);
  for (size_t i = 0; i + 1 < p.n; i++) {
    if (p.at[i] != k->copy.block) continue;
    size_t at = 0;
    while (k->copy.block->kid[at] != p.at[i + 1]) at++;
    return at;
  }
  return k->copy.block->nkid;
}

/* The copy that fills the array, if nothing else writes it; or the last statement that uses it, if
 * that copies it away. False: neither. */
static const TdStmt *find_copy(const Collapse *k, bool out) {
  const TdStmt *found = NULL;
  for (size_t i = 0; i < k->use.n; i++) {
    const Use *u = &k->use.at[i];
    if (out ? i + 1 < k->use.n : !u->write) continue;
    if (found || (out && u->write) || (!out && u->read) || !td_copy_is(u->stmt)) return NULL;
    found = u->stmt;
  }
  return found;
}

/* Whether element e of the array and element `other` are one under the copy, at statement s. */
static bool is_moved_to(const Collapse *k, const TdStmt *s, const TdExpr *e, const TdExpr *other) {
  const TdCopy *c = &k->copy;
  const TdExpr *to = td_copy_other(c, s, e), *fact = NULL;
  bool same = to->sym == other->sym && td_copy_meets(c, s, e);
  for (uint32_t d = 0; same && d < to->nkid; d++)
    same = td_util_same_value(k->l.r, k->l.unit, s, to->kid[d], other->kid[d], &fact) && !fact;
  return same;
}

/* The nest of the first use, if that fetches, before all others, just what the copy takes back: one
 * copy after the other is none. */
static const TdStmt *find_load(const Collapse *k) {
  const TdStmt *first = k->use.at[0].stmt;
  TdCopy load;
  if (k->l.decl->init != TD_INIT_NONE || first == k->copy.store || k->use.at[0].read ||
      !td_copy_is(first) || !is_moved_to(k, first, first->expr[0], first->expr[1]))
    return NULL;
  td_copy_find(&load, k->l.r, k->l.unit, first, k->l.sym);
  bool before = load.block == k->copy.block;
  for (size_t i = 1; before && i < k->use.n; i++)
    before = position(k, k->use.at[i].stmt) > load.place;
  return before ? load.nest : NULL;
}

/* Whether every use is in reach of the copy: after one that fills, before one that takes away, in
 * one execution of its block, and of elements that it moves. */
static bool check_uses(const Collapse *k) {
  const TdCopy *c = &k->copy;
  for (size_t i = 0; i < k->use.n; i++) {
    const TdStmt *s = k->use.at[i].stmt;
    size_t at = position(k, s);
    if (s == c->store) continue;
    if (at == c->block->nkid || (k->out ? at >= c->place : at <= c->place))
      return refuse(k, "scope", s,
                    k->out ? "is used here, but copied away in another iteration or before"
                           : "is used here, but filled in another iteration or later");
  }
  return true;
}

/* Whether the part of the block in which the array's elements live leaves those of the other array
 * alone. */
static bool check_other(const Collapse *k, size_t from, size_t to) {
  TdRewrite *r = k->l.r;
  const TdCopy *c = &k->copy;
  TdAsk q = td_util_ask(r, k->l.unit);
  const TdExpr *zero = td_expr_lit(r->store->arena, c->to->type, 0, c->store->loc);
  const TdStmt *touch = k->out ? td_copy_writes(c, zero) : td_copy_reads(c);
  for (size_t i = from; i < to; i++) {
    const TdStmt *s = c->block->kid[i];
    if (s == k->load) continue;
    TdVerdict v =
        k->out ? td_loop_carried_exchange(&q, s, touch) : td_loop_carried_exchange(&q, touch, s);
    const char *what = td_text_fmt(r->arena, "collapse of '%s'", k->l.sym->name);
    if (!td_verdict_accept(&v, false, r->diag, c->store->loc, what)) return false;
    if (v.kind == TD_VERDICT_REASSOC) return refuse(k, "order", s, "is part of an accumulation");
  }
  return true;
}

/* The first position in the block at which the array is used. */
static size_t first_use(const Collapse *k) {
  size_t first = k->copy.place;
  for (size_t i = 0; i < k->use.n; i++) {
    size_t at = position(k, k->use.at[i].stmt);
    if (at < first) first = at;
  }
  return first;
}

static size_t last_use(const Collapse *k) {
  size_t last = k->copy.place;
  for (size_t i = 0; i < k->use.n; i++) {
    size_t at = position(k, k->use.at[i].stmt);
    if (at > last) last = at;
  }
  return last;
}

/* Position of the declaration in the copy's block; its length if it is elsewhere. */
static size_t declared(const Collapse *k) {
  size_t i = 0;
  while (i < k->copy.block->nkid && k->copy.block->kid[i] != k->l.decl) i++;
  return i;
}

/* The declaration of what the array is copied to, if it stands between that of the array and the
 * copy; or NULL. */
static const TdStmt *later_declaration(const Collapse *k) {
  const TdCopy *c = &k->copy;
  for (size_t i = declared(k) + 1; i < c->place; i++)
    if (c->block->kid[i]->kind == TD_STMT_LOCAL && c->block->kid[i]->sym == c->to->sym)
      return c->block->kid[i];
  return NULL;
}

/* Whether the array may go in favour of what fills it. */
static bool check_in(Collapse *k) {
  TdCopy *c = &k->copy;
  bool filled = k->l.decl->init == TD_INIT_FILL, outside = declared(k) == c->block->nkid;
  if ((filled || outside) && !td_index_inverse_covers(&c->turn, k->l.type))
    return refuse(k, "covers", c->store,
                  filled ? "has elements that keep their first value"
                         : "keeps elements from one iteration to the next");
  return check_uses(k) && check_other(k, c->place + 1, last_use(k) + 1);
}

/* Whether the array may go in favour of what it is copied to. */
static bool check_out(Collapse *k) {
  TdCopy *c = &k->copy;
  TdTurn other;
  size_t from = declared(k);
  if (!td_index_inverse_covers(&c->turn, k->l.type))
    return refuse(k, "covers", c->store, "has elements that are not copied");
  if (!td_index_inverse_of(&other, k->l.r, k->l.unit, c->loop, c->nloop, c->to))
    return refuse(k, "one-to-one", c->store, "is copied to elements that others are copied to");
  if (from == c->block->nkid)
    return refuse(k, "scope", c->store, "is declared outside of the loop that copies it");
  if (!check_uses(k)) return false;
  const TdStmt *later = later_declaration(k);
  if (later && later->nexpr && later->expr[0]->kind != TD_EXPR_LIT)
    return refuse(k, "scope", later, "is copied to what is declared here, with a value");
  for (size_t i = from; i < c->place; i++)
    if (td_walk_leaves(td_util_block1(k->l.r, c->block->kid[i])))
      return refuse(k, "leaves", c->block->kid[i], "may not be copied: this may leave before");
  if (k->l.decl->init == TD_INIT_NONE) from = first_use(k);
  return check_other(k, from, c->place);
}

/* Elements and views of the array at a statement become those of the other. */
typedef struct Turning {
  const Collapse *k;
  const TdStmt *at, *missed, *whole; /* whole: a view that is none of the other */
} Turning;

static const TdExpr *turn_use(void *ud, const TdExpr *e) {
  Turning *t = ud;
  const TdCopy *c = &t->k->copy;
  if (is_not_of((void *)(uintptr_t)t->k->l.sym, e)) return e;
  if (!td_copy_meets(c, t->at, e)) t->missed = t->at;
  td_copied_note(t->k->l.r, c->side == c->to ? c->from : c->to);
  if (e->kind == TD_EXPR_LOAD) return td_copy_other(c, t->at, e);
  const TdExpr *view = td_index_inverse_view(&c->turn, c->side == c->to ? c->from : c->to, e);
  if (!view) t->whole = t->at;
  return view ? view : e;
}

/* The unit's body with the other array at each use. NULL: a use may be of other elements than those
 * copied. */
static const TdStmt *turn_uses(const Collapse *k) {
  TdRewrite *r = k->l.r;
  const TdStmt *body = k->l.unit->body;
  for (size_t i = 0; i < k->use.n; i++) {
    Turning t = {.k = k, .at = k->use.at[i].stmt};
    if (t.at == k->copy.store || (i == 0 && k->load)) continue;
    const TdStmt *s = td_edit_find(r->session->ctx, body, t.at->uid);
    const TdExpr **e = TD_NEWN(r->arena, const TdExpr *, s->nexpr);
    for (uint32_t x = 0; x < s->nexpr; x++)
      e[x] = td_walk_map_expr(r->store->arena, s->expr[x], turn_use, &t);
    if (t.whole) {
      refuse(k, "whole", t.whole, "is used whole here, and in this arrangement only it is one");
      if (t.at->kind == TD_STMT_CALL) td_diag_help(r->diag, "inline '%s' first", t.at->sym->name);
      return NULL;
    }
    if (t.missed) {
      refuse(k, "scope", t.missed, "is used here for other elements than this copy moves");
      return NULL;
    }
    const TdStmt *now = td_stmt_with_exprs(r->store, s, e, s->nexpr);
    body = td_edit_replace(r->store, body, s->uid, &now, 1);
  }
  return body;
}

/* What stands in the place of the declaration of an array that goes in favour of what it is copied
 * to: the declaration of that, if it came later, and the fill of what the array was filled with. */
static const TdStmt *replace_declaration(const Collapse *k, const TdStmt *body) {
  TdRewrite *r = k->l.r;
  const TdStmt *later = k->out ? later_declaration(k) : NULL, *now[2];
  size_t n = 0;
  if (later) {
    body = td_edit_replace(r->store, body, later->uid, NULL, 0);
    now[n++] = later;
  }
  if (k->out && k->l.decl->init == TD_INIT_FILL)
    now[n++] = td_util_rename(
        r, k->l.unit, td_walk_copy(r->store, td_copy_writes(&k->copy, k->l.decl->expr[0]), NULL));
  return td_edit_replace(r->store, body, k->l.decl->uid, now, n);
}

/* Tries the copy that fills (or takes away); NULL with r->diag filled. */
static const TdProg *attempt(Collapse *k, bool out) {
  TdRewrite *r = k->l.r;
  const TdStmt *store = find_copy(k, out);
  k->out = out;
  if (!store) {
    refuse(k, "not-a-copy", k->l.decl,
           out ? "is not copied away at last" : "is not filled by one copy of another array");
    return NULL;
  }
  td_copy_find(&k->copy, r, k->l.unit, store, k->l.sym);
  if (!td_index_inverse_of(&k->copy.turn, r, k->l.unit, k->copy.loop, k->copy.nloop,
                           k->copy.side)) {
    refuse(k, "index", store, k->copy.turn.why);
    return NULL;
  }
  k->load = out ? find_load(k) : NULL;
  if (!(out ? check_out(k) : check_in(k))) return NULL;
  const TdStmt *body = turn_uses(k);
  if (!body) return NULL;
  if (k->load) body = td_edit_replace(r->store, body, k->load->uid, NULL, 0);
  body = td_edit_replace(r->store, body, k->copy.nest->uid, NULL, 0);
  return td_util_with_body(r, k->copy.turn.unit, replace_declaration(k, body));
}

static bool is_not_declared(void *ud, const TdStmt *s) {
  const TdStmt **found = ud;
  bool declares = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
  if (!declares || s->sym != (*found)->sym) return true;
  *found = s;
  return false;
}

/* Notes where the elements are now, and what went with the array. */
static void note(const Collapse *k) {
  const TdCopy *c = &k->copy;
  TdRewrite *r = k->l.r;
  TdSym other = k->out ? c->to->sym : c->from->sym;
  const TdParam *p = td_unit_param(k->l.unit, other);
  const TdStmt what = {.sym = other}, *decl = &what;
  if (!p) td_walk_stmt(r->session->ctx, k->l.unit->body, is_not_declared, &decl);
  if (!k->out && decl->kind == TD_STMT_LOCAL && decl->cls == TD_LOCAL_AUTO) {
    TdLocalArray from = {r, k->l.unit, decl, other, decl->type};
    td_local_note_unwritten(&from);
  }
  const TdType *type = p ? p->type : decl->type;
  TdCopyOf of = {.unit = k->l.unit, .array = k->l.sym, .other = other, .type = k->l.type};
  bool shifts;
  if (type && td_copy_places(c, type, &of.at, &shifts)) td_copy_note(r, &of);
  for (size_t i = 0; i < k->l.decl->attrs.n; i++)
    td_util_note(r, "'%s' goes with its %s", k->l.sym->name,
                 td_attrs[k->l.decl->attrs.at[i].kind].name);
}

/* A scalar that becomes an array of one element. */
typedef struct Widen {
  TdRewrite *r;
  TdSym from, to;
} Widen;

static const TdExpr *widen(void *ud, const TdExpr *e) {
  const Widen *w = ud;
  if (e->kind != TD_EXPR_LOAD || e->sym != w->from) return e;
  const TdExpr *zero = td_util_const(w->r, 0);
  return td_expr_load(w->r->store->arena, w->to, e->type, &zero, 1, e->loc);
}

TdPlace td_collapse_place(TdRewrite *r, const TdPlace *at) {
  const TdStmt *decl = at->stmt;
  if (!decl || decl->kind != TD_STMT_LOCAL || decl->cls != TD_LOCAL_AUTO ||
      !td_type_is_scalar(decl->type))
    return *at;
  int64_t one = 1;
  TdStore *st = r->store;
  Widen w = {r, at->sym, td_store_sym(st, at->sym->name, TD_SYM_LOCAL)};
  const TdType *type = td_type_tensor_of(r->session, decl->type, 1, &one);
  const TdStmt *now[2] = {td_stmt_local(st, w.to, type, TD_INIT_NONE, NULL, decl->loc)};
  size_t n = 1;
  if (decl->nexpr) {
    const TdExpr *zero = td_util_const(r, 0);
    const TdExpr *place = td_expr_load(st->arena, w.to, decl->type, &zero, 1, decl->loc);
    now[n++] = td_stmt_store(st, place, decl->expr[0], decl->loc);
  }
  const TdStmt *body = td_edit_replace(st, at->unit->body, decl->uid, now, n);
  body = td_walk_map(st, body, widen, &w);
  return (TdPlace){.unit = td_unit_with_body(st, at->unit, body),
                   .stmt = td_edit_find(r->session->ctx, body, now[0]->uid),
                   .sym = w.to};
}

const TdProg *td_collapse_array(TdRewrite *r, const TdPlace *given) {
  Collapse k = {0};
  TdPlace at = td_collapse_place(r, given);
  if (!td_local_find_views(&k.l, r, &at)) return NULL;
  td_walk_stmt(r->session->ctx, k.l.unit->body, look_use, &k);
  bool fills = find_copy(&k, false) != NULL, takes = find_copy(&k, true) != NULL;
  TdDiag *diag = r->diag, first = {.arena = r->arena}, second = {.arena = r->arena};
  r->diag = &first;
  const TdProg *p = fills || !takes ? attempt(&k, false) : NULL;
  r->diag = &second;
  if (!p && takes) p = attempt(&k, true);
  r->diag = diag;
  if (!p) *diag = fills || !takes ? first : second;
  if (p) note(&k);
  if (p) td_local_note_unwritten(&k.l);
  return p;
}
