/* vtree.c - trees of Verilog made: widths kept equal, constants folded, names kept apart. */
#include "backends/verilog/vtree.h"

#include <ctype.h>
#include <string.h>

#include "backends/verilog/vname.h"

static uint64_t hash_lower(const char *s) {
  uint64_t h = 7;
  for (; *s; s++) h = td_map_mix(h, (uint64_t)(unsigned char)tolower((unsigned char)*s));
  return h;
}

static void take_name(TdVlModule *m, const char *s) {
  td_map_put(m->arena, &m->names, hash_lower(s), 1);
  td_vec_push(m->arena, &m->name_list, s);
}

TdVlModule *td_vtree_module(TdArena *a, const char *name) {
  TdVlModule *m = TD_NEW(a, TdVlModule);
  *m = (TdVlModule){.arena = a, .name = name, .head = td_text_new(a)};
  m->scope = &m->top;
  take_name(m, name);
  return m;
}

/* What stands in s behind `first`, or NULL; cases are alike. */
static const char *behind(const char *s, const char *first) {
  for (; *first; s++, first++)
    if (tolower((unsigned char)*s) != tolower((unsigned char)*first)) return NULL;
  return s;
}

/* Whether s may be a pin of f: base, a number of a bank, word, a number of a port. */
static bool is_pin(const TdVlFamily *f, const char *s) {
  s = behind(s, f->base);
  if (!s || *s++ != '_') return false;
  const char *rest = s;
  while (f->banks && isdigit((unsigned char)*rest)) rest++;
  if (rest > s && *rest == '_') s = rest + 1;
  for (const char *const *w = f->word; *w; w++) {
    const char *end = behind(s, *w);
    while (end && isdigit((unsigned char)*end)) end++;
    if (end && !*end) return true;
  }
  return false;
}

/* Whether s is f's base, or that of one of its banks. */
static bool is_base(const TdVlFamily *f, const char *s) {
  s = behind(s, f->base);
  if (!s || !*s) return s != NULL;
  if (!f->banks || *s++ != '_' || !*s) return false;
  while (isdigit((unsigned char)*s)) s++;
  return !*s;
}

/* The i-th name to try instead of `want`. */
static const char *other_name(TdVlModule *m, const char *want, int i) {
  const char *s = td_text_fmt(m->arena, "%s_%c", want, 'a' + i % 26);
  return i < 26 ? s : td_text_fmt(m->arena, "%s%d", s, i / 26);
}

static bool is_taken(const TdVlModule *m, const char *s) {
  uint64_t seen;
  bool taken = td_vname_is_reserved(s) || td_map_get(&m->names, hash_lower(s), &seen);
  for (size_t i = 0; i < m->family.n && !taken; i++) taken = is_pin(&m->family.at[i], s);
  return taken;
}

const char *td_vtree_name(TdVlModule *m, const char *want) {
  const char *plain = td_vname_plain(m->arena, want), *s = plain;
  for (int i = 0; is_taken(m, s); i++) s = other_name(m, plain, i);
  take_name(m, s);
  return s;
}

/* Whether a pin of f would have the name of something else. */
static bool is_clashing(const TdVlModule *m, const TdVlFamily *f) {
  bool clash = false;
  for (size_t i = 0; i < m->name_list.n && !clash; i++) clash = is_pin(f, m->name_list.at[i]);
  for (size_t i = 0; i < m->family.n && !clash; i++)
    clash = is_base(f, m->family.at[i].base) || is_base(&m->family.at[i], f->base);
  return clash;
}

const char *td_vtree_family(TdVlModule *m, const char *want, const char *const *word, bool banks) {
  const char *plain = td_vname_plain(m->arena, want);
  TdVlFamily f = {plain, word, banks};
  for (int i = 0; is_clashing(m, &f); i++) f.base = other_name(m, plain, i);
  td_vec_push(m->arena, &m->family, f);
  return f.base;
}

