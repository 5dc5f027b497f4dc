/* slice.c - slices of symbolic words, looked up in how the words were made. */
#include "eval/value/slice.h"

#include "eval/value/word.h"

static const TdValue unknown = {0, 0};

/* A word with bits put in, a value in another type of the same width, or a choice between words. */
typedef struct Made {
  TdValue as; /* what it is the making of */
  int op;     /* TD_OP_SETBITS, TD_APPLY_CAST (or a bitcast), TD_OP_SELECT */
  TdValue from, part;
  const TdType *type; /* of `from`; of a slice the word's */
  const TdType *put;  /* of `part` */
  int64_t lo, hi;
  TdValue condition;
  const TdType *truth; /* of the condition */
} Made;

/* What an operator on a word was found to give. */
typedef struct Known {
  TdApply x;
  TdValue v[3], is;
} Known;

/* The key of a value, mixed with a word, in the maps. */
static const void *key_of(TdValue v, uint64_t with) {
  return (const void *)(uintptr_t)td_map_mix(td_map_mix(v.lo, v.hi), with);
}

static const Made *made(const TdSlices *s, TdValue v) {
  const Made *m = td_map_getp(&s->made, key_of(v, 0));
  return m && td_value_is_symbolic(v) && td_value_same(m->as, v) ? m : NULL;
}

/* Whether a cast between these types keeps every bit. */
static bool keeps_bits(const TdApply *x) {
  const TdType *to = x->type, *from = x->of[0];
  if (to->w != from->w || to->kind == TD_T_BOOL || from->kind == TD_T_BOOL) return false;
  if (x->op == TD_OP_BITCAST) return true;
  return x->op == TD_APPLY_CAST && td_type_is_integer(to) && td_type_is_integer(from) &&
         !to->saturate;
}

/* Whether x takes or puts (op) bits at a known place [v[1], v[2]). */
static bool is_slice(const TdApply *x, int op) {
  return x->op == op && td_value_is_concrete(x->v[1]) && td_value_is_concrete(x->v[2]);
}

/* Whether that place of x lies within its word. */
static bool is_within(const TdApply *x) {
  return (int64_t)x->v[1].lo >= 0 && (int64_t)x->v[2].lo <= x->of[0]->w;
}

/* x with another first operand: folded if that is concrete. */
static TdValue apply_to(TdSlices *s, const TdApply *x, TdValue word) {
  const TdValue v[] = {word, x->n > 1 ? x->v[1] : unknown, x->n > 2 ? x->v[2] : unknown};
  TdApply to = *x;
  TdValue r;
  TdFault fault;
  to.v = v;
  if (!td_value_is_concrete(word)) return td_slice_apply(s, &to);
  if (!td_word_is_needed(&to)) return td_domain_fold(&to, &fault);
  return td_word_fold(s->arena, &to, &r) ? r : s->domain->apply(s->self, &to);
}

/* x of the choice m: the choice of x of either word. */
static TdValue of_choice(TdSlices *s, const TdApply *x, const Made *m) {
  TdValue yes = apply_to(s, x, m->from), no = apply_to(s, x, m->part);
  if (td_value_same(yes, no)) return yes;
  const TdType *of[] = {m->truth, x->type, x->type};
  const TdValue v[] = {m->condition, yes, no};
  return td_slice_apply(s, &(TdApply){TD_OP_SELECT, 3, x->type, of, v, x->loc});
}

/* The same, remembered: choices of choices share what they choose from. */
static TdValue of_choice_once(TdSlices *s, const TdApply *x, const Made *m) {
  uint64_t with = td_map_mix((uint64_t)x->op, td_domain_type_key(x->type, true));
  for (int i = 1; i < x->n; i++) with = td_map_mix(with, x->v[i].lo);
  const void *key = key_of(x->v[0], with);
  const Known *k = td_map_getp(&s->known, key);
  bool same = k && k->x.op == x->op && k->x.type == x->type && k->x.of[0] == x->of[0];
  for (int i = 0; same && i < x->n; i++) same = td_value_same(k->v[i], x->v[i]);
  if (same) return k->is;
  Known new = {.x = *x, .is = of_choice(s, x, m)};
  new.x.of = td_arena_copy(s->arena, x->of, (size_t)x->n * sizeof *x->of);
  for (int i = 0; i < x->n; i++) new.v[i] = x->v[i];
  const Known *kept = td_arena_copy(s->arena, &new, sizeof new);
  td_map_putp(s->arena, &s->known, key, (void *)(uintptr_t)kept);
  return new.is;
}

