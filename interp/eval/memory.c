/* memory.c - cells, views of them, and who may touch them. */
#include "eval/machine.h"

#include <string.h>

TdMemory *td_memory_new(TdArena *a, const TdType *t, const char *name) {
  TdMemory *x = TD_NEW(a, TdMemory);
  x->elem = td_type_scalar(t);
  x->name = (TdInputName){.name = name, .rank = t->kind == TD_T_TENSOR ? t->rank : 0};
  x->count = 1;
  for (int d = 0; d < x->name.rank; d++) {
    td_type_extent(t, d, &x->name.extent[d]);
    x->count *= x->name.extent[d];
  }
  x->cell = TD_NEWN(a, TdValue, x->count);
  return x;
}

void td_memory_clear(TdMemory *x) {
  memset(x->cell, 0, (size_t)x->count * sizeof *x->cell);
}

TdView td_memory_view(TdMemory *x) {
  TdView v = {.memory = x, .rank = x->name.rank};
  int64_t stride = 1;
  for (int d = v.rank - 1; d >= 0; d--) {
    v.extent[d] = x->name.extent[d];
    v.stride[d] = stride;
    stride *= v.extent[d];
  }
  return v;
}

int64_t td_memory_offset(const TdView *v, const int64_t *index) {
  int64_t at = v->base;
  for (int d = 0; d < v->rank; d++) at += index[d] * v->stride[d];
  return at;
}

int64_t td_memory_count(const TdView *v) {
  int64_t n = 1;
  for (int d = 0; d < v->rank; d++) n *= v->extent[d];
  return n;
}

bool td_memory_next(const TdView *v, int64_t *index) {
  for (int d = v->rank - 1; d >= 0; d--) {
    if (++index[d] < v->extent[d]) return true;
    index[d] = 0;
  }
  return false;
}

bool td_memory_overlap(const TdView *x, const TdView *y) {
  if (x->memory != y->memory || x->channel != y->channel) return false;
  return td_tensor_places_meet((TdPlaces){x->base, x->rank, x->extent, x->stride},
                               (TdPlaces){y->base, y->rank, y->extent, y->stride});
}

bool td_memory_same_box(const TdView *x, const TdView *y) {
  size_t bytes = (size_t)x->rank * sizeof *x->extent;
  return x->base == y->base && x->rank == y->rank && !memcmp(x->extent, y->extent, bytes) &&
         !memcmp(x->stride, y->stride, bytes);
}

/* The instance of the network with this number. */
static const char *instance_name(const TdNetwork *n, uint32_t who) {
  return td_fault_task_name(&n->task[who - 1]);
}

/* Who touched an element before, as one of TdTouch, and who touches it now. */
typedef struct Clash {
  const TdShadow *shadow;
  const TdMemory *memory;
  int64_t offset;
  bool wrote, writes; /* before, now */
} Clash;

/* Fails because two instances share an element that one of them writes. */
static bool race(TdTask *t, const Clash *c, int first, uint32_t second, const TdLoc *loc) {
  TdMachine *m = t->machine;
  const TdTouch *o = &c->shadow->at[c->offset];
  const char *element = td_fault_element(m->arena, c->memory, c->offset);
  const char *one = instance_name(c->shadow->network, o->who[first]);
  const char *two = instance_name(c->shadow->network, second);
  const char *how = c->wrote && c->writes ? "by" : "read by";
  const char *text = td_text_fmt(m->arena, "%s is written by %s and %s %s", element,
                                 c->wrote ? one : two, how, c->wrote ? two : one);
  if (o->may[first])
    return td_fault_undecided(t, *loc, "behind a condition on symbolic values: %s", text);
  td_fault_set(t, "race", *loc, "%s", text);
  TdWitness w = {c->memory->name.name, element, *o->at[first], *loc, one, two};
  if (m->diag->kind == TD_ILLEGAL) td_diag_witness(m->diag, w);
  return false;
}

