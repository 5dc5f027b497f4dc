/* check_deadlock.c - a step may keep the order on each stream and still make tasks wait for each
 * other. */
#include "rewrite/stream/check_deadlock.h"

#include "analysis/net/streams.h"
#include "ir/at.h"
#include "rewrite/util.h"

/* The program whose root is unit n of p. */
static const TdProg *rooted_at(const TdProg *p, size_t n) {
  return td_prog_prune(td_prog_new(p->store, p->unit, n + 1));
}

/* Whether the old program has the same units, all of them. */
static bool is_unchanged(const TdProg *old, const TdProg *p) {
  for (size_t i = 0; i < p->nunit; i++)
    if (td_prog_unit(old, p->unit[i]->sym) != p->unit[i]) return false;
  return true;
}

bool td_check_deadlock_check(TdRewrite *r, const TdProg *p) {
  for (size_t i = 0; i < p->nunit; i++) {
    if (p->unit[i]->kind != TD_UNIT_DESIGN) continue;
    const TdProg *part = rooted_at(p, i);
    TdAsk q = {.affine = r->affine, .arena = r->arena, .prog = part, .unit = p->unit[i]};
    if (!is_unchanged(r->prog, part) && !td_streams_check(&q, NULL, r->diag)) return false;
  }
  return true;
}

/* Whether the design p runs to its end at these sizes; *tells: at sizes that p can have. */
static bool runs_at(TdRewrite *r, const TdProg *p, const TdSize *size, size_t n, bool *tells,
                    const char **why) {
  TdDiag quiet = {.arena = r->arena};
  const TdProg *there = td_at_sizes(p, size, n, &quiet);
  *tells = there != NULL;
  if (!there || td_prog_root(there)->kind != TD_UNIT_DESIGN) return true;
  TdAsk q = {.affine = r->affine, .arena = r->arena, .prog = there, .unit = td_prog_root(there)};
  bool ok = td_streams_order(&q, &quiet);
  if (!ok)
    *why = td_text_fmt(r->arena, "at %s = %lld: %s", size->name, (long long)size->value,
                       quiet.message);
  return ok;
}

/* The root of p, which keeps the values of its sizes. */
static const TdUnit *keep_sizes(TdRewrite *r, const TdUnit *root) {
  TdArena *a = r->store->arena;
  for (size_t i = 0; i < root->nsize; i++) {
    if (!root->size[i].known) continue;
    const TdExpr *size = td_expr_size(r->session, a, root->size[i].name, root->loc);
    const TdExpr *value = td_util_const(r, root->size[i].value);
    root = td_util_assume(r, root, td_expr_op2(a, TD_OP_EQ, td_type_bool(r->session), size, value));
  }
  r->used_value = true;
  return root;
}

const TdProg *td_check_deadlock_elsewhere(TdRewrite *r, const TdProg *p) {
  const TdUnit *root = td_prog_root(p);
  if (root->kind != TD_UNIT_DESIGN || !root->nstream || is_unchanged(r->prog, p)) return p;
  TdSize *size = td_arena_copy(r->arena, root->size, root->nsize * sizeof *size);
  for (int64_t by = 2; by <= 3; by++) {
    size_t n = 0;
    for (size_t i = 0; i < root->nsize; i++) {
      if (!root->size[i].known || root->size[i].value > INT32_MAX) continue;
      size[n] = root->size[i];
      size[n++].value = by * root->size[i].value;
    }
    bool tells, told;
    const char *why, *other;
    if (!n || runs_at(r, p, size, n, &tells, &why)) continue;
    if (!runs_at(r, r->prog, size, n, &told, &other) || !told) continue;
    td_util_note(r, "%s", why);
    return td_prog_with(p, keep_sizes(r, root));
  }
  return p;
}
