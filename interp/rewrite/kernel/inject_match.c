/* inject_match.c - which operand of a library kernel stands for which tile of a nest: by shape
 * first, then by proof. */
#include <string.h>

#include "analysis/range/range.h"
#include "eval/eval.h"
#include "rewrite/kernel/inject.h"

/* Comparisons that are tried, and what each may take. */
enum { MOST_TRIED = 256 };
static const TdEvalOptions most = {
    .steps = 200000000, .bytes = (size_t)1 << 31, .seed = 0x9e3779b9, .drops_faults = true};

static bool refuse(const TdInject *j, TdDiagKind kind, const char *code, const char *what) {
  td_util_refuse(j->r, kind, code, j->nest->loc, "%s", what);
  return false;
}

/* Measures what the nest touches of an array. */
static bool find_tile(TdInject *j, size_t param) {
  TdRewrite *r = j->r;
  TdAsk q = td_util_ask(r, j->unit);
  TdTile *t = &j->tile[j->ntile++];
  TdFootprint f;
  q.arena = r->store->arena;
  *t = (TdTile){.sym = j->lifted.was[param], .param = param};
  t->type = j->lifted.unit->param[param].type;
  if (t->type->kind == TD_T_PORT)
    return refuse(j, TD_UNSUPPORTED, "operands",
                  td_text_fmt(r->arena, "the nest uses the stream '%s'", t->sym->name));
  if (!td_footprint_of(&q, j->nest, t->sym, t->type, &f))
    return refuse(
        j, TD_ILLEGAL, "operands",
        td_text_fmt(r->arena, "the nest touches '%s' in places that no box holds", t->sym->name));
  t->box = f.box;
  t->read = f.read;
  t->write = f.write;
  for (int d = 0; d < t->box.rank; d++)
    if (!td_unit_value(j->unit, t->box.extent[d], &t->extent[d]))
      return refuse(j, TD_ILLEGAL, "operands",
                    td_text_fmt(r->arena, "the nest touches %s elements of '%s' in dimension %d",
                                td_print_expr_str(r->arena, t->box.extent[d]), t->sym->name, d));
  return true;
}

bool td_inject_find(TdInject *j, TdRewrite *r, const TdContract *lib, const TdUnit *u,
                    const TdStmt *nest) {
  *j = (TdInject){.r = r, .lib = lib, .unit = u, .nest = nest};
  const char *name = td_lift_unit_name(r, r->prog, "nest");
  if (!td_lift(r, u, &nest, 1, name, &j->lifted)) return false;
  if (td_unit_has_state(r->session->ctx, j->lifted.unit))
    return refuse(j, TD_ILLEGAL, "state", "the nest has a state, which lasts from call to call");
  j->tile = TD_NEWN(r->arena, TdTile, j->lifted.unit->nparam);
  j->given = TD_NEWN(r->arena, TdGiven, lib->n);
  j->scalar = TD_NEWN(r->arena, size_t, lib->n);
  for (size_t i = 0; i < j->lifted.unit->nparam; i++)
    if (!td_type_is_scalar(j->lifted.unit->param[i].type) && !find_tile(j, i)) return false;
  return true;
}

/* The nest as a kernel of its tiles alone, and what is compared with it. */
typedef struct Match {
  TdInject *j;
  const TdProg *prog;
  const TdUnit *nest; /* its root */
  size_t *from;       /* of each parameter: that of the lifted nest */
  int tried;
  size_t best; /* operands that fit, at most */
  bool differs;
  TdEvalAnswer answer; /* of the first that fitted and was not the same */
  const TdProg *other;
} Match;

/* The indices of one lifted array, counted from its tile. */
typedef struct Rebase {
  TdRewrite *r;
  TdSym sym;
  const TdExpr *lo[TD_MAX_RANK];
} Rebase;

static const TdExpr *rebase(void *ud, const TdExpr *e) {
  const Rebase *b = ud;
  const TdExpr *kid[TD_MAX_RANK];
  if ((e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VIEW) || e->sym != b->sym) return e;
  for (uint32_t d = 0; d < e->nkid; d++)
    kid[d] = td_lin_minus(b->r->session, b->r->store->arena, e->kid[d], b->lo[d]);
  return td_expr_with_kids(b->r->store->arena, e, kid);
}