/* Notes that instance `who` touches the element. */
static void note_touch(TdTouch *o, int k, uint32_t who, const TdLoc *loc, bool may) {
  if (!o->who[k]) {
    o->who[k] = who;
    o->at[k] = loc;
    o->may[k] = may;
  } else if (o->who[k] == who && !may) {
    o->may[k] = false;
  }
}

bool td_memory_touch(TdTask *t, const TdGuard *g, const TdMemory *x, int64_t offset, bool write,
                     const TdLoc *loc) {
  enum { WRITER, READER, OTHER };
  for (; g; g = g->up) {
    TdTouch *o = &g->shadow->at[offset];
    uint32_t me = g->who;
    Clash c = {g->shadow, x, offset, true, write};
    if (o->who[WRITER] && o->who[WRITER] != me) return race(t, &c, WRITER, me, loc);
    c.wrote = false;
    for (int k = READER; write && k <= OTHER; k++)
      if (o->who[k] && o->who[k] != me) return race(t, &c, k, me, loc);
    int k = write ? WRITER : !o->who[READER] || o->who[READER] == me ? READER : OTHER;
    note_touch(o, k, me, loc, t->machine->speculative > 0);
  }
  return true;
}

TdValue td_memory_read(TdTask *t, const TdView *v, int64_t offset, const TdLoc *loc) {
  TdValue x = v->memory->cell[offset];
  if (v->guard && !td_memory_touch(t, v->guard, v->memory, offset, false, loc))
    return (TdValue){0, 0};
  if (v->memory->outside) td_timed_access(t, v->memory, offset, false);
  if (!td_value_is_defined(x))
    td_fault_set(t, "uninitialised", *loc, "%s is read before it is written",
                 td_fault_element(t->machine->arena, v->memory, offset));
  return x;
}

void td_memory_assign(TdMachine *m, TdValue *cell, const TdType *type, TdValue x) {
  TdJournal *j = m->journal;
  if (j && !td_map_getp(&j->seen, cell)) {
    td_map_putp(m->arena, &j->seen, cell, cell);
    td_vec_push(m->arena, &j->cell, ((TdOldCell){.cell = cell, .type = type, .old = *cell}));
  }
  *cell = x;
}

bool td_memory_write(TdTask *t, const TdView *v, int64_t offset, TdValue x, const TdLoc *loc) {
  if (v->guard && !td_memory_touch(t, v->guard, v->memory, offset, true, loc)) return false;
  if (v->memory->outside) td_timed_access(t, v->memory, offset, true);
  td_memory_assign(t->machine, &v->memory->cell[offset], v->memory->elem, x);
  return true;
}

void td_memory_load_blob(TdArena *a, TdMemory *x, const TdBlob *b) {
  const unsigned char *p = b->data;
  size_t bytes = td_type_bytes(x->elem);
  for (int64_t i = 0; i < x->count; i++)
    x->cell[i] = td_word_load(a, x->elem, p + (size_t)i * bytes);
}

void td_memory_load(TdArena *a, TdMemory *x, const TdTensor *from) {
  int64_t index[TD_MAX_RANK] = {0}, i = 0;
  if (!x->count) return;
  do {
    bool there = td_tensor_is_written(from, index);
    x->cell[i++] = there ? td_word_load(a, x->elem, td_tensor_at(from, index)) : (TdValue){0, 0};
  } while (td_tensor_next(from, index));
}

void td_memory_save(const TdMemory *x, TdTensor *to) {
  int64_t index[TD_MAX_RANK] = {0}, i = 0;
  if (!x->count) return;
  do {
    bool wide = x->elem->w > 64;
    if (td_value_is_concrete(x->cell[i])) td_tensor_put(to, index, wide ? 0 : x->cell[i].lo);
    if (td_value_is_concrete(x->cell[i]) && wide)
      td_word_store(x->elem, td_tensor_at(to, index), x->cell[i]);
    i++;
  } while (td_tensor_next(to, index));
}
