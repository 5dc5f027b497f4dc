/* local.c - a local array and what touches it. */
#include "rewrite/array/local.h"

#include "analysis/range/bounds.h"
#include "rewrite/array/elements.h"

static bool refuse(const TdLocalArray *l, const char *code, const char *why) {
  TdLoc loc = l->decl ? l->decl->loc : (TdLoc){0};
  td_util_refuse(l->r, TD_ILLEGAL, code, loc, "'%s' %s", l->sym->name, why);
  return false;
}

/* Whether the array's declaration can be another one. */
static bool check_declaration(const TdLocalArray *l) {
  if (!l->decl) {
    refuse(l, "interface", "is a parameter: who calls the kernel passes it as it is");
    td_diag_help(l->r->diag, "buffer_at makes a local copy of the part that a loop uses");
    return false;
  }
  if (l->decl->kind != TD_STMT_LOCAL)
    return refuse(l, "interface", "comes from a stream, whose tokens are as they are");
  if (l->decl->cls != TD_LOCAL_AUTO)
    return refuse(l, "class", "is a constant or a state: its values are given as they are");
  return true;
}

/* A search for a tensor statement that writes or reads the array as a whole. */
typedef struct Whole {
  TdSym sym;
  bool sets; /* that is a SET */
  const TdStmt *found;
} Whole;

static bool is_element(void *ud, const TdExpr *e) {
  return e->kind != TD_EXPR_VIEW || e->sym != ud;
}

static bool is_no_whole(void *ud, const TdStmt *s) {
  Whole *w = ud;
  if (w->sets && s->kind != TD_STMT_SET) return true;
  for (uint32_t i = 0; i < s->nexpr && !w->found; i++)
    if (!td_walk_expr(s->expr[i], is_element, (void *)(uintptr_t)w->sym)) w->found = s;
  return !w->found;
}

bool td_local_write_out(TdLocalArray *l, bool sets) {
  TdRewrite *r = l->r;
  for (;;) {
    Whole w = {.sym = l->sym, .sets = sets};
    td_walk_stmt(r->session->ctx, l->unit->body, is_no_whole, &w);
    if (!w.found) return true;
    if (w.found->kind != TD_STMT_SET) {
      td_util_refuse(r, TD_ILLEGAL, "whole", w.found->loc, "'%s' is used as a whole here",
                     l->sym->name);
      if (w.found->kind == TD_STMT_CALL)
        td_diag_help(r->diag, "inline '%s' first", w.found->sym->name);
      return false;
    }
    const TdStmt *now = td_elements_of(r, l->unit, w.found);
    if (!now) return false;
    const TdStmt *body = td_edit_replace(r->store, l->unit->body, w.found->uid, &now, 1);
    l->unit = td_unit_with_body(r->store, l->unit, body);
  }
}

/* Finds the array's declaration. */
static bool find_declaration(TdLocalArray *l, TdRewrite *r, const TdPlace *at) {
  *l = (TdLocalArray){.r = r, .unit = at->unit, .decl = at->stmt, .sym = at->sym};
  l->type = at->stmt ? at->stmt->type : td_unit_param(at->unit, at->sym)->type;
  if (l->type->kind != TD_T_TENSOR) {
    td_util_refuse(r, TD_USAGE, "not-an-array", at->stmt ? at->stmt->loc : (TdLoc){0},
                   "'%s' is no array", at->sym->name);
    return false;
  }
  if (!check_declaration(l)) return false;
  return l->decl->init != TD_INIT_VALUE ||
         refuse(l, "whole", "is declared with a whole tensor as its value");
}

/* Whether loop `s` goes through all of extent `e` in steps of one. */
static bool is_over(const TdLocalArray *l, const TdStmt *s, const TdExpr *e) {
  int64_t lo, apart;
  return s->step == 1 && td_expr_is_const(td_for_lo(s), &lo) && lo == 0 &&
         td_lin_diff(l->r->session, td_for_hi(s), e, &apart) && apart == 0;
}

/* Whether nest s stores to each element of the array first: loops, each the first statement of that
 * around it, and in them a store at their variables that reads nothing of it. */
