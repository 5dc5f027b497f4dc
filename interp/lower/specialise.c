/* specialise.c - bodies without the conditions that ids decide: a copy of the path to what goes, by
 * the fates that analysis/net/classes tells. */
#include "lower/specialise.h"

#include "analysis/net/classes.h"

typedef struct Specialise {
  TdArena *arena;
  TdStore *store;
  TdMap fate; /* of statements, by uid */
} Specialise;

static const TdStmt *residue(Specialise *r, const TdStmt *s);

/* Whether block s declares nothing that its end would end. */
static bool is_open(const TdStmt *s) {
  for (uint32_t i = 0; i < s->nkid; i++)
    if (s->kid[i]->sym && s->kid[i]->kind != TD_STMT_FOR && s->kid[i]->kind != TD_STMT_CALL)
      return false;
  return true;
}

/* s with what is left of those below it: nothing of those that are gone; of an IF the statements of
 * its arm, where they need no block of their own. */
static const TdStmt *with_kids(Specialise *r, const TdStmt *s) {
  TD_VEC(const TdStmt *) kid = {0};
  for (uint32_t i = 0; i < s->nkid; i++) {
    const TdStmt *left = residue(r, s->kid[i]);
    if (!left) continue;
    bool arm = s->kind == TD_STMT_BLOCK && s->kid[i]->kind == TD_STMT_IF &&
               left->kind == TD_STMT_BLOCK && is_open(left);
    if (!arm) td_vec_push(r->arena, &kid, left);
    for (uint32_t k = 0; arm && k < left->nkid; k++) td_vec_push(r->arena, &kid, left->kid[k]);
  }
  return td_stmt_with_kids(r->store, s, kid.at, kid.n);
}

/* What is left of s, NULL for nothing. */
static const TdStmt *residue(Specialise *r, const TdStmt *s) {
  uint64_t fate = TD_FATE_STAYS;
  td_map_get(&r->fate, s->uid, &fate);
  if (fate == TD_FATE_GONE) return NULL;
  td_ctx_enter(r->store->session->ctx);
  const TdStmt *left = s;
  if (fate == TD_FATE_THEN || fate == TD_FATE_ELSE)
    left = residue(r, s->kid[fate == TD_FATE_ELSE]);
  else if (s->nkid)
    left = with_kids(r, s);
  td_ctx_leave(r->store->session->ctx);
  return left;
}

const TdStmt *td_specialise_body(TdArena *a, const TdProg *p, const TdUnit *design, const TdRun *r,
                                 uint32_t i) {
  Specialise x = {.arena = a, .store = p->store};
  if (!td_classes_fates(a, p, design, r, i, &x.fate)) return NULL;
  return with_kids(&x, td_prog_unit(p, r->unit)->body);
}
