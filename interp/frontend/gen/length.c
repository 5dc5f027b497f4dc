/* length.c - the length of a slice whose ends speak of loop variables and task ids. */
#include "frontend/gen/irgen.h"
#include "ir/text/print.h"

/* Beyond this nothing is decided, so that no sum of products overflows. */
enum { MOST = 1 << 30 };

/* What a loop variable or task id goes through: lo <= it < hi. */
typedef struct Range {
  const TdExpr *lo, *hi;
} Range;

/* The least and the most that an index expression can be. */
typedef struct Span {
  int64_t least, most;
} Span;

void td_irgen_note_range(TdIrgen *l, TdSym v, const TdExpr *lo, const TdExpr *hi) {
  Range *r = TD_NEW(l->arena, Range);
  *r = (Range){lo, hi};
  td_map_putp(l->arena, &l->range, v, r);
}

static bool is_small(int64_t v) {
  return -MOST < v && v < MOST;
}

static bool span_of(TdIrgen *l, const TdExpr *e, Span *s);

/* The span of an atom: of a size its value, of a variable what its loop or map says; false if that
 * is not known, or the variable never is anything. */
static bool span_of_atom(TdIrgen *l, const TdExpr *e, Span *s) {
  if (td_irgen_is_extent(e)) {
    if (!td_sizes_value(l->sizes, e, &s->least)) return false;
    s->most = s->least;
    return true;
  }
  const Range *r = e->kind == TD_EXPR_VAR ? td_map_getp(&l->range, e->sym) : NULL;
  Span lo, hi;
  if (!r || !span_of(l, r->lo, &lo) || !span_of(l, r->hi, &hi)) return false;
  *s = (Span){lo.least, hi.most - 1};
  return s->least <= s->most;
}

/* The span of e over all that its variables go through at the known sizes, each by itself; false if
 * one is not known. */
static bool span_of(TdIrgen *l, const TdExpr *e, Span *s) {
  TdLin x = td_lin_of(l->session, l->arena, e);
  *s = (Span){x.constant, x.constant};
  td_ctx_enter(l->session->ctx);
  bool known = is_small(x.constant);
  for (size_t i = 0; i < x.n && known; i++) {
    Span a = {0};
    int64_t by = x.term[i].coef;
    known = span_of_atom(l, x.term[i].atom, &a) && is_small(by) && is_small(a.least) &&
            is_small(a.most);
    if (!known) break;
    s->least += by * (by < 0 ? a.most : a.least);
    s->most += by * (by < 0 ? a.least : a.most);
    known = is_small(s->least) && is_small(s->most);
  }
  td_ctx_leave(l->session->ctx);
  return known;
}

/* The sizes that a span was decided by become plain numbers. */
static bool pin_atom(void *ud, const TdExpr *e) {
  TdIrgen *l = ud;
  const Range *r = e->kind == TD_EXPR_VAR ? td_map_getp(&l->range, e->sym) : NULL;
  td_sizes_pin(l->sizes, e);
  if (r) {
    td_walk_expr(r->lo, pin_atom, l);
    td_walk_expr(r->hi, pin_atom, l);
  }
  return true;
}

/* An index as a user writes it. */
static const char *text_of(TdIrgen *l, const TdExpr *e) {
  int64_t v;
  if (td_expr_is_const(e, &v)) return td_text_fmt(l->arena, "%lld", (long long)v);
  return td_print_expr_str(l->arena, e);
}

/* Says what to write for the range {lo, hi, step} whose length is not one number. */
static void help_length(TdIrgen *l, const TdExpr *lo, const TdExpr *hi, int64_t step) {
  TdSession *ss = l->session;
  const char *from = text_of(l, lo);
  if (step == 1 || !td_irgen_is_extent(hi)) {
    td_diag_help(l->diag, "a length that is one number: {%s, %s + 2} has 2 elements", from, from);
    return;
  }
  const TdExpr *less = td_expr_index(ss, l->arena, step - 1, hi->loc);
  const TdExpr *end = td_lin_plus(ss, l->arena, lo, td_lin_minus(ss, l->arena, hi, less));
  td_diag_help(l->diag, "{%s, %s, %lld} has one length wherever it begins: %s", from,
               text_of(l, end), (long long)step,
               text_of(l, td_lin_floordiv(ss, l->arena, hi, step)));
}

const TdExpr *td_irgen_length(TdIrgen *l, const TdExpr *lo, const TdExpr *hi, int64_t step,
                              TdLoc loc) {
  const TdExpr *all = td_lin_minus(l->session, l->arena, hi, lo);
  const TdExpr *length = td_lin_ceildiv(l->session, l->arena, all, step);
  if (td_irgen_is_extent(length)) return length;
  Span s;
  bool known = span_of(l, all, &s) && s.least >= 0 && is_small(step);
  int64_t least = known ? (s.least + step - 1) / step : 0;
  int64_t most = known ? (s.most + step - 1) / step : 0;
  if (known && least == most) {
    td_walk_expr(all, pin_atom, l);
    return td_expr_index(l->session, l->arena, least, loc);
  }
  const char *why = "the length of a slice must not depend on variables";
  if (known)
    td_irgen_fail(l, "extent", loc, "%s: this one has from %lld to %lld elements", why,
                  (long long)least, (long long)most);
  else
    td_irgen_fail(l, "extent", loc, "%s", why);
  help_length(l, lo, hi, step);
  return NULL;
}
