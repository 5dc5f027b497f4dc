/* relay_order.c - the k-th element that is written must be the k-th that is read: no pair of writes
 * w1 < w2 with reads r1 >= r2 of the same elements, and the same elements on both sides. */
#include "rewrite/relay_order.h"

/* One side: a statement, the loops around it, the element that it touches. */
typedef struct Side {
  const TdLeaf *leaf;
  const TdAccess *access;
} Side;

typedef struct Order {
  const TdRelayOrder *ask;
  TdAsk q;
  TdArena *a; /* scratch */
  TdSpace *space;
  const TdNest *context;
  bool at_values;
  TdDiag *d;
  Side side[2]; /* the writer, the reader */
} Order;

enum { WRITER, READER, INSTANCES = 4 };

/* Instances are in blocks 0 to 3: two of the writer, two of the reader. */
static int32_t block(int side, int which) {
  return 2 * side + which;
}

static TdAff loop_column(const Order *o, int32_t b, size_t depth) {
  return td_sys_col(o->a, b * TD_COL_BLOCK + (int32_t)depth);
}

/* Index d of one of the two elements that a system speaks of: columns of its own. */
static int32_t element_column(const Order *o, int which, int d) {
  return TD_COL_EXTRA + o->context->dom[0].nextra + which * TD_MAX_RANK + d;
}

/* Finds the only access of a side. */
static bool find_side(Order *o, const TdLeaves *l, int side) {
  Side *s = &o->side[side];
  size_t n = 0;
  for (size_t i = l->start[side]; i < l->start[side + 1]; i++)
    for (size_t k = 0; k < l->at.at[i].naccess; k++) {
      const TdAccess *x = &l->at.at[i].access[k];
      if (x->cell->sym != o->ask->array || x->cell->kind != TD_CELL_MEMORY) continue;
      *s = (Side){&l->at.at[i], x};
      n++;
    }
  bool plain = n == 1 && s->access->rank > 0 && !s->access->may && !s->leaf->region &&
               s->leaf->nest->ndom == 1 && s->leaf->nest->exact;
  for (int d = 0; plain && d < s->access->rank; d++) plain = !s->access->index[d].bad;
  if (plain) return true;
  return td_diag_set(o->d, TD_ILLEGAL, "order", side ? o->ask->reader->loc : o->ask->writer->loc,
                     "the order in which '%s' %s '%s' is not known", o->ask->by[side],
                     side ? "reads" : "writes", o->ask->array->name);
}

/* Adds an instance of a side to a system; its forms move by the result. */
static TdShift add_instance(const Order *o, TdSys *sys, int side, int which) {
  const Side *s = &o->side[side];
  td_sys_join(o->a, sys, &s->leaf->nest->dom[0], block(side, which));
  return td_sys_join(o->a, sys, &s->access->elem, block(side, which));
}

/* What always holds, with columns for two elements. */
static TdSys start(const Order *o) {
  TdSys sys = {0};
  td_sys_join(o->a, &sys, &o->context->dom[0], 0);
  for (int i = 0; i < 2 * TD_MAX_RANK; i++) td_sys_fresh(o->a, &sys);
  if (o->at_values) td_nest_at_values(o->space, o->q.unit, &sys);
  return sys;
}

/* Adds that the instance touches one of the two elements. */
static void add_element(const Order *o, TdSys *sys, int side, TdShift at, int which) {
  const TdAccess *x = o->side[side].access;
  for (int d = 0; d < x->rank; d++) {
    TdAff e = td_sys_col(o->a, element_column(o, which, d));
    td_sys_zero(o->a, sys, td_sys_plus(o->a, td_sys_shift(o->a, x->index[d], at), -1, e));
  }
}

/* Whether all elements of one side are elements of the other. */
static TdTruth covers(const Order *o, int side) {
  TdSys sys[2];
  int32_t keep[TD_MAX_RANK];
  for (int i = 0; i < 2; i++) {
    sys[i] = start(o);
    add_element(o, &sys[i], i, add_instance(o, &sys[i], i, 0), 0);
  }
  for (int d = 0; d < o->side[side].access->rank; d++) keep[d] = element_column(o, 0, d);
  return td_affine_covers(o->q.affine, &sys[side], &sys[1 - side], 1, keep,
                          (size_t)o->side[side].access->rank);
}

