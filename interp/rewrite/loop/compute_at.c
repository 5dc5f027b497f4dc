/* compute_at.c - compute_at: the nest that computes something moves into the loop that uses
 * it. */
#include <string.h>

#include "rewrite/accept.h"
#include "rewrite/loop/shrink.h"

enum { PRODUCER, LOOP };

static bool refuse(TdRewrite *r, TdDiagKind kind, const char *code, TdLoc loc, const char *fmt,
                   const char *x, const char *y) {
  td_util_refuse(r, kind, code, loc, "%s", td_text_fmt(r->arena, fmt, x, y));
  return false;
}

/* Position of the statement of `block` that is on path p, which passes through it. */
static size_t position(TdPath p, const TdStmt *block) {
  size_t level = 0, i = 0;
  while (p.at[level] != block) level++;
  while (block->kid[i] != p.at[level + 1]) i++;
  return i;
}

/* The nest of the producing loop, which must stand before the consumer's in one block. */
static bool find_by_loop(TdMove *m, TdPath target, const TdPlace *at) {
  TdRewrite *r = m->r;
  if (at->unit != m->unit)
    return refuse(r, TD_USAGE, "units", at->stmt->loc, "'%s' and '%s' are in different kernels",
                  at->sym->name, m->target->sym->name);
  TdPath own = td_edit_path(r->arena, m->unit->body, at->stmt->uid);
  size_t level = 0;
  while (level + 1 < own.n && level + 1 < target.n && own.at[level + 1] == target.at[level + 1])
    level++;
  if (level + 1 == own.n || level + 1 == target.n || own.at[level]->kind != TD_STMT_BLOCK)
    return refuse(r, TD_ILLEGAL, "one-nest", at->stmt->loc, "'%s' and '%s' are in one nest",
                  at->sym->name, m->target->sym->name);
  m->block = own.at[level];
  m->from = position(own, m->block);
  m->to = position(target, m->block);
  if (m->from > m->to)
    return refuse(r, TD_ILLEGAL, "comes-later", at->stmt->loc, "'%s' comes after '%s'",
                  at->sym->name, m->target->sym->name);
  return m->block->kid[m->from]->kind == TD_STMT_FOR ||
         refuse(r, TD_ILLEGAL, "not-a-nest", at->stmt->loc, "'%s' stands under a condition%s",
                at->sym->name, "");
}

/* Whether statement s of the unit writes the array from outside. */
static bool writes(const TdMove *m, const TdStmt *s) {
  TdAsk q = td_util_ask(m->r, m->unit);
  const TdEffect *e;
  size_t n = td_effects_of(&q, s, &e);
  const TdEffect *f = td_effects_find(e, n, m->array);
  return f && f->write && !f->inside;
}

/* The last nest before the consumer that writes the array. */
static bool find_by_array(TdMove *m, TdPath target, const TdPlace *at) {
  m->array = at->sym;
  for (size_t level = target.n; level-- > 0;) {
    m->block = target.at[level];
    if (m->block->kind != TD_STMT_BLOCK || level + 1 == target.n) continue;
    m->to = position(target, m->block);
    for (m->from = m->to; m->from-- > 0;)
      if (m->block->kid[m->from]->kind == TD_STMT_FOR && writes(m, m->block->kid[m->from]))
        return true;
  }
  return refuse(m->r, TD_ILLEGAL, "no-producer", m->target->loc,
                "no nest before '%s' computes '%s'", m->target->sym->name, at->sym->name);
}

/* Finds what is to be moved where. */
static bool find(TdMove *m) {
  TdRewrite *r = m->r;
  TdPlace loop, array, *band;
  TdDiag no_loop = {.arena = r->arena};
  size_t n;
  if (!td_util_loop(r, LOOP, &loop)) return false;
  m->unit = loop.unit;
  m->target = loop.stmt;
  TdPath target = td_edit_path(r->arena, m->unit->body, m->target->uid);
  const char *spec = r->arg[PRODUCER].text;
  if (td_cursor_band(r->arena, r->prog, spec, &band, &n, &no_loop))
    return find_by_loop(m, target, &band[0]);
  TdDiag no_array = {.arena = r->arena};
  if (td_cursor_array(r->arena, r->prog, spec, m->unit, &array, &no_array)) {
    if (array.unit == m->unit) return find_by_array(m, target, &array);
    return refuse(r, TD_USAGE, "units", m->target->loc,
                  "'%s' is not an array of the kernel of '%s'", spec, m->target->sym->name);
  }
  *r->diag = no_loop;
  return false;
}

/* Whether what stands between producer and consumer always goes on to the consumer. */
static bool check_reached(const TdMove *m) {
  for (size_t i = m->from + 1; i < m->to; i++) {
    const TdStmt *s = m->block->kid[i];
    if (td_walk_leaves(td_util_block1(m->r, s)))
      return refuse(m->r, TD_ILLEGAL, "return", s->loc, "'%s' may not be reached%s: this may leave",
                    m->target->sym->name, "");
  }
  return true;
}

/* Whether producer loop p and consumer loop c, with earlier variables made equal by sub, have one
 * range; the unit gets what must be assumed. */
static bool same_range(const TdMove *m, const TdSubst *sub, const TdStmt *p, const TdStmt *c,
                       const TdUnit **u) {
  const TdExpr *x[] = {td_subst_in_expr(sub, td_for_lo(p)), td_subst_in_expr(sub, td_for_hi(p))};
  if (p->step != c->step || td_util_leaves_by_break(td_for_body(p)) ||
      td_util_leaves_by_break(td_for_body(c)))
    return false;
  for (int i = 0; i < 2; i++) {
    const TdExpr *fact;
    if (!td_util_same_value(m->r, m->unit, c, x[i], c->expr[i], &fact)) return false;
    if (fact) *u = td_util_assume(m->r, *u, fact), m->r->used_value = true;
  }
  return true;
}

