/* vector.c - recognises nests by their shape: products of matrices in blocks, fills of arrays. */
#include "backends/npu/vector.h"

#include <string.h>

#include "affine/access.h"
#include "analysis/range/span.h"

enum { MOST_LOOPS = 12, MOST_ELEMENTS = 1 << 18 };

/* A perfect nest: its loops, outermost first, from 0 to `trip`, and the one statement in them. */
typedef struct Nest {
  const TdStmt *loop[MOST_LOOPS];
  int64_t trip[MOST_LOOPS];
  int n;
  const TdStmt *body;
} Nest;

static bool read_nest(const TdNpuAsk *q, const TdStmt *s, Nest *out) {
  *out = (Nest){.n = 0};
  for (;;) {
    while (s->kind == TD_STMT_BLOCK && s->nkid == 1) s = s->kid[0];
    if (s->kind != TD_STMT_FOR) break;
    int64_t lo, hi;
    if (out->n == MOST_LOOPS || s->step != 1 || !td_unit_value(q->unit, td_for_lo(s), &lo) || lo ||
        !td_unit_value(q->unit, td_for_hi(s), &hi) || hi < 1)
      return false;
    out->loop[out->n] = s;
    out->trip[out->n++] = hi;
    s = td_for_body(s);
  }
  out->body = s;
  return out->n > 0;
}

static const TdExpr *bare(const TdExpr *e) {
  while (e->kind == TD_EXPR_CAST) e = e->kid[0];
  return e;
}

/* ---- fills ---- */

typedef struct At {
  const Nest *nest;
  const int64_t *at;
} At;

static TdSpan look(void *ud, const TdExpr *e, const TdSpan *index) {
  const At *x = ud;
  (void)index;
  for (int i = 0; i < x->nest->n && e->kind == TD_EXPR_VAR; i++)
    if (x->nest->loop[i]->sym == e->sym) return td_span_const(x->at[i]);
  return td_span_data(e->type);
}

/* Whether the element that a store names goes through all of the array, each once. */
static bool goes_through(const TdNpuAsk *q, const Nest *t, const TdExpr *e, const int64_t *extent,
                         int64_t all) {
  int64_t at[MOST_LOOPS] = {0}, n = 0;
  unsigned char *seen = TD_NEWN(q->arena, unsigned char, all);
  At x = {t, at};
  TdSpanEnv env = {.unit = q->unit, .look = look, .ud = &x};
  for (;;) {
    int64_t place = 0;
    for (uint32_t d = 0; d < e->nkid; d++) {
      TdSpan v = td_span_of(&env, e->kid[d]);
      if (!td_span_is_one(v) || v.lo < 0 || v.lo >= extent[d]) return false;
      place = place * extent[d] + v.lo;
    }
    if (seen[place]++) return false;
    n++;
    int d = t->n - 1;
    while (d >= 0 && ++at[d] == t->trip[d]) at[d--] = 0;
    if (d < 0) return n == all;
  }
}

static bool uses_loop(const Nest *t, const TdExpr *e) {
  bool uses = false;
  for (int i = 0; i < t->n; i++) uses |= td_walk_uses_expr(e, t->loop[i]->sym);
  return uses;
}

/* The type of the array of which `e` is an element, as far as a declaration or parameter tells. */
static const TdType *array_type(const TdNpuAsk *q, const TdExpr *e) {
  const TdParam *p = td_unit_param(q->unit, e->sym);
  const TdType *t = q->types ? td_map_getp(q->types, e->sym) : NULL;
  return t ? t : p ? td_unit_type(q->prog->store->session, q->unit, p->type) : NULL;
}

bool td_npu_vector_fill(const TdNpuAsk *q, const TdStmt *s, const TdStmt **store, int64_t *n) {
  Nest t;
  int64_t extent[TD_MAX_RANK], turns = 1;
  uint64_t known;
  if (s->kind != TD_STMT_FOR || !read_nest(q, s, &t) || t.body->kind != TD_STMT_STORE) return false;
  const TdExpr *e = t.body->expr[0];
  const TdType *type = array_type(q, e);
  *store = t.body;
  *n = 1;
  if (!type || !e->nkid || bare(t.body->expr[1])->kind != TD_EXPR_LIT) return false;
  for (int d = 0; d < type->rank; d++) {
    if (!td_type_extent(type, d, &extent[d]) || extent[d] > MOST_ELEMENTS / *n) return false;
    *n *= extent[d];
  }
  for (int i = 0; i < t.n; i++) turns = turns > MOST_ELEMENTS ? turns : turns * t.trip[i];
  if (turns != *n || uses_loop(&t, t.body->expr[1])) return false;
  if (q->fill && td_map_get(q->fill, s->uid, &known)) return known > 1;
  bool fills = goes_through(q, &t, e, extent, *n);
  if (q->fill) td_map_put(q->arena, q->fill, s->uid, 1 + fills);
  return fills;
}

