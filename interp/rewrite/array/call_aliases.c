/* call_aliases.c - one array under several names. */
#include "rewrite/array/call_aliases.h"

bool td_call_aliases_refuse(const TdPassed *p, TdDiagKind kind, const char *code,
                            const char *what) {
  TdLoc none = {0};
  td_util_refuse(p->r, kind, code, none, "'%s' %s", p->array.at[0].sym->name, what);
  return false;
}

const TdType *td_call_aliases_type(const TdPlace *p) {
  return p->stmt ? p->stmt->type : td_unit_param(p->unit, p->sym)->type;
}

TdAttrs td_call_aliases_attrs(const TdPlace *p) {
  return p->stmt ? p->stmt->attrs : td_unit_param(p->unit, p->sym)->attrs;
}

static bool is_other(void *ud, const TdStmt *s) {
  TdPlace *p = ud;
  bool declares = s->kind == TD_STMT_LOCAL || s->kind == TD_STMT_GET || s->kind == TD_STMT_SLOT;
  if (declares && s->sym == p->sym) p->stmt = s;
  return !p->stmt;
}

/* The array that a symbol of u stands for. */
static TdPlace place_of(const TdPassed *b, const TdUnit *u, TdSym sym) {
  TdPlace p = {u, NULL, sym};
  if (u->body) td_walk_stmt(b->r->session->ctx, u->body, is_other, &p);
  return p;
}

/* Adds an array to the list, once. */
static void link(TdPassed *b, const TdUnit *u, TdSym sym) {
  for (size_t i = 0; i < b->array.n; i++)
    if (b->array.at[i].sym == sym) return;
  TdPlace p = place_of(b, u, sym);
  td_vec_push(b->r->arena, &b->array, p);
}

/* Whether e is all of an array of u, as it lies; or any part of one, if parts count. */
static bool is_passed(const TdPassed *b, const TdUnit *u, const TdExpr *e) {
  int64_t lo;
  if (e->kind != TD_EXPR_VIEW || e->type->kind != TD_T_TENSOR) return false;
  TdPlace p = place_of(b, u, e->sym);
  for (uint32_t d = 0; d < e->nkid && !b->parts; d++)
    if (e->u.dim[d].out != (int)d || e->u.dim[d].step != 1 || !td_expr_is_const(e->kid[d], &lo) ||
        lo)
      return false;
  return b->parts || td_call_aliases_type(&p) == e->type;
}

/* A look at the calls of one unit for whatever meets array number `at`. */
typedef struct Meeting {
  TdPassed *b;
  const TdUnit *unit;
  size_t at;
} Meeting;

static bool meet_call(void *ud, const TdStmt *s) {
  const Meeting *m = ud;
  TdPassed *b = m->b;
  const TdUnit *callee = s->kind == TD_STMT_CALL ? td_prog_unit(b->r->prog, s->sym) : NULL;
  for (uint32_t i = 0; callee && callee->kind != TD_UNIT_EXTERN && i < s->nexpr; i++) {
    TdSym param = callee->param[i].sym, passed = s->expr[i]->sym, at = b->array.at[m->at].sym;
    if ((passed != at && param != at) || !is_passed(b, m->unit, s->expr[i])) continue;
    link(b, callee, param);
    link(b, m->unit, passed);
  }
  return true;
}

/* The tasks of a design see its arguments, and layouts cut them. */
static void meet_runs(TdPassed *b, const TdUnit *design, TdSym at) {
  for (size_t i = 0; i < design->nrun; i++)
    for (size_t k = 0; k < design->run[i].nbind; k++) {
      const TdRunArg *bind = &design->run[i].bind[k];
      if ((bind->layout && !b->parts) || (bind->arg != at && bind->param != at)) continue;
      link(b, td_prog_unit(b->r->prog, design->run[i].unit), bind->param);
      link(b, design, bind->arg);
    }
}

/* Adds all arrays that are the first one under other names; of a scalar, which calls pass by value,
 * the names that tasks have for an argument of their design. */
static void spread(TdPassed *b) {
  const TdProg *p = b->r->prog;
  bool by_value = td_call_aliases_type(&b->array.at[0])->kind != TD_T_TENSOR;
  for (size_t at = 0; at < b->array.n; at++)
    for (size_t i = 0; i < p->nunit; i++) {
      Meeting m = {b, p->unit[i], at};
      if (p->unit[i]->body && !by_value)
        td_walk_stmt(b->r->session->ctx, p->unit[i]->body, meet_call, &m);
      meet_runs(b, p->unit[i], b->array.at[at].sym);
    }
}

bool td_call_aliases_find(TdPassed *p, TdRewrite *r, int i) {
  TdPlace first;
  if (!td_cursor_array(r->arena, r->prog, r->arg[i].text, NULL, &first, r->diag)) return false;
  *p = (TdPassed){.r = r};
  td_vec_push(r->arena, &p->array, first);
  if (td_call_aliases_type(&first)->kind != TD_T_TENSOR)
    return td_call_aliases_refuse(p, TD_USAGE, "not-an-array", "is no array");
  spread(p);
  return true;
}

bool td_call_aliases_find_parts(TdPassed *p, TdRewrite *r, int i) {
  TdPlace first;
  if (!td_cursor_array(r->arena, r->prog, r->arg[i].text, NULL, &first, r->diag)) return false;
  *p = (TdPassed){.r = r, .parts = true};
  td_vec_push(r->arena, &p->array, first);
  if (td_call_aliases_type(&first)->kind != TD_T_PORT) spread(p);
  return true;
}

const TdProg *td_call_aliases_set(const TdRewrite *r, const TdProg *prog, const TdPlace *p,
                                  TdAttrs attrs) {
  const TdUnit *u = td_prog_unit(prog, p->unit->sym);
  if (p->stmt) {
    const TdStmt *now = td_stmt_with_attrs(r->store, p->stmt, attrs);
    const TdStmt *body = td_edit_replace(r->store, u->body, p->stmt->uid, &now, 1);
    return td_prog_with(prog, td_unit_with_body(r->store, u, body));
  }
  TdUnit *copy = td_unit_copy(r->store, u);
  TdParam *param = td_arena_copy(r->store->arena, u->param, u->nparam * sizeof *param);
  param[td_unit_param(u, p->sym) - u->param].attrs = attrs;
  copy->param = param;
  return td_prog_with(prog, copy);
}

const TdProg *td_call_aliases_mark(const TdPassed *all, const TdProg *prog, size_t i,
                                   TdAttrs attrs) {
  const TdPlace *p = &all->array.at[i];
  if (i) td_util_note(all->r, "'%s' of '%s' too", p->sym->name, p->unit->sym->name);
  return td_call_aliases_set(all->r, prog, p, attrs);
}
