/* nest.c - recognises a sum of products: a sum that is kept in a local, or in the result
 * itself. Roles follow from the form of the statements, never from names. */
#include "backends/maestro/nest.h"

#include <string.h>

#include "ir/edit.h"

typedef struct Reader {
  const TdAsk *q;
  TdMaestroNest *out;
  TdDiag *d;
  TdSpace *space;
  const TdLeaves *leaves;
  const TdLeaf *sum; /* the statement that adds a product */
} Reader;

/* What every refusal of a kernel says would fit. */
static bool refuse(Reader *r, TdLoc loc, const char *code, const char *message) {
  td_diag_set(r->d, TD_UNSUPPORTED, code, loc, "%s", message);
  td_diag_help(r->d,
               "a kernel for an array is loops around acc = acc + a * b, with acc stored once");
  return false;
}

int td_maestro_nest_find(const TdMaestroNest *n, const char *name) {
  for (int i = 0; i < n->nloop; i++)
    if (strcmp(n->loop[i].name, name) == 0) return i;
  return -1;
}

bool td_maestro_nest_uses(const TdMaestroOperand *x, int loop) {
  for (int k = 0; k < x->rank; k++)
    if (x->coef[k][loop]) return true;
  return false;
}

/* e without casts. */
static const TdExpr *bare(const TdExpr *e) {
  while (e->kind == TD_EXPR_CAST) e = e->kid[0];
  return e;
}

static bool is_op(const TdExpr *e, int op) {
  return e->kind == TD_EXPR_OP && e->op == op;
}

/* Whether e is a product of two loads. */
static bool is_product(const TdExpr *e) {
  return is_op(e, TD_OP_MUL) && bare(e->kid[0])->kind == TD_EXPR_LOAD &&
         bare(e->kid[1])->kind == TD_EXPR_LOAD;
}

/* Whether a statement adds to a place that saturates: in the kernel's order that is a sum too. */
static bool saturates_into(const TdStmt *s) {
  const TdExpr *place = s->expr[0], *e = s->expr[1];
  const TdType *t = td_type_scalar(place->type);
  if (!t->saturate) return false;
  if (e->kind == TD_EXPR_CAST && e->type == t) e = e->kid[0];
  for (uint32_t i = 0; is_op(e, TD_OP_ADD) && i < e->nkid; i++) {
    const TdExpr *k = e->kid[i];
    while (k->kind == TD_EXPR_CAST && td_promote_holds(k->type, k->kid[0]->type)) k = k->kid[0];
    if (k->kind == place->kind && td_equal_expr(k, place)) return true;
  }
  return false;
}

/* The sum in what a statement stores, with a product on one side; NULL: there is none. */
static const TdExpr *sum_of(const TdLeaf *l) {
  if (l->stmt->kind != TD_STMT_STORE) return NULL;
  if (l->reduce != TD_OP_ADD && !saturates_into(l->stmt)) return NULL;
  const TdExpr *e = bare(l->stmt->expr[1]);
  if (!is_op(e, TD_OP_ADD)) return NULL;
  return is_product(bare(e->kid[0])) || is_product(bare(e->kid[1])) ? e : NULL;
}

/* The one statement that adds a product. */
static bool find_sum(Reader *r) {
  for (size_t i = 0; i < r->leaves->at.n; i++) {
    const TdLeaf *l = &r->leaves->at.at[i];
    if (!sum_of(l)) continue;
    if (r->sum) return refuse(r, l->stmt->loc, "maestro-kernel", "a second sum of products");
    r->sum = l;
  }
  if (r->sum) return true;
  return refuse(r, r->q->unit->loc, "maestro-kernel",
                "no statement adds a product of two elements");
}

/* The value of a bound. */
static bool bound(Reader *r, const TdStmt *loop, const TdExpr *e, int64_t *v) {
  if (td_unit_value(r->q->unit, e, v)) return true;
  return td_diag_set(r->d, TD_UNSUPPORTED, "maestro-bound", loop->loc,
                     "loop '%s': its bounds are not the same for all iterations, or have no value",
                     loop->sym->name);
}

