/* deps_fuzz_test.c - random nests and random rewrites of them: the order check against enumeration.
 */
#include "tests/unit/tap.h"
#include "tests/unit/trace.h"

#include "analysis/order/loop_carried.h"
#include "analysis/order/deps.h"

enum { LOOPS = 3, STMTS = 3 };

/* A statement of a case: its depth, text, and the place of its instances after the rewrite:
 * old[d] = sum of inverse[d][e] * (n_e - shift[e]); old[d] is 0 beyond its depth. */
typedef struct Stmt {
  int depth;
  char reduces; /* the operator of `place = place op ..`, or 0 */
  char store[256], guard[96];
  int inverse[LOOPS][LOOPS], shift[LOOPS];
} Stmt;

typedef struct Case {
  uint64_t seed;
  bool symbolic;
  int nloop, nstmt;
  char lo[LOOPS][64], hi[LOOPS][64];
  Stmt stmt[STMTS];
  int order[STMTS];    /* of the statements after */
  int box[LOOPS][2];   /* range of n_e */
  int split[LOOPS];    /* 0, or n_e = split * o_e + r_e */
  int nest[2 * LOOPS]; /* loops after, outermost first: e, or LOOPS + e for r_e */
  int nnest;
} Case;

static const char *const old_name[] = {"i", "j", "k"};

/* The case's next random number below n. */
static int roll(Case *c, int n) {
  return trace_random(&c->seed, n);
}

/* c0 + c1 * i + .., perhaps under // or %. */
static void random_index(Case *c, int depth, char *out, size_t n) {
  size_t at = (size_t)snprintf(out, n, "(%d", roll(c, 4));
  for (int d = 0; d < depth; d++) {
    int k = roll(c, 3) ? roll(c, 2) * (roll(c, 3) ? 1 : -1) : roll(c, 5) - 2;
    if (k) at += (size_t)snprintf(out + at, n - at, " + %d * %s", k, old_name[d]);
  }
  int wrap = roll(c, 10);
  snprintf(out + at, n - at, wrap == 0 ? ") // 2" : wrap == 1 ? ") %% 3" : ")");
}

/* Bounds of loop d: constants, sizes, outer loops, min, max. */
static void random_bounds(Case *c, int d) {
  int most = c->nloop == 2 ? 5 : 4;
  const char *outer = d ? old_name[roll(c, d)] : "0";
  switch (d ? roll(c, 8) : 0) {
  case 1: snprintf(c->lo[d], 64, "%s", outer); break;
  case 2: snprintf(c->lo[d], 64, "max(1, %s - 1)", outer); break;
  case 3: snprintf(c->lo[d], 64, "min(2, %s)", outer); break;
  default: snprintf(c->lo[d], 64, "%d", roll(c, 2)); break;
  }
  switch (roll(c, 8)) {
  case 1: snprintf(c->hi[d], 64, "%s + %d", outer, 1 + roll(c, 2)); break;
  case 2: snprintf(c->hi[d], 64, "min(%d, %s + 2)", most - 1, outer); break;
  case 3: snprintf(c->hi[d], 64, "max(%s, 2) // 1", outer); break;
  case 4:
  case 5: snprintf(c->hi[d], 64, "%s", roll(c, 2) ? "M" : "N"); break;
  default: snprintf(c->hi[d], 64, "%d", 2 + roll(c, most - 1)); break;
  }
}

/* A condition on two loops, often none. */
static void random_guard(Case *c, Stmt *s) {
  const char *x = old_name[roll(c, s->depth)], *y = old_name[roll(c, s->depth)];
  int k = roll(c, 4);
  switch (roll(c, 12)) {
  case 0: snprintf(s->guard, 96, "%s < %s", x, y); break;
  case 1: snprintf(s->guard, 96, "%s + %s ~= %d", x, y, k); break;
  case 2: snprintf(s->guard, 96, "%s %% 2 == %d", x, k % 2); break;
  case 3: snprintf(s->guard, 96, "(%s < %d or %s > 1)", x, k, y); break;
  case 4: snprintf(s->guard, 96, "not (%s == %d and %s > 1)", x, k, y); break;
  case 5: snprintf(s->guard, 96, "%s // 2 <= %s", x, y); break;
  default: snprintf(s->guard, 96, "0 == 0"); break;
  }
}

