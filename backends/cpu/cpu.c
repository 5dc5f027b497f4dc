/* cpu.c - a program made ready on this machine, and its calls: arguments checked and laid out,
 * faults told with the user's line. */
#include "backends/cpu/cpu.h"

#include <string.h>

#include "lower/lower.h"
#include "backends/cpu/load/code.h"

struct TdCpu {
  TdArena *arena;
  TdSession *session;
  const TdUnit *root;
  const TdCpuText *text;
  const TdTimes *times;
  TdCpuProgram program;
};

TdCpu *td_cpu_new(TdArena *a, const TdProg *p, const TdCpuOptions *o, TdDiag *d) {
  static const TdCpuOptions none = {0};
  TdCpu *c = TD_NEW(a, TdCpu);
  p = td_lower_collectives(a, p);
  c->arena = a;
  c->session = p->store->session;
  c->root = td_prog_root(p);
  c->times = o ? o->extra.times : NULL;
  c->text = td_cpu_text_of(a, p, o ? o->extra : none.extra, d);
  if (!c->text || !td_cpu_tier_begin(&c->program, a, p, c->text, o ? o : &none, d)) return NULL;
  td_cpu_reset(c);
  return c;
}

void td_cpu_reset(TdCpu *c) {
  struct td_run run = {.table = c->text->table};
  c->program.code.reset(&run, c->program.state);
}

void td_cpu_take_state(TdCpu *c, const TdCpu *from) {
  const TdCpuProgram *x = &from->program;
  if (x->code.state_bytes == c->program.code.state_bytes)
    memcpy(c->program.state, x->state, x->code.state_bytes);
}

const TdCpuText *td_cpu_source(const TdCpu *c) {
  return c->text;
}

TdTier td_cpu_tier(const TdCpu *c) {
  return c->program.tier;
}

/* A call under way. */
typedef struct Call {
  TdCpu *c;
  TdArena *arena; /* scratch */
  const TdCallArg *arg;
  void **at;        /* where arguments lie */
  TdTensor **dense; /* copies of arguments that do not lie row-major, or NULL */
  const struct td_timed *timed;
  TdDiag *d;
} Call;

static bool refuse(Call *k, size_t i, const char *code, const char *what) {
  const TdParam *p = &k->c->root->param[i];
  TdLoc call = {0};
  td_diag_set(k->d, TD_USAGE, code, call, "%s of %s %s", p->sym->name, k->c->root->sym->name, what);
  td_diag_note(k->d, p->loc, "declared here");
  return false;
}

/* Whether tensor argument i has the shape and element type of its parameter. */
static bool check_tensor(Call *k, size_t i) {
  const TdParam *p = &k->c->root->param[i];
  const TdType *t = td_unit_type(k->c->session, k->c->root, p->type);
  const TdTensor *x = k->arg[i].tensor;
  if (!x) return refuse(k, i, "argument-type", "takes a tensor");
  bool same = td_tensor_rank(x) == t->rank && td_type_scalar(x->type) == td_type_scalar(t);
  for (int d = 0; same && d < t->rank; d++) {
    int64_t extent;
    same = td_type_extent(t, d, &extent) && x->extent[d] == extent;
  }
  if (same) return true;
  return refuse(k, i, "argument-type",
                td_text_fmt(k->d->arena, "is %s, and was given %s", td_type_str(k->d->arena, t),
                            td_type_str(k->d->arena, x->type)));
}

/* Whether the elements of argument i, if it is written or to be apart, are nobody else's. */
static bool check_overlap(Call *k, size_t i) {
  for (size_t o = 0; o < k->c->root->nparam; o++) {
    const TdTensor *x = k->arg[i].tensor, *y = k->arg[o].tensor;
    bool written = k->c->text->written[i];
    const char *why = o == i ? NULL : td_unit_is_apart(k->c->root, i, o, written);
    if (!why || !x || !y || !td_tensor_overlap(x, y)) continue;
    return refuse(k, i, "overlap",
                  td_text_fmt(k->d->arena, "%s shares elements with %s", why,
                              k->c->root->param[o].sym->name));
  }
  return true;
}

