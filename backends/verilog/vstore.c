/* vstore.c - arrays as memories of banks with ports, scalars as registers. Each access is given a
 * port of its bank that no other access has in its cycle. */
#include <inttypes.h>

#include "backends/verilog/vunit.h"

/* The store of a symbol, or NULL. */
static TdVkStore *find(const TdVkUnit *k, TdSym sym) {
  for (size_t i = 0; i < k->store.n; i++)
    if (k->store.at[i]->sym == sym) return k->store.at[i];
  return NULL;
}

/* Cuts each dimension into the banks that the schedule counted with. */
static void take_shape(TdVkStore *s, const TdPlaced *p) {
  s->rank = p->rank;
  s->depth = s->nbank = 1;
  for (int d = 0; d < p->rank; d++) {
    bool whole = p->registers || s->side || p->part[d] == TD_PART_NONE;
    s->extent[d] = p->extent[d];
    if (s->box && !s->box->whole[d]) s->extent[d] = s->box->hi[d] - s->box->lo[d] + 1;
    s->part[d] = whole ? TD_PART_NONE : p->part[d];
    s->banks[d] = whole ? 1 : p->banks[d];
    s->each[d] = (s->extent[d] + s->banks[d] - 1) / s->banks[d];
    s->depth *= s->each[d];
    s->nbank *= s->banks[d];
  }
}

const TdVkView *td_vstore_view(const TdVkFrame *f, TdSym sym) {
  for (size_t i = 0; i < f->view.n; i++)
    if (f->view.at[i].sym == sym) return &f->view.at[i];
  return NULL;
}

/* Words of the pins of a memory that stands outside. */
static const char *const pin_words[] = {"re", "raddr", "q", "we", "waddr", "d", NULL};

TdVkStore *td_vstore_of(TdVkUnit *k, const TdVkFrame *f, const TdPlaced *p) {
  const TdVkView *v = td_vstore_view(f, p->sym);
  TdVkStore *s = v ? v->store : find(k, p->sym);
  if (s) return s;
  s = TD_NEW(k->arena, TdVkStore);
  *s = (TdVkStore){.sym = p->sym, .name = p->sym->name, .element = p->element};
  s->outside = td_unit_param(k->unit, p->sym) != NULL;
  if (p->decl && p->decl->cls == TD_LOCAL_CONST) s->table = p->decl->blob;
  if (p->decl && p->decl->cls == TD_LOCAL_STATE) s->outside = true;
  s->decl = p->decl;
  s->scalar = p->rank == 0 && !s->outside;
  for (size_t i = 0; i < k->side.n; i++) s->side |= k->side.at[i] == p->sym && !s->outside;
  if (s->outside) s->box = td_vbox_of(k, p);
  bool own = !s->outside && p->read > 1;
  s->latency = p->registers || s->side ? 0 : own ? 1 : (int)p->read;
  take_shape(s, p);
  s->bank = TD_NEWN(k->arena, TdVkBank, s->nbank);
  if (s->outside) s->name = td_vtree_family(k->m, s->name, pin_words, s->nbank > 1);
  if (s->scalar) {
    s->reg = td_vtree_reg(k->m, s->name, p->width);
  }
  td_vec_push(k->arena, &k->store, s);
  return s;
}

/* Whether two memories of one stream's buffers are cut alike. */
static bool is_alike(const TdVkStore *x, const TdVkStore *y) {
  bool same = x->rank == y->rank && x->latency == y->latency;
  for (int d = 0; d < x->rank && same; d++)
    same = x->extent[d] == y->extent[d] && x->banks[d] == y->banks[d] && x->part[d] == y->part[d];
  return same;
}

