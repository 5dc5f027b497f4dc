/* call_out.c - calls of foreign functions that have no model, in runs on numbers: cells go out as C
 * has them, and come back. */
#include "eval/machine.h"
#include "ir/foreign.h"

/* Steps through the elements of a view; offset of the element, in its memory. */
static bool next(const TdView *v, int64_t *index, int64_t *offset) {
  bool more = td_memory_next(v, index);
  *offset = td_memory_offset(v, index);
  return more;
}

/* The elements of a view as C has them; what was never written is 0. */
static void *take_out(TdArena *a, const TdType *type, const TdView *v) {
  const TdType *elem = td_type_scalar(type);
  size_t bytes = td_type_bytes(elem);
  int64_t n = td_memory_count(v), index[TD_MAX_RANK] = {0}, offset;
  char *to = td_arena_alloc(a, (size_t)n * bytes + 1);
  if (!n) return to;
  offset = td_memory_offset(v, index);
  for (int64_t i = 0; i < n; i++) {
    TdValue x = v->memory->cell[offset];
    if (td_value_is_concrete(x)) td_num_store(elem, to + (size_t)i * bytes, x.lo);
    next(v, index, &offset);
  }
  return to;
}

/* What the call left there. */
static bool take_in(TdTask *t, const TdStmt *s, const TdType *type, const TdView *v,
                    const char *from) {
  const TdType *elem = td_type_scalar(type);
  size_t bytes = td_type_bytes(elem);
  int64_t n = td_memory_count(v), index[TD_MAX_RANK] = {0};
  int64_t offset = n ? td_memory_offset(v, index) : 0;
  bool ok = true;
  for (int64_t i = 0; ok && i < n; i++) {
    uint64_t bits = td_num_load(elem, from + (size_t)i * bytes);
    ok = td_memory_write(t, v, offset, td_value_of(bits), &s->loc);
    next(v, index, &offset);
  }
  return ok;
}

/* The arguments, laid out in a; views of arrays in `view`. */
static bool lay_out(TdTask *t, const TdStmt *s, const TdUnit *u, TdArena *a, void **at,
                    TdView *view) {
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const TdExpr *e = s->expr[i];
    const TdType *type = u->param[i].type;
    if (!td_type_is_scalar(type)) {
      if (td_type_scalar(type)->w > 64)
        return td_fault_undecided(t, s->loc, "%s takes words of more than 64 bits", s->sym->name);
      if (!td_scalar_view(t, e, &view[i])) return false;
      at[i] = take_out(a, type, &view[i]);
      continue;
    }
    TdValue x = td_scalar_cast(t, type, e->type, td_scalar_eval(t, e), e->loc);
    if (t->machine->failed) return false;
    at[i] = td_arena_alloc(a, sizeof x.lo);
    td_num_store(type, at[i], x.lo);
  }
  return true;
}

bool td_call_out_run(TdTask *t, const TdStmt *s) {
  TdMachine *m = t->machine;
  const TdForeignHost *host = m->session->foreign;
  const TdUnit *u = td_prog_unit(m->plan->prog, s->sym);
  if (m->domain || !host || !u || !u->foreign)
    return td_fault_undecided(t, s->loc, "%s is foreign and has no model", s->sym->name);
  TdArena *a = td_arena_scratch(m->session->ctx);
  void **at = TD_NEWN(a, void *, s->nexpr + 1);
  TdView *view = TD_NEWN(a, TdView, s->nexpr + 1);
  bool ok = lay_out(t, s, u, a, at, view);
  TdForeignFn *f = ok ? host->open(a, m->session, u, m->diag) : NULL;
  TdForeignEnd end = {0};
  if (f) end = host->call(f, at, NULL);
  if (f && end.how) host->tell(m->session, u, end, s->loc, m->diag);
  if (ok && (!f || end.how)) {
    m->failed = true;
    ok = false;
  }
  for (uint32_t i = 0; ok && i < s->nexpr; i++)
    if (!td_type_is_scalar(u->param[i].type)) ok = take_in(t, s, u->param[i].type, &view[i], at[i]);
  td_arena_free(a);
  return ok;
}
