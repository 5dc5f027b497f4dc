/* twin.c - a program run on fingerprints: written, compiled, given its inputs. */
#include <inttypes.h>
#include <string.h>

#include "backends/cpu/load/code.h"
#include "backends/cpu/twin/twin_text.h"
#include "eval/prime.h"
#include "ir/text/unfuse.h"
#include "lower/lower.h"

enum { KEYS = TD_PRELUDE_FIRST + TD_PRELUDE_WORDS * TD_OPS };

/* One twin and its run. */
typedef struct Twin {
  TdArena *arena; /* scratch */
  TdProg prog;    /* with tensor expressions as loops */
  const TdUnit *root;
  TdCpuTaint taint;
  TdCpuProg text;
  TdCTarget target;
  const TdTwinArg *arg;
  TdCpuProgram program;
  struct td_run run;
  uint64_t key[KEYS];
  void **at; /* what the entry gets */
  TdDiag *d;
} Twin;

/* Draws all keys from the seed; multipliers are odd. */
static void draw(Twin *t, TdTwinHow how) {
  for (unsigned i = 0; i < KEYS; i++) t->key[i] = td_map_mix(td_map_mix(how.seed, i), how.seed) | 1;
  if (how.level <= TD_TWIN_FUSED) return;
  TdPrime prime = {0};
  if (how.level == TD_TWIN_RING) prime = td_prime_draw(how.seed, 58);
  t->key[3] = how.wide;
  t->key[4] = (t->key[4] >> 8 & ((1u << 28) - 1)) | (t->key[4] >> 40 | 1) << 29;
  t->key[5] = prime.p;
  t->key[6] = prime.minus;
  t->key[7] = prime.square;
  for (int op = 0; op < TD_OPS; op++) {
    uint64_t *by = t->key + TD_PRELUDE_FIRST + TD_PRELUDE_WORDS * op;
    for (int k = 1; k <= 2; k++) by[k + 2] = td_prime_inverse(by[k]);
  }
}

/* The program with tensor expressions as loops; false with t->d filled. */
static bool lower(Twin *t, const TdProg *p) {
  TdLowered l;
  if (!td_lower_prog(t->arena, p, TD_LOWER_TENSORS, "cpu", &l, t->d)) return false;
  t->prog = *l.prog;
  t->root = td_prog_root(&t->prog);
  t->text.w->prog = &t->prog;
  return true;
}

/* Whether every unit is a kernel. */
static bool check_units(const Twin *t) {
  for (size_t i = 0; i < t->prog.nunit; i++) {
    const TdUnit *u = t->prog.unit[i];
    if (u->kind != TD_UNIT_KERNEL)
      return td_diag_set(t->d, TD_UNSUPPORTED, "not-here", u->loc, "%s is not a kernel",
                         u->sym->name);
  }
  return true;
}

/* The twin's text; NULL with the diagnostic filled. */
static const TdCpuText *write(Twin *t, const TdProg *p, TdTwinLevel level) {
  t->target = td_cpu_symbol_target();
  td_cpu_text_begin(&t->text, t->arena, p, &t->target, t->d);
  if (!lower(t, level >= TD_TWIN_FUSED ? td_unfuse_prog(t->arena, p) : p) || !check_units(t))
    return NULL;
  t->taint.arena = t->arena;
  for (size_t i = 0; i < t->root->nparam; i++) {
    union {
      TdSym from;
      void *to;
    } sym = {t->root->param[i].sym};
    if (!t->arg[i].concrete) td_map_putp(t->arena, &t->taint.symbol, sym.from, sym.to);
  }
  td_cpu_taint_spread(&t->taint, &t->prog);
  t->text.taint = &t->taint;
  t->text.opaque = level == TD_TWIN_WHOLE;
  t->text.first = "TD_KEYS";
  t->text.argument = td_cpu_symbol_argument;
  return td_cpu_text_end(&t->text, td_prelude_twin_text(t->arena, level));
}

/* The elements of a tensor as words, row-major. */
static uint64_t *words_of(Twin *t, const TdTensor *x, int64_t n) {
  uint64_t *word = TD_NEWN(t->arena, uint64_t, n);
  int64_t index[TD_MAX_RANK] = {0};
  for (int64_t i = 0; i < n; i++, td_tensor_next(x, index)) word[i] = td_tensor_get(x, index);
  return word;
}

/* n symbolic constants of type t in `to`. */
static void lift(Twin *t, const TdType *type, const uint64_t *word, int64_t n, TdFingerprint *to) {
  uint64_t key = td_cpu_symbol_key(TD_SYMBOL_CONSTANT, type, NULL, 0);
  t->program.code.lift(&t->run, to, word, (uint64_t)n, key, td_cpu_symbol_kind(type),
                       td_type_is_fixed(type) ? type->f : 0);
}