/* Statement n: stores to X or Y that read both. */
static void random_stmt(Case *c, int n, Stmt *s) {
  char x[2][48], y[4][48];
  s->depth = n == 0 ? c->nloop : 1 + roll(c, c->nloop);
  for (int i = 0; i < 2; i++) random_index(c, s->depth, x[i], sizeof x[i]);
  for (int i = 0; i < 4; i++) random_index(c, s->depth, y[i], sizeof y[i]);
  random_guard(c, s);
  s->reduces = roll(c, 4) == 0 ? '+' : 0;
  if (s->reduces)
    snprintf(s->store, sizeof s->store, "X[%s] = X[%s] + Y[%s][%s];", x[0], x[0], y[0], y[1]);
  else if (roll(c, 2))
    snprintf(s->store, sizeof s->store, "Y[%s][%s] = Y[%s][%s] + X[%s];", y[0], y[1], y[2], y[3],
             x[0]);
  else
    snprintf(s->store, sizeof s->store, "X[%s] = X[%s] * Y[%s][%s];", x[0], x[1], y[0], y[1]);
  if (s->store[0] == 'Y' && strcmp(y[0], y[2]) == 0 && strcmp(y[1], y[3]) == 0) s->reduces = '+';
  if (!s->reduces && s->store[0] == 'X' && strcmp(x[0], x[1]) == 0) s->reduces = '*';
}

/* The inverse of a permutation with signs and perhaps a skew: also unimodular. */
static void random_inverse(Case *c, Stmt *s) {
  int perm[LOOPS] = {0, 1, 2};
  for (int i = c->nloop - 1; i > 0; i--) {
    int j = roll(c, i + 1), t = perm[i];
    perm[i] = perm[j];
    perm[j] = t;
  }
  for (int d = 0; d < c->nloop; d++) s->inverse[d][perm[d]] = roll(c, 6) ? 1 : -1;
  if (c->nloop < 2 || roll(c, 3)) return;
  int from = roll(c, c->nloop), to = (from + 1) % c->nloop, k = roll(c, 2) ? 1 : -1;
  for (int e = 0; e < c->nloop; e++) s->inverse[to][e] += k * s->inverse[from][e];
}

/* Maps, shifts, splits, an order of loops and one of statements. */
static void random_rewrite(Case *c) {
  random_inverse(c, &c->stmt[0]);
  for (int n = 1; n < c->nstmt; n++) {
    if (roll(c, 4))
      memcpy(c->stmt[n].inverse, c->stmt[0].inverse, sizeof c->stmt[0].inverse);
    else
      random_inverse(c, &c->stmt[n]);
  }
  for (int n = 0; n < c->nstmt; n++) {
    for (int e = 0; e < c->nloop; e++) c->stmt[n].shift[e] = roll(c, 4) ? 0 : roll(c, 3) - 1;
    c->order[n] = n;
  }
  for (int i = c->nstmt - 1; i > 0 && roll(c, 2); i--) {
    int j = roll(c, i + 1), t = c->order[i];
    c->order[i] = c->order[j];
    c->order[j] = t;
  }
  for (int e = 0; e < c->nloop; e++) {
    c->split[e] = roll(c, 4) ? 0 : 2 + roll(c, 2);
    c->nest[c->nnest++] = e;
    if (c->split[e]) c->nest[c->nnest++] = LOOPS + e;
  }
  for (int i = c->nnest - 1; i > 0 && roll(c, 3) == 0; i--) {
    int j = roll(c, i + 1), t = c->nest[i];
    c->nest[i] = c->nest[j];
    c->nest[j] = t;
  }
}

