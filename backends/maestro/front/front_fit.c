/* front_fit.c - the loops of addresses that a list of elements is, in an order of the tensor. The
 * words of a streamer are fitted channel by channel to its lanes, then vector by vector to its
 * loops: the innermost one as long as its steps are the same, then those around it. Elements that
 * are zeros, or dropped, fit everything, and must end up where no element lies. */
#include "backends/maestro/front/front.h"

#include "base/ctx.h"

enum { NOWHERE = -1, MOST_ORDERS = 1 << 15 };

typedef struct Fit {
  TdMaestroFeed *f;
  const TdMaestroStreamer *s;
  int64_t word, per_word; /* bytes of a word; elements in it */
  int64_t count;          /* elements of the tensor */
  TdArena *a;
  int64_t *byte; /* of each element of the tensor, once `placed` */
  bool placed;
  int64_t *start; /* of each vector: the byte of channel 0, or NOWHERE */
  TdMaestroPattern p;
  const char *why;
} Fit;

/* The token of its stream that a slot of a vector has an element of. */
static int64_t token_at(const TdMaestroFeed *f, int64_t vector, int64_t slot) {
  int64_t row = slot / f->each, in = f->streams_in ? row / f->nend : row % f->group;
  return vector * f->group + (f->backward ? f->group - 1 - in : in);
}

/* The element in a slot of a vector, or NOWHERE. */
static int64_t element_at(const TdMaestroFeed *f, int64_t vector, int64_t slot) {
  int64_t e = slot % f->each, row = slot / f->each;
  int64_t x = f->streams_in ? row % f->nend : row / f->group;
  int64_t t = token_at(f, vector, slot);
  return t < f->tokens ? f->at[(x * f->tokens + t) * f->each + e] : NOWHERE;
}

/* How tokens fill words; false with why. */
static bool group_tokens(Fit *x) {
  TdMaestroFeed *f = x->f;
  int64_t slots = x->s->channels * x->per_word, row = f->nend * f->each;
  if (x->word % f->size) {
    x->why = td_text_fmt(x->a, "elements of %lld bytes in words of %lld", (long long)f->size,
                         (long long)x->word);
    return false;
  }
  f->group = slots / row;
  if (f->group < 1 || slots % row) {
    x->why = td_text_fmt(x->a,
                         "%lld channels of %lld bytes are no multiple of a token for each of its "
                         "%lld streams, %lld bytes",
                         (long long)x->s->channels, (long long)x->word, (long long)f->nend,
                         (long long)(row * f->size));
    return false;
  }
  f->vectors = (f->tokens + f->group - 1) / f->group;
  return true;
}

int64_t td_maestro_front_byte(const TdMaestroFeed *f, int64_t e) {
  const TdOrderBytes *o = &f->order;
  int64_t index[TD_ORDER_DIMS] = {0}, sum = 0;
  for (int d = o->order.nname; d-- > 0; e /= o->order.extent[d]) index[d] = e % o->order.extent[d];
  for (int k = 0; k < o->at.n; k++) {
    const TdOrderPlace *p = &o->order.place[o->part[k]];
    sum += index[p->name] / p->div % o->at.at[k].n * o->at.at[k].s;
  }
  return sum;
}

/* The byte of an element in the order. */
static int64_t byte_of(const Fit *x, int64_t e) {
  return x->placed ? x->byte[e] : td_maestro_front_byte(x->f, e);
}

/* The byte of the word of a channel in a vector: NOWHERE, or -2 with why: it is no word. */
static int64_t word_at(Fit *x, int64_t vector, int64_t channel) {
  int64_t at = NOWHERE;
  for (int64_t k = 0; k < x->per_word; k++) {
    int64_t e = element_at(x->f, vector, channel * x->per_word + k);
    if (e < 0) continue;
    int64_t here = byte_of(x, e) - k * x->f->size;
    if (at == NOWHERE) at = here;
    if (at == here && here % x->word == 0 && here >= 0) continue;
    x->why = td_text_fmt(x->a, "elements that go together are no word of %lld bytes",
                         (long long)x->word);
    return -2;
  }
  return at;
}