static const TdType *tile_type(const TdInject *j, const TdTile *t) {
  return td_type_tensor_of(j->r->session, t->type->elem, t->box.rank, t->extent);
}

/* p's units and then `root`. */
static const TdProg *with_root(const TdInject *j, const TdProg *p, const TdUnit *root) {
  const TdUnit **list = TD_NEWN(j->r->arena, const TdUnit *, p->nunit + 1);
  memcpy(list, p->unit, p->nunit * sizeof *list);
  list[p->nunit] = root;
  return td_prog_prune(td_prog_new(j->r->store, list, p->nunit + 1));
}

/* The value that an index of one value has in the nest, whatever the sizes, as the variable of a
 * loop of one turn has: that, or NULL. */
static const TdExpr *only_value(const TdInject *j, const TdExpr *e) {
  TdRewrite *r = j->r;
  TdAsk q = td_util_ask(r, j->unit);
  int64_t lo, hi;
  const TdExpr *fact;
  if (e->type->kind != TD_T_INDEX || !td_range_of(&q, j->nest, e, &lo, &hi)) return NULL;
  const TdExpr *v = td_util_const(r, lo);
  return td_util_same_value(r, j->unit, j->nest, e, v, &fact) && !fact ? v : NULL;
}

/* The scalars of the nest under the lifted names in `sub`; those of one value are that value, in
 * `body` too. */
static const TdStmt *name_scalars(const TdInject *j, TdSubst *sub, const TdStmt *body) {
  TdRewrite *r = j->r;
  const TdUnit *u = j->lifted.unit;
  TdSubst one = td_subst_new(r->store);
  for (size_t i = 0; i < u->nparam; i++) {
    const TdParam *p = &u->param[i];
    if (!td_type_is_scalar(p->type)) continue;
    const TdExpr *v = only_value(j, j->lifted.arg[i]);
    if (v) td_subst_expr(&one, p->sym, v);
    td_subst_expr(sub, j->lifted.was[i],
                  v ? v : td_expr_var(r->store->arena, p->sym, p->type, u->loc));
  }
  return td_subst_in_stmt(&one, body);
}

const TdProg *td_inject_nest(const TdInject *j, size_t **from) {
  TdRewrite *r = j->r;
  const TdUnit *u = j->lifted.unit;
  TdParam *param = TD_NEWN(r->store->arena, TdParam, u->nparam);
  TdSubst sub = td_subst_new(r->store);
  const TdStmt *body = name_scalars(j, &sub, u->body);
  TdUnit *nest = td_unit_copy(r->store, u);
  *from = TD_NEWN(r->arena, size_t, u->nparam);
  nest->nparam = 0;
  for (size_t i = 0; i < j->ntile; i++) {
    const TdTile *t = &j->tile[i];
    Rebase b = {.r = r, .sym = u->param[t->param].sym};
    for (int d = 0; d < t->box.rank; d++) b.lo[d] = td_subst_in_expr(&sub, t->box.lo[d]);
    body = td_walk_map(r->store, body, rebase, &b);
    (*from)[nest->nparam] = t->param;
    param[nest->nparam] = u->param[t->param];
    param[nest->nparam++].type = tile_type(j, t);
  }
  for (size_t i = 0; i < u->nparam; i++) {
    if (!td_type_is_scalar(u->param[i].type) ||
        !td_walk_uses(r->session->ctx, body, u->param[i].sym))
      continue;
    (*from)[nest->nparam] = i;
    param[nest->nparam++] = u->param[i];
  }
  nest->param = param;
  nest->nassert = 0;
  nest->body = body;
  return with_root(j, r->prog, nest);
}