TdVkStore *td_vstore_block(TdVkUnit *k, TdVkPort *port, const TdPlaced *p, TdLoc loc) {
  enum { OUTER = 2 };
  TdVkStore own = {.sym = port->sym, .element = p->element, .outside = true, .block = port};
  TdPlaced all = *p;
  all.rank = p->rank + OUTER;
  if (all.rank > TD_MAX_RANK) {
    td_vunit_refuse(k, "not-built", loc, "blocks of fewer dimensions",
                    "Verilog of blocks of so many dimensions is not built yet");
    return NULL;
  }
  for (int d = 0; d < all.rank; d++) {
    bool member = d == 0;
    all.extent[d] = member ? port->count : d < OUTER ? port->depth : p->extent[d - OUTER];
    all.banks[d] = member ? port->count : d < OUTER ? 1 : p->banks[d - OUTER];
    all.part[d] = member ? TD_PART_BLOCK : d < OUTER ? TD_PART_NONE : p->part[d - OUTER];
  }
  all.registers = false;
  own.latency = p->registers ? 0 : p->read > 1 ? 1 : (int)p->read;
  take_shape(&own, &all);
  if (port->memory && is_alike(port->memory, &own)) return port->memory;
  if (port->memory) {
    td_vunit_refuse(k, "not-built", loc, "the same partition of all of them",
                    "Verilog of blocks of %s in other banks is not built yet", port->sym->name);
    return NULL;
  }
  TdVkStore *s = td_arena_copy(k->arena, &own, sizeof own);
  s->bank = TD_NEWN(k->arena, TdVkBank, s->nbank);
  s->name = td_vtree_family(k->m, td_text_fmt(k->arena, "%s_block", port->sym->name), pin_words,
                            s->nbank > 1);
  td_vec_push(k->arena, &k->store, s);
  return port->memory = s;
}

/* Bits of numbers from 0 to before n. */
static int bits_below(int64_t n) {
  bool is_signed;
  return td_vop_width(0, n > 1 ? n - 1 : 1, &is_signed);
}

/* Where an element lies: its bank (an expression, or known), and the place in it. */
typedef struct Place {
  int64_t bank;
  const TdVl *which; /* NULL: `bank` */
  const TdVl *at;
} Place;

/* Whether all coefficients of f are multiples of n. */
static bool is_multiple(TdAff f, int64_t n) {
  for (uint32_t i = 0; i < f.n; i++)
    if (f.m[i].coef % n) return false;
  return true;
}

static TdAff divided(TdVkUnit *k, TdAff f, int64_t n, int64_t rest) {
  TdAff q = td_sys_const((f.c - rest) / n);
  for (uint32_t i = 0; i < f.n; i++)
    q = td_sys_plus(k->arena, q, f.m[i].coef / n, td_sys_col(k->arena, f.m[i].col));
  return q;
}

/* x / n, or x % n, of unsigned numbers. */
static const TdVl *split(TdVkUnit *k, const TdVl *x, int64_t n, bool rest, int width) {
  const TdType *index = td_type_index(k->prog->store->session);
  TdVlNum v[2] = {{x, false, 0, NULL}, td_vop_const(k->m, n)};
  return td_vop_apply(k->m, rest ? TD_OP_MOD : TD_OP_FLOORDIV, index, width, v).e;
}

/* Bank and place of an index in dimension d that is known up to its columns, or false. */
static bool split_form(TdVkUnit *k, const TdVkStore *s, int d, TdAff f, int64_t *bank, TdAff *off) {
  int64_t n = s->banks[d], c;
  bool block = s->part[d] == TD_PART_BLOCK;
  if (n == 1) {
    *bank = 0;
    *off = f;
    return true;
  }
  if (block ? !td_sys_is_const(f, &c) : !is_multiple(f, n)) return false;
  if (block) {
    *bank = c / s->each[d];
    *off = td_sys_const(c % s->each[d]);
    return true;
  }
  *bank = f.c - td_sys_floor64(f.c, n) * n;
  *off = divided(k, f, n, *bank);
  return true;
}

/* Adds x * weight to a number of so many bits; NULL is 0. */
static const TdVl *plus(TdVkUnit *k, const TdVl *sum, const TdVl *x, int64_t weight, int width) {
  TdVlNum v[2] = {{x, false, 0, NULL}, td_vop_const(k->m, weight)};
  const TdType *index = td_type_index(k->prog->store->session);
  const TdVl *e = weight == 1 ? td_vtree_fit(k->m, x, width, false)
                              : td_vop_apply(k->m, TD_OP_MUL, index, width, v).e;
  return sum ? td_vtree_binary(k->m, "+", width, sum, e) : e;
}

