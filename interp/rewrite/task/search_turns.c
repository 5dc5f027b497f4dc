/* search_turns.c - merging lists of turns as moves merge nodes. */
#include "rewrite/task/search_turns.h"

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
    t.did[i] = td_map_mix(1, i);
    t.alone[i] = is_alone(g, i);
    for (uint32_t k = i; t.alone[i] && k-- > 0;)
      if (g->node.at[k].run == x->run && g->node.at[k].body == x->body && t.alone[k])
        t.did[i] = t.did[k];
  }
  return t;
}

/* What a step makes of x and then y. */
static uint64_t join(const TdSearchMove *m, bool alone, uint64_t x, uint64_t y) {
  uint64_t how = m->second ? (uint64_t)m->prim->name[0] : 1;
  bool turned = alone && y < x;
  return td_map_mix(td_map_mix(how, turned ? y : x), turned ? x : y);
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

/* Adds a node under a name: to what is there under it, by the step m. */
static void add(TdTurns *t, const TdSearchMove *m, const char *name, uint64_t did, bool alone) {
  size_t i = name ? 0 : t->n;
  while (i < t->n && !(t->name[i] && strcmp(t->name[i], name) == 0)) i++;
  bool fresh = i == t->n;
  t->n += fresh;
  t->name[i] = name;
  t->alone[i] = alone && (fresh || t->alone[i]);
  t->did[i] = fresh ? did : join(m, t->alone[i], t->did[i], did);
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
  TdTurns out = {0};
  for (size_t i = 0; i < t->n; i++) {
    const char *ids = ids_of(t->name[i], m->first), *name = t->name[i];
    if (ids) name = td_text_fmt(a, "%s%s", m->first, bundled_ids(a, ids, m));
    add(&out, m, name, t->did[i], t->alone[i]);
  }
  return out;
}

TdTurns td_turns_after(TdArena *a, const TdTurns *t, const TdSearchMove *m) {
  if (!m->second) return after_axis(a, t, m);
  TdTurns out = {0};
  size_t x = find(t, m->first), y = find(t, m->second);
  bool nodes = x < t->n && y < t->n;
  for (size_t i = 0; i < t->n; i++) {
    const char *one = ids_of(t->name[i], m->first), *two = ids_of(t->name[i], m->second);
    if (nodes ? i == y : two != NULL) continue;
    bool merged = nodes ? i == x : one != NULL;
    size_t other = !merged ? t->n : nodes ? y : find(t, td_text_fmt(a, "%s%s", m->second, one));
    add(&out, m, merged && nodes ? NULL : t->name[i], t->did[i], t->alone[i]);
    if (other == t->n) continue;
    bool alone = out.alone[out.n - 1] && t->alone[other];
    out.alone[out.n - 1] = alone;
    out.did[out.n - 1] = join(m, alone, out.did[out.n - 1], t->did[other]);
  }
  return out;
}

bool td_turns_settle(TdArena *a, TdTurns *t, const TdGraph *g) {
  TdTurns out = {.n = g->node.n};
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
      out.did[i] = t->did[k];
      out.alone[i] = t->alone[k];
    }
  *t = out;
  return true;
}

/* The length of the task's name in that of an instance. */
static size_t task_length(const char *name) {
  return name ? strcspn(name, "[") : 0;
}

/* Whether two nodes are instances of one task. */
static bool is_same_task(const TdTurns *t, size_t i, size_t k) {
  size_t n = task_length(t->name[i]);
  return i == k || (n && n == task_length(t->name[k]) && strncmp(t->name[i], t->name[k], n) == 0);
}

uint64_t td_turns_key(const TdTurns *t) {
  uint64_t key = 0;
  for (size_t i = 0; i < t->n; i++) {
    uint64_t task = 0;
    for (size_t k = 0; k < t->n; k++) {
      const char *ids = t->name[k] ? t->name[k] + task_length(t->name[k]) : "";
      if (is_same_task(t, i, k)) task += td_map_mix(t->did[k], td_map_hash(ids, strlen(ids)));
    }
    key += td_map_mix(task, t->did[i]);
  }
  return key;
}

bool td_turns_are_alone(const TdTurns *t, const char *name) {
  for (size_t i = 0; i < t->n; i++)
    if (!t->alone[i] && (strcmp(t->name[i], name) == 0 || ids_of(t->name[i], name))) return false;
  return true;
}
