/* copied.c - copied expressions declared, asked about, and found. */
#include "rewrite/copied.h"

#include "analysis/order/steady.h"
#include "rewrite/util.h"

void td_copied_note(TdRewrite *r, const TdExpr *e) {
  td_vec_push(r->arena, &r->copied, e);
}

/* Declares that the step evaluates e, a bound of the loop, again within its body: whether it is the
 * same there; else refuses, both places named. */
static bool declare(TdRewrite *r, const TdUnit *u, const TdExpr *e, const TdStmt *loop) {
  td_copied_note(r, e);
  TdAsk q = td_util_ask(r, u);
  TdSteady s = td_steady_at(&q, e, loop, td_for_body(loop));
  if (s.same) return true;
  const char *text = td_print_expr_str(r->arena, e), *name = s.array->name;
  td_util_refuse(r, TD_UNSUPPORTED, "bound-written", loop->loc,
                 "'%s', a bound of '%s', would be evaluated again after line %u, which %s '%s'",
                 text, loop->sym->name, s.between->loc.line, s.exact ? "writes" : "may write",
                 name);
  td_diag_note(r->diag, s.between->loc, "'%s' is written here", name);
  td_diag_help(r->diag, "hold the value in a local before: local n = %s", text);
  return false;
}

bool td_copied_bounds(TdRewrite *r, const TdUnit *u, const TdStmt *loop, bool both) {
  return declare(r, u, td_for_lo(loop), loop) && (!both || declare(r, u, td_for_hi(loop), loop));
}

/* The loads of a statement, and those of one that it was. */
typedef struct Loads {
  TdRewrite *r;
  TdMap old;    /* uid -> statement of r->prog */
  TdMap unit;   /* uid -> the unit that it was in */
  TdMap family; /* origin, or uid -> how many statements of r->prog come of it */
  TdMap known;  /* symbols of r->prog's statements */
  TdMap copied; /* symbols of declared loads */
  TdMap count;  /* of the statement under way: symbol -> how many loads more than its former self */
  TD_VEC(const TdExpr *) met; /* loads of the statement under way, each once */
  const TdUnit *in;
  const TdStmt *bad;
  TdSym sym;
} Loads;

static bool is_load(const TdExpr *e) {
  return e->kind == TD_EXPR_LOAD || e->kind == TD_EXPR_VIEW;
}

static bool note_known(void *ud, const TdExpr *e) {
  Loads *l = ud;
  if (is_load(e)) td_map_putp(l->r->arena, &l->known, e->sym, l);
  return true;
}

static bool note_copied(void *ud, const TdExpr *e) {
  Loads *l = ud;
  if (is_load(e)) td_map_putp(l->r->arena, &l->copied, e->sym, l);
  return true;
}

static bool note_old(void *ud, const TdStmt *s) {
  Loads *l = ud;
  uint64_t root = s->origin ? s->origin : s->uid, n = 0;
  td_map_get(&l->family, root, &n);
  td_map_put(l->r->arena, &l->family, root, n + 1);
  td_map_put(l->r->arena, &l->old, s->uid, (uint64_t)(uintptr_t)s);
  td_map_put(l->r->arena, &l->unit, s->uid, (uint64_t)(uintptr_t)l->in);
  for (uint32_t i = 0; i < s->nexpr; i++) td_walk_expr(s->expr[i], note_known, l);
  return true;
}

/* Counts a load of the former self down. */
static bool count_old(void *ud, const TdExpr *e) {
  Loads *l = ud;
  uint64_t n = 0;
  if (!is_load(e)) return true;
  td_map_get(&l->count, (uint64_t)(uintptr_t)e->sym, &n);
  td_map_put(l->r->arena, &l->count, (uint64_t)(uintptr_t)e->sym, n + 1);
  return true;
}

/* Whether the statement under way has had this load; a load twice in one statement has one value.
 */
static bool is_again(Loads *l, const TdExpr *e) {
  for (size_t i = 0; i < l->met.n; i++)
    if (td_equal_expr(l->met.at[i], e)) return true;
  td_vec_push(l->r->arena, &l->met, e);
  return false;
}

/* Takes a load of the statement from those of its former self; one too many is bad unless it is of
 * something that the step made, or was declared. */
static bool take_new(void *ud, const TdExpr *e) {
  Loads *l = ud;
  uint64_t n = 0;
  if (!is_load(e) || !td_map_getp(&l->known, e->sym) || is_again(l, e)) return true;
  bool had = td_map_get(&l->count, (uint64_t)(uintptr_t)e->sym, &n) && n;
  if (had) td_map_put(l->r->arena, &l->count, (uint64_t)(uintptr_t)e->sym, n - 1);
  if (had || td_map_getp(&l->copied, e->sym)) return true;
  l->sym = e->sym;
  return false;
}

/* Compares a statement with its former self, which of a copy is known where it is one alone. */
static bool look_new(void *ud, const TdStmt *s) {
  Loads *l = ud;
  uint64_t old = 0, unit = 0, n = 0;
  bool kept = td_map_get(&l->old, s->uid, &old);
  if (!kept && !(td_map_get(&l->family, s->origin, &n) && n == 1)) return true;
  if (!kept && !td_map_get(&l->old, s->origin, &old)) return true;
  const TdStmt *was = (const TdStmt *)(uintptr_t)old;
  if (was == s || was->kind != s->kind) return true;
  td_map_get(&l->unit, was->uid, &unit);
  bool moved = ((const TdUnit *)(uintptr_t)unit)->sym != l->in->sym;
  l->count = (TdMap){0};
  l->met.n = 0;
  for (uint32_t i = 0; i < was->nexpr; i++) td_walk_expr(was->expr[i], count_old, l);
  for (uint32_t i = 0; i < s->nexpr && !moved && !l->bad; i++)
    if (!td_walk_expr(s->expr[i], take_new, l)) l->bad = s;
  return !l->bad;
}

bool td_copied_check(TdRewrite *r, const TdProg *now) {
  Loads l = {.r = r};
  TdCtx *c = r->session->ctx;
  for (size_t i = 0; i < r->prog->nunit; i++) {
    l.in = r->prog->unit[i];
    if (l.in->body) td_walk_stmt(c, l.in->body, note_old, &l);
  }
  for (size_t i = 0; i < r->copied.n; i++) td_walk_expr(r->copied.at[i], note_copied, &l);
  for (size_t i = 0; i < now->nunit && !l.bad; i++) {
    l.in = now->unit[i];
    if (l.in->body) td_walk_stmt(c, l.in->body, look_new, &l);
  }
  if (!l.bad) return true;
  td_util_refuse(r, TD_BUG, "wrong-step", l.bad->loc,
                 "the step has line %u read '%s' more often than it did, and declared no copy",
                 l.bad->loc.line, l.sym->name);
  return false;
}
