/* classes.c - what is left of a body at each place of the grid, as a signature. */
#include "analysis/net/classes.h"

#include <string.h>

#include "analysis/range/span.h"

enum { MOST_INSTANCES = 1 << 22 };

/* One instance under way. The signature is the truth of each condition on coordinates that is
 * reached, and the statements that move tokens. */
typedef struct Residue {
  TdArena *arena;
  TdSession *session;
  const TdUnit *kernel;
  TdMap varies;   /* scalar locals that are stored to after their declaration */
  TdSpan *value;  /* by symbol id */
  bool *known;    /* whether value says anything */
  bool something; /* a statement is left */
  TdMap *fate;    /* what becomes of statements, if that is asked for; else NULL */
  TD_VEC(uint32_t) mark;
} Residue;

static TdSpan look(void *ud, const TdExpr *e, const TdSpan *index) {
  const Residue *r = ud;
  bool known = !(e->kind == TD_EXPR_LOAD && e->nkid) && r->known[e->sym->id];
  (void)index;
  return known ? r->value[e->sym->id] : td_span_data(td_type_scalar(e->type));
}

static TdSpan span_of(Residue *r, const TdExpr *e) {
  TdSpanEnv env = {r->kernel, look, r};
  return td_span_of(&env, e);
}

static void mark(Residue *r, uint32_t x) {
  td_vec_push(r->arena, &r->mark, x);
}

static void reduce(Residue *r, const TdStmt *s);

static void reduce_kids(Residue *r, const TdStmt *s) {
  for (uint32_t i = 0; i < s->nkid; i++) reduce(r, s->kid[i]);
}

/* Notes what becomes of s, where it does not stay as it is. */
static void decide(Residue *r, const TdStmt *s, TdFate fate) {
  mark(r, fate);
  if (r->fate) td_map_put(r->arena, r->fate, s->uid, fate);
}

/* The arm that is taken, or the IF where that is not known. */
static void reduce_if(Residue *r, const TdStmt *s) {
  TdSpan c = span_of(r, s->expr[0]);
  if (!td_span_is_one(c)) {
    r->something = true;
    mark(r, TD_FATE_STAYS);
    reduce_kids(r, s);
    return;
  }
  uint32_t arm = c.lo ? 0 : 1;
  decide(r, s, arm < s->nkid ? (arm ? TD_FATE_ELSE : TD_FATE_THEN) : TD_FATE_GONE);
  if (arm < s->nkid) reduce(r, s->kid[arm]);
}

/* A loop that is known not to run is gone. */
static void reduce_for(Residue *r, const TdStmt *s) {
  TdSpan lo = span_of(r, td_for_lo(s)), hi = span_of(r, td_for_hi(s));
  bool gone = lo.lo >= hi.hi && hi.hi != INT64_MAX && lo.lo != INT64_MIN;
  if (gone) {
    decide(r, s, TD_FATE_GONE);
  } else {
    mark(r, TD_FATE_STAYS);
    reduce_kids(r, s);
  }
}

/* A scalar local that keeps its first value may be a function of coordinates. */
static void reduce_local(Residue *r, const TdStmt *s) {
  bool value = s->cls == TD_LOCAL_AUTO && s->nexpr && td_type_is_scalar(s->type);
  r->known[s->sym->id] = value && !td_map_getp(&r->varies, s->sym);
  if (value) r->value[s->sym->id] = td_span_cast(s->type, s->expr[0]->type, span_of(r, s->expr[0]));
}

static void reduce(Residue *r, const TdStmt *s) {
  td_ctx_enter(r->session->ctx);
  switch (s->kind) {
  case TD_STMT_IF: reduce_if(r, s); break;
  case TD_STMT_FOR: reduce_for(r, s); break;
  case TD_STMT_LOCAL: reduce_local(r, s); break;
  case TD_STMT_WHILE:
  case TD_STMT_BLOCK: reduce_kids(r, s); break;
  case TD_STMT_BREAK:
  case TD_STMT_RETURN: break;
  case TD_STMT_GET:
  case TD_STMT_SLOT:
  case TD_STMT_PUT:
  case TD_STMT_CALL:
    mark(r, s->uid);
    r->something = true;
    break;
  default: r->something = true; break;
  }
  td_ctx_leave(r->session->ctx);
}

/* Notes scalars that are stored to. */
static bool note_store(void *ud, const TdStmt *s) {
  Residue *r = ud;
  const TdExpr *place = s->kind == TD_STMT_STORE                 ? s->expr[0]
                        : s->kind == TD_STMT_GET && s->nexpr > 1 ? s->expr[1]
                                                                 : NULL;
  if (place) td_map_putp(r->arena, &r->varies, place->sym, r);
  return true;
}