/* The strides of the lanes: of two neighbours that are known. */
static bool fit_lanes(Fit *x) {
  int64_t unit = 1;
  for (int j = 0; j < x->s->nlane; unit *= x->s->lane[j++]) {
    bool found = x->s->lane[j] == 1;
    for (int64_t v = 0; v < x->f->vectors && !found; v++)
      for (int64_t c = 0; c + unit < x->s->channels && !found; c++) {
        if (c / unit % x->s->lane[j] == x->s->lane[j] - 1) continue;
        int64_t one = word_at(x, v, c), two = word_at(x, v, c + unit);
        if (one == -2 || two == -2) return false;
        if (one < 0 || two < 0) continue;
        x->p.lane_stride[j] = two - one;
        found = true;
      }
    if (x->p.lane_stride[j] < 0) {
      x->why = "channels count down";
      return false;
    }
  }
  return true;
}

/* Where each vector starts. */
static bool find_starts(Fit *x) {
  for (int64_t v = 0; v < x->f->vectors; v++) {
    x->start[v] = NOWHERE;
    for (int c = 0; c < x->s->channels; c++) {
      int64_t at = word_at(x, v, c);
      if (at == -2) return false;
      if (at < 0) continue;
      at -= td_maestro_agu_lane(x->s, &x->p, c);
      if (x->start[v] == NOWHERE && at >= 0) x->start[v] = at;
      if (x->start[v] == at) continue;
      x->why = "the channels are not as far apart in all words";
      return false;
    }
  }
  return true;
}

/* The first that is known from i on. */
static int64_t next_known(const int64_t *at, int64_t n, int64_t i) {
  while (i < n && at[i] == NOWHERE) i++;
  return i;
}

/* The bases of blocks of m, each `step` from place to place; false: they are no such blocks. */
static bool take_blocks(const int64_t *at, int64_t n, int64_t m, int64_t step, int64_t *out) {
  for (int64_t b = 0; b < n / m; b++) {
    out[b] = NOWHERE;
    for (int64_t i = 0; i < m; i++) {
      int64_t here = at[b * m + i];
      if (here == NOWHERE) continue;
      here -= i * step;
      if (here < 0 || (out[b] != NOWHERE && out[b] != here)) return false;
      out[b] = here;
    }
  }
  return true;
}

/* Whether what is no element lies where none is; the bytes of the region. */
static bool check_zeros(Fit *x) {
  TdMaestroFeed *f = x->f;
  TdMap taken = {0};
  int64_t count = x->count;
  bool any = false;
  for (int64_t i = 0; i < f->nend * f->tokens * f->each; i++) any |= f->at[i] < 0;
  any |= f->tokens % f->group != 0;
  f->bytes = f->order.bytes;
  if (!any) return true;
  for (int64_t e = 0; e < count; e++) td_map_put(x->a, &taken, (uint64_t)x->byte[e], 1);
  int64_t v = 0, repeats = td_maestro_agu_repeats(x->s, &x->p);
  for (TdMaestroAgu g = td_maestro_agu_start(x->s, &x->p); g.busy; td_maestro_agu_tick(&g))
    for (int64_t again = 0; again < repeats; again++, v++)
      for (int64_t c = 0; c < x->s->channels; c++)
        for (int64_t k = 0; k < x->per_word; k++) {
          int64_t slot = c * x->per_word + k;
          if (element_at(f, v, slot) >= 0) continue;
          int64_t at = g.address + td_maestro_agu_lane(x->s, &x->p, (int)c) + k * f->size;
          if (at + f->size > f->bytes) f->bytes = at + f->size;
          bool beyond = token_at(f, v, slot) >= f->tokens;
          if (!td_map_get(&taken, (uint64_t)at, NULL) || (beyond && !x->s->writer)) continue;
          x->why = "zeros would lie on elements: the order needs room for them";
          return false;
        }
  f->bytes = (f->bytes + x->word - 1) / x->word * x->word;
  return true;
}

static bool fit_loops(Fit *x, const int64_t *at, int64_t n, int loop);

/* The same where all that loop `loop` would move between is unknown, but its first: it goes along
 * a dimension of the order, in the room that it has. */
static bool fit_gap(Fit *x, const int64_t *at, int64_t n, int loop, int64_t gap) {
  int64_t *out = TD_NEWN(x->a, int64_t, n);
  for (int64_t m = gap; m > 1; m--)
    for (int k = 0; n % m == 0 && k < x->f->order.at.n; k++) {
      int64_t step = x->f->order.at.at[k].s;
      td_ctx_tick(td_arena_ctx(x->a), 1);
      if (step % x->word || !take_blocks(at, n, m, step, out)) continue;
      x->p.bound[loop] = m;
      x->p.stride[loop] = step;
      if (fit_loops(x, out, n / m, loop + 1)) return true;
    }
  return false;
}

