/* gen_index.c - indices, bounds and control conditions, with the ranges that keep them in bounds.
 */
#include "tests/fuzz/gen.h"

#include <string.h>

enum { MOST_WORK = 900 };

/* The greatest value that r takes at sizes up to MOST_SIZE + 1. */
static int64_t most(Range r) {
  return r.hi + (r.size >= 0 ? MOST_SIZE + 1 : 0);
}

bool gen_is_inside(Range r, Range extent) {
  if (r.lo < 0) return false;
  if (r.size < 0) return r.hi < extent.hi + (extent.size >= 0 ? LEAST_SIZE : 0);
  return r.size == extent.size && r.hi < extent.hi;
}

/* An index expression and its values. */
typedef struct Index {
  const char *text;
  Range range;
} Index;

static Index plus(const Gen *g, Index x, int64_t c) {
  if (!c) return x;
  x.text =
      td_text_fmt(g->arena, "%s %c %lld", x.text, c < 0 ? '-' : '+', (long long)(c < 0 ? -c : c));
  x.range.lo += c;
  x.range.hi += c;
  return x;
}

static const LoopVar *pick_loop(Gen *g) {
  return &g->loop[rng_below(&g->rng, g->nloop)];
}

/* x + y or x - y of two loop variables, with a range when at most one has a size. */
static Index combine(Gen *g, const LoopVar *x, const LoopVar *y) {
  bool minus = rng_chance(&g->rng, 30);
  Index out = {td_text_fmt(g->arena, "%s %c %s", x->name, minus ? '-' : '+', y->name), {0}};
  if (minus)
    out.range = (Range){x->range.lo - most(y->range), x->range.hi - y->range.lo, x->range.size};
  else if (x->range.size >= 0 && y->range.size >= 0)
    out.range = (Range){x->range.lo + y->range.lo, most(x->range) + most(y->range), -1};
  else
    out.range = (Range){x->range.lo + y->range.lo, x->range.hi + y->range.hi,
                        x->range.size >= 0 ? x->range.size : y->range.size};
  return out;
}

/* A random index expression over the loops in scope. */
static Index random_index(Gen *g) {
  if (!g->nloop) return (Index){td_text_fmt(g->arena, "%d", rng_below(&g->rng, 4)), {0, 3, -1}};
  const LoopVar *v = pick_loop(g);
  Index x = {v->name, v->range};
  switch (rng_below(&g->rng, 20)) {
  case 0: return plus(g, x, 1 + rng_below(&g->rng, 2));
  case 1:
  case 2: return plus(g, x, -1);
  case 3: return plus(g, combine(g, v, pick_loop(g)), rng_below(&g->rng, 2));
  case 4:
    x.text = td_text_fmt(g->arena, "2 * %s", v->name);
    x.range = (Range){2 * v->range.lo, 2 * most(v->range), -1};
    return x;
  case 5:
    x.text = td_text_fmt(g->arena, "%s // 2", v->name);
    x.range.lo = v->range.lo / 2;
    g->has[FEATURE_MODULO] = true;
    return x;
  case 6: {
    int64_t c = rng_below(&g->rng, 3);
    return (Index){td_text_fmt(g->arena, "%lld", (long long)c), {c, c, -1}};
  }
  default: return x;
  }
}

/* x brought into the extent by force. */
static const char *clamp(Gen *g, Index x, Range extent) {
  if (extent.size < 0 && rng_chance(&g->rng, 60)) {
    g->has[FEATURE_MODULO] = true;
    return td_text_fmt(g->arena, "(%s) %% %lld", x.text, (long long)extent.hi);
  }
  Range last = {0, extent.hi - 1, extent.size};
  const char *low = x.range.lo < 0 ? td_text_fmt(g->arena, "tide.max(%s, 0)", x.text) : x.text;
  return td_text_fmt(g->arena, "tide.min(%s, %s)", low, gen_extent_text(g, last));
}

const char *gen_data_index(Gen *g, Range extent) {
  int most = (int)(extent.size < 0 ? extent.hi : LEAST_SIZE);
  bool beyond = g->about[ABOUT_FAULT] && rng_chance(&g->rng, 15);
  const char *count = gen_control_count(g, beyond ? most + 3 : most);
  if (!count) return NULL;
  g->has[beyond ? FEATURE_FAULT_INDEX : FEATURE_DATA_INDEX] = true;
  return count;
}

