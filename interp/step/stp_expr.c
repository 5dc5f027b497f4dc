/* stp_expr.c - canonical expressions: every operation gives the normal form, which is interned. */
#include <string.h>

#include "step/stp_expr.h"

struct TdStpExprs {
  TdArena *arena, *scratch;
  TdMap atom, expr; /* from a hash to the newest of a chain */
  uint32_t natom, nexpr;
};

/* Links of the chains. */
typedef struct AtomLink {
  TdStpAtom atom;
  struct AtomLink *next;
} AtomLink;
typedef struct ExprLink {
  TdStpExpr expr;
  struct ExprLink *next;
} ExprLink;

TdStpExprs *td_stp_expr_table(TdArena *a) {
  TdStpExprs *x = TD_NEW(a, TdStpExprs);
  x->arena = a;
  x->scratch = td_arena_inner(a);
  return x;
}

static int64_t times(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  int64_t most = INT64_MAX / (b < 0 ? -b : b);
  if (a > most) return b < 0 ? -INT64_MAX : INT64_MAX;
  if (a < -most) return b < 0 ? INT64_MAX : -INT64_MAX;
  return a * b;
}

static int64_t plus(int64_t a, int64_t b) {
  if (b > 0 && a > INT64_MAX - b) return INT64_MAX;
  if (b < 0 && a < -INT64_MAX - b) return -INT64_MAX;
  return a + b;
}

static int compare_exprs(const TdStpExpr *a, const TdStpExpr *b);

/* Compares names so that D2 comes before D10. */
static int compare_names(const char *a, const char *b) {
  size_t n = 0;
  while (a[n] && a[n] == b[n]) n++;
  size_t start = n;
  while (start && a[start - 1] >= '0' && a[start - 1] <= '9') start--;
  size_t la = strspn(a + start, "0123456789"), lb = strspn(b + start, "0123456789");
  if (la && lb && la != lb) return la < lb ? -1 : 1;
  return strcmp(a, b);
}

static int compare_atoms(const TdStpAtom *a, const TdStpAtom *b) {
  if (a == b) return 0;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->kind == TD_STP_SYMBOL) return compare_names(a->name, b->name);
  int of = compare_exprs(a->of, b->of);
  if (of) return of;
  return a->by < b->by ? -1 : a->by > b->by;
}

/* Order of terms: more factors first, so that a constant is last. */
static int compare_terms(const TdStpTerm *a, const TdStpTerm *b) {
  if (a->n != b->n) return a->n > b->n ? -1 : 1;
  for (uint32_t i = 0; i < a->n; i++) {
    int c = compare_atoms(a->atom[i], b->atom[i]);
    if (c) return c;
  }
  return 0;
}

static int compare_exprs(const TdStpExpr *a, const TdStpExpr *b) {
  if (a == b) return 0;
  for (size_t i = 0; i < a->n && i < b->n; i++) {
    int c = compare_terms(&a->term[i], &b->term[i]);
    if (c) return c;
    if (a->term[i].coef != b->term[i].coef) return a->term[i].coef < b->term[i].coef ? -1 : 1;
  }
  return a->n < b->n ? -1 : a->n > b->n;
}

static const TdStpAtom *intern_atom(TdStpExprs *x, TdStpAtom want) {
  uint64_t h = td_map_mix((uint64_t)want.kind, (uint64_t)want.by);
  h = td_map_mix(h, want.of ? want.of->id + 1 : 0);
  if (want.name) h = td_map_mix(h, td_map_hash(want.name, strlen(want.name)));
  uint64_t found = 0;
  AtomLink *first = td_map_get(&x->atom, h, &found) ? (AtomLink *)(uintptr_t)found : NULL;
  for (AtomLink *l = first; l; l = l->next)
    if (!compare_atoms(&l->atom, &want)) return &l->atom;
  AtomLink *l = TD_NEW(x->arena, AtomLink);
  l->atom = want;
  l->atom.id = x->natom++;
  if (want.name) l->atom.name = td_arena_strdup(x->arena, want.name);
  l->next = first;
  td_map_put(x->arena, &x->atom, h, (uint64_t)(uintptr_t)l);
  return &l->atom;
}

