/* util.c - what primitives share. */
#include "rewrite/util.h"

#include <stdarg.h>

#include "ir/size_use.h"

/* The only run of a unit that has ids, NULL if there is none or several. */
static const TdRun *only_run(const TdProg *p, const TdUnit *u) {
  const TdRun *found = NULL;
  for (size_t i = 0; u->ncoord && i < p->nunit; i++)
    for (size_t k = 0; k < p->unit[i]->nrun; k++) {
      if (p->unit[i]->run[k].unit != u->sym) continue;
      if (found || p->unit[i]->run[k].rank != u->ncoord) return NULL;
      found = &p->unit[i]->run[k];
    }
  return found;
}

/* A task's unit with what the design that runs it says of its ids: each is below its extent. */
static const TdUnit *with_ids(const TdRewrite *r, const TdUnit *u) {
  const TdRun *run = only_run(r->prog, u);
  if (!run) return u;
  TdUnit *k = TD_NEW(r->arena, TdUnit);
  *k = *u;
  const TdExpr **fact = TD_NEWN(r->arena, const TdExpr *, u->nassert + u->ncoord);
  for (size_t i = 0; i < u->nassert; i++) fact[i] = u->assert_[i];
  const TdType *index = td_type_index(r->session), *boolean = td_type_bool(r->session);
  TdLoc none = {0};
  for (size_t d = 0; d < u->ncoord; d++) {
    const TdExpr *id = td_expr_var(r->arena, u->coord[d], index, none);
    fact[k->nassert++] = td_expr_op2(r->arena, TD_OP_LT, boolean, id, run->map[d]);
  }
  k->assert_ = fact;
  return k;
}

TdAsk td_util_ask(const TdRewrite *r, const TdUnit *u) {
  return (TdAsk){.affine = r->affine, .arena = r->arena, .prog = r->prog, .unit = with_ids(r, u)};
}

bool td_util_loop(TdRewrite *r, int i, TdPlace *out) {
  return td_cursor_loop(r->arena, r->prog, r->arg[i].text, out, r->diag);
}

const TdProg *td_util_refuse(TdRewrite *r, TdDiagKind kind, const char *code, TdLoc loc,
                             const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  td_diag_vset(r->diag, kind, code, loc, fmt, ap);
  va_end(ap);
  return NULL;
}

const TdProg *td_util_with_body(TdRewrite *r, const TdUnit *u, const TdStmt *body) {
  return td_prog_with(r->prog, td_unit_with_body(r->store, u, body));
}

const TdProg *td_util_with_stmts(TdRewrite *r, const TdUnit *u, uint32_t uid,
                                 const TdStmt *const *now, size_t n) {
  return td_util_with_body(r, u, td_edit_replace(r->store, u->body, uid, now, n));
}

const TdProg *td_util_with_stmt(TdRewrite *r, const TdUnit *u, uint32_t uid, const TdStmt *now) {
  return td_util_with_stmts(r, u, uid, &now, 1);
}

const TdUnit *td_util_assume(TdRewrite *r, const TdUnit *u, const TdExpr *fact) {
  if (fact->kind == TD_EXPR_OP && fact->op == TD_OP_AND)
    return td_util_assume(r, td_util_assume(r, u, fact->kid[0]), fact->kid[1]);
  if (fact->kind == TD_EXPR_LIT && fact->u.bits) return u;
  TdUnit *copy = td_unit_copy(r->store, u);
  const TdExpr **list = TD_NEWN(r->store->arena, const TdExpr *, u->nassert + 1);
  for (size_t i = 0; i < u->nassert; i++) {
    if (td_equal_expr(u->assert_[i], fact)) return u;
    list[i] = u->assert_[i];
  }
  list[u->nassert] = fact;
  copy->assert_ = list;
  copy->nassert = u->nassert + 1;
  td_util_note(r, "adds tide.assume(%s)", td_print_expr_str(r->arena, fact));
  return copy;
}

