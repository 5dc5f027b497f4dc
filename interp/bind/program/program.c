/* program.c - what is decided on a program once it is captured: structure, bounds, aliasing.
 */
#include "analysis/order/alias.h"
#include "analysis/range/bounds.h"
#include "analysis/order/effects.h"
#include "analysis/range/index_width.h"
#include "analysis/order/proofs.h"
#include "bind/program/unit.h"

/* Whether sym is put to, or got from, among the effects. */
static bool is_used(const TdEffect *e, size_t n, TdSym sym, TdCellKind kind) {
  for (size_t i = 0; i < n; i++)
    if (e[i].sym == sym && e[i].kind == kind) return true;
  return false;
}

/* Whether each stream that the unit takes is used in one direction. */
static bool check_ports(const TdAsk *q, TdDiag *d) {
  const TdUnit *u = q->unit;
  bool any = false;
  for (size_t i = 0; i < u->nparam; i++) any |= u->param[i].type->kind == TD_T_PORT;
  if (!any) return true;
  const TdEffect *e;
  size_t n = td_effects_of(q, u->body, &e);
  for (size_t i = 0; i < u->nparam; i++) {
    TdSym sym = u->param[i].sym;
    bool both = is_used(e, n, sym, TD_CELL_PUT) && is_used(e, n, sym, TD_CELL_GET);
    if (both && u->param[i].type->kind == TD_T_PORT)
      return td_diag_set(d, TD_USAGE, "port-direction", u->param[i].loc,
                         "'%s' is one end of a stream, and '%s' both puts to it and gets from it",
                         sym->name, u->sym->name);
  }
  return true;
}

/* Whether kernel u of p keeps to its arrays. */
static bool check_kernel(TdBind *b, const TdProg *p, const TdUnit *u, TdDiag *d) {
  if (u->kind != TD_UNIT_KERNEL) return true;
  TdArena *a = td_arena_scratch(b->ctx);
  TdAsk q = {b->affine, a, p, u};
  const TdBoundsItem *items;
  size_t n;
  bool ok = (td_index_width_inside(&q) || td_bounds_check(&q, &items, &n, d)) &&
            td_index_width_check(&q, d) && td_alias_check(&q, d) && check_ports(&q, d) &&
            td_proofs_check(&q, d);
  td_arena_free(a);
  return ok;
}

bool td_bind_check_program(TdBind *b, const TdProg *p, TdDiag *d) {
  const TdUnit *root = td_prog_root(p);
  bool ok = td_verify_prog(p, d) && td_wide_check(p, d) && check_kernel(b, p, root, d);
  for (size_t i = 0; ok && i < root->nrun; i++)
    ok = check_kernel(b, p, td_prog_unit(p, root->run[i].unit), d);
  return ok;
}