/* An index: a form, and what is added to it; base.e NULL: nothing. */
typedef struct Where {
  TdAff f;
  TdVlNum base;
} Where;

/* The index in dimension d of the store that a view shows as `at`. */
static Where where_of(TdVkUnit *k, const TdVkView *v, const TdAff *at, int d) {
  uint64_t bits;
  if (!v) return (Where){.f = at[d]};
  Where w = {.f = td_sys_const(0), .base = v->base[d]};
  if (v->out[d] >= 0) w.f = td_sys_plus(k->arena, w.f, v->step[d], at[v->out[d]]);
  if (w.base.e && td_vtree_is_const(w.base.e, &bits) && !w.base.is_signed) {
    w.f.c += (int64_t)bits;
    w.base.e = NULL;
  }
  return w;
}

/* Where the element at these forms of a view (or NULL) lies, in a cycle of leaf l. */
static Place place_of(TdVkUnit *k, TdVkLeaf *l, const TdVkStore *s, const TdVkView *v,
                      const TdAff *at, int64_t cycle) {
  Place p = {0};
  TdAff known = td_sys_const(0);
  int64_t weight = 1, stride = 1;
  int width = bits_below(s->depth), wide = bits_below(s->nbank);
  const TdVl *rest = NULL;
  for (int d = s->rank; d-- > 0; weight *= s->each[d + 0], stride *= s->banks[d]) {
    int64_t bank;
    TdAff off;
    Where w = where_of(k, v, at, d);
    w.f = td_vbox_inside(k, s->box, l->t, d, w.f);
    int bits = bits_below(s->extent[d]);
    if ((!w.base.e || s->banks[d] == 1) && split_form(k, s, d, w.f, &bank, &off)) {
      p.bank += bank * stride;
      known = td_sys_plus(k->arena, known, weight, off);
      if (w.base.e) rest = plus(k, rest, td_vop_fit(k->m, w.base, bits), weight, width);
      continue;
    }
    const TdVl *x = td_vform_bits(k, l, w.f, cycle, bits);
    if (w.base.e) x = td_vtree_binary(k->m, "+", bits, x, td_vop_fit(k->m, w.base, bits));
    bool cyclic = s->part[d] != TD_PART_BLOCK;
    int64_t by = cyclic ? s->banks[d] : s->each[d];
    x = td_vtree_sig(k->m, td_vtree_named(k->m, "index", x));
    const TdVl *q = split(k, x, by, false, bits_below(cyclic ? s->each[d] : s->banks[d]));
    const TdVl *r = split(k, x, by, true, bits_below(by));
    p.which = plus(k, p.which, cyclic ? r : q, stride, wide);
    rest = plus(k, rest, cyclic ? q : r, weight, width);
  }
  p.at = td_vform_bits(k, l, known, cycle, width);
  if (rest) p.at = td_vtree_binary(k->m, "+", width, p.at, rest);
  if (p.which && p.bank)
    p.which =
        td_vtree_binary(k->m, "+", wide, p.which, td_vtree_const(k->m, wide, (uint64_t)p.bank));
  if (p.which) p.which = td_vtree_sig(k->m, td_vtree_named(k->m, "bank", p.which));
  return p;
}

/* Whether two accesses may happen in one cycle: of one leaf in the same slot, or where one is of
 * what runs on beside the leaf. */
static bool may_clash(const TdVkSite *x, uint64_t leaf, int64_t slot) {
  uint64_t mask = (UINT64_C(1) << TD_VK_PATH) - 1;
  return (x->leaf & mask) == (leaf & mask) && (x->leaf != leaf || x->slot == slot);
}

/* The first port of bank b that nothing else takes then. */
static TdVkSite *add_site(TdVkUnit *k, TdVkBank *b, bool write, uint64_t leaf, int64_t slot) {
  size_t port = 0;
  for (size_t i = 0; i < b->site[write].n; i++) {
    const TdVkSite *x = &b->site[write].at[i];
    if (x->port != port || !may_clash(x, leaf, slot)) continue;
    port++;
    i = (size_t)-1;
  }
  td_vec_push(k->arena, &b->site[write], ((TdVkSite){.port = port, .leaf = leaf, .slot = slot}));
  if (port >= b->ports[write]) b->ports[write] = port + 1;
  return &b->site[write].at[b->site[write].n - 1];
}