const TdUnit *td_util_assume_sizes(TdRewrite *r, const TdUnit *u, const TdUnit *part) {
  TdSizeUse use = td_size_use_of(r->session->ctx, r->arena, part);
  for (size_t i = 0; i < use.name.n; i++) {
    const TdSize *z = td_unit_size(u, use.name.at[i]);
    if (!z || !z->known) continue;
    TdArena *a = r->store->arena;
    const TdExpr *size = td_expr_size(r->session, a, z->name, u->loc);
    const TdExpr *value = td_util_const(r, z->value);
    u = td_util_assume(r, u, td_expr_op2(a, TD_OP_EQ, td_type_bool(r->session), size, value));
    r->used_value = true;
  }
  return u;
}

static void take(TdRewrite *r, const char *name) {
  td_map_putp(r->arena, &r->naming.taken, name, r);
}

static bool take_declared(void *ud, const TdStmt *s) {
  if (s->sym) take(ud, s->sym->name);
  return true;
}

/* Takes the names of a design's streams if u is a task of it: tasks use them by these names. */
static void take_streams(TdRewrite *r, const TdUnit *u, const TdUnit *design) {
  bool runs = false;
  for (size_t k = 0; k < design->nrun; k++) runs |= design->run[k].unit == u->sym;
  for (size_t i = 0; runs && i < design->nstream; i++) take(r, design->stream[i].sym->name);
}

/* Makes r->naming that of unit u. */
static void name_in(TdRewrite *r, const TdUnit *u) {
  if (r->naming.unit == u->sym) return;
  r->naming = (TdNaming){.unit = u->sym};
  for (size_t i = 0; i < u->nparam; i++) take(r, u->param[i].sym->name);
  for (size_t i = 0; i < u->ncoord; i++) take(r, u->coord[i]->name);
  for (size_t i = 0; i < u->nstream; i++) take(r, u->stream[i].sym->name);
  for (size_t i = 0; i < u->nrun; i++) take(r, u->run[i].sym->name);
  for (size_t i = 0; i < u->nsize; i++) take(r, u->size[i].name);
  if (u->body) td_walk_stmt(r->session->ctx, u->body, take_declared, r);
  for (size_t i = 0; i < r->prog->nunit; i++) take_streams(r, u, r->prog->unit[i]);
}

const char *td_util_name(TdRewrite *r, const TdUnit *u, const char *given, const char *want) {
  TdLoc none = {0};
  uint64_t suffix = 0;
  name_in(r, u);
  const char *stem = td_names_str(r->session->names, given ? given : want), *name = stem;
  bool taken = td_map_getp(&r->naming.taken, name) != NULL;
  if (given && (taken || !td_edit_name_fits(r->prog, given))) {
    td_util_refuse(r, TD_USAGE, "name", none,
                   taken ? "something in '%s' is named '%s'" : "in '%s', '%s' cannot be a name",
                   u->sym->name, given);
    return NULL;
  }
  td_map_get(&r->naming.last, (uint64_t)(uintptr_t)stem, &suffix);
  while (td_map_getp(&r->naming.taken, name))
    name = td_names_str(r->session->names,
                        td_text_fmt(r->arena, "%s_%llu", stem, (unsigned long long)++suffix));
  td_map_put(r->arena, &r->naming.last, (uint64_t)(uintptr_t)stem, suffix);
  take(r, name);
  return name;
}

/* Gives new names to what a tree declares. */
typedef struct Renaming {
  TdRewrite *r;
  const TdUnit *unit;
  TdSubst sub;
} Renaming;

static bool rename_declared(void *ud, const TdStmt *s) {
  Renaming *n = ud;
  bool declares = s->sym && (s->kind == TD_STMT_FOR || s->kind == TD_STMT_LOCAL ||
                             s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT);
  if (!declares) return true;
  const char *name = td_util_name(n->r, n->unit, NULL, s->sym->name);
  td_subst_sym(&n->sub, s->sym, td_store_sym(n->r->store, name, (TdSymKind)s->sym->kind));
  return true;
}