static bool check_elements(const Order *o) {
  const char *name = o->ask->array->name;
  if (covers(o, READER) != TD_YES)
    return td_diag_set(o->d, TD_ILLEGAL, "order", o->side[READER].leaf->stmt->loc,
                       "'%s' reads elements of '%s' that '%s' does not write", o->ask->by[READER],
                       name, o->ask->by[WRITER]);
  if (covers(o, WRITER) == TD_YES) return true;
  return td_diag_set(o->d, TD_ILLEGAL, "order", o->side[WRITER].leaf->stmt->loc,
                     "'%s' writes elements of '%s' that '%s' does not read: they would stay in the "
                     "stream",
                     o->ask->by[WRITER], name, o->ask->by[READER]);
}

/* Adds that instance x of a side runs before instance y, the loops outside `depth` being equal; at
 * the depth of the side: that they are the same. */
static void add_before(const Order *o, TdSys *sys, int side, int x, int y, size_t depth) {
  size_t n = o->side[side].leaf->nest->nloop;
  for (size_t i = 0; i < depth; i++)
    td_sys_zero(o->a, sys,
                td_sys_plus(o->a, loop_column(o, block(side, x), i), -1,
                            loop_column(o, block(side, y), i)));
  if (depth < n)
    td_sys_lt(o->a, sys, loop_column(o, block(side, x), depth),
              loop_column(o, block(side, y), depth));
}

/* "i = 0, j = 1". */
static const char *loops_text(const Order *o, int side, const int64_t *val) {
  TdText t = td_text_new(o->d->arena);
  const TdNest *n = o->side[side].leaf->nest;
  for (size_t i = 0; i < n->nloop; i++)
    td_text_putf(&t, "%s%s = %lld", i ? ", " : "", n->loop[i]->stmt->sym->name, (long long)val[i]);
  return td_text_str(&t);
}

static const char *element_text(const Order *o, const int64_t *val) {
  TdText t = td_text_new(o->d->arena);
  td_text_puts(&t, o->ask->array->name);
  for (int d = 0; d < o->side[WRITER].access->rank; d++)
    td_text_putf(&t, "[%lld]", (long long)val[d]);
  return td_text_str(&t);
}

/* "C[i][k] over i, k". */
static const char *order_text(const Order *o, int side) {
  TdText t = td_text_new(o->d->arena);
  const Side *s = &o->side[side];
  const TdNest *n = s->leaf->nest;
  td_text_putf(&t, "%s over ",
               s->access->expr ? td_print_expr_str(o->d->arena, s->access->expr)
                               : o->ask->array->name);
  for (size_t i = 0; i < n->nloop; i++)
    td_text_putf(&t, "%s%s", i ? ", " : "", n->loop[i]->stmt->sym->name);
  return td_text_str(&t);
}

/* Tells the pair of elements at a point of sys. */
static bool refuse(const Order *o, const TdSys *sys) {
  TD_VEC(int32_t) col = {0};
  size_t from[7];
  for (int b = 0; b < 6; b++) {
    const Side *s = &o->side[b < INSTANCES ? b / 2 : WRITER];
    size_t n = b < INSTANCES ? s->leaf->nest->nloop : s->access->rank;
    from[b] = col.n;
    for (size_t i = 0; i < n; i++)
      td_vec_push(o->a, &col,
                  b < INSTANCES ? b * TD_COL_BLOCK + (int32_t)i
                                : element_column(o, b - INSTANCES, (int)i));
  }
  int64_t *val = TD_NEWN(o->a, int64_t, col.n);
  TdSys exact = td_sys_copy(o->a, sys);
  td_nest_at_values(o->space, o->q.unit, &exact);
  if (td_affine_point(o->q.affine, &exact, col.at, col.n, val) != TD_YES &&
      td_affine_point(o->q.affine, sys, col.at, col.n, val) != TD_YES)
    return td_diag_set(o->d, TD_ILLEGAL, "order", o->side[READER].leaf->stmt->loc,
                       "the orders of '%s' are not proved to be the same", o->ask->array->name);
  const char *one = element_text(o, val + from[4]), *two = element_text(o, val + from[5]);
  td_diag_set(o->d, TD_ILLEGAL, "order", o->side[READER].leaf->stmt->loc,
              "'%s' writes %s, '%s' reads %s: %s is written before %s, and not read before it",
              o->ask->by[WRITER], order_text(o, WRITER), o->ask->by[READER], order_text(o, READER),
              one, two);
  td_diag_witness(o->d, (TdWitness){.array = o->ask->array->name,
                                    .element = one,
                                    .first = o->side[WRITER].leaf->stmt->loc,
                                    .first_at = loops_text(o, WRITER, val + from[0]),
                                    .second = o->side[READER].leaf->stmt->loc,
                                    .second_at = loops_text(o, READER, val + from[2])});
  return false;
}

