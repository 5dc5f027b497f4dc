/* abstract_run.c - abstract interpretation of a body: spans for scalars, moves for what happens to
 * streams. A loop is followed once for all values of its variable; if that decides too little, for
 * those of its halves, and so on. What the data decides stays a choice. */
#include "analysis/net/abstract_run.h"

#include <string.h>

enum { NEXT = 1, BREAK = 2, RETURN = 4 }; /* how a statement may end */
enum { MOST_STEPS = 8000000, MOST_TURNS = 65536, MOST_LOOPS = 63 };

/* What a statement does, and the ways in which it may end. */
typedef struct Flow {
  const TdMove *move;
  unsigned exits;
} Flow;

/* What a statement may do, found once. */
typedef struct TdFacts {
  bool events, breaks, returns;
  TD_VEC(TdSym) assigned; /* scalar locals that are stored to */
} TdFacts;

static Flow follow(TdFollow *f, const TdStmt *s);

static Flow plain(TdFollow *f) {
  return (Flow){td_token_trace_nothing(&f->net->moves), NEXT};
}

/* The answer when f stopped or is undecided: nobody uses it. */
static const Flow nowhere = {NULL, NEXT};

static bool is_stuck(const TdFollow *f) {
  return f->stop || f->undecided;
}

static bool is_not_allreduce(void *ud, const TdExpr *e) {
  (void)ud;
  return e->kind != TD_EXPR_TENSOR || e->op != TD_OP_ALLREDUCE;
}

/* Whether s itself holds an allreduce. */
static bool meets(const TdFollow *f, const TdStmt *s) {
  for (uint32_t i = 0; f->meets && i < s->nexpr; i++)
    if (!td_walk_expr(s->expr[i], is_not_allreduce, NULL)) return true;
  return false;
}

/* The unit that a call runs, or NULL if nothing is known of it. */
static const TdUnit *callee_of(const TdFollow *f, const TdStmt *call) {
  const TdUnit *u = td_prog_unit(f->net->prog, call->sym);
  if (u && u->kind == TD_UNIT_EXTERN)
    u = u->foreign->model ? td_prog_unit(f->net->prog, u->foreign->model) : NULL;
  return u;
}

/* Whether a call may move tokens. */
static bool call_moves(TdFollow *f, const TdStmt *s) {
  const TdUnit *u = callee_of(f, s);
  if (u) return td_abstract_run_moves(f, u);
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (s->expr[i]->type->kind == TD_T_PORT) return true;
  return false;
}

static const TdFacts *facts_of(TdFollow *f, const TdStmt *s) {
  TdFacts *x = td_map_getp(&f->facts, s);
  if (x) return x;
  TdArena *a = f->net->arena;
  td_ctx_enter(f->session->ctx);
  x = TD_NEW(a, TdFacts);
  x->breaks = s->kind == TD_STMT_BREAK;
  x->returns = s->kind == TD_STMT_RETURN;
  x->events = s->kind == TD_STMT_GET || s->kind == TD_STMT_PUT || s->kind == TD_STMT_SLOT ||
              meets(f, s) || (s->kind == TD_STMT_CALL && call_moves(f, s));
  const TdExpr *place = s->kind == TD_STMT_STORE                 ? s->expr[0]
                        : s->kind == TD_STMT_GET && s->nexpr > 1 ? s->expr[1]
                                                                 : NULL;
  if (place && place->kind == TD_EXPR_LOAD && !place->nkid)
    td_vec_push(a, &x->assigned, place->sym);
  for (uint32_t i = 0; i < s->nkid; i++) {
    const TdFacts *k = facts_of(f, s->kid[i]);
    x->events |= k->events;
    x->breaks |= k->breaks;
    x->returns |= k->returns;
    for (size_t j = 0; j < k->assigned.n; j++) td_vec_push(a, &x->assigned, k->assigned.at[j]);
  }
  if (s->kind == TD_STMT_FOR || s->kind == TD_STMT_WHILE) x->breaks = false;
  td_ctx_leave(f->session->ctx);
  td_map_putp(a, &f->facts, s, x);
  return x;
}

bool td_abstract_run_moves(TdFollow *f, const TdUnit *u) {
  return u->kind == TD_UNIT_DESIGN || (u->body && facts_of(f, u->body)->events);
}

/* Whether more than scalars depends on s. */
static bool matters(const TdFacts *x) {
  return x->events || x->breaks || x->returns;
}