/* The loops around the sum, and nothing else around it. */
static bool read_loops(Reader *r) {
  TdPath p = td_edit_path(r->q->arena, r->q->unit->body, r->sum->stmt->uid);
  for (size_t i = 0; i + 1 < p.n; i++) {
    const TdStmt *s = p.at[i];
    if (s->kind == TD_STMT_BLOCK) continue;
    if (s->kind != TD_STMT_FOR)
      return refuse(r, s->loc, "maestro-kernel", "the sum stands under what is no loop of bounds");
    TdMaestroNest *n = r->out;
    if (n->nloop == TD_MAESTRO_NEST_LOOPS)
      return refuse(r, s->loc, "maestro-kernel", "more loops than a nest can have");
    int64_t lo, hi;
    if (!bound(r, s, td_for_lo(s), &lo) || !bound(r, s, td_for_hi(s), &hi)) return false;
    if (hi <= lo)
      return td_diag_set(r->d, TD_UNSUPPORTED, "maestro-empty", s->loc,
                         "loop '%s' runs no iteration: there are no addresses, and no job",
                         s->sym->name);
    n->loop[n->nloop++] = (TdMaestroLoop){.name = s->sym->name,
                                          .sym = s->sym,
                                          .loc = s->loc,
                                          .lo = lo,
                                          .step = s->step,
                                          .extent = (hi - lo + s->step - 1) / s->step};
  }
  return true;
}

/* Adds a column of an index to operand x: a loop, or a size at its value. */
static bool add_column(Reader *r, const TdLeaf *l, TdMaestroOperand *x, int k, TdMono m) {
  if (m.col < 0) {
    const TdParamCol *p = &r->space->at.at[-1 - m.col];
    const TdSize *size = p->is_size ? td_unit_size(r->q->unit, p->name) : NULL;
    if (!size || !size->known)
      return td_diag_set(r->d, TD_UNSUPPORTED, "maestro-access", x->loc,
                         "'%s': its index depends on '%s', which has no value", x->sym->name,
                         p->name);
    x->start[k] += m.coef * size->value;
    return true;
  }
  const TdStmt *s = l->nest->loop[m.col]->stmt;
  int i = 0;
  while (i < r->out->nloop && r->out->loop[i].sym != s->sym) i++;
  int64_t lo;
  if (i == r->out->nloop || !bound(r, s, td_for_lo(s), &lo))
    return refuse(r, s->loc, "maestro-kernel", "a loop that the sum does not stand in");
  x->coef[k][i] += m.coef * s->step;
  x->start[k] += m.coef * lo;
  return true;
}

/* The access of a leaf that is the load e. */
static const TdAccess *access_of(const TdLeaf *l, const TdExpr *e) {
  for (size_t i = 0; i < l->naccess; i++)
    if (l->access[i].expr == e) return &l->access[i];
  return NULL;
}

/* Fills operand x with the load e of leaf l. */
static bool read_operand(Reader *r, const TdLeaf *l, const TdExpr *e, TdMaestroOperand *x) {
  const TdUnit *u = r->q->unit;
  const TdParam *p = td_unit_param(u, e->sym);
  *x = (TdMaestroOperand){.used = true, .sym = e->sym, .loc = e->loc, .rank = (int)e->nkid};
  if (!p || p->type->kind != TD_T_TENSOR)
    return refuse(r, e->loc, "maestro-kernel", "an operand that is no tensor of the caller's");
  x->param = (size_t)(p - u->param);
  x->elem = td_type_scalar(p->type);
  const TdType *t = td_unit_type(r->q->prog->store->session, u, p->type);
  const TdAccess *a = access_of(l, e);
  for (int k = 0; k < x->rank; k++) {
    if (!t || !td_type_extent(t, k, &x->extent[k]))
      return refuse(r, e->loc, "maestro-kernel", "an operand whose extents have no value");
    if (!a || a->may || a->index[k].bad || a->elem.nextra)
      return td_diag_set(r->d, TD_UNSUPPORTED, "maestro-access", e->kid[k]->loc,
                         "'%s': index %d is not affine in the loops: no streamer makes its "
                         "addresses",
                         x->sym->name, k);
    TdAff f = a->index[k];
    x->start[k] = f.c;
    for (uint32_t i = 0; i < f.n; i++)
      if (f.m[i].col >= TD_COL_EXTRA || !add_column(r, l, x, k, f.m[i]))
        return td_diag_failed(r->d) ? false
                                    : refuse(r, e->loc, "maestro-access", "no affine index");
  }
  return true;
}

