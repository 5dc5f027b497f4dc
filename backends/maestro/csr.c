/* csr.c - the register map of a system: readers, writers, then pairs, each by name; then
 * the enables and registers of extensions, the start. What registers say, and what values would do.
 */
#include "backends/maestro/csr.h"

#include <string.h>

typedef enum {
#define TD_MAESTRO_CSR(id, name, count, summary) FIELD_##id,
#include "backends/maestro/csr.def"
  FIELDS
} Field;

typedef struct Map {
  const TdMaestroSystem *system;
  TdArena *arena;
  TdMaestroCsrs *out;
} Map;

static void put(Map *m, int streamer, int field, int64_t index, const char *name) {
  TdMaestroCsr r = {.name = name, .streamer = streamer, .field = field, .index = index};
  r.number = TD_MAESTRO_CSR_FIRST + (int64_t)m->out->n;
  td_vec_push(m->arena, m->out, r);
}

/* The registers of one field. */
static void put_field(Map *m, int i, int field, int64_t count, const char *name) {
  const char *owner = m->system->at[i].name;
  for (int64_t k = 0; k < count; k++)
    put(m, i, field, k,
        count > 1 || field == FIELD_LANE || field == FIELD_BOUND || field == FIELD_STRIDE
            ? td_text_fmt(m->arena, "%s.%s%lld", owner, name, (long long)k)
            : td_text_fmt(m->arena, "%s.%s", owner, name));
}

static void put_streamer(Map *map, int i) {
  const TdMaestroStreamer *s = &map->system->at[i];
  const TdMaestroMemory *m = &map->system->memory;
#define TD_MAESTRO_CSR(id, name, count, summary) put_field(map, i, FIELD_##id, count, name);
#include "backends/maestro/csr.def"
  (void)m;
}

/* The enable word of a streamer's extensions, and their registers. */
static void put_exts(Map *m, int i) {
  const TdMaestroStreamer *s = &m->system->at[i];
  if (!s->next) return;
  put(m, i, TD_MAESTRO_CSR_EXT, 0, td_text_fmt(m->arena, "%s.ext", s->name));
  for (int k = 0; k < s->next; k++) {
    const char *at = td_maestro_ext_info[s->ext[k].kind].regs;
    for (int r = 0; *at; r++) {
      size_t n = strcspn(at, " ");
      put(m, i, TD_MAESTRO_CSR_REG, k * TD_MAESTRO_ARGS + r,
          td_text_fmt(m->arena, "%s.ext%d.%.*s", s->name, k, (int)n, at));
      at += n + (at[n] == ' ');
    }
  }
}

/* Calls fn for each streamer: readers, writers, pairs. */
static void each(Map *m, void (*fn)(Map *, int)) {
  const TdMaestroSystem *s = m->system;
  bool paired[TD_MAESTRO_STREAMERS] = {false};
  for (int i = 0; i < s->n; i++)
    if (s->at[i].shares >= 0) paired[s->at[i].shares] = true;
  for (int writes = 0; writes < 2; writes++)
    for (int i = 0; i < s->n; i++)
      if (!paired[i] && s->at[i].shares < 0 && s->at[i].writer == (writes == 1)) fn(m, i);
  for (int i = 0; i < s->n; i++) {
    if (!paired[i]) continue;
    fn(m, i);
    for (int k = 0; k < s->n; k++)
      if (s->at[k].shares == i) fn(m, k);
  }
}

const TdMaestroCsrs *td_maestro_csr_map(const TdMaestroSystem *s, TdArena *a) {
  TdMaestroCsrs *out = TD_NEW(a, TdMaestroCsrs);
  Map m = {.system = s, .arena = a, .out = out};
  each(&m, put_streamer);
  each(&m, put_exts);
  put(&m, -1, TD_MAESTRO_CSR_START, 0, "start");
  return out;
}

enum { EACH = 256 }; /* a register of the array is number kind * EACH + k */

/* Four shifts in a word, from column 4 k on. */
static int64_t shifts_of(const TdMaestroWork *w, int64_t k) {
  int64_t x = 0;
  for (int i = 0; i < 4; i++) x |= (w->column[4 * k + i].shift & 255) << (8 * i);
  return x;
}

/* The registers of one kind: one, or `count` with numbers. */
static void put_work(Map *m, int64_t kind, const char *name, int64_t count) {
  int64_t first = m->out->n ? m->out->at[0].number : 0;
  for (int64_t k = 0; k < (count ? count : 1); k++) {
    TdMaestroCsr r = {name, -1, TD_MAESTRO_CSR_WORK, kind * EACH + k, 0};
    if (count) r.name = td_text_fmt(m->arena, "%s%lld", name, (long long)k);
    r.number = m->out->n
                   ? first + (int64_t)m->out->n
                   : TD_MAESTRO_CSR_FIRST + (int64_t)td_maestro_csr_map(m->system, m->arena)->n + 2;
    td_vec_push(m->arena, m->out, r);
  }
}

const TdMaestroCsrs *td_maestro_csr_extra(const TdMaestroSystem *s, TdArena *a) {
  TdMaestroCsrs *out = TD_NEW(a, TdMaestroCsrs);
  Map m = {.system = s, .arena = a, .out = out};
  int64_t kind = 0;
#define TD_MAESTRO_WORK(name, count, value, summary) put_work(&m, kind++, name, count);
#include "backends/maestro/work.def"
  return out;
}

