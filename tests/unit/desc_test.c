/* desc_test.c - descriptors against enumeration: normal forms, compositions, inverses, random
 * chains of tile, pack and transpose, and what address generators and DMAs are given. */
#include "ir/desc.h"
#include "tap.h"
#include "trace.h"

static uint64_t seed = 7;

/* The next random number below n. */
static int64_t roll(int64_t n) {
  return (int64_t)trace_random(&seed, (int)n);
}

/* Up to four digits of up to five, with strides of any sign. */
static TdDesc random_desc(void) {
  TdDesc d = {.offset = roll(7), .n = (int)roll(5)};
  for (int k = 0; k < d.n; k++) d.at[k] = (TdDigit){1 + roll(5), roll(13) - 4};
  return d;
}

/* Whether d is place(ordinal) for all n ordinals. */
static bool is_sequence(const TdDesc *d, const int64_t *place, int64_t n) {
  int64_t count;
  bool same = td_desc_count(d, &count) && count == n;
  for (int64_t i = 0; same && i < n; i++) same = td_desc_place(d, i) == place[i];
  return same;
}

enum { MOST = 1 << 12 };
static int64_t place[MOST];

/* Writes out the places of d; returns how many. */
static int64_t enumerate(const TdDesc *d) {
  int64_t n;
  td_desc_count(d, &n);
  for (int64_t i = 0; i < n; i++) place[i] = td_desc_place(d, i);
  return n;
}

/* The normal form is the same sequence, and the one that the places alone give. */
static void test_normal(int cases) {
  int wrong = 0, merged = 0;
  for (int i = 0; i < cases; i++) {
    TdDesc d = random_desc(), r = td_desc_normal(&d), found;
    int64_t n = enumerate(&d);
    bool same = is_sequence(&r, place, n) && td_desc_of_places(place, n, &found) && r.n == found.n;
    for (int k = 0; same && k < r.n; k++)
      same = r.at[k].n == found.at[k].n && r.at[k].s == found.at[k].s;
    wrong += !same;
    merged += r.n < d.n;
  }
  ok(!wrong && merged > cases / 20, "random normal forms are those of their places");
}

/* x after y for random y that stay in the range of x, or do not. */
static void test_compose(int cases) {
  int wrong = 0, made = 0, refused = 0;
  for (int i = 0; i < cases; i++) {
    TdDesc x = random_desc(), y = random_desc(), z;
    TdDescCarry why;
    int64_t all, n = enumerate(&y), image[MOST];
    bool inside = true, found;
    td_desc_count(&x, &all);
    for (int64_t k = 0; k < n; k++) {
      inside &= place[k] >= 0 && place[k] < all;
      image[k] = inside ? td_desc_place(&x, place[k]) : 0;
    }
    found = td_desc_compose(&x, &y, &z, &why);
    made += found;
    refused += !found;
    wrong +=
        found ? !inside || !is_sequence(&z, image, n) : inside && td_desc_of_places(image, n, &z);
  }
  ok(!wrong && made > cases / 20 && refused > cases / 20,
     "random compositions are those of their places, or there is none");
}

/* One step of a chain on the digits of a layout: a digit is tiled, or two change places. */
static void step(TdDesc *chain, TdDesc *one) {
  int64_t extent[TD_DESC_DIGITS];
  for (int k = 0; k < chain->n; k++) extent[k] = chain->at[k].n;
  *one = td_desc_row_major(extent, chain->n);
  int a = (int)roll(one->n), b = (int)roll(one->n);
  if (roll(2) && one->n < 8) {
    for (int64_t t = 2; t <= 4; t++)
      if (one->at[a].n % t == 0 && td_desc_split(one, a, t)) break;
  } else {
    TdDigit x = one->at[a];
    one->at[a] = one->at[b];
    one->at[b] = x;
  }
}

/* Chains of tile, pack and transpose of a matrix, each a copy from the one before: the composition
 * is the sequence of places, and composed with its inverse it vanishes. */
static void test_chains(int chains) {
  int wrong = 0, vanished = 0, steps = 0;
  for (int i = 0; i < chains; i++) {
    int64_t extent[2] = {4 * (1 + roll(3)), 6 * (1 + roll(3))};
    TdDesc shape = td_desc_row_major(extent, 2), all = shape, one, both, back;
    TdDescCarry why;
    int64_t n = enumerate(&all), image[MOST];
    int len = 1 + (int)roll(6);
    bool same = true;
    for (int k = 0; k < len && same; k++, steps++) {
      step(&shape, &one);
      shape = one;
      for (int64_t p = 0; p < n; p++) image[p] = place[td_desc_place(&one, p)];
      for (int64_t p = 0; p < n; p++) place[p] = image[p];
      same = td_desc_compose(&all, &one, &both, &why) && is_sequence(&both, place, n);
      all = both;
    }
    same = same && td_desc_inverse(&all, &back) && td_desc_compose(&all, &back, &both, &why) &&
           td_desc_is_identity(&both) && td_desc_compose(&back, &all, &both, &why) &&
           td_desc_is_identity(&both);
    wrong += !same;
    vanished += td_desc_is_identity(&all);
  }
  printf("# %d chains, %d steps, %d vanish\n", chains, steps, vanished);
  ok(!wrong && vanished > 0, "random chains of tile, pack and transpose collapse, and back");
}