/* The two factors, and the types of the product and the sum. */
static bool read_factors(Reader *r) {
  TdMaestroNest *n = r->out;
  const TdExpr *sum = sum_of(r->sum);
  const TdExpr *left = bare(sum->kid[0]), *right = bare(sum->kid[1]);
  const TdExpr *product = is_product(right) ? right : left;
  n->sum = sum->type;
  n->product = product->type;
  n->acc = td_type_scalar(r->sum->stmt->expr[0]->type);
  return read_operand(r, r->sum, bare(product->kid[0]), &n->factor[0]) &&
         read_operand(r, r->sum, bare(product->kid[1]), &n->factor[1]);
}

/* What sums begin with: elements of a tensor, or one value. */
static bool read_init(Reader *r, const TdLeaf *l, const TdExpr *e) {
  TdMaestroNest *n = r->out;
  const TdExpr *x = bare(e);
  if (x->kind == TD_EXPR_LOAD) return read_operand(r, l, x, &n->init);
  TdFault fault = TD_FAULT_NONE;
  if (x->kind != TD_EXPR_LIT)
    return refuse(r, e->loc, "maestro-kernel",
                  "a sum that begins with neither an element nor a number");
  n->init_value = td_num_cast(n->acc, x->type, x->u.bits, &fault);
  return true;
}

/* Whether e is the load of a scalar local. */
static bool loads(const TdExpr *e, TdSym sym) {
  return e->kind == TD_EXPR_LOAD && e->sym == sym;
}

typedef struct Find {
  TdSym sym;
  const TdExpr *found;
  int times;
} Find;

static bool find_load(void *ud, const TdExpr *e) {
  Find *f = ud;
  if (loads(e, f->sym)) f->found = e, f->times++;
  return true;
}

/* A sum in a local: it begins where that is declared, and is stored once behind the loops. */
static bool read_local(Reader *r, TdSym acc) {
  TdMaestroNest *n = r->out;
  const TdLeaf *first = NULL, *last = NULL;
  for (size_t i = 0; i < r->leaves->at.n; i++) {
    const TdLeaf *l = &r->leaves->at.at[i];
    if (l == r->sum) continue;
    bool declares = l->stmt->kind == TD_STMT_LOCAL && l->stmt->sym == acc && !first && !last;
    if (!declares && (l->stmt->kind != TD_STMT_STORE || last))
      return refuse(r, l->stmt->loc, "maestro-kernel", "a statement beside the sum and its store");
    *(declares ? &first : &last) = l;
  }
  Find f = {.sym = acc};
  if (last) td_walk_expr(last->stmt->expr[1], find_load, &f);
  if (!first || !last || first->nest->nloop != last->nest->nloop || f.times != 1 ||
      first->stmt->init == TD_INIT_NONE)
    return refuse(r, r->sum->stmt->loc, "maestro-kernel",
                  "the sum is not declared before its loops and stored once behind them");
  for (size_t i = 0; i < first->nest->nloop; i++)
    if (first->nest->loop[i]->stmt != last->nest->loop[i]->stmt)
      return refuse(r, last->stmt->loc, "maestro-kernel", "the sum is stored in another loop");
  for (int i = (int)first->nest->nloop; i < n->nloop; i++) n->loop[i].reduces = true;
  n->post = last->stmt->expr[1];
  n->post_acc = f.found;
  return read_init(r, first, first->stmt->expr[0]) &&
         read_operand(r, last, last->stmt->expr[0], &n->result);
}

/* A sum in the result itself; a store before it may say what it begins with. */
static bool read_in_place(Reader *r) {
  TdMaestroNest *n = r->out;
  const TdExpr *place = r->sum->stmt->expr[0];
  if (!read_operand(r, r->sum, place, &n->result)) return false;
  for (int i = 0; i < n->nloop; i++) n->loop[i].reduces = !td_maestro_nest_uses(&n->result, i);
  n->init = n->result;
  n->post = n->post_acc = place;
  for (size_t i = 0; i < r->leaves->at.n; i++)
    if (&r->leaves->at.at[i] != r->sum)
      return refuse(r, r->leaves->at.at[i].stmt->loc, "maestro-kernel",
                    "a statement beside a sum that is kept in the result");
  return true;
}

