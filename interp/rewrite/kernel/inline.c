/* inline.c - inline: the calls of a kernel become its body. */
#include <string.h>

#include "analysis/order/apart.h"
#include "analysis/range/bounds.h"
#include "rewrite/premise.h"

enum { NAME };

typedef TD_VEC(const TdStmt *) Stmts;

typedef struct Inline {
  TdRewrite *r;
  const TdUnit *caller, *callee; /* the caller as it is when all calls but those left are done */
  bool gone;                     /* nobody else calls the callee: its body moves */
  size_t preamble;               /* constants and states at the start of the callee's body */
  TdSubst moved;                 /* what they are in the caller */
  Stmts data;                    /* those that are new there */
  TdPremise premise;             /* what calls keep of the callee's assumptions; unit NULL: none */
} Inline;

/* One call and what takes its place. */
typedef struct Expansion {
  Inline *in;
  const TdStmt *call;
  TdSubst sub;
  Stmts out;
} Expansion;

static bool refuse(const Inline *in, TdDiagKind kind, const char *code, TdLoc loc,
                   const char *what) {
  td_util_refuse(in->r, kind, code, loc, "'%s' %s", in->callee->sym->name, what);
  return false;
}

/* The calls of a unit, in source order. */
typedef struct Calls {
  TdArena *arena;
  TdSym of;
  Stmts at;
} Calls;

static bool look_call(void *ud, const TdStmt *s) {
  Calls *c = ud;
  if (s->kind == TD_STMT_CALL && s->sym == c->of) td_vec_push(c->arena, &c->at, s);
  return true;
}

static Stmts calls_in(const Inline *in, const TdUnit *u) {
  Calls c = {.arena = in->r->arena, .of = in->callee->sym};
  if (u->body) td_walk_stmt(in->r->session->ctx, u->body, look_call, &c);
  return c.at;
}

/* The callee, and the unit whose calls are meant: the one named before ':', or the root. */
static bool find(Inline *in) {
  TdRewrite *r = in->r;
  const char *spec = r->arg[NAME].text, *colon = strrchr(spec, ':');
  if (!td_cursor_unit(r->arena, r->prog, spec, &in->callee, r->diag)) return false;
  in->caller = td_prog_root(r->prog);
  if (colon &&
      !td_cursor_unit(r->arena, r->prog, td_arena_strndup(r->arena, spec, (size_t)(colon - spec)),
                      &in->caller, r->diag))
    return false;
  if (in->callee->kind != TD_UNIT_KERNEL)
    return refuse(in, TD_UNSUPPORTED, "not-a-kernel", in->callee->loc, "is no kernel");
  if (calls_in(in, in->caller).n) return true;
  refuse(in, TD_USAGE, "not-called", in->caller->loc,
         td_text_fmt(r->arena, "is not called in '%s'", in->caller->sym->name));
  for (size_t i = 0; i < r->prog->nunit; i++)
    if (calls_in(in, r->prog->unit[i]).n)
      td_diag_help(r->diag, "'%s' calls it: \"%s:%s\"", r->prog->unit[i]->sym->name,
                   r->prog->unit[i]->sym->name, in->callee->sym->name);
  return false;
}

static bool is_not_return(void *ud, const TdStmt *s) {
  const TdStmt **found = ud;
  if (s->kind == TD_STMT_RETURN) *found = s;
  return !*found;
}

/* Whether the callee returns at its end only. */
static bool ends_at_end(const Inline *in) {
  const TdStmt *body = in->callee->body, *early = NULL;
  for (uint32_t i = 0; i < body->nkid && !early; i++)
    if (i + 1 < body->nkid || body->kid[i]->kind != TD_STMT_RETURN)
      td_walk_stmt(in->r->session->ctx, body->kid[i], is_not_return, &early);
  return !early || refuse(in, TD_ILLEGAL, "return", early->loc, "returns before its end");
}