/* "A", or "A_3" where there are more banks. */
static const char *bank_name(TdVkUnit *k, const TdVkStore *s, int64_t b) {
  return s->nbank > 1 ? td_text_fmt(k->arena, "%s_%lld", s->name, (long long)b) : s->name;
}

static const char *port_name(TdVkUnit *k, const TdVkStore *s, int64_t b, const char *what,
                             size_t port) {
  const char *n = port ? td_text_fmt(k->arena, "%zu", port) : "";
  return td_text_fmt(k->arena, "%s_%s%s", bank_name(k, s, b), what, n);
}

/* Reads bank b. */
static const TdVl *read_bank(TdVkUnit *k, TdVkLeaf *l, TdVkStore *s, int64_t b, const TdVl *at,
                             const TdVl *on, int64_t slot) {
  TdVkBank *bank = &s->bank[b];
  TdVkSite *x = s->latency ? add_site(k, bank, false, l->number, slot) : NULL;
  if (!x) x = add_site(k, bank, false, 0, 0);
  x->at = at;
  x->on = on;
  while (bank->q.n <= x->port) {
    const char *name = port_name(k, s, b, "q", bank->q.n);
    TdVlSig *q = s->outside ? td_vtree_pin(k->m, name, s->element->w, false)
                            : td_vtree_wire(k->m, name, s->element->w);
    td_vec_push(k->arena, &bank->q, q);
  }
  return td_vtree_sig(k->m, bank->q.at[x->port]);
}

TdVlNum td_vstore_read(TdVkUnit *k, TdVkLeaf *l, const TdPlaced *p, const TdAff *at, int64_t cycle,
                       const TdVl *on, int64_t slot) {
  TdVkStore *s = td_vstore_of(k, l->frame, p);
  if (!s) return (TdVlNum){0};
  Place x = place_of(k, l, s, td_vstore_view(l->frame, p->sym), at, cycle);
  if (td_diag_failed(k->diag)) return (TdVlNum){0};
  if (!x.which) return td_vop_num(read_bank(k, l, s, x.bank, x.at, on, slot), p->element);
  const TdVl *which =
      td_vdata_delay(k, l, "bank", x.which, 0, s->latency, (uint64_t)(uintptr_t)x.which);
  const TdVl *out = NULL;
  for (int64_t b = s->nbank; b-- > 0;) {
    const TdVl *own = td_vtree_const(k->m, x.which->width, (uint64_t)b);
    const TdVl *here = td_vtree_and(k->m, on, td_vtree_binary(k->m, "==", 1, x.which, own));
    const TdVl *q = read_bank(k, l, s, b, x.at, here, slot);
    out = out ? td_vtree_pick(k->m, td_vtree_binary(k->m, "==", 1, which, own), q, out) : q;
  }
  return td_vop_num(out, p->element);
}

/* Writes bank b. */
static void write_bank(TdVkUnit *k, TdVkLeaf *l, TdVkStore *s, int64_t b, const TdVl *at,
                       const TdVl *on, int64_t slot, const TdVl *data) {
  TdVkSite *x = add_site(k, &s->bank[b], true, l->number, slot);
  x->at = at;
  x->on = on;
  x->data = data;
}

/* The bits of a leaf's number without those of its paths. */
enum { LEAF = (1 << TD_VK_PATH) - 1 };

/* Number i of the writes of a scalar, a constant that no other write of its leaf follows or is
 * followed by: no other happens in the cycle, as leaves run one after the other. */
static bool is_clear(const TdVkStore *s, size_t i) {
  bool alone = s->set.at[i].data->kind == TD_VL_CONST;
  for (size_t j = 0; j < s->set.n; j++) alone &= j == i || s->set.at[j].leaf != s->set.at[i].leaf;
  return alone;
}

