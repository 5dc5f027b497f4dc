/* inject_tile.c - the loops that wrap a library kernel: a nest is split into tiles of the sizes
 * that the kernel takes. */
#include <string.h>

#include "rewrite/kernel/inject.h"
#include "rewrite/take.h"

#define MOST_LOOPS 16
#define MOST_ARRAYS 16

/* An array of the nest: the loop that moves each dimension, or -1. */
typedef struct Array {
  TdSym sym;
  const TdType *elem;
  int rank, loop[TD_MAX_RANK];
  bool write;
  bool odd; /* moved by several loops at once, by strides, or otherwise elsewhere */
} Array;

typedef struct Tiling {
  TdRewrite *r;
  const TdContract *lib;
  const TdStmt *loop[MOST_LOOPS]; /* outermost first */
  size_t nloop;
  Array array[MOST_ARRAYS];
  size_t narray;
  int64_t trip[MOST_LOOPS], factor[MOST_LOOPS]; /* factor 0: not known yet */
  const TdProg *done;
} Tiling;

static Array *array_of(Tiling *t, TdSym sym) {
  for (size_t i = 0; i < t->narray; i++)
    if (t->array[i].sym == sym) return &t->array[i];
  return t->narray < MOST_ARRAYS ? &t->array[t->narray++] : NULL;
}

/* The loop that alone moves an index, by one; -1: none does; -2: otherwise. */
static int loop_of(const Tiling *t, const TdExpr *index) {
  TdLin l = td_lin_of(t->r->session, t->r->arena, index);
  int found = -1;
  for (size_t k = 0; k < t->nloop; k++) {
    if (!td_walk_uses_expr(index, t->loop[k]->sym)) continue;
    if (found != -1 || td_lin_coef(&l, t->loop[k]->sym) != 1) return -2;
    found = (int)k;
  }
  return found;
}

static bool look_access(void *ud, const TdExpr *e) {
  Tiling *t = ud;
  if ((e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VIEW) || !e->nkid) return true;
  size_t known = t->narray;
  Array *a = array_of(t, e->sym);
  if (!a) return true;
  if (t->narray > known) *a = (Array){.sym = e->sym, .rank = (int)e->nkid};
  a->elem = e->kind == TD_EXPR_LOAD ? e->type : e->type->elem;
  a->odd |= e->kind == TD_EXPR_VIEW;
  for (int d = 0; d < a->rank; d++) {
    int k = loop_of(t, e->kid[d]);
    a->odd |= k == -2 || (t->narray == known && k != a->loop[d]);
    a->loop[d] = k;
  }
  return true;
}

static bool look_store(void *ud, const TdStmt *s) {
  Tiling *t = ud;
  if (s->kind != TD_STMT_STORE || !s->expr[0]->nkid) return true;
  Array *a = array_of(t, s->expr[0]->sym);
  if (a) a->write = true;
  return true;
}

/* The perfect nest from `loop` down, and the arrays in it; false if it is none of open trips. */
static bool read_nest(Tiling *t, const TdUnit *u, const TdStmt *loop) {
  for (;;) {
    if (t->nloop == MOST_LOOPS || !td_unit_value(u, td_util_trip(t->r, loop), &t->trip[t->nloop]))
      return false;
    t->loop[t->nloop++] = loop;
    const TdStmt *body = td_for_body(loop);
    if (body->nkid != 1 || body->kid[0]->kind != TD_STMT_FOR) break;
    loop = body->kid[0];
  }
  td_walk_exprs(t->r->session->ctx, t->loop[0], look_access, t);
  td_walk_stmt(t->r->session->ctx, t->loop[0], look_store, t);
  return true;
}

static TdArgValue text_of(const char *text) {
  return (TdArgValue){.given = true, .text = text};
}

/* p after prim with these arguments, which is noted as done; NULL with the diagnostic filled. */
static const TdProg *take(Tiling *t, const TdProg *p, const char *prim, const TdArgValue *arg,
                          const char *const **made) {
  TdPrimStep step = {.prim = td_prim_find(prim),
                     .arg = td_arena_copy(t->r->arena, arg, TD_PRIM_ARGS * sizeof *arg)};
  return td_take_part(t->r, p, step, made);
}

