/* take.c - a primitive run on a kernel or design: tidied up after and checked. */
#include "rewrite/take.h"

#include <string.h>

#include "analysis/order/alias.h"
#include "analysis/range/bounds.h"
#include "rewrite/copied.h"
#include "rewrite/normalise.h"
#include "rewrite/owner.h"
#include "rewrite/stream/check_deadlock.h"

/* Whether what primitives declare is derived again. */
#ifdef TD_DEBUG
enum { debugs = 1 };
#else
enum { debugs = 0 };
#endif

/* Refuses a unit that would not load: what ran nowhere in place of a new one may be out of range,
 * and calls may be passed one element twice where none was before. */
static bool check_loads(TdRewrite *r, const TdProg *p) {
  bool ok = true;
  for (size_t i = 0; i < p->nunit && ok; i++) {
    const TdUnit *was = td_prog_unit(r->prog, p->unit[i]->sym);
    TdAsk q = {.affine = r->affine, .arena = r->arena, .prog = p, .unit = p->unit[i]};
    const TdBoundsItem *item;
    size_t n;
    ok = was || td_bounds_check(&q, &item, &n, r->diag);
    ok = ok && (was == p->unit[i] || td_alias_check(&q, r->diag));
  }
  return ok;
}

const TdProg *td_take_run(TdRewrite *r, const TdPrim *prim) {
  const TdProg *before = r->prog, *p = prim->apply(r);
  r->prog = before;
  if (p && !r->did.n) p = td_normalise_sound(r, p);
  if (p && !td_verify_prog(p, r->diag)) p = NULL;
  if (p && !(td_check_deadlock_check(r, p) && check_loads(r, p))) p = NULL;
  if (p && !r->did.n) p = td_check_deadlock_elsewhere(r, p);
  if (p && !r->did.n && !td_owner_check(r, p)) p = NULL;
  if (p && debugs && !r->did.n && !td_copied_check(r, p)) p = NULL;
  if (td_diag_failed(r->diag)) r->diag->prim = prim->name;
  return p;
}

const TdProg *td_take_try(const TdRewrite *r, TdArena *a, const TdProg *p, TdPrimStep step) {
  TdDiag quiet = {.arena = a};
  TdRewrite one = {.prog = p,
                   .since = r->since,
                   .store = r->store,
                   .session = r->session,
                   .arena = a,
                   .affine = r->affine,
                   .arg = step.arg,
                   .diag = &quiet};
  return td_take_run(&one, step.prim);
}

const TdProg *td_take_part(TdRewrite *r, const TdProg *p, TdPrimStep step,
                           const char *const **made) {
  TdRewrite one = *r;
  one.prog = p;
  one.arg = step.arg;
  one.naming = (TdNaming){0};
  memset(&one.made, 0, sizeof one.made);
  memset(&one.did, 0, sizeof one.did);
  memset(&one.copied, 0, sizeof one.copied);
  p = td_take_run(&one, step.prim);
  r->note.at = one.note.at, r->note.n = one.note.n, r->note.cap = one.note.cap;
  r->relative.at = one.relative.at, r->relative.n = one.relative.n;
  r->relative.cap = one.relative.cap;
  r->used_value |= one.used_value;
  *made = (const char *const *)one.made.at;
  step.before = one.prog;
  step.made = *made;
  step.nmade = one.made.n;
  td_vec_push(r->arena, &r->did, step);
  return p;
}

/* ---- kernels and designs as a kind ---- */

static const void *clone(TdStore *st, const void *p) {
  return td_clone_prog(st, p, false);
}

static const void *attempt(TdTaking *t) {
  TdRewrite r = {.prog = t->since->prog,
                 .since = t->since,
                 .store = t->store,
                 .session = t->store->session,
                 .arena = t->diag->arena,
                 .affine = t->tools,
                 .arg = t->arg,
                 .diag = t->diag};
  const TdProg *p = td_take_run(&r, t->prim);
  t->made = (const char *const *)r.made.at, t->nmade = r.made.n;
  t->note = (const char *const *)r.note.at, t->nnote = r.note.n;
  t->relative = (const char *const *)r.relative.at, t->nrelative = r.relative.n;
  t->did = r.did.at, t->ndid = r.did.n;
  t->used_value = r.used_value;
  return p;
}

static void print(TdText *out, const void *p) {
  td_print_prog(out, p);
}

static void print_root(TdText *out, const void *p) {
  td_print_unit(out, p, td_prog_root(p));
}

static const char *title(const void *p) {
  return td_prog_root(p)->sym->name;
}

/* Whether u assumes the fact e. */
static bool assumes(const TdUnit *u, const TdExpr *e) {
  bool found = false;
  for (size_t i = 0; i < u->nassert && !found; i++) found = td_equal_expr(u->assert_[i], e);
  return found;
}

static void put_assumed(TdText *out, const void *first, const void *last) {
  const TdUnit *was = td_prog_root(first), *now = td_prog_root(last);
  for (size_t i = 0; i < now->nassert; i++)
    if (!assumes(was, now->assert_[i]))
      td_text_putf(out, "%sassume %s", out->n ? ", " : "",
                   td_print_expr_str(out->arena, now->assert_[i]));
}

const TdKind td_prim_kind = {.name = "kernel or design",
                             .prims = td_prims,
                             .clone = clone,
                             .attempt = attempt,
                             .print = print,
                             .print_root = print_root,
                             .title = title,
                             .put_assumed = put_assumed};