/* The interned sum of n sorted terms, which are copied. */
static const TdStpExpr *intern_expr(TdStpExprs *x, const TdStpTerm *term, size_t n) {
  uint64_t h = n;
  for (size_t i = 0; i < n; i++) {
    h = td_map_mix(h, (uint64_t)term[i].coef);
    for (uint32_t k = 0; k < term[i].n; k++) h = td_map_mix(h, term[i].atom[k]->id + 1);
  }
  TdStpExpr want = {.n = n, .term = term};
  uint64_t found = 0;
  ExprLink *first = td_map_get(&x->expr, h, &found) ? (ExprLink *)(uintptr_t)found : NULL;
  for (ExprLink *l = first; l; l = l->next)
    if (!compare_exprs(&l->expr, &want)) return &l->expr;
  ExprLink *l = TD_NEW(x->arena, ExprLink);
  TdStpTerm *own = TD_NEWN(x->arena, TdStpTerm, n ? n : 1);
  for (size_t i = 0; i < n; i++) {
    own[i] = term[i];
    own[i].atom = td_arena_copy(x->arena, term[i].atom, term[i].n * sizeof *term[i].atom);
  }
  l->expr = (TdStpExpr){.id = x->nexpr++, .n = n, .term = own};
  l->next = first;
  td_map_put(x->arena, &x->expr, h, (uint64_t)(uintptr_t)l);
  return &l->expr;
}

/* Sorts n terms by merging, with room for as many. */
static void sort_terms(TdStpTerm *t, TdStpTerm *room, size_t n) {
  if (n < 2) return;
  size_t half = n / 2, i = 0, k = half, o = 0;
  sort_terms(t, room, half);
  sort_terms(t + half, room, n - half);
  while (i < half && k < n) room[o++] = compare_terms(&t[i], &t[k]) <= 0 ? t[i++] : t[k++];
  while (i < half) room[o++] = t[i++];
  while (k < n) room[o++] = t[k++];
  memcpy(t, room, n * sizeof *t);
}

/* Interns terms in any order: equal factors are joined, zeros dropped. */
static const TdStpExpr *normal(TdStpExprs *x, TdStpTerm *t, size_t n, TdArena *scratch) {
  sort_terms(t, TD_NEWN(scratch, TdStpTerm, n + 1), n);
  size_t o = 0;
  for (size_t i = 0; i < n; i++) {
    if (o && !compare_terms(&t[o - 1], &t[i])) {
      t[o - 1].coef = plus(t[o - 1].coef, t[i].coef);
    } else {
      if (o && !t[o - 1].coef) o--;
      t[o++] = t[i];
    }
  }
  if (o && !t[o - 1].coef) o--;
  return intern_expr(x, t, o);
}

const TdStpExpr *td_stp_expr_const(TdStpExprs *x, int64_t v) {
  TdStpTerm t = {.coef = v};
  return intern_expr(x, &t, v ? 1 : 0);
}

static const TdStpExpr *of_atom(TdStpExprs *x, const TdStpAtom *a) {
  TdStpTerm t = {.coef = 1, .n = 1, .atom = &a};
  return intern_expr(x, &t, 1);
}

const TdStpExpr *td_stp_expr_symbol(TdStpExprs *x, const char *name) {
  return of_atom(x, intern_atom(x, (TdStpAtom){.kind = TD_STP_SYMBOL, .name = name}));
}

const TdStpExpr *td_stp_expr_sum(TdStpExprs *x, const TdStpExpr *const *part, size_t n) {
  TdArena *scratch = x->scratch;
  TdMark mark = td_arena_mark(scratch);
  size_t terms = 0, o = 0;
  for (size_t i = 0; i < n; i++) terms += part[i]->n;
  TdStpTerm *t = TD_NEWN(scratch, TdStpTerm, terms + 1);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < part[i]->n; k++) t[o++] = part[i]->term[k];
  const TdStpExpr *e = normal(x, t, terms, scratch);
  td_arena_release(scratch, mark);
  return e;
}

const TdStpExpr *td_stp_expr_add(TdStpExprs *x, const TdStpExpr *a, const TdStpExpr *b) {
  const TdStpExpr *part[] = {a, b};
  return td_stp_expr_sum(x, part, 2);
}