static TdVlSig *add_sig(TdVlModule *m, const char *name, int width) {
  TdVlSig *s = TD_NEW(m->arena, TdVlSig);
  *s = (TdVlSig){.name = name, .width = width};
  s->used = TD_NEWN(m->arena, bool, (size_t)width);
  td_vec_push(m->arena, &m->scope->sig, s);
  return s;
}

static TdVlSig *new_sig(TdVlModule *m, const char *want, int width) {
  return add_sig(m, td_vtree_name(m, want), width);
}

TdVlSig *td_vtree_pin(TdVlModule *m, const char *name, int width, bool out) {
  take_name(m, name);
  TdVlSig *s = add_sig(m, name, width);
  *(out ? &s->output : &s->input) = true;
  return s;
}

TdVlSig *td_vtree_wire(TdVlModule *m, const char *want, int width) {
  return new_sig(m, want, width);
}

TdVlSig *td_vtree_reg(TdVlModule *m, const char *want, int width) {
  TdVlSig *s = new_sig(m, want, width);
  s->reg = true;
  return s;
}

TdVlSig *td_vtree_input(TdVlModule *m, const char *want, int width) {
  TdVlSig *s = new_sig(m, want, width);
  s->input = true;
  return s;
}

TdVlSig *td_vtree_output(TdVlModule *m, const char *want, int width) {
  TdVlSig *s = new_sig(m, want, width);
  s->output = true;
  return s;
}

static TdVl *new_expr(TdVlModule *m, TdVlKind kind, int width) {
  TdVl *e = TD_NEW(m->arena, TdVl);
  *e = (TdVl){.kind = kind, .width = width};
  td_ctx_tick(td_arena_ctx(m->arena), 1);
  return e;
}

const TdVl *td_vtree_sig(TdVlModule *m, TdVlSig *s) {
  TdVl *e = new_expr(m, TD_VL_SIG, s->width);
  e->sig = s;
  return e;
}

