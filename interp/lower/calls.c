/* calls.c - calls as machines can make them. A unit that is given another view than leading rows
 * becomes an instance of its own, which takes the whole array and, as indices, where the view
 * begins. State belongs to a path of calls, so that each path's is declared in the root and handed
 * down. */
#include "lower/calls.h"

#include <inttypes.h>
#include <string.h>

/* The states of a unit and, after them, of what it calls: from[i] on those of callee[i]. */
typedef struct States {
  TD_VEC(const TdStmt *) decl;
  TD_VEC(const char *) name;
  TD_VEC(const TdUnit *) callee;
  TD_VEC(size_t) from;
} States;

/* A unit as it is called with one kind of views; made is NULL while it is under way. */
typedef struct Instance {
  const TdUnit *of, *made;
  const char *views;
} Instance;

typedef struct Lower {
  TdStore *st;
  TdArena *a;
  const TdProg *prog;
  TdDiag *d;
  const TdNetRegions *regions;
  const char *machine;
  TdMap states; /* const TdUnit * -> States * */
  TD_VEC(Instance *) instance;
  TD_VEC(const TdUnit *) unit; /* finished, callees first */
} Lower;

/* The body of a unit being rewritten. */
typedef struct Body {
  Lower *l;
  const TdUnit *unit; /* as made so far */
  bool is_root;
  TdMap type; /* TdSym of an array -> its TdType */
  const States *states;
  const TdSym *state; /* parallel to states */
} Body;

/* The arguments of a call: the views, and the callee's parameter types at its sizes. */
typedef struct Views {
  const TdExpr *const *arg;
  const TdType **base; /* of an argument that is no rows: what it is a view of; else NULL */
  size_t n;
} Views;

static bool refuse(Lower *l, const char *code, TdLoc loc, const char *help, const char *what,
                   const char *name) {
  td_diag_set(l->d, TD_UNSUPPORTED, code, loc, "%s %s", name, what);
  td_diag_help(l->d, "%s", help);
  return false;
}

/* What a call of sym runs: of a foreign unit in C its model. */
static const TdUnit *callee_of(Lower *l, TdSym sym) {
  const TdUnit *u = td_prog_unit(l->prog, sym);
  if (u->kind != TD_UNIT_EXTERN || u->foreign->ip) return u;
  const TdUnit *model = u->foreign->model ? td_prog_unit(l->prog, u->foreign->model) : NULL;
  if (!model)
    refuse(l, "no-model", u->loc, "give tide.extern a kernel that defines it: model =",
           td_text_fmt(l->a, "is foreign, and %s has no meaning for it", l->machine), u->sym->name);
  return model;
}

static bool is_region(const Lower *l, const TdUnit *u) {
  return td_map_getp(&l->regions->region, u->sym) != NULL;
}

static const States *states_of(Lower *l, const TdUnit *u);

typedef struct Collect {
  Lower *l;
  States *s;
} Collect;

/* Notes the states that statement s declares, or that its callee has. */
static bool collect(void *ud, const TdStmt *s) {
  Collect *c = ud;
  TdArena *a = c->l->a;
  if (s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_STATE) {
    td_vec_push(a, &c->s->decl, s);
    td_vec_push(a, &c->s->name, s->sym->name);
  }
  const TdUnit *f = s->kind == TD_STMT_CALL ? callee_of(c->l, s->sym) : NULL;
  if (s->kind == TD_STMT_CALL && !f) return false;
  for (size_t i = 0; i < c->s->callee.n; i++)
    if (c->s->callee.at[i] == f) return true;
  if (f) td_vec_push(a, &c->s->callee, f);
  return true;
}

static const States *states_of(Lower *l, const TdUnit *u) {
  States *s = td_map_getp(&l->states, u);
  if (s) return s;
  s = TD_NEW(l->a, States);
  Collect c = {l, s};
  if (u->body && !is_region(l, u)) td_walk_stmt(l->st->session->ctx, u->body, collect, &c);
  for (size_t i = 0; i < s->callee.n; i++) {
    const TdUnit *f = s->callee.at[i];
    const States *below = states_of(l, f);
    size_t from = s->decl.n;
    td_vec_push(l->a, &s->from, from);
    for (size_t k = 0; k < below->decl.n; k++) {
      const char *name = td_text_fmt(l->a, "%s_%s", f->sym->name, below->name.at[k]);
      td_vec_push(l->a, &s->decl, below->decl.at[k]);
      td_vec_push(l->a, &s->name, name);
    }
  }
  td_map_putp(l->a, &l->states, u, s);
  return s;
}

static bool is_zero(const TdExpr *e) {
  int64_t v;
  return td_expr_is_const(e, &v) && v == 0;
}

