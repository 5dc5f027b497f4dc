/* normalise.c - what is seen to after each step; proofs written as attributes are asked again. */
#include "rewrite/normalise.h"

#include "analysis/order/proofs.h"
#include "ir/text/settle.h"
#include "rewrite/kernel/lift.h"
#include "rewrite/decide_sizes.h"

/* The loops of a unit that carry a proof. */
typedef struct Proofs {
  TdArena *arena;
  TD_VEC(const TdStmt *) loop;
} Proofs;

static bool find_proof(void *ud, const TdStmt *s) {
  Proofs *k = ud;
  bool proved = false;
  for (size_t i = 0; s->kind == TD_STMT_FOR && i < s->attrs.n; i++)
    proved |= td_proofs_has(&s->attrs.at[i]);
  if (proved) td_vec_push(k->arena, &k->loop, s);
  return true;
}

/* The attributes of `loop` that still hold; those that do not are noted. */
static TdAttrs holding(TdRewrite *r, const TdAsk *q, const TdStmt *loop) {
  TdAttrs kept = {0};
  for (size_t i = 0; i < loop->attrs.n; i++) {
    TdAttr x = loop->attrs.at[i];
    if (td_proofs_holds(q, loop, &x))
      kept = td_attrs_add(r->store->arena, kept, x);
    else
      td_util_note(r, "'%s' is no longer %s", loop->sym->name,
                   x.kind == TD_ATTR_PARALLEL
                       ? "parallel"
                       : td_text_fmt(r->arena, "free of dependences on '%s'", x.arg[0].sym->name));
  }
  return kept.n == loop->attrs.n ? loop->attrs : kept;
}

/* Unit u of p with its proofs asked again. */
static const TdUnit *keep_proofs(TdRewrite *r, const TdProg *p, const TdUnit *u) {
  Proofs k = {.arena = r->arena};
  td_walk_stmt(r->session->ctx, u->body, find_proof, &k);
  for (size_t i = 0; i < k.loop.n; i++) {
    TdAsk q = {.affine = r->affine, .arena = r->arena, .prog = p, .unit = u};
    const TdStmt *loop = td_edit_find(r->session->ctx, u->body, k.loop.at[i]->uid);
    TdAttrs kept = holding(r, &q, loop);
    if (kept.at == loop->attrs.at) continue;
    const TdStmt *now = td_stmt_with_attrs(r->store, loop, kept);
    u = td_unit_with_body(r->store, u, td_edit_replace(r->store, u->body, loop->uid, &now, 1));
    p = td_prog_with(p, u);
  }
  return u;
}

/* The design that runs a unit as a task, or NULL. */
static const TdUnit *design_of(const TdProg *p, const TdUnit *task) {
  for (size_t i = 0; i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nrun; k++)
      if (p->unit[i]->run[k].unit == task->sym) return p->unit[i];
  return NULL;
}

const TdProg *td_normalise_sound(TdRewrite *r, const TdProg *p) {
  for (size_t i = 0; p != r->prog && i < p->nunit; i++) {
    const TdUnit *u = p->unit[i], *old = td_prog_unit(r->prog, u->sym);
    if (!u->body) continue;
    if (!old || old->body != u->body) u = td_decide_choices(r, p, u);
    const TdUnit *design = design_of(p, u);
    if (!old || old->body != u->body || old->assert_ != u->assert_) {
      p = td_decide_sizes(r, p, u);
      u = td_settle_names(r->store, td_prog_unit(p, u->sym), design);
      p = td_prog_with(p, td_lift_tidy(r, td_settle_form(r->store, u)));
    } else if (design && td_prog_unit(r->prog, design->sym) != design) {
      p = td_prog_with(p, td_settle_names(r->store, u, design));
    }
    p = td_prog_with(p, keep_proofs(r, p, p->unit[i]));
  }
  return td_prog_prune(p);
}