/* What sets a scalar: constants before all else, as the register of a multiplier's cell wants. */
static TdVlDo *sets_of(TdVkUnit *k, const TdVkStore *s) {
  TdVlDo *others = td_vtree_block(k->m), *all = NULL;
  for (size_t i = 0; i < s->set.n; i++) {
    const TdVkSet *x = &s->set.at[i];
    if (is_clear(s, i)) continue;
    all = others;
    td_vtree_add(k->m, others, td_vtree_if(k->m, x->on, td_vtree_set(k->m, s->reg, x->data), NULL));
  }
  for (size_t i = s->set.n; i-- > 0;) {
    const TdVkSet *x = &s->set.at[i];
    if (is_clear(s, i)) all = td_vtree_if(k->m, x->on, td_vtree_set(k->m, s->reg, x->data), all);
  }
  return all ? all : others;
}

void td_vstore_write(TdVkUnit *k, TdVkLeaf *l, const TdPlaced *p, const TdAff *at, int64_t cycle,
                     const TdVl *on, int64_t slot, TdVlNum v) {
  TdVkStore *s = td_vstore_of(k, l->frame, p);
  if (!s) return;
  const TdVl *data = td_vop_fit(k->m, v, s->element->w);
  if (s->scalar) {
    td_vec_push(k->arena, &s->set, ((TdVkSet){l->number & LEAF, on, data}));
    return;
  }
  Place x = place_of(k, l, s, td_vstore_view(l->frame, p->sym), at, cycle);
  if (td_diag_failed(k->diag)) return;
  if (!x.which) {
    write_bank(k, l, s, x.bank, x.at, on, slot, data);
    return;
  }
  for (int64_t b = 0; b < s->nbank; b++) {
    const TdVl *own = td_vtree_const(k->m, x.which->width, (uint64_t)b);
    const TdVl *here = td_vtree_and(k->m, on, td_vtree_binary(k->m, "==", 1, x.which, own));
    write_bank(k, l, s, b, x.at, here, slot, data);
  }
}

void td_vstore_fill(TdVkUnit *k, TdVkLeaf *l, const TdPlaced *p, const TdVl *on, const TdVl *at,
                    const TdVl *data) {
  TdVkStore *s = td_vstore_of(k, l->frame, p);
  if (!s) return;
  if (s->latency == 0 && !s->outside) {
    s->filler = s->fill ? td_vtree_pick(k->m, on, data, s->filler) : data;
    s->fill = td_vtree_or(k->m, s->fill, on);
    return;
  }
  int w = bits_below(s->depth);
  const TdVl *word = at ? td_vtree_fit(k->m, at, w, false) : td_vtree_const(k->m, w, 0);
  for (int64_t b = 0; b < s->nbank; b++) write_bank(k, l, s, b, word, on, 0, data);
}

TdVlNum td_vstore_whole(TdVkUnit *k, TdVkLeaf *l, const TdPlaced *p) {
  TdVkStore *s = td_vstore_of(k, l->frame, p);
  if (!s || !s->side || td_vstore_view(l->frame, p->sym)) {
    td_vunit_refuse(k, "not-built", l->step->stmt->loc, "copy it into a local before",
                    "Verilog of a token that is an argument's array is not built yet");
    return (TdVlNum){0};
  }
  if (!s->whole)
    s->whole = td_vtree_wire(k->m, td_text_fmt(k->arena, "%s_whole", s->name),
                             s->element->w * (int)s->depth);
  return td_vop_num(td_vtree_sig(k->m, s->whole), p->element);
}

void td_vstore_load(TdVkUnit *k, TdVkLeaf *l, const TdPlaced *p, const TdVl *on, const TdVl *all) {
  if (!td_vstore_whole(k, l, p).e) return;
  TdVkStore *s = td_vstore_of(k, l->frame, p);
  s->loaded = s->load ? td_vtree_pick(k->m, on, all, s->loaded) : all;
  s->load = td_vtree_or(k->m, s->load, on);
}

const TdVl *td_vstore_number(TdVkUnit *k, TdVkLeaf *l, const TdPlaced *p, const TdAff *at,
                             int64_t cycle) {
  TdAff sum = td_sys_const(0);
  int64_t weight = 1, c;
  for (int d = p->rank; d-- > 0; weight *= p->extent[d])
    sum = td_sys_plus(k->arena, sum, weight, at[d]);
  if (td_sys_is_const(sum, &c)) return td_vtree_const(k->m, 32, (uint64_t)c);
  return td_vform_bits(k, l, sum, cycle, bits_below(weight));
}

