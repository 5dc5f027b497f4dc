/* lanes.c - innermost loops of which all statements go along an array, or add up: as vectors for
 * as many turns as there are whole ones, the rest one by one. Statements stay in their order; an
 * array that the body writes is used at the one element alone, so no turn sees another's. Sums of
 * integers wrap, the greatest and the least are the same in any order; a sum of floats keeps its
 * order, so it is no vector's. */
#include "backends/npu/lanes.h"

#include <stdarg.h>

#include "affine/access.h"

enum { MOST_STMTS = 32, REGISTER = 512, ACCUMULATORS = 1024, LEAST = 128 };

typedef struct Body {
  TdNpuLaneAsk ask;
  const TdStmt *stmt[MOST_STMTS];
  size_t n;
  const TdExpr *stored[MOST_STMTS];
  TdNpuLaneLocal local[MOST_STMTS];
  const char *part[MOST_STMTS]; /* of sums, their vectors */
} Body;

/* The statements of a loop's body in a row; false: there are others than stores and locals. */
static bool read_body(Body *b, const TdStmt *s) {
  if (s->kind == TD_STMT_BLOCK) {
    for (uint32_t i = 0; i < s->nkid; i++)
      if (!read_body(b, s->kid[i])) return false;
    return true;
  }
  bool scalar = s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_AUTO && s->nexpr == 1 &&
                s->type->kind != TD_T_TENSOR;
  if (s->kind != TD_STMT_STORE && !scalar)
    return td_npu_lane_fail(&b->ask, s->kind == TD_STMT_IF     ? "it goes two ways"
                                     : s->kind == TD_STMT_CALL ? "it calls a function"
                                                               : "it is more than stores");
  if (b->n == MOST_STMTS) return td_npu_lane_fail(&b->ask, "it has many statements");
  if (s->kind == TD_STMT_STORE) b->stored[b->ask.nstored++] = s->expr[0];
  b->stmt[b->n++] = s;
  return true;
}

static const TdExpr *bare(const TdExpr *e) {
  while (e->kind == TD_EXPR_CAST) e = e->kid[0];
  return e;
}

/* What a store adds up: TD_OP_ADD, MIN or MAX with *term; or -1. */
static int sum_of(const TdStmt *s, const TdExpr **term) {
  bool ring;
  const TdExpr *place = s->expr[0], *value = bare(s->expr[1]);
  int op = td_access_accumulates(s->expr[1], place, &ring);
  if (op != TD_OP_ADD && op != TD_OP_MIN && op != TD_OP_MAX) return -1;
  if (value->kind != TD_EXPR_OP || value->op != op) return -1;
  bool left = td_equal_expr(bare(value->kid[0]), place);
  if (!left && !td_equal_expr(bare(value->kid[1]), place)) return -1;
  *term = value->kid[left];
  return op;
}

/* Whether a place is written by one store, and read by that alone. */
static bool is_alone(const Body *b, const TdStmt *sum) {
  for (size_t i = 0; i < b->n; i++) {
    const TdStmt *s = b->stmt[i];
    if (s == sum) continue;
    for (uint32_t k = 0; k < s->nexpr; k++)
      if (td_walk_uses_expr(s->expr[k], sum->expr[0]->sym)) return false;
  }
  return true;
}

/* A factor as short as it is: before it was made longer. */
static const TdExpr *factor_of(const TdExpr *e) {
  while (e->kind == TD_EXPR_CAST && td_promote_holds(e->type, e->kid[0]->type)) e = e->kid[0];
  return e;
}

/* The product of integers that an accumulator adds up, if a term is one; else NULL. */
static const TdExpr *product_of(const TdExpr *term) {
  const TdExpr *e = bare(term);
  int bits = 0;
  if (!td_type_is_integer(term->type) || e->kind != TD_EXPR_OP || e->op != TD_OP_MUL) return NULL;
  for (int i = 0; i < 2; i++) {
    const TdType *t = factor_of(e->kid[i])->type;
    if (!td_type_is_integer(t) || td_npu_lane_width(t) > 16) return NULL;
    bits += td_npu_lane_width(t);
  }
  return e == term || bits <= td_npu_lane_width(term->type) ? e : NULL;
}