/* Fits n places to loops from `loop` on. */
static bool fit_loops(Fit *x, const int64_t *at, int64_t n, int loop) {
  int64_t first = next_known(at, n, 0), second = next_known(at, n, first + 1);
  if (n == 1 || second >= n) {
    for (int d = loop; d < x->s->loops; d++) x->p.bound[d] = 1;
    if (loop >= x->s->loops && n > 1) return false;
    if (n > 1) x->p.bound[loop] = n;
    x->p.base = first < n ? at[first] : 0;
    return check_zeros(x);
  }
  if (loop == x->s->loops) {
    x->why = td_text_fmt(x->a, "they are more than %lld loops", (long long)x->s->loops);
    return false;
  }
  int64_t gap = second - first;
  if ((at[second] - at[first]) % (gap * x->word)) {
    if (!x->why) x->why = "there is no room for the words of what is dropped, or zero";
    return fit_gap(x, at, n, loop, gap);
  }
  int64_t step = (at[second] - at[first]) / gap, longest = second;
  while (longest < n &&
         (at[longest] == NOWHERE || at[longest] == at[first] + (longest - first) * step))
    longest++;
  if (step < 0) {
    x->why = "counters cannot count down";
    return false;
  }
  int64_t *out = TD_NEWN(x->a, int64_t, n);
  for (int64_t m = longest; m > second; m--) {
    td_ctx_tick(td_arena_ctx(x->a), 1);
    if (n % m || !take_blocks(at, n, m, step, out)) continue;
    x->p.bound[loop] = m;
    x->p.stride[loop] = step;
    if (fit_loops(x, out, n / m, loop + 1)) return true;
  }
  if (gap > 1 && fit_gap(x, at, n, loop, gap)) return true;
  if (!x->why) x->why = "they are no nest of loops with one step each";
  return false;
}

/* Bytes of all elements of the tensor, in its order. */
static void place_elements(Fit *x, int64_t count) {
  for (int64_t e = 0; e < count; e++) x->byte[e] = byte_of(x, e);
  x->placed = true;
}

/* One way to fill words. */
static bool try_fill(Fit *x, bool streams_in, bool backward, int64_t count) {
  x->f->streams_in = streams_in;
  x->f->backward = backward;
  x->p = (TdMaestroPattern){.used = true, .mask = UINT64_MAX, .bytes = UINT32_MAX};
  x->placed = false;
  x->why = NULL;
  for (int64_t c = 0; c < x->s->channels; c++)
    if (word_at(x, 0, c) == -2 || word_at(x, x->f->vectors / 2, c) == -2) return false;
  place_elements(x, count);
  return fit_lanes(x) && find_starts(x) && fit_loops(x, x->start, x->f->vectors, 0);
}

/* One order. */
static bool try_order(Fit *x, const char *text, const int64_t *extent, int rank, int64_t count) {
  TdMaestroFeed *f = x->f;
  const char *why;
  if (!td_order_read_bytes(x->a, text, extent, rank, f->size, &f->order, &why)) {
    x->why = why;
    return false;
  }
  f->text = text;
  for (int back = 0; back < (f->group > 1 ? 2 : 1); back++)
    for (int in = 0; in < (f->nend > 1 && f->group > 1 ? 2 : 1); in++)
      if (try_fill(x, in, back, count)) return true;
  return false;
}

/* ---- orders that may fit ---- */

/* A part of a dimension: all of it, or what f divides it into. */
typedef struct Part {
  int dim;
  int64_t div, mod;
} Part;

typedef struct Search {
  Fit *x;
  const int64_t *extent;
  int rank;
  int64_t count, pad;
  Part part[TD_MAX_RANK + 2];
  int n, tries;
} Search;

static int64_t rounded(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}

static const char *text_of(const Search *s, const int *at) {
  TdText t = td_text_new(s->x->a);
  for (int d = 0; d < s->rank; d++) td_text_putf(&t, "d%d ", d);
  td_text_puts(&t, "->");
  for (int i = 0; i < s->n; i++) {
    const Part *p = &s->part[at[i]];
    td_text_putf(&t, " d%d", p->dim);
    int64_t room = rounded(s->extent[p->dim], s->pad);
    if (p->div > 1) td_text_putf(&t, "/%lld", (long long)p->div);
    if (p->mod)
      td_text_putf(&t, "%%%lld", (long long)p->mod);
    else if (p->div == 1 && room > s->extent[p->dim])
      td_text_putf(&t, "%%%lld", (long long)room);
  }
  return td_text_str(&t);
}

