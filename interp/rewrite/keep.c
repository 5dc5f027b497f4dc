/* keep.c - after each step: proofs that are attributes, names, and the sizes of units. */
#include "rewrite/keep.h"

#include "ir/settle.h"
#include "rewrite/lift.h"

/* The loops of a unit that carry a proof. */
typedef struct Proofs {
  TdArena *arena;
  TD_VEC(const TdStmt *) loop;
} Proofs;

static bool find_proof(void *ud, const TdStmt *s) {
  Proofs *k = ud;
  bool proved = s->kind == TD_STMT_FOR &&
                (td_attrs_get(s->attrs, TD_ATTR_PARALLEL) || td_attrs_get(s->attrs, TD_ATTR_DEP));
  if (proved) td_vec_push(k->arena, &k->loop, s);
  return true;
}

/* Whether sym is one of n. */
static bool is_among(TdSym sym, const TdSym *of, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (of[i] == sym) return true;
  return false;
}

/* The attributes of `loop` that still hold; those that do not are noted. */
static TdAttrs holding(TdRewrite *r, const TdAsk *q, const TdStmt *loop) {
  TdAttrs kept = {0};
  const TdSym *free_of;
  size_t n = td_attrs_get(loop->attrs, TD_ATTR_DEP) ? td_carry_free(q, loop, &free_of) : 0;
  for (size_t i = 0; i < loop->attrs.n; i++) {
    TdAttr x = loop->attrs.at[i];
    bool holds = true;
    if (x.kind == TD_ATTR_PARALLEL) holds = td_carry_loop(q, loop).kind == TD_VERDICT_LEGAL;
    if (x.kind == TD_ATTR_DEP) holds = is_among(x.arg[0].sym, free_of, n);
    if (holds)
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

/* A search for a size in the types and loop bounds of a unit. */
typedef struct SizeUse {
  const char *name;
  bool found;
} SizeUse;

static bool is_other_size(void *ud, const TdExpr *e) {
  SizeUse *k = ud;
  k->found |= e->kind == TD_EXPR_SIZE && e->u.name == k->name;
  return !k->found;
}

static void look_type(SizeUse *k, const TdType *t) {
  if (!t || (t->kind != TD_T_TENSOR && t->kind != TD_T_PORT)) return;
  for (int d = 0; d < t->rank; d++) td_walk_expr(t->dim[d], is_other_size, k);
  look_type(k, t->elem);
}

static bool look_stmt(void *ud, const TdStmt *s) {
  SizeUse *k = ud;
  look_type(k, s->type);
  for (int i = 0; s->kind == TD_STMT_FOR && i < 2; i++) td_walk_expr(s->expr[i], is_other_size, k);
  return !k->found;
}

/* Whether a size shapes u: what the printed form has elsewhere only would load as a number. */
static bool is_shaping(TdRewrite *r, const TdUnit *u, const char *name) {
  SizeUse k = {name, false};
  for (size_t i = 0; i < u->nparam; i++) look_type(&k, u->param[i].type);
  td_walk_stmt(r->session->ctx, u->body, look_stmt, &k);
  return k.found;
}

/* u without size i, which has its value everywhere; what was assumed of it holds. */
static const TdUnit *pin_size(TdRewrite *r, const TdUnit *u, size_t i) {
  TdUnit *copy = td_unit_copy(r->store, u);
  TdSize *size = td_arena_copy(r->store->arena, u->size, u->nsize * sizeof *size);
  const TdExpr **fact = td_arena_copy(r->store->arena, u->assert_, u->nassert * sizeof *fact);
  TdSubst sub = td_subst_new(r->store);
  SizeUse k = {u->size[i].name, false};
  td_subst_size(&sub, k.name, td_util_const(r, u->size[i].value));
  copy->nassert = 0;
  for (size_t n = 0; n < u->nassert; n++, k.found = false)
    if (td_walk_expr(u->assert_[n], is_other_size, &k)) fact[copy->nassert++] = u->assert_[n];
  for (size_t n = i; n + 1 < u->nsize; n++) size[n] = u->size[n + 1];
  copy->nsize--;
  copy->size = size;
  copy->assert_ = fact;
  copy->body = td_subst_in_stmt(&sub, u->body);
  return copy;
}

/* u without the sizes that shape it no more. */
static const TdUnit *pin_sizes(TdRewrite *r, const TdUnit *u) {
  for (size_t i = u->nsize; i-- > 0;)
    if (u->size[i].known && !is_shaping(r, u, u->size[i].name)) u = pin_size(r, u, i);
  return u;
}

const TdProg *td_keep_sound(TdRewrite *r, const TdProg *p) {
  for (size_t i = 0; p != r->prog && i < p->nunit; i++) {
    const TdUnit *u = p->unit[i], *old = td_prog_unit(r->prog, u->sym);
    if (!u->body) continue;
    if (!old || old->body != u->body)
      p = td_prog_with(p, td_lift_tidy(r, td_settle_names(r->store, pin_sizes(r, u))));
    p = td_prog_with(p, keep_proofs(r, p, p->unit[i]));
  }
  return td_prog_prune(p);
}