static void line(const Body *b, const char *fmt, ...) TD_PRINTF(2, 3);
static void line(const Body *b, const char *fmt, ...) {
  va_list ap;
  if (!b->ask.w) return;
  va_start(ap, fmt);
  td_text_line(&b->ask.w->out, "%s", td_text_vfmt(b->ask.w->arena, fmt, ap));
  va_end(ap);
}

/* A turn of a sum of products. */
static bool sum_products(Body *b, size_t i, const TdExpr *e) {
  TdNpuLaneAsk *x = &b->ask;
  TdNpuLane v, w;
  if (!td_npu_lane_of(x, factor_of(e->kid[0]), 0, &v) ||
      !td_npu_lane_of(x, factor_of(e->kid[1]), 0, &w))
    return false;
  int most = v.bits > w.bits ? v.bits : w.bits;
  const char *type = most == 8 ? "i8" : "i16";
  td_npu_lane_to(x, &v, most);
  td_npu_lane_to(x, &w, most);
  line(b, "%s = aie::mac(%s, %s, %s);", b->part[i], b->part[i], v.text, w.text);
  x->out->work += most / 8.0;
  x->out->sums = true;
  x->out->mac = td_device_mac(x->q->generation, type, type);
  return true;
}

/* Notes which instruction's products a store adds to its element, for counts. */
static void note_products(Body *b, const TdStmt *s) {
  const TdExpr *term, *e = sum_of(s, &term) == TD_OP_ADD ? bare(term) : NULL;
  const TdNpuAsk *q = b->ask.q;
  if (e && e->kind == TD_EXPR_OP && e->op == TD_OP_MUL)
    b->ask.out->mac = td_device_mac(q->generation, td_type_str(q->arena, bare(e->kid[0])->type),
                                    td_type_str(q->arena, bare(e->kid[1])->type));
}

/* A turn of a sum: statement i. */
static bool sum(Body *b, size_t i, int op, const TdExpr *term) {
  const TdExpr *place = b->stmt[i]->expr[0];
  const TdType *t = place->type;
  TdNpuLaneAsk *x = &b->ask;
  TdNpuLane v;
  if (t->kind == TD_T_FLOAT && op == TD_OP_ADD)
    return td_npu_lane_fail(x, "a sum of floats has an order: split the loop, and let rfactor make "
                               "it several sums");
  if (!is_alone(b, b->stmt[i]))
    return td_npu_lane_fail(x, "'%s' is used before it is complete", place->sym->name);
  for (uint32_t d = 0; d < place->nkid; d++)
    if (td_npu_lane_varies(x, place->kid[d]))
      return td_npu_lane_fail(x, "it adds to many elements of '%s'", place->sym->name);
  if (t->kind == TD_T_FLOAT ? t->w != 32 : t->w != 8 && t->w != 16 && t->w != 32)
    return td_npu_lane_fail(x, "sums of '%s'", td_type_str(x->q->arena, t));
  if (op == TD_OP_ADD && !x->out->apart && product_of(term))
    return sum_products(b, i, product_of(term));
  if (!td_npu_lane_of(x, term, op == TD_OP_ADD ? t->w : 0, &v)) return false;
  td_npu_lane_to(x, &v, 32);
  x->out->work += 4;
  line(b, "%s = aie::%s(%s, %s);", b->part[i],
       op == TD_OP_ADD   ? "add"
       : op == TD_OP_MIN ? "min"
                         : "max",
       b->part[i], v.text);
  return true;
}

static bool store(Body *b, const TdStmt *s) {
  TdNpuLaneAsk *x = &b->ask;
  const TdExpr *place = s->expr[0];
  const TdType *t = place->type;
  TdNpuLane v;
  bool aligned = false, whole = t->w == 8 || t->w == 16 || t->w == 32;
  if (!place->nkid) return td_npu_lane_fail(x, "'%s' goes from turn to turn", place->sym->name);
  if (!td_npu_lane_walks(x, place))
    return td_npu_lane_fail(x, "elements of '%s' do not lie side by side", place->sym->name);
  for (size_t i = 0; i < x->nstored; i++)
    if (x->stored[i]->sym == place->sym && !td_equal_expr(x->stored[i], place))
      return td_npu_lane_fail(x, "two elements of '%s' are written", place->sym->name);
  if (s->expr[1]->type != t) return td_npu_lane_fail(x, "it stores another type");
  if (!td_npu_lane_of(x, s->expr[1], t->kind == TD_T_FLOAT || !whole ? 0 : t->w, &v)) return false;
  td_npu_lane_to(x, &v, 8 * (int)td_type_bytes(t));
  x->out->store += v.bits / 8.0;
  note_products(b, s);
  if (!x->w) return true;
  const char *at = td_npu_lane_address(x, place, &aligned);
  line(b, "aie::store_%s((%s *)%s, %s);", aligned ? "v" : "unaligned_v", td_npu_lane_type(&v), at,
       v.text);
  return true;
}

