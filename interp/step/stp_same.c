/* stp_same.c - two graphs on fingerprints: by rows, then, where that tells them apart and it is not
 * too much work, by elements; each time with sums in order, then in any. Kernels are opaque; where
 * that tells the graphs apart, those that are proved to be a function of the other graph stand for
 * it. */
#include <string.h>

#include "step/stp_same.h"

/* Drawn controls besides the graphs' own; work by elements: FLOPs of both graphs at most. */
enum { ROUTINGS = 3, MOST_FLOPS = 100000000 };

typedef struct Same {
  TdArena *arena;
  TdStpGraph *side[2];
  const TdStpCalls *calls;
  const TdStpProver *prover;
  TdStpGraph *settled[2]; /* kernels replaced by functions that they are proved to be */
  bool tried, some, sums; /* whether that was tried, whether some were, by sums in another order */
  TdStpReport report[2];
  bool ran[2];
  TdDiag diag[2];
  TdMap drawn; /* lists of selectors that both graphs have */
  const char *element, *shown;
} Same;

/* Runs both graphs on fingerprints. */
static void run(Same *s, TdStpFinger finger, bool sums, uint64_t routing) {
  for (int i = 0; i < 2; i++) {
    TdStpOptions o = td_stp_run_defaults();
    o.depth = 0;
    o.memory.field[TD_OFFCHIP_CHANNELS] = 0;
    o.finger = finger;
    o.sums = sums;
    o.by_index = true;
    o.routing = routing;
    o.drawn = &s->drawn;
    s->diag[i] = (TdDiag){.arena = s->arena};
    s->ran[i] =
        td_stp_run(s->arena, s->arena, s->side[i], &o, s->calls, &s->report[i], &s->diag[i]);
  }
}

static bool differ(Same *s, const char *element, const char *shown) {
  s->element = element;
  s->shown = shown;
  return false;
}

static bool same_hash(TdHash a, TdHash b) {
  return a.lo == b.lo && a.hi == b.hi;
}

/* "row 3 of tile 2 that 'store' writes". */
static const char *place_of(Same *s, const TdStpCell *c) {
  return td_text_fmt(s->arena, "row %lld of tile %lld that '%s' writes", (long long)c->row,
                     (long long)c->tile, td_stp_graph_name(s->arena, c->by));
}

/* Whether the tensors hold the same in the end. */
static bool same_memory(Same *s) {
  const TdStpReport *x = &s->report[0], *y = &s->report[1];
  TdMap at = {0};
  for (size_t i = 0; i < y->ncell; i++) td_map_put(s->arena, &at, y->cell[i].key, i);
  for (size_t i = 0; i < x->ncell; i++) {
    uint64_t k;
    if (!td_map_get(&at, x->cell[i].key, &k))
      return differ(s, place_of(s, &x->cell[i]), "the other graph does not write it");
    if (!same_hash(x->cell[i].hash, y->cell[k].hash))
      return differ(s, place_of(s, &x->cell[i]), "it is made of other values, or in another way");
  }
  TdMap known = {0};
  for (size_t i = 0; i < x->ncell; i++) td_map_put(s->arena, &known, x->cell[i].key, i);
  for (size_t i = 0; i < y->ncell; i++)
    if (!td_map_get(&known, y->cell[i].key, &(uint64_t){0}))
      return differ(s, place_of(s, &y->cell[i]), "only one of the graphs writes it");
  return true;
}

/* The fingerprint of a token, its stops included. */
static TdHash token(const TdStpToken *t, TdStpFinger finger, bool stops) {
  TdHash h = td_hash_feed((TdHash){1, 2}, stops ? (uint64_t)(t->from * 64 + t->stop) : 0);
  if (t->from) return h;
  h = td_hash_feed(td_hash_feed(h, (uint64_t)t->valid_rows), (uint64_t)t->valid_cols);
  h = td_hash_feed(h, (uint64_t)t->kind);
  for (size_t i = 0; i < t->nparts; i++) {
    TdHash own = token(&t->part[i], finger, true);
    h = td_hash_feed(td_hash_feed(h, own.lo), own.hi);
  }
  for (int64_t i = 0; i < t->nindex; i++) h = td_hash_feed(h, (uint64_t)t->index[i] + 3);
  if (!t->elem || t->nindex >= 0) return h;
  if (t->rows == 1 && t->cols == 1 && td_type_is_integer(t->elem))
    return td_hash_feed(h, (uint64_t)t->number);
  int64_t w = finger == TD_STP_BY_ROWS ? 1 : t->cols;
  const TdHash *cell = (const void *)t->data;
  for (int64_t i = 0; i < t->valid_rows; i++)
    for (int64_t j = 0; j < (w == 1 ? 1 : t->valid_cols); j++) {
      h.lo = td_map_mix(h.lo, cell[i * w + j].lo);
      h.hi = td_map_mix(h.hi, cell[i * w + j].hi);
    }
  return h;
}

/* Whether graphs with as many outputs return the same lists. */
static bool same_lists(Same *s, TdStpFinger finger) {
  for (size_t k = 0; k < s->side[0]->output.n; k++) {
    const TdStpOutput *x = &s->report[0].output[k], *y = &s->report[1].output[k];
    if (x->token.n != y->token.n)
      return differ(s, td_text_fmt(s->arena, "output %zu", k + 1),
                    td_text_fmt(s->arena, "%zu elements, and %zu", x->token.n, y->token.n));
    for (size_t i = 0; i < x->token.n; i++)
      if (!same_hash(token(&x->token.at[i], finger, true), token(&y->token.at[i], finger, true)))
        return differ(s, td_text_fmt(s->arena, "element %zu of output %zu", i, k + 1),
                      "it is made of other values, or in another way");
  }
  return true;
}