/* The call as a program that takes what the nest takes. */
static const TdProg *make_call(const Match *m) {
  const TdInject *j = m->j;
  TdRewrite *r = j->r;
  TdSym *sym = TD_NEWN(r->arena, TdSym, j->ntile);
  const TdExpr *const **lo = TD_NEWN(r->arena, const TdExpr *const *, j->ntile);
  const TdExpr **scalar = TD_NEWN(r->arena, const TdExpr *, j->lib->n);
  const TdExpr **zero = TD_NEWN(r->arena, const TdExpr *, TD_MAX_RANK);
  for (int d = 0; d < TD_MAX_RANK; d++) zero[d] = td_util_const(r, 0);
  for (size_t i = 0; i < j->ntile; i++) {
    sym[i] = m->nest->param[i].sym;
    lo[i] = zero;
  }
  for (size_t i = 0; i < j->lib->n; i++) {
    const TdParam *p = &j->lifted.unit->param[j->scalar[i]];
    if (j->lib->at[i].type->kind != TD_T_TENSOR)
      scalar[i] = td_expr_var(r->store->arena, p->sym, p->type, p->loc);
  }
  TdUnit *u = td_unit_copy(r->store, m->nest);
  TdInjectPlace at = {u, sym, lo, scalar};
  r->naming = (TdNaming){0};
  u->nsize = 0;
  u->sym = td_store_sym(r->store, "call", TD_SYM_UNIT);
  u->body = td_inject_call(j, &at);
  return with_root(j, j->lib->prog, u);
}

/* Whether what is given now makes the kernel compute what the nest does. */
static bool is_same(Match *m) {
  const TdProg *p = make_call(m);
  TdLevel level = m->j->reassociate ? TD_LEVEL_ASSOCIATIVE : TD_LEVEL_STRICT;
  TdEvalAnswer a = td_eval_prove(m->j->r->arena, m->prog, p, level, &most);
  m->tried++;
  if (a.verdict == TD_EVAL_EQUAL) return true;
  if (!m->differs || (m->answer.verdict != TD_EVAL_DIFFERS && a.verdict == TD_EVAL_DIFFERS)) {
    m->answer = a;
    m->other = p;
  }
  m->differs = true;
  return false;
}

static bool give(Match *m, size_t operand, uint64_t used);

/* Gives names i and up of an operand dimensions of its tile; those of one element go last. */
static bool give_names(Match *m, size_t operand, uint64_t used, int i, unsigned taken) {
  const TdOperand *o = &m->j->lib->at[operand];
  TdGiven *g = &m->j->given[operand];
  const TdTile *t = &m->j->tile[g->tile];
  if (i == o->order.nname) {
    for (int d = 0; d < t->box.rank; d++)
      if (!(taken >> d & 1) && t->extent[d] != 1) return false;
    return give(m, operand + 1, used);
  }
  for (int d = 0; d < t->box.rank; d++) {
    if (taken >> d & 1 || t->extent[d] != o->order.extent[i]) continue;
    g->dim[i] = d;
    if (give_names(m, operand, used, i + 1, taken | 1U << d)) return true;
  }
  g->dim[i] = -1;
  return o->order.extent[i] == 1 && give_names(m, operand, used, i + 1, taken);
}

/* Gives operand number `operand` and those after it what is not used yet. */
static bool give(Match *m, size_t operand, uint64_t used) {
  const TdInject *j = m->j;
  if (operand > m->best) m->best = operand;
  if (operand == j->lib->n)
    return used + 1 == (uint64_t)1 << m->nest->nparam && m->tried < MOST_TRIED && is_same(m);
  const TdOperand *o = &j->lib->at[operand];
  for (size_t i = 0; i < m->nest->nparam; i++) {
    uint64_t bit = (uint64_t)1 << i;
    bool tensor = i < j->ntile;
    if (used & bit || tensor != (o->type->kind == TD_T_TENSOR)) continue;
    j->given[operand].tile = i;
    j->scalar[operand] = m->from[i];
    if (!tensor && m->nest->param[i].type == o->type && give(m, operand + 1, used | bit))
      return true;
    if (tensor && j->tile[i].type->elem == o->type->elem && j->tile[i].write == o->write &&
        give_names(m, operand, used | bit, 0, 0))
      return true;
  }
  return false;
}

/* "A: i8 8 x 12, read" */
static const char *tile_text(const TdInject *j, const TdTile *t) {
  TdText x = td_text_new(j->r->arena);
  td_text_putf(&x, "%s: %s", t->sym->name, td_type_str(j->r->arena, tile_type(j, t)));
  td_text_puts(&x, t->write ? t->read ? ", read and written" : ", written" : ", read");
  return td_text_str(&x);
}

