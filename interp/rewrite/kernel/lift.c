/* lift.c - the free names of some statements become the parameters of a kernel. */
#include "rewrite/kernel/lift.h"

#include "ir/text/printer.h"
#include "ir/size_use.h"

/* A lift under way. */
typedef struct Lift {
  TdRewrite *r;
  const TdUnit *unit;
  const char *name;
  TdMap decl;   /* symbol -> the statement of unit that declares it */
  TdMap inside; /* symbols declared by the lifted statements */
  TdMap seen;   /* symbols that were dealt with */
  TD_VEC(TdParam) param;
  TD_VEC(const TdExpr *) arg;
  TD_VEC(TdSym) was;
  TD_VEC(const TdStmt *) data; /* constants and states, copied */
  TdSubst sub;
  TdMap scalar; /* scalar local -> the parameter that stands for it */
  bool failed;
} Lift;

static bool declares(const TdStmt *s) {
  return s->sym && (s->kind == TD_STMT_FOR || s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET ||
                    s->kind == TD_STMT_SLOT);
}

static bool note_decl(void *ud, const TdStmt *s) {
  Lift *l = ud;
  if (declares(s)) td_map_putp(l->r->arena, &l->decl, s->sym, (void *)(uintptr_t)s);
  return true;
}

static bool note_inside(void *ud, const TdStmt *s) {
  Lift *l = ud;
  if (declares(s)) td_map_putp(l->r->arena, &l->inside, s->sym, l);
  return true;
}

static bool refuse(Lift *l, TdDiagKind kind, const char *code, TdLoc loc, const char *fmt,
                   const char *what) {
  td_diag_set(l->r->diag, kind, code, loc, fmt, what);
  l->failed = true;
  return false;
}

/* Whether a parameter has this name already. */
static bool is_taken(const Lift *l, const char *name) {
  for (size_t i = 0; i < l->param.n; i++)
    if (l->param.at[i].sym->name == name) return true;
  return false;
}

/* Adds a parameter that stands for `was`, passed as arg; returns its symbol. */
static TdSym add_param(Lift *l, TdSym was, TdSymKind kind, const TdType *t, TdAttrs attrs,
                       const TdExpr *arg) {
  TdStore *st = l->r->store;
  const char *name = was->name;
  for (int i = 1; is_taken(l, name); i++)
    name = td_names_str(st->session->names, td_text_fmt(l->r->arena, "%s_%d", was->name, i));
  TdParam p = {.sym = td_store_sym(st, name, kind), .type = t, .attrs = attrs, .loc = arg->loc};
  td_vec_push(l->r->arena, &l->param, p);
  td_vec_push(l->r->arena, &l->arg, arg);
  td_vec_push(l->r->arena, &l->was, was);
  return p.sym;
}

/* An array or stream from outside comes whole. */
static void take_array(Lift *l, TdSym sym, const TdType *t, TdAttrs attrs, TdLoc loc) {
  TdSymKind kind = td_unit_param_kind(t);
  const TdExpr *whole = td_expr_whole(l->r->session, l->r->store->arena, sym, t, loc);
  td_subst_sym(&l->sub, sym, add_param(l, sym, kind, t, attrs, whole));
}

/* A variable, or the value of a scalar local. */
static void take_scalar(Lift *l, const TdExpr *e) {
  TdArena *a = l->r->store->arena;
  TdAttrs none = {0};
  TdSym p = add_param(l, e->sym, TD_SYM_SCALAR, e->type, none, e);
  const TdExpr *var = td_expr_var(a, p, e->type, e->loc);
  if (e->kind == TD_EXPR_VAR)
    td_subst_expr(&l->sub, e->sym, var);
  else
    td_map_putp(l->r->arena, &l->scalar, e->sym, (void *)(uintptr_t)var);
}

/* A constant or state: the kernel has its own. */
static void take_data(Lift *l, const TdStmt *decl) {
  const TdStmt *copy = td_walk_copy(l->r->store, decl, NULL);
  td_vec_push(l->r->arena, &l->data, copy);
  td_subst_sym(&l->sub, decl->sym, copy->sym);
}

static bool is_outer_scalar(const Lift *l, const TdExpr *e) {
  return e->kind == TD_EXPR_LOAD && !e->nkid && !td_map_getp(&l->inside, e->sym);
}