/* All of a case but its boxes. */
static Case random_case(uint64_t seed, bool symbolic) {
  Case c = {.seed = seed, .symbolic = symbolic};
  for (int i = 0; i < 4; i++) roll(&c, 2);
  c.nloop = 2 + (roll(&c, 3) == 0);
  c.nstmt = 1 + roll(&c, STMTS);
  for (int d = 0; d < c.nloop; d++) random_bounds(&c, d);
  for (int n = 0; n < c.nstmt; n++) random_stmt(&c, n, &c.stmt[n]);
  random_rewrite(&c);
  return c;
}

/* The tree before: statements in the loops that they are deep in, all in one nest. */
static const char *text_before(const Case *c, TdArena *a) {
  TdText t = td_text_new(a);
  for (int d = 0; d < c->nloop; d++) {
    td_text_putf(&t, "for %s = %s, %s {\n", old_name[d], c->lo[d], c->hi[d]);
    for (int n = 0; n < c->nstmt; n++)
      if (c->stmt[n].depth == d + 1)
        td_text_putf(&t, "if %s { S%d: %s }\n", c->stmt[n].guard, n, c->stmt[n].store);
  }
  for (int d = 0; d < c->nloop; d++) td_text_puts(&t, "}");
  return td_text_str(&t);
}

/* Loop e as it is now. */
static void put_new(const Case *c, TdText *t, int e) {
  if (c->split[e])
    td_text_putf(t, "(%d * o%d + r%d)", c->split[e], e, e);
  else
    td_text_putf(t, "n%d", e);
}

/* Former loop d of statement s over the present loops. */
static const char *old_value(const Case *c, TdArena *a, const Stmt *s, int d) {
  TdText t = td_text_new(a);
  td_text_puts(&t, "(0");
  for (int e = 0; e < c->nloop; e++) {
    if (!s->inverse[d][e]) continue;
    td_text_putf(&t, " + %d * (", s->inverse[d][e]);
    put_new(c, &t, e);
    td_text_putf(&t, " - %d)", s->shift[e]);
  }
  td_text_puts(&t, ")");
  return td_text_str(&t);
}

/* text with the former loop names replaced by their values. */
static const char *translate(const Case *c, TdArena *a, const Stmt *s, const char *text) {
  TdText t = td_text_new(a);
  for (const char *p = text; *p; p++) {
    bool name = *p >= 'i' && *p <= 'k' && !(p > text && isalpha((unsigned char)p[-1])) &&
                !isalpha((unsigned char)p[1]);
    if (name)
      td_text_puts(&t, old_value(c, a, s, *p - 'i'));
    else
      td_text_putc(&t, *p);
  }
  return td_text_str(&t);
}

/* One statement after the rewrite, under the conditions of the loops that it stood in. */
static void put_stmt(const Case *c, TdArena *a, TdText *t, int n) {
  const Stmt *s = &c->stmt[n];
  td_text_putf(t, "if %s", translate(c, a, s, s->guard));
  for (int d = 0; d < c->nloop; d++) {
    const char *v = old_value(c, a, s, d);
    if (d < s->depth)
      td_text_putf(t, " and %s <= %s and %s < %s", translate(c, a, s, c->lo[d]), v, v,
                   translate(c, a, s, c->hi[d]));
    else
      td_text_putf(t, " and %s == 0", v);
  }
  td_text_putf(t, " { S%d: %s }\n", n, translate(c, a, s, s->store));
}

/* The tree after: one perfect nest, each statement under its conditions. */
static const char *text_after(const Case *c, TdArena *a) {
  TdText t = td_text_new(a);
  for (int i = 0; i < c->nnest; i++) {
    int e = c->nest[i] % LOOPS, f = c->split[e];
    if (c->nest[i] >= LOOPS)
      td_text_putf(&t, "for r%d = 0, %d {", e, f);
    else if (f)
      td_text_putf(&t, "for o%d = %d, %d {", e, (int)trace_floor(c->box[e][0], f),
                   (int)trace_floor(c->box[e][1], f) + 1);
    else
      td_text_putf(&t, "for n%d = %d, %d {", e, c->box[e][0], c->box[e][1] + 1);
  }
  td_text_puts(&t, "\n");
  for (int n = 0; n < c->nstmt; n++) put_stmt(c, a, &t, c->order[n]);
  for (int i = 0; i < c->nnest; i++) td_text_puts(&t, "}");
  return td_text_str(&t);
}

