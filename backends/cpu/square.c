/* square.c - finds products of a value with itself that come back to it, as in `x = x * x`.
 * Variables that are computed from each other are the strongly connected components of what is
 * assigned from what (Tarjan 1972); of such a product both operands hold variables of the component
 * that takes it. */
#include "backends/cpu/text.h"

/* A variable, and the edges from[first .. first + n - 1] to those that are computed from it. */
typedef struct Node {
  size_t first, n;
  size_t order, low, next; /* of Tarjan's visit: 0 before it; the next edge to follow */
  size_t part;             /* its component; 0: not known yet */
} Node;

typedef struct Edge {
  size_t from, to;
} Edge;

typedef struct Product {
  const TdExpr *e;
  size_t to;
} Product;

typedef struct Flow {
  TdArena *arena;
  const TdProg *prog;
  TdMap number; /* of a symbol's node */
  TD_VEC(Node) node;
  TD_VEC(Edge) edge;
  TD_VEC(Product) product;
  size_t to;    /* the node that takes what is being walked */
  size_t *head; /* where edges lead, by where they come from */
} Flow;

/* The node of a symbol, which is made if it is new. */
static size_t node_of(Flow *f, TdSym sym) {
  uint64_t at;
  if (td_map_get(&f->number, (uint64_t)(uintptr_t)sym, &at)) return at;
  td_map_put(f->arena, &f->number, (uint64_t)(uintptr_t)sym, f->node.n);
  td_vec_push(f->arena, &f->node, (Node){0});
  return f->node.n - 1;
}

static void add_edge(Flow *f, size_t from, size_t to) {
  Edge e = {from, to};
  td_vec_push(f->arena, &f->edge, e);
}

/* Whether values of type t, or elements of them, are multiplied as integers. */
static bool is_integer(const TdType *t) {
  return (t->kind == TD_T_TENSOR ? t->elem : t)->kind != TD_T_FLOAT;
}

/* Adds what an expression hands to f->to. */
static bool visit(void *ud, const TdExpr *e) {
  Flow *f = ud;
  if (e->sym) add_edge(f, node_of(f, e->sym), f->to);
  if (e->kind == TD_EXPR_OP && e->op == TD_OP_MUL && is_integer(e->type)) {
    Product p = {e, f->to};
    td_vec_push(f->arena, &f->product, p);
  }
  return true;
}

static void add_value(Flow *f, TdSym to, const TdExpr *e) {
  f->to = node_of(f, to);
  td_walk_expr(e, visit, f);
}

/* Adds what a statement assigns; a call hands its arguments over, and tensors back. */
static bool add_stmt(void *ud, const TdStmt *s) {
  Flow *f = ud;
  if (s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET) add_value(f, s->expr[0]->sym, s->expr[1]);
  if (s->kind == TD_STMT_LOCAL && s->nexpr) add_value(f, s->sym, s->expr[0]);
  const TdUnit *u = s->kind == TD_STMT_CALL ? td_prog_unit(f->prog, s->sym) : NULL;
  for (uint32_t i = 0; u && i < s->nexpr; i++) {
    TdSym param = u->param[i].sym;
    add_value(f, param, s->expr[i]);
    if (s->expr[i]->kind == TD_EXPR_VIEW)
      add_edge(f, node_of(f, param), node_of(f, s->expr[i]->sym));
  }
  return true;
}

/* Sorts edges by where they come from. */
static void sort_edges(Flow *f) {
  for (size_t i = 0; i < f->edge.n; i++) f->node.at[f->edge.at[i].from].n++;
  for (size_t i = 0, at = 0; i < f->node.n; at += f->node.at[i++].n) f->node.at[i].first = at;
  f->head = TD_NEWN(f->arena, size_t, f->edge.n + 1);
  for (size_t i = 0; i < f->edge.n; i++) {
    Node *x = &f->node.at[f->edge.at[i].from];
    f->head[x->first + x->next++] = f->edge.at[i].to;
  }
  for (size_t i = 0; i < f->node.n; i++) f->node.at[i].next = 0;
}

/* Pops the component of x, which was entered first of it. */
static void pop_part(Flow *f, size_t x, size_t *stack, size_t *depth, size_t part) {
  do f->node.at[stack[--*depth]].part = part;
  while (stack[*depth] != x);
}

/* Numbers the components that can be reached from node `start`. */
static void find_parts(Flow *f, size_t start, size_t *path, size_t *stack, size_t *order,
                       size_t *parts) {
  size_t n = 0, depth = 0;
  for (path[n++] = start; n;) {
    size_t x = path[n - 1];
    Node *v = &f->node.at[x];
    if (!v->order) {
      v->order = v->low = ++*order;
      stack[depth++] = x;
    }
    if (v->next < v->n) {
      Node *w = &f->node.at[f->head[v->first + v->next++]];
      if (!w->order)
        path[n++] = (size_t)(w - f->node.at);
      else if (!w->part && w->order < v->low)
        v->low = w->order;
      continue;
    }
    if (v->low == v->order) pop_part(f, x, stack, &depth, ++*parts);
    n--;
    if (n && v->low < f->node.at[path[n - 1]].low) f->node.at[path[n - 1]].low = v->low;
  }
}

typedef struct Seen {
  const Flow *flow;
  size_t part;
} Seen;

static bool is_outside(void *ud, const TdExpr *e) {
  const Seen *s = ud;
  uint64_t at;
  return !e->sym || !td_map_get(&s->flow->number, (uint64_t)(uintptr_t)e->sym, &at) ||
         s->flow->node.at[at].part != s->part;
}

/* Whether both operands of p are computed from what takes it. */
static bool goes_round(const Flow *f, const Product *p) {
  Seen s = {f, f->node.at[p->to].part};
  return !td_walk_expr(p->e->kid[0], is_outside, &s) && !td_walk_expr(p->e->kid[1], is_outside, &s);
}

bool td_cpu_square_is_in(TdArena *a, const TdProg *p) {
  Flow f = {.arena = a, .prog = p};
  TdCtx *ctx = p->store->session->ctx;
  for (size_t i = 0; i < p->nunit; i++)
    if (p->unit[i]->body) td_walk_stmt(ctx, p->unit[i]->body, add_stmt, &f);
  if (!f.product.n) return false;
  sort_edges(&f);
  size_t order = 0, parts = 0;
  size_t *path = TD_NEWN(a, size_t, f.node.n + 1), *stack = TD_NEWN(a, size_t, f.node.n + 1);
  for (size_t i = 0; i < f.node.n; i++)
    if (!f.node.at[i].order) find_parts(&f, i, path, stack, &order, &parts);
  for (size_t i = 0; i < f.product.n; i++)
    if (goes_round(&f, &f.product.at[i])) return true;
  return false;
}