/* ---- products ---- */

/* The loop whose variable an index is, or -1. */
static int loop_of(const Nest *t, const TdExpr *e) {
  for (int i = 0; i < t->n && e->kind == TD_EXPR_VAR; i++)
    if (t->loop[i]->sym == e->sym) return i;
  return -1;
}

/* The loops of an element's four indices, all of which go through the array's extents. */
static bool indices(const TdNpuAsk *q, const Nest *t, const TdExpr *e, int *out) {
  const TdType *type = e->kind == TD_EXPR_LOAD && e->nkid == 4 ? array_type(q, e) : NULL;
  int64_t extent;
  if (!type) return false;
  for (int d = 0; d < 4; d++) {
    out[d] = loop_of(t, e->kid[d]);
    if (out[d] < 0 || !td_type_extent(type, d, &extent) || extent != t->trip[out[d]]) return false;
  }
  return true;
}

const char *td_npu_vector_factor(TdArena *a, const TdType *t) {
  return t->kind == TD_T_INT && t->w < 8 ? "i8" : td_type_str(a, t);
}

static bool is_type(TdArena *a, const TdType *t, const char *name) {
  return strcmp(td_type_str(a, t), name) == 0;
}

/* Whether sums of type t are what instructions of a row make: their own, or shorter integers, which
 * wrap. */
static bool is_sum(TdArena *a, const TdMac *row, const TdType *t) {
  bool shorter = strcmp(row->c, "i32") == 0 && t->kind == TD_T_INT && !t->saturate &&
                 (t->w == 8 || t->w == 16);
  return shorter || is_type(a, t, row->c);
}

bool td_npu_vector_mmul(const TdNpuAsk *q, const TdStmt *s, TdNpuMmul *out) {
  Nest t;
  int a[4], b[4], c[4];
  bool ring;
  if (!read_nest(q, s, &t) || t.n != 6 || t.body->kind != TD_STMT_STORE) return false;
  const TdExpr *place = t.body->expr[0], *sum = bare(t.body->expr[1]);
  if (td_access_accumulates(t.body->expr[1], place, &ring) != TD_OP_ADD ||
      sum->kind != TD_EXPR_OP || sum->op != TD_OP_ADD)
    return false;
  const TdExpr *x = bare(sum->kid[0]), *y = bare(sum->kid[1]);
  const TdExpr *product = td_equal_expr(x, place) ? y : x;
  if (product->kind != TD_EXPR_OP || product->op != TD_OP_MUL) return false;
  x = bare(product->kid[0]);
  y = bare(product->kid[1]);
  if (!indices(q, &t, place, c) || !indices(q, &t, x, a) || !indices(q, &t, y, b)) return false;
  if (a[0] != c[0]) {
    const TdExpr *turn = x;
    x = y, y = turn;
    for (int i = 0; i < 4; i++) {
      int was = a[i];
      a[i] = b[i], b[i] = was;
    }
  }
  if (a[0] != c[0] || a[2] != c[2] || b[1] != c[1] || b[3] != c[3] || a[1] != b[0] || a[3] != b[2])
    return false;
  *out = (TdNpuMmul){.a = x->sym,
                     .b = y->sym,
                     .c = place->sym,
                     .elem = {x->type, y->type, place->type},
                     .m = t.trip[c[0]],
                     .n = t.trip[c[1]],
                     .k = t.trip[a[1]]};
  const TdMac *row = td_device_mac(q->generation, td_npu_vector_factor(q->arena, x->type),
                                   td_npu_vector_factor(q->arena, y->type));
  if (!row || !row->r || !is_sum(q->arena, row, place->type) || t.trip[c[2]] != row->r ||
      t.trip[a[3]] != row->s || t.trip[c[3]] != row->t)
    return false;
  out->mac = row;
  return true;
}
