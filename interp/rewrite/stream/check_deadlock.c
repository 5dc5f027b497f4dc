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

/* Other values of the sizes whose values are known: scaled by num / den, or `only` one of them. */
typedef struct Other {
  const TdSize *size;
  size_t n;
  const char *text; /* "M = 4, N = 6" */
} Other;
static Other other_of(TdRewrite *r, const TdUnit *u, int64_t num, int64_t den, const TdSize *only) {
  TdSize *size = td_arena_copy(r->arena, u->size, u->nsize * sizeof *size);
  TdText text = td_text_new(r->arena);
  Other o = {.size = size};
  for (size_t i = 0; i < u->nsize; i++) {
    const TdSize *z = &u->size[i];
    if (!z->known || z->value > INT32_MAX || z->value < 1) continue;
    int64_t value = only && only != z ? z->value : z->value * num / den;
    size[o.n] = *z;
    size[o.n++].value = value < 1 ? 1 : value;
    if (!only || only == z)
      td_text_putf(&text, "%s%s = %lld", text.n ? ", " : "", z->name,
                   (long long)size[o.n - 1].value);
  }
  o.text = td_text_str(&text);
  return o;
}

/* Whether the design p runs to its end at these sizes; *tells: at sizes that p can have. */
static bool runs_at(TdRewrite *r, const TdProg *p, const Other *o, bool *tells, const char **why) {
  TdDiag quiet = {.arena = r->arena};
  const TdProg *there = td_at_sizes(p, o->size, o->n, &quiet);
  *tells = there != NULL;
  if (!there || td_prog_root(there)->kind != TD_UNIT_DESIGN) return true;
  TdAsk q = {.affine = r->affine, .arena = r->arena, .prog = there, .unit = td_prog_root(there)};
  bool ok = td_streams_order(&q, &quiet);
  if (!ok) *why = td_text_fmt(r->arena, "at %s: %s", o->text, quiet.message);
  return ok;
}

/* Whether p stops at these sizes, where the program before the step goes on. */
static bool stops_at(TdRewrite *r, const TdProg *p, const Other *o) {
  bool tells, told;
  const char *why, *other;
  if (!o->n || runs_at(r, p, o, &tells, &why)) return false;
  if (!runs_at(r, r->prog, o, &told, &other) || !told) return false;
  td_util_note(r, "%s", why);
  return true;
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
  static const int64_t scale[][2] = {{2, 1}, {3, 1}, {1, 2}};
  const TdUnit *root = td_prog_root(p);
  if (root->kind != TD_UNIT_DESIGN || !root->nstream || is_unchanged(r->prog, p)) return p;
  bool stops = false;
  for (size_t i = 0; i < sizeof scale / sizeof *scale && !stops; i++) {
    Other o = other_of(r, root, scale[i][0], scale[i][1], NULL);
    stops = stops_at(r, p, &o);
  }
  for (size_t i = 0; i < root->nsize && root->nsize > 1 && !stops; i++) {
    if (!root->size[i].known) continue;
    Other o = other_of(r, root, 1, 2, &root->size[i]);
    stops = stops_at(r, p, &o);
  }
  return stops ? td_prog_with(p, keep_sizes(r, root)) : p;
}