/* Whether a view is rows (or all) of an array of type t: indices first, then whole dimensions. */
static bool is_rows(const TdExpr *view, const TdType *t) {
  uint32_t d = 0;
  while (d < view->nkid && view->u.dim[d].out < 0) d++;
  for (uint32_t k = d; k < view->nkid; k++) {
    const TdViewDim *dim = &view->u.dim[k];
    int64_t all, some;
    bool known = dim->out == (int)(k - d) && td_type_extent(t, (int)k, &all) &&
                 td_type_extent(view->type, dim->out, &some);
    if (!known || all != some || dim->step != 1 || !is_zero(view->kid[k])) return false;
  }
  return true;
}

/* What tells the views of a call from those of another. */
static const char *key_of(Lower *l, const Views *v) {
  TdText t = td_text_new(l->a);
  for (size_t i = 0; i < v->n; i++) {
    if (!v->base[i]) continue;
    td_text_putf(&t, "%zu ", i);
    td_type_print(&t, v->base[i]);
    for (uint32_t d = 0; d < v->arg[i]->nkid; d++)
      td_text_putf(&t, " %d*%" PRId64 "%s", v->arg[i]->u.dim[d].out, v->arg[i]->u.dim[d].step,
                   is_zero(v->arg[i]->kid[d]) ? "" : "+");
    td_text_puts(&t, ";");
  }
  return td_text_str(&t);
}

/* Parameters of an instance being made. */
typedef struct Params {
  Lower *l;
  TdSubst subst;
  TD_VEC(TdParam) list;
} Params;

/* The whole array of type `base` in place of parameter x, which is the part of it that `view` says;
 * where it begins are parameters too. */
static void add_base(Params *p, const TdParam *x, const TdType *base, const TdExpr *view) {
  TdStore *st = p->l->st;
  TdSym array = td_store_sym(st, x->sym->name, TD_SYM_TENSOR);
  const TdExpr *lo[TD_MAX_RANK];
  td_vec_push(p->l->a, &p->list, ((TdParam){.sym = array, .type = base, .loc = x->loc}));
  for (uint32_t d = 0; d < view->nkid; d++) {
    lo[d] = view->kid[d];
    if (is_zero(lo[d])) continue;
    const TdType *index = td_type_index(st->session);
    const char *name = td_text_fmt(p->l->a, "%s_%u", x->sym->name, d);
    TdSym at = td_store_sym(st, td_names_str(st->session->names, name), TD_SYM_COORD);
    td_vec_push(p->l->a, &p->list, ((TdParam){.sym = at, .type = index, .loc = x->loc}));
    lo[d] = td_expr_var(st->arena, at, index, x->loc);
  }
  td_subst_view(
      &p->subst, x->sym,
      td_expr_view(st->arena, array, view->type, lo, view->u.dim, (int)view->nkid, x->loc));
}

/* Notes the type of array sym, whose shape must be known. */
static void note_array(Body *b, TdSym sym, const TdType *t, TdLoc loc) {
  td_map_putp(b->l->a, &b->type, sym, (void *)(uintptr_t)t);
  if (!td_unit_type(b->l->st->session, b->unit, t))
    refuse(b->l, "unbound-size", loc, td_unit_help_sizes(b->l->a, b->unit),
           "has a shape that is not known", sym->name);
}

static bool note_type(void *ud, const TdStmt *s) {
  bool token = (s->kind == TD_STMT_GET && s->nexpr == 1) || s->kind == TD_STMT_SLOT;
  if ((s->kind == TD_STMT_LOCAL || token) && s->type->kind == TD_T_TENSOR)
    note_array(ud, s->sym, s->type, s->loc);
  return true;
}

static const TdUnit *instance(Lower *l, const TdUnit *u, const Views *v);

/* Whether the views of a call of f can be passed as they are, where f is a region. */
static bool check_region(Lower *l, const TdUnit *f, const Views *v, TdLoc loc) {
  for (size_t i = 0; i < v->n && is_region(l, f); i++)
    if (v->base[i])
      return refuse(l, "view-of-design", loc, "pass a whole array, or leading rows of one",
                    "is a design and is given part of an array", f->sym->name);
  return true;
}

/* The type of the array that a view is of, at the unit's sizes; NULL: not known. */
static const TdType *base_type(Body *b, const TdExpr *view) {
  const TdType *t = td_map_getp(&b->type, view->sym);
  return t ? td_unit_type(b->l->st->session, b->unit, t) : NULL;
}

