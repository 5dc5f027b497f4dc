/* cost_area.c - operators, registers, memories and FIFOs. */
#include "analysis/time/cost.h"

#include <string.h>

void td_cost_add(TdCostArea *to, TdCostArea x, int64_t times) {
  to->dsp += x.dsp * times;
  to->bram += x.bram * times;
  to->uram += x.uram * times;
  to->ff += x.ff * times;
  to->lut += x.lut * times;
}

/* Bits of a counter up to n. */
static int64_t bits(int64_t n) {
  int64_t b = 0;
  while (n > 0) {
    n >>= 1;
    b++;
  }
  return b;
}

/* A memory of so many banks; `kind` is its storage attribute, or NULL. */
static TdCostArea memory(int64_t banks, int64_t depth, int64_t width, const char *kind) {
  TdCostArea x = {0};
  bool small = kind ? strcmp(kind, "lutram") == 0 : td_target_is_small(width, depth);
  if (kind && strcmp(kind, "uram") == 0)
    x.uram = banks * td_target_uram(width, depth);
  else if (small)
    x.lut = banks * width * ((depth + 63) / 64);
  else
    x.bram = banks * td_target_bram(width, depth);
  return x;
}

/* What holds an array. */
static TdCostArea array_area(const TdPlaced *p) {
  const TdAttr *storage = p->decl ? td_attrs_get(p->decl->attrs, TD_ATTR_STORAGE) : NULL;
  int64_t banks = 1, depth = 1;
  for (int d = 0; d < p->rank; d++) {
    banks *= p->banks[d];
    depth *= (p->extent[d] + p->banks[d] - 1) / p->banks[d];
  }
  if (p->registers) return (TdCostArea){.ff = banks * depth * p->width};
  return memory(banks, depth, p->width, storage ? storage->arg[0].s : NULL);
}

/* Whether an access of t reaches p's memory. */
static bool is_reached(const TdTrace *t, const TdPlaced *p) {
  for (size_t i = 0; i < t->reach.n; i++)
    if (t->reach.at[i].array == p && !t->reach.at[i].dead) return true;
  return false;
}

/* The memories that the statements of a leaf declare. What only an iteration of it sees, and keeps
 * in wires, is none. */
static void add_memories(TdCostArea *sum, const TdTrace *t) {
  for (size_t i = 0; i < t->placed.n; i++) {
    const TdPlaced *p = t->placed.at[i];
    if (p->kind != TD_CELL_MEMORY || !p->fresh) continue;
    if (!t->loop || (!p->registers && is_reached(t, p))) td_cost_add(sum, array_area(p), 1);
  }
}

/* Operators that one unit has: large ones serve all its steps in turn, if `turns`, as HLS has
 * them; in Tide's own Verilog each step has its own. */
typedef struct Shared {
  TdArena *arena;
  bool turns;
  int64_t states, longest; /* of control, most cycles of one that is no pipeline */
  TD_VEC(TdNeed) need;
  TdCostArea *sum;
} Shared;

static TdCostArea operator_area(const TdOperator *op) {
  return (TdCostArea){.dsp = op->dsp, .ff = op->ff, .lut = op->lut};
}

static void share(Shared *w, const TdNeed *x) {
  if (!w->turns || (!x->op.stages && !x->op.dsp)) {
    td_cost_add(w->sum, operator_area(&x->op), x->n);
    return;
  }
  size_t i = 0;
  while (i < w->need.n &&
         !(w->need.at[i].op.key == x->op.key && w->need.at[i].op.lut == x->op.lut &&
           w->need.at[i].op.stages == x->op.stages))
    i++;
  if (i == w->need.n) td_vec_push(w->arena, &w->need, *x);
  if (x->n > w->need.at[i].n) w->need.at[i].n = x->n;
}

/* Adds what step x and those below it are made of, but for calls. */
static void add_step(Shared *w, const TdSchedStep *x) {
  for (size_t i = 0; i < x->nneed; i++) share(w, &x->need[i]);
  if (x->trace) {
    w->states++;
    if (x->kind != TD_SCHED_PIPE && x->length > w->longest) w->longest = x->length;
    add_memories(w->sum, x->trace);
    td_cost_add(w->sum, (TdCostArea){.ff = x->registers, .lut = x->delays}, 1);
  }
  for (size_t i = 0; i < x->nkid; i++) add_step(w, x->kid[i]);
}

/* Adds the counters of the loops of a unit: so many bits, an adder and a comparison. */
static bool add_counter(void *ud, const TdStmt *s) {
  Shared *w = ud;
  int64_t n;
  if (s->kind != TD_STMT_FOR) return true;
  int64_t b = td_expr_is_const(td_for_hi(s), &n) ? bits(n) : 32;
  td_cost_add(w->sum, (TdCostArea){.ff = b, .lut = 2 * b}, 1);
  w->states += 2;
  return true;
}

/* The machine that goes through the states of Tide's own Verilog: idle, where each loop is entered
 * and goes on, straight code and pipelines; and the cycle within one. */