/* Signatures that were met. */
typedef struct Table {
  TdArena *arena;
  TdMap class_of; /* hash -> class + 1 */
  TD_VEC(const uint32_t *) mark;
  TD_VEC(size_t) nmark;
  TD_VEC(uint32_t) first;
  TD_VEC(uint32_t) count;
} Table;

/* The class of r's signature, new at instance i. Each class has one hash; when two signatures
 * share one, the next is tried. */
static uint32_t intern(Table *t, const Residue *r, uint32_t i) {
  size_t bytes = r->mark.n * sizeof *r->mark.at;
  uint64_t c, h = r->mark.n ? td_map_hash(r->mark.at, bytes) : 0;
  for (; td_map_get(&t->class_of, h, &c); h++)
    if (t->nmark.at[c] == r->mark.n && (!bytes || memcmp(t->mark.at[c], r->mark.at, bytes) == 0)) {
      t->count.at[c]++;
      return (uint32_t)c;
    }
  td_map_put(t->arena, &t->class_of, h, t->first.n);
  const uint32_t *copy = bytes ? td_arena_copy(t->arena, r->mark.at, bytes) : NULL;
  td_vec_push(t->arena, &t->mark, copy);
  td_vec_push(t->arena, &t->nmark, r->mark.n);
  td_vec_push(t->arena, &t->count, 1);
  td_vec_push(t->arena, &t->first, i);
  return (uint32_t)t->first.n - 1;
}

/* How many instances a run has, or 0. */
static uint32_t instances_of(const TdUnit *design, const TdRun *r) {
  int64_t n = 1, extent;
  for (int d = 0; d < r->rank; d++) {
    if (!td_unit_value(design, r->map[d], &extent)) return 0;
    n = td_span_times(n, extent);
  }
  return n <= MOST_INSTANCES ? (uint32_t)n : 0;
}

void td_classes_ids(const TdUnit *design, const TdRun *r, uint32_t i, int64_t *id) {
  int64_t rest = i, extent = 1;
  for (int d = r->rank - 1; d >= 0; rest /= extent, d--) {
    td_unit_value(design, r->map[d], &extent);
    id[d] = rest % extent;
  }
}

/* Sets the coordinates of the kernel to those of instance i. */
static void place(Residue *q, const TdUnit *design, const TdRun *r, uint32_t i) {
  int64_t id[TD_MAX_RANK];
  td_classes_ids(design, r, i, id);
  size_t skip = r->rank > q->kernel->ncoord ? r->rank - q->kernel->ncoord : 0;
  for (size_t d = 0; d < q->kernel->ncoord && d + skip < r->rank; d++) {
    q->value[q->kernel->coord[d]->id] = td_span_const(id[d + skip]);
    q->known[q->kernel->coord[d]->id] = true;
  }
}

/* Knowledge about nothing yet; false when r runs no kernel. */
static bool start(Residue *q, TdArena *a, const TdProg *p, const TdRun *r) {
  *q = (Residue){.arena = a, .session = p->store->session, .kernel = td_prog_unit(p, r->unit)};
  if (!q->kernel || !q->kernel->body) return false;
  q->value = TD_NEWN(a, TdSpan, p->store->next_sym + 1);
  q->known = TD_NEWN(a, bool, p->store->next_sym + 1);
  td_walk_stmt(q->session->ctx, q->kernel->body, note_store, q);
  return true;
}

bool td_classes_of(TdArena *a, const TdProg *p, const TdUnit *design, const TdRun *r,
                   TdClasses *out) {
  Residue q;
  uint32_t n = instances_of(design, r);
  if (!n || !start(&q, a, p, r)) return false;
  Table t = {.arena = a};
  uint32_t *of = TD_NEWN(a, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) {
    td_ctx_tick(q.session->ctx, 1);
    q.mark.n = 0;
    q.something = false;
    place(&q, design, r, i);
    reduce(&q, q.kernel->body);
    of[i] = q.something ? intern(&t, &q, i) : TD_CLASSES_EMPTY;
  }
  *out = (TdClasses){(uint32_t)t.first.n, n, of, t.first.at, t.count.at};
  return true;
}

uint32_t td_classes_next(const TdClasses *x, uint32_t c, uint32_t after) {
  for (uint32_t i = after + 1; i < x->instances; i++)
    if (x->of[i] == c) return i;
  return UINT32_MAX;
}

bool td_classes_fates(TdArena *a, const TdProg *p, const TdUnit *design, const TdRun *r, uint32_t i,
                      TdMap *fate) {
  Residue q;
  if (!start(&q, a, p, r)) return false;
  q.fate = fate;
  place(&q, design, r, i);
  reduce_kids(&q, q.kernel->body);
  return true;
}