/* The product of two terms, atoms merged in order. */
static TdStpTerm times_term(TdArena *scratch, const TdStpTerm *a, const TdStpTerm *b) {
  const TdStpAtom **atom = TD_NEWN(scratch, const TdStpAtom *, a->n + b->n + 1);
  uint32_t i = 0, k = 0, o = 0;
  while (i < a->n && k < b->n)
    atom[o++] = compare_atoms(a->atom[i], b->atom[k]) <= 0 ? a->atom[i++] : b->atom[k++];
  while (i < a->n) atom[o++] = a->atom[i++];
  while (k < b->n) atom[o++] = b->atom[k++];
  uint32_t kept = 0;
  for (uint32_t j = 0; j < o; j++)
    if (!(kept && atom[j] == atom[kept - 1] && atom[j]->kind == TD_STP_POSITIVE))
      atom[kept++] = atom[j];
  return (TdStpTerm){.coef = times(a->coef, b->coef), .n = kept, .atom = atom};
}

const TdStpExpr *td_stp_expr_mul(TdStpExprs *x, const TdStpExpr *a, const TdStpExpr *b) {
  TdArena *scratch = x->scratch;
  TdMark mark = td_arena_mark(scratch);
  TdStpTerm *t = TD_NEWN(scratch, TdStpTerm, a->n * b->n + 1);
  for (size_t i = 0; i < a->n; i++)
    for (size_t k = 0; k < b->n; k++)
      t[i * b->n + k] = times_term(scratch, &a->term[i], &b->term[k]);
  const TdStpExpr *e = normal(x, t, a->n * b->n, scratch);
  td_arena_release(scratch, mark);
  return e;
}

const TdStpExpr *td_stp_expr_scale(TdStpExprs *x, const TdStpExpr *a, int64_t by) {
  return td_stp_expr_mul(x, a, td_stp_expr_const(x, by));
}

bool td_stp_expr_is_const(const TdStpExpr *e, int64_t *v) {
  if (e->n > 1 || (e->n == 1 && e->term[0].n)) return false;
  *v = e->n ? e->term[0].coef : 0;
  return true;
}

bool td_stp_expr_divides(const TdStpExpr *e, int64_t c) {
  for (size_t i = 0; i < e->n; i++)
    if (e->term[i].coef % c) return false;
  return true;
}

/* e / c, where c divides every coefficient. */
static const TdStpExpr *exactly(TdStpExprs *x, const TdStpExpr *e, int64_t c) {
  TdArena *scratch = x->scratch;
  TdMark mark = td_arena_mark(scratch);
  TdStpTerm *t = TD_NEWN(scratch, TdStpTerm, e->n + 1);
  for (size_t i = 0; i < e->n; i++) {
    t[i] = e->term[i];
    t[i].coef /= c;
  }
  const TdStpExpr *q = intern_expr(x, t, e->n);
  td_arena_release(scratch, mark);
  return q;
}

/* A quotient rounded up or down. */
static const TdStpExpr *quotient(TdStpExprs *x, const TdStpExpr *a, int64_t by, bool up) {
  int64_t v;
  if (by == 1) return a;
  if (td_stp_expr_is_const(a, &v)) return td_stp_expr_const(x, up ? (v + by - 1) / by : v / by);
  if (td_stp_expr_divides(a, by)) return exactly(x, a, by);
  if (a->n == 1 && a->term[0].n == 1 && a->term[0].coef == 1) {
    const TdStpAtom *in = a->term[0].atom[0];
    if (in->kind == (up ? TD_STP_CEIL : TD_STP_FLOOR) && in->by <= INT64_MAX / by)
      return quotient(x, in->of, in->by * by, up);
  }
  return of_atom(
      x, intern_atom(x, (TdStpAtom){.kind = up ? TD_STP_CEIL : TD_STP_FLOOR, .of = a, .by = by}));
}

const TdStpExpr *td_stp_expr_floor(TdStpExprs *x, const TdStpExpr *a, int64_t by) {
  return quotient(x, a, by, false);
}

const TdStpExpr *td_stp_expr_ceil(TdStpExprs *x, const TdStpExpr *a, int64_t by) {
  return quotient(x, a, by, true);
}