static uint64_t mask(int width) {
  return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

const TdVl *td_vtree_const(TdVlModule *m, int width, uint64_t bits) {
  TdVl *e = new_expr(m, TD_VL_CONST, width);
  e->bits = bits & mask(width);
  return e;
}

const TdVl *td_vtree_label(TdVlModule *m, int width, uint64_t bits, const char *label) {
  TdVl *e = (TdVl *)td_vtree_const(m, width, bits);
  e->op = label;
  return e;
}

bool td_vtree_is_const(const TdVl *x, uint64_t *bits) {
  if (x->kind == TD_VL_CONST) *bits = x->bits;
  return x->kind == TD_VL_CONST;
}

const TdVl *td_vtree_unary(TdVlModule *m, const char *op, int width, const TdVl *x) {
  TdVl *e = new_expr(m, TD_VL_UNARY, width);
  e->op = op;
  e->x = x;
  return e;
}

const TdVl *td_vtree_binary(TdVlModule *m, const char *op, int width, const TdVl *x,
                            const TdVl *y) {
  TdVl *e = new_expr(m, TD_VL_BINARY, width);
  e->op = op;
  e->x = x;
  e->y = y;
  return e;
}

const TdVl *td_vtree_signed(TdVlModule *m, const char *op, int width, const TdVl *x,
                            const TdVl *y) {
  TdVl *e = (TdVl *)td_vtree_binary(m, op, width, x, y);
  e->is_signed = true;
  return e;
}

/* Whether two trees are the same text; those that are large are taken to differ. */
static bool is_same_to(const TdVl *x, const TdVl *y, int depth) {
  if (x == y) return true;
  if (!x || !y || !depth || x->kind != y->kind || x->width != y->width) return false;
  if (x->sig != y->sig || x->bits != y->bits || x->lo != y->lo || x->is_signed != y->is_signed)
    return false;
  if ((x->op || y->op) && (!x->op || !y->op || strcmp(x->op, y->op) != 0)) return false;
  return is_same_to(x->x, y->x, depth - 1) && is_same_to(x->y, y->y, depth - 1) &&
         is_same_to(x->z, y->z, depth - 1);
}

static bool is_same(const TdVl *x, const TdVl *y) {
  enum { DEPTH = 4 };
  return is_same_to(x, y, DEPTH);
}

const TdVl *td_vtree_pick(TdVlModule *m, const TdVl *c, const TdVl *x, const TdVl *y) {
  uint64_t bits;
  if (td_vtree_is_const(c, &bits)) return bits ? x : y;
  if (is_same(x, y)) return x;
  TdVl *e = new_expr(m, TD_VL_PICK, x->width);
  e->x = c;
  e->y = x;
  e->z = y;
  return e;
}

const TdVl *td_vtree_cat(TdVlModule *m, const TdVl *high, const TdVl *low) {
  TdVl *e = new_expr(m, TD_VL_CAT, high->width + low->width);
  e->x = high;
  e->y = low;
  return e;
}

TdVlSig *td_vtree_named(TdVlModule *m, const char *want, const TdVl *x) {
  if (x->kind == TD_VL_SIG) return x->sig;
  TdVlSig *s = td_vtree_wire(m, want, x->width);
  td_vtree_assign(m, s, x);
  return s;
}

const TdVl *td_vtree_slice(TdVlModule *m, const TdVl *x, int lo, int width) {
  if (lo == 0 && width == x->width) return x;
  if (x->kind == TD_VL_CONST && lo < 64) return td_vtree_const(m, width, x->bits >> lo);
  if (x->kind == TD_VL_SLICE) return td_vtree_slice(m, x->x, x->lo + lo, width);
  if (x->kind == TD_VL_CAT && lo + width <= x->y->width) return td_vtree_slice(m, x->y, lo, width);
  TdVl *e = new_expr(m, TD_VL_SLICE, width);
  e->x = td_vtree_sig(m, td_vtree_named(m, "part", x));
  e->lo = lo;
  return e;
}

static const TdVl *repeat(TdVlModule *m, const TdVl *bit, int n) {
  if (n == 1) return bit;
  TdVl *e = new_expr(m, TD_VL_REPEAT, n);
  e->x = bit;
  e->lo = n;
  return e;
}

const TdVl *td_vtree_fit(TdVlModule *m, const TdVl *x, int width, bool is_signed) {
  int more = width - x->width;
  if (more == 0) return x;
  if (more < 0) return td_vtree_slice(m, x, 0, width);
  if (x->kind == TD_VL_CONST && x->width <= 64 && width <= 64) {
    bool negative = is_signed && x->bits >> (x->width - 1) & 1;
    return td_vtree_const(m, width, negative ? x->bits | ~mask(x->width) : x->bits);
  }
  if (!is_signed) {
    const TdVl *zero = td_vtree_const(m, 1, 0);
    return td_vtree_cat(m, repeat(m, zero, more), x);
  }
  const TdVl *s = td_vtree_sig(m, td_vtree_named(m, "wide", x));
  const TdVl *top = x->width == 1 ? s : td_vtree_slice(m, s, x->width - 1, 1);
  return td_vtree_cat(m, repeat(m, top, more), s);
}

static bool is_op(const TdVl *x, const char *op) {
  return x->kind == TD_VL_BINARY && x->width == 1 && strcmp(x->op, op) == 0;
}

/* Whether y is x, or one of the terms that x joins by op. */
static bool is_term(const TdVl *x, const char *op, const TdVl *y) {
  while (is_op(x, op)) {
    if (is_term(x->y, op, y)) return true;
    x = x->x;
  }
  return is_same(x, y);
}

/* Joins two bits by an associative operator that takes a term once; `unit` leaves the other as it
 * is. Either may be NULL, for none. */
static const TdVl *join(TdVlModule *m, const char *op, bool unit, const TdVl *x, const TdVl *y) {
  uint64_t bits;
  if (!x || (y && td_vtree_is_const(x, &bits))) return !x || bits == unit ? y : x;
  if (!y || td_vtree_is_const(y, &bits)) return !y || bits == unit ? x : y;
  if (is_op(y, op)) return join(m, op, unit, join(m, op, unit, x, y->x), y->y);
  return is_term(x, op, y) ? x : td_vtree_binary(m, op, 1, x, y);
}

const TdVl *td_vtree_and(TdVlModule *m, const TdVl *x, const TdVl *y) {
  return join(m, "&", true, x, y);
}

const TdVl *td_vtree_or(TdVlModule *m, const TdVl *x, const TdVl *y) {
  return join(m, "|", false, x, y);
}

const TdVl *td_vtree_not(TdVlModule *m, const TdVl *x) {
  if (x->kind == TD_VL_CONST) return td_vtree_const(m, 1, !x->bits);
  if (x->kind == TD_VL_UNARY && strcmp(x->op, "~") == 0) return x->x;
  return td_vtree_unary(m, "~", 1, x);
}

static TdVlItem *new_item(TdVlModule *m, TdVlItemKind kind) {
  TdVlItem *i = TD_NEW(m->arena, TdVlItem);
  i->kind = kind;
  td_vec_push(m->arena, &m->scope->item, i);
  return i;
}

void td_vtree_assign(TdVlModule *m, TdVlSig *to, const TdVl *x) {
  TdVlItem *i = new_item(m, TD_VL_ASSIGN);
  i->to = to;
  i->x = x;
}

TdVlItem *td_vtree_always(TdVlModule *m, const char *note, const TdVlDo *act) {
  TdVlItem *i = new_item(m, TD_VL_ALWAYS);
  i->note = note;
  i->act = act;
  return i;
}

TdVlItem *td_vtree_instance(TdVlModule *m, const char *module, const char *name) {
  TdVlItem *i = new_item(m, TD_VL_INSTANCE);
  i->module = module;
  i->name = td_vtree_name(m, name);
  return i;
}

void td_vtree_param(TdVlModule *m, TdVlItem *i, const char *name, int64_t value) {
  TdVlPort p = {.name = name, .text = td_text_fmt(m->arena, "%lld", (long long)value)};
  td_vec_push(m->arena, &i->param, p);
}

void td_vtree_connect(TdVlModule *m, TdVlItem *i, const char *port, const TdVl *x) {
  td_vec_push(m->arena, &i->port, ((TdVlPort){.name = port, .x = x}));
}

void td_vtree_take(TdVlModule *m, TdVlItem *i, const char *port, const TdVlSig *s) {
  td_vec_push(m->arena, &i->port, ((TdVlPort){.name = port, .text = s->name}));
}

static TdVlDo *new_do(TdVlModule *m, TdVlDoKind kind) {
  TdVlDo *d = TD_NEW(m->arena, TdVlDo);
  d->kind = kind;
  return d;
}

TdVlDo *td_vtree_block(TdVlModule *m) {
  return new_do(m, TD_VL_BLOCK);
}

void td_vtree_add(TdVlModule *m, TdVlDo *block, const TdVlDo *one) {
  td_vec_push(m->arena, &block->kid, one);
}

TdVlDo *td_vtree_set(TdVlModule *m, TdVlSig *to, const TdVl *x) {
  TdVlDo *d = new_do(m, TD_VL_SET);
  d->to = to;
  d->x = x;
  return d;
}

TdVlDo *td_vtree_if(TdVlModule *m, const TdVl *c, const TdVlDo *then, const TdVlDo *otherwise) {
  TdVlDo *d = new_do(m, TD_VL_IF);
  d->x = c;
  td_vec_push(m->arena, &d->kid, then);
  if (otherwise) td_vec_push(m->arena, &d->kid, otherwise);
  return d;
}
