/* search_turns.c - merging lists of turns as moves merge nodes. */
#include "rewrite/search_turns.h"

#include <stdlib.h>
#include <string.h>

static bool is_alone(const TdGraph *g, uint32_t node) {
  for (size_t i = 0; i < g->edge.n; i++)
    if (g->edge.at[i].from == node || g->edge.at[i].to == node) return false;
  return true;
}

TdTurns td_turns_of(TdArena *a, const TdGraph *g) {
  TdTurns t = {.n = g->node.n};
  for (uint32_t i = 0; i < t.n; i++) {
    const TdGraphNode *x = &g->node.at[i];
    t.name[i] = td_graph_name(a, g, i);
    t.list[i] = i + 1;
    if (!is_alone(g, i)) continue;
    t.alone |= 1u << (i + 1);
    for (uint32_t k = i; k-- > 0;)
      if (g->node.at[k].run == x->run && g->node.at[k].body == x->body && is_alone(g, k))
        t.list[i] = t.list[k];
  }
  return t;
}

/* Those of x, then those of y. */
static uint32_t append(uint32_t x, uint32_t y) {
  for (uint32_t rest = y; rest; rest >>= 3) x <<= 3;
  return x | y;
}

static size_t find(const TdTurns *t, const char *name) {
  size_t i = 0;
  while (i < t->n && strcmp(t->name[i], name) != 0) i++;
  return i;
}

/* The ids behind the name of a task, or NULL when name is of another. */
static const char *ids_of(const char *name, const char *task) {
  size_t n = strlen(task);
  return strncmp(name, task, n) == 0 && (name[n] == '[' || !name[n]) ? name + n : NULL;
}

/* Adds a node's turns under a name: to those that are there under it. */
static void add(TdTurns *t, const char *name, uint32_t list) {
  size_t i = name ? 0 : t->n;
  while (i < t->n && !(t->name[i] && strcmp(t->name[i], name) == 0)) i++;
  if (i == t->n) t->list[t->n++] = 0;
  t->name[i] = name;
  t->list[i] = append(t->list[i], list);
}

/* The ids after a bundle along an axis. */
static const char *bundled_ids(TdArena *a, const char *ids, const TdSearchMove *m) {
  TdText t = td_text_new(a);
  for (int64_t d = 0; *ids; d++) {
    char *end;
    int64_t id = strtoll(ids + 1, &end, 10);
    if (d == m->axis && m->factor > 0) id /= m->factor;
    if (d != m->axis || m->factor > 0) td_text_putf(&t, "[%lld]", (long long)id);
    ids = end + 1;
  }
  return td_text_str(&t);
}

static TdTurns after_axis(TdArena *a, const TdTurns *t, const TdSearchMove *m) {
  TdTurns out = {.alone = t->alone};
  for (size_t i = 0; i < t->n; i++) {
    const char *ids = ids_of(t->name[i], m->first), *name = t->name[i];
    if (ids) name = td_text_fmt(a, "%s%s", m->first, bundled_ids(a, ids, m));
    add(&out, name, t->list[i]);
  }
  return out;
}

TdTurns td_turns_after(TdArena *a, const TdTurns *t, const TdSearchMove *m) {
  if (!m->second) return after_axis(a, t, m);
  TdTurns out = {.alone = t->alone};
  size_t x = find(t, m->first), y = find(t, m->second);
  bool nodes = x < t->n && y < t->n;
  for (size_t i = 0; i < t->n; i++) {
    const char *one = ids_of(t->name[i], m->first), *two = ids_of(t->name[i], m->second);
    if (nodes ? i == y : two != NULL) continue;
    bool merged = nodes ? i == x : one != NULL;
    size_t other = !merged ? t->n : nodes ? y : find(t, td_text_fmt(a, "%s%s", m->second, one));
    add(&out, merged && nodes ? NULL : t->name[i], t->list[i]);
    if (other < t->n) out.list[out.n - 1] = append(out.list[out.n - 1], t->list[other]);
  }
  return out;
}

bool td_turns_settle(TdArena *a, TdTurns *t, const TdGraph *g) {
  TdTurns out = {.n = g->node.n, .alone = t->alone};
  bool used[TD_TURNS_MOST] = {false};
  if (g->node.n != t->n) return false;
  for (int made = 0; made < 2; made++)
    for (uint32_t i = 0; i < g->node.n; i++) {
      const char *name = td_graph_name(a, g, i);
      size_t k = 0;
      while (k < t->n && (used[k] || (made ? t->name[k] != NULL
                                           : !t->name[k] || strcmp(t->name[k], name) != 0)))
        k++;
      if (out.name[i] || (k == t->n && !made)) continue;
      if (k == t->n) return false;
      used[k] = true;
      out.name[i] = name;
      out.list[i] = t->list[k];
    }
  *t = out;
  return true;
}

/* A list in which the order of nodes that use no stream does not show. */
static uint32_t sorted(const TdTurns *t, uint32_t list) {
  uint32_t count[8] = {0}, out = 0;
  for (uint32_t rest = list; rest; rest >>= 3) {
    if (!(t->alone >> (rest & 7) & 1)) return list;
    count[rest & 7]++;
  }
  for (uint32_t d = 1; d < 8; d++)
    for (; count[d]; count[d]--) out = out << 3 | d;
  return out;
}

uint64_t td_turns_key(const TdTurns *t) {
  uint32_t list[TD_TURNS_MOST];
  for (size_t i = 0; i < t->n; i++) {
    uint32_t x = sorted(t, t->list[i]);
    size_t k = i;
    for (; k && list[k - 1] > x; k--) list[k] = list[k - 1];
    list[k] = x;
  }
  return td_map_hash(list, t->n * sizeof *list);
}