/* The value of an expression over sizes and scalar parameters. */
static uint64_t value_of(const Call *k, const TdExpr *e) {
  const TdUnit *u = k->c->root;
  const TdType *t[4];
  uint64_t v[4];
  int64_t size = 0;
  TdFault fault;
  switch (e->kind) {
  case TD_EXPR_LIT: return e->u.bits;
  case TD_EXPR_SIZE: td_unit_value(u, e, &size); return (uint64_t)size;
  case TD_EXPR_VAR:
    for (size_t i = 0; i < u->nparam; i++)
      if (u->param[i].sym == e->sym) return k->arg[i].scalar;
    return 0;
  default: break;
  }
  for (uint32_t i = 0; i < e->nkid; i++) t[i] = e->kid[i]->type, v[i] = value_of(k, e->kid[i]);
  if (e->kind == TD_EXPR_CAST) return td_num_cast(e->type, t[0], v[0], &fault);
  return td_num_op(e->op, e->type, t, v, (int)e->nkid, &fault);
}

static bool check(Call *k, size_t narg) {
  const TdUnit *u = k->c->root;
  if (narg != u->nparam)
    return td_diag_set(k->d, TD_USAGE, "argument-count", u->loc, "%s takes %zu arguments, not %zu",
                       u->sym->name, u->nparam, narg);
  for (size_t i = 0; i < narg; i++)
    if (u->param[i].type->kind == TD_T_TENSOR && (!check_tensor(k, i) || !check_overlap(k, i)))
      return false;
  for (size_t i = 0; i < u->nassert; i++)
    if (!value_of(k, u->assert_[i]))
      return td_diag_set(k->d, TD_ILLEGAL, "assume", u->assert_[i]->loc, "%s",
                         td_unit_assumes(k->d->arena, u, i));
  return true;
}

/* Lays out argument i as the program takes it. */
static void lay_out(Call *k, size_t i) {
  const TdType *t = k->c->root->param[i].type;
  if (td_type_is_scalar(t)) {
    k->at[i] = td_arena_alloc(k->arena, td_type_bytes(t));
    td_num_store(t, k->at[i], k->arg[i].scalar);
    return;
  }
  TdTensor *x = k->arg[i].tensor;
  if (!td_tensor_count(x)) {
    k->at[i] = td_arena_alloc(k->arena, 1);
    return;
  }
  if (!td_tensor_is_dense(x)) {
    k->dense[i] = td_tensor_new(k->arena, x->type, false);
    td_tensor_copy(td_arena_ctx(k->arena), k->dense[i], x);
    x = k->dense[i];
  }
  k->at[i] = x->data;
}

/* Takes back what was written. */
static void take_back(Call *k, size_t i) {
  TdTensor *x = k->arg[i].tensor;
  if (!x || !k->c->text->written[i]) return;
  if (k->dense[i])
    td_tensor_copy(td_arena_ctx(k->arena), x, k->dense[i]);
  else if (x->written)
    memset(x->written, 1, (size_t)td_tensor_count(x));
}

/* Runs the entry on what was laid out. */
static bool run(Call *k) {
  TdCtx *ctx = k->c->session->ctx;
  struct td_run r = {
      .interrupt = td_ctx_stop_flag(ctx), .table = k->c->text->table, .timed = k->timed};
  if (k->c->text->watch) r.watch = td_cpu_watch_new(k->arena);
  td_cpu_tier_run(&k->c->program, &r, k->at);
  td_ctx_tick(ctx, 1);
  return !r.fault || td_cpu_code_tell(k->c->text, k->c->session, k->c->root, &r, k->d);
}

bool td_cpu_call(TdCpu *c, const TdCallArg *arg, size_t narg, TdDiag *d) {
  return td_cpu_call_with(c, NULL, arg, narg, d);
}

TdCpuFacts td_cpu_facts(const TdCpu *c) {
  return (TdCpuFacts){c->session, c->root, c->text, c->times};
}

bool td_cpu_call_with(TdCpu *c, const struct td_timed *timed, const TdCallArg *arg, size_t narg,
                      TdDiag *d) {
  Call k = {.c = c, .arg = arg, .timed = timed, .d = d};
  if (c->program.runs)
    return td_diag_set(d, TD_USAGE, "running", (TdLoc){0},
                       "%s is running: what it calls back cannot call it again",
                       c->root->sym->name);
  if (!check(&k, narg)) return false;
  k.arena = td_arena_scratch(c->session->ctx);
  k.at = TD_NEWN(k.arena, void *, narg);
  k.dense = TD_NEWN(k.arena, TdTensor *, narg);
  for (size_t i = 0; i < narg; i++) lay_out(&k, i);
  bool ok = run(&k);
  for (size_t i = 0; i < narg; i++) take_back(&k, i);
  td_arena_free(k.arena);
  return ok;
}