/* The determinant-one matrix that `inverse` inverts, by cofactors. */
static int forward(const Case *c, const Stmt *s, int e, int d) {
  int m[LOOPS][LOOPS] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < c->nloop; i++)
    for (int j = 0; j < c->nloop; j++) m[i][j] = s->inverse[i][j];
  int r0 = (d + 1) % 3, r1 = (d + 2) % 3, c0 = (e + 1) % 3, c1 = (e + 2) % 3;
  int det = 0;
  for (int j = 0; j < 3; j++)
    det +=
        m[0][j] * (m[1][(j + 1) % 3] * m[2][(j + 2) % 3] - m[1][(j + 2) % 3] * m[2][(j + 1) % 3]);
  return (m[r0][c0] * m[r1][c1] - m[r0][c1] * m[r1][c0]) * det;
}

/* Ranges of the new loops that hold all instances of the trace (and some air when symbolic). */
static void fit_box(Case *c, const Trace *t, const uint32_t *uid) {
  for (int e = 0; e < c->nloop; e++) {
    c->box[e][0] = c->symbolic ? -6 : 0;
    c->box[e][1] = c->symbolic ? 6 : 0;
  }
  for (size_t k = 0; k < t->at.n; k++) {
    int n = 0;
    while (uid[n] != t->at.at[k].stmt->uid) n++;
    const Stmt *s = &c->stmt[n];
    for (int e = 0; e < c->nloop; e++) {
      int v = s->shift[e];
      for (int d = 0; d < s->depth; d++) v += forward(c, s, e, d) * (int)t->at.at[k].value[d];
      if (v < c->box[e][0]) c->box[e][0] = v;
      if (v > c->box[e][1]) c->box[e][1] = v;
    }
  }
}

/* A case made, and what enumeration says of it. */
typedef struct Trial {
  Case c;
  Mini *m;
  TdArena *a;
  uint32_t uid[STMTS];
  const TdStmt *before, *after;
  TdDepsMap map[STMTS * LOOPS];
  size_t nmap;
  Trace old, new;
} Trial;

/* The map of each statement, as the order check wants it. */
static void make_map(Trial *t) {
  for (int n = 0; n < t->c.nstmt; n++)
    for (int d = 0; d < t->c.stmt[n].depth; d++)
      t->map[t->nmap++] = (TdDepsMap){t->uid[n], mini_find(t->m, old_name[d])->sym,
                                      mini_index(t->m, old_value(&t->c, t->a, &t->c.stmt[n], d))};
}

/* Both trees and what happens in them, at sizes drawn from the seed. */
static void make_trial(Trial *t, TdSession *s, TdArena *a, uint64_t seed, bool symbolic) {
  *t = (Trial){.c = random_case(seed, symbolic), .a = a};
  char sizes[32];
  int msize = 2 + trace_random(&seed, 3), nsize = 2 + trace_random(&seed, 3);
  snprintf(sizes, sizeof sizes, "M=%d N=%d", msize, nsize);
  t->m = mini_new(s, sizes, "X[9] Y[9][9]");
  if (!symbolic) {
    mini_assert(t->m, td_text_fmt(a, "M == %d", msize));
    mini_assert(t->m, td_text_fmt(a, "N == %d", nsize));
  }
  t->before = mini_one(t->m, text_before(&t->c, a));
  for (int n = 0; n < t->c.nstmt; n++) t->uid[n] = mini_find(t->m, td_text_fmt(a, "#S%d", n))->uid;
  t->old = trace_of(a, t->m->unit, t->before);
  fit_box(&t->c, &t->old, t->uid);
  t->after = mini_one(t->m, text_after(&t->c, a));
  make_map(t);
  t->new = trace_of(a, t->m->unit, t->after);
}

