/* vport.c - the ends of streams that a module has: one stream, or a row of them side by side, of
 * which an index says the one at hand. A token of several beats is gathered before it is seen, and
 * spread behind what puts it. */
#include <inttypes.h>

#include "backends/verilog/vunit.h"

/* The elements of a token of type t. */
static int64_t token_elements(const TdVkUnit *k, const TdType *t) {
  int64_t n = 1, extent;
  for (int d = 0; t->kind == TD_T_TENSOR && d < t->rank; d++)
    if (td_unit_value(k->unit, t->dim[d], &extent)) n *= extent;
  return n;
}

/* What a token is in beats; of blocks it is the number of a buffer. */
static void take_shape(TdVkUnit *k, TdVkPort *x, const TdParam *p, int width) {
  const TdType *token = p->type->elem;
  const TdAttr *lanes = td_attrs_get(p->attrs, TD_ATTR_LANES);
  const TdAttr *depth = td_attrs_get(p->attrs, TD_ATTR_MIN_DEPTH);
  int64_t elements = token_elements(k, token), extent;
  bool is_signed;
  x->block = p->type->block;
  x->depth = depth ? depth->arg[0].i : 1;
  x->width = width * (int)elements;
  if (x->block) x->width = td_vop_width(0, x->depth > 2 ? x->depth - 1 : 1, &is_signed);
  x->beats = depth && !x->block ? td_unit_beats(k->unit, p->attrs, token) : 1;
  x->part = x->beats > 1 ? width * (int)lanes->arg[0].i : x->width;
  x->count = 1;
  for (int d = 0; d < p->type->rank; d++)
    if (td_unit_value(k->unit, p->type->dim[d], &extent)) x->count *= extent;
}

static const char *const port_words[] = {"put", "room", "take", "done", "valid", "data", NULL};

static TdVlSig *pin(TdVkUnit *k, const TdVkPort *x, const char *what, int width, bool out) {
  const char *name = td_text_fmt(k->arena, "%s_%s", x->name, what);
  width *= (int)x->count;
  return td_vtree_pin(k->m, name, width, out);
}

/* What gathers beats to tokens, or spreads tokens to beats. */
static void add_beats(TdVkUnit *k, TdVkPort *x) {
  TdVlModule *m = k->m;
  int n = (int)x->count;
  bool put = x->put;
  const char *own = td_text_fmt(k->arena, "%s_%s", x->name, put ? "spread" : "gather");
  TdVlItem *u = td_vtree_instance(m, put ? "tide_spread" : "tide_gather", own);
  TdVlSig *there = pin(k, x, put ? "room" : "valid", 1, false);
  TdVlSig *beat = put ? NULL : pin(k, x, "data", x->part, false);
  TdVlSig *moves = pin(k, x, put ? "put" : "take", 1, true);
  TdVlSig *out = put ? pin(k, x, "data", x->part, true) : NULL;
  x->ready = td_vtree_wire(m, td_text_fmt(k->arena, "%s_ready", own), n);
  x->last = td_vtree_wire(m, td_text_fmt(k->arena, "%s_last", own), n);
  x->move = td_vtree_wire(m, td_text_fmt(k->arena, "%s_go", own), n);
  TdVlSig *token = td_vtree_wire(m, td_text_fmt(k->arena, "%s_token", own), n * x->width);
  *(put ? &x->given : &x->data) = token;
  td_vtree_param(m, u, "W", x->part);
  td_vtree_param(m, u, "B", x->beats);
  td_vtree_param(m, u, "T", x->width);
  td_vtree_param(m, u, "N", n);
  td_vtree_connect(m, u, "clk", td_vtree_sig(m, k->clk));
  td_vtree_connect(m, u, "rst", td_vtree_sig(m, k->rst));
  td_vtree_connect(m, u, "go", td_vtree_sig(m, x->move));
  td_vtree_take(m, u, "ready", x->ready);
  td_vtree_take(m, u, "last", x->last);
  if (put)
    td_vtree_connect(m, u, "token", td_vtree_sig(m, token));
  else
    td_vtree_take(m, u, "token", token);
  td_vtree_connect(m, u, put ? "room" : "valid", td_vtree_sig(m, there));
  td_vtree_take(m, u, put ? "put" : "take", moves);
  if (put)
    td_vtree_take(m, u, "out", out);
  else
    td_vtree_connect(m, u, "in", td_vtree_sig(m, beat));
}

