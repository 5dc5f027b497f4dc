/* search_auto_moves.c - moves by loop: order, buffers, pipelines and copies with their banks. */
#include "rewrite/task/search_auto_moves.h"

#include <string.h>

#include "analysis/range/range.h"

enum {
  MOST_LOOPS = 24,
  MOST_COPIES = 64,   /* of a loop's body side by side */
  MOST_INSIDE = 1024, /* iterations inside a pipelined loop, which lie side by side */
  MOST_BANKS = 64
};

/* A loop of the program. */
typedef struct Loop {
  const TdUnit *unit;
  const TdStmt *stmt;
  const char *name;
  int parent;     /* -1: none */
  bool only;      /* all that its parent does */
  bool inner;     /* it has no loop in it */
  bool pipelined; /* it, or one around it */
  bool busy;      /* one inside is pipelined */
  int64_t trip;   /* -1: not known */
} Loop;

/* An array and a dimension that a loop's variable indexes. */
typedef struct Indexed {
  TdSym array;
  int dim;
} Indexed;

typedef struct Maker {
  TdRewrite *r;
  TdArena *arena;
  const TdProg *prog;
  const TdUnit *unit;
  Loop loop[MOST_LOOPS];
  int n;
  TdAutoMoves moves;
  TdPrimStep step[TD_AUTO_STEPS]; /* of the move under way */
  size_t nstep;
} Maker;

/* ---- loops ---- */

static const TdStmt *body_of(const TdStmt *loop) {
  const TdStmt *b = td_for_body(loop);
  return b->kind == TD_STMT_BLOCK && b->nkid == 1 ? b->kid[0] : b;
}

static void add_loop(Maker *m, const TdStmt *s, int parent) {
  Loop *l = &m->loop[m->n];
  TdAsk q = {m->r->affine, m->arena, m->prog, m->unit};
  *l = (Loop){.unit = m->unit, .stmt = s, .parent = parent, .inner = true, .trip = -1};
  l->name = td_cursor_spec(m->arena, m->prog, m->unit, s);
  td_range_trip(&q, s, &l->trip);
  l->only = parent >= 0 && body_of(m->loop[parent].stmt) == s;
  bool piped = td_attrs_get(s->attrs, TD_ATTR_PIPELINE) != NULL;
  l->pipelined = piped || (parent >= 0 && m->loop[parent].pipelined);
  for (int up = parent; up >= 0; up = m->loop[up].parent) {
    m->loop[up].inner = false;
    m->loop[up].busy |= piped;
  }
  m->n++;
}

static void find_loops(Maker *m, const TdStmt *s, int parent) {
  td_ctx_enter(m->r->session->ctx);
  if (s->kind == TD_STMT_FOR && m->n < MOST_LOOPS) {
    add_loop(m, s, parent);
    parent = m->n - 1;
  }
  for (uint32_t i = 0; i < s->nkid; i++) find_loops(m, s->kid[i], parent);
  td_ctx_leave(m->r->session->ctx);
}

/* ---- steps ---- */

/* A new step of the move under way; its arguments, or NULL when there are too many. */
static TdArgValue *add_step(Maker *m, const char *prim) {
  if (m->nstep == TD_AUTO_STEPS) return NULL;
  TdArgValue *arg = TD_NEWN(m->arena, TdArgValue, TD_PRIM_ARGS);
  m->step[m->nstep++] = (TdPrimStep){.prim = td_prim_find(prim), .arg = arg};
  return arg;
}

static TdArgValue text(const char *s) {
  return (TdArgValue){.given = true, .text = s};
}

static TdArgValue integer(int64_t v) {
  return (TdArgValue){.given = true, .integer = v};
}

static void end_move(Maker *m) {
  TdAutoMove x = {td_arena_copy(m->arena, m->step, m->nstep * sizeof *m->step), m->nstep};
  if (m->nstep) td_vec_push(m->arena, &m->moves, x);
  m->nstep = 0;
}

static void add_on_loop(Maker *m, const char *prim, const Loop *l) {
  TdArgValue *arg = add_step(m, prim);
  if (arg) arg[0] = text(l->name);
}

/* ---- banks ---- */

/* Looks for arrays that a variable indexes. */
typedef struct Look {
  Maker *m;
  TdSym var;
  Indexed found[TD_AUTO_STEPS];
  size_t n;
} Look;

static bool look(void *ud, const TdExpr *e) {
  Look *l = ud;
  if (e->kind != TD_EXPR_LOAD && e->kind != TD_EXPR_VIEW) return true;
  for (uint32_t d = 0; d < e->nkid; d++) {
    bool known = !td_walk_uses_expr(e->kid[d], l->var);
    for (size_t i = 0; i < l->n; i++)
      known |= l->found[i].array == e->sym && l->found[i].dim == (int)d;
    if (!known && l->n < TD_AUTO_STEPS) l->found[l->n++] = (Indexed){e->sym, (int)d};
  }
  return true;
}

