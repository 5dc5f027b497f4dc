/* vbuffer.c - buffers of block streams. A token is the number of one; what is got or taken is a
 * view of the memory beside that end of the stream, at that number until the next one comes. A
 * buffer that was got is given back in the cycle after the last one of its scope. */
#include "backends/verilog/vunit.h"

bool td_vbuffer_is(const TdReach *r) {
  return (r->stmt->kind == TD_STMT_GET || r->stmt->kind == TD_STMT_SLOT) && r->stmt->sym &&
         r->stmt->expr[0]->type->block;
}

TdVkBuffer *td_vbuffer_of(TdVkUnit *k, const TdVkFrame *f, const TdStmt *s) {
  for (size_t i = 0; i < k->buffer.n; i++)
    if (k->buffer.at[i]->stmt == s && k->buffer.at[i]->frame == f) return k->buffer.at[i];
  return NULL;
}

static bool refuse(TdVkUnit *k, TdLoc loc, const char *what) {
  return td_vunit_refuse(k, "not-built", loc, "take it with slot, hold it with a local",
                         "Verilog of %s is not built yet", what);
}

/* The array that leaf l has for what s declares. */
static const TdPlaced *placed_of(const TdVkLeaf *l, const TdStmt *s) {
  for (size_t i = 0; i < l->t->placed.n; i++)
    if (l->t->placed.at[i]->buffer && l->t->placed.at[i]->decl == s) return l->t->placed.at[i];
  return NULL;
}

/* The end of full buffers on whose side a task is that takes free ones there. */
static TdVkPort *full_of(TdVkUnit *k, const TdVkLeaf *l, const TdReach *r) {
  TdReach full = *r;
  full.write = r->slot;
  full.slot = false;
  return td_vport_of(k, l, &full);
}

/* The registers of what reach r gets or takes. */
static TdVkBuffer *make(TdVkUnit *k, TdVkLeaf *l, const TdReach *r) {
  TdVlModule *m = k->m;
  TdVkBuffer *b = TD_NEW(k->arena, TdVkBuffer);
  const char *name = r->stmt->sym->name;
  bool is_signed;
  *b = (TdVkBuffer){.stmt = r->stmt, .frame = l->frame, .from = td_vport_of(k, l, r)};
  b->latch = td_vtree_reg(m, td_text_fmt(k->arena, "%s_held", name), b->from->width);
  b->number = td_vtree_wire(m, td_text_fmt(k->arena, "%s_buffer", name), b->from->width);
  if (b->from->count > 1) {
    int w = td_vop_width(0, b->from->count > 2 ? b->from->count - 1 : 1, &is_signed);
    b->which = td_vtree_reg(m, td_text_fmt(k->arena, "%s_stream_held", name), w);
    b->member = td_vtree_wire(m, td_text_fmt(k->arena, "%s_stream", name), w);
  }
  if (!r->slot) {
    b->back = td_vport_back(k, b->from);
    b->held = td_vtree_reg(m, td_text_fmt(k->arena, "%s_holds", name), 1);
    b->over = td_vtree_reg(m, td_text_fmt(k->arena, "%s_over", name), 1);
  }
  td_vec_push(k->arena, &k->buffer, b);
  return b;
}

/* Shows the buffer as what its statement declares: element [stream][number][..] of the memory. */
static bool show(TdVkUnit *k, TdVkLeaf *l, const TdVkBuffer *b, TdVkPort *full) {
  const TdPlaced *p = placed_of(l, b->stmt);
  if (!p) return refuse(k, b->stmt->loc, "a block of one element");
  TdVkView v = {.sym = b->stmt->sym, .store = td_vstore_block(k, full, p, b->stmt->loc)};
  if (!v.store) return false;
  v.out[0] = v.out[1] = -1;
  if (b->member) v.base[0] = (TdVlNum){td_vtree_sig(k->m, b->member), false, 0, NULL};
  v.base[1] = (TdVlNum){td_vtree_sig(k->m, b->number), false, 0, NULL};
  for (int d = 0; d < p->rank; d++) {
    v.step[d + 2] = 1;
    v.out[d + 2] = d;
  }
  td_vec_push(k->arena, &l->frame->view, v);
  return true;
}