/* All permutations of the parts, the written order first. */
static bool permute(Search *s, int *at, int n, unsigned used) {
  if (n == s->n) {
    if (++s->tries > MOST_ORDERS) return false;
    return try_order(s->x, td_arena_strdup(s->x->a, text_of(s, at)), s->extent, s->rank, s->count);
  }
  for (int k = 0; k < s->n; k++) {
    if (used >> k & 1) continue;
    at[n] = k;
    if (permute(s, at, n + 1, used | 1u << k)) return true;
  }
  return false;
}

/* All orders with dimension `split` in blocks of `by`; split -1: none. */
static bool try_parts(Search *s, int split, int64_t by) {
  int at[TD_MAX_RANK + 2];
  s->n = 0;
  for (int d = 0; d < s->rank; d++) {
    s->part[s->n++] = (Part){d, d == split ? by : 1, 0};
    if (d == split) s->part[s->n++] = (Part){d, 1, by};
  }
  return permute(s, at, 0, 0);
}

static bool search_orders(Search *s) {
  for (s->pad = 1; s->pad <= 64; s->pad *= 2)
    if (try_parts(s, -1, 1)) return true;
  s->pad = 1;
  for (int64_t by = 2; by <= 64; by *= 2)
    for (int d = 0; d < s->rank; d++)
      if (s->extent[d] > by && try_parts(s, d, by)) return true;
  return false;
}

/* Refuses with the access. */
static bool refuse(const TdMaestroFront *f, int i, const char *order, const char *why, TdDiag *d) {
  const TdMaestroFeed *x = &f->feed[i];
  const char *name = td_prog_root(f->prog)->param[x->param].sym->name;
  td_diag_set(d, TD_UNSUPPORTED, "maestro-access", x->loc,
              "streamer %s: the elements of '%s' that task '%s' %s are no affine addresses%s%s%s: "
              "%s",
              f->system.at[i].name, name, x->run, f->system.at[i].writer ? "stores" : "loads",
              order ? " in the order \"" : " in any order that was tried", order ? order : "",
              order ? "\"" : "", why ? why : "they are no nest of loops with one step each");
  td_diag_help(d,
               "another order, other lanes or more loops of the streamer; or leave '%s' to its "
               "task",
               name);
  return false;
}

bool td_maestro_front_fit(TdMaestroFront *f, int i, const char *order, TdArena *a, TdDiag *d) {
  TdMaestroFeed *x = &f->feed[i];
  const TdUnit *u = td_prog_root(f->prog);
  const TdType *type = td_unit_type(f->prog->store->session, u, u->param[x->param].type);
  int64_t extent[TD_MAX_RANK], count = 1;
  for (int k = 0; k < type->rank; k++) {
    td_type_extent(type, k, &extent[k]);
    count *= extent[k];
  }
  Fit fit = {.f = x, .s = &f->system.at[i], .word = f->system.memory.word, .a = a};
  fit.per_word = x->size <= fit.word ? fit.word / x->size : 1;
  if (!group_tokens(&fit))
    return td_diag_set(d, TD_USAGE, "maestro-field", (TdLoc){0}, "%s.lanes: %s",
                       f->system.at[i].name, fit.why);
  fit.count = count;
  fit.byte = TD_NEWN(a, int64_t, count);
  fit.start = TD_NEWN(a, int64_t, x->vectors);
  bool ok;
  if (order) {
    const char *why;
    if (!td_order_read_bytes(a, order, extent, type->rank, x->size, &x->order, &why))
      return td_diag_set(d, TD_USAGE, "maestro-order", (TdLoc){0}, "the order of '%s': %s",
                         u->param[x->param].sym->name, why);
    ok = try_order(&fit, order, extent, type->rank, count);
  } else {
    Search s = {.x = &fit, .extent = extent, .rank = type->rank, .count = count};
    ok = search_orders(&s);
  }
  if (!ok) return refuse(f, i, order, fit.why, d);
  f->pattern[i] = fit.p;
  return true;
}