/* When each old event happens in the new trace; false if the traces do not hold the same events. */
static bool match_events(const Trial *t, size_t *when) {
  if (t->old.at.n != t->new.at.n) return false;
  for (size_t i = 0; i < t->old.at.n; i++) when[i] = SIZE_MAX;
  for (size_t k = 0; k < t->new.at.n; k++) {
    const TraceEvent *v = &t->new.at.at[k];
    Trace env = {.unit = t->m->unit, .nloop = v->nloop};
    memcpy(env.loop, v->loop, sizeof env.loop);
    memcpy(env.value, v->value, sizeof env.value);
    int64_t want[LOOPS] = {0};
    for (size_t i = 0, d = 0; i < t->nmap; i++)
      if (t->map[i].uid == v->stmt->uid) want[d++] = trace_eval(&env, t->map[i].expr);
    size_t i = 0;
    while (i < t->old.at.n &&
           (t->old.at.at[i].stmt->uid != v->stmt->uid ||
            memcmp(want, t->old.at.at[i].value, (size_t)t->old.at.at[i].nloop * sizeof *want) != 0))
      i++;
    if (i == t->old.at.n || when[i] != SIZE_MAX) return false;
    when[i] = k;
  }
  return true;
}

/* The operator under which event v accumulates into cell x, or 0. */
static char accumulates(const Trial *t, const TraceEvent *v, const TraceCell *x) {
  for (int n = 0; n < t->c.nstmt; n++)
    if (t->uid[n] == v->stmt->uid && x->sym->name[0] == t->c.stmt[n].store[0])
      return t->c.stmt[n].reduces;
  return 0;
}

/* The kind of exchange that events p before q are if they changed places. */
static TdVerdictKind exchange_kind(const Trial *t, const TraceEvent *p, const TraceEvent *q) {
  TdVerdictKind worst = TD_VERDICT_LEGAL;
  for (int x = 0; x < p->ncell; x++)
    for (int y = 0; y < q->ncell; y++) {
      if (!trace_meet(&p->cell[x], &q->cell[y])) continue;
      char op = accumulates(t, p, &p->cell[x]);
      if (!op || op != accumulates(t, q, &q->cell[y])) return TD_VERDICT_ILLEGAL;
      worst = TD_VERDICT_REASSOC;
    }
  return worst;
}

/* The verdict by enumeration; *named tells whether the witness of v is one of the broken pairs. */
static TdVerdictKind enumerate(const Trial *t, const size_t *when, const TdVerdict *v,
                               bool *named) {
  TdVerdictKind worst = TD_VERDICT_LEGAL;
  *named = false;
  for (size_t p = 0; p < t->old.at.n; p++)
    for (size_t q = p + 1; q < t->old.at.n; q++) {
      if (when[p] < when[q]) continue;
      const TraceEvent *x = &t->old.at.at[p], *y = &t->old.at.at[q];
      TdVerdictKind k = exchange_kind(t, x, y);
      if (k > worst) worst = k;
      if (k == v->kind && v->witness.first_at && !*named)
        *named = x->stmt->loc.line == v->witness.first.line &&
                 y->stmt->loc.line == v->witness.second.line &&
                 strcmp(trace_values(t->a, x), v->witness.first_at) == 0 &&
                 strcmp(trace_values(t->a, y), v->witness.second_at) == 0;
    }
  return worst;
}

typedef struct Score {
  int cases, wrong_yes, wrong_no, unnamed, broken, carried, kind[4];
} Score;

/* A disagreement, for the log. */
static void show_trial(const Trial *t, uint64_t seed, const TdVerdict *v, TdVerdictKind want) {
  printf("# seed %llu: said %d, is %d%s%s\n# %s %s %s\n%s\n--\n%s\n", (unsigned long long)seed,
         v->kind, want, v->why ? ": " : "", v->why ? v->why : "",
         v->witness.element ? v->witness.element : "",
         v->witness.first_at ? v->witness.first_at : "",
         v->witness.second_at ? v->witness.second_at : "", text_before(&t->c, t->a),
         text_after(&t->c, t->a));
}