static TdSpan look(void *ud, const TdExpr *e, const TdSpan *index) {
  TdFollow *f = ud;
  const TdKnown *k = &f->known[e->sym->id];
  if (e->kind == TD_EXPR_VAR || !e->nkid) return k->value;
  TdSpan any = td_span_data(e->type);
  if (!k->blob) return any;
  int64_t at = 0;
  any.data = false;
  for (uint32_t d = 0; d < e->nkid; d++) {
    int64_t n = 0;
    td_type_extent(k->blob->type, (int)d, &n);
    at = at * n + index[d].lo;
    any.data |= index[d].data || index[d].lo < 0 || index[d].lo >= n;
    any.loops |= index[d].loops;
    if (!td_span_is_one(index[d])) at = -1;
  }
  if (at < 0 || any.data || any.loops) return any;
  const TdType *t = td_type_scalar(k->blob->type);
  uint64_t bits = td_num_load(t, (const char *)k->blob->data + (size_t)at * td_type_bytes(t));
  TdExpr lit = {.kind = TD_EXPR_LIT, .type = t, .u = {.bits = bits}};
  return td_abstract_run_span(f, &lit);
}

TdSpan td_abstract_run_span(TdFollow *f, const TdExpr *e) {
  TdSpanEnv env = {f->unit, look, f};
  return td_span_of(&env, e);
}

/* Forgets the scalars that are assigned in x, for the reasons of `why`. */
static void forget(TdFollow *f, const TdFacts *x, TdSpan why) {
  for (size_t i = 0; i < x->assigned.n; i++)
    f->known[x->assigned.at[i]->id].value = (TdSpan){INT64_MIN, INT64_MAX, why.loops, why.data};
}

static const TdSpan by_data = {0, 1, 0, true};

/* The scalars of x as they are now, to come back to. */
static TdSpan *save(TdFollow *f, const TdFacts *x) {
  TdSpan *v = TD_NEWN(f->net->arena, TdSpan, x->assigned.n);
  for (size_t i = 0; i < x->assigned.n; i++) v[i] = f->known[x->assigned.at[i]->id].value;
  return v;
}

static void restore(TdFollow *f, const TdFacts *x, const TdSpan *v) {
  for (size_t i = 0; i < x->assigned.n; i++) f->known[x->assigned.at[i]->id].value = v[i];
}

/* Statements in a row, and the end of what they took. After one that may jump, the others may not
 * be reached. */
static Flow follow_row(TdFollow *f, const TdStmt *const *s, size_t n) {
  TdMoves *m = &f->net->moves;
  TD_VEC(const TdMove *) row = {0};
  size_t held = f->held.n;
  unsigned exits = NEXT;
  for (size_t i = 0; i < n && exits == NEXT; i++) {
    Flow x = follow(f, s[i]);
    if (is_stuck(f)) return nowhere;
    if (x.move->length) td_vec_push(f->net->arena, &row, x.move);
    exits = x.exits;
    if (!(exits & NEXT) || exits == NEXT || i + 1 == n) continue;
    f->maybe++;
    Flow rest = follow_row(f, s + i + 1, n - i - 1);
    f->maybe--;
    if (is_stuck(f)) return nowhere;
    const TdMove *may = td_token_trace_choice(m, td_token_trace_nothing(m), rest.move);
    td_vec_push(f->net->arena, &row, may);
    exits = (exits & ~(unsigned)NEXT) | rest.exits;
    break;
  }
  const TdMove *end = f->held.n > held ? td_wire_release(f, held) : NULL;
  if (is_stuck(f)) return nowhere;
  if (end) td_vec_push(f->net->arena, &row, end);
  return (Flow){td_token_trace_seq(m, row.at, row.n), exits};
}

/* The ways to end of a loop whose body has these; `sure`: it runs at least once. */
static unsigned loop_exits(unsigned body, bool sure) {
  unsigned out = body & RETURN;
  return sure && body == RETURN ? RETURN : out | NEXT;
}

/* From lo to hi more turns of a loop's body, as the data says. */
static Flow follow_some(TdFollow *f, const TdStmt *body, const TdFacts *x, int64_t lo, int64_t hi) {
  forget(f, x, by_data);
  f->maybe++;
  Flow b = follow(f, body);
  f->maybe--;
  if (is_stuck(f)) return nowhere;
  forget(f, x, by_data);
  if (b.exits != NEXT && lo > 1) lo = 1;
  if (!(b.exits & NEXT) && hi > 1) hi = 1;
  return (Flow){td_token_trace_repeat(&f->net->moves, b.move, lo, hi), loop_exits(b.exits, lo > 0)};
}