const TdStmt *td_util_rename(TdRewrite *r, const TdUnit *u, const TdStmt *s) {
  Renaming n = {r, u, td_subst_new(r->store)};
  td_walk_stmt(r->session->ctx, s, rename_declared, &n);
  return td_subst_in_stmt(&n.sub, s);
}

const TdStmt *td_util_copy(TdRewrite *r, const TdUnit *u, const TdStmt *s) {
  return td_util_rename(r, u, td_walk_copy(r->store, s, NULL));
}

const TdExpr *td_util_trip(TdRewrite *r, const TdStmt *loop) {
  TdArena *a = r->store->arena;
  const TdExpr *span = td_lin_minus(r->session, a, td_for_hi(loop), td_for_lo(loop));
  return td_lin_ceildiv(r->session, a, span, loop->step);
}

bool td_util_same_value(TdRewrite *r, const TdUnit *u, const TdStmt *at, const TdExpr *x,
                        const TdExpr *y, const TdExpr **fact) {
  int64_t d, vx, vy;
  *fact = NULL;
  if (td_lin_diff(r->session, x, y, &d)) return d == 0;
  const TdExpr *eq = td_expr_op2(r->store->arena, TD_OP_EQ, td_type_bool(r->session), x, y);
  TdAsk q = td_util_ask(r, u);
  if (td_range_holds(&q, at, eq, false) == TD_YES) return true;
  if (!td_unit_value(u, x, &vx) || !td_unit_value(u, y, &vy) || vx != vy) return false;
  *fact = eq;
  return true;
}

/* The parts of one term of a sum, without its coefficient. */
static TdParts parts_of_atom(const TdRewrite *r, const TdExpr *e, TdOp op) {
  TdParts out = {0};
  int64_t c;
  bool quotient =
      e->kind == TD_EXPR_OP && e->op == TD_OP_FLOORDIV && td_expr_is_const(e->kid[1], &c) && c > 0;
  for (uint32_t k = 0; e->kind == TD_EXPR_OP && e->op == (int)op && k < e->nkid; k++) {
    TdParts kid = td_util_parts(r, e->kid[k], op);
    for (size_t i = 0; i < kid.n; i++) td_vec_push(r->arena, &out, kid.at[i]);
  }
  if (!quotient) return out;
  out = td_util_parts(r, e->kid[0], op);
  for (size_t i = 0; i < out.n; i++)
    out.at[i] = td_lin_floordiv(r->session, r->store->arena, out.at[i], c);
  return out;
}

TdParts td_util_parts(const TdRewrite *r, const TdExpr *e, TdOp op) {
  TdArena *a = r->store->arena;
  TdOp other = op == TD_OP_MAX ? TD_OP_MIN : TD_OP_MAX;
  TdLin sum = td_lin_of(r->session, a, e);
  TdParts part = {0}, out = {0};
  size_t at = 0, choices = 0;
  for (size_t i = 0; i < sum.n; i++) {
    TdParts p = parts_of_atom(r, sum.term[i].atom, sum.term[i].coef > 0 ? op : other);
    if (p.n > 1) choices++, part = p, at = i;
  }
  if (choices != 1) {
    td_vec_push(r->arena, &out, e);
    return out;
  }
  int64_t times = sum.term[at].coef;
  TdLin rest = td_lin_add(r->session, a, sum, -times, td_lin_of(r->session, a, sum.term[at].atom));
  for (size_t i = 0; i < part.n; i++) {
    TdLin x = td_lin_add(r->session, a, rest, times, td_lin_of(r->session, a, part.at[i]));
    td_vec_push(r->arena, &out, td_lin_expr(r->session, a, &x, e->loc));
  }
  return out;
}

static bool is_of_sizes(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_VAR && e->kind != TD_EXPR_LOAD;
}

bool td_util_varies(const TdExpr *e) {
  return !td_walk_expr(e, is_of_sizes, NULL);
}