/* Whether another unit, or the model of an extern, needs the callee. */
static bool is_needed(const Inline *in) {
  const TdProg *p = in->r->prog;
  for (size_t i = 0; i < p->nunit; i++) {
    const TdUnit *u = p->unit[i];
    if (u != in->caller && calls_in(in, u).n) return true;
    if (u->foreign && u->foreign->model == in->callee->sym) return true;
    for (size_t k = 0; k < u->nrun; k++)
      if (u->run[k].unit == in->callee->sym) return true;
  }
  return false;
}

/* Notes the call of a kernel whose name is that of a parameter of the caller. */
typedef struct Hidden {
  const TdUnit *caller;
  const TdStmt *call;
} Hidden;

static bool look_hidden(void *ud, const TdStmt *s) {
  Hidden *h = ud;
  for (size_t i = 0; s->kind == TD_STMT_CALL && i < h->caller->nparam; i++)
    if (strcmp(h->caller->param[i].sym->name, s->sym->name) == 0) h->call = s;
  return !h->call;
}

/* Whether what the callee calls can be called in the caller: no parameter there has its name. */
static bool is_callable(const Inline *in) {
  Hidden h = {in->caller, NULL};
  td_walk_stmt(in->r->session->ctx, in->callee->body, look_hidden, &h);
  if (!h.call) return true;
  refuse(in, TD_ILLEGAL, "name", h.call->loc,
         td_text_fmt(in->r->arena, "calls '%s', which is a parameter of '%s'", h.call->sym->name,
                     in->caller->sym->name));
  td_diag_help(in->r->diag, "inline '%s' first", h.call->sym->name);
  return false;
}

/* A table of the caller that is the same as d, or NULL. */
static TdSym same_table(const Inline *in, const TdStmt *d) {
  const TdStmt *body = in->caller->body;
  for (uint32_t i = 0; i < body->nkid && body->kid[i]->cls != TD_LOCAL_AUTO; i++) {
    const TdStmt *x = body->kid[i];
    if (x->cls == TD_LOCAL_CONST && d->cls == TD_LOCAL_CONST && x->sym->name == d->sym->name &&
        td_equal_blob(x->blob, d->blob) && td_attrs_equal(x->attrs, d->attrs))
      return x->sym;
  }
  return NULL;
}

/* Moves the callee's constants and states to the caller, or gives it their like. */
static void move_data(Inline *in) {
  TdRewrite *r = in->r;
  const TdStmt *body = in->callee->body;
  in->moved = td_subst_new(r->store);
  for (; in->preamble < body->nkid; in->preamble++) {
    const TdStmt *d = body->kid[in->preamble];
    if (d->kind != TD_STMT_LOCAL || d->cls == TD_LOCAL_AUTO) break;
    TdSym same = same_table(in, d);
    if (!same) {
      const char *name = td_util_name(r, in->caller, NULL, d->sym->name);
      same = td_store_sym(r->store, name, TD_SYM_LOCAL);
      const TdStmt *copy = td_stmt_data(r->store, same, (TdLocalClass)d->cls, d->blob, d->loc);
      td_vec_push(r->store->arena, &in->data, td_stmt_with_attrs(r->store, copy, d->attrs));
    }
    td_subst_sym(&in->moved, d->sym, same);
  }
}

/* A value as it must stand where an index or anything else may be around it. */
static const TdExpr *as_value(const Expansion *x, const TdExpr *e) {
  TdArena *a = x->in->r->store->arena;
  return e->type->kind == TD_T_INDEX ? td_util_written_out(a, e) : td_util_written(a, e);
}

/* A local of the caller that holds a value of the callee's caller, as an expression. */
static const TdExpr *hold(Expansion *x, const char *want, const TdExpr *value) {
  TdStore *st = x->in->r->store;
  TdSym v = td_store_sym(st, td_util_name(x->in->r, x->in->caller, NULL, want), TD_SYM_LOCAL);
  value = as_value(x, value);
  td_vec_push(st->arena, &x->out,
              td_stmt_local(st, v, value->type, TD_INIT_VALUE, value, x->call->loc));
  return td_expr_load(st->arena, v, value->type, NULL, 0, value->loc);
}

