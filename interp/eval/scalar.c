/* scalar.c - scalar expressions: pure, evaluated by recursion; a failure is an undefined value. */
#include <stdlib.h>

#include "eval/machine.h"

static const TdValue nothing = {0, 0};

TdSlot *td_scalar_slot(const TdTask *t, TdSym sym) {
  return &t->frame->slot[t->frame->plan->slot[sym->id] - 1];
}

/* Reports a fault of an operator; false when the run stops for it. */
static bool survives(TdTask *t, TdFault fault, TdLoc loc) {
  static const char *const code[] = {"", "zero-division", "negative-shift", "float-range"};
  static const char *const what[] = {"", "division by zero", "shift by a negative count",
                                     "the number does not fit the integer type"};
  if (t->machine->domain && fault != TD_FAULT_ZERO_DIVISION) return true;
  return td_fault_set(t, code[fault], loc, "%s", what[fault]);
}

/* What a comparison of a value with itself gives; undefined for other operators, and where the
 * value may be no number. */
static TdValue compared_with_itself(const TdApply *x) {
  if (x->n != 2 || x->of[0] != x->of[1] || !td_value_same(x->v[0], x->v[1])) return nothing;
  bool exact = x->of[0]->kind != TD_T_FLOAT;
  switch (x->op) {
  case TD_OP_LT: return td_value_of(0);
  case TD_OP_NE: return exact ? td_value_of(0) : nothing;
  case TD_OP_LE:
  case TD_OP_EQ: return exact ? td_value_of(1) : nothing;
  default: return nothing;
  }
}

/* Notes that the run relies on a symbolic divisor, or count of a shift, not to fault; so it does on
 * a divisor that is 0 where it may not be reached. False: it is 0, and the run stops. */
static bool rely_on_operand(TdTask *t, const TdApply *x) {
  bool divides = x->op == TD_OP_FLOORDIV || x->op == TD_OP_MOD;
  bool shifts = x->op == TD_OP_SHL || x->op == TD_OP_SHR || x->op == TD_OP_ASR;
  if ((!divides && !shifts) || x->of[1]->kind == TD_T_FLOAT) return true;
  bool zero = divides && td_value_is_concrete(x->v[1]) && !td_value_is_wide(x->v[1]) && !x->v[1].lo;
  if (zero && !t->machine->speculative) return survives(t, TD_FAULT_ZERO_DIVISION, x->loc);
  bool open = td_value_is_symbolic(x->v[1]) && (divides || td_type_is_signed(x->of[1]));
  if (!zero && !open) return true;
  TdReliance r = {divides ? TD_RELY_DIVISOR : TD_RELY_COUNT, x->v[1], 0, !t->machine->speculative,
                  x->loc};
  td_reliance_note(t->machine->arena, &t->machine->reliances, r);
  return true;
}

/* An operator with a symbolic operand: what is known whatever it is, or else the domain's value. */
static TdValue apply_symbolic(TdTask *t, const TdApply *x) {
  if (!rely_on_operand(t, x)) return nothing;
  TdValue v = compared_with_itself(x);
  return td_value_is_defined(v) ? v : td_slice_apply(&t->machine->slices, x);
}

/* An operator on concrete words of more than 64 bits: folded; those that have no such operator are
 * like symbols in a symbolic run. */
static TdValue apply_wide(TdTask *t, const TdApply *x) {
  TdMachine *m = t->machine;
  TdValue v[4];
  TdApply lifted = *x;
  if (td_word_fold(m->arena, x, &v[0])) return v[0];
  if (!m->domain) {
    td_fault_undecided(t, x->loc, "an operator on concrete words of more than 64 bits");
    return nothing;
  }
  bool slice = x->op == TD_OP_GETBITS || x->op == TD_OP_SETBITS;
  for (int i = 0; i < x->n; i++)
    v[i] =
        slice && (i == 1 || i == 2) ? x->v[i] : m->domain->lift(m->domain_self, x->of[i], x->v[i]);
  lifted.v = v;
  return apply_symbolic(t, &lifted);
}

/* Whether an operator of indices gives a number that 64 bits do not hold. */
static bool leaves_index(const TdApply *x) {
  int64_t a = (int64_t)x->v[0].lo, b = x->n > 1 ? (int64_t)x->v[1].lo : 0;
  switch (x->op) {
  case TD_OP_ADD: return b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b;
  case TD_OP_SUB: return b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b;
  case TD_OP_NEG: return a == INT64_MIN;
  case TD_OP_MUL:
    if (a == 0 || b == 0 || a == 1 || b == 1) return false;
    if (a == INT64_MIN || b == INT64_MIN) return true;
    return (uint64_t)llabs(a) > (uint64_t)INT64_MAX / (uint64_t)llabs(b);
  default: return false;
  }
}

