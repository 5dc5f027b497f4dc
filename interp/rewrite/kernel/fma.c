/* fma.c - fma: products that are added to something become fused multiply-adds. */
#include "rewrite/util.h"

enum { LOOP };

/* The rewrite under way. */
typedef struct Fusing {
  TdRewrite *r;
  int count;
} Fusing;

static bool is_op(const TdExpr *e, TdOp op) {
  return e->kind == TD_EXPR_OP && e->op == op && td_type_scalar(e->type)->kind == TD_T_FLOAT;
}

/* fma(x, y, z) for e = x * y + z with z = e's operand 1 - side; NULL where it would not round as e
 * does. */
static const TdExpr *fuse_side(TdRewrite *r, const TdExpr *e, int side) {
  const TdExpr *product = e->kid[side];
  if (!is_op(product, TD_OP_MUL) || product->type != e->type) return NULL;
  const TdExpr *kid[] = {product->kid[0], product->kid[1], e->kid[1 - side]};
  const TdType *t[3];
  for (int i = 0; i < 3; i++) t[i] = td_type_scalar(kid[i]->type);
  TdDiag d = {.arena = r->arena};
  if (td_promote_op(r->session, TD_OP_FMA, t, 3, e->loc, &d) != td_type_scalar(e->type))
    return NULL;
  return td_expr_op(r->store->arena, TD_OP_FMA, e->type, kid, 3, e->loc);
}

static const TdExpr *fuse_node(void *ud, const TdExpr *e) {
  Fusing *f = ud;
  if (!is_op(e, TD_OP_ADD)) return e;
  const TdExpr *fused = fuse_side(f->r, e, 0);
  if (!fused) fused = fuse_side(f->r, e, 1);
  f->count += fused != NULL;
  return fused ? fused : e;
}

static const TdProg *apply(TdRewrite *r) {
  TdPlace at = {.unit = td_prog_root(r->prog)};
  if (r->arg[LOOP].given && !td_util_loop(r, LOOP, &at)) return NULL;
  Fusing f = {.r = r};
  const TdStmt *root = at.stmt ? at.stmt : at.unit->body;
  const TdStmt *now = root ? td_walk_map(r->store, root, fuse_node, &f) : NULL;
  if (!f.count)
    return td_util_refuse(r, TD_USAGE, "nothing-to-fuse", root ? root->loc : at.unit->loc,
                          "'%s' adds no product of floats of the same type",
                          at.stmt ? at.stmt->sym->name : at.unit->sym->name);
  td_util_note(r, "%d multiply-add%s now", f.count, f.count > 1 ? "s round once" : " rounds once");
  return at.stmt ? td_util_with_stmt(r, at.unit, root->uid, now)
                 : td_util_with_body(r, at.unit, now);
}

const TdPrim td_prim_fma = {
    .name = "fma",
    .on = "kernel",
    .summary = "Round products that are added to something once instead of twice.",
    .args = {{"loop", TD_ARG_LOOP, TD_ARG_OPTIONAL, "the loop; all of the root by default", NULL}},
    .rewrite = "x * y + z  =>  tide.fma(x, y, z)",
    .legal =
        "where something changes: floats, and the product and the sum of one type; verify then "
        "says \"fused\"",
    .errors = "nothing-to-fuse",
    .example = "s:fma()",
    .apply = apply,
};