/* Deals with a symbol on its first use. */
static bool take(void *ud, const TdExpr *e) {
  Lift *l = ud;
  if (!e->sym || td_map_getp(&l->inside, e->sym) || td_map_getp(&l->seen, e->sym)) return true;
  td_map_putp(l->r->arena, &l->seen, e->sym, l);
  const TdStmt *decl = td_map_getp(&l->decl, e->sym);
  const TdParam *p = td_unit_param(l->unit, e->sym);
  if (decl && decl->kind == TD_STMT_LOCAL && decl->init == TD_INIT_NONE && is_outer_scalar(l, e))
    return refuse(l, TD_ILLEGAL, "scalar", e->loc, "'%s' may hold nothing where it would be passed",
                  e->sym->name);
  bool array = decl && decl->kind != TD_STMT_FOR && decl->type->kind == TD_T_TENSOR;
  if (decl && decl->kind == TD_STMT_LOCAL && decl->cls != TD_LOCAL_AUTO)
    take_data(l, decl);
  else if (array)
    take_array(l, e->sym, decl->type, decl->attrs, e->loc);
  else if (p && !td_type_is_scalar(p->type))
    take_array(l, e->sym, p->type, p->attrs, e->loc);
  else if (e->kind == TD_EXPR_VAR || e->kind == TD_EXPR_LOAD)
    take_scalar(l, e);
  else
    for (size_t i = 0; i < l->r->prog->nunit; i++) {
      const TdStream *s = td_unit_stream(l->r->prog->unit[i], e->sym);
      if (s) take_array(l, e->sym, s->type, (TdAttrs){0}, e->loc);
    }
  return true;
}

/* Refuses what a call cannot do: assign a scalar of its caller, end its caller. */
static bool check_stmt(void *ud, const TdStmt *s) {
  Lift *l = ud;
  const TdExpr *place = s->kind == TD_STMT_STORE ? s->expr[0] : NULL;
  if (s->kind == TD_STMT_GET && s->nexpr == 2) place = s->expr[1];
  if (s->kind == TD_STMT_RETURN)
    return refuse(l, TD_ILLEGAL, "return", s->loc, "'%s' would end by return, not its caller",
                  l->name);
  if (!place || !is_outer_scalar(l, place)) return true;
  refuse(l, TD_ILLEGAL, "scalar", s->loc, "'%s' is a scalar that is assigned here",
         place->sym->name);
  td_diag_help(l->r->diag, "make '%s' a tensor of one element", place->sym->name);
  return false;
}

static const TdExpr *put_scalar(void *ud, const TdExpr *e) {
  const Lift *l = ud;
  const TdExpr *var = e->kind == TD_EXPR_LOAD ? td_map_getp(&l->scalar, e->sym) : NULL;
  return var ? var : e;
}

/* A use of a symbol outside of the lifted statements. */
typedef struct Outside {
  const TdStmt *const *s;
  size_t n;
  TdSym sym;
} Outside;

static bool is_unused_outside(const Outside *o, const TdStmt *s) {
  for (size_t i = 0; i < o->n; i++)
    if (o->s[i] == s) return true;
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (td_walk_uses_expr(s->expr[i], o->sym)) return false;
  for (uint32_t i = 0; i < s->nkid; i++)
    if (!is_unused_outside(o, s->kid[i])) return false;
  return true;
}

/* Whether the states that were taken belong to the lifted statements alone. */
static bool check_states(Lift *l, const TdStmt *const *s, size_t n) {
  for (size_t i = 0; i < td_stmt_preamble(l->unit->body); i++) {
    const TdStmt *d = l->unit->body->kid[i];
    Outside o = {s, n, d->sym};
    if (d->cls != TD_LOCAL_STATE || !td_map_getp(&l->seen, d->sym)) continue;
    if (!is_unused_outside(&o, l->unit->body))
      return refuse(l, TD_ILLEGAL, "state", s[0]->loc,
                    "the state '%s' is used by other statements too", d->sym->name);
  }
  return true;
}

/* The body: data first, then the statements. */
static const TdStmt *make_body(Lift *l, const TdStmt *const *s, size_t n) {
  TdStore *st = l->r->store;
  const TdStmt **list = TD_NEWN(st->arena, const TdStmt *, l->data.n + n);
  for (size_t i = 0; i < l->data.n; i++) list[i] = l->data.at[i];
  for (size_t i = 0; i < n; i++) {
    const TdStmt *now = td_walk_map(st, s[i], put_scalar, l);
    list[l->data.n + i] = td_subst_in_stmt(&l->sub, now);
  }
  return td_stmt_block(st, list, l->data.n + n, n ? s[0]->loc : l->unit->loc);
}

/* Whether an assumption means something where only `param` and the sizes of z are known. */
static bool is_known(const TdSizeUse *z, const TdUnit *from, const TdExpr *e) {
  for (size_t i = 0; i < from->nparam; i++)
    if (td_walk_uses_expr(e, from->param[i].sym)) return false;
  return td_size_use_has_all(z, e);
}