/* Whether two writes w1 < w2, their difference at loop `write`, can be read as r1 >= r2. */
static bool check_pair(const Order *o, size_t write, size_t read) {
  TdSys sys = start(o);
  TdShift at[2][2];
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < 2; i++) at[s][i] = add_instance(o, &sys, s, i);
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < 2; i++) add_element(o, &sys, s, at[s][i], i);
  add_before(o, &sys, WRITER, 0, 1, write);
  add_before(o, &sys, READER, 1, 0, read);
  return td_affine_has_point(o->q.affine, &sys) == TD_NO || refuse(o, &sys);
}

/* Whether an element is touched twice by a side. */
static bool check_once(const Order *o, int side) {
  for (size_t n = 0; n < o->side[side].leaf->nest->nloop; n++) {
    TdSys sys = start(o);
    for (int i = 0; i < 2; i++) add_element(o, &sys, side, add_instance(o, &sys, side, i), 0);
    add_before(o, &sys, side, 0, 1, n);
    if (td_affine_has_point(o->q.affine, &sys) == TD_NO) continue;
    const TdStmt *loop = o->side[side].leaf->nest->loop[n]->stmt;
    td_diag_set(o->d, TD_ILLEGAL, "order", o->side[side].leaf->stmt->loc,
                side ? "'%s' reads elements of '%s' again at another '%s': %s"
                     : "'%s' writes elements of '%s' more than once, at each '%s': %s",
                o->ask->by[side], o->ask->array->name, loop->sym->name, order_text(o, side));
    td_diag_help(o->d, "buffer_at keeps what is used again in a local buffer");
    return false;
  }
  return true;
}

static bool check_order(const Order *o) {
  size_t nw = o->side[WRITER].leaf->nest->nloop, nr = o->side[READER].leaf->nest->nloop;
  for (size_t w = 0; w < nw; w++)
    for (size_t r = 0; r < nr; r++)
      if (!check_pair(o, w, r)) return false;
  return true;
}

static bool decide(const TdRelayOrder *ask, bool at_values, TdDiag *d) {
  const TdStmt *root[] = {ask->writer, ask->reader};
  Order o = {.ask = ask, .at_values = at_values, .d = d};
  o.q = td_util_ask(ask->r, ask->unit);
  o.q.prog = ask->prog;
  o.a = td_arena_scratch(ask->r->session->ctx);
  o.space = td_access_space(o.a);
  TdNestMaker m = {ask->r->session, o.space, &(TdEnv){.unit = ask->unit}};
  o.context = td_nest_context(&m, ask->writer);
  TdLeaves *l = td_access_list(&o.q, o.space, root, 2);
  bool ok = find_side(&o, l, WRITER) && find_side(&o, l, READER) && check_once(&o, WRITER) &&
            check_once(&o, READER) && check_order(&o) && check_elements(&o);
  td_arena_free(o.a);
  return ok;
}

bool td_relay_order_holds(const TdRelayOrder *q, bool *at_values) {
  TdDiag quiet = {.arena = q->r->arena};
  *at_values = !decide(q, false, &quiet);
  return !*at_values || decide(q, true, q->r->diag);
}