TdValue td_scalar_apply(TdTask *t, const TdApply *x) {
  bool concrete = true;
  for (int i = 0; i < x->n; i++) concrete &= td_value_is_concrete(x->v[i]);
  if (concrete && td_word_is_needed(x)) return apply_wide(t, x);
  if (concrete) {
    TdFault fault = TD_FAULT_NONE;
    if (x->type->kind == TD_T_INDEX && leaves_index(x)) {
      td_fault_set(t, "index-overflow", x->loc, "an index of more than 64 bits");
      return nothing;
    }
    TdValue v = td_domain_fold(x, &fault);
    return fault == TD_FAULT_NONE || survives(t, fault, x->loc) ? v : nothing;
  }
  if (x->op == TD_OP_SELECT && td_value_is_concrete(x->v[0])) {
    int pick = x->v[0].lo ? 1 : 2;
    return td_scalar_cast(t, x->type, x->of[pick], x->v[pick], x->loc);
  }
  return apply_symbolic(t, x);
}

/* Notes a cast that changed an integer. */
static void report_overflow(TdTask *t, const TdType *to, const TdType *from, uint64_t v,
                            TdLoc loc) {
  TdMachine *m = t->machine;
  for (size_t i = 0; i < m->overflow.n; i++) {
    TdEvalOverflow *o = &m->overflow.at[i];
    if (o->type != to || o->loc.source != loc.source || o->loc.line != loc.line ||
        o->loc.col != loc.col)
      continue;
    o->count++;
    return;
  }
  TdText text = td_text_new(m->arena);
  td_num_print(&text, from, v);
  td_vec_push(m->arena, &m->overflow, ((TdEvalOverflow){loc, to, td_text_str(&text), 1}));
}

/* Whether the same word is another number in type `to` than it was in type `from`. */
static bool changes(const TdType *to, uint64_t now, const TdType *from, uint64_t before) {
  if (!td_type_is_integer(to) || !td_type_is_integer(from)) return false;
  if (from->w > 64 || to->w > 64) return false;
  return now != before || (td_type_is_signed(to) != td_type_is_signed(from) && now >> 63);
}

TdValue td_scalar_cast(TdTask *t, const TdType *to, const TdType *from, TdValue v, TdLoc loc) {
  if (to == from || !td_value_is_defined(v)) return v;
  TdApply x = {TD_APPLY_CAST, 1, to, &from, &v, loc};
  TdValue y = td_scalar_apply(t, &x);
  if (t->machine->options->overflow && td_value_is_concrete(v) && changes(to, y.lo, from, v.lo))
    report_overflow(t, to, from, v.lo, loc);
  return y;
}

/* `and`, `or`: the right operand only if the left one leaves the answer open. */
static TdValue logic(TdTask *t, const TdExpr *e) {
  TdMachine *m = t->machine;
  TdValue a = td_scalar_eval(t, e->kid[0]);
  if (!td_value_is_defined(a)) return a;
  if (td_value_is_concrete(a))
    return (a.lo != 0) == (e->op == TD_OP_AND) ? td_scalar_eval(t, e->kid[1]) : a;
  m->speculative++;
  TdValue v[] = {a, td_scalar_eval(t, e->kid[1])};
  m->speculative--;
  const TdType *of[] = {e->kid[0]->type, e->kid[1]->type};
  if (!td_value_is_defined(v[1])) return nothing;
  return td_scalar_apply(t, &(TdApply){e->op, 2, e->type, of, v, e->loc});
}

static TdValue operator(TdTask *t, const TdExpr *e) {
  const TdType *of[4];
  TdValue v[4];
  if (td_ops[e->op].lazy) return logic(t, e);
  for (uint32_t i = 0; i < e->nkid; i++) {
    of[i] = e->kid[i]->type;
    v[i] = td_scalar_eval(t, e->kid[i]);
    if (!td_value_is_defined(v[i])) return nothing;
  }
  return td_scalar_apply(t, &(TdApply){e->op, (int)e->nkid, e->type, of, v, e->loc});
}