const char *gen_index(Gen *g, Range extent) {
  bool often = g->about[ABOUT_MEMORY] || g->about[ABOUT_FAULT];
  if (rng_chance(&g->rng, often ? 8 : 2)) {
    const char *text = gen_data_index(g, extent);
    if (text) return text;
  }
  Index x = random_index(g);
  for (int tries = 0; tries < 8 && !gen_is_inside(x.range, extent); tries++) x = random_index(g);
  if (!gen_is_inside(x.range, extent)) return rng_chance(&g->rng, 60) ? clamp(g, x, extent) : "0";
  if (strpbrk(x.text, "+-*")) g->has[FEATURE_STENCIL] = true;
  return x.text;
}

const char *gen_place(Gen *g, const Thing *t) {
  TdText text = td_text_new(g->arena);
  td_text_puts(&text, t->name);
  for (int d = 0; d < t->rank; d++) td_text_putf(&text, "[%s]", gen_index(g, t->extent[d]));
  return td_text_str(&text);
}

const char *gen_own_place(Gen *g, const Thing *t, bool *own) {
  TdText text = td_text_new(g->arena);
  int first = g->nloop - t->rank;
  *own = first == 0;
  td_text_puts(&text, t->name);
  for (int d = 0; d < t->rank; d++) {
    const LoopVar *v = first + d >= 0 ? &g->loop[first + d] : NULL;
    bool inside = v && gen_is_inside(v->range, t->extent[d]);
    *own &= inside;
    td_text_putf(&text, "[%s]", inside ? v->name : gen_index(g, t->extent[d]));
  }
  return td_text_str(&text);
}

const char *gen_control_count(Gen *g, int most_count) {
  const Thing *t = rng_chance(&g->rng, 70) ? gen_find(g, gen_is_moved) : NULL;
  if (!t) t = gen_find(g, gen_is_control);
  if (!t) return NULL;
  TdText text = td_text_new(g->arena);
  td_text_puts(&text, t->name);
  for (int d = 0; d < t->rank; d++) {
    Index x = random_index(g);
    bool inside = gen_is_inside(x.range, t->extent[d]);
    td_text_putf(&text, "[%s]", inside ? x.text : clamp(g, x, t->extent[d]));
  }
  return td_text_fmt(g->arena, "%s %% %d", td_text_str(&text), most_count);
}

const char *gen_affine_condition(Gen *g) {
  if (!g->nloop) return NULL;
  const char *x = pick_loop(g)->name, *y = pick_loop(g)->name;
  int c = 1 + rng_below(&g->rng, 3);
  switch (rng_below(&g->rng, 9)) {
  case 0: return td_text_fmt(g->arena, "%s < %s", x, y);
  case 1: return td_text_fmt(g->arena, "%s + %s ~= %d", x, y, c + 1);
  case 2: return td_text_fmt(g->arena, "%s %% 2 == %d", x, c % 2);
  case 3: return td_text_fmt(g->arena, "%s > %d or %s < %d", x, c, y, c);
  case 4: return td_text_fmt(g->arena, "not (%s == %d and %s > 1)", x, c, y);
  case 5: return td_text_fmt(g->arena, "%s // 2 <= %s", x, y);
  case 6: return td_text_fmt(g->arena, "%s - %d >= %s", x, c, y);
  case 7: return td_text_fmt(g->arena, "%s < %s - 1", x, g->sized ? "N" : "6");
  default: return td_text_fmt(g->arena, "%s >= %d", x, c);
  }
}

const char *gen_control_condition(Gen *g) {
  const char *count = rng_chance(&g->rng, 40) ? gen_control_count(g, 5) : NULL;
  if (count) return td_text_fmt(g->arena, "%s == %d", count, rng_below(&g->rng, 4));
  return gen_affine_condition(g);
}

/* A loop's header: bounds as Lua writes them, both inclusive, and the values between. */
typedef struct Header {
  const char *lo, *hi;
  Range range;
  int step;
} Header;

/* {lo, extent - 1 + shift}. */
static Header between(Gen *g, int64_t lo, Range extent, int64_t shift) {
  extent.hi += shift - 1;
  return (Header){td_text_fmt(g->arena, "%lld", (long long)lo),
                  gen_extent_text(g, extent),
                  {lo, extent.hi, extent.size},
                  1};
}