/* Counts one verdict against enumeration. */
static void judge(Score *s, const Trial *t, uint64_t seed, const TdVerdict *v) {
  size_t *when = TD_NEWN(t->a, size_t, t->old.at.n + 1);
  s->cases++;
  if (!match_events(t, when)) {
    s->broken++;
    show_trial(t, seed, v, TD_VERDICT_UNKNOWN);
    return;
  }
  bool named;
  TdVerdictKind want = enumerate(t, when, v, &named);
  s->kind[want]++;
  bool yes = want > v->kind, no = !t->c.symbolic && want < v->kind;
  bool unnamed = want == v->kind && want != TD_VERDICT_LEGAL && !named && !v->sizes &&
                 (v->exact || v->kind == TD_VERDICT_REASSOC);
  s->wrong_yes += yes;
  s->wrong_no += no;
  s->unnamed += unnamed;
  if (yes || no || unnamed) show_trial(t, seed, v, want);
}

/* Counts a wrong answer on what the outermost loop of the tree before carries. */
static void judge_carry(Score *s, const Trial *t, const TdAsk *q) {
  TdVerdictKind want = TD_VERDICT_LEGAL, got = td_loop_carried_loop(q, t->before).kind;
  for (size_t p = 0; p < t->old.at.n; p++)
    for (size_t n = p + 1; n < t->old.at.n; n++) {
      const TraceEvent *x = &t->old.at.at[p], *y = &t->old.at.at[n];
      TdVerdictKind k = x->value[0] < y->value[0] ? exchange_kind(t, x, y) : TD_VERDICT_LEGAL;
      if (k > want) want = k;
    }
  s->carried += want > got || (want < got && !t->c.symbolic);
}

/* n cases from a seed on. */
static Score run(TdSession *s, TdAffine *affine, int n, uint64_t seed, bool symbolic) {
  Score score = {0};
  for (int i = 0; i < n; i++, seed++) {
    TdArena *a = td_arena_new(s->ctx);
    Trial t;
    make_trial(&t, s, a, seed, symbolic);
    TdAsk q = {affine, a, mini_prog(t.m, t.before), t.m->unit};
    TdVerdict v = td_deps_order(&q, t.before, t.after, t.map, t.nmap);
    judge(&score, &t, seed, &v);
    judge_carry(&score, &t, &q);
    mini_free(t.m);
    td_arena_free(a);
  }
  printf("# %s sizes, seeds from %llu: %d cases: %d legal, %d reassociated, %d illegal\n",
         symbolic ? "symbolic" : "fixed", (unsigned long long)(seed - (uint64_t)n), score.cases,
         score.kind[TD_VERDICT_LEGAL], score.kind[TD_VERDICT_REASSOC],
         score.kind[TD_VERDICT_ILLEGAL]);
  return score;
}

int main(void) {
  int n = 2000 * tap_times();
  uint64_t seed = tap_seed();
  TdCtx *c = td_ctx_new();
  TdSession *s = td_session_new(c);
  TdArena *a = td_arena_new(c);
  TdAffine *affine = td_affine_new(a);
  Score fixed = run(s, affine, n, seed, false), open = run(s, affine, n / 4, seed + 1000000, true);
  ok(fixed.broken + open.broken == 0, "rewrites run the same instances");
  ok(fixed.wrong_yes == 0, "no illegal rewrite is accepted at fixed sizes");
  ok(fixed.wrong_no == 0, "no legal rewrite is refused at fixed sizes");
  ok(fixed.unnamed == 0, "witnesses are pairs that change places");
  ok(fixed.carried + open.carried == 0, "what the outermost loop carries");
  ok(open.wrong_yes == 0, "no illegal rewrite is accepted at symbolic sizes");
  ok(n < 100 || (fixed.kind[TD_VERDICT_LEGAL] > n / 10 && fixed.kind[TD_VERDICT_REASSOC] > 0 &&
                 fixed.kind[TD_VERDICT_ILLEGAL] > n / 10),
     "all verdicts occur");
  TdAffineCount count = td_affine_count(affine);
  printf("# %llu questions, %llu reached isl\n", (unsigned long long)count.asked,
         (unsigned long long)count.solved);
  td_arena_free(a);
  td_session_free(s);
  td_ctx_free(c);
  return done_testing();
}