/* Results are written once each: every loop that does not reduce moves the result. */
static bool check_result(Reader *r) {
  const TdMaestroNest *n = r->out;
  for (int i = 0; i < n->nloop; i++) {
    bool used = td_maestro_nest_uses(&n->result, i);
    if (n->loop[i].extent > 1 && used == n->loop[i].reduces)
      return td_diag_set(r->d, TD_UNSUPPORTED, "maestro-kernel", n->loop[i].loc,
                         used ? "loop '%s' adds to one result, and moves it"
                              : "loop '%s' stores the same result again",
                         n->loop[i].name);
  }
  return true;
}

bool td_maestro_nest_read(const TdAsk *q, TdMaestroNest *out, TdDiag *d) {
  Reader r = {.q = q, .out = out, .d = d};
  *out = (TdMaestroNest){.unit = q->unit, .gather = -1};
  if (q->unit->kind != TD_UNIT_KERNEL)
    return td_diag_set(d, TD_USAGE, "maestro-kernel", q->unit->loc, "'%s' is no kernel",
                       q->unit->sym->name);
  r.space = td_access_space(td_arena_inner(q->arena));
  const TdStmt *body = q->unit->body;
  r.leaves = td_access_list_flat(q, r.space, &body, 1);
  if (!find_sum(&r) || !read_loops(&r) || !read_factors(&r)) return false;
  const TdExpr *place = r.sum->stmt->expr[0];
  bool local = !td_unit_param(q->unit, place->sym);
  return (local ? read_local(&r, place->sym) : read_in_place(&r)) && check_result(&r);
}

/* ---- nests that move words ---- */

/* The two elements of a sum of two; false: e is none. */
static bool is_pair(const TdExpr *e, const TdExpr **a, const TdExpr **b) {
  if (!is_op(e, TD_OP_ADD)) return false;
  *a = bare(e->kid[0]);
  *b = bare(e->kid[1]);
  return (*a)->kind == TD_EXPR_LOAD && (*b)->kind == TD_EXPR_LOAD;
}

/* Goes down to what one or two elements make. */
static bool find_value(void *ud, const TdExpr *e) {
  Find *f = ud;
  const TdExpr *a, *b;
  if (is_pair(e, &a, &b) || e->kind == TD_EXPR_LOAD) {
    if (!f->found) f->found = e;
    f->times += e->kind == TD_EXPR_LOAD;
  }
  return true;
}

/* result = post(element), or of a sum of two. */
static bool read_store(Reader *r) {
  TdMaestroNest *n = r->out;
  const TdStmt *s = r->sum->stmt;
  const TdExpr *a, *b;
  Find f = {0};
  td_walk_expr(s->expr[1], find_value, &f);
  if (!f.found || f.times != (f.found->kind == TD_EXPR_LOAD ? 1 : 2))
    return refuse(r, s->loc, "maestro-kernel", "it stores neither an element nor a sum of two");
  n->post = s->expr[1];
  n->post_acc = f.found;
  n->acc = f.found->type;
  if (!is_pair(f.found, &a, &b)) return read_operand(r, r->sum, f.found, &n->factor[0]);
  n->gather = TD_OP_ADD;
  return read_operand(r, r->sum, a, &n->factor[0]) && read_operand(r, r->sum, b, &n->factor[1]);
}

/* The element that a statement of a sum or maximum takes. */
static const TdExpr *gathered(const TdLeaf *l, TdSym acc) {
  const TdExpr *e = bare(l->stmt->expr[1]);
  if (e->kind != TD_EXPR_OP || e->nkid != 2) return NULL;
  const TdExpr *a = bare(e->kid[0]), *b = bare(e->kid[1]);
  const TdExpr *x = loads(a, acc) ? b : loads(b, acc) ? a : NULL;
  return x && x->kind == TD_EXPR_LOAD ? x : NULL;
}

