/* effort.c - the nodes and accesses of a trace, counted by kind. What is under a condition counts,
 * as the hardware that is laid out for it computes in each iteration. */
#include "analysis/time/effort.h"

#include <string.h>

typedef TD_VEC(TdEffort) Works;

static void add(TdArena *a, TdTimes *out, Works *w, const char *kind, int64_t n) {
  uint32_t k = 0;
  size_t i = 0;
  if (n <= 0) return;
  while (k < out->kind.n && strcmp(out->kind.at[k], kind) != 0) k++;
  if (k == out->kind.n) td_vec_push(a, &out->kind, kind);
  while (i < w->n && w->at[i].kind != k) i++;
  if (i == w->n) td_vec_push(a, w, ((TdEffort){k, 0}));
  w->at[i].n += n;
}

/* The type of a value, or of what it was before it was widened; NULL: an index or a constant. */
static const TdType *type_of(const TdTrace *t, TdTraceValue v) {
  for (;;) {
    if (v.affine || !v.node || v.node >= t->cell.n) return NULL;
    const TdTraceCell *c = &t->cell.at[v.node];
    const TdType *to = c->type ? td_type_scalar(c->type) : NULL;
    const TdType *from = c->what == TD_TRACE_CONVERT ? type_of(t, c->x[0]) : NULL;
    bool widens = from && to && from->kind == to->kind && from->w <= to->w;
    if (!widens) return to;
    v = c->x[0];
  }
}

/* The widest operand of an operator; what it gives where all are constants. */
static const TdType *operand_type(const TdTrace *t, const TdTraceCell *c) {
  const TdType *widest = NULL;
  for (uint8_t i = 0; i < c->n; i++) {
    const TdType *x = type_of(t, c->x[i]);
    if (x && (!widest || x->w > widest->w)) widest = x;
  }
  return widest ? widest : td_type_scalar(c->type);
}

static void add_operators(TdArena *a, TdTimes *out, Works *w, const TdTrace *t, int64_t times) {
  for (size_t i = 1; i < t->cell.n; i++) {
    const TdTraceCell *c = &t->cell.at[i];
    const char *key = c->what == TD_TRACE_OPERATOR ? td_ops[c->op].cost : NULL;
    if (!key || !c->type || td_type_scalar(c->type)->kind == TD_T_INDEX) continue;
    const TdType *type = operand_type(t, c);
    char class = type->kind == TD_T_FLOAT ? 'f' : 'i';
    add(a, out, w, td_text_fmt(a, "%s %c%d", key, class, type->w), times);
  }
}

/* Whether an array is an argument of a task or of what is run: off the chip. */
static bool is_outside(const TdTrace *t, const TdPlaced *p) {
  const TdUnit *u = t->ask->unit;
  for (size_t i = 0; !p->decl && i < u->nparam; i++)
    if (u->param[i].sym == p->sym) return true;
  return false;
}

/* What holds an element: "ram 4096", by the bytes of a bank. */
static const char *memory_of(TdArena *a, const TdTrace *t, const TdPlaced *p, bool called) {
  int64_t depth = 1;
  if (p->registers) return "register";
  if (!called && is_outside(t, p)) return "dram";
  for (int d = 0; d < p->rank; d++) {
    int64_t banks = p->banks[d] > 0 ? p->banks[d] : 1;
    depth *= (p->extent[d] + banks - 1) / banks;
  }
  return td_text_fmt(a, "ram %lld", (long long)((depth * p->width + 7) / 8));
}

static void add_accesses(TdArena *a, TdTimes *out, Works *w, const TdTrace *t, int64_t times,
                         bool called) {
  for (size_t i = 0; i < t->reach.n; i++) {
    const TdReach *r = &t->reach.at[i];
    const TdPlaced *p = r->array;
    if (r->dead || r->hidden || r->slot) continue;
    add(a, out, w, p->kind == TD_CELL_MEMORY ? memory_of(a, t, p, called) : "fifo",
        p->width * p->tokens * times);
  }
}

void td_effort_note(TdArena *a, TdTimes *out, TdTime *to, const TdTrace *t, int64_t registers,
                    int64_t times, bool called) {
  Works w = {0};
  for (size_t i = 0; i < to->nwork; i++) td_vec_push(a, &w, to->work[i]);
  add_operators(a, out, &w, t, times);
  add_accesses(a, out, &w, t, times, called);
  add(a, out, &w, "register", registers * times);
  if (!w.n) return;
  if (!to->number) {
    td_vec_push(a, &out->worker, to);
    to->number = (uint32_t)out->worker.n;
  }
  to->work = w.at;
  to->nwork = w.n;
}