/* Where f's net and hands were, to come back to. */
typedef struct Mark {
  size_t line, chan, group, inst, meet, nheld;
  TdHeldWire *held;
} Mark;

static Mark mark(TdFollow *f) {
  TdTraffic *n = f->net;
  Mark m = {n->line.n, n->chan.n, n->group.n, n->inst.n, n->meet.n, f->held.n, NULL};
  if (f->held.n) m.held = td_arena_copy(n->arena, f->held.at, f->held.n * sizeof *f->held.at);
  return m;
}

static void go_back(TdFollow *f, const Mark *m) {
  TdTraffic *n = f->net;
  n->line.n = m->line, n->chan.n = m->chan, n->group.n = m->group, n->inst.n = m->inst;
  n->meet.n = m->meet;
  f->held.n = m->nheld;
  if (m->nheld) memcpy(f->held.at, m->held, m->nheld * sizeof *m->held);
}

/* A FOR with known bounds. */
typedef struct Counted {
  const TdStmt *stmt;
  const TdFacts *facts;
  int64_t lo, trip;
} Counted;

static int64_t value_of(const Counted *c, int64_t turn) {
  return c->lo + turn * c->stmt->step;
}

/* The pieces of a counted loop, in the order of its turns. */
typedef struct Pieces {
  const Counted *loop;
  uint64_t bit; /* of the loop, in TdSpan.loops */
  unsigned exits;
  TD_VEC(const TdMove *) row;
} Pieces;

static void push_piece(TdFollow *f, Pieces *p, const TdMove *x, unsigned exits) {
  td_vec_push(f->net->arena, &p->row, x);
  p->exits = (p->exits & ~(unsigned)NEXT) | exits;
}

/* Turns [from, to) at once; false when that decides too little. One turn has a known variable. */
static bool follow_together(TdFollow *f, Pieces *p, int64_t from, int64_t to) {
  const Counted *c = p->loop;
  Mark m = mark(f);
  TdSpan *old = save(f, c->facts), why = {.loops = p->bit};
  bool one = to - from == 1;
  TdSpan *v = &f->known[c->stmt->sym->id].value;
  *v = one ? td_span_const(value_of(c, from))
           : (TdSpan){value_of(c, from), value_of(c, to - 1), p->bit, false};
  if (!one) forget(f, c->facts, why);
  Flow b = follow(f, c->stmt->kid[0]);
  if (is_stuck(f)) {
    bool again = !one && f->undecided & p->bit && !f->stop;
    if (again) {
      f->undecided = 0;
      go_back(f, &m);
      restore(f, c->facts, old);
    }
    return !again;
  }
  if (!one) forget(f, c->facts, why);
  int64_t hi = b.exits & NEXT ? to - from : 1, lo = b.exits == NEXT ? to - from : 1;
  push_piece(f, p, td_token_trace_repeat(&f->net->moves, b.move, lo, hi), b.exits);
  return true;
}

/* Turns [from, to): together, or else those of the greatest power of two that is less, then the
 * rest. Once one may jump, the data decides how many follow. */
static void follow_turns(TdFollow *f, Pieces *p, int64_t from, int64_t to) {
  if (follow_together(f, p, from, to)) return;
  int64_t half = 1;
  while (half * 2 < to - from) half *= 2;
  td_ctx_enter(f->session->ctx);
  follow_turns(f, p, from, from + half);
  if (!is_stuck(f) && p->exits == NEXT) {
    follow_turns(f, p, from + half, to);
  } else if (!is_stuck(f) && p->exits & NEXT) {
    const Counted *c = p->loop;
    f->known[c->stmt->sym->id].value =
        (TdSpan){value_of(c, from + half), value_of(c, to - 1), 0, true};
    Flow rest = follow_some(f, c->stmt->kid[0], c->facts, 0, to - from - half);
    if (!is_stuck(f)) push_piece(f, p, rest.move, rest.exits);
  }
  td_ctx_leave(f->session->ctx);
}

/* All turns in as few pieces as decide all; false when what one turn leaves to the next must be
 * known too. */