/* Whether graphs with other numbers of outputs return the same elements, in any order. */
static bool same_elements(Same *s, TdStpFinger finger) {
  TdHash sum[2] = {{0, 0}, {0, 0}};
  size_t count[2] = {0, 0};
  for (int q = 0; q < 2; q++)
    for (size_t k = 0; k < s->side[q]->output.n; k++)
      for (size_t i = 0; i < s->report[q].output[k].token.n; i++) {
        const TdStpToken *t = &s->report[q].output[k].token.at[i];
        if (t->from) continue;
        TdHash h = token(t, finger, false);
        sum[q] = (TdHash){sum[q].lo + h.lo, sum[q].hi + h.hi};
        count[q]++;
      }
  if (count[0] == count[1] && same_hash(sum[0], sum[1])) return true;
  return differ(s, "the elements that are returned",
                td_text_fmt(s->arena, "%zu in %zu outputs, and %zu in %zu", count[0],
                            s->side[0]->output.n, count[1], s->side[1]->output.n));
}

static bool is_same(Same *s, TdStpFinger finger) {
  bool outputs = s->side[0]->output.n == s->side[1]->output.n ? same_lists(s, finger)
                                                              : same_elements(s, finger);
  return outputs && same_memory(s);
}

/* What is known of one control: at its first way of looking that cannot tell the graphs apart. */
static TdStpSame at_control(Same *s, uint64_t routing) {
  TdStpSame out = {.verdict = TD_STP_DIFFERS};
  for (int way = 0; way < 4; way++) {
    TdStpFinger finger = way < 2 ? TD_STP_BY_ROWS : TD_STP_BY_ELEMENTS;
    run(s, finger, way & 1, routing);
    if (!s->ran[0] || !s->ran[1]) {
      out.verdict = s->ran[0] || s->ran[1] ? TD_STP_DIFFERS : TD_STP_UNDECIDED;
      out.diag = s->ran[0] ? s->diag[1] : s->diag[0];
      s->element = s->ran[0] ? "the second graph" : "the first graph";
      s->shown = td_text_fmt(s->arena, "stops: %s", out.diag.message);
      break;
    }
    if (is_same(s, finger)) {
      out.verdict = TD_STP_EQUAL;
      out.level = way & 1 ? TD_LEVEL_ASSOCIATIVE : TD_LEVEL_STRICT;
      out.by_rows = way < 2;
      break;
    }
    if (way == 1 && s->report[0].flops + s->report[1].flops > MOST_FLOPS) {
      TdLoc none = {0};
      out.verdict = TD_STP_UNDECIDED;
      out.diag = (TdDiag){.arena = s->arena};
      td_diag_set(&out.diag, TD_LIMIT, "limit", none,
                  "rows do not tell, and elements are too many: %s", s->element);
      break;
    }
  }
  out.element = s->element;
  out.shown = s->shown;
  return out;
}

/* The same; where the graphs differ, and neither stops, once more with functions that are proved to
 * be one function as one. */
static TdStpSame look(Same *s, uint64_t routing) {
  TdStpSame out = at_control(s, routing);
  if (out.verdict != TD_STP_DIFFERS || !s->ran[0] || !s->ran[1]) return out;
  if (!s->tried) {
    memcpy(s->settled, s->side, sizeof s->settled);
    s->some = td_stp_prove_settle(s->prover, s->arena, s->settled, &s->sums);
    s->tried = true;
  }
  if (!s->some) return out;
  TdStpGraph *own[2] = {s->side[0], s->side[1]};
  memcpy(s->side, s->settled, sizeof own);
  out = at_control(s, routing);
  memcpy(s->side, own, sizeof own);
  if (s->sums && out.level < TD_LEVEL_ASSOCIATIVE) out.level = TD_LEVEL_ASSOCIATIVE;
  return out;
}

static bool same_selectors(const TdStpSelectors *a, const TdStpSelectors *b) {
  return a->ndim == b->ndim && a->n == b->n &&
         !memcmp(a->extent, b->extent, (size_t)a->ndim * sizeof *a->extent) &&
         !memcmp(a->first, b->first, (a->n + 1) * sizeof *a->first) &&
         !memcmp(a->index, b->index, a->first[a->n] * sizeof *a->index);
}

/* Finds the lists of selectors that both graphs have; those that one has alone are how it works,
 * and stay. */
static bool find_drawn(Same *s) {
  bool some = false;
  for (int side = 0; side < 2; side++)
    for (size_t i = 0; i < s->side[side]->node.n; i++) {
      const TdStpSelectors *mine = s->side[side]->node.at[i]->sel;
      bool shared = false;
      for (size_t k = 0; mine && k < s->side[!side]->node.n && !shared; k++) {
        const TdStpSelectors *other = s->side[!side]->node.at[k]->sel;
        shared = other && same_selectors(mine, other);
      }
      if (shared) td_map_putp(s->arena, &s->drawn, mine, (void *)(uintptr_t)mine);
      some |= shared;
    }
  return some;
}

TdStpSame td_stp_same_compare(TdArena *a, TdStpGraph *g, TdStpGraph *h, const TdStpCalls *calls,
                              const TdStpProver *prover) {
  Same s = {.arena = a, .side = {g, h}, .calls = calls, .prover = prover};
  TdStpSame all = look(&s, 0);
  bool draws = find_drawn(&s);
  for (uint64_t i = 1; draws && i <= ROUTINGS && all.verdict == TD_STP_EQUAL; i++) {
    TdStpSame one = look(&s, td_domain_random(20, i));
    if (one.verdict == TD_STP_UNDECIDED) continue;
    all.routings++;
    if (one.level > all.level) all.level = one.level;
    all.by_rows &= one.by_rows;
    if (one.verdict == TD_STP_DIFFERS) all = one;
  }
  return all;
}