/* A new end of a stream, called after it. */
static TdVkPort *add_port(TdVkUnit *k, TdVkPort of, const char *name, int width) {
  TdVkPort *x = td_arena_copy(k->arena, &of, sizeof of);
  bool put = x->put;
  take_shape(k, x, td_unit_param(k->unit, x->sym), width);
  x->name = td_vtree_family(k->m, name, port_words, false);
  td_vec_push(k->arena, &k->port, x);
  if (x->beats > 1) {
    add_beats(k, x);
    return x;
  }
  if (!put || !k->free) x->ready = pin(k, x, put ? "room" : "valid", 1, false);
  if (!put) x->data = pin(k, x, "data", x->width, false);
  return x;
}

TdVkPort *td_vport_of(TdVkUnit *k, const TdVkLeaf *l, const TdReach *r) {
  const TdVkView *v = td_vstore_view(l->frame, r->array->sym);
  TdSym sym = v ? v->stream : r->array->sym;
  for (size_t i = 0; i < k->port.n; i++) {
    TdVkPort *p = k->port.at[i];
    if (p->sym == sym && p->put == r->write && p->spare == r->slot) return p;
  }
  const char *name = r->slot ? td_text_fmt(k->arena, "%s_free", sym->name) : sym->name;
  TdVkPort of = {.sym = sym, .put = r->write, .spare = r->slot};
  return add_port(k, of, name, r->array->width);
}

TdVkPort *td_vport_back(TdVkUnit *k, const TdVkPort *port) {
  const char *name = td_text_fmt(k->arena, "%s_back", port->sym->name);
  return add_port(k, (TdVkPort){.sym = port->sym, .put = true, .spare = true}, name, port->width);
}

/* Bits that numbers of members take. */
static int bits_of(const TdVkPort *p) {
  bool is_signed;
  return td_vop_width(0, p->count > 2 ? p->count - 1 : 1, &is_signed);
}

/* The forms of the stream that leaf l names, which a view of a caller may move. */
static const TdVl *number(TdVkUnit *k, TdVkLeaf *l, const TdVkPort *p, const TdReach *r,
                          int64_t cycle) {
  TdVlModule *m = k->m;
  const TdType *t = td_unit_param(k->unit, p->sym)->type;
  const TdVkView *v = td_vstore_view(l->frame, r->array->sym);
  const TdAff *at = r->array->spot.at[r->spot].at;
  int w = bits_of(p);
  const TdVl *sum = NULL;
  int64_t weight = 1, extent;
  uint64_t bits;
  for (int d = t->rank; d-- > 0; weight *= extent) {
    TdAff f = td_sys_const(0);
    if (!v) f = at[d];
    if (v && v->out[d] >= 0) f = td_sys_plus(k->arena, f, v->step[d], at[v->out[d]]);
    const TdVl *x =
        td_vform_bits(k, l, td_sys_plus(k->arena, td_sys_const(0), weight, f), cycle, w);
    if (v && v->base[d].e) {
      const TdVl *by = td_vtree_const(m, w, (uint64_t)weight);
      const TdVl *base = td_vop_fit(m, v->base[d], w);
      base = td_vtree_is_const(base, &bits) ? td_vtree_const(m, w, bits * (uint64_t)weight)
                                            : td_vtree_binary(m, "*", w, base, by);
      x = td_vtree_binary(m, "+", w, x, base);
    }
    sum = sum ? td_vtree_binary(m, "+", w, sum, x) : x;
    if (!td_unit_value(k->unit, t->dim[d], &extent)) extent = 1;
  }
  return sum;
}

/* The constant that x is, where its operands are. */
static bool known(const TdVl *x, uint64_t *bits) {
  uint64_t a, b;
  if (td_vtree_is_const(x, bits)) return true;
  if (x->kind != TD_VL_BINARY || *x->op != '+' || !known(x->x, &a) || !known(x->y, &b))
    return false;
  *bits = (a + b) & ((UINT64_C(1) << x->width) - 1);
  return true;
}