/* Whether sums or maxima that begin with v are those of what comes. */
static bool is_neutral(int op, const TdType *t, uint64_t v) {
  int64_t least = td_type_is_signed(t) ? -(INT64_C(1) << (t->w - 1)) : 0;
  return op == TD_OP_ADD ? v == 0 : (int64_t)v <= least;
}

/* A sum or maximum in a local. */
static bool read_gather(Reader *r) {
  TdMaestroNest *n = r->out;
  TdSym acc = r->sum->stmt->expr[0]->sym;
  const TdExpr *x = gathered(r->sum, acc);
  if (!x || td_unit_param(r->q->unit, acc))
    return refuse(r, r->sum->stmt->loc, "maestro-kernel",
                  "it gathers something else than elements, or not in a local");
  n->gather = r->sum->reduce;
  n->acc = td_type_scalar(r->sum->stmt->expr[0]->type);
  if (!read_operand(r, r->sum, x, &n->factor[0]) || !read_local(r, acc)) return false;
  if (n->init.used || !is_neutral(n->gather, n->acc, n->init_value))
    return td_diag_set(r->d, TD_UNSUPPORTED, "maestro-init", r->sum->stmt->loc,
                       "it begins with a value that counts: 0 for a sum, the least one for a "
                       "maximum");
  return true;
}

bool td_maestro_nest_moves(const TdAsk *q) {
  const TdStmt *body = q->unit->body;
  if (q->unit->kind != TD_UNIT_KERNEL) return false;
  const TdLeaves *all = td_access_list_flat(q, td_access_space(td_arena_inner(q->arena)), &body, 1);
  for (size_t i = 0; i < all->at.n; i++)
    if (sum_of(&all->at.at[i])) return false;
  return all->at.n > 0;
}

bool td_maestro_nest_read_path(const TdAsk *q, TdMaestroNest *out, TdDiag *d) {
  Reader r = {.q = q, .out = out, .d = d};
  *out = (TdMaestroNest){.unit = q->unit, .gather = -1};
  r.space = td_access_space(td_arena_inner(q->arena));
  const TdStmt *body = q->unit->body;
  r.leaves = td_access_list_flat(q, r.space, &body, 1);
  for (size_t i = 0; i < r.leaves->at.n; i++) {
    const TdLeaf *l = &r.leaves->at.at[i];
    if (l->stmt->kind == TD_STMT_STORE && (l->reduce == TD_OP_ADD || l->reduce == TD_OP_MAX))
      r.sum = l;
  }
  bool gathers = r.sum != NULL;
  if (!gathers) r.sum = &r.leaves->at.at[0];
  if (!gathers && (r.leaves->at.n > 1 || r.sum->stmt->kind != TD_STMT_STORE))
    return refuse(&r, r.sum->stmt->loc, "maestro-kernel",
                  "no statement adds a product of two elements");
  if (!read_loops(&r) || !(gathers ? read_gather(&r) : read_store(&r))) return false;
  return (gathers || read_operand(&r, r.sum, r.sum->stmt->expr[0], &out->result)) &&
         check_result(&r);
}

/* The elements that operand x touches, as a tensor of their own. */
static void cut_operand(TdMaestroOperand *x, const TdMaestroNest *n, const TdMaestroPart *part) {
  for (int k = 0; x->used && k < x->rank; k++) {
    int64_t least = x->start[k], most;
    for (int l = 0; l < n->nloop; l++) {
      x->start[k] += x->coef[k][l] * part->lo[l];
      least += x->coef[k][l] * part->lo[l];
    }
    most = least;
    for (int l = 0; l < n->nloop; l++) {
      int64_t far = x->coef[k][l] * (part->n[l] - 1);
      *(far < 0 ? &least : &most) += far;
    }
    x->origin[k] = least;
    x->start[k] -= least;
    x->extent[k] = most - least + 1;
  }
}

void td_maestro_nest_cut(TdMaestroNest *n, const TdMaestroPart *part) {
  if (part->sums) n->init = n->result;
  TdMaestroOperand *all[] = {&n->factor[0], &n->factor[1], &n->init, &n->result};
  for (int i = 0; i < 4; i++) cut_operand(all[i], n, part);
  for (int l = 0; l < n->nloop; l++) {
    n->loop[l].extent = part->n[l];
    n->loop[l].lo += n->loop[l].step * part->lo[l];
  }
}