/* Inverses exist for what is one-to-one onto a range, and only for that. */
static void test_inverse(int cases) {
  int wrong = 0, made = 0;
  for (int i = 0; i < cases; i++) {
    TdDesc d = random_desc(), back;
    if (roll(2)) d.offset = 0;
    int64_t n = enumerate(&d);
    bool seen[MOST] = {0}, onto = true;
    for (int64_t k = 0; k < n && onto; k++) {
      onto = place[k] >= 0 && place[k] < n && !seen[place[k]];
      if (onto) seen[place[k]] = true;
    }
    bool found = td_desc_inverse(&d, &back);
    for (int64_t k = 0; found && k < n; k++) wrong += td_desc_place(&back, place[k]) != k;
    wrong += found != onto;
    made += found && n > 1;
  }
  ok(!wrong && made > cases / 200, "inverses exist exactly where places are a range");
}

/* The text of x after y. */
static const char *composed(TdArena *a, const TdDesc *x, const TdDesc *y) {
  TdDesc z;
  TdDescCarry why;
  if (!td_desc_compose(x, y, &z, &why))
    return td_text_fmt(a, "digit %d does not meet digit %d", why.inner, why.outer);
  TdText t = td_text_new(a);
  td_desc_print(&t, &z);
  return td_text_str(&t);
}

/* What is known from papers and tools. */
static void test_known(TdArena *a) {
  TdDesc rows = td_desc_row_major((int64_t[]){32, 128}, 2);
  TdDesc block = {.n = 4, .at = {{8, 512}, {16, 8}, {4, 128}, {8, 1}}};
  is_text(composed(a, &rows, &block), "<0; (8, 512)(16, 8)(4, 128)(8, 1)>",
          "4 x 8 blocks of a 32 x 128 matrix, as a buffer descriptor");
  TdDesc tiled = {.n = 4, .at = {{2, 64}, {2, 8}, {8, 16}, {8, 1}}},
         all = {.n = 1, .at = {{256, 1}}};
  is_text(composed(a, &tiled, &all), "<0; (2, 64)(2, 8)(8, 16)(8, 1)>",
          "all of a tiled matrix, in order: its own digits");
  TdDesc image = td_desc_row_major((int64_t[]){6, 6, 8}, 3);
  TdDesc window = {.n = 5, .at = {{4, 48}, {4, 8}, {3, 48}, {3, 8}, {8, 1}}};
  is_text(composed(a, &image, &window), "<0; (4, 48)(4, 8)(3, 48)(24, 1)>",
          "a 3 x 3 convolution over 6 x 6 pixels of 8 channels");
  TdDesc cyclic = {.n = 2, .at = {{16, 1}, {4, 16}}}, every = {.n = 2, .at = {{4, 1}, {16, 4}}};
  is_text(composed(a, &cyclic, &every), "<0; (64, 1)>",
          "every 4th of 64 words in 4 cyclic banks: a bank each");
  TdDesc shard = {.n = 2, .at = {{4, 1000}, {16, 1}}},
         second = {.offset = 16, .n = 1, .at = {{16, 1}}};
  is_text(composed(a, &shard, &second), "<1000; (16, 1)>",
          "S0 on 4 PEs: the second shard is in the second");
  TdDesc rotate = {.n = 3, .at = {{4, 4}, {4, 64}, {4, 1}}}, line = {.n = 1, .at = {{64, 1}}};
  is_text(composed(a, &rotate, &line), "<0; (4, 4)(4, 64)(4, 1)>",
          "an addressing mode that turns digits");
  TdDesc again = {.n = 2, .at = {{3, 0}, {8, 1}}}, down = {.offset = 7, .n = 1, .at = {{8, -1}}};
  TdDesc eight = td_desc_row_major((int64_t[]){2, 4}, 2);
  is_text(composed(a, &eight, &again), "<0; (3, 0)(8, 1)>", "a broadcast");
  is_text(composed(a, &eight, &down), "<7; (8, -1)>", "backwards");
  TdDesc gaps = {.n = 2, .at = {{4, 10}, {4, 1}}}, three = {.n = 1, .at = {{5, 3}}};
  is_text(composed(a, &gaps, &three), "digit 0 does not meet digit 1", "sums that carry");
}

int main(void) {
  TdCtx *c = td_ctx_new();
  TdArena *a = td_arena_new(c);
  test_normal(100000);
  test_compose(100000);
  test_inverse(50000);
  test_chains(10000);
  test_known(a);
  td_arena_free(a);
  td_ctx_free(c);
  return done_testing();
}