/* The views of a call, those that are no rows marked. False: a shape is not known. */
static bool views_of(Body *b, const TdStmt *call, Views *v) {
  v->arg = call->expr;
  v->n = call->nexpr;
  v->base = TD_NEWN(b->l->a, const TdType *, call->nexpr);
  for (uint32_t i = 0; i < call->nexpr; i++) {
    const TdExpr *e = call->expr[i];
    if (e->kind != TD_EXPR_VIEW || e->type->kind != TD_T_TENSOR) continue;
    const TdType *t = base_type(b, e), *part = td_unit_type(b->l->st->session, b->unit, e->type);
    if (!t || !part) return false;
    TdExpr *fixed = td_arena_copy(b->l->st->arena, e, sizeof *e + e->nkid * sizeof *e->kid);
    fixed->type = part;
    if (!is_rows(fixed, t)) v->base[i] = t;
  }
  return true;
}

/* A task of a region takes what it is given, and has its state itself. */
static const TdStmt *lower_task(Body *b, const TdStmt *s) {
  const TdUnit *f = callee_of(b->l, s->sym), *made = f ? instance(b->l, f, NULL) : NULL;
  return made ? td_stmt_call(b->l->st, made->sym, s->expr, s->nexpr, s->loc) : s;
}

/* The call with the arguments that the instance takes: for a view the array and where it begins,
 * and the states at the end. */
static const TdStmt *lower_call(Body *b, const TdStmt *s) {
  Lower *l = b->l;
  TdStore *st = l->st;
  Views v;
  const TdUnit *f = callee_of(l, s->sym);
  if (!f || !views_of(b, s, &v) || !check_region(l, f, &v, s->loc)) return s;
  for (size_t i = 0; i < v.n && f->foreign; i++)
    if (v.base[i] && !refuse(l, "ip-view", s->loc, "copy it into a local array first",
                             "is C++ and takes whole arrays or leading rows of them", f->sym->name))
      return s;
  const TdUnit *made = instance(l, f, &v);
  if (!made) return s;
  TD_VEC(const TdExpr *) arg = {0};
  for (size_t i = 0; i < v.n; i++) {
    const TdExpr *e = v.arg[i];
    if (v.base[i]) e = td_expr_whole(st->session, st->arena, e->sym, v.base[i], e->loc);
    td_vec_push(l->a, &arg, e);
    for (uint32_t d = 0; v.base[i] && d < v.arg[i]->nkid; d++)
      if (!is_zero(v.arg[i]->kid[d])) td_vec_push(l->a, &arg, v.arg[i]->kid[d]);
  }
  size_t from = 0, n = states_of(l, f)->decl.n;
  for (size_t i = 0; i < b->states->callee.n; i++)
    if (b->states->callee.at[i] == f) from = b->states->from.at[i];
  for (size_t i = from; i < from + n; i++) {
    const TdExpr *e =
        td_expr_whole(st->session, st->arena, b->state[i], b->states->decl.at[i]->type, s->loc);
    td_vec_push(l->a, &arg, e);
  }
  const TdStmt *call = td_stmt_call(st, made->sym, arg.at, arg.n, s->loc);
  return td_stmt_with_attrs(st, call, s->attrs);
}

/* s with its calls lowered. */
static const TdStmt *lower_stmt(Body *b, const TdStmt *s) {
  Lower *l = b->l;
  if (s->kind == TD_STMT_CALL) return is_region(l, b->unit) ? lower_task(b, s) : lower_call(b, s);
  td_ctx_enter(l->st->session->ctx);
  const TdStmt **kid = TD_NEWN(l->a, const TdStmt *, s->nkid);
  bool changed = false;
  for (uint32_t i = 0; i < s->nkid; i++) {
    kid[i] = td_diag_failed(l->d) ? s->kid[i] : lower_stmt(b, s->kid[i]);
    changed |= kid[i] != s->kid[i];
  }
  td_ctx_leave(l->st->session->ctx);
  return changed ? td_stmt_with_kids(l->st, s, kid, s->nkid) : s;
}

/* The states of a unit: of the root declared before its body, of another its parameters. */
static void add_states(Body *b, Params *p) {
  TdStore *st = b->l->st;
  TdSym *sym = TD_NEWN(b->l->a, TdSym, b->states->decl.n);
  for (size_t i = 0; i < b->states->decl.n; i++) {
    const TdStmt *s = b->states->decl.at[i];
    bool own = b->states->from.n == 0 || i < b->states->from.at[0];
    const char *name = td_names_str(st->session->names, b->states->name.at[i]);
    sym[i] = b->is_root && own ? s->sym : td_store_sym(st, name, TD_SYM_LOCAL);
    if (own && !b->is_root) td_subst_sym(&p->subst, s->sym, sym[i]);
    if (!b->is_root)
      td_vec_push(b->l->a, &p->list, ((TdParam){.sym = sym[i], .type = s->type, .loc = s->loc}));
    td_map_putp(b->l->a, &b->type, sym[i], (void *)(uintptr_t)s->type);
  }
  b->state = sym;
}