/* Steps that spread what a loop's variable indexes over banks, one for each of so many copies. */
static void add_banks(Maker *m, const Loop *l, int64_t copies) {
  Look k = {.m = m, .var = l->stmt->sym};
  td_walk_exprs(m->r->session->ctx, l->stmt, look, &k);
  for (size_t i = 0; i < k.n; i++) {
    bool root = l->unit == td_prog_root(m->prog);
    const char *array = k.found[i].array->name;
    TdArgValue *arg = add_step(m, "partition");
    if (!arg) return;
    int64_t *dim = TD_NEWN(m->arena, int64_t, 1);
    dim[0] = k.found[i].dim;
    arg[0] = text(root ? array : td_text_fmt(m->arena, "%s:%s", l->unit->sym->name, array));
    arg[1] = (TdArgValue){.given = true, .ints = dim, .n = 1};
    arg[3] = integer(copies);
  }
}

/* ---- moves ---- */

/* The iterations of all loops inside loop i; past MOST_INSIDE where some are not known. */
static int64_t inside(const Maker *m, int i) {
  int64_t n = 1;
  for (int k = i + 1; k < m->n && n <= MOST_INSIDE; k++) {
    int up = k;
    while (up >= 0 && up != i) up = m->loop[up].parent;
    if (up != i) continue;
    int64_t trip = m->loop[k].trip;
    n = trip < 0 || trip > MOST_INSIDE ? MOST_INSIDE + 1 : n * (trip ? trip : 1);
  }
  return n;
}

/* Pipelines a loop; what is inside lies side by side then, with banks for it or without. */
static void add_pipelines(Maker *m, int i) {
  const Loop *l = &m->loop[i];
  if (l->pipelined || l->busy || inside(m, i) > MOST_INSIDE) return;
  add_on_loop(m, "pipeline", l);
  end_move(m);
  if (l->inner) return;
  add_on_loop(m, "pipeline", l);
  for (int k = i + 1; k < m->n; k++) {
    int up = k;
    while (up >= 0 && up != i) up = m->loop[up].parent;
    if (up == i && m->loop[k].trip > 1)
      add_banks(m, &m->loop[k], m->loop[k].trip < MOST_BANKS ? m->loop[k].trip : MOST_BANKS);
  }
  end_move(m);
}

/* Copies of a loop's body side by side, with their banks. */
static void add_unrolls(Maker *m, int i) {
  const Loop *l = &m->loop[i];
  if (td_attrs_get(l->stmt->attrs, TD_ATTR_UNROLL) || !l->inner || l->trip < 2) return;
  for (int64_t f = 2; f <= MOST_COPIES && f < l->trip; f *= 2) {
    TdArgValue *arg = add_step(m, "unroll");
    arg[0] = text(l->name);
    arg[1] = integer(f);
    add_banks(m, l, f);
    end_move(m);
  }
}

/* A loop in place of the one around it. */
static void add_order(Maker *m, int i) {
  const Loop *l = &m->loop[i];
  if (l->parent < 0) return;
  const char **name = TD_NEWN(m->arena, const char *, 2);
  name[0] = l->name;
  name[1] = m->loop[l->parent].name;
  TdArgValue *arg = add_step(m, "reorder");
  arg[0] = (TdArgValue){.given = true, .names = name, .n = 2};
  end_move(m);
}

/* Buffers for what a loop around others touches of the arrays of its unit. */
static void add_buffers(Maker *m, int i) {
  const Loop *l = &m->loop[i];
  bool root = l->unit == td_prog_root(m->prog);
  for (size_t k = 0; k < l->unit->nparam && !l->inner && !l->pipelined; k++) {
    const TdParam *p = &l->unit->param[k];
    if (p->type->kind != TD_T_TENSOR || !td_walk_uses(m->r->session->ctx, l->stmt, p->sym))
      continue;
    TdArgValue *arg = add_step(m, "buffer_at");
    arg[0] = text(root ? p->sym->name
                       : td_text_fmt(m->arena, "%s:%s", l->unit->sym->name, p->sym->name));
    arg[1] = text(l->name);
    end_move(m);
  }
}

static void add_parallel(Maker *m, int i) {
  const Loop *l = &m->loop[i];
  for (int up = i; up >= 0; up = m->loop[up].parent)
    if (td_attrs_get(m->loop[up].stmt->attrs, TD_ATTR_PARALLEL)) return;
  add_on_loop(m, "parallel", l);
  end_move(m);
}

TdAutoMoves td_auto_moves(TdRewrite *r, TdArena *a, const TdProg *p, bool cpu) {
  Maker *m = TD_NEW(a, Maker);
  *m = (Maker){.r = r, .arena = a, .prog = p};
  for (size_t i = 0; i < p->nunit; i++) {
    m->unit = p->unit[i];
    if (m->unit->kind == TD_UNIT_KERNEL && m->unit->body) find_loops(m, m->unit->body, -1);
  }
  for (int i = 0; i < m->n; i++) {
    if (cpu) add_parallel(m, i);
    if (!cpu) add_pipelines(m, i);
    if (!cpu) add_unrolls(m, i);
    add_order(m, i);
    if (!cpu) add_buffers(m, i);
  }
  return m->moves;
}
