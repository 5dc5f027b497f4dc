/* npu_bd_test.c - copies as BDs against brute force on their places alone: all sizes of dimensions
 * whose product divides what is copied, by the rules of docs/npu.md, which are written down again.
 */
#include "backends/npu/bd.h"
#include "tap.h"
#include "trace.h"

enum { MOST = 1 << 13, CASES = 100000 };
static uint64_t seed = 11;
static int64_t place[MOST];

static int64_t roll(int64_t n) {
  return (int64_t)trace_random(&seed, (int)n);
}

/* A copy of places, and the best that was found: tasks, then dimensions. */
typedef struct Brute {
  const TdTileInfo *tile;
  bool shim;
  int64_t n, bytes;
  int64_t size[TD_BD_DIMS], step[TD_BD_DIMS]; /* innermost first */
  int64_t tasks;
  int dims;
} Brute;

/* Whether blocks of `part` places are the first one, moved: `by` for each of the next `turns`. */
static bool repeats(const Brute *b, int64_t part, int64_t turns, int64_t by) {
  for (int64_t t = 1; t < turns; t++)
    for (int64_t i = 0; i < part; i++)
      if (place[t * part + i] != place[i] + t * by) return false;
  return b->n % (part * turns) == 0;
}

/* Whether all blocks of `part` places are the first one, moved anyhow. */
static bool starts_again(const Brute *b, int64_t part) {
  for (int64_t i = part; i < b->n; i++)
    if (place[i] - place[i / part * part] != place[i % part] - place[0]) return false;
  return true;
}

/* Rules 8 to 13 of one dimension of several elements. */
static bool is_legal(const Brute *b, int k, int64_t size, int64_t step, bool linear) {
  if (k == b->tile->dims)
    return b->shim && size <= 64 && step >= 0 && step * b->bytes % 4 == 0 &&
           step * b->bytes / 4 <= b->tile->stride;
  if (k > b->tile->dims || step <= 0 || step * b->bytes / 4 > b->tile->stride) return false;
  if (k == 0 && b->bytes != 4 && step != 1) return false;
  if ((k > 0 || b->bytes >= 4) && step * b->bytes % 4) return false;
  if (k == 0 && size * b->bytes % 4) return false;
  int64_t words = k == 0 && b->bytes < 4 ? size * b->bytes / 4 : size;
  if (linear) return words <= b->tile->length;
  return k >= b->tile->dims - 1 || words <= b->tile->wrap;
}

/* Keeps k dimensions of `part` places, if the rest starts the BD again where that can be. */
static void keep(Brute *b, int k, int64_t part) {
  int64_t tasks = b->n / part;
  if (tasks > 1 && (!b->shim || !starts_again(b, part))) return;
  if (b->tasks && (b->tasks < tasks || (b->tasks == tasks && b->dims <= k))) return;
  b->tasks = tasks;
  b->dims = k;
}

/* Dimension k over blocks of `part` places. */
static void dimension(Brute *b, int k, int64_t part) {
  if (k > 0) keep(b, k, part);
  if (k > b->tile->dims || (k == b->tile->dims && !b->shim)) return;
  for (int64_t size = 2; size * part <= b->n; size++) {
    int64_t by = place[part] - place[0];
    bool linear = k == 0 && size == b->n && by == 1;
    if (b->n % (size * part) == 0 && is_legal(b, k, size, by, linear) && repeats(b, part, size, by))
      dimension(b, k + 1, size * part);
  }
  if (k > 0 && k < b->tile->dims && b->shim) dimension(b, b->tile->dims, part);
}

/* A random copy: digits that follow one on the other, or not; of some one digit is long. */
static TdDesc random_copy(int64_t bytes) {
  static const int64_t many[] = {1023, 1024, 255, 256, 2048, 65, 64, 128};
  TdDesc d = {.n = 1 + (int)roll(6)};
  int longest = roll(60) ? -1 : (int)roll(d.n);
  int64_t side = 1, n = 1, word = bytes < 4 ? 4 / bytes : 1;
  for (int k = d.n - 1; k >= 0; k--) {
    int64_t size = k == longest ? many[roll(8)] : 1 + roll(longest < 0 ? 5 : 2);
    bool tame = longest >= 0 || roll(4), inner = k == d.n - 1;
    if (inner && (longest >= 0 || roll(3))) size *= word;
    if (n * size > MOST) size = 1;
    n *= size;
    int64_t s = tame ? side * (1 + roll(2)) : word * roll(40) - (roll(8) ? 0 : 4);
    if (!roll(30)) s = word << (10 + roll(14));
    if (inner && (longest >= 0 || roll(4))) s = 1;
    d.at[k] = (TdDigit){size, s};
    side = size * (s > 0 ? s : 1);
  }
  return d;
}

/* Whether a BD, started at each of its outer places, makes the places of the copy. */
static bool makes(const TdBd *b, int64_t n) {
  TdDesc d = {.n = b->nouter + b->n};
  int64_t count;
  for (int i = 0; i < b->nouter; i++) d.at[i] = b->outer[i];
  for (int i = 0; i < b->n; i++) d.at[b->nouter + i] = b->at[i];
  if (!td_desc_count(&d, &count) || count != n) return false;
  for (int64_t i = 0; i < n; i++)
    if (td_desc_place(&d, i) != place[i] - place[0]) return false;
  return true;
}

int main(void) {
  static const TdTileKind kinds[] = {TD_TILE_SHIM, TD_TILE_MEM, TD_TILE_CORE};
  int wrong = 0, made = 0, again = 0, refused = 0;
  for (int i = 0; i < CASES; i++) {
    TdTileKind kind = kinds[roll(3)];
    int64_t bytes = (int64_t)1 << roll(4);
    TdDesc d = random_copy(bytes);
    Brute b = {.tile = &td_tiles[kind], .shim = kind == TD_TILE_SHIM, .bytes = bytes};
    TdBd bd;
    const char *why;
    td_desc_count(&d, &b.n);
    for (int64_t k = 0; k < b.n; k++) place[k] = td_desc_place(&d, k);
    dimension(&b, 0, 1);
    if (b.n == 1 && bytes >= 4) b.tasks = b.dims = 1;
    bool found = td_bd_of(&d, bytes, kind, &bd, &why);
    bool same = found == (b.tasks > 0);
    if (same && found) same = bd.tasks == b.tasks && bd.n == b.dims && makes(&bd, b.n);
    if (!same && wrong < 5) {
      printf("# tile %d, %d bytes, (size, stride)", (int)kind, (int)bytes);
      for (int k = 0; k < d.n; k++)
        printf(" (%lld, %lld)", (long long)d.at[k].n, (long long)d.at[k].s);
      printf(": %lld tasks of %d dimensions, by brute force %lld of %d\n",
             found ? (long long)bd.tasks : 0, found ? bd.n : 0, (long long)b.tasks, b.dims);
    }
    wrong += !same;
    made += found;
    again += found && bd.tasks > 1;
    refused += !found;
  }
  printf("# %d copies made, %d by several tasks, %d refused\n", made, again, refused);
  ok(!wrong, "copies are factored as brute force on their places does");
  ok(made > CASES / 10 && again > CASES / 200 && refused > CASES / 10, "copies of all kinds");
  return done_testing();
}
