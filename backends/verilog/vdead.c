/* vdead.c - assignments of wires that nothing reads are left out: reads of each are counted, and
 * what is dropped takes back its own, until none is left. */
#include "backends/verilog/vtree.h"

/* Counts reads, or takes them back. Wires that come to none are listed. */
typedef struct Reads {
  TdArena *arena;
  int64_t by;
  TD_VEC(TdVlSig *) none;
} Reads;

static void count_expr(Reads *r, const TdVl *e) {
  if (!e) return;
  if (e->kind == TD_VL_SIG) {
    e->sig->reads += r->by;
    if (!e->sig->reads) td_vec_push(r->arena, &r->none, e->sig);
  }
  count_expr(r, e->x);
  count_expr(r, e->y);
  count_expr(r, e->z);
}

static void count_do(Reads *r, const TdVlDo *d) {
  count_expr(r, d->x);
  for (size_t i = 0; i < d->kid.n; i++) count_do(r, d->kid.at[i]);
}

static void count_item(Reads *r, const TdVlItem *i) {
  count_expr(r, i->x);
  if (i->act) count_do(r, i->act);
  for (size_t k = 0; k < i->port.n; k++) count_expr(r, i->port.at[k].x);
  for (size_t k = 0; i->scope && k < i->scope->item.n; k++) count_item(r, i->scope->item.at[k]);
}

/* Notes for each wire the one item that assigns all of it. */
static void note_items(Reads *r, TdVlScope *s) {
  for (size_t k = 0; k < s->item.n; k++) {
    TdVlItem *i = s->item.at[k];
    if (i->kind == TD_VL_ASSIGN) i->to->assigned = i;
    if (i->scope) note_items(r, i->scope);
  }
  for (size_t k = 0; k < s->sig.n; k++)
    if (!s->sig.at[k]->reads) td_vec_push(r->arena, &r->none, s->sig.at[k]);
}

static void drop_items(TdVlScope *s) {
  size_t n = 0;
  for (size_t k = 0; k < s->item.n; k++) {
    TdVlItem *i = s->item.at[k];
    if (i->scope) drop_items(i->scope);
    if (i->kind != TD_VL_ASSIGN || !i->to->gone) s->item.at[n++] = i;
  }
  s->item.n = n;
}

void td_vdead_drop(TdVlModule *m) {
  Reads r = {.arena = m->arena, .by = 1};
  for (size_t k = 0; k < m->top.item.n; k++) count_item(&r, m->top.item.at[k]);
  note_items(&r, &m->top);
  r.by = -1;
  for (size_t i = 0; i < r.none.n; i++) {
    TdVlSig *s = r.none.at[i];
    if (s->output || s->input || s->reg || s->gone || !s->assigned || s->reads) continue;
    s->gone = true;
    count_expr(&r, s->assigned->x);
  }
  drop_items(&m->top);
}
