/* at.c - sizes get values: the root's as told, the others' from the shapes of what is passed to
 * them, or else from the caller's size of the same name. */
#include "ir/at.h"

#include <string.h>

#include "ir/text/print.h"
#include "ir/walk.h"

typedef struct Sizes {
  TdSize *at;
  size_t n;
  bool set; /* some call has told them */
} Sizes;

typedef struct Resize {
  const TdProg *p;
  TdStore *store;
  TdDiag *d;
  Sizes *of;            /* for each unit of p */
  const TdUnit *caller; /* with its new sizes */
  const TdUnit *was;    /* the caller before */
  bool ok;
} Resize;

static Sizes copy_sizes(TdArena *a, const TdUnit *u) {
  return (Sizes){.at = td_arena_copy(a, u->size, u->nsize * sizeof *u->size), .n = u->nsize};
}

static TdSize *find(const Sizes *z, const char *name) {
  for (size_t i = 0; i < z->n; i++)
    if (strcmp(z->at[i].name, name) == 0) return &z->at[i];
  return NULL;
}

/* Learns from one extent: dim (over the callee's sizes) is v. Only a bare size tells something new.
 */
static bool learn(Sizes *z, const TdExpr *dim, int64_t v, bool again) {
  TdSize *s = dim->kind == TD_EXPR_SIZE ? find(z, dim->u.name) : NULL;
  if (!s) return true;
  if (again && s->known && s->value != v) return false;
  s->known = true;
  s->value = v;
  return true;
}

static bool learn_type(Sizes *z, const TdType *param, const TdUnit *where, const TdType *arg,
                       bool again) {
  if (param->kind != TD_T_TENSOR && param->kind != TD_T_PORT) return true;
  bool ok = true;
  for (int d = 0; ok && d < param->rank; d++) {
    int64_t v;
    if (td_unit_value(where, arg->dim[d], &v)) ok = learn(z, param->dim[d], v, again);
  }
  return ok && (param->kind != TD_T_PORT || learn_type(z, param->elem, where, arg->elem, again));
}

static size_t unit_index(const TdProg *p, TdSym sym) {
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->sym == sym) return i;
  return p->nunit;
}

static bool fail_two_sizes(Resize *r, const TdUnit *u, TdLoc loc) {
  r->ok = td_diag_set(r->d, TD_UNSUPPORTED, "two-sizes", loc,
                      "'%s' is called at two different sizes", u->sym->name);
  td_diag_help(r->d, "give one of the calls a kernel of its own: k:as \"name\"");
  return false;
}

/* Whether `now` is what became of a size that u shares: by name and value, as the printed chunk
 * shares them. */
static bool is_shared(const TdSize *u, const TdSize *was, const TdSize *now) {
  return now && was->known == u->known && was->value == u->value;
}

/* Gives u the sizes that it shares with its caller, or with the root. */
static void inherit(const Resize *r, const TdUnit *u, Sizes *z) {
  const Sizes *top = &r->of[r->p->nunit - 1];
  for (size_t i = 0; i < z->n; i++) {
    const char *name = z->at[i].name;
    const TdSize *caller = td_unit_size(r->caller, name), *root = find(top, name);
    if (is_shared(&u->size[i], td_unit_size(r->was, name), caller))
      z->at[i] = *caller;
    else if (!caller && is_shared(&u->size[i], td_unit_size(td_prog_root(r->p), name), root))
      z->at[i] = *root;
  }
}

/* Whether t, over the sizes of u, has the extents of what is passed. */
static bool agrees(const Resize *r, const TdUnit *u, const TdType *t, const TdType *arg) {
  if (t->kind != TD_T_TENSOR && t->kind != TD_T_PORT) return true;
  for (int d = 0; d < t->rank; d++) {
    int64_t v, w;
    if (td_unit_value(u, t->dim[d], &v) && td_unit_value(r->caller, arg->dim[d], &w) && v != w)
      return false;
  }
  return t->kind != TD_T_PORT || agrees(r, u, t->elem, arg->elem);
}

/* Whether a call at the new sizes passes what the callee takes. */
static bool check_extents(Resize *r, const TdUnit *callee, const Sizes *z, const TdStmt *s) {
  TdUnit u = *callee;
  u.size = z->at;
  for (uint32_t k = 0; k < s->nexpr; k++) {
    if (agrees(r, &u, u.param[k].type, s->expr[k]->type)) continue;
    r->ok = td_diag_set(r->d, TD_ILLEGAL, "extents", s->loc,
                        "'%s' takes a '%s' of other extents at these sizes", u.sym->name,
                        u.param[k].sym->name);
  }
  return r->ok;
}

static bool visit_call(void *ud, const TdStmt *s) {
  Resize *r = ud;
  if (s->kind != TD_STMT_CALL) return true;
  size_t i = unit_index(r->p, s->sym);
  const TdUnit *u = r->p->unit[i];
  if (!r->of[i].set) inherit(r, u, &r->of[i]);
  for (uint32_t k = 0; k < s->nexpr; k++)
    if (!learn_type(&r->of[i], u->param[k].type, r->caller, s->expr[k]->type, r->of[i].set))
      return fail_two_sizes(r, u, s->loc);
  r->of[i].set = true;
  return check_extents(r, u, &r->of[i], s);
}

