/* copies.c - layouts: which block of an argument an instance holds, and what becomes of copies. */
#include "eval/machine.h"

/* An instance's own copy of a block that other instances hold too. */
typedef struct TdCopy {
  TdTask *task;
  const TdRunArg *bind;
  const struct TdCopy *leader; /* of instance 0; NULL: this is it */
  TdMemory *own;
  TdGuard guard; /* of the block in the argument, on behalf of the leader */
  TdView block;
} TdCopy;

/* The extent of axis `axis` of t's map. */
static int64_t axis_extent(const TdTask *t, int axis) {
  int64_t n = 1;
  td_frame_value(t->network->frame->plan->unit, t->run->map[axis], &n);
  return n;
}

/* Cuts v down to the block of t's instance; *named gets a bit for each axis that the layout names.
 */
static bool cut_block(TdTask *t, const TdRunArg *b, TdView *v, unsigned *named) {
  const char *p = b->layout;
  for (int d = 0; d < v->rank; d++) {
    int axis = 0;
    if (*p == 'R') {
      p++;
      continue;
    }
    if (*p != 'S')
      return td_fault_set(t, "layout", t->run->loc, "layout \"%s\" is too short", b->layout);
    for (p++; *p >= '0' && *p <= '9'; p++)
      axis = axis < TD_MAX_RANK ? axis * 10 + (*p - '0') : axis;
    if (axis >= t->run->rank)
      return td_fault_set(t, "layout", t->run->loc, "layout \"%s\": the map has no axis %d",
                          b->layout, axis);
    int64_t parts = axis_extent(t, axis), size = v->extent[d] / parts;
    if (v->extent[d] % parts)
      return td_fault_set(t, "layout", t->run->loc,
                          "layout \"%s\": %lld elements of %s do not split over %lld instances",
                          b->layout, (long long)v->extent[d], b->arg->name, (long long)parts);
    v->base += t->id[axis] * size * v->stride[d];
    v->extent[d] = size;
    *named |= 1u << axis;
  }
  return true;
}

/* Whether some other instance of t's run holds the same block. */
static bool is_shared(const TdTask *t, unsigned named) {
  for (int axis = 0; axis < t->run->rank; axis++)
    if (!(named >> axis & 1) && axis_extent(t, axis) > 1) return true;
  return false;
}

/* The copy of this block that was made first, or NULL. */
static const TdCopy *leader_of(const TdNetwork *n, const TdRunArg *b, const TdView *block) {
  for (size_t i = 0; i < n->copy.n; i++) {
    const TdCopy *c = n->copy.at[i];
    if (!c->leader && c->bind == b && c->block.base == block->base) return c;
  }
  return NULL;
}

/* Gives t a copy of the block, loaded with what the argument holds now. */
static bool make_copy(TdTask *t, const TdRunArg *b, const TdView *block, TdView *out) {
  TdMachine *m = t->machine;
  TdCopy *c = TD_NEW(m->arena, TdCopy);
  *c = (TdCopy){.task = t, .bind = b, .block = *block, .leader = leader_of(t->network, b, block)};
  c->guard = *block->guard;
  if (c->leader) c->guard.who = c->leader->task->who;
  c->block.guard = &c->guard;
  int64_t count = td_memory_count(block), index[TD_MAX_RANK] = {0};
  if (!td_fault_room(m, count, t->run->loc)) return false;
  const TdType *type =
      td_type_tensor_of(m->session, block->memory->elem, block->rank, block->extent);
  c->own = td_memory_new(m->arena, type, b->param->name);
  for (int64_t i = 0; i < count; i++, td_memory_next(block, index)) {
    int64_t at = td_memory_offset(block, index);
    c->own->cell[i] = block->memory->cell[at];
    if (!td_memory_touch(t, &c->guard, block->memory, at, false, &t->run->loc)) return false;
  }
  *out = td_memory_view(c->own);
  td_vec_push(m->arena, &t->network->copy, c);
  return true;
}

bool td_copies_bind(TdTask *t, const TdRunArg *b, const TdView *arg, bool written, TdGuard *guard,
                    TdView *out) {
  unsigned named = 0;
  *out = *arg;
  out->guard = guard;
  if (!cut_block(t, b, out, &named)) return false;
  if (!written || !is_shared(t, named)) return true;
  TdView block = *out;
  return make_copy(t, b, &block, out);
}

/* Whether two cells hold one value. */
static bool same(const TdType *t, TdValue x, TdValue y) {
  if (!td_value_is_concrete(x) || !td_value_is_concrete(y)) return td_value_same(x, y);
  return td_domain_bits(t, x.lo) == td_domain_bits(t, y.lo);
}

/* Compares a copy with its leader's, or stores the leader's. */
static bool settle(TdMachine *m, TdCopy *c) {
  int64_t index[TD_MAX_RANK] = {0};
  for (int64_t i = 0; i < c->own->count; i++, td_memory_next(&c->block, index)) {
    int64_t at = td_memory_offset(&c->block, index);
    if (c->leader && !same(c->own->elem, c->own->cell[i], c->leader->own->cell[i]))
      return td_fault_set(c->task, "copies-differ", c->task->run->loc,
                          "%s and %s hold different values of %s at the end",
                          td_fault_task_name(c->leader->task), td_fault_task_name(c->task),
                          td_fault_element(m->arena, c->block.memory, at));
    if (c->leader) continue;
    if (!td_memory_write(c->task, &c->block, at, c->own->cell[i], &c->task->run->loc)) return false;
  }
  return true;
}

bool td_copies_store(TdMachine *m, TdNetwork *n) {
  for (size_t i = 0; i < n->copy.n; i++)
    if (!settle(m, n->copy.at[i])) return false;
  return true;
}