/* Lays out argument i: numbers, or fingerprints of constants or inputs. */
static bool lay_out(Twin *t, size_t i) {
  const TdParam *p = &t->root->param[i];
  const TdType *type = td_unit_type(t->prog.store->session, t->root, p->type);
  const TdType *elem = td_type_scalar(type);
  const TdTwinArg *arg = &t->arg[i];
  bool is_tensor = type->kind == TD_T_TENSOR, symbolic = td_cpu_taint_has(&t->taint, p->sym);
  int64_t n = 1;
  td_type_count(type, &n);
  if (arg->concrete && is_tensor && (!arg->tensor || td_tensor_count(arg->tensor) != n))
    return td_diag_set(t->d, TD_USAGE, "argument-type", p->loc, "%s takes a tensor of its shape",
                       p->sym->name);
  if (!symbolic) {
    TdTensor *x = is_tensor ? td_tensor_new(t->arena, type, false) : NULL;
    t->at[i] = x ? x->data : td_arena_alloc(t->arena, td_type_bytes(elem));
    if (x)
      td_tensor_copy(td_arena_ctx(t->arena), x, arg->tensor);
    else
      td_num_store(elem, t->at[i], arg->scalar);
    return true;
  }
  t->at[i] = TD_NEWN(t->arena, TdFingerprint, n);
  if (arg->concrete)
    lift(t, elem, is_tensor ? words_of(t, arg->tensor, n) : &arg->scalar, n, t->at[i]);
  else
    t->program.code.input(&t->run, t->at[i], (uint64_t)n, td_map_mix(TD_SYMBOL_INPUT, i));
  return true;
}

/* What the run left in argument i, owned by a; NULL unless it may be written. */
static TdFingerprint *left_in(Twin *t, TdArena *a, size_t i) {
  const TdParam *p = &t->root->param[i];
  const TdType *type = td_unit_type(t->prog.store->session, t->root, p->type);
  int64_t n = 1;
  if (type->kind != TD_T_TENSOR || !td_type_count(type, &n)) return NULL;
  TdFingerprint *to = TD_NEWN(a, TdFingerprint, n);
  if (td_cpu_taint_has(&t->taint, p->sym)) {
    memcpy(to, t->at[i], (size_t)n * sizeof *to);
  } else {
    TdTensor x = *td_tensor_new(t->arena, type, false);
    x.data = t->at[i];
    lift(t, td_type_scalar(type), words_of(t, &x, n), n, to);
  }
  t->program.code.settle(to, (uint64_t)n, td_cpu_symbol_width(td_type_scalar(type)));
  return to;
}

/* Whether the arguments, and what is left in them, take no more than so many bytes (0: any). */
static bool have_room(Twin *t, size_t most) {
  double bytes = 0;
  for (size_t i = 0; i < t->root->nparam; i++) {
    int64_t n = 0;
    td_type_count(td_unit_type(t->prog.store->session, t->root, t->root->param[i].type), &n);
    bytes += 2.0 * (double)n * sizeof(TdFingerprint);
  }
  if (!most || bytes <= (double)most) return true;
  return td_diag_set(t->d, TD_LIMIT, "limit", t->root->loc, "limit of memory");
}

/* Compiles and runs the text; results go to a. */
static bool run(Twin *t, TdArena *a, const TdCpuText *text, const TdCpuOptions *o,
                TdTwinResult *result) {
  TdCtx *c = td_arena_ctx(a);
  if (!have_room(t, o->bytes)) return false;
  if (!td_cpu_tier_begin(&t->program, t->arena, &t->prog, text, o, t->d)) return false;
  size_t n = t->root->nparam;
  t->run = (struct td_run){.interrupt = td_ctx_stop_flag(c), .table = text->table};
  t->run.key = t->key;
  t->at = TD_NEWN(t->arena, void *, n);
  for (size_t i = 0; i < n; i++)
    if (!lay_out(t, i)) return false;
  td_cpu_tier_run(&t->program, &t->run, t->at);
  td_ctx_tick(c, 1);
  if (t->run.fault) return td_cpu_code_tell(text, t->prog.store->session, t->root, &t->run, t->d);
  result->terms = t->text.terms;
  result->of = TD_NEWN(a, TdFingerprint *, n);
  for (size_t i = 0; i < n; i++)
    if (text->written[i]) result->of[i] = left_in(t, a, i);
  return true;
}

bool td_cpu_twin_run(TdArena *a, const TdProg *p, TdTwinHow how, const TdTwinArg *arg, size_t narg,
                     TdTwinResult *result, TdDiag *d) {
  static const TdCpuOptions none = {0};
  const TdUnit *root = td_prog_root(p);
  if (narg != root->nparam)
    return td_diag_set(d, TD_USAGE, "argument-count", root->loc, "%s takes %zu arguments, not %zu",
                       root->sym->name, root->nparam, narg);
  TdArena *scratch = td_arena_scratch(td_arena_ctx(a));
  Twin *t = TD_NEW(scratch, Twin);
  t->arena = scratch;
  t->arg = arg;
  t->d = d;
  draw(t, how);
  const TdCpuText *text = write(t, p, how.level);
  bool ok = text && run(t, a, text, how.options ? how.options : &none, result);
  td_arena_free(scratch);
  return ok;
}