/* Fails because e, which `what` is for, is symbolic. */
static bool is_open(TdTask *t, const TdExpr *e, const char *what) {
  return td_fault_symbolic(t, e->loc, e, td_text_fmt(t->machine->arena, "%s depends on", what));
}

bool td_scalar_index(TdTask *t, const TdExpr *e, const char *what, int64_t *v) {
  TdValue x = td_scalar_eval(t, e);
  *v = (int64_t)x.lo;
  if (td_value_is_concrete(x)) return true;
  return td_value_is_symbolic(x) && is_open(t, e, what);
}

/* The stream of a design around t, as t's instance sees it; NULL if there is none. */
static const TdView *outer_stream(const TdTask *t, TdSym sym) {
  for (const TdFrame *f = t->frame; f && f->up; f = f->up) {
    size_t slot = f->up->plan->slot[sym->id], first = f->up->plan->unit->nparam + 1;
    if (f->stream && slot >= first) return &f->stream[slot - first];
  }
  return NULL;
}

const TdView *td_scalar_symbol(TdTask *t, TdSym sym, TdLoc loc) {
  bool here = t->frame->plan->slot[sym->id];
  const TdView *v = here ? td_scalar_slot(t, sym)->view : outer_stream(t, sym);
  if (!v) td_fault_set(t, "no-longer-held", loc, "%s is not there any more", sym->name);
  return v;
}

/* Fails because index i is not one of n in dimension d of what sym names. */
static bool out_of_range(TdTask *t, const TdExpr *e, int d, int64_t i, int64_t n) {
  return td_fault_set(t, "index-out-of-range", e->loc,
                      "index out of range: %lld in dimension %d of %s, which has %lld",
                      (long long)i, d, e->sym->name, (long long)n);
}

/* The indices of a load; false: one of them failed. */
static bool read_indices(TdTask *t, const TdExpr *load, TdValue *index) {
  for (uint32_t d = 0; d < load->nkid; d++) {
    index[d] = td_scalar_eval(t, load->kid[d]);
    if (!td_value_is_defined(index[d])) return false;
  }
  return true;
}

/* Where the element of v with these indices, all of them concrete, lies. */
static bool find_place(TdTask *t, const TdExpr *load, const TdView *v, const TdValue *index,
                       int64_t *offset) {
  *offset = v->base;
  for (int d = 0; d < (int)load->nkid; d++) {
    int64_t i = (int64_t)index[d].lo;
    if (td_value_is_symbolic(index[d])) return is_open(t, load->kid[d], "an index");
    if (i < 0 || i >= v->extent[d]) return out_of_range(t, load, d, i, v->extent[d]);
    *offset += i * v->stride[d];
  }
  return true;
}

bool td_scalar_place(TdTask *t, const TdExpr *load, const TdView **view, int64_t *offset) {
  TdValue index[TD_MAX_RANK];
  *view = td_scalar_symbol(t, load->sym, load->loc);
  return *view && read_indices(t, load, index) && find_place(t, load, *view, index, offset);
}

/* A load at indices of which some are symbolic, under way. */
typedef struct Choice {
  TdTask *t;
  const TdExpr *load;
  const TdView *view;
  const TdValue *index;
} Choice;

/* Notes that the run relies on symbolic index d to be in range. */
static void rely(const Choice *c, int d) {
  TdMachine *m = c->t->machine;
  TdReliance r = {TD_RELY_INDEX, c->index[d], c->view->extent[d], !m->speculative,
                  c->load->kid[d]->loc};
  td_reliance_note(m->arena, &m->reliances, r);
}

static TdValue chosen(Choice *c, int d, int64_t at);

/* The element that symbolic index d chooses among those of dimension d, as a chain of selects. */
static TdValue chosen_along(Choice *c, int d, int64_t at) {
  const TdExpr *index = c->load->kid[d];
  const TdType *bool_type = td_type_bool(c->t->machine->session);
  const TdType *equal[] = {index->type, index->type};
  const TdType *select[] = {bool_type, c->load->type, c->load->type};
  TdValue rest = nothing;
  rely(c, d);
  for (int64_t i = c->view->extent[d]; i-- > 0;) {
    TdValue x = chosen(c, d + 1, at + i * c->view->stride[d]);
    if (!td_value_is_defined(x)) return nothing;
    TdValue pair[] = {c->index[d], td_value_of((uint64_t)i)};
    TdValue is = td_scalar_apply(c->t, &(TdApply){TD_OP_EQ, 2, bool_type, equal, pair, index->loc});
    TdValue v[] = {is, x, rest};
    rest = td_value_is_defined(rest)
               ? td_scalar_apply(c->t,
                                 &(TdApply){TD_OP_SELECT, 3, c->load->type, select, v, index->loc})
               : x;
  }
  return rest;
}

