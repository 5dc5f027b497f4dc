/* cost_report.c - the figures of a vendor's report in the place of those of an estimate. */
#include "analysis/time/cost.h"

#include <stdlib.h>
#include <string.h>

/* The value of a line "path value" of a report, NULL where there is none; of a range the greatest.
 */
static const char *value_of(TdArena *a, const char *lines, const char *path) {
  const char *name[] = {path, td_text_fmt(a, "%s.max", path)};
  for (int i = 0; i < 2; i++) {
    size_t n = strlen(name[i]);
    for (const char *s = lines; s && *s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL)
      if (strncmp(s, name[i], n) == 0 && s[n] == ' ')
        return td_arena_strndup(a, s + n + 1, strcspn(s + n + 1, "\n"));
  }
  return NULL;
}

/* Replaces *at by the number under a path, if there is one. */
static bool take(TdArena *a, const char *lines, const char *path, int64_t *at) {
  const char *text = value_of(a, lines, path);
  char *end = NULL;
  int64_t n = text ? strtoll(text, &end, 10) : 0;
  if (!text || end == text) return false;
  *at = n;
  return true;
}

/* The next loop from *from on that a report calls `name`: of "mm:i#2" only the variable counts. */
static TdCostLoop *loop_of(TdCost *c, const char *name, size_t *from) {
  for (size_t i = *from; i < c->loop.n; i++) {
    const char *colon = strrchr(c->loop.at[i].name, ':');
    const char *bare = colon ? colon + 1 : c->loop.at[i].name;
    size_t n = strcspn(bare, "#");
    if (strlen(name) != n || strncmp(bare, name, n) != 0) continue;
    *from = i + 1;
    return &c->loop.at[i];
  }
  return NULL;
}

/* Replaces what the report says of its loop number n; false: it has no such loop. */
static bool adopt_loop(TdCost *c, TdArena *a, const char *lines, int n, size_t *from) {
  const char *name = value_of(a, lines, td_text_fmt(a, "loops.%d.name", n));
  TdCostLoop *l = name ? loop_of(c, name, from) : NULL;
  if (!l) return name != NULL;
  take(a, lines, td_text_fmt(a, "loops.%d.trip", n), &l->most);
  take(a, lines, td_text_fmt(a, "loops.%d.latency", n), &l->cycles);
  l->estimated = l->pipelined ? l->ii : 0;
  if (take(a, lines, td_text_fmt(a, "loops.%d.ii", n), &l->ii)) {
    l->pipelined = true;
    take(a, lines, td_text_fmt(a, "loops.%d.depth", n), &l->depth);
  }
  return true;
}

bool td_cost_adopt(TdCost *c, TdArena *a, const char *lines) {
  size_t from = 0;
  if (!take(a, lines, "latency", &c->cycles)) return false;
  const char *clock = value_of(a, lines, "clock.target");
  c->clock = clock ? (int64_t)(strtod(clock, NULL) * 1000 + 0.5) : c->target->clock;
  if (c->clock <= 0) c->clock = c->target->clock;
  c->ms = (double)c->cycles * (double)c->clock / 1e9;
  take(a, lines, "resources.dsp", &c->area.dsp);
  take(a, lines, "resources.bram", &c->area.bram);
  take(a, lines, "resources.uram", &c->area.uram);
  take(a, lines, "resources.ff", &c->area.ff);
  take(a, lines, "resources.lut", &c->area.lut);
  for (int n = 1; adopt_loop(c, a, lines, n, &from); n++) continue;
  c->reported = true;
  return true;
}
