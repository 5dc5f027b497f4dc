/* sizes.c - which integers of a unit keep their names, and the units that it imports. */
#include <string.h>

#include "frontend/capture.h"

static TdSizeEntry *find(TdSizes *z, const char *name) {
  for (size_t i = 0; i < z->list.n; i++)
    if (z->list.at[i].name == name) return &z->list.at[i];
  return NULL;
}

TdSizeEntry *td_sizes_candidate(TdSizes *z, const char *name, const TdAstLocal *var,
                                int64_t value) {
  TdSizeEntry *e = find(z, name);
  if (e) return !e->plain && e->known && e->value == value && e->var == var ? e : NULL;
  td_vec_push(z->arena, &z->list,
              ((TdSizeEntry){.name = name, .known = true, .value = value, .var = var}));
  return &z->list.at[z->list.n - 1];
}

TdSizeEntry *td_sizes_unknown(TdSizes *z, const char *name) {
  TdSizeEntry *e = find(z, name);
  if (e) return e;
  td_vec_push(z->arena, &z->list, ((TdSizeEntry){.name = name}));
  return &z->list.at[z->list.n - 1];
}

bool td_sizes_has(const TdSizes *z, const char *name) {
  for (size_t i = 0; i < z->list.n; i++)
    if (z->list.at[i].name == name) return !z->list.at[i].plain;
  return false;
}

void td_sizes_ban(TdSizes *z, const char *name) {
  TdSizeEntry *e = find(z, name);
  if (!e)
    td_vec_push(z->arena, &z->list, ((TdSizeEntry){.name = name, .plain = true}));
  else if (e->known && !e->plain)
    e->plain = z->changed = true;
}

static bool mark_used(void *ud, const TdExpr *e) {
  TdSizeEntry *s = e->kind == TD_EXPR_SIZE ? find(ud, e->u.name) : NULL;
  if (s) s->used = true;
  return true;
}

void td_sizes_use(TdSizes *z, const TdExpr *e) {
  td_walk_expr(e, mark_used, z);
}

static bool make_plain(void *ud, const TdExpr *e) {
  TdSizes *z = ud;
  TdSizeEntry *s = e->kind == TD_EXPR_SIZE ? find(z, e->u.name) : NULL;
  if (s && s->known && !s->plain) s->plain = z->changed = true;
  return true;
}

void td_sizes_pin(TdSizes *z, const TdExpr *e) {
  td_walk_expr(e, make_plain, z);
}

bool td_sizes_value(const TdSizes *z, const TdExpr *e, int64_t *v) {
  TdSize *size = TD_NEWN(z->arena, TdSize, z->list.n);
  for (size_t i = 0; i < z->list.n; i++)
    size[i] = (TdSize){z->list.at[i].name, z->list.at[i].known, z->list.at[i].value};
  TdUnit u = {.size = size, .nsize = z->list.n};
  return td_unit_value(&u, e, v);
}

const TdUnit *td_units_find(const TdUnits *u, TdSym sym) {
  for (size_t i = 0; i < u->list.n; i++)
    if (u->list.at[i]->sym == sym) return u->list.at[i];
  return NULL;
}

static const TdUnit *named(const TdUnits *u, const char *name) {
  for (size_t i = 0; i < u->list.n; i++)
    if (u->list.at[i]->sym->name == name) return u->list.at[i];
  return NULL;
}

/* A name like `want` that no unit has and, unless `taken` is NULL, that is not taken. */
static const char *free_name(const TdUnits *u, const char *want, TdUnitsTaken taken, void *ud) {
  TdNames *names = u->store->session->names;
  const char *name = td_names_str(names, want);
  for (int i = 1; named(u, name) || (taken && taken(ud, name)); i++)
    name = td_names_str(names, td_text_fmt(u->store->arena, "%s_%d", want, i));
  return name;
}

/* Gives an imported unit a name that is free, and remembers the one it had. Its symbol is fresh and
 * not shared yet. */
static void rename_unit(const TdUnits *u, TdUnit *unit, TdUnitsTaken taken, void *ud) {
  TdSymbol *s = (TdSymbol *)(uintptr_t)unit->sym;
  const char *name = free_name(u, s->name, taken, ud);
  if (name == s->name) return;
  if (!unit->stem) unit->stem = s->name;
  s->name = name;
}

bool td_units_is_named(const TdUnits *u, const char *name) {
  return named(u, td_names_str(u->store->session->names, name));
}

TdSym td_units_name(TdUnits *u, const char *want) {
  return td_store_sym(u->store, free_name(u, want, NULL, NULL), TD_SYM_UNIT);
}

TdSym td_units_import(TdUnits *u, const TdProg *p) {
  return td_units_import_beside(u, p, NULL, NULL);
}

/* The unit there is that `unit` is but for its own name, if both were captured under one; or NULL.
 */
static const TdUnit *find_same(const TdUnits *u, const TdUnit *unit) {
  for (size_t i = 0; i < u->list.n; i++) {
    const TdUnit *x = u->list.at[i];
    if ((x->sym->name == unit->sym->name || x->stem == unit->sym->name) &&
        x->instance == unit->instance && td_equal_renamed(u->store->session->ctx, x, unit))
      return x;
  }
  return NULL;
}

TdSym td_units_import_beside(TdUnits *u, const TdProg *p, TdUnitsTaken taken, void *ud) {
  TdStore *st = u->store;
  const TdProg *copy = td_clone_prog(st, p, false);
  TdSubst merged = td_subst_new(st);
  TdSym root = NULL;
  for (size_t i = 0; i < copy->nunit; i++) {
    bool is_root = i + 1 == copy->nunit;
    TdUnit *unit = td_subst_in_unit(&merged, copy->unit[i]);
    bool hidden = is_root && taken && taken(ud, unit->sym->name);
    const TdUnit *same = hidden ? NULL : find_same(u, unit);
    if (same) {
      td_subst_sym(&merged, unit->sym, same->sym);
      root = same->sym;
      continue;
    }
    rename_unit(u, unit, is_root ? taken : NULL, ud);
    td_vec_push(st->arena, &u->list, unit);
    root = unit->sym;
  }
  return root;
}