uint32_t td_maestro_csr_work(const TdMaestroWork *w, const TdMaestroCsr *r) {
  int64_t k = r->index % EACH;
  const int64_t value[] = {
#define TD_MAESTRO_WORK(name, count, value, summary) value,
#include "backends/maestro/work.def"
  };
  return (uint32_t)value[r->index / EACH];
}

/* The word of a mask, the most significant one first. */
static int mask_shift(const TdMaestroStreamer *s, int64_t index) {
  return (int)((s->channels + 31) / 32 - 1 - index) * 32;
}

uint32_t td_maestro_csr_value(const TdMaestroSystem *s, const TdMaestroPattern *pattern,
                              const TdMaestroCsr *r) {
  if (r->streamer < 0) return 1;
  const TdMaestroPattern *p = &pattern[r->streamer];
  uint64_t base = (uint64_t)p->base;
  if (!p->used) return 0;
  switch (r->field) {
  case FIELD_BASE_LO: return (uint32_t)base;
  case FIELD_BASE_HI: return (uint32_t)(base >> 32);
  case FIELD_LANE: return (uint32_t)p->lane_stride[r->index];
  case FIELD_BOUND: return (uint32_t)p->bound[r->index];
  case FIELD_STRIDE: return (uint32_t)p->stride[r->index];
  case FIELD_MODE: return (uint32_t)p->mode;
  case FIELD_MASK: return (uint32_t)(p->mask >> mask_shift(&s->at[r->streamer], r->index));
  case FIELD_BYTES: return p->bytes;
  case TD_MAESTRO_CSR_EXT: return p->ext;
  default: return (uint32_t)p->reg[r->index / TD_MAESTRO_ARGS][r->index % TD_MAESTRO_ARGS];
  }
}

/* Sets what a register says in a pattern. */
static void set(const TdMaestroStreamer *s, TdMaestroPattern *p, const TdMaestroCsr *r,
                uint32_t v) {
  switch (r->field) {
  case FIELD_BASE_LO: p->base |= v; break;
  case FIELD_BASE_HI: p->base |= (int64_t)((uint64_t)v << 32); break;
  case FIELD_LANE: p->lane_stride[r->index] = v; break;
  case FIELD_BOUND: p->bound[r->index] = v; break;
  case FIELD_STRIDE: p->stride[r->index] = v; break;
  case FIELD_MODE: p->mode = (int)v; break;
  case FIELD_MASK: p->mask |= (uint64_t)v << mask_shift(s, r->index); break;
  case FIELD_BYTES: p->bytes = v; break;
  case TD_MAESTRO_CSR_EXT: p->ext = v; break;
  default: p->reg[r->index / TD_MAESTRO_ARGS][r->index % TD_MAESTRO_ARGS] = v;
  }
}

/* Whether a pattern is one that the hardware can be in. */
static bool check(const TdMaestroSystem *s, int i, const TdMaestroPattern *p, TdDiag *d) {
  const TdMaestroStreamer *x = &s->at[i];
  int64_t bytes = td_maestro_system_bytes(&s->memory);
  if (p->mode >= s->memory.nmode)
    return td_diag_set(d, TD_USAGE, "maestro-csr", (TdLoc){0},
                       "%s.mode is %d, and the memory has modes 0 to %d", x->name, p->mode,
                       s->memory.nmode - 1);
  if (p->base < 0 || p->base >= bytes || p->base % s->memory.word)
    return td_diag_set(d, TD_USAGE, "maestro-csr", (TdLoc){0},
                       "%s.base is %lld: no address of a word in a memory of %lld bytes", x->name,
                       (long long)p->base, (long long)bytes);
  for (int k = 0; k < x->nlane + x->loops; k++) {
    int64_t v = k < x->nlane ? p->lane_stride[k] : p->stride[k - x->nlane];
    if (v % s->memory.word || v >= bytes)
      return td_diag_set(d, TD_USAGE, "maestro-csr", (TdLoc){0},
                         "%s: a stride of %lld bytes: whole words below %lld", x->name,
                         (long long)v, (long long)bytes);
  }
  if (p->ext >> x->next)
    return td_diag_set(d, TD_USAGE, "maestro-csr", (TdLoc){0},
                       "%s.ext is %u, and it has %d "
                       "extensions",
                       x->name, (unsigned)p->ext, x->next);
  return true;
}

bool td_maestro_csr_decode(const TdMaestroSystem *s, const TdMaestroCsrs *map,
                           const uint32_t *value, TdMaestroPattern *pattern, TdDiag *d) {
  for (int i = 0; i < s->n; i++)
    pattern[i] = (TdMaestroPattern){
        .used = true, .mask = s->at[i].mask ? 0 : UINT64_MAX, .bytes = UINT32_MAX};
  for (size_t i = 0; i < map->n; i++)
    if (map->at[i].streamer >= 0)
      set(&s->at[map->at[i].streamer], &pattern[map->at[i].streamer], &map->at[i], value[i]);
  for (int i = 0; i < s->n; i++) {
    for (int k = 0; k < s->at[i].loops; k++) pattern[i].used &= pattern[i].bound[k] > 0;
    if (pattern[i].used && !check(s, i, &pattern[i], d)) return false;
  }
  return true;
}