/* The bits that x takes of a word, as far as what was put in tells. */
static TdValue bits_of(TdSlices *s, const TdApply *x) {
  int64_t lo = (int64_t)x->v[1].lo, hi = (int64_t)x->v[2].lo;
  TdValue v = x->v[0];
  const Made *m;
  for (; (m = made(s, v)) && m->op == TD_OP_SETBITS; v = m->from) {
    if (hi <= m->lo || m->hi <= lo) continue;
    if (lo != m->lo || hi != m->hi) return unknown;
    if (m->put == x->type) return m->part;
    bool cut = td_type_is_integer(m->put) && m->put->w >= x->type->w;
    TdApply cast = {TD_APPLY_CAST, 1, x->type, &m->put, NULL, x->loc};
    return cut && td_type_is_integer(x->type) ? apply_to(s, &cast, m->part) : unknown;
  }
  if (m && m->op == TD_OP_SELECT && td_value_same(v, x->v[0])) return of_choice_once(s, x, m);
  bool goes_on = td_value_is_concrete(v) || (m && m->op == TD_OP_SELECT);
  return goes_on ? apply_to(s, x, v) : unknown;
}

/* x, whose place is not within its word, as what it takes or puts there: bits past the end are 0,
 * or lost. */
static TdValue past_end(TdSlices *s, const TdApply *x) {
  bool gets = x->op == TD_OP_GETBITS;
  int64_t lo = (int64_t)x->v[1].lo;
  const TdType *word = x->of[0], *part;
  if (lo < 0 || lo >= word->w) {
    if (gets) return x->type->w <= 64 ? td_value_of(0) : unknown;
    TdApply cast = {TD_APPLY_CAST, 1, x->type, &word, NULL, x->loc};
    return x->type == word ? x->v[0] : apply_to(s, &cast, x->v[0]);
  }
  TdValue v[] = {x->v[0], x->v[1], td_value_of((uint64_t)word->w), gets ? unknown : x->v[3]};
  TdApply cut = *x;
  cut.v = v;
  if (!gets) return td_slice_apply(s, &cut);
  cut.type = part = td_type_uint(s->session, word->w - (int)lo);
  TdApply cast = {TD_APPLY_CAST, 1, x->type, &part, NULL, x->loc};
  return apply_to(s, &cast, td_slice_apply(s, &cut));
}

/* The value that x is, if that follows from how its operands were made. */
static TdValue known(TdSlices *s, const TdApply *x) {
  bool gets = is_slice(x, TD_OP_GETBITS);
  if ((gets || is_slice(x, TD_OP_SETBITS)) && !is_within(x)) return past_end(s, x);
  if (gets) return bits_of(s, x);
  bool cast = (x->op == TD_APPLY_CAST || x->op == TD_OP_BITCAST) && keeps_bits(x);
  const Made *m = cast ? made(s, x->v[0]) : NULL;
  if (!m || m->op == TD_OP_SETBITS) return unknown;
  if (m->op == TD_OP_SELECT) return of_choice_once(s, x, m);
  return m->type == x->type ? m->from : unknown;
}

/* Notes that x gave v. */
static void note(TdSlices *s, const TdApply *x, TdValue v) {
  Made m = {.as = v, .op = x->op, .from = x->v[0], .type = x->of[0]};
  bool puts = is_slice(x, TD_OP_SETBITS) && is_within(x) && !x->type->saturate;
  bool casts = (x->op == TD_APPLY_CAST || x->op == TD_OP_BITCAST) && keeps_bits(x);
  bool chooses = x->op == TD_OP_SELECT && x->type->kind == TD_T_UINT && x->of[1] == x->type &&
                 x->of[2] == x->type;
  if (!td_value_is_symbolic(v) || !(puts || casts || chooses)) return;
  if (puts) {
    m.put = x->of[3];
    m.part = x->v[3];
    m.lo = (int64_t)x->v[1].lo;
    m.hi = (int64_t)x->v[2].lo;
  }
  if (chooses) {
    m.condition = x->v[0];
    m.truth = x->of[0];
    m.from = x->v[1];
    m.part = x->v[2];
  }
  const Made *kept = td_arena_copy(s->arena, &m, sizeof m);
  td_map_putp(s->arena, &s->made, key_of(v, 0), (void *)(uintptr_t)kept);
}

TdValue td_slice_apply(TdSlices *s, const TdApply *x) {
  td_ctx_enter(td_arena_ctx(s->arena));
  TdValue v = known(s, x);
  if (!td_value_is_defined(v)) {
    v = s->domain->apply(s->self, x);
    note(s, x, v);
  }
  td_ctx_leave(td_arena_ctx(s->arena));
  return v;
}
