/* trace.h - runs the loops of a small tree at the unit's sizes and lists which elements each store
 * touches, in order: what analyses are held against. Knows nothing of them. */
#ifndef TRACE_H
#define TRACE_H

#include "tests/unit/mini.h"

enum { TRACE_LOOPS = 8, TRACE_CELLS = 8 };

typedef struct TraceCell {
  TdSym sym;
  bool write;
  int rank;
  int64_t index[3];
} TraceCell;

typedef struct TraceEvent {
  const TdStmt *stmt;
  int nloop, ncell;
  TdSym loop[TRACE_LOOPS];
  int64_t value[TRACE_LOOPS];
  TraceCell cell[TRACE_CELLS];
} TraceEvent;

typedef struct Trace {
  TdArena *a;
  const TdUnit *unit;
  int nloop;
  TdSym loop[TRACE_LOOPS];
  int64_t value[TRACE_LOOPS];
  TD_VEC(TraceEvent) at;
} Trace;

/* Floor division. */
static inline int64_t trace_floor(int64_t x, int64_t y) {
  int64_t q = x / y;
  return q * y != x && (x < 0) != (y < 0) ? q - 1 : q;
}

/* Value of an index expression or condition under the loops of t. */
static inline int64_t trace_eval(const Trace *t, const TdExpr *e) {
  int64_t x = 0, y = 0;
  switch (e->kind) {
  case TD_EXPR_LIT: return (int64_t)e->u.bits;
  case TD_EXPR_CAST: return trace_eval(t, e->kid[0]);
  case TD_EXPR_SIZE: return td_unit_size(t->unit, e->u.name)->value;
  case TD_EXPR_VAR:
    for (int i = t->nloop; i-- > 0;)
      if (t->loop[i] == e->sym) return t->value[i];
    abort();
  default: break;
  }
  x = trace_eval(t, e->kid[0]);
  if (e->nkid > 1) y = trace_eval(t, e->kid[1]);
  switch (e->op) {
  case TD_OP_ADD: return x + y;
  case TD_OP_SUB: return x - y;
  case TD_OP_MUL: return x * y;
  case TD_OP_NEG: return -x;
  case TD_OP_FLOORDIV: return trace_floor(x, y);
  case TD_OP_MOD: return x - y * trace_floor(x, y);
  case TD_OP_MIN: return x < y ? x : y;
  case TD_OP_MAX: return x > y ? x : y;
  case TD_OP_EQ: return x == y;
  case TD_OP_NE: return x != y;
  case TD_OP_LT: return x < y;
  case TD_OP_LE: return x <= y;
  case TD_OP_AND: return x && y;
  case TD_OP_OR: return x || y;
  case TD_OP_NOT: return !x;
  default: abort();
  }
}

/* Adds the element that e denotes to event v. */
static inline void trace_cell(const Trace *t, TraceEvent *v, const TdExpr *e, bool write) {
  TraceCell c = {.sym = e->sym, .write = write, .rank = (int)e->nkid};
  for (uint32_t d = 0; d < e->nkid; d++) c.index[d] = trace_eval(t, e->kid[d]);
  if (v->ncell == TRACE_CELLS) abort();
  v->cell[v->ncell++] = c;
}

/* Adds what e reads. */
static inline void trace_loads(const Trace *t, TraceEvent *v, const TdExpr *e) {
  if (e->kind == TD_EXPR_LOAD) trace_cell(t, v, e, false);
  for (uint32_t i = 0; i < e->nkid; i++) trace_loads(t, v, e->kid[i]);
}

/* The event of a store. */
static inline void trace_store(Trace *t, const TdStmt *s) {
  TraceEvent v = {.stmt = s, .nloop = t->nloop};
  memcpy(v.loop, t->loop, sizeof v.loop);
  memcpy(v.value, t->value, sizeof v.value);
  trace_loads(t, &v, s->expr[1]);
  trace_cell(t, &v, s->expr[0], true);
  td_vec_push(t->a, &t->at, v);
}

/* Runs s, adding events. */
static inline void trace_run(Trace *t, const TdStmt *s) {
  switch (s->kind) {
  case TD_STMT_BLOCK:
    for (uint32_t i = 0; i < s->nkid; i++) trace_run(t, s->kid[i]);
    break;
  case TD_STMT_IF:
    if (trace_eval(t, s->expr[0]))
      trace_run(t, s->kid[0]);
    else if (s->nkid > 1)
      trace_run(t, s->kid[1]);
    break;
  case TD_STMT_STORE: trace_store(t, s); break;
  case TD_STMT_FOR: {
    int64_t lo = trace_eval(t, td_for_lo(s)), hi = trace_eval(t, td_for_hi(s));
    int d = t->nloop++;
    t->loop[d] = s->sym;
    for (int64_t v = lo; v < hi; v += s->step) {
      t->value[d] = v;
      trace_run(t, s->kid[0]);
    }
    t->nloop--;
    break;
  }
  default: abort();
  }
}

/* The events of s. */
static inline Trace trace_of(TdArena *a, const TdUnit *u, const TdStmt *s) {
  Trace t = {.a = a, .unit = u};
  trace_run(&t, s);
  return t;
}

/* "i = 0, j = 1". */
static inline const char *trace_values(TdArena *a, const TraceEvent *v) {
  TdText t = td_text_new(a);
  for (int i = 0; i < v->nloop; i++)
    td_text_putf(&t, "%s%s = %lld", i ? ", " : "", v->loop[i]->name, (long long)v->value[i]);
  return td_text_str(&t);
}

/* Whether two accesses touch one element and one of them writes. */
static inline bool trace_meet(const TraceCell *x, const TraceCell *y) {
  return x->sym == y->sym && (x->write || y->write) &&
         memcmp(x->index, y->index, sizeof x->index) == 0;
}

/* A fixed sequence of pseudo-random numbers: the next one below n. */
static inline int trace_random(uint64_t *seed, int n) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int)((*seed >> 33) % (uint64_t)n);
}

#endif
