/* bdd.c - decision diagrams: nodes are found again by a table, choices by a cache that forgets. */
#include "eval/bdd.h"

enum { CACHE = 1 << 16, DEEPEST = 4000 };

typedef struct Node {
  uint32_t level, next; /* next: an older node of the same place in the table, or 0 */
  TdBit low, high;
} Node;

typedef struct Known {
  TdBit c, x, y, is;
} Known;

struct TdBdd {
  TdArena *arena;
  TD_VEC(Node) node; /* the first two are false and true */
  uint32_t *newest;  /* of each place: a node, or 0 */
  size_t places;     /* a power of two */
  Known *cache;
  size_t most;
  int depth;
  bool over;
};

TdBdd *td_bdd_new(TdArena *a) {
  TdBdd *b = TD_NEW(a, TdBdd);
  b->arena = a;
  for (int i = 0; i < 2; i++) td_vec_push(a, &b->node, ((Node){.level = UINT32_MAX}));
  b->places = 1 << 12;
  b->newest = TD_NEWN(a, uint32_t, b->places);
  b->cache = TD_NEWN(a, Known, CACHE);
  return b;
}

void td_bdd_allow(TdBdd *b, size_t nodes) {
  b->most = b->node.n + nodes;
  b->over = false;
}

bool td_bdd_is_over(const TdBdd *b) {
  return b->over;
}

size_t td_bdd_count(const TdBdd *b) {
  return b->node.n;
}

static uint64_t hash(uint64_t x, uint64_t y, uint64_t z) {
  uint64_t h = x * 0x9E3779B97F4A7C15u + y * 0xC2B2AE3D27D4EB4Fu + z * 0x165667B19E3779F9u;
  return (h ^ h >> 29) * 0xBF58476D1CE4E5B9u >> 20;
}

/* Doubles the table. */
static void grow(TdBdd *b) {
  b->places *= 2;
  b->newest = TD_NEWN(b->arena, uint32_t, b->places);
  for (size_t i = 2; i < b->node.n; i++) {
    Node *n = &b->node.at[i];
    uint32_t *place = &b->newest[hash(n->level, n->low, n->high) & (b->places - 1)];
    n->next = *place;
    *place = (uint32_t)i;
  }
}

/* The node that chooses by the variable of a level. */
static TdBit node(TdBdd *b, uint32_t level, TdBit low, TdBit high) {
  if (low == high) return low;
  uint32_t *place = &b->newest[hash(level, low, high) & (b->places - 1)];
  for (uint32_t i = *place; i; i = b->node.at[i].next) {
    const Node *n = &b->node.at[i];
    if (n->level == level && n->low == low && n->high == high) return i;
  }
  if (b->node.n >= b->most) {
    b->over = true;
    return 0;
  }
  TdBit new = (TdBit)b->node.n;
  td_vec_push(b->arena, &b->node, ((Node){level, *place, low, high}));
  *place = new;
  if (b->node.n > b->places) grow(b);
  return new;
}

TdBit td_bdd_variable(TdBdd *b, uint32_t level) {
  return node(b, level, 0, 1);
}

/* x where the variable of the level, which is not below x's, is `high`. */
static TdBit part(const TdBdd *b, TdBit x, uint32_t level, bool high) {
  const Node *n = &b->node.at[x];
  if (n->level != level) return x;
  return high ? n->high : n->low;
}

static uint32_t least_level(const TdBdd *b, TdBit c, TdBit x, TdBit y) {
  uint32_t level = b->node.at[c].level, other = b->node.at[x].level;
  if (other < level) level = other;
  other = b->node.at[y].level;
  return other < level ? other : level;
}

TdBit td_bdd_choose(TdBdd *b, TdBit c, TdBit x, TdBit y) {
  if (b->over) return 0;
  if (c <= 1) return c ? x : y;
  if (x == c) x = 1;
  if (y == c) y = 0;
  if (x == y) return x;
  if (x == 1 && y == 0) return c;
  Known *known = &b->cache[hash(c, x, y) & (CACHE - 1)];
  if (known->c == c && known->x == x && known->y == y) return known->is;
  if (b->depth >= DEEPEST) {
    b->over = true;
    return 0;
  }
  td_ctx_tick(td_arena_ctx(b->arena), 1);
  uint32_t level = least_level(b, c, x, y);
  b->depth++;
  TdBit low = td_bdd_choose(b, part(b, c, level, false), part(b, x, level, false),
                            part(b, y, level, false));
  TdBit high =
      td_bdd_choose(b, part(b, c, level, true), part(b, x, level, true), part(b, y, level, true));
  b->depth--;
  if (b->over) return 0;
  TdBit is = node(b, level, low, high);
  if (!b->over) *known = (Known){c, x, y, is};
  return is;
}
