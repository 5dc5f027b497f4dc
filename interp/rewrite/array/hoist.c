/* hoist.c - hoist: a local that every iteration of a loop fills from the same elements of another
 * array, and copies back to them, is filled before the loop and copied back behind it. */
#include "rewrite/array/collapse_nest.h"
#include "rewrite/array/local.h"
#include "rewrite/copied.h"

enum { ARRAY, LOOP };

typedef struct Hoist {
  TdLocalArray l;
  TdSym sym;
  const TdStmt *loop, *block; /* the loop around the block that declares the local */
  const TdStmt *in, *out;     /* the stores that load and take back; out: NULL, it only reads */
  TdCopy load, back;
  bool assumes; /* that the loop runs at these sizes */
} Hoist;

static bool refuse(const Hoist *h, TdDiagKind kind, const char *code, const TdStmt *at,
                   const char *why) {
  td_util_refuse(h->l.r, kind, code, at->loc, "'%s' %s", h->l.sym->name, why);
  return false;
}

/* ---- the copies ---- */

static bool uses_array(const Hoist *h, const TdStmt *s) {
  return td_walk_uses(h->l.r->session->ctx, s, h->l.sym);
}

/* The one statement of a nest that only copies; NULL: it does more. */
static const TdStmt *copy_in(const TdStmt *s) {
  while (s->kind == TD_STMT_FOR || s->kind == TD_STMT_BLOCK) {
    if (s->nkid != 1) return NULL;
    s = s->kid[0];
  }
  return td_copy_is(s) ? s : NULL;
}

static bool writes_array(const Hoist *h, const TdStmt *s) {
  TdAsk q = td_util_ask(h->l.r, h->l.unit);
  const TdEffect *e;
  size_t n = td_effects_of(&q, s, &e);
  const TdEffect *x = td_effects_find(e, n, h->l.sym);
  return x && x->write;
}

/* Finds the copies: the first and, if anything writes the array, the last statement of the block
 * that uses it. */
static bool find_copies(Hoist *h) {
  TdRewrite *r = h->l.r;
  const TdStmt *first = NULL, *last = NULL;
  bool written = false, after = false;
  for (uint32_t i = 0; i < h->block->nkid; i++) {
    const TdStmt *s = h->block->kid[i];
    after |= s == h->l.decl;
    if (!after || s == h->l.decl || !uses_array(h, s)) continue;
    if (first) written |= writes_array(h, s);
    first = first ? first : s;
    last = s;
  }
  h->in = first ? copy_in(first) : NULL;
  if (!h->in || h->in->expr[0]->sym != h->l.sym)
    return refuse(h, TD_ILLEGAL, "not-a-copy", h->l.decl,
                  "is not filled by a copy first in each iteration");
  td_copy_find(&h->load, r, h->l.unit, h->in, h->l.sym);
  if (h->load.nest != first)
    return refuse(h, TD_ILLEGAL, "not-a-copy", h->in, "is filled several times in an iteration");
  if (!td_index_inverse_of(&h->load.turn, r, h->l.unit, h->load.loop, h->load.nloop, h->load.side))
    return refuse(h, TD_ILLEGAL, "index", h->in, h->load.turn.why);
  if (!td_index_inverse_covers(&h->load.turn, h->l.type))
    return refuse(h, TD_ILLEGAL, "covers", h->in, "has elements that are not filled");
  if (!written) return true;
  h->out = last == first ? NULL : copy_in(last);
  if (!h->out || h->out->expr[1]->sym != h->l.sym)
    return refuse(h, TD_ILLEGAL, "not-a-copy", last,
                  "is written, and not copied back at last in each iteration");
  td_copy_find(&h->back, r, h->l.unit, h->out, h->l.sym);
  return h->back.nest == last ||
         refuse(h, TD_ILLEGAL, "not-a-copy", h->out, "is copied back several times");
}

/* Whether the two copies move the same elements, all of the array's. */
static bool check_same(Hoist *h) {
  TdRewrite *r = h->l.r;
  const TdCopy *c = &h->back;
  const TdExpr *fact = NULL;
  if (!h->out) return true;
  if (!td_index_inverse_of(&h->back.turn, r, h->l.unit, c->loop, c->nloop, c->side))
    return refuse(h, TD_ILLEGAL, "index", h->out, h->back.turn.why);
  if (!td_index_inverse_covers(&h->back.turn, h->l.type))
    return refuse(h, TD_ILLEGAL, "covers", h->out, "has elements that are not copied back");
  const TdExpr *mine = h->in->expr[0], *other = h->in->expr[1];
  const TdExpr *to = td_copy_other(c, h->in, mine);
  bool same = to->sym == other->sym && td_copy_meets(c, h->in, mine);
  for (uint32_t d = 0; same && d < to->nkid; d++)
    same = td_util_same_value(r, h->l.unit, h->in, to->kid[d], other->kid[d], &fact) && !fact;
  return same || refuse(h, TD_ILLEGAL, "not-a-copy", h->out,
                        "is copied back to other elements than those it is filled from");
}