/* The nests of producer and consumer, gone down side by side. */
typedef struct Merge {
  const TdUnit *unit;         /* with what must be assumed */
  const TdStmt *next, *inner; /* of the producer: the loop or condition to come, its block */
  TdDepsMap *map;             /* loops of the producer as those of the consumer */
  TdSubst sub;
  size_t n;
} Merge;

/* Takes loop c of the consumer, and that of the producer beside it. */
static bool merge_loop(const TdMove *m, Merge *g, const TdStmt *c) {
  TdRewrite *r = m->r;
  const TdStmt *p = g->next;
  if (!p || p->kind != TD_STMT_FOR || !same_range(m, &g->sub, p, c, &g->unit))
    return refuse(r, TD_ILLEGAL, "ranges", m->block->kid[m->from]->loc,
                  "the nest of '%s' has no loop with the range of '%s'",
                  m->block->kid[m->from]->sym->name, c->sym->name);
  g->map[g->n] = (TdDepsMap){.old = p->sym, .expr = td_util_var(r, c->sym)};
  td_subst_expr(&g->sub, p->sym, g->map[g->n++].expr);
  g->inner = td_for_body(p);
  return true;
}

/* Takes condition c of the consumer: the producer has the same, of loops alone, or it is refused.
 */
static bool merge_condition(const TdMove *m, Merge *g, const TdStmt *c) {
  const TdStmt *p = g->next;
  bool same = p && td_util_is_guard(p) && td_util_is_guard(c) &&
              td_equal_expr(td_subst_in_expr(&g->sub, p->expr[0]), c->expr[0]);
  if (!same)
    return refuse(m->r, TD_ILLEGAL, "not-a-nest", m->target->loc, "'%s' stands under a condition%s",
                  m->target->sym->name, "");
  g->inner = p->kid[0];
  return true;
}

/* Goes down both nests to the target. */
static bool go_down(const TdMove *m, Merge *g) {
  TdPath p = td_edit_path(m->r->arena, m->block->kid[m->to], m->target->uid);
  g->map = TD_NEWN(m->r->arena, TdDepsMap, p.n);
  for (size_t i = 0; i < p.n; i++) {
    if (p.at[i]->kind == TD_STMT_BLOCK) continue;
    bool loop = p.at[i]->kind == TD_STMT_FOR;
    if (!(loop ? merge_loop(m, g, p.at[i]) : merge_condition(m, g, p.at[i]))) return false;
    g->next = g->inner->nkid == 1 ? g->inner->kid[0] : NULL;
  }
  return true;
}

/* The program where the producer's loops became the consumer's, down to the target; all that the
 * producer's next loop held comes first in it. */
static const TdProg *merge(const TdMove *m) {
  TdRewrite *r = m->r;
  Merge g = {.unit = m->unit, .next = m->block->kid[m->from], .sub = td_subst_new(r->store)};
  if (!go_down(m, &g)) return NULL;
  const TdStmt *inner = td_subst_in_stmt(&g.sub, g.inner);
  const TdStmt *after = td_util_declares(inner) ? td_shrink_moved(m, &inner, 1)
                                                : td_shrink_moved(m, inner->kid, inner->nkid);
  TdAsk q = td_util_ask(r, m->unit);
  const TdStmt *before = td_edit_slice(r->store, m->block, m->from, m->to + 1);
  TdVerdict v = td_deps_order(&q, before, after, g.map, g.n);
  const char *what =
      td_text_fmt(r->arena, "computing '%s' at '%s'", r->arg[PRODUCER].text, m->target->sym->name);
  const TdProg *now = td_shrink_replaced(m, g.unit, after);
  return td_accept_rewrite(r, &v, false, m->target->loc, what, now) ? now : NULL;
}

static const TdProg *apply(TdRewrite *r) {
  TdMove m = {.r = r};
  if (!find(&m) || !check_reached(&m)) return NULL;
  TdDiag *diag = r->diag, merged = {.arena = r->arena}, cut = {.arena = r->arena};
  size_t notes = r->note.n;
  bool used_value = r->used_value;
  r->diag = &merged;
  const TdProg *p = merge(&m);
  if (!p) {
    r->note.n = notes;
    r->used_value = used_value;
    r->diag = &cut;
    p = td_shrink_into(&m);
  }
  r->diag = diag;
  if (p) return p;
  *diag = merged;
  td_diag_note(diag, cut.loc, "%s", cut.message);
  return NULL;
}

const TdPrim td_prim_compute_at = {
    .name = "compute_at",
    .on = "loop",
    .summary = "Compute what a loop uses inside the loop, instead of all of it before.",
    .args = {{"producer", TD_ARG_BAND, TD_ARG_NEEDED,
              "the nest that computes it, by a loop or band, or the array", NULL},
             {"loop", TD_ARG_LOOP, TD_ARG_NEEDED, "the loop of a later nest", NULL}},
    .rewrite = "for i: for j: B[i][j] = f; for i: for j: S(B[i][j])  =>  "
               "for i: for j: B[i][j] = f; S(B[i][j])",
    .legal = "the nests have equal ranges and conditions down to the loop, and no dependence is "
             "turned round; or "
             "else the array's nest may run again for what an iteration reads: it writes nothing "
             "else, nor depends on what the array held or on what changes on the way",
    .errors = "units one-nest comes-later not-a-nest no-producer ranges dependence reassociation "
              "return not-decided",
    .example = "s:buffer_at(\"C\", \"i\"):compute_at(\"j_init\", \"j\")",
    .apply = apply,
};