static bool follow_in_pieces(TdFollow *f, const Counted *c, Flow *out) {
  Pieces p = {.loop = c, .exits = NEXT};
  Mark m = mark(f);
  TdSpan *old = save(f, c->facts);
  p.bit = UINT64_C(1) << (f->loops < MOST_LOOPS ? f->loops : MOST_LOOPS);
  f->loops++;
  follow_turns(f, &p, 0, c->trip);
  f->loops--;
  if (f->undecided & p.bit && !f->stop) {
    f->undecided = 0;
    go_back(f, &m);
    restore(f, c->facts, old);
    return false;
  }
  *out = nowhere;
  if (is_stuck(f)) return true;
  forget(f, c->facts, by_data);
  *out = (Flow){td_token_trace_seq(&f->net->moves, p.row.at, p.row.n), loop_exits(p.exits, true)};
  return true;
}

/* Turn after turn, until one surely jumps; from one on that may, the data decides. */
static Flow follow_each(TdFollow *f, const Counted *c) {
  TD_VEC(const TdMove *) row = {0};
  TdSpan *v = &f->known[c->stmt->sym->id].value;
  unsigned exits = NEXT;
  for (int64_t i = 0; i < c->trip && exits == NEXT; i++) {
    *v = td_span_const(value_of(c, i));
    Flow b = follow(f, c->stmt->kid[0]);
    if (is_stuck(f)) return nowhere;
    td_vec_push(f->net->arena, &row, b.move);
    exits = b.exits;
    if (!(exits & NEXT) || exits == NEXT || i + 1 == c->trip) continue;
    *v = (TdSpan){value_of(c, i + 1), value_of(c, c->trip - 1), 0, true};
    Flow rest = follow_some(f, c->stmt->kid[0], c->facts, 0, c->trip - i - 1);
    if (is_stuck(f)) return nowhere;
    td_vec_push(f->net->arena, &row, rest.move);
    exits |= rest.exits;
  }
  return (Flow){td_token_trace_seq(&f->net->moves, row.at, row.n), loop_exits(exits, true)};
}

/* How often a loop from lo below hi by `step` runs. */
static int64_t trip_of(int64_t lo, int64_t hi, int64_t step) {
  if (lo >= hi) return 0;
  uint64_t span = (uint64_t)hi - (uint64_t)lo, by = (uint64_t)step;
  uint64_t n = span / by + (span % by != 0);
  return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static Flow follow_for(TdFollow *f, const TdStmt *s) {
  Counted c = {.stmt = s, .facts = facts_of(f, s)};
  if (!matters(c.facts)) {
    forget(f, c.facts, by_data);
    return plain(f);
  }
  TdSpan lo = td_abstract_run_span(f, td_for_lo(s)), hi = td_abstract_run_span(f, td_for_hi(s));
  if (!td_span_is_one(lo) || !td_span_is_one(hi)) {
    f->undecided |= lo.loops | hi.loops;
    if (f->undecided) return nowhere;
    f->known[s->sym->id].value = (TdSpan){lo.lo, hi.hi, 0, true};
    return follow_some(f, s->kid[0], c.facts, trip_of(lo.hi, hi.lo, s->step),
                       trip_of(lo.lo, hi.hi, s->step));
  }
  c.lo = lo.lo;
  c.trip = trip_of(lo.lo, hi.lo, s->step);
  if (c.trip == 0) return plain(f);
  Flow out;
  if (c.trip > 1 && follow_in_pieces(f, &c, &out)) return out;
  return follow_each(f, &c);
}

/* WHILE: turn after turn as long as the condition is known. */
static Flow follow_while(TdFollow *f, const TdStmt *s) {
  TD_VEC(const TdMove *) row = {0};
  const TdFacts *x = facts_of(f, s);
  unsigned exits = NEXT;
  if (!matters(x)) {
    forget(f, x, by_data);
    return plain(f);
  }
  for (int turn = 0; exits == NEXT; turn++) {
    bool first = turn == 0 && s->post;
    TdSpan go = first ? td_span_const(1) : td_abstract_run_span(f, s->expr[0]);
    f->undecided |= td_span_is_one(go) ? 0 : go.loops;
    if (is_stuck(f)) return nowhere;
    if (!go.hi) break;
    bool open = !td_span_is_one(go) || turn == MOST_TURNS;
    Flow b = open ? follow_some(f, s->kid[0], x, 0, INT64_MAX) : follow(f, s->kid[0]);
    if (is_stuck(f)) return nowhere;
    td_vec_push(f->net->arena, &row, b.move);
    exits = b.exits;
    if (open) break;
    if (!(exits & NEXT) || exits == NEXT) continue;
    Flow rest = follow_some(f, s->kid[0], x, 0, INT64_MAX);
    if (is_stuck(f)) return nowhere;
    td_vec_push(f->net->arena, &row, rest.move);
    exits |= rest.exits;
  }
  return (Flow){td_token_trace_seq(&f->net->moves, row.at, row.n),
                loop_exits(exits, exits == RETURN)};
}

/* Arm number `arm` of s, if it has it. */
static Flow follow_arm(TdFollow *f, const TdStmt *s, uint32_t arm) {
  return arm < s->nkid ? follow(f, s->kid[arm]) : plain(f);
}

static Flow follow_if(TdFollow *f, const TdStmt *s) {
  TdSpan c = td_abstract_run_span(f, s->expr[0]);
  const TdFacts *x = facts_of(f, s);
  if (td_span_is_one(c)) return follow_arm(f, s, c.lo ? 0 : 1);
  if (!matters(x)) {
    forget(f, x, c);
    return plain(f);
  }
  f->undecided |= c.loops;
  if (f->undecided) return nowhere;
  TdSpan *before = save(f, x);
  Mark hands = mark(f);
  f->maybe++;
  Flow yes = follow_arm(f, s, 0);
  TdSpan *after = save(f, x);
  restore(f, x, before);
  if (!is_stuck(f)) {
    f->held.n = hands.nheld;
    if (hands.nheld) memcpy(f->held.at, hands.held, hands.nheld * sizeof *hands.held);
  }
  Flow no = is_stuck(f) ? nowhere : follow_arm(f, s, 1);
  f->maybe--;
  if (is_stuck(f)) return nowhere;
  for (size_t i = 0; i < x->assigned.n; i++) {
    TdSpan *v = &f->known[x->assigned.at[i]->id].value;
    *v = td_span_join(*v, after[i]);
    if (!td_span_is_one(*v)) v->data = true;
  }
  return (Flow){td_token_trace_choice(&f->net->moves, yes.move, no.move), yes.exits | no.exits};
}

/* Gives the callee's parameters what is passed. */
static bool bind_arguments(TdFollow *f, const TdUnit *u, const TdStmt *s) {
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const TdExpr *e = s->expr[i];
    TdKnown *k = &f->known[u->param[i].sym->id];
    if (e->type->kind == TD_T_PORT) {
      if (!td_wire_of(f, e, &k->wire)) return false;
    } else if (td_type_is_scalar(u->param[i].type)) {
      k->value = td_span_cast(u->param[i].type, e->type, td_abstract_run_span(f, e));
    }
  }
  return true;
}