const TdVl *td_vport_which(TdVkUnit *k, TdVkLeaf *l, const TdReach *r, int64_t cycle) {
  TdVkPort *p = td_vport_of(k, l, r);
  uint64_t bits;
  if (p->count == 1) return NULL;
  const TdVl *x = number(k, l, p, r, cycle);
  if (known(x, &bits)) return td_vtree_const(k->m, x->width, bits);
  return td_vtree_sig(k->m, td_vtree_named(k->m, td_text_fmt(k->arena, "%s_which", p->name), x));
}

/* `width` bits of each member, of the one at hand. */
static const TdVl *member(TdVkUnit *k, TdVlSig *all, const TdVl *which, int width) {
  TdVlModule *m = k->m;
  const TdVl *x = td_vtree_sig(m, all);
  uint64_t n;
  if (!which) return x;
  if (td_vtree_is_const(which, &n))
    return (int)(n + 1) * width <= all->width ? td_vtree_slice(m, x, (int)n * width, width)
                                              : td_vtree_const(m, width, 0);
  const TdVl *by = td_vtree_fit(m, which, 32, false);
  if (width > 1) by = td_vtree_binary(m, "*", 32, by, td_vtree_const(m, 32, (uint64_t)width));
  return td_vtree_slice(m, td_vtree_binary(m, ">>", all->width, x, by), 0, width);
}

const TdVl *td_vport_ready(TdVkUnit *k, const TdVkPort *p, const TdVl *which) {
  return member(k, p->ready, which, 1);
}

const TdVl *td_vport_data(TdVkUnit *k, const TdVkPort *p, const TdVl *which) {
  return member(k, p->data, which, p->width);
}

const TdVl *td_vport_last(TdVkUnit *k, const TdVkPort *p, const TdVl *which) {
  return p->beats > 1 ? member(k, p->last, which, 1) : NULL;
}

const TdVl *td_vport_same(TdVkUnit *k, const TdVl *x, const TdVl *y) {
  uint64_t a, b;
  if (!x || !y) return NULL;
  if (td_vtree_is_const(x, &a) && td_vtree_is_const(y, &b)) return td_vtree_const(k->m, 1, a == b);
  return td_vtree_binary(k->m, "==", 1, x, y);
}

/* What moves a token of member `at` of the row, and the token. */
static const TdVl *drive(TdVkUnit *k, const TdVkPort *p, int64_t at, const TdVl **data) {
  TdVlModule *m = k->m;
  const TdVl *on = NULL;
  *data = NULL;
  for (size_t j = p->drive.n; j-- > 0;) {
    const TdVkDrive *d = &p->drive.at[j];
    const TdVl *own = d->which ? td_vtree_const(m, d->which->width, (uint64_t)at) : NULL;
    const TdVl *here = td_vtree_and(m, d->on, td_vport_same(k, d->which, own));
    uint64_t never;
    if (td_vtree_is_const(here, &never) && !never) continue;
    on = td_vtree_or(m, on, here);
    if (p->put) *data = *data ? td_vtree_pick(m, here, d->data, *data) : d->data;
  }
  if (!on) on = td_vtree_const(m, 1, 0);
  if (p->put && !*data) *data = td_vtree_fit(m, on, p->width, false);
  return on;
}

static void finish(TdVkUnit *k, const TdVkPort *p) {
  TdVlModule *m = k->m;
  const TdVl *on = NULL, *data = NULL;
  for (int64_t i = 0; i < p->count; i++) {
    const TdVl *token, *one = drive(k, p, i, &token);
    on = on ? td_vtree_cat(m, one, on) : one;
    if (p->put) data = data ? td_vtree_cat(m, token, data) : token;
  }
  TdVlSig *out = p->beats > 1 ? p->move : pin(k, p, p->put ? "put" : "take", 1, true);
  td_vtree_assign(m, out, on);
  if (p->done) td_vtree_assign(m, pin(k, p, "done", 1, true), p->done);
  if (!p->put) return;
  out = p->beats > 1 ? p->given : pin(k, p, "data", p->width, true);
  td_vtree_assign(m, out, data);
}

void td_vport_finish(TdVkUnit *k) {
  for (size_t i = 0; i < k->port.n; i++) finish(k, k->port.at[i]);
}