/* Bounds that lean on an outer loop. */
static Header leaning(Gen *g, const LoopVar *v, Range extent) {
  Header h = between(g, 0, extent, 0);
  int c = 1 + rng_below(&g->rng, 3);
  switch (rng_below(&g->rng, 5)) {
  case 0:
    h.lo = v->name;
    h.range.lo = v->range.lo;
    break;
  case 1:
    h.hi = v->name;
    h.range = (Range){0, v->range.hi, v->range.size};
    break;
  case 2:
    h.lo = td_text_fmt(g->arena, "%s + %d", v->name, c);
    h.range.lo = v->range.lo + c;
    break;
  case 3:
    h.lo = td_text_fmt(g->arena, "tide.max(0, %s - %d)", v->name, c);
    g->has[FEATURE_MINMAX_BOUND] = true;
    break;
  default:
    h.hi = td_text_fmt(g->arena, "tide.min(%s, %s + %d)", h.hi, v->name, c);
    g->has[FEATURE_MINMAX_BOUND] = true;
    break;
  }
  g->has[FEATURE_TRIANGULAR] = true;
  return h;
}

/* A bound that a control parameter gives, or a plain one. */
static Header data_bound(Gen *g, Range extent) {
  Header h = between(g, 0, extent, 0);
  const char *count = gen_control_count(g, LEAST_SIZE - 1);
  if (!count) return h;
  g->has[FEATURE_DATA_BOUND] = true;
  h.hi = count;
  h.range = (Range){0, LEAST_SIZE - 2, -1};
  return h;
}

static Header random_header(Gen *g) {
  Range extent = gen_extent(g);
  int kind = rng_below(&g->rng, 100);
  if (kind < 14 && g->nloop) return leaning(g, pick_loop(g), extent);
  if (kind < (g->about[ABOUT_MEMORY] ? 22 : 16)) return data_bound(g, extent);
  if (kind < 26) {
    g->has[FEATURE_SHIFTED] = true;
    return between(g, 1, extent, rng_chance(&g->rng, 40) ? -1 : 0);
  }
  Header h = between(g, 0, extent, 0);
  if (kind < 33) {
    g->has[FEATURE_STEP] = true;
    h.step = 2;
  }
  return h;
}

/* A name for a loop: fresh, seldom one that another loop out of scope may have. */
static const char *loop_name(Gen *g) {
  static const char *const stem[] = {"i", "j", "k", "l", "p", "q"};
  const char *name = stem[g->nloop % 6];
  if (g->names < 6 || rng_chance(&g->rng, 30)) return g->names++, name;
  return gen_fresh_name(g, name);
}

static void enter(Gen *g, const char *name, Range r) {
  g->loop[g->nloop++] = (LoopVar){name, r};
  g->out.indent++;
  g->work *= most(r) > 1 ? most(r) : 2;
}

/* for x, y in tide.grid(..), two loops in a band. */
static void open_grid(Gen *g) {
  Range r[2] = {gen_extent(g), gen_extent(g)};
  const char *x = loop_name(g), *y = td_text_fmt(g->arena, "%sy", x);
  td_text_line(&g->out, "for %s, %s in tide.grid(%s, %s, \"B%d\") do", x, y,
               gen_extent_text(g, r[0]), gen_extent_text(g, r[1]), g->names++);
  g->has[FEATURE_GRID] = true;
  r[0].hi--;
  r[1].hi--;
  enter(g, x, r[0]);
  enter(g, y, r[1]);
  g->out.indent--;
}

bool gen_open_loop(Gen *g) {
  if (g->work * MOST_SIZE > MOST_WORK || g->nloop + 2 > GEN_LOOPS) return false;
  if (g->work * 64 <= MOST_WORK && rng_chance(&g->rng, 12)) {
    open_grid(g);
    return true;
  }
  Header h = random_header(g);
  const char *name = loop_name(g);
  if (h.step > 1)
    td_text_line(&g->out, "for %s = %s, %s, %d do", name, h.lo, h.hi, h.step);
  else
    td_text_line(&g->out, "for %s = %s, %s do", name, h.lo, h.hi);
  enter(g, name, h.range);
  return true;
}

void gen_open_over(Gen *g, Range extent, int less) {
  Header h = between(g, less, extent, -less);
  const char *name = loop_name(g);
  td_text_line(&g->out, "for %s = %s, %s do", name, h.lo, h.hi);
  enter(g, name, h.range);
}

void gen_open_to(Gen *g, const char *last, int most_last) {
  const char *name = loop_name(g);
  td_text_line(&g->out, "for %s = 0, %s do", name, last);
  g->has[FEATURE_DATA_BOUND] = true;
  enter(g, name, (Range){0, most_last - 1, -1});
}