/* ---- whether they may leave the loop ---- */

/* A look for what is only there in an iteration: the loop's variable, what its body declares. */
typedef struct Inside {
  const Hoist *h;
  TdSym found;
} Inside;

static bool look_inside(void *ud, const TdExpr *e) {
  Inside *k = ud;
  const TdStmt *b = k->h->block;
  if (!e->sym || e->sym == k->h->l.sym) return true;
  if (e->sym == k->h->loop->sym) k->found = e->sym;
  for (uint32_t i = 0; i < b->nkid; i++)
    if (b->kid[i]->sym == e->sym && b->kid[i]->kind != TD_STMT_CALL &&
        b->kid[i]->kind != TD_STMT_FOR)
      k->found = e->sym;
  return !k->found;
}

static bool check_place(const Hoist *h, const TdStmt *nest) {
  Inside k = {h, NULL};
  td_walk_exprs(h->l.r->session->ctx, nest, look_inside, &k);
  if (!k.found) return true;
  td_util_refuse(h->l.r, TD_ILLEGAL, "access", nest->loc,
                 "'%s' is copied from or to places that depend on '%s'", h->l.sym->name,
                 k.found->name);
  return false;
}

/* Whether nothing else in the loop uses the elements that are copied. */
static bool check_other(const Hoist *h) {
  TdRewrite *r = h->l.r;
  TdAsk q = td_util_ask(r, h->l.unit);
  TdSym other = h->in->expr[1]->sym;
  for (uint32_t i = 0; i < h->block->nkid; i++) {
    const TdStmt *s = h->block->kid[i];
    if (s == h->load.nest || (h->out && s == h->back.nest)) continue;
    const TdEffect *e;
    size_t n = td_effects_of(&q, s, &e);
    const TdEffect *x = td_effects_find(e, n, other);
    if (!x || (!h->out && !x->write)) continue;
    td_util_refuse(r, TD_ILLEGAL, "shared", s->loc, "the loop %s '%s' here too",
                   x->write ? "writes" : "reads", other->name);
    return false;
  }
  if (td_walk_leaves(h->block))
    return refuse(h, TD_ILLEGAL, "leaves", h->loop, "may not be copied back: the loop may be left");
  return true;
}

static bool is_not_filled(void *ud, const TdStmt *s) {
  return s->kind != TD_STMT_LOCAL || s->sym != ud || s->init == TD_INIT_NONE;
}

/* Whether the other array has values wherever it is there: an argument, or a local filled at its
 * declaration. */
static bool has_values(const Hoist *h) {
  TdRewrite *r = h->l.r;
  TdSym other = h->in->expr[1]->sym;
  bool task = false;
  const TdUnit *root = td_prog_root(r->prog);
  for (size_t i = 0; i < root->nrun; i++) task |= root->run[i].unit == h->l.unit->sym;
  if (td_unit_param(h->l.unit, other)) return task || h->l.unit->sym == root->sym;
  return !td_walk_stmt(r->session->ctx, h->l.unit->body, is_not_filled, (void *)(uintptr_t)other);
}

/* Whether reading before the loop adds no fault: the loop runs, or the other array has values. What
 * that takes of sizes is assumed. */
static bool check_runs(Hoist *h) {
  TdRewrite *r = h->l.r;
  TdAsk q = td_util_ask(r, h->l.unit);
  if (has_values(h) || td_range_runs(&q, h->loop, false)) return true;
  if (!td_range_runs(&q, h->loop, true))
    return refuse(h, TD_ILLEGAL, "may-fault", h->loop,
                  "would be filled also where the loop does not run");
  h->assumes = true;
  return true;
}

/* ---- the step ---- */

/* The body with the local one loop further out. */
static const TdStmt *moved(const Hoist *h) {
  TdRewrite *r = h->l.r;
  const TdStmt *body = h->l.unit->body, *out[4];
  size_t n = 0;
  body = td_edit_replace(r->store, body, h->l.decl->uid, NULL, 0);
  body = td_edit_replace(r->store, body, h->load.nest->uid, NULL, 0);
  if (h->out) body = td_edit_replace(r->store, body, h->back.nest->uid, NULL, 0);
  out[n++] = h->l.decl;
  out[n++] = h->load.nest;
  out[n++] = td_edit_find(r->session->ctx, body, h->loop->uid);
  if (h->out) out[n++] = h->back.nest;
  return td_edit_replace(r->store, body, h->loop->uid, out, n);
}