static bool is_no_load(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD;
}

static const TdExpr *hold_load(void *ud, const TdExpr *e) {
  Expansion *x = ud;
  return e->kind == TD_EXPR_LOAD ? hold(x, e->sym->name, e) : e;
}

/* Binds a parameter to its argument. What an argument reads from memory is read once. */
static void bind_param(Expansion *x, const TdParam *p, const TdExpr *arg) {
  TdStore *st = x->in->r->store;
  if (arg->kind == TD_EXPR_VIEW) {
    td_subst_view(&x->sub, p->sym, td_walk_map_expr(st->arena, arg, hold_load, x));
    return;
  }
  if (!td_walk_expr(arg, is_no_load, NULL)) arg = hold(x, p->sym->name, arg);
  td_subst_expr(&x->sub, p->sym, as_value(x, arg));
}

/* Gives sizes that are whole extents of t, a parameter's type, the extents of the argument's. */
static void bind_sizes(Expansion *x, const TdType *t, const TdType *arg) {
  if (t->kind != TD_T_TENSOR && t->kind != TD_T_PORT) return;
  for (int d = 0; d < t->rank; d++)
    if (t->dim[d]->kind == TD_EXPR_SIZE && !td_map_getp(&x->sub.size, t->dim[d]->u.name))
      td_subst_size(&x->sub, t->dim[d]->u.name, arg->dim[d]);
  bind_sizes(x, t->elem, arg->elem);
}

/* Whether t, its sizes bound, is arg; where only the values of sizes say so, that is assumed. */
static bool check_shape(Expansion *x, const TdType *t, const TdType *arg) {
  Inline *in = x->in;
  if (t->kind != TD_T_TENSOR && t->kind != TD_T_PORT) return true;
  for (int d = 0; d < t->rank; d++) {
    const TdExpr *fact, *want = td_subst_in_expr(&x->sub, t->dim[d]);
    if (!td_util_same_value(in->r, in->caller, x->call, want, arg->dim[d], &fact))
      return refuse(in, TD_ILLEGAL, "shape", x->call->loc, "is called with other extents here");
    if (fact) in->caller = td_util_assume(in->r, in->caller, fact);
  }
  return check_shape(x, t->elem, arg->elem);
}

/* Whether size z of the callee is the caller's of that name. */
static bool is_shared(const Inline *in, const TdSize *z) {
  const TdSize *same = td_unit_size(in->caller, z->name);
  return same && same->known == z->known && same->value == z->value;
}

/* Makes size z of the callee the caller's too; false if the caller is the root, whose sizes are for
 * its user, or has something else of that name. */
static bool take_size(Inline *in, const TdSize *z) {
  const TdUnit *u = in->caller;
  if (u->sym == td_prog_root(in->r->prog)->sym || td_unit_size(u, z->name)) return false;
  for (size_t i = 0; i < u->nparam; i++)
    if (u->param[i].sym->name == z->name) return false;
  TdUnit *copy = td_unit_copy(in->r->store, u);
  TdSize *size = TD_NEWN(in->r->store->arena, TdSize, u->nsize + 1);
  for (size_t i = 0; i < u->nsize; i++) size[i] = u->size[i];
  size[u->nsize] = *z;
  copy->size = size;
  copy->nsize = u->nsize + 1;
  in->caller = copy;
  return true;
}

/* The callee's sizes: from shapes, or else the caller's, or the values they have. */
static bool bind_all_sizes(Expansion *x) {
  Inline *in = x->in;
  const TdUnit *u = in->callee;
  for (size_t i = 0; i < u->nparam; i++) bind_sizes(x, u->param[i].type, x->call->expr[i]->type);
  for (size_t i = 0; i < u->nsize; i++) {
    const TdSize *z = &u->size[i];
    if (td_map_getp(&x->sub.size, z->name) || is_shared(in, z) || (z->known && take_size(in, z)))
      continue;
    if (!u->size[i].known)
      return refuse(
          in, TD_ILLEGAL, "size", x->call->loc,
          td_text_fmt(in->r->arena, "has a size '%s' that no argument tells", u->size[i].name));
    td_subst_size(&x->sub, u->size[i].name, td_util_const(in->r, u->size[i].value));
    in->r->used_value = true;
  }
  for (size_t i = 0; i < u->nparam; i++)
    if (!check_shape(x, u->param[i].type, x->call->expr[i]->type)) return false;
  return true;
}