static Flow follow_call(TdFollow *f, const TdStmt *s) {
  TdMoves *m = &f->net->moves;
  const TdUnit *u = callee_of(f, s);
  if (!call_moves(f, s)) return plain(f);
  if (u && !bind_arguments(f, u, s)) return nowhere;
  if (u && u->kind == TD_UNIT_KERNEL) return (Flow){td_abstract_run_body(f, u), NEXT};
  if (u) {
    uint32_t g = td_traffic_start(f, u, s);
    if (g == TD_TRAFFIC_NONE) return nowhere;
    TD_VEC(const TdMove *) all = {0};
    const TdGroup *group = &f->net->group.at[g];
    for (uint32_t i = 0; i < group->n; i++)
      td_vec_push(f->net->arena, &all, f->net->inst.at[group->first + i].move);
    const TdMove *sum = td_token_trace_seq(m, all.at, all.n);
    return (Flow){td_token_trace_fork(m, g, s, sum->count, sum->ncount), NEXT};
  }
  TD_VEC(const TdMove *) any = {0};
  for (uint32_t i = 0; i < s->nexpr; i++) {
    TdWire w;
    if (s->expr[i]->type->kind != TD_T_PORT) continue;
    if (!td_wire_of(f, s->expr[i], &w)) return nowhere;
    td_vec_push(f->net->arena, &any, td_wire_anything(f, &w, s));
    if (is_stuck(f)) return nowhere;
  }
  return (Flow){td_token_trace_seq(m, any.at, any.n), NEXT};
}

/* A scalar local gets a value. */
static Flow assign(TdFollow *f, const TdExpr *place, TdSym sym, const TdType *t, TdSpan v) {
  if (place && (place->kind != TD_EXPR_LOAD || place->nkid)) return plain(f);
  if (td_type_is_scalar(t)) f->known[(place ? place->sym : sym)->id].value = v;
  return plain(f);
}