/* The assumptions of the unit that speak of sizes that u has and scalars that it is passed. */
static void take_asserts(const Lift *l, TdUnit *u) {
  const TdExpr **list = TD_NEWN(l->r->store->arena, const TdExpr *, l->unit->nassert);
  TdSizeUse z = td_size_use_of(l->r->session->ctx, l->r->arena, u);
  for (size_t i = 0; i < l->unit->nassert; i++) {
    const TdExpr *e = td_subst_in_expr(&l->sub, l->unit->assert_[i]);
    if (is_known(&z, l->unit, e)) list[u->nassert++] = e;
  }
  u->assert_ = list;
}

/* The constants and states of a body, as its statements come to use them. */
typedef struct Data {
  const TdStmt *body, **list;
  size_t declared, n;
} Data;

static bool take_used(void *ud, const TdExpr *e) {
  Data *d = ud;
  for (size_t i = 0; e->sym && i < d->declared; i++) {
    size_t k = 0;
    if (d->body->kid[i]->sym != e->sym) continue;
    while (k < d->n && d->list[k]->sym != e->sym) k++;
    if (k == d->n) d->list[d->n++] = d->body->kid[i];
  }
  return true;
}

/* The body without the constants and states that it does not use, the others in the order of their
 * first uses, as a program that is loaded has them. */
static const TdStmt *used_data(TdRewrite *r, const TdStmt *body) {
  Data d = {.body = body, .declared = td_stmt_preamble(body)};
  d.list = TD_NEWN(r->arena, const TdStmt *, body->nkid);
  if (d.declared) td_walk_exprs(r->session->ctx, body, take_used, &d);
  for (size_t i = d.declared; i < body->nkid; i++) d.list[d.n++] = body->kid[i];
  bool same = d.n == body->nkid;
  for (size_t i = 0; same && i < d.n; i++) same = d.list[i] == body->kid[i];
  return same ? body : td_stmt_with_kids(r->store, body, d.list, d.n);
}

/* A size that u uses: its own or, with what a stream or the map of its design brings, another
 * unit's. */
static const TdSize *size_for(const TdRewrite *r, const TdUnit *u, const char *name) {
  const TdSize *z = td_unit_size(u, name);
  for (size_t i = r->prog->nunit; !z && i-- > 0;) z = td_unit_size(r->prog->unit[i], name);
  return z;
}

const TdUnit *td_lift_tidy(TdRewrite *r, const TdUnit *u) {
  TdUnit *copy = td_unit_copy(r->store, u);
  if (u->body) copy->body = used_data(r, u->body);
  TdSizeUse z = td_size_use_of(r->session->ctx, r->arena, copy);
  TdSize *size = TD_NEWN(r->store->arena, TdSize, z.name.n);
  for (size_t i = 0; i < z.name.n; i++) size[i] = *size_for(r, u, z.name.at[i]);
  copy->size = size;
  copy->nsize = z.name.n;
  return copy;
}

/* The calls of a unit. */
typedef struct Calls {
  TdSym unit;
  const TdStmt *one;
  size_t n;
} Calls;

static bool count_call(void *ud, const TdStmt *s) {
  Calls *k = ud;
  if (s->kind == TD_STMT_CALL && s->sym == k->unit) k->one = s, k->n++;
  return true;
}

size_t td_lift_calls(TdRewrite *r, const TdStmt *s, TdSym unit) {
  Calls k = {.unit = unit};
  td_walk_stmt(r->session->ctx, s, count_call, &k);
  return k.n;
}

const TdStmt *td_lift_call(TdRewrite *r, const TdStmt *s, TdSym unit) {
  Calls k = {.unit = unit};
  td_walk_stmt(r->session->ctx, s, count_call, &k);
  return k.one;
}

/* The units of a program in the order in which a printed chunk loads. */
typedef struct Order {
  const TdProg *prog;
  TdArena *arena;
  TdMap seen;
  TD_VEC(const TdUnit *) unit;
} Order;

static void place_unit(Order *o, TdSym sym);

static bool place_callee(void *ud, const TdStmt *s) {
  if (s->kind == TD_STMT_CALL) place_unit(ud, s->sym);
  return true;
}

/* Puts what a unit uses, then the unit. */
static void place_unit(Order *o, TdSym sym) {
  const TdUnit *u = td_prog_unit(o->prog, sym);
  if (td_map_getp(&o->seen, sym)) return;
  td_map_putp(o->arena, &o->seen, sym, o);
  td_ctx_enter(td_arena_ctx(o->arena));
  if (u->body) td_walk_stmt(td_arena_ctx(o->arena), u->body, place_callee, o);
  for (size_t i = 0; i < u->nrun; i++) place_unit(o, u->run[i].unit);
  if (u->foreign && u->foreign->model) place_unit(o, u->foreign->model);
  td_ctx_leave(td_arena_ctx(o->arena));
  td_vec_push(o->arena, &o->unit, u);
}

