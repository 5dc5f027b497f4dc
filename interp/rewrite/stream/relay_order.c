/* relay_order.c - the k-th element that is written must be the k-th that is read: no pair of writes
 * w1 < w2 with reads r1 >= r2 of the same elements, and the same elements on both sides. Each side
 * may touch the array in several places, which take their turns as the program does. */
#include "rewrite/stream/relay_order.h"

/* A place of one side: a statement, the loops around it, the element that it touches. */
typedef struct Site {
  const TdLeaf *leaf;
  const TdAccess *access;
} Site;

/* One side: all its places, in textual order. */
typedef struct Side {
  const Site *at;
  size_t n;
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

/* Whether the place is known exactly: its loops, its element. */
static bool is_plain(const Site *s) {
  bool plain = s->access->rank > 0 && !s->access->may && !s->leaf->region &&
               s->leaf->nest->ndom == 1 && s->leaf->nest->exact;
  for (int d = 0; plain && d < s->access->rank; d++) plain = !s->access->index[d].bad;
  return plain;
}

/* Finds the places of a side. */
static bool find_side(Order *o, const TdLeaves *l, int side) {
  TD_VEC(Site) site = {0};
  bool plain = true;
  for (size_t i = l->start[side]; i < l->start[side + 1]; i++)
    for (size_t k = 0; k < l->at.at[i].naccess; k++) {
      Site s = {&l->at.at[i], &l->at.at[i].access[k]};
      if (s.access->cell->sym != o->ask->array || s.access->cell->kind != TD_CELL_MEMORY) continue;
      plain = plain && is_plain(&s);
      td_vec_push(o->a, &site, s);
    }
  o->side[side] = (Side){site.at, site.n};
  if (plain && site.n) return true;
  return td_diag_set(o->d, TD_ILLEGAL, "order", side ? o->ask->reader->loc : o->ask->writer->loc,
                     "the order in which '%s' %s '%s' is not known", o->ask->by[side],
                     side ? "reads" : "writes", o->ask->array->name);
}

/* Adds an instance of a place to a system, as a block; its forms move by the result. */
static TdShift add_instance(const Order *o, TdSys *sys, const Site *s, int32_t as) {
  td_sys_join(o->a, sys, &s->leaf->nest->dom[0], as);
  return td_sys_join(o->a, sys, &s->access->elem, as);
}

/* What always holds, with columns for two elements. */
static TdSys start(const Order *o) {
  TdSys sys = {0};
  td_sys_join(o->a, &sys, &o->context->dom[0], 0);
  for (int i = 0; i < 2 * TD_MAX_RANK; i++) td_sys_fresh(o->a, &sys);
  if (o->at_values) td_nest_at_values(o->space, o->q.unit, &sys);
  return sys;
}

/* Adds an instance of a place that touches one of the two elements. */
static void add_touch(const Order *o, TdSys *sys, const Site *s, int32_t as, int which) {
  TdShift at = add_instance(o, sys, s, as);
  for (int d = 0; d < s->access->rank; d++) {
    TdAff e = td_sys_col(o->a, element_column(o, which, d));
    td_sys_zero(o->a, sys, td_sys_plus(o->a, td_sys_shift(o->a, s->access->index[d], at), -1, e));
  }
}

/* The instances of a place that touch the first of the two elements. */
static TdSys touching(const Order *o, const Site *s, int side) {
  TdSys sys = start(o);
  add_touch(o, &sys, s, block(side, 0), 0);
  return sys;
}

/* The place of a side that touches an element that none of the other side does, or NULL. */
static const Site *uncovered(const Order *o, int side) {
  const Side *of = &o->side[side], *by = &o->side[1 - side];
  int32_t keep[TD_MAX_RANK];
  TdSys *part = TD_NEWN(o->a, TdSys, by->n);
  for (size_t i = 0; i < by->n; i++) part[i] = touching(o, &by->at[i], 1 - side);
  for (size_t i = 0; i < of->n; i++) {
    TdSys all = touching(o, &of->at[i], side);
    int rank = of->at[i].access->rank;
    for (int d = 0; d < rank; d++) keep[d] = element_column(o, 0, d);
    if (td_affine_covers(o->q.affine, &all, part, by->n, keep, (size_t)rank) != TD_YES)
      return &of->at[i];
  }
  return NULL;
}

static bool check_elements(const Order *o) {
  const char *name = o->ask->array->name;
  const Site *s = uncovered(o, READER);
  if (s)
    return td_diag_set(o->d, TD_ILLEGAL, "order", s->leaf->stmt->loc,
                       "'%s' reads elements of '%s' that '%s' does not write", o->ask->by[READER],
                       name, o->ask->by[WRITER]);
  s = uncovered(o, WRITER);
  if (!s) return true;
  return td_diag_set(o->d, TD_ILLEGAL, "order", s->leaf->stmt->loc,
                     "'%s' writes elements of '%s' that '%s' does not read: they would stay in the "
                     "stream",
                     o->ask->by[WRITER], name, o->ask->by[READER]);
}

/* Two instances of places, as blocks of a system. */
typedef struct Pair {
  const Site *first, *second;
  int32_t as_first, as_second;
} Pair;

static size_t shared_loops(const Pair *p) {
  const TdNest *x = p->first->leaf->nest, *y = p->second->leaf->nest;
  size_t n = 0;
  while (n < x->nloop && n < y->nloop && x->loop[n] == y->loop[n]) n++;
  return n;
}

/* At how many depths the first instance may run before the second: at each loop that both share,
 * and last, if its place comes first in the text, in one iteration of them all. */
static size_t count_depths(const Pair *p) {
  return shared_loops(p) + (p->first->leaf->seq < p->second->leaf->seq);
}

/* Adds that the first instance runs before the second, the loops outside `depth` being equal. */
static void add_before(const Order *o, TdSys *sys, const Pair *p, size_t depth) {
  for (size_t i = 0; i < depth; i++)
    td_sys_zero(
        o->a, sys,
        td_sys_plus(o->a, loop_column(o, p->as_first, i), -1, loop_column(o, p->as_second, i)));
  if (depth < shared_loops(p))
    td_sys_lt(o->a, sys, loop_column(o, p->as_first, depth), loop_column(o, p->as_second, depth));
}

/* "i = 0, j = 1". */
static const char *loops_text(const Order *o, const Site *s, const int64_t *val) {
  TdText t = td_text_new(o->d->arena);
  const TdNest *n = s->leaf->nest;
  for (size_t i = 0; i < n->nloop; i++)
    td_text_putf(&t, "%s%s = %lld", i ? ", " : "", n->loop[i]->stmt->sym->name, (long long)val[i]);
  return td_text_str(&t);
}

static const char *element_text(const Order *o, const int64_t *val) {
  TdText t = td_text_new(o->d->arena);
  td_text_puts(&t, o->ask->array->name);
  for (int d = 0; d < o->side[WRITER].at[0].access->rank; d++)
    td_text_putf(&t, "[%lld]", (long long)val[d]);
  return td_text_str(&t);
}

/* "C[i][k] over i, k". */
static const char *order_text(const Order *o, const Site *s) {
  TdText t = td_text_new(o->d->arena);
  const TdNest *n = s->leaf->nest;
  td_text_putf(&t, "%s over ",
               s->access->expr ? td_print_expr_str(o->d->arena, s->access->expr)
                               : o->ask->array->name);
  for (size_t i = 0; i < n->nloop; i++)
    td_text_putf(&t, "%s%s", i ? ", " : "", n->loop[i]->stmt->sym->name);
  return td_text_str(&t);
}

/* Tells the pair of elements at a point of sys: w->first is written before w->second, r->first is
 * read before r->second. */
static bool refuse(const Order *o, const TdSys *sys, const Pair *w, const Pair *r) {
  const Site *site[] = {w->first, w->second, r->second, r->first, w->first, w->first};
  TD_VEC(int32_t) col = {0};
  size_t from[7];
  for (int b = 0; b < 6; b++) {
    size_t n = b < INSTANCES ? site[b]->leaf->nest->nloop : site[b]->access->rank;
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
    return td_diag_set(o->d, TD_ILLEGAL, "order", r->second->leaf->stmt->loc,
                       "the orders of '%s' are not proved to be the same", o->ask->array->name);
  const char *one = element_text(o, val + from[4]), *two = element_text(o, val + from[5]);
  td_diag_set(o->d, TD_ILLEGAL, "order", r->second->leaf->stmt->loc,
              "'%s' writes %s, '%s' reads %s: %s is written before %s, and not read before it",
              o->ask->by[WRITER], order_text(o, w->first), o->ask->by[READER],
              order_text(o, r->second), one, two);
  td_diag_witness(o->d, (TdWitness){.array = o->ask->array->name,
                                    .element = one,
                                    .first = w->first->leaf->stmt->loc,
                                    .first_at = loops_text(o, w->first, val + from[0]),
                                    .second = r->second->leaf->stmt->loc,
                                    .second_at = loops_text(o, r->second, val + from[2])});
  return false;
}

/* Whether no two writes, the first before the second at depth `write`, are read the other way round
 * at depth `read`. */
static bool check_pair(const Order *o, const Pair *w, size_t write, const Pair *r, size_t read) {
  TdSys sys = start(o);
  add_touch(o, &sys, w->first, w->as_first, 0);
  add_touch(o, &sys, w->second, w->as_second, 1);
  add_touch(o, &sys, r->second, r->as_second, 0);
  add_touch(o, &sys, r->first, r->as_first, 1);
  add_before(o, &sys, w, write);
  add_before(o, &sys, r, read);
  return td_affine_has_point(o->q.affine, &sys) == TD_NO || refuse(o, &sys, w, r);
}

/* Tells that a side touches an element at p->first and again, at depth n, at p->second. */
static bool refuse_again(const Order *o, int side, const Pair *p, size_t n) {
  const char *by = o->ask->by[side], *name = o->ask->array->name;
  const char *text = order_text(o, p->second);
  if (n < shared_loops(p))
    td_diag_set(o->d, TD_ILLEGAL, "order", p->second->leaf->stmt->loc,
                side ? "'%s' reads elements of '%s' again at another '%s': %s"
                     : "'%s' writes elements of '%s' more than once, at each '%s': %s",
                by, name, p->second->leaf->nest->loop[n]->stmt->sym->name, text);
  else
    td_diag_set(o->d, TD_ILLEGAL, "order", p->second->leaf->stmt->loc,
                side ? "'%s' reads elements of '%s' again: %s, after %s"
                     : "'%s' writes elements of '%s' again: %s, after %s",
                by, name, text, order_text(o, p->first));
  td_diag_help(o->d, "buffer_at or reuse_at keeps what is used again in a local buffer");
  return false;
}

static Pair pair_of(const Side *s, size_t i, int side, int first) {
  return (Pair){&s->at[i / s->n], &s->at[i % s->n], block(side, first), block(side, 1 - first)};
}

/* Whether no element is touched twice by a side. */
static bool check_once(const Order *o, int side) {
  const Side *s = &o->side[side];
  for (size_t i = 0; i < s->n * s->n; i++) {
    Pair p = pair_of(s, i, side, 0);
    for (size_t n = 0; n < count_depths(&p); n++) {
      TdSys sys = start(o);
      add_touch(o, &sys, p.first, p.as_first, 0);
      add_touch(o, &sys, p.second, p.as_second, 0);
      add_before(o, &sys, &p, n);
      if (td_affine_has_point(o->q.affine, &sys) != TD_NO) return refuse_again(o, side, &p, n);
    }
  }
  return true;
}

/* Whether two places are written in the order in which they are read. */
static bool check_pairs(const Order *o, const Pair *w, const Pair *r) {
  for (size_t write = 0; write < count_depths(w); write++)
    for (size_t read = 0; read < count_depths(r); read++)
      if (!check_pair(o, w, write, r, read)) return false;
  return true;
}

static bool check_order(const Order *o) {
  const Side *writer = &o->side[WRITER], *reader = &o->side[READER];
  for (size_t i = 0; i < writer->n * writer->n; i++)
    for (size_t k = 0; k < reader->n * reader->n; k++) {
      Pair w = pair_of(writer, i, WRITER, 0), r = pair_of(reader, k, READER, 1);
      if (!check_pairs(o, &w, &r)) return false;
    }
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