static Flow follow_local(TdFollow *f, const TdStmt *s) {
  TdKnown *k = &f->known[s->sym->id];
  k->blob = s->cls == TD_LOCAL_CONST ? s->blob : NULL;
  if (!td_type_is_scalar(s->type)) return plain(f);
  TdSpan v = td_span_data(s->type);
  if (s->cls == TD_LOCAL_AUTO && s->nexpr)
    v = td_span_cast(s->type, s->expr[0]->type, td_abstract_run_span(f, s->expr[0]));
  return assign(f, NULL, s->sym, s->type, v);
}

/* GET, SLOT and PUT; a scalar that is got is data. */
static Flow follow_move(TdFollow *f, const TdStmt *s) {
  const TdMove *x = td_wire_move(f, s);
  if (is_stuck(f)) return nowhere;
  const TdExpr *place = s->kind == TD_STMT_GET && s->nexpr > 1 ? s->expr[1] : NULL;
  if (s->kind == TD_STMT_GET && (place || s->sym)) {
    const TdType *t = place ? place->type : s->type;
    if (td_type_is_scalar(t)) assign(f, place, s->sym, t, td_span_data(t));
  }
  return (Flow){x, NEXT};
}

/* s without what it meets in. */
static Flow follow_kind(TdFollow *f, const TdStmt *s) {
  const TdExpr *place;
  switch (s->kind) {
  case TD_STMT_BLOCK: return follow_row(f, s->kid, s->nkid);
  case TD_STMT_FOR: return follow_for(f, s);
  case TD_STMT_WHILE: return follow_while(f, s);
  case TD_STMT_IF: return follow_if(f, s);
  case TD_STMT_CALL: return follow_call(f, s);
  case TD_STMT_LOCAL: return follow_local(f, s);
  case TD_STMT_GET:
  case TD_STMT_SLOT:
  case TD_STMT_PUT: return follow_move(f, s);
  case TD_STMT_BREAK: return (Flow){td_token_trace_nothing(&f->net->moves), BREAK};
  case TD_STMT_RETURN: return (Flow){td_token_trace_nothing(&f->net->moves), RETURN};
  case TD_STMT_STORE:
    place = s->expr[0];
    if (place->nkid) return plain(f);
    return assign(f, place, NULL, place->type,
                  td_span_cast(place->type, s->expr[1]->type, td_abstract_run_span(f, s->expr[1])));
  default: return plain(f);
  }
}

/* The meetings below e, operands first. */
static void list_meetings(TdFollow *f, const TdExpr *e, TdMoveKind kind, const TdStmt *s,
                          const TdMove **row) {
  for (uint32_t i = 0; i < e->nkid; i++) list_meetings(f, e->kid[i], kind, s, row);
  if (e->kind != TD_EXPR_TENSOR || e->op != TD_OP_ALLREDUCE) return;
  TdMoves *m = &f->net->moves;
  const TdMove *pair[] = {*row, td_token_trace_event(m, kind, td_traffic_meet(f, e), s)};
  *row = td_token_trace_seq(m, pair, 2);
}

/* JOIN or LEAVE, for all that s meets in. */
static const TdMove *meetings(TdFollow *f, const TdStmt *s, TdMoveKind kind) {
  const TdMove *row = td_token_trace_nothing(&f->net->moves);
  for (uint32_t i = 0; i < s->nexpr; i++) list_meetings(f, s->expr[i], kind, s, &row);
  return row;
}

/* What s does; the parts of an allreduce are in hand until s itself is done, or its body begins. */
static Flow follow(TdFollow *f, const TdStmt *s) {
  if (++f->steps > MOST_STEPS) {
    f->net->open = "there is too much to follow";
    f->stop = true;
  }
  if (is_stuck(f)) return nowhere;
  td_ctx_tick(f->session->ctx, 1);
  td_ctx_enter(f->session->ctx);
  Flow x = follow_kind(f, s);
  td_ctx_leave(f->session->ctx);
  if (is_stuck(f) || !meets(f, s)) return x;
  const TdMove *join = meetings(f, s, TD_MOVE_JOIN), *leave = meetings(f, s, TD_MOVE_LEAVE);
  const TdMove *simple[] = {join, x.move, leave}, *nested[] = {join, leave, x.move};
  x.move =
      td_token_trace_seq(&f->net->moves, s->nkid || s->kind == TD_STMT_CALL ? nested : simple, 3);
  return x;
}

const TdMove *td_abstract_run_body(TdFollow *f, const TdUnit *u) {
  const TdUnit *outer = f->unit;
  f->unit = u;
  Flow x = follow(f, u->body);
  f->unit = outer;
  return is_stuck(f) ? NULL : x.move;
}