/* Tasks see the sizes of their design under the same names, and share the root's others. */
static void pass_to_tasks(Resize *r, const TdUnit *design) {
  for (size_t i = 0; i < design->nrun; i++) {
    size_t at = unit_index(r->p, design->run[i].unit);
    Sizes *z = &r->of[at];
    inherit(r, r->p->unit[at], z);
    for (size_t k = 0; k < design->nsize; k++)
      for (size_t m = 0; m < z->n; m++)
        if (z->at[m].name == design->size[k].name) z->at[m] = design->size[k];
  }
}

static bool check_asserts(const TdUnit *u, TdDiag *d) {
  for (size_t i = 0; i < u->nassert; i++) {
    int64_t holds;
    if (!td_unit_value(u, u->assert_[i], &holds) || holds) continue;
    return td_diag_set(d, TD_ILLEGAL, "assume", u->assert_[i]->loc,
                       "'%s' assumes %s, which does not hold at these sizes", u->sym->name,
                       td_print_expr_str(d->arena, u->assert_[i]));
  }
  return true;
}

/* Carries the root's new sizes down, callers before callees, and rebuilds the units. */
static const TdProg *propagate(Resize *r) {
  const TdUnit **list = TD_NEWN(r->store->arena, const TdUnit *, r->p->nunit);
  r->ok = true;
  for (size_t i = r->p->nunit; i-- > 0;) {
    TdUnit *u = td_unit_copy(r->store, r->p->unit[i]);
    u->size = r->of[i].at;
    list[i] = r->caller = u;
    r->was = r->p->unit[i];
    if (!check_asserts(u, r->d)) return NULL;
    pass_to_tasks(r, u);
    if (u->body) td_walk_stmt(r->store->session->ctx, u->body, visit_call, r);
    if (!r->ok) return NULL;
  }
  return td_prog_new(r->store, list, r->p->nunit);
}

static Resize start(const TdProg *p, TdDiag *d) {
  Resize r = {.p = p, .store = p->store, .d = d};
  r.of = TD_NEWN(p->store->arena, Sizes, p->nunit);
  for (size_t i = 0; i < p->nunit; i++) r.of[i] = copy_sizes(p->store->arena, p->unit[i]);
  return r;
}

const TdProg *td_at_sizes(const TdProg *p, const TdSize *list, size_t n, TdDiag *d) {
  Resize r = start(p, d);
  Sizes *root = &r.of[p->nunit - 1];
  TdLoc none = {0};
  for (size_t i = 0; i < n; i++) {
    TdSize *s = find(root, list[i].name);
    if (!s) {
      td_diag_set(d, TD_USAGE, "no-size", none, "'%s' has no size named '%s'",
                  td_prog_root(p)->sym->name, list[i].name);
      return NULL;
    }
    if (list[i].value < 0) {
      td_diag_set(d, TD_USAGE, "extent", none, "a size cannot be negative (%s = %lld)",
                  list[i].name, (long long)list[i].value);
      return NULL;
    }
    s->known = true;
    s->value = list[i].value;
  }
  return propagate(&r);
}

/* p at the sizes of arguments of these types, made before; a list of those with one hash. */
typedef struct Made {
  const TdProg *p, *at;
  const TdType *const *arg;
  size_t n;
  struct Made *next;
} Made;

static uint64_t hash_of(const TdProg *p, const TdType *const *arg, size_t n) {
  return td_map_mix((uint64_t)(uintptr_t)p, td_map_hash(arg, n * sizeof *arg));
}

static const TdProg *made_before(const TdProg *p, const TdType *const *arg, size_t n) {
  uint64_t list = 0;
  td_map_get(&p->store->at, hash_of(p, arg, n), &list);
  for (const Made *m = (const Made *)(uintptr_t)list; m; m = m->next)
    if (m->p == p && m->n == n && memcmp(m->arg, arg, n * sizeof *arg) == 0) return m->at;
  return NULL;
}

static void keep(const TdProg *p, const TdType *const *arg, size_t n, const TdProg *at) {
  TdArena *a = p->store->arena;
  uint64_t hash = hash_of(p, arg, n), list = 0;
  td_map_get(&p->store->at, hash, &list);
  Made *m = TD_NEW(a, Made);
  *m = (Made){p, at, td_arena_copy(a, arg, n * sizeof *arg), n, (Made *)(uintptr_t)list};
  td_map_put(a, &p->store->at, hash, (uint64_t)(uintptr_t)m);
}

/* p at the sizes of arguments of these types; NULL with d filled where they do not agree. */
static const TdProg *fitted(const TdProg *p, const TdType *const *arg, size_t n, TdDiag *d) {
  const TdUnit *u = td_prog_root(p);
  Resize r = start(p, d);
  Sizes *root = &r.of[p->nunit - 1];
  TdUnit nothing = {0};
  for (size_t i = 0; i < n && i < u->nparam; i++) {
    if (!arg[i] || arg[i]->rank != u->param[i].type->rank) continue;
    if (!learn_type(root, u->param[i].type, &nothing, arg[i], true)) {
      td_diag_set(d, TD_USAGE, "argument-type", u->param[i].loc,
                  "'%s': the extents of the arguments do not agree", u->param[i].sym->name);
      return NULL;
    }
  }
  return propagate(&r);
}

const TdProg *td_at_arguments(const TdProg *p, const TdType *const *arg, size_t n, TdDiag *d) {
  const TdUnit *u = td_prog_root(p);
  bool missing = false;
  for (size_t i = 0; i < u->nsize; i++) missing |= !u->size[i].known;
  if (!missing) return p;
  const TdProg *at = made_before(p, arg, n);
  if (at) return at;
  at = fitted(p, arg, n, d);
  if (at) keep(p, arg, n, at);
  return at;
}