/* What drives one port. */
typedef struct Drive {
  const TdVl *on, *at, *data;
} Drive;

static Drive drive_of(TdVkUnit *k, const TdVkBank *b, bool write, size_t port) {
  Drive d = {0};
  for (size_t i = b->site[write].n; i-- > 0;) {
    const TdVkSite *x = &b->site[write].at[i];
    if (x->port != port) continue;
    d.at = d.at ? td_vtree_pick(k->m, x->on, x->at, d.at) : x->at;
    if (write) d.data = d.data ? td_vtree_pick(k->m, x->on, x->data, d.data) : x->data;
    d.on = td_vtree_or(k->m, d.on, x->on);
  }
  return d;
}

static void put_output(TdVkUnit *k, const char *name, const TdVl *x) {
  td_vtree_assign(k->m, td_vtree_pin(k->m, name, x->width, true), x);
}

/* The ports of an argument's bank. */
static void finish_outside(TdVkUnit *k, const TdVkStore *s, int64_t b) {
  const TdVkBank *bank = &s->bank[b];
  for (size_t i = 0; i < bank->ports[0]; i++) {
    Drive d = drive_of(k, bank, false, i);
    if (s->latency) put_output(k, port_name(k, s, b, "re", i), d.on);
    put_output(k, port_name(k, s, b, "raddr", i), d.at);
  }
  for (size_t i = 0; i < bank->ports[1]; i++) {
    Drive d = drive_of(k, bank, true, i);
    put_output(k, port_name(k, s, b, "we", i), d.on);
    put_output(k, port_name(k, s, b, "waddr", i), d.at);
    put_output(k, port_name(k, s, b, "d", i), d.data);
  }
}

/* high ports first, next to each other. */
static const TdVl *join(TdVkUnit *k, const TdVl *all, const TdVl *x) {
  return all ? td_vtree_cat(k->m, x, all) : x;
}

/* The word of bank b of a table at a place, as text; places that no element has are 0. */
static const char *table_word(TdVkUnit *k, const TdVkStore *s, int64_t b, int64_t at) {
  int64_t index = 0, stride = 1, bank = 0;
  TdText t = td_text_new(k->arena);
  int64_t digit[TD_MAX_RANK], part[TD_MAX_RANK], rest = at;
  for (int d = s->rank; d-- > 0; rest /= s->each[d]) digit[d] = rest % s->each[d];
  for (int d = s->rank; d-- > 0; b /= s->banks[d]) part[d] = b % s->banks[d];
  for (int d = s->rank; d-- > 0; stride *= s->extent[d]) {
    bool block = s->part[d] == TD_PART_BLOCK;
    int64_t i = block ? part[d] * s->each[d] + digit[d] : digit[d] * s->banks[d] + part[d];
    if (i >= s->extent[d]) bank = -1;
    index += i * stride;
  }
  int w = s->element->w;
  size_t bytes = td_type_bytes(s->element);
  uint64_t v = 0;
  const char *from = (const char *)s->table->data + (size_t)index * bytes;
  if (!bank) v = td_num_word(s->element, td_num_load(s->element, from));
  td_text_putf(&t, "%d'h%" PRIx64, w, w < 64 ? v & ((UINT64_C(1) << w) - 1) : v);
  return td_text_str(&t);
}

/* A bank of a constant table. */
static void finish_table(TdVkUnit *k, const TdVkStore *s, int64_t b, TdVlItem *rom) {
  TdText t = td_text_new(k->arena);
  for (int64_t i = s->depth; i-- > 0;)
    td_text_putf(&t, "%s%s", i + 1 < s->depth ? ", " : "{", table_word(k, s, b, i));
  td_text_putc(&t, '}');
  td_vec_push(k->arena, &rom->param, ((TdVlPort){.name = "WORDS", .text = td_text_str(&t)}));
}

/* The module that holds a bank. */
static const char *module_of(const TdVkStore *s) {
  if (s->table) return s->latency ? "tide_rom" : "tide_table";
  return s->latency ? "tide_ram" : s->side ? "tide_side" : "tide_regs";
}

