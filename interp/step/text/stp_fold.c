/* stp_fold.c - finds the loops of a graph: stretches of items that do the same, again and again.
 *
 * Short bodies are tried first, so that loops become items of the loops around them. Items do the
 * same when their nodes differ in tensors and inputs alone. An input of an iteration is made in the
 * same iteration, at the same place of it in all, or before the loop; what passes from iteration to
 * iteration is no loop. */
#include <string.h>

#include "step/text/stp_fold.h"

enum { LEAST_ALIGNED = 4 }; /* iterations that are a loop without those behind */

typedef TD_VEC(TdStpItem) Items;

typedef struct Fold {
  TdArena *arena;
  const TdStpGraph *g;
  size_t *place; /* by uid */
} Fold;

static uint64_t mix_text(uint64_t h, const char *text) {
  return td_map_mix(h, td_map_hash(text, strlen(text)));
}

static uint64_t mix_integers(uint64_t h, const int64_t *v, int n) {
  for (int i = 0; i < n; i++) h = td_map_mix(h, (uint64_t)v[i]);
  return td_map_mix(h, (uint64_t)n);
}

/* What a node does, its inputs' number and its tensors' types included. */
static uint64_t shape_of(const TdStpNode *n) {
  uint64_t h = mix_text(td_map_mix(n->op, n->nin), n->name);
  h = td_map_mix(h, n->has);
  for (int k = 0; k < TD_STP_KEYS; k++)
    if (n->has >> k & 1) h = td_map_mix(h, (uint64_t)n->opt[k]);
  int64_t more[] = {n->lo,      n->hi,        n->rows,         n->cols,
                    n->has_ref, n->has_valid, n->has_shape,    n->is_empty_init,
                    n->fn.kind, n->fn.n,      (int64_t)n->nout};
  h = mix_integers(h, more, (int)(sizeof more / sizeof *more));
  h = mix_integers(mix_integers(h, n->shape, n->nshape), n->stride, n->nshape + n->nview);
  h = mix_integers(h, n->view, n->nview);
  if (n->place) h = mix_text(h, n->place);
  for (int k = 0; k < n->assumed.ndim; k++)
    h = td_map_mix(h, (uint64_t)(uintptr_t)n->assumed.dim[k].extent);
  h = td_map_mix(h, (uint64_t)(uintptr_t)n->tensor.type);
  h = td_map_mix(h, (uint64_t)(uintptr_t)n->extra.type);
  h = td_map_mix(h, (uint64_t)(uintptr_t)n->fn.prog);
  return td_map_mix(h, (uint64_t)(uintptr_t)n->sel);
}

/* Whether the inputs of the nodes from..from+span of an iteration fit those of the first, which
 * begins at `start`. */
static bool inputs_fit(const Fold *f, size_t start, size_t from, size_t span) {
  for (size_t i = 0; i < span; i++) {
    const TdStpNode *x = f->g->node.at[start + i], *y = f->g->node.at[from + i];
    if (x->op == TD_STP_FEEDBACK) continue;
    for (size_t k = 0; k < x->nin; k++) {
      size_t p = f->place[x->in[k].uid], q = f->place[y->in[k].uid];
      bool inside = p >= start;
      if (inside ? q < from || q - from != p - start || x->in[k].out != y->in[k].out : q >= start)
        return false;
      if (inside && p >= start + span) return false;
    }
  }
  return true;
}

/* Whether the inputs from before the loop of iteration k lie on a line with those of the first two,
 * `span` nodes each. */
static bool inputs_align(const Fold *f, size_t start, size_t k, size_t span) {
  for (size_t i = 0; i < span; i++) {
    const TdStpNode *x = f->g->node.at[start + i], *y = f->g->node.at[start + span + i];
    const TdStpNode *z = f->g->node.at[start + k * span + i];
    if (x->op == TD_STP_FEEDBACK) continue;
    for (size_t q = 0; q < x->nin; q++) {
      int64_t at[3] = {(int64_t)f->place[x->in[q].uid], (int64_t)f->place[y->in[q].uid],
                       (int64_t)f->place[z->in[q].uid]};
      int64_t out[3] = {x->in[q].out, y->in[q].out, z->in[q].out};
      if (at[2] - at[0] != (int64_t)k * (at[1] - at[0])) return false;
      if (out[2] - out[0] != (int64_t)k * (out[1] - out[0])) return false;
    }
  }
  return true;
}

/* How many times the `period` items from `at` on are there one after the other; where inputs lie on
 * a line for a while, so long. */
static size_t count_repeats(const Fold *f, const Items *v, size_t at, size_t period) {
  size_t span = 0, n = 1, aligned = 0;
  for (size_t i = 0; i < period; i++) span += v->at[at + i].span;
  for (; at + (n + 1) * period <= v->n; n++) {
    bool same = true;
    for (size_t i = 0; same && i < period; i++)
      same = v->at[at + i].shape == v->at[at + n * period + i].shape;
    if (!same || !inputs_fit(f, v->at[at].first, v->at[at + n * period].first, span)) break;
    if (!aligned && !inputs_align(f, v->at[at].first, n, span)) aligned = n;
    if (aligned >= LEAST_ALIGNED) return aligned;
  }
  return n;
}

static TdStpItem make_loop(const Fold *f, const TdStpItem *from, size_t period, size_t n) {
  TdStpItem l = {.n = n, .nbody = period, .first = from->first, .depth = 1};
  l.body = td_arena_copy(f->arena, from, period * sizeof *from);
  l.shape = td_map_mix(n, period);
  for (size_t i = 0; i < period; i++) {
    l.span += n * from[i].span;
    l.shape = td_map_mix(l.shape, from[i].shape);
    if (from[i].depth >= l.depth) l.depth = from[i].depth + 1;
  }
  return l;
}

/* A loop is shorter than its iterations by more than its first and last line. */
static bool is_worth(size_t period, size_t n) {
  return n > 1 && n * period >= period + 4;
}

/* Folds what repeats with one period; whether something did. */
static bool fold_period(const Fold *f, Items *v, size_t period) {
  Items out = {0};
  bool some = false;
  for (size_t i = 0; i < v->n;) {
    size_t n = i + 2 * period <= v->n ? count_repeats(f, v, i, period) : 1;
    TdStpItem l = {0};
    if (is_worth(period, n)) l = make_loop(f, &v->at[i], period, n);
    bool folds = l.n && l.depth <= TD_STP_NEST;
    td_vec_push(f->arena, &out, folds ? l : v->at[i]);
    i += folds ? n * period : 1;
    some |= folds;
  }
  if (some) *v = out;
  return some;
}

size_t td_stp_fold(TdArena *a, const TdStpGraph *g, TdStpItem **item) {
  Fold f = {a, g, TD_NEWN(a, size_t, g->by_uid.n + 1)};
  Items v = {0};
  for (size_t i = 0; i < g->node.n; i++) {
    f.place[g->node.at[i]->uid] = i;
    TdStpItem x = {.node = g->node.at[i], .shape = shape_of(g->node.at[i]), .first = i, .span = 1};
    td_vec_push(a, &v, x);
  }
  for (bool some = true; some;) {
    some = false;
    for (size_t period = 1; 2 * period <= v.n; period++) {
      td_ctx_tick(td_arena_ctx(a), v.n);
      some |= fold_period(&f, &v, period);
    }
  }
  *item = v.at;
  return v.n;
}
