/* target.c - look-ups in the tables of targets.def. */
#include "analysis/time/target.h"

#include <string.h>

enum {
#define TD_TARGET(id, ...) ID_##id,
#include "analysis/time/targets.def"
  TARGETS
};

static const TdTarget targets[TARGETS] = {
#define TD_TARGET(id, name, rows, part, ...) {name, ID_##id, ID_##rows, part, __VA_ARGS__},
#include "analysis/time/targets.def"
};

const char *const td_target_names[] = {
#define TD_TARGET(id, name, ...) name,
#include "analysis/time/targets.def"
    NULL};

const char td_target_words[] = ""
#define TD_TARGET(id, name, ...) "|" name
#include "analysis/time/targets.def"
    ;

const char td_target_parts[] = ""
#define TD_TARGET(id, name, ...)
#define TD_PART(id, name, ...) "|" name
#include "analysis/time/targets.def"
    ;

bool td_target_is_hardware(const TdTarget *t) {
  return t->again > 0;
}

bool td_target_fires(const TdTarget *t) {
  return t->part != NULL;
}

typedef struct Row {
  int target;
  const char *key;
  const char *class;
  int upto;
  int32_t stages, delay;
  int64_t interval, dsp, ff, lut, ff_bit, lut_bit;
} Row;

static const Row rows[] = {
#define TD_OPERATOR(target, key, class, ...) {ID_##target, key, #class, __VA_ARGS__},
#include "analysis/time/targets.def"
};

typedef struct Short {
  int target;
  const char *key;
  const char *class;
  int upto;
  int32_t stages;
} Short;

static const Short shorts[] = {
#define TD_SHORT(target, key, class, ...) {ID_##target, key, #class, __VA_ARGS__},
#include "analysis/time/targets.def"
};

/* The cycles of the operator of row r where a recurrence waits for it. */
static int32_t pressed(const TdTarget *t, const Row *r) {
  for (size_t i = 0; i < sizeof shorts / sizeof shorts[0]; i++) {
    const Short *s = &shorts[i];
    if (s->target == t->id && s->upto == r->upto && s->class[0] == r->class[0] &&
        strcmp(s->key, r->key) == 0)
      return s->stages;
  }
  return r->stages;
}

const TdTarget *td_target_find(const char *name) {
  for (int i = 0; i < TARGETS; i++)
    if (strcmp(targets[i].name, name) == 0) return &targets[i];
  return NULL;
}

TdOperator td_target_operator(const TdTarget *t, const char *key, const TdType *type, int bits) {
  char class = type->kind == TD_T_FLOAT ? 'F' : 'I';
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const Row *r = &rows[i];
    if (r->target != t->rows || r->class[0] != class || bits > r->upto || strcmp(r->key, key) != 0)
      continue;
    return (TdOperator){.key = r->key,
                        .type = type,
                        .stages = r->stages,
                        .delay = r->delay,
                        .pressed = pressed(t, r),
                        .interval = r->interval,
                        .dsp = r->dsp,
                        .ff = r->ff + r->ff_bit * bits,
                        .lut = r->lut + r->lut_bit * bits};
  }
  return (TdOperator){0};
}

/* A word is laid side by side in blocks of 18, 9, 4, 2 and 1 bits, 1024 to 16384 deep; Allo's fig.
 * 3 has 58 for 32768 x 32 and 2 for 32 x 32, as this gives. */
int64_t td_target_bram(int64_t width, int64_t depth) {
  static const int64_t wide[] = {18, 9, 4, 2, 1}, deep[] = {1024, 2048, 4096, 8192, 16384};
  int64_t whole = width / 36, best = 0;
  int64_t rest[37] = {0};
  for (int w = 1; w <= 36; w++) {
    rest[w] = INT64_MAX;
    for (int k = 0; k < 5; k++) {
      int64_t left = w > wide[k] ? rest[w - wide[k]] : 0;
      int64_t n = left + (depth - 1) / deep[k] + 1;
      if (n < rest[w]) rest[w] = n;
    }
  }
  best = whole * rest[36] + rest[width % 36];
  return depth > 0 ? best : 0;
}

int64_t td_target_uram(int64_t width, int64_t depth) {
  return (width + 71) / 72 * ((depth + 4095) / 4096);
}

/* Fig. 3 again: banks of 32 words of 32 bits, 1024 bits, are block RAM. */
bool td_target_is_small(int64_t width, int64_t depth) {
  return width == 0 || depth <= 1023 / width;
}