const TdProg *td_lift_in_order(TdRewrite *r, const TdProg *p) {
  Order o = {.prog = p, .arena = r->arena};
  place_unit(&o, td_prog_root(p)->sym);
  return td_prog_new(r->store, o.unit.at, o.unit.n);
}

bool td_lift_check_name(TdRewrite *r, const TdArgValue *name) {
  TdLoc none = {0};
  if (!name->given || td_edit_name_fits(r->prog, name->text)) return true;
  td_util_refuse(r, TD_USAGE, "name", none, "'%s' cannot be the name of a task", name->text);
  return false;
}

const char *td_lift_unit_name(TdRewrite *r, const TdProg *p, const char *want) {
  const char *name = want;
  for (int i = 1; !td_edit_name_fits(p, name); i++)
    name = td_text_fmt(r->store->arena, "%s_%d", want, i);
  return td_names_str(r->session->names, name);
}

/* Whether the statements use a stream at one end (of that kind). */
static bool uses_end(const Lift *l, const TdStmt *const *s, size_t n, TdSym stream,
                     TdCellKind end) {
  TdAsk q = td_util_ask(l->r, l->unit);
  for (size_t i = 0; i < n; i++) {
    const TdEffect *e;
    size_t all = td_effects_of(&q, s[i], &e);
    for (size_t k = 0; k < all; k++)
      if (e[k].sym == stream && e[k].kind == end) return true;
  }
  return false;
}

/* Whether each stream that is passed is used at one end: a parameter is no more. */
static bool check_ports(const Lift *l, const TdStmt *const *s, size_t n) {
  for (size_t i = 0; i < l->param.n; i++) {
    TdSym stream = l->was.at[i];
    if (l->param.at[i].type->kind != TD_T_PORT || !uses_end(l, s, n, stream, TD_CELL_PUT) ||
        !uses_end(l, s, n, stream, TD_CELL_GET))
      continue;
    td_util_refuse(l->r, TD_ILLEGAL, "stream", s[0]->loc,
                   "'%s' is put to and got from here: '%s' would take one end of it", stream->name,
                   l->name);
    return false;
  }
  return true;
}

bool td_lift(TdRewrite *r, const TdUnit *u, const TdStmt *const *s, size_t n, const char *name,
             TdLifted *out) {
  return td_lift_task(r, u, s, n, name, (TdTaskIds){0}, out);
}

bool td_lift_task(TdRewrite *r, const TdUnit *u, const TdStmt *const *s, size_t n, const char *name,
                  TdTaskIds ids, TdLifted *out) {
  TdCtx *c = r->session->ctx;
  Lift l = {.r = r, .unit = u, .name = name, .sub = td_subst_new(r->store)};
  for (size_t i = 0; i < ids.n; i++) td_map_putp(r->arena, &l.inside, ids.coord[i], &l);
  td_walk_stmt(c, u->body, note_decl, &l);
  for (size_t i = 0; i < n; i++) td_walk_stmt(c, s[i], note_inside, &l);
  for (size_t i = 0; i < n; i++) {
    if (td_util_leaves_by_break(s[i]))
      return refuse(&l, TD_ILLEGAL, "break", s[i]->loc, "a break leaves '%s'", name);
    if (!td_walk_stmt(c, s[i], check_stmt, &l)) return false;
    if (!td_walk_exprs(c, s[i], take, &l)) return false;
  }
  if (!check_states(&l, s, n) || !check_ports(&l, s, n)) return false;
  TdUnit *k = TD_NEW(r->store->arena, TdUnit);
  *k = (TdUnit){.kind = TD_UNIT_KERNEL, .loc = n ? s[0]->loc : u->loc, .instance = u->instance};
  k->sym = td_store_sym(r->store, name, TD_SYM_UNIT);
  k->uid = td_store_uid(r->store);
  k->param = td_arena_copy(r->store->arena, l.param.at, l.param.n * sizeof *l.param.at);
  k->nparam = l.param.n;
  k->coord = td_arena_copy(r->store->arena, ids.coord, ids.n * sizeof *ids.coord);
  k->ncoord = ids.n;
  k->size = u->size;
  k->nsize = u->nsize;
  k->body = make_body(&l, s, n);
  take_asserts(&l, k);
  out->unit = td_lift_tidy(r, k);
  out->arg = l.arg.at;
  out->was = l.was.at;
  return true;
}
