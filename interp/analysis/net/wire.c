/* wire.c - which streams a statement means, and what it does to them. */
#include "analysis/net/abstract_run.h"

enum { MOST_CHOICES = 4096 };

/* Refuses an index that is never inside; where it need not be reached it is nothing. */
static bool outside(TdFollow *f, TdWire *out, const TdExpr *view, uint32_t d, TdSpan i) {
  out->none = true;
  if (f->maybe) return true;
  const TdKnown *k = &f->known[view->sym->id];
  f->stop = true;
  td_diag_set(f->diag, TD_ILLEGAL, "stream-range", view->loc,
              "index %lld of dimension %u of stream '%s' is out of range: there are %lld",
              (long long)i.lo, d, view->sym->name, (long long)k->wire.extent[d]);
  td_diag_note(f->diag, view->loc, "in %s", td_traffic_inst_name(f->diag->arena, f->net, f->inst));
  return false;
}

/* Takes place i, or one of several, of dimension d; `span` more places follow from there. */
static bool pick(TdFollow *f, TdWire *out, const TdExpr *view, uint32_t d, TdSpan i, int64_t span) {
  const TdWire *of = &f->known[view->sym->id].wire;
  int64_t last = of->extent[d] - 1 - span;
  if (i.hi < 0 || i.lo > last) return outside(f, out, view, d, i);
  if (i.lo < 0) i.lo = 0;
  if (i.hi > last) i.hi = last;
  out->chan += (uint32_t)(i.lo * of->stride[d]);
  if (i.lo == i.hi || out->nfree == TD_MAX_RANK) return true;
  out->free[out->nfree] = i.hi - i.lo + 1;
  out->by[out->nfree++] = of->stride[d];
  return true;
}

bool td_wire_of(TdFollow *f, const TdExpr *view, TdWire *out) {
  *out = f->known[view->sym->id].wire;
  TdWire of = *out;
  out->rank = 0;
  for (uint32_t d = 0; d < view->nkid; d++) {
    const TdViewDim *dim = &view->u.dim[d];
    TdSpan i = td_abstract_run_span(f, view->kid[d]);
    int64_t n = 1;
    f->undecided |= td_span_is_one(i) ? 0 : i.loops;
    if (f->undecided) return false;
    if (dim->out >= 0) {
      td_unit_value(f->unit, view->type->dim[dim->out], &n);
      out->extent[dim->out] = n;
      out->stride[dim->out] = dim->step * of.stride[d];
      out->rank++;
    }
    if (n && !pick(f, out, view, d, i, (n - 1) * dim->step)) return false;
  }
  return true;
}

/* How many streams w may be. */
static int64_t choices(const TdWire *w) {
  int64_t n = 1;
  for (int d = 0; d < w->nfree; d++) n = td_span_times(n, w->free[d]);
  return n;
}

/* The event on one of the streams [lo, hi) of w, in row-major order. */
static const TdMove *any_of(TdFollow *f, const TdWire *w, TdMoveKind kind, const TdStmt *s,
                            int64_t lo, int64_t hi) {
  TdMoves *m = &f->net->moves;
  if (hi - lo > 1) {
    int64_t mid = lo + (hi - lo) / 2;
    return td_token_trace_choice(m, any_of(f, w, kind, s, lo, mid), any_of(f, w, kind, s, mid, hi));
  }
  int64_t at = w->chan;
  for (int d = w->nfree - 1; d >= 0; lo /= w->free[d], d--) at += lo % w->free[d] * w->by[d];
  return td_token_trace_event(m, kind, (uint32_t)at, s);
}

/* The event on w. */
static const TdMove *event(TdFollow *f, const TdWire *w, TdMoveKind kind, const TdStmt *s) {
  int64_t n = choices(w);
  if (w->none) return td_token_trace_nothing(&f->net->moves);
  if (n <= MOST_CHOICES) return any_of(f, w, kind, s, 0, n);
  f->net->open = "the data picks one of too many streams";
  f->stop = true;
  return NULL;
}

/* Whether `value` is all of a buffer that came from a slot of w and is in hand; then it is in hand
 * no more. */
static bool hand_over(TdFollow *f, const TdWire *w, const TdExpr *value) {
  for (size_t i = 0; i < f->held.n; i++) {
    const TdHeldWire *h = &f->held.at[i];
    if (!td_expr_keeps_dims(value, h->sym) || !h->empty || h->wire.chan != w->chan) continue;
    if (value->type != h->stmt->type) continue;
    for (f->held.n--; i < f->held.n; i++) f->held.at[i] = f->held.at[i + 1];
    return true;
  }
  return false;
}

const TdMove *td_wire_move(TdFollow *f, const TdStmt *s) {
  TdWire w;
  if (!td_wire_of(f, s->expr[0], &w)) return NULL;
  const TdType *port = s->expr[0]->type;
  if (s->kind == TD_STMT_PUT)
    return event(f, &w, port->block && hand_over(f, &w, s->expr[1]) ? TD_MOVE_HAND : TD_MOVE_PUT,
                 s);
  bool slot = s->kind == TD_STMT_SLOT;
  if (!slot && !(port->block && s->sym && port->elem->kind == TD_T_TENSOR))
    return event(f, &w, TD_MOVE_GET, s);
  if (!w.none)
    td_vec_push(f->net->arena, &f->held,
                ((TdHeldWire){.sym = s->sym, .wire = w, .empty = slot, .stmt = s}));
  return event(f, &w, slot ? TD_MOVE_SLOT : TD_MOVE_HOLD, s);
}

const TdMove *td_wire_release(TdFollow *f, size_t n) {
  TD_VEC(const TdMove *) row = {0};
  while (f->held.n > n) {
    const TdHeldWire h = f->held.at[--f->held.n];
    td_vec_push(f->net->arena, &row, event(f, &h.wire, TD_MOVE_FREE, h.stmt));
  }
  return td_token_trace_seq(&f->net->moves, row.at, row.n);
}

const TdMove *td_wire_anything(TdFollow *f, const TdWire *w, const TdStmt *s) {
  TdMoves *m = &f->net->moves;
  TdWire all = *w;
  for (int d = 0; d < w->rank && all.nfree < TD_MAX_RANK; d++) {
    all.free[all.nfree] = w->extent[d];
    all.by[all.nfree++] = w->stride[d];
  }
  const TdMove *put = event(f, &all, TD_MOVE_PUT, s), *get = event(f, &all, TD_MOVE_GET, s);
  if (!put || !get) return NULL;
  return td_token_trace_repeat(m, td_token_trace_choice(m, put, get), 0, INT64_MAX);
}