TdSym td_util_loop_var(TdRewrite *r, const TdUnit *u, const char *want) {
  const char *name = td_util_name(r, u, NULL, want);
  td_util_made(r, name);
  return td_store_sym(r->store, name, TD_SYM_LOOP);
}

const TdExpr *td_util_var(TdRewrite *r, TdSym v) {
  TdLoc none = {0};
  return td_expr_var(r->store->arena, v, td_type_index(r->session), none);
}

const TdExpr *td_util_written(TdArena *a, const TdExpr *e) {
  return e->kind == TD_EXPR_CAST ? td_expr_cast(a, e->type, e->kid[0], false) : e;
}

static const TdExpr *written(void *ud, const TdExpr *e) {
  return td_util_written(ud, e);
}

const TdExpr *td_util_written_out(TdArena *a, const TdExpr *e) {
  return td_walk_map_expr(a, e, written, a);
}

const TdStmt *td_util_guard(TdRewrite *r, const TdExpr *cond, const TdStmt *s) {
  if (!cond) return s;
  return td_stmt_if(r->store, td_util_written_out(r->store->arena, cond), td_util_block1(r, s),
                    NULL, s->loc);
}

static bool is_no_data(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VIEW && e->kind != TD_EXPR_TENSOR;
}

bool td_util_is_steady(const TdExpr *e) {
  return td_walk_expr(e, is_no_data, NULL);
}

bool td_util_is_guard(const TdStmt *s) {
  return s->kind == TD_STMT_IF && s->nkid == 1 && td_util_is_steady(s->expr[0]);
}

const TdStmt *td_util_whole_body(const TdStmt *loop) {
  const TdStmt *body = td_for_body(loop);
  while (body->nkid == 1 && td_util_is_guard(body->kid[0])) body = body->kid[0]->kid[0];
  return body->nkid == 1 ? body->kid[0] : NULL;
}

const TdExpr *td_util_const(TdRewrite *r, int64_t v) {
  TdLoc none = {0};
  return td_expr_index(r->session, r->store->arena, v, none);
}

bool td_util_leaves_by_break(const TdStmt *s) {
  if (s->kind == TD_STMT_BREAK) return true;
  if (s->kind == TD_STMT_FOR || s->kind == TD_STMT_WHILE) return false;
  for (uint32_t i = 0; i < s->nkid; i++)
    if (td_util_leaves_by_break(s->kid[i])) return true;
  return false;
}

const TdStmt *td_util_reloop(TdRewrite *r, const TdStmt *s, TdSym v, const TdExpr *lo,
                             const TdExpr *hi, int64_t step, const TdStmt *body) {
  const TdExpr *e[] = {lo, hi};
  TdStmt *copy = (TdStmt *)(uintptr_t)td_stmt_with_exprs(
      r->store, td_stmt_with_kids(r->store, s, &body, 1), e, 2);
  copy->sym = v;
  copy->step = step;
  return copy;
}

bool td_util_declares(const TdStmt *block) {
  for (uint32_t i = 0; i < block->nkid; i++)
    if (block->kid[i]->kind == TD_STMT_LOCAL || block->kid[i]->kind == TD_STMT_SLOT ||
        (block->kid[i]->kind == TD_STMT_GET && block->kid[i]->sym))
      return true;
  return false;
}

const TdStmt *td_util_block1(TdRewrite *r, const TdStmt *s) {
  return td_stmt_block(r->store, &s, 1, s->loc);
}

const TdStmt *td_util_mark(TdRewrite *r, const TdStmt *s, TdAttr x) {
  return td_stmt_with_attrs(r->store, s, td_attrs_set(r->store->arena, s->attrs, x));
}

void td_util_made(TdRewrite *r, const char *name) {
  td_vec_push(r->arena, &r->made, name);
}

void td_util_note(TdRewrite *r, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = td_text_vfmt(r->arena, fmt, ap);
  va_end(ap);
  td_vec_push(r->arena, &r->note, text);
}