/* The nest split by the factors, its tile loops inside, and the kernel in their place. */
static const TdProg *make(Tiling *t, const TdProg *library) {
  TdRewrite *r = t->r;
  const char *spec = r->arg[0].text, *colon = strrchr(spec, ':');
  int unit = colon ? (int)(colon - spec) + 1 : 0;
  const char *const *made, *inner[MOST_LOOPS];
  const char **order = TD_NEWN(r->arena, const char *, 2 * MOST_LOOPS); /* kept by the step */
  const TdProg *p = r->prog;
  size_t outer = 0, all = t->nloop;
  for (size_t k = 0; p && k < t->nloop; k++) {
    inner[k] = td_text_fmt(r->arena, "%.*s%s", unit, spec, t->loop[k]->sym->name);
    if (k == 0) inner[k] = spec;
    if (t->factor[k] == t->trip[k]) continue;
    TdArgValue arg[TD_PRIM_ARGS] = {text_of(inner[k]), {.given = true, .integer = t->factor[k]}};
    arg[3] = text_of("perfect");
    p = take(t, p, "split", arg, &made);
    if (!p) return NULL;
    order[outer++] = td_text_fmt(r->arena, "%.*s%s", unit, spec, made[0]);
    inner[k] = td_text_fmt(r->arena, "%.*s%s", unit, spec, made[1]);
    all++;
  }
  for (size_t k = 0; k < t->nloop; k++) order[outer + k] = inner[k];
  TdArgValue loops[TD_PRIM_ARGS] = {{.given = true, .names = order, .n = all}};
  if (p && outer) p = take(t, p, "reorder", loops, &made);
  TdArgValue call[TD_PRIM_ARGS] = {text_of(inner[0]), {.given = true, .prog = library}, r->arg[2]};
  p = p ? take(t, p, "inject", call, &made) : NULL;
  for (size_t i = 0; p && i < r->did.at[r->did.n - 1].nmade; i++) td_util_made(r, made[i]);
  return p;
}

/* Tries the factors as they are now. */
static bool try_factors(Tiling *t) {
  bool tiles = false;
  for (size_t k = 0; k < t->nloop; k++) {
    if (!t->factor[k] || t->trip[k] % t->factor[k]) return false;
    tiles |= t->factor[k] != t->trip[k];
  }
  TdRewrite was = *t->r;
  if (tiles) t->done = make(t, t->r->arg[1].prog);
  if (t->done || !tiles) return t->done != NULL;
  *t->r = was;
  return false;
}

static bool give(Tiling *t, size_t operand, unsigned used);

/* Gives names i and up of an operand dimensions of array a, and so loops their factors. */
static bool give_names(Tiling *t, size_t operand, unsigned used, const Array *a, int i,
                       unsigned taken) {
  const TdOperand *o = &t->lib->at[operand];
  if (i == o->order.nname) {
    for (int d = 0; d < a->rank; d++)
      if (a->loop[d] >= 0 && !(taken >> d & 1)) return false;
    return give(t, operand + 1, used);
  }
  for (int d = 0; d < a->rank; d++) {
    int k = a->loop[d];
    if (k < 0 || taken >> d & 1) continue;
    int64_t was = t->factor[k];
    if (was && was != o->order.extent[i]) continue;
    t->factor[k] = o->order.extent[i];
    if (give_names(t, operand, used, a, i + 1, taken | 1U << d)) return true;
    t->factor[k] = was;
  }
  return false;
}

static bool give(Tiling *t, size_t operand, unsigned used) {
  if (operand == t->lib->n) return try_factors(t);
  const TdOperand *o = &t->lib->at[operand];
  if (o->type->kind != TD_T_TENSOR) return give(t, operand + 1, used);
  for (size_t i = 0; i < t->narray; i++) {
    const Array *a = &t->array[i];
    if (used >> i & 1 || a->odd || a->elem != o->type->elem || a->write != o->write) continue;
    if (give_names(t, operand, used | 1U << i, a, 0, 0)) return true;
  }
  return false;
}

const TdProg *td_inject_tiled(TdRewrite *r, const TdContract *lib, const TdUnit *u,
                              const TdStmt *nest) {
  Tiling t = {.r = r, .lib = lib};
  if (!read_nest(&t, u, nest)) return NULL;
  give(&t, 0, 0);
  return t.done;
}