/* Whether assumption i of the callee, which speaks of scalars, holds for all sizes where the call
 * stands. */
static bool is_proved(const Expansion *x, size_t i) {
  const TdUnit *u = x->in->callee;
  TdSubst to = td_subst_new(x->in->r->store);
  to.size = x->sub.size;
  for (size_t p = 0; p < u->nparam; p++)
    if (td_type_is_scalar(u->param[p].type)) td_subst_expr(&to, u->param[p].sym, x->call->expr[p]);
  TdAsk q = td_util_ask(x->in->r, x->in->caller);
  return td_range_holds(&q, x->call, td_subst_in_expr(&to, u->assert_[i]), false) == TD_YES;
}

/* Keeps assumption i of the callee as that of a kernel of its own; false if the callee is one. */
static bool keep_assumption(Expansion *x, size_t i) {
  Inline *in = x->in;
  const char *text = td_print_expr_str(in->r->arena, in->callee->assert_[i]);
  if (!in->callee->body->nkid) {
    refuse(in, TD_ILLEGAL, "assume", x->call->loc,
           td_text_fmt(in->r->arena, "only assumes %s, which is not known here", text));
    td_diag_help(in->r->diag, "call it under a condition, or leave it: each run checks it");
    return false;
  }
  if (!in->premise.unit) in->premise = td_premise_of(in->r, in->callee);
  td_util_note(in->r, "'%s' of '%s' is checked by '%s'", text, in->callee->sym->name,
               in->premise.unit->sym->name);
  return true;
}

/* Makes the callee's assumptions of sizes those of the caller; of the others, those that are not
 * proved here stay checked. */
static bool move_assumptions(Expansion *x) {
  Inline *in = x->in;
  bool keep = false;
  for (size_t i = 0; i < in->callee->nassert; i++) {
    const TdExpr *fact = td_subst_in_expr(&x->sub, in->callee->assert_[i]);
    if (fact->kind == TD_EXPR_LIT && fact->u.bits) continue;
    if (!td_util_varies(in->callee->assert_[i]))
      in->caller = td_util_assume(in->r, in->caller, fact);
    else if (is_proved(x, i))
      continue;
    else if (!keep_assumption(x, i))
      return false;
    else
      keep = true;
  }
  if (keep)
    td_vec_push(in->r->store->arena, &x->out,
                td_premise_call(in->r, &in->premise, &x->sub, x->call->loc));
  return true;
}

/* Says which view of the call might be out of range, which is seen then where it is used only. */
static void note_range(const Expansion *x) {
  TdAsk q = td_util_ask(x->in->r, x->in->caller);
  TdDiag quiet = {.arena = x->in->r->arena};
  const TdBoundsItem *item;
  size_t n;
  bool any = false;
  for (uint32_t i = 0; i < x->call->nexpr; i++) any |= x->call->expr[i]->kind == TD_EXPR_VIEW;
  if (!any || !td_bounds_check(&q, &item, &n, &quiet)) return;
  const TdExpr *last = NULL;
  for (size_t i = 0; i < n; i++) {
    const TdExpr *e = item[i].expr;
    if (item[i].stmt != x->call || item[i].kind != TD_BOUNDS_UNPROVED || e == last ||
        e->kind != TD_EXPR_VIEW || td_bounds_always(q.unit, &item[i]))
      continue;
    td_util_note(x->in->r, "no longer checked unless it is used: whether %s is within '%s'",
                 td_print_expr_str(x->in->r->arena, e), e->sym->name);
    last = e;
  }
}

