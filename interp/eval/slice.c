/* slice.c - slices of symbolic words, looked up in how the words were made. */
#include "eval/slice.h"

#include "ir/num.h"

/* A word with bits put in, or a value in another type of the same width. */
typedef struct Made {
  TdValue as; /* what it is the making of */
  TdValue from, part;
  const TdType *type; /* of `from`; of a slice the word's */
  const TdType *put;  /* of `part`, or NULL: a cast */
  int64_t lo, hi;
} Made;

static const Made *made(const TdSlices *s, TdValue v) {
  const Made *m = td_map_getp(&s->made, (const void *)(uintptr_t)td_map_mix(v.lo, v.hi));
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

/* Bits [lo, hi) of the word v, as far as what was put in tells. */
static TdValue bits_of(const TdSlices *s, TdValue v, const TdApply *x, int64_t lo, int64_t hi) {
  for (const Made *m; (m = made(s, v)) && m->put; v = m->from) {
    if (hi <= m->lo || m->hi <= lo) continue;
    bool exact = lo == m->lo && hi == m->hi && m->put == x->type;
    return exact ? m->part : (TdValue){0, 0};
  }
  bool low = v.hi == TD_VALUE_CONCRETE && !td_type_is_signed(x->of[0]) && x->type->w <= 64;
  if (!low) return (TdValue){0, 0};
  return td_value_of(td_num_wrap(x->type, lo < 64 ? v.lo >> lo : 0));
}

TdValue td_slice_known(const TdSlices *s, const TdApply *x) {
  if (x->op == TD_OP_GETBITS && td_value_is_concrete(x->v[1]) && td_value_is_concrete(x->v[2]))
    return bits_of(s, x->v[0], x, (int64_t)x->v[1].lo, (int64_t)x->v[2].lo);
  bool cast = (x->op == TD_APPLY_CAST || x->op == TD_OP_BITCAST) && keeps_bits(x);
  const Made *m = cast ? made(s, x->v[0]) : NULL;
  return m && !m->put && m->type == x->type ? m->from : (TdValue){0, 0};
}

void td_slice_note(TdArena *a, TdSlices *s, const TdApply *x, TdValue v) {
  Made m = {.as = v, .from = x->v[0], .type = x->of[0]};
  bool puts = x->op == TD_OP_SETBITS && td_value_is_concrete(x->v[1]) &&
              td_value_is_concrete(x->v[2]) && !x->type->saturate;
  bool casts = (x->op == TD_APPLY_CAST || x->op == TD_OP_BITCAST) && keeps_bits(x);
  if (!td_value_is_symbolic(v) || (!puts && !casts)) return;
  if (puts) {
    m.put = x->of[3];
    m.part = x->v[3];
    m.lo = (int64_t)x->v[1].lo;
    m.hi = (int64_t)x->v[2].lo;
  }
  const Made *kept = td_arena_copy(a, &m, sizeof m);
  td_map_putp(a, &s->made, (const void *)(uintptr_t)td_map_mix(v.lo, v.hi),
              (void *)(uintptr_t)kept);
}