/* A scalar that the body declares: its value in a register. */
static bool local(Body *b, const TdStmt *s) {
  TdNpuLaneAsk *x = &b->ask;
  TdNpuLane v;
  for (size_t i = 0; i < x->nstored; i++)
    if (x->stored[i]->sym == s->sym)
      return td_npu_lane_fail(x, "'%s' is assigned once more", s->sym->name);
  if (!td_npu_lane_of(x, s->expr[0], 0, &v)) return false;
  if (x->w) {
    const char *name = td_cname_declare(x->w, s->sym);
    line(b, "const auto %s = %s;", name, v.text);
    v.text = name;
  }
  b->local[x->nlocal++] = (TdNpuLaneLocal){s->sym, v};
  return true;
}

/* All statements of a turn. */
static bool turn(Body *b) {
  b->ask.nlocal = 0;
  b->ask.local = b->local;
  for (size_t i = 0; i < b->n; i++) {
    const TdStmt *s = b->stmt[i];
    const TdExpr *term;
    int op = s->kind == TD_STMT_STORE ? sum_of(s, &term) : -1;
    bool adds = op >= 0 && !td_walk_uses_expr(s->expr[0], b->ask.out->loop->sym);
    if (adds ? !sum(b, i, op, term) : s->kind == TD_STMT_STORE ? !store(b, s) : !local(b, s))
      return false;
  }
  return true;
}

static void start(Body *b, const TdNpuAsk *q, TdCWriter *w, TdNpuLanes *out) {
  *b = (Body){.ask = {.q = q, .w = w, .out = out, .stored = b->stored, .local = b->local}};
}

/* As many lanes as the widest fills a register with, or a sum of products its accumulators; fewer
 * for a loop of few turns. */
static int lanes_for(const TdNpuLanes *x) {
  int n = REGISTER / (x->widest ? x->widest : 32);
  if (x->sums && n > ACCUMULATORS / 32) n = ACCUMULATORS / 32;
  while (n > x->trips && n * x->widest > LEAST) n /= 2;
  return n > x->trips ? 0 : n;
}

static bool has_loop(const TdStmt *s) {
  bool has = s->kind == TD_STMT_FOR || s->kind == TD_STMT_WHILE;
  for (uint32_t i = 0; i < s->nkid && !has; i++) has = has_loop(s->kid[i]);
  return has;
}

/* Asks of a loop with the one or the other way to add up products. */
static void ask(const TdNpuAsk *q, const TdStmt *s, bool apart, TdNpuLanes *out) {
  Body b;
  int64_t hi;
  *out = (TdNpuLanes){.loop = s, .apart = apart};
  start(&b, q, NULL, out);
  bool known = s->step == 1 && td_unit_value(q->unit, td_for_lo(s), &out->from) &&
               td_unit_value(q->unit, td_for_hi(s), &hi);
  if (known && hi > out->from) out->trips = hi - out->from;
  if (!known)
    td_npu_lane_fail(&b.ask, "its turns are not known, or leave elements out");
  else if (read_body(&b, td_for_body(s)) && turn(&b))
    out->lanes = lanes_for(out);
  if (!out->lanes) td_npu_lane_fail(&b.ask, "it has %lld turns", (long long)out->trips);
}

bool td_npu_lanes_of(const TdNpuAsk *q, const TdStmt *s, TdNpuLanes *out) {
  if (s->kind != TD_STMT_FOR || has_loop(td_for_body(s))) return false;
  ask(q, s, false, out);
  if (!out->lanes && out->sums) ask(q, s, true, out);
  return true;
}

int64_t td_npu_lanes_rest(const TdNpuLanes *x) {
  return x->lanes ? x->trips % x->lanes : x->trips;
}