/* Says which views of the call were looked at in each run, which what takes its place does not. */
static void note_views(const Expansion *x) {
  TdAsk q = td_util_ask(x->in->r, x->in->caller);
  const TdApart *open;
  size_t n = td_apart_open(&q, x->call, &open);
  for (size_t i = 0; i < n; i++)
    td_util_note(x->in->r, "no longer checked: whether %s", open[i].what);
}

/* Whether what the callee's body got from a stream is given back where the body ends. */
static bool needs_scope(const TdStmt *body) {
  for (uint32_t i = 0; i < body->nkid; i++)
    if (body->kid[i]->kind == TD_STMT_GET || body->kid[i]->kind == TD_STMT_SLOT) return true;
  return false;
}

/* Fills x->out with what takes the place of the call. */
static bool expand(Expansion *x, bool first) {
  Inline *in = x->in;
  TdStore *st = in->r->store;
  const TdUnit *u = in->callee;
  x->sub = td_subst_new(st);
  if (!bind_all_sizes(x)) return false;
  for (size_t i = 0; i < u->nparam; i++) bind_param(x, &u->param[i], x->call->expr[i]);
  note_range(x);
  note_views(x);
  if (!move_assumptions(x)) return false;
  size_t n = u->body->nkid;
  if (n > in->preamble && u->body->kid[n - 1]->kind == TD_STMT_RETURN) n--;
  const TdStmt *body = td_edit_slice(st, u->body, in->preamble, n);
  body = td_subst_in_stmt(&in->moved, body);
  if (!in->gone || !first) body = td_walk_copy(st, body, NULL);
  body = td_subst_in_stmt(&x->sub, td_util_rename(in->r, in->caller, body));
  if (needs_scope(body)) {
    td_vec_push(st->arena, &x->out, body);
    return true;
  }
  for (uint32_t i = 0; i < body->nkid; i++) td_vec_push(st->arena, &x->out, body->kid[i]);
  return true;
}

static const TdProg *apply(TdRewrite *r) {
  Inline in = {.r = r};
  if (!find(&in) || !ends_at_end(&in) || !is_callable(&in)) return NULL;
  in.gone = !is_needed(&in);
  move_data(&in);
  Stmts calls = calls_in(&in, in.caller);
  for (size_t i = 0; i < calls.n; i++) {
    Expansion x = {.in = &in, .call = calls.at[i]};
    if (!expand(&x, i == 0)) return NULL;
    const TdStmt *body = td_edit_replace(r->store, in.caller->body, x.call->uid, x.out.at, x.out.n);
    in.caller = td_unit_with_body(r->store, in.caller, body);
  }
  const TdStmt *body = in.caller->body;
  for (uint32_t i = 0; i < body->nkid; i++) td_vec_push(r->store->arena, &in.data, body->kid[i]);
  body = td_stmt_with_kids(r->store, body, in.data.at, in.data.n);
  const TdProg *p = td_util_with_body(r, in.caller, body);
  return in.premise.unit ? td_prog_insert(p, in.premise.unit, in.caller->sym) : p;
}

const TdPrim td_prim_inline = {
    .name = "inline",
    .on = "kernel",
    .summary = "Put the body of a kernel in the place of its calls.",
    .args = {{"name", TD_ARG_UNIT, TD_ARG_NEEDED,
              "the kernel called, by the root or (\"unit:name\") by that unit", "kernel"}},
    .rewrite = "f(A[i], x)  =>  S[a := A[i], n := x], after f_assumes(x) where f assumes of n what "
               "is not proved here",
    .legal = "the kernel returns at its end only; its sizes follow from what it is passed; what it "
             "calls has no name that is a parameter's where it is called; no two states that were "
             "apart become one",
    .errors = "not-a-kernel not-called return shape size name assume state",
    .example = "s:outline(\"k\", \"dot\"):inline(\"dot\")",
    .apply = apply,
};