/* The element at the indices from d on, those before it leading to `at`; not decided where too many
 * could be meant, or one that was never written. */
static TdValue chosen(Choice *c, int d, int64_t at) {
  if (d < (int)c->load->nkid && td_value_is_symbolic(c->index[d])) return chosen_along(c, d, at);
  if (d < (int)c->load->nkid) {
    int64_t i = (int64_t)c->index[d].lo;
    if (i >= 0 && i < c->view->extent[d]) return chosen(c, d + 1, at + i * c->view->stride[d]);
    out_of_range(c->t, c->load, d, i, c->view->extent[d]);
    return nothing;
  }
  enum { MOST_CHOICES = 1 << 22 };
  TdMachine *m = c->t->machine;
  TdValue x = c->view->memory->cell[at];
  bool is_told = td_value_is_defined(x) && !c->view->guard && m->choices++ < MOST_CHOICES;
  if (is_told && td_fault_tick(m, 1)) return x;
  is_open(c->t, c->load, "an index");
  return nothing;
}

static TdValue load(TdTask *t, const TdExpr *e) {
  if (!e->nkid) {
    TdValue v = td_scalar_slot(t, e->sym)->value;
    if (!td_value_is_defined(v))
      td_fault_set(t, "uninitialised", e->loc, "%s is read before it is written", e->sym->name);
    return v;
  }
  TdValue index[TD_MAX_RANK];
  int64_t offset;
  const TdView *view = td_scalar_symbol(t, e->sym, e->loc);
  if (!view || !read_indices(t, e, index)) return nothing;
  for (uint32_t d = 0; d < e->nkid; d++)
    if (td_value_is_symbolic(index[d])) return chosen(&(Choice){t, e, view, index}, 0, view->base);
  return find_place(t, e, view, index, &offset) ? td_memory_read(t, view, offset, &e->loc)
                                                : nothing;
}

bool td_scalar_view(TdTask *t, const TdExpr *e, TdView *out) {
  const TdView *base = td_scalar_symbol(t, e->sym, e->loc);
  if (!base) return false;
  *out = *base;
  out->rank = e->type->rank;
  for (int d = 0; d < out->rank; d++)
    if (!td_frame_value(t->frame->plan->unit, e->type->dim[d], &out->extent[d]))
      return td_fault_set(t, "unbound-size", e->loc, "a size of this view has no value");
  for (int d = 0; d < (int)e->nkid; d++) {
    int64_t lo, hi;
    if (!td_scalar_index(t, e->kid[d], "a view's place", &lo)) return false;
    const TdViewDim *dim = &e->u.dim[d];
    int64_t n = dim->out < 0 ? 1 : out->extent[dim->out];
    hi = lo + (n - 1) * dim->step;
    if (n > 0 && (lo < 0 || lo >= base->extent[d]))
      return out_of_range(t, e, d, lo, base->extent[d]);
    if (n > 0 && (hi < 0 || hi >= base->extent[d]))
      return out_of_range(t, e, d, hi, base->extent[d]);
    out->base += lo * base->stride[d];
    if (dim->out >= 0) out->stride[dim->out] = base->stride[d] * dim->step;
  }
  return true;
}

/* A size by its name, among the few that a unit has. */
static TdValue size(TdTask *t, const TdExpr *e) {
  const TdSize *s = td_unit_size(t->frame->plan->unit, e->u.name);
  if (s && s->known) return td_value_of((uint64_t)s->value);
  td_fault_set(t, "unbound-size", e->loc, "size %s has no value", e->u.name);
  return nothing;
}

TdValue td_scalar_eval(TdTask *t, const TdExpr *e) {
  switch (e->kind) {
  case TD_EXPR_LIT: return td_value_of(e->u.bits);
  case TD_EXPR_SIZE: return size(t, e);
  case TD_EXPR_VAR: return td_scalar_slot(t, e->sym)->value;
  case TD_EXPR_LOAD: return load(t, e);
  case TD_EXPR_CAST:
    return td_scalar_cast(t, e->type, e->kid[0]->type, td_scalar_eval(t, e->kid[0]), e->loc);
  case TD_EXPR_OP: return operator(t, e);
  default: return td_bulk_scalar(t, e);
  }
}