static bool fills(const TdLocalArray *l, const TdStmt *s) {
  const TdStmt *loop[TD_MAX_RANK];
  int n = 0;
  for (; s->kind == TD_STMT_FOR && n < TD_MAX_RANK; s = td_for_body(s)->kid[0]) {
    loop[n++] = s;
    if (!td_for_body(s)->nkid) return false;
  }
  bool store = s->kind == TD_STMT_STORE && s->expr[0]->sym == l->sym && s->expr[0]->nkid &&
               !td_walk_uses_expr(s->expr[1], l->sym);
  for (uint32_t d = 0; store && d < s->expr[0]->nkid; d++) {
    const TdExpr *x = s->expr[0]->kid[d];
    int k = 0;
    while (k < n && !(loop[k] && x->kind == TD_EXPR_VAR && x->sym == loop[k]->sym)) k++;
    store = k < n && is_over(l, loop[k], l->type->dim[d]);
    if (store) loop[k] = NULL;
  }
  return store;
}

/* The first statement behind the declaration that uses the array, in its block or the one below. */
static const TdStmt *first_use(const TdLocalArray *l, const TdStmt *s) {
  bool behind = false;
  for (uint32_t i = 0; i < s->nkid; i++) {
    const TdStmt *k = s->kid[i];
    if (behind && td_walk_uses(l->r->session->ctx, k, l->sym)) return k;
    behind |= k->uid == l->decl->uid;
    const TdStmt *below = behind ? NULL : first_use(l, k);
    if (below) return below;
  }
  return NULL;
}

void td_local_note_unwritten(const TdLocalArray *l) {
  if (l->decl->init != TD_INIT_NONE) return;
  const TdStmt *first = first_use(l, l->unit->body);
  if (!first || !fills(l, first))
    td_util_note(l->r,
                 "no longer checked: whether each element of '%s' is written before it is read",
                 l->sym->name);
}

void td_local_note_range(const TdLocalArray *l, unsigned dims) {
  TdAsk q = td_util_ask(l->r, l->unit);
  TdDiag quiet = {.arena = l->r->arena};
  const TdBoundsItem *item;
  size_t n;
  if (!td_bounds_check(&q, &item, &n, &quiet)) return;
  for (size_t i = 0; i < n; i++)
    if (item[i].kind == TD_BOUNDS_UNPROVED && item[i].expr->sym == l->sym &&
        dims >> item[i].dim & 1 && !td_bounds_always(q.unit, &item[i])) {
      td_util_note(l->r, "no longer checked: whether indices of '%s' are within its extents",
                   l->sym->name);
      return;
    }
}

bool td_local_find(TdLocalArray *l, TdRewrite *r, int i) {
  TdPlace at;
  return td_cursor_array(r->arena, r->prog, r->arg[i].text, NULL, &at, r->diag) &&
         find_declaration(l, r, &at) && td_local_write_out(l, false);
}

bool td_local_find_views(TdLocalArray *l, TdRewrite *r, const TdPlace *at) {
  return find_declaration(l, r, at) && td_local_write_out(l, true);
}

const TdProg *td_local_put(const TdLocalArray *l, const TdType *type, const TdExpr *fill,
                           TdAttrs attrs, TdExprMap fn, void *ud) {
  TdStore *st = l->r->store;
  const TdStmt *body = td_walk_map(st, l->unit->body, fn, ud);
  const TdStmt *decl = td_edit_find(l->r->session->ctx, body, l->decl->uid);
  TdStmt *now = td_arena_copy(st->arena, decl, sizeof *now);
  now->type = type;
  now->attrs = attrs;
  bool scalar = td_type_is_scalar(type);
  now->init = !fill ? TD_INIT_NONE : scalar ? TD_INIT_VALUE : TD_INIT_FILL;
  if (fill && scalar) fill = td_util_written(st->arena, fill);
  const TdStmt *same = fill ? td_stmt_with_exprs(st, now, &fill, 1) : now;
  return td_util_with_body(l->r, l->unit, td_edit_replace(st, body, decl->uid, &same, 1));
}