/* The body of the root after declarations of the states of its callees. */
static const TdStmt *with_states(Body *b, const TdStmt *body) {
  TdStore *st = b->l->st;
  TD_VEC(const TdStmt *) all = {0};
  size_t own = b->states->from.n ? b->states->from.at[0] : b->states->decl.n;
  for (size_t i = own; i < b->states->decl.n; i++) {
    const TdStmt *s = b->states->decl.at[i];
    s = td_stmt_data(st, b->state[i], TD_LOCAL_STATE, s->blob, s->loc);
    td_vec_push(b->l->a, &all, s);
  }
  if (!all.n) return body;
  for (uint32_t i = 0; i < body->nkid; i++) td_vec_push(b->l->a, &all, body->kid[i]);
  return td_stmt_with_kids(st, body, all.at, all.n);
}

/* The body of u without its declarations of states, which stand first. */
static const TdStmt *without_states(Lower *l, const TdUnit *u) {
  TD_VEC(const TdStmt *) rest = {0};
  for (uint32_t i = 0; i < u->body->nkid; i++) {
    const TdStmt *s = u->body->kid[i];
    if (s->kind != TD_STMT_LOCAL || s->cls != TD_LOCAL_STATE) td_vec_push(l->a, &rest, s);
  }
  if (rest.n == u->body->nkid) return u->body;
  return td_stmt_with_kids(l->st, u->body, rest.at, rest.n);
}

/* Makes the instance of `of` for these views (NULL: the root). */
static const TdUnit *make(Lower *l, const TdUnit *of, const Views *v, bool first) {
  if (of->foreign) return of;
  Body b = {.l = l, .is_root = !v, .states = states_of(l, of)};
  Params p = {.l = l, .subst = td_subst_new(l->st)};
  TdUnit *u = td_unit_copy(l->st, of);
  b.unit = u;
  if (!first) u->sym = td_store_sym(l->st, of->sym->name, TD_SYM_UNIT);
  for (size_t i = 0; i < of->nparam; i++) {
    if (of->param[i].type->kind == TD_T_PORT && of == td_prog_root(l->prog))
      refuse(l, "no-streams", of->param[i].loc, "run it as a task of a design",
             "takes streams, which a plain call cannot give it", of->sym->name);
    if (v && v->base[i])
      add_base(&p, &of->param[i], v->base[i], v->arg[i]);
    else
      td_vec_push(l->a, &p.list, of->param[i]);
  }
  for (size_t i = 0; i < p.list.n; i++)
    if (p.list.at[i].type->kind == TD_T_TENSOR)
      note_array(&b, p.list.at[i].sym, p.list.at[i].type, p.list.at[i].loc);
  add_states(&b, &p);
  u->param = td_arena_copy(l->st->arena, p.list.at, p.list.n * sizeof *p.list.at);
  u->nparam = p.list.n;
  if (td_diag_failed(l->d)) return NULL;
  const TdStmt *body = b.is_root ? of->body : without_states(l, of);
  body = first ? td_subst_in_stmt(&p.subst, body) : td_walk_copy(l->st, body, &p.subst);
  td_walk_stmt(l->st->session->ctx, body, note_type, &b);
  if (td_diag_failed(l->d)) return NULL;
  body = lower_stmt(&b, body);
  u->body = b.is_root ? with_states(&b, body) : body;
  return td_diag_failed(l->d) ? NULL : u;
}

/* The instance of u for these views, made unless it is there. */
static const TdUnit *instance(Lower *l, const TdUnit *u, const Views *v) {
  const char *views = v ? key_of(l, v) : "";
  bool first = true;
  for (size_t i = 0; i < l->instance.n; i++) {
    const Instance *x = l->instance.at[i];
    if (x->of != u) continue;
    if (strcmp(x->views, views) == 0) return x->made;
    first = false;
  }
  Instance *x = TD_NEW(l->a, Instance);
  *x = (Instance){.of = u, .views = views};
  td_vec_push(l->a, &l->instance, x);
  td_ctx_enter(l->st->session->ctx);
  x->made = make(l, u, v, first);
  td_ctx_leave(l->st->session->ctx);
  if (x->made) td_vec_push(l->a, &l->unit, x->made);
  return x->made;
}

const TdProg *td_calls_prog(TdArena *a, const TdProg *p, const TdNetRegions *regions,
                            const char *machine, TdDiag *d) {
  Lower l = {.st = p->store, .a = a, .prog = p, .d = d, .regions = regions, .machine = machine};
  const TdUnit *u = callee_of(&l, td_prog_root(p)->sym);
  if (!u || !instance(&l, u, NULL)) return NULL;
  return td_prog_new(l.st, l.unit.at, l.unit.n);
}