double td_npu_lanes_cycles(const TdNpuLanes *x) {
  double bytes = td_model[TD_MODEL_VECTOR_BYTES].value;
  double load = x->load / (2 * bytes), store_ = x->store / bytes, work = x->work / (2 * bytes);
  double most = load > store_ ? load : store_;
  return (double)(x->trips - td_npu_lanes_rest(x)) * (work > most ? work : most);
}

/* ---- text ---- */

/* Declares the vectors of sums. */
static void put_parts(Body *b, const TdNpuLanes *x) {
  for (size_t i = 0; i < b->n; i++) {
    const TdExpr *term;
    int op = b->stmt[i]->kind == TD_STMT_STORE ? sum_of(b->stmt[i], &term) : -1;
    if (op < 0 || td_walk_uses_expr(b->stmt[i]->expr[0], x->loop->sym)) continue;
    const TdExpr *place = b->stmt[i]->expr[0];
    b->part[i] = td_cname_fresh(b->ask.w, "part");
    td_cname_put(b->ask.w, NULL, b->part[i], NULL, NULL);
    TdNpuLane whole = {.bits = 32, .real = place->type->kind == TD_T_FLOAT};
    if (op == TD_OP_ADD && !x->apart && product_of(term))
      line(b, "aie::accum<acc32, %d> %s = aie::zeros<acc32, %d>();", x->lanes, b->part[i],
           x->lanes);
    else if (op == TD_OP_ADD)
      line(b, "aie::vector<int32_t, %d> %s = aie::zeros<int32_t, %d>();", x->lanes, b->part[i],
           x->lanes);
    else
      line(b, "aie::vector<%s, %d> %s = aie::broadcast<%s, %d>(%s);", td_npu_lane_type(&whole),
           x->lanes, b->part[i], td_npu_lane_type(&whole), x->lanes,
           td_cexpr_touch(b->ask.w, place, false).text);
  }
}

/* Joins the vectors of sums to what they are of. */
static void put_sums(Body *b) {
  for (size_t i = 0; i < b->n; i++) {
    const TdExpr *term;
    if (!b->part[i]) continue;
    int op = sum_of(b->stmt[i], &term);
    const TdExpr *e = b->stmt[i]->expr[0];
    const char *place = td_cexpr_touch(b->ask.w, e, true).text,
               *cell = td_cnum_cell(b->ask.w, e->sym, e->type);
    if (op == TD_OP_ADD)
      line(b, "%s = (%s)((uint32_t)%s + (uint32_t)tide_sum(%s));", place, cell, place, b->part[i]);
    else
      line(b, "%s = (%s)aie::reduce_%s(%s);", place, cell, op == TD_OP_MIN ? "min" : "max",
           b->part[i]);
  }
}

void td_npu_lanes_put(const TdNpuAsk *q, TdCWriter *w, const TdNpuLanes *x) {
  static const char *const modes[] = {[TD_NPU_FLOOR] = "floor", [TD_NPU_EVEN] = "conv_even"};
  TdNpuLanes out = *x;
  Body b;
  size_t names = td_cname_mark(w), known = td_crange_mark(w);
  long long end = (long long)(x->from + x->trips - td_npu_lanes_rest(x));
  start(&b, q, w, &out);
  read_body(&b, td_for_body(x->loop));
  td_text_line(&w->out, "{");
  w->out.indent++;
  put_parts(&b, x);
  if (x->round != TD_NPU_EXACT)
    line(&b, "aie::set_rounding(aie::rounding_mode::%s);", modes[x->round]);
  line(&b, "aie::set_saturation(aie::saturation_mode::none);");
  const char *v = td_cname_declare(w, x->loop->sym);
  line(&b, "for (int64_t %s = %lld; %s < %lld; %s += %d) {", v, (long long)x->from, v, end, v,
       x->lanes);
  td_crange_push_loop(w, x->loop->sym, td_for_lo(x->loop), td_for_hi(x->loop));
  w->out.indent++;
  turn(&b);
  w->out.indent--;
  line(&b, "}");
  td_crange_release(w, known);
  put_sums(&b);
  w->out.indent--;
  td_text_line(&w->out, "}");
  td_cname_release(w, names);
  if (!td_npu_lanes_rest(x)) return;
  const TdExpr *from = td_expr_index(w->session, w->arena, end, x->loop->loc);
  td_cstmt_put_for(w, td_stmt_for(w->store, x->loop->sym, from, td_for_hi(x->loop), 1,
                                  td_for_body(x->loop), x->loop->loc));
}