/* Takes the local out of the loop around the block that declares it, which may be that of `last`.
 * Returns the unit, *done whether it was the last; NULL with r->diag filled. */
static const TdUnit *once(TdRewrite *r, const TdPlace *at, const TdStmt *last, bool *done) {
  Hoist h = {.sym = at->sym};
  TdPath p;
  if (!td_local_find_views(&h.l, r, at)) return NULL;
  p = td_edit_path(r->arena, h.l.unit->body, h.l.decl->uid);
  const TdStmt *up = p.n > 2 ? p.at[p.n - 3] : NULL;
  if (!up || up->kind != TD_STMT_FOR) {
    refuse(&h, TD_ILLEGAL, "scope", h.l.decl, "is not declared in the body of a loop");
    return NULL;
  }
  h.loop = up;
  h.block = p.at[p.n - 2];
  *done = up->uid == last->uid;
  if (!find_copies(&h) || !check_same(&h) || !check_place(&h, h.load.nest) ||
      (h.out && !check_place(&h, h.back.nest)) || !check_other(&h) || !check_runs(&h))
    return NULL;
  if (h.l.decl->init == TD_INIT_FILL) td_util_note(r, "'%s' is filled once", h.l.sym->name);
  td_copied_note(r, h.in->expr[1]);
  const TdUnit *u = h.out ? h.back.turn.unit : h.load.turn.unit;
  if (h.assumes) u = td_util_assume_sizes(r, u, u);
  return td_unit_with_body(r->store, u, moved(&h));
}

/* Finds the array, and the loop, which is looked up in the array's unit first. */
static bool find(TdRewrite *r, TdPlace *at, TdPlace *loop) {
  const char *array = r->arg[ARRAY].text, *name = r->arg[LOOP].text;
  TdDiag quiet = {.arena = r->arena};
  if (!td_cursor_array(r->arena, r->prog, array, NULL, at, &quiet))
    return td_util_loop(r, LOOP, loop) &&
           td_cursor_array(r->arena, r->prog, array, loop->unit, at, r->diag);
  const char *own = td_text_fmt(r->arena, "%s:%s", at->unit->sym->name, name);
  return td_cursor_loop(r->arena, r->prog, own, loop, &quiet) || td_util_loop(r, LOOP, loop);
}

static const TdProg *apply(TdRewrite *r) {
  TdPlace at, loop;
  bool done = false;
  if (!find(r, &at, &loop)) return NULL;
  at = td_collapse_place(r, &at);
  TdLoc loc = at.stmt ? at.stmt->loc : loop.stmt->loc;
  TdPath p = {0};
  if (at.stmt && at.unit->sym == loop.unit->sym)
    p = td_edit_path(r->arena, at.unit->body, at.stmt->uid);
  for (size_t i = 0; i < p.n; i++) done |= p.at[i]->uid == loop.stmt->uid;
  if (at.stmt && !done)
    return td_util_refuse(r, TD_USAGE, "scope", loc, "'%s' is not declared in the loop '%s'",
                          at.sym->name, loop.stmt->sym->name);
  for (done = false; !done;) {
    const TdUnit *u = once(r, &at, loop.stmt, &done);
    if (!u) return NULL;
    at.unit = u;
    at.stmt = td_edit_find(r->session->ctx, u->body, at.stmt->uid);
  }
  return td_prog_with(r->prog, at.unit);
}

const TdPrim td_prim_hoist = {
    .name = "hoist",
    .on = "array",
    .summary = "Move a local that each iteration fills from, and copies back to, the same elements "
               "out of the loop.",
    .args = {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED, "a local array", "local"},
             {"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the outermost loop that it leaves", NULL}},
    .rewrite = "for k: local c = T(); for i: c[i] = C[i]; S(c); for i: C[i] = c[i]  =>  "
               "local c = T(); for i: c[i] = C[i]; for k: S(c); for i: C[i] = c[i]",
    .legal = "a copy fills all of the local first in each iteration and, where anything writes it, "
             "the last use copies all of it back to the same elements, which do not depend on the "
             "iteration and which nothing else in the loop uses; the loop is not left early, and "
             "runs",
    .errors = "not-an-array interface class whole elements scope not-a-copy index covers access "
              "shared leaves may-fault",
    .example = "s:split(\"k\", 2, {tail = \"perfect\"}):buffer_at(\"C\", \"k_o\"); "
               "s:hoist(\"C_k_o\", \"k_o\")",
    .apply = apply,
};
