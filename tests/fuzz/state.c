/* state.c - a line for each count: KEY N, primitive NAME TRIED ACCEPTED, feature N TEXT,
 * reason PRIMITIVE KIND CODE N FORCED SAME CHANCE. */
#include "tests/fuzz/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEYS = 16 };

/* A count without parts, under its key. */
typedef struct Key {
  const char *name;
  uint64_t *at;
} Key;

static void keys_of(State *s, Key *key) {
  Counts *n = &s->counts;
  Key list[KEYS] = {{"seed", &s->seed},
                    {"from", &s->from},
                    {"failures", &s->failures},
                    {"cases", &n->cases},
                    {"kernels_refused", &n->kernels_refused},
                    {"undecided", &n->undecided},
                    {"regrouped", &n->regrouped},
                    {"uncompiled", &n->uncompiled},
                    {"pinned", &n->pinned},
                    {"accepted", &n->accepted},
                    {"refused", &n->refused},
                    {"points", &n->points},
                    {"nanoseconds", &n->nanoseconds},
                    {"work", &n->work},
                    {"libtcc", &n->libtcc},
                    {"cc", &n->cc}};
  memcpy(key, list, sizeof list);
}

/* The number of a primitive, or -1. */
static int number_of(const char *name) {
  for (int i = 0; td_prims[i] && i < PRIMS; i++)
    if (strcmp(td_prims[i]->name, name) == 0) return i;
  return -1;
}

static void load_reason(Counts *n, const char *line) {
  char name[40], code[22];
  int kind;
  Reason r = {0};
  if (sscanf(line, "reason %39s %d %21s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, name, &kind,
             code, &r.n, &r.forced, &r.same, &r.chance) < 6 ||
      number_of(name) < 0 || n->nreason == REASONS)
    return;
  r.prim = (uint8_t)number_of(name);
  r.kind = (uint8_t)kind;
  memcpy(r.code, code, sizeof r.code);
  n->reason[n->nreason++] = r;
}

/* A line that says what its parts are. */
static void load_part(Counts *n, const char *line) {
  char name[64];
  uint64_t x, y;
  if (sscanf(line, "primitive %39s %" SCNu64 " %" SCNu64, name, &x, &y) == 3) {
    int i = number_of(name);
    if (i >= 0) n->prim_tried[i] = x, n->prim_accepted[i] = y;
  } else if (sscanf(line, "feature %" SCNu64 " %63[^\n]", &x, name) == 2) {
    for (int f = 0; f < FEATURES; f++)
      if (strcmp(feature_text[f], name) == 0) n->feature[f] = x;
  } else {
    load_reason(n, line);
  }
}

bool state_load(State *s, const char *path) {
  FILE *f = fopen(path, "r");
  char line[200], name[40];
  Key key[KEYS];
  if (!f) return false;
  *s = (State){0};
  keys_of(s, key);
  while (fgets(line, sizeof line, f)) {
    uint64_t x;
    bool known = false;
    for (int i = 0; i < KEYS && !known; i++)
      if (sscanf(line, "%39s %" SCNu64, name, &x) == 2 && strcmp(name, key[i].name) == 0)
        *key[i].at = x, known = true;
    if (!known) load_part(&s->counts, line);
  }
  fclose(f);
  return true;
}

bool state_save(const State *s, const char *path) {
  State copy = *s;
  const Counts *n = &copy.counts;
  Key key[KEYS];
  FILE *f = fopen(path, "w");
  if (!f) return false;
  keys_of(&copy, key);
  for (int i = 0; i < KEYS; i++) fprintf(f, "%s %" PRIu64 "\n", key[i].name, *key[i].at);
  for (int i = 0; td_prims[i] && i < PRIMS; i++)
    fprintf(f, "primitive %s %" PRIu64 " %" PRIu64 "\n", td_prims[i]->name, n->prim_tried[i],
            n->prim_accepted[i]);
  for (int i = 0; i < FEATURES; i++)
    fprintf(f, "feature %" PRIu64 " %s\n", n->feature[i], feature_text[i]);
  for (uint64_t i = 0; i < n->nreason; i++) {
    const Reason *r = &n->reason[i];
    fprintf(f, "reason %s %d %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
            td_prims[r->prim]->name, r->kind, r->code, r->n, r->forced, r->same, r->chance);
  }
  return fclose(f) == 0;
}