/* What keeps operand o from being any tile: "type", "shape" or "operands". */
static const char *misfit(const TdInject *j, const TdOperand *o) {
  bool shape = false, type = false;
  for (size_t i = 0; i < j->ntile; i++) {
    const TdTile *t = &j->tile[i];
    int64_t have = 1, want = 1;
    for (int d = 0; d < t->box.rank; d++) have *= t->extent[d];
    for (int d = 0; d < o->order.nname; d++) want *= o->order.extent[d];
    shape |= have == want && t->type->elem != o->type->elem;
    type |= have == want && t->type->elem == o->type->elem;
  }
  return type ? "operands" : shape ? "type" : "shape";
}

/* Says that no assignment fits. */
static bool refuse_shape(const Match *m) {
  const TdInject *j = m->j;
  TdRewrite *r = j->r;
  size_t at = m->best < j->lib->n ? m->best : j->lib->n - 1;
  const TdOperand *o = &j->lib->at[at];
  bool all = m->best == j->lib->n;
  const char *code = all || o->type->kind != TD_T_TENSOR ? "operands" : misfit(j, o);
  td_util_refuse(r, TD_ILLEGAL, code, j->nest->loc,
                 all ? "'%s' takes less than the nest of '%s' uses"
                     : "'%s' takes what the nest of '%s' has not",
                 j->lib->unit->sym->name, j->nest->sym->name);
  for (size_t i = 0; i < j->lib->n; i++)
    td_diag_note(r->diag, j->lib->at[i].param->loc, "'%s' takes %s", j->lib->unit->sym->name,
                 td_contract_text(r->arena, &j->lib->at[i]));
  for (size_t i = 0; i < j->ntile; i++)
    td_diag_note(r->diag, (TdLoc){0}, "the nest has %s", tile_text(j, &j->tile[i]));
  for (size_t i = j->ntile; i < m->nest->nparam; i++)
    td_diag_note(r->diag, (TdLoc){0}, "the nest has %s: %s", m->nest->param[i].sym->name,
                 td_type_str(r->arena, m->nest->param[i].type));
  return false;
}

/* Says where the kernel and the nest differ. */
static bool refuse_meaning(const Match *m) {
  const TdInject *j = m->j;
  TdRewrite *r = j->r;
  const TdEvalAnswer *a = &m->answer;
  const char *name = j->lib->unit->sym->name;
  if (a->verdict == TD_EVAL_NOT_DECIDED) {
    td_util_refuse(r, TD_ILLEGAL, "not-decided", j->nest->loc,
                   "nothing proves that '%s' computes the nest: %s", name, a->diag.message);
    return false;
  }
  TdText t = td_text_new(r->arena);
  TdDiag quiet = {.arena = r->arena};
  td_util_refuse(r, TD_ILLEGAL, "differs", j->nest->loc,
                 "'%s' does not compute what the nest of '%s' does: %s differs", name,
                 j->nest->sym->name, a->element);
  const TdEvalElement e = {m->prog, m->other, a->param, a->index, .options = &most};
  if (td_eval_explain(r->arena, &t, &e, &quiet))
    td_diag_note(r->diag, (TdLoc){0}, "the nest, then '%s':\n%s", name, td_text_str(&t));
  return false;
}

/* Assumes the sizes that the nest, its tiles and how they lie in their arrays depend on. */
static void assume_sizes(TdInject *j, const TdUnit *nest) {
  TdUnit part = *nest;
  const TdExpr **list = TD_NEWN(j->r->arena, const TdExpr *, 2 * TD_MAX_RANK * j->ntile);
  for (size_t i = 0; i < j->ntile; i++)
    for (int d = 0; d < j->tile[i].box.rank; d++) list[part.nassert++] = j->tile[i].box.extent[d];
  for (size_t i = 0; i < j->lib->n; i++) {
    const TdTile *t = &j->tile[j->given[i].tile];
    if (j->lib->at[i].lanes > 1) list[part.nassert++] = t->type->dim[t->box.rank - 1];
  }
  part.assert_ = list;
  j->unit = td_util_assume_sizes(j->r, j->unit, &part);
}

bool td_inject_match(TdInject *j) {
  Match m = {.j = j};
  m.prog = td_inject_nest(j, &m.from);
  m.nest = td_prog_root(m.prog);
  bool found = m.nest->nparam < 64 && give(&m, 0, 0);
  j->r->naming = (TdNaming){0};
  if (found) assume_sizes(j, m.nest);
  return found || (m.differs ? refuse_meaning(&m) : refuse_shape(&m));
}