/* Connects what writes a bank of a local array, if anything does. */
static void connect_writes(TdVkUnit *k, const TdVkStore *s, const TdVkBank *bank, TdVlItem *ram) {
  const TdVl *we = NULL, *wa = NULL, *data = NULL, *none = td_vtree_const(k->m, 1, 0);
  int w = s->element->w;
  for (size_t i = 0; i < bank->ports[1]; i++) {
    Drive d = drive_of(k, bank, true, i);
    we = join(k, we, d.on);
    wa = join(k, wa, d.at);
    data = join(k, data, d.data);
  }
  td_vtree_connect(k->m, ram, "we", we ? we : none);
  td_vtree_connect(k->m, ram, "waddr", wa ? wa : td_vtree_const(k->m, bits_below(s->depth), 0));
  td_vtree_connect(k->m, ram, "d", data ? data : td_vtree_fit(k->m, none, w, false));
  if (s->latency) return;
  if (s->side) {
    TdVlSig *all = s->whole ? s->whole : td_vtree_wire(k->m, "whole", w * (int)s->depth);
    td_vtree_take(k->m, ram, "whole", all);
    td_vtree_connect(k->m, ram, "load", s->load ? s->load : none);
    td_vtree_connect(k->m, ram, "loaded", s->load ? s->loaded : td_vtree_sig(k->m, all));
  }
  td_vtree_connect(k->m, ram, "fill", s->fill ? s->fill : none);
  td_vtree_connect(k->m, ram, "filler", s->fill ? s->filler : td_vtree_fit(k->m, none, w, false));
}

/* A bank of a local array. */
static void finish_inside(TdVkUnit *k, const TdVkStore *s, int64_t b) {
  const TdVkBank *bank = &s->bank[b];
  size_t nr = bank->ports[0];
  const TdVl *re = NULL, *ra = NULL;
  if (!nr && !s->whole) return;
  for (size_t i = 0; i < nr; i++) {
    Drive d = drive_of(k, bank, false, i);
    re = join(k, re, d.on);
    ra = join(k, ra, d.at);
  }
  int w = s->element->w;
  const char *name = bank_name(k, s, b);
  size_t read = nr;
  if (!nr) {
    nr = 1;
    ra = td_vtree_const(k->m, bits_below(s->depth), 0);
  }
  TdVlSig *q = td_vtree_wire(k->m, td_text_fmt(k->arena, "%s_out", name), w * (int)nr);
  TdVlItem *ram =
      td_vtree_instance(k->m, module_of(s), td_text_fmt(k->arena, "%s_%s", name, "store"));
  td_vtree_param(k->m, ram, "W", w);
  td_vtree_param(k->m, ram, "D", s->depth);
  td_vtree_param(k->m, ram, "A", bits_below(s->depth));
  td_vtree_param(k->m, ram, "R", (int64_t)nr);
  if (s->table)
    finish_table(k, s, b, ram);
  else
    td_vtree_param(k->m, ram, "N", bank->ports[1] ? (int64_t)bank->ports[1] : 1);
  if (!s->table || s->latency) td_vtree_connect(k->m, ram, "clk", td_vtree_sig(k->m, k->clk));
  if (s->latency) td_vtree_connect(k->m, ram, "re", re);
  td_vtree_connect(k->m, ram, "raddr", ra);
  td_vtree_take(k->m, ram, "q", q);
  if (!s->table) connect_writes(k, s, bank, ram);
  for (size_t i = 0; i < read; i++)
    td_vtree_assign(k->m, bank->q.at[i],
                    td_vtree_slice(k->m, td_vtree_sig(k->m, q), (int)i * w, w));
}

void td_vstore_finish(TdVkUnit *k) {
  for (size_t i = 0; i < k->store.n; i++) {
    const TdVkStore *s = k->store.at[i];
    if (s->scalar) {
      s->reg->gone = !s->read;
      if (s->read) td_vtree_always(k->m, s->name, sets_of(k, s));
      continue;
    }
    for (int64_t b = 0; b < s->nbank; b++)
      if (s->outside)
        finish_outside(k, s, b);
      else
        finish_inside(k, s, b);
  }
}