static void add_machine(Shared *w) {
  int64_t ff = bits(w->states) + bits(w->longest - 1);
  td_cost_add(w->sum, (TdCostArea){.ff = ff, .lut = 2 * (w->states + 1)}, 1);
}

/* Constants and states of a unit, and what it calls. */
typedef struct Rest {
  TdSched *s;
  const TdAsk *q;
  TdCostArea *sum;
  TdMap seen; /* TdUnit -> itself */
} Rest;

static bool add_rest(void *ud, const TdStmt *s) {
  Rest *r = ud;
  if (s->kind == TD_STMT_LOCAL && s->cls != TD_LOCAL_AUTO)
    td_cost_add(r->sum, array_area(td_trace_storage(r->q, r->s->target, s)), 1);
  const TdUnit *u = s->kind == TD_STMT_CALL ? td_prog_unit(r->s->prog, s->sym) : NULL;
  if (!u || td_map_getp(&r->seen, u) || !td_map_getp(&r->s->unit, u)) return true;
  td_map_putp(r->s->arena, &r->seen, u, r);
  td_cost_add(r->sum, td_cost_area(r->s, u), 1);
  return true;
}

/* A kernel. */
static TdCostArea kernel_area(TdSched *s, const TdUnit *u) {
  TdCostArea sum = {0};
  Shared w = {.arena = s->arena, .turns = td_target_fires(s->target), .sum = &sum};
  const TdSchedStep *x = td_map_getp(&s->unit, u);
  if (!x) return sum;
  add_step(&w, x);
  for (size_t i = 0; i < w.need.n; i++)
    td_cost_add(&sum, operator_area(&w.need.at[i].op), w.need.at[i].n);
  TdAsk q = {s->affine, s->arena, s->prog, u};
  Rest r = {.s = s, .q = &q, .sum = &sum};
  td_walk_stmt(td_affine_ctx(s->affine), u->body, add_rest, &r);
  if (!td_target_is_hardware(s->target)) return sum;
  td_walk_stmt(td_affine_ctx(s->affine), u->body, add_counter, &w);
  if (!w.turns) add_machine(&w);
  return sum;
}

/* The FIFOs of one stream: shift registers up to 1024 bits, else memory (UG1399); of Tide's own
 * Verilog (`plain`) a register for each place, before all but the last a multiplexer. */
static TdCostArea fifo_area(const TdUnit *u, const TdStream *st, bool plain) {
  const TdAttr *lanes = td_attrs_get(st->attrs, TD_ATTR_LANES);
  const TdAttr *impl = td_attrs_get(st->attrs, TD_ATTR_IMPL);
  const TdType *token = st->type->elem;
  int64_t count = 1, words = 1, depth = 2, n, wide = lanes ? lanes->arg[0].i : 1;
  int64_t width = td_type_scalar(token)->w * wide;
  for (int d = 0; d < st->type->rank; d++)
    if (td_unit_value(u, st->type->dim[d], &n)) count *= n;
  for (int d = 0; token->kind == TD_T_TENSOR && d < token->rank; d++)
    if (td_unit_value(u, token->dim[d], &n)) words *= n;
  td_unit_value(u, st->depth, &depth);
  words = (words + wide - 1) / wide * depth;
  bool srl = impl ? strcmp(impl->arg[0].s, "srl") == 0 : words * width <= 1024;
  TdCostArea x = {0};
  if (plain)
    x = (TdCostArea){.lut = width * (words - 1) + 2 * bits(words),
                     .ff = width * words + bits(words)};
  else if (srl)
    x = (TdCostArea){.lut = width * ((words + 31) / 32), .ff = 2 * bits(words)};
  else
    x = memory(1, words, width, impl ? impl->arg[0].s : "bram");
  TdCostArea sum = {0};
  td_cost_add(&sum, x, count);
  return sum;
}

TdCostArea td_cost_fifos(const TdTarget *t, const TdUnit *design) {
  TdCostArea sum = {0};
  for (size_t i = 0; td_target_is_hardware(t) && i < design->nstream; i++)
    td_cost_add(&sum, fifo_area(design, &design->stream[i], !td_target_fires(t)), 1);
  return sum;
}

/* A design: each instance of each task, and the streams between them. */
static TdCostArea design_area(TdSched *s, const TdUnit *u) {
  TdCostArea sum = {0};
  for (size_t i = 0; i < u->nrun; i++) {
    int64_t n = 1, extent;
    for (int d = 0; d < u->run[i].rank; d++)
      if (td_unit_value(u, u->run[i].map[d], &extent)) n *= extent;
    const TdUnit *task = td_prog_unit(s->prog, u->run[i].unit);
    if (task) td_cost_add(&sum, td_cost_area(s, task), n);
  }
  td_cost_add(&sum, td_cost_fifos(s->target, u), 1);
  return sum;
}

TdCostArea td_cost_area(TdSched *s, const TdUnit *u) {
  if (u->kind == TD_UNIT_DESIGN) return design_area(s, u);
  return u->kind == TD_UNIT_KERNEL ? kernel_area(s, u) : (TdCostArea){0};
}