/* What a leaf gets and takes. */
static bool open_leaf(TdVkUnit *k, TdVkLeaf *l) {
  for (size_t i = 0; i < l->t->reach.n; i++) {
    const TdReach *r = &l->t->reach.at[i];
    if (r->array->kind == TD_CELL_MEMORY || !r->stmt->expr[0]->type->block || r->write) continue;
    if (!td_vbuffer_is(r)) return refuse(k, r->stmt->loc, "a block that is copied as it is got");
    if (td_vbuffer_of(k, l->frame, r->stmt))
      return refuse(k, r->stmt->loc, "copies of a statement that gets a block");
    TdVkPort *full = full_of(k, l, r);
    if (!show(k, l, make(k, l, r), full)) return false;
  }
  return true;
}

bool td_vbuffer_open(TdVkUnit *k) {
  for (size_t i = 0; i < k->leaf.n; i++)
    if (!open_leaf(k, k->leaf.at[i])) return false;
  return true;
}

/* x as it comes now, or as it was kept: register `kept`. */
static const TdVl *now_or(TdVkUnit *k, const TdVkGot *got, const TdVl *x, TdVlSig *kept) {
  return td_vtree_pick(k->m, got->now, td_vtree_fit(k->m, x, kept->width, false),
                       td_vtree_sig(k->m, kept));
}

void td_vbuffer_take(TdVkUnit *k, TdVkBuffer *b, const TdVkGot *got) {
  TdVlModule *m = k->m;
  const TdVl *number = td_vport_data(k, b->from, got->which);
  TdVlDo *keep = td_vtree_block(m);
  td_vtree_assign(m, b->number, now_or(k, got, number, b->latch));
  td_vtree_add(m, keep, td_vtree_set(m, b->latch, number));
  if (b->member) {
    td_vtree_assign(m, b->member, now_or(k, got, got->which, b->which));
    td_vtree_add(m, keep, td_vtree_set(m, b->which, got->which));
  }
  td_vtree_always(m, td_vunit_place(k, b->stmt->loc), td_vtree_if(m, got->now, keep, NULL));
  if (!b->back) return;
  const TdVl *one = td_vtree_const(m, 1, 1), *over = td_vtree_sig(m, b->over);
  TdVlDo *none = td_vtree_set(m, b->held, td_vtree_const(m, 1, 0));
  TdVlDo *runs =
      td_vtree_if(m, got->now, td_vtree_set(m, b->held, one), td_vtree_if(m, over, none, NULL));
  td_vtree_always(m, td_vunit_place(k, b->stmt->loc),
                  td_vtree_if(m, td_vtree_sig(m, k->rst), none, runs));
}

const TdVl *td_vbuffer_handed(TdVkUnit *k, const TdVkLeaf *l, const TdReach *r) {
  TdSym sym = r->stmt->expr[1]->sym;
  const TdVkPort *port = td_vport_of(k, l, r);
  for (size_t i = 0; i < k->buffer.n; i++) {
    const TdVkBuffer *b = k->buffer.at[i];
    if (b->stmt->sym == sym && b->frame == l->frame && !b->back && b->from->sym == port->sym)
      return td_vtree_sig(k->m, b->number);
  }
  refuse(k, r->stmt->loc, "a block that is copied as it is put");
  return NULL;
}

void td_vbuffer_begin(TdVkUnit *k, TdVlDo *out) {
  for (size_t i = 0; i < k->buffer.n; i++)
    if (k->buffer.at[i]->back)
      td_vtree_add(k->m, out,
                   td_vtree_set(k->m, k->buffer.at[i]->over, td_vtree_const(k->m, 1, 0)));
}

void td_vbuffer_end(TdVkUnit *k, const TdVkOp *op, TdVlDo *out) {
  const TdVkBuffer *b = td_vbuffer_of(k, op->frame, op->stmt);
  if (b) td_vtree_add(k->m, out, td_vtree_set(k->m, b->over, td_vtree_const(k->m, 1, 1)));
}

void td_vbuffer_finish(TdVkUnit *k) {
  TdVlModule *m = k->m;
  for (size_t i = 0; i < k->buffer.n; i++) {
    const TdVkBuffer *b = k->buffer.at[i];
    if (!b->back) continue;
    TdVkDrive d = {.on = td_vtree_and(m, td_vtree_sig(m, b->over), td_vtree_sig(m, b->held)),
                   .which = b->which ? td_vtree_sig(m, b->which) : NULL,
                   .data = td_vtree_sig(m, b->latch)};
    td_vec_push(k->arena, &b->back->drive, d);
  }
}