const TdStpExpr *td_stp_expr_positive(TdStpExprs *x, const TdStpExpr *a) {
  int64_t v;
  if (td_stp_expr_is_const(a, &v)) return td_stp_expr_const(x, v > 0);
  if (a->n == 1 && a->term[0].n == 1 && a->term[0].coef > 0) {
    const TdStpAtom *in = a->term[0].atom[0];
    if (in->kind == TD_STP_POSITIVE) return of_atom(x, in);
    if (in->kind == TD_STP_CEIL) return td_stp_expr_positive(x, in->of);
    if (a->term[0].coef != 1) a = of_atom(x, in);
  }
  return of_atom(x, intern_atom(x, (TdStpAtom){.kind = TD_STP_POSITIVE, .of = a}));
}

static const TdStpExpr *atom_at(TdStpExprs *x, const TdStpAtom *a, TdStpLookup f, void *ud) {
  int64_t v;
  if (a->kind == TD_STP_SYMBOL) return f(ud, a->name, &v) ? td_stp_expr_const(x, v) : of_atom(x, a);
  const TdStpExpr *of = td_stp_expr_at(x, a->of, f, ud);
  if (a->kind == TD_STP_POSITIVE) return td_stp_expr_positive(x, of);
  return quotient(x, of, a->by, a->kind == TD_STP_CEIL);
}

const TdStpExpr *td_stp_expr_at(TdStpExprs *x, const TdStpExpr *e, TdStpLookup f, void *ud) {
  td_ctx_enter(td_arena_ctx(x->arena));
  TdArena *scratch = x->scratch;
  TdMark mark = td_arena_mark(scratch);
  const TdStpExpr **part = TD_NEWN(scratch, const TdStpExpr *, e->n + 1);
  for (size_t i = 0; i < e->n; i++) {
    const TdStpExpr *p = td_stp_expr_const(x, e->term[i].coef);
    for (uint32_t k = 0; k < e->term[i].n; k++)
      p = td_stp_expr_mul(x, p, atom_at(x, e->term[i].atom[k], f, ud));
    part[i] = p;
  }
  const TdStpExpr *sum = td_stp_expr_sum(x, part, e->n);
  td_arena_release(scratch, mark);
  td_ctx_leave(td_arena_ctx(x->arena));
  return sum;
}

/* Whether e prints as one name. */
static bool is_name(const TdStpExpr *e) {
  return e->n == 1 && e->term[0].n == 1 && e->term[0].coef == 1 &&
         e->term[0].atom[0]->kind == TD_STP_SYMBOL;
}

static void print_atom(TdText *out, const TdStpAtom *a) {
  if (a->kind == TD_STP_SYMBOL) {
    td_text_puts(out, a->name);
    return;
  }
  if (a->kind == TD_STP_CEIL) td_text_puts(out, "ceil(");
  if (a->kind == TD_STP_POSITIVE) td_text_puts(out, "positive(");
  bool bare = a->kind == TD_STP_POSITIVE || is_name(a->of);
  td_text_puts(out, bare ? "" : "(");
  td_stp_expr_print(out, a->of);
  td_text_puts(out, bare ? "" : ")");
  if (a->kind == TD_STP_CEIL) td_text_putf(out, " / %lld", (long long)a->by);
  if (a->kind == TD_STP_FLOOR)
    td_text_putf(out, " // %lld", (long long)a->by);
  else
    td_text_putc(out, ')');
}

void td_stp_expr_print(TdText *out, const TdStpExpr *e) {
  if (!e->n) td_text_putc(out, '0');
  for (size_t i = 0; i < e->n; i++) {
    const TdStpTerm *t = &e->term[i];
    int64_t c = t->coef;
    if (i) {
      td_text_puts(out, c < 0 ? " - " : " + ");
      if (c < 0) c = -c;
    }
    bool shows = c != 1 || !t->n;
    if (shows) td_text_putf(out, "%lld", (long long)c);
    for (uint32_t k = 0; k < t->n; k++) {
      if (k || shows) td_text_puts(out, " * ");
      bool floors = t->atom[k]->kind == TD_STP_FLOOR && (t->n > 1 || shows);
      if (floors) td_text_putc(out, '(');
      print_atom(out, t->atom[k]);
      if (floors) td_text_putc(out, ')');
    }
  }
}

const char *td_stp_expr_str(TdArena *a, const TdStpExpr *e) {
  TdText t = td_text_new(a);
  td_stp_expr_print(&t, e);
  return td_text_str(&t);
}
