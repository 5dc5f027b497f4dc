/* intern.c - the domain that keeps expressions: equal ones are one node, and two can be compared.
 */
#include <string.h>

#include "eval/value/intern.h"
#include "eval/value/word.h"

typedef TdInternNode Node;

typedef struct Graph {
  TdArena *arena;
  TD_VEC(Node) node; /* node 0 is none */
  TdMap newest;      /* hash -> id */
  int side;          /* the program that runs: 0 or 1 */
} Graph;

static const TdHash plain_key = {1, 2};

void *td_intern_new(TdArena *a) {
  Graph *g = TD_NEW(a, Graph);
  g->arena = a;
  td_vec_push(a, &g->node, (Node){0});
  return g;
}

/* Whether two nodes are the same expression. */
static bool same(const Node *x, const Node *y) {
  bool cast = x->op == TD_APPLY_CAST;
  if (x->op != y->op || x->n != y->n || memcmp(x->word, y->word, sizeof x->word)) return false;
  if (td_domain_type_key(x->type, cast) != td_domain_type_key(y->type, cast)) return false;
  if (!memcmp(x->kid, y->kid, sizeof x->kid)) return true;
  return td_domain_is_symmetric(x->op) && x->kid[0] == y->kid[1] && x->kid[1] == y->kid[0];
}

/* The symbolic value of node x, found under h or new. */
static TdValue intern(Graph *g, TdHash h, Node x) {
  uint64_t newest = 0;
  td_map_get(&g->newest, h.lo, &newest);
  uint32_t id = (uint32_t)newest;
  while (id && !same(&g->node.at[id], &x)) id = g->node.at[id].next;
  if (!id) {
    Node new = x;
    memset(new.loc, 0, sizeof new.loc);
    new.next = (uint32_t)newest;
    id = (uint32_t)g->node.n;
    if (id == UINT32_MAX) td_ctx_escape(td_arena_ctx(g->arena), TD_WHY_MEMORY);
    td_vec_push(g->arena, &g->node, new);
    td_map_put(g->arena, &g->newest, h.lo, id);
  }
  TdLoc *loc = &g->node.at[id].loc[g->side];
  if (!loc->source) *loc = x.loc[0];
  return (TdValue){id, TD_VALUE_SYMBOLIC};
}

const TdInternNode *td_intern_node(const void *graph, TdValue v) {
  const Graph *g = graph;
  return &g->node.at[v.lo];
}

void td_intern_side(void *self, int side) {
  Graph *g = self;
  g->side = side;
}

static TdValue input(void *self, unsigned param, int64_t element, const TdType *t) {
  Node x = {.op = TD_INTERN_INPUT, .type = t, .word = {param, (uint64_t)element}};
  return intern(self, td_domain_hash_input(plain_key, param, element), x);
}

static TdValue lift(void *self, const TdType *t, TdValue v) {
  if (td_value_is_symbolic(v)) return v;
  if (!td_value_is_defined(v))
    return intern(self, td_hash_feed(plain_key, TD_HASH_UNDEFINED),
                  (Node){.op = TD_INTERN_UNDEFINED, .type = t});
  TdHash h = td_domain_hash_constant(plain_key, t, v);
  uint64_t bits = v.lo;
  if (td_value_is_wide(v) && !td_word_fits(t, v, &bits))
    return intern(self, h, (Node){.op = TD_INTERN_WORD, .type = t, .word = {h.lo, h.hi}});
  Node x = {.op = TD_INTERN_CONSTANT, .type = t, .word = {td_domain_bits(t, bits), 0}};
  return intern(self, h, x);
}

static TdValue apply(void *self, const TdApply *x) {
  TdValue v[4];
  Node node = {.op = x->op, .n = x->n, .type = x->type, .loc = {x->loc}};
  for (int i = 0; i < x->n; i++) {
    v[i] = lift(self, x->of[i], x->v[i]);
    node.kid[i] = (uint32_t)v[i].lo;
  }
  return intern(self, td_domain_hash_op(plain_key, x, v), node);
}

const TdDomain td_intern_domain = {"interned", input, lift, apply};

/* An expression being written: what lies too deep or too far right becomes "...". */
typedef struct Writer {
  TdText *out;
  const Graph *graph;
  const TdInputName *names;
  size_t stop;
} Writer;

enum { SHOWN_DEPTH = 6, SHOWN_CHARS = 240 };

static void put(Writer *w, uint32_t id, int depth);

/* "f(a, b)". */
static void put_call(Writer *w, const Node *x, int depth) {
  td_text_putc(w->out, '(');
  for (int i = 0; i < x->n; i++) {
    if (i) td_text_puts(w->out, ", ");
    put(w, x->kid[i], depth - 1);
  }
  td_text_putc(w->out, ')');
}

static void put_operator(Writer *w, const Node *x, int depth) {
  const TdOpInfo *op = &td_ops[x->op];
  if (op->form == TD_FORM_CALL) {
    td_text_puts(w->out, op->lua);
    put_call(w, x, depth);
    return;
  }
  td_text_putc(w->out, '(');
  if (x->n == 2) {
    put(w, x->kid[0], depth - 1);
    td_text_putc(w->out, ' ');
  }
  td_text_puts(w->out, op->lua);
  if (x->n == 2 || op->boolean) td_text_putc(w->out, ' ');
  put(w, x->kid[x->n - 1], depth - 1);
  td_text_putc(w->out, ')');
}

static void put(Writer *w, uint32_t id, int depth) {
  const Node *x = &w->graph->node.at[id];
  switch (x->op) {
  case TD_INTERN_INPUT:
    td_domain_put_element(w->out, &w->names[x->word[0]], (int64_t)x->word[1]);
    return;
  case TD_INTERN_CONSTANT: td_num_print(w->out, x->type, x->word[0]); return;
  case TD_INTERN_WORD: td_text_puts(w->out, "a constant of more than 64 bits"); return;
  case TD_INTERN_UNDEFINED: td_text_puts(w->out, "undefined"); return;
  default: break;
  }
  if (!depth || w->out->n > w->stop) {
    td_text_puts(w->out, "...");
  } else if (x->op == TD_APPLY_CAST) {
    td_type_print(w->out, x->type);
    put_call(w, x, depth);
  } else {
    put_operator(w, x, depth);
  }
}

/* "  first:  expression". */
static void put_line(Writer *w, const char *which, uint32_t id) {
  td_text_putf(w->out, "  %s ", which);
  w->stop = w->out->n + SHOWN_CHARS;
  put(w, id, SHOWN_DEPTH);
  td_text_putc(w->out, '\n');
}

/* A node of one of the programs, and where it or else the nearest operator around it stands. */
typedef struct Spot {
  int side;
  uint32_t id;
  TdLoc loc;
} Spot;

static void move_down(const Graph *g, Spot *s, uint32_t id) {
  TdLoc loc = g->node.at[id].loc[s->side];
  s->id = id;
  if (loc.source) s->loc = loc;
}

/* Whether two nodes are of one form: both leaves, or one operator. */
static bool alike(const Graph *g, uint32_t a, uint32_t b) {
  const Node *x = &g->node.at[a], *y = &g->node.at[b];
  return x->n == y->n && (!x->n || x->op == y->op);
}

/* The operands of two nodes of one operator that differ, in pairs; returns how many. */
static int differing(const Graph *g, uint32_t a, uint32_t b, uint32_t pair[4][2]) {
  const Node *x = &g->node.at[a], *y = &g->node.at[b];
  if (x->op != y->op || x->n != y->n || x->type != y->type) return 0;
  bool cross = x->n == 2 && td_domain_is_symmetric(x->op) &&
               (x->kid[0] == y->kid[1] || x->kid[1] == y->kid[0]);
  int n = 0;
  for (int i = 0; i < x->n; i++) {
    uint32_t other = y->kid[cross ? 1 - i : i];
    if (x->kid[i] == other) continue;
    pair[n][0] = x->kid[i];
    pair[n++][1] = other;
  }
  return n;
}

/* Follows two different nodes down to where they differ: into the only pair of operands that does,
 * or the first of several that is of one form; where there is none such, an operator more or less
 * makes the difference, and it is here. */
static void descend(const Graph *g, Spot *a, Spot *b) {
  uint32_t pair[4][2];
  for (int n; (n = differing(g, a->id, b->id, pair));) {
    int i = 0;
    while (n > 1 && i < n && !alike(g, pair[i][0], pair[i][1])) i++;
    if (i == n) return;
    move_down(g, a, pair[i][0]);
    move_down(g, b, pair[i][1]);
  }
}

/* The line of source that makes or uses what was shown, if there is one. */
static void put_place(TdText *out, TdLoc loc, const TdSources *sources) {
  if (!loc.source || !sources) return;
  td_text_putf(out, "  at %s:%u:%u:\n", td_sources_name(sources, loc.source), loc.line, loc.col);
  td_diag_print_place(out, loc, sources);
}

void td_intern_explain(TdText *out, void *self, const TdType *t, TdValue x, TdValue y,
                       const TdInputName *names, const TdSources *sources) {
  const Graph *g = self;
  Spot a = {.side = 0}, b = {.side = 1};
  move_down(g, &a, (uint32_t)lift(self, t, x).lo);
  move_down(g, &b, (uint32_t)lift(self, t, y).lo);
  Writer w = {.out = out, .graph = g, .names = names};
  put_line(&w, "first: ", a.id);
  put_line(&w, "second:", b.id);
  if (a.id == b.id) return;
  uint32_t from = a.id;
  descend(g, &a, &b);
  if (a.id != from) td_text_puts(out, "they differ in\n");
  if (a.id != from) put_line(&w, "first: ", a.id);
  put_place(out, a.loc, sources);
  if (a.id != from) put_line(&w, "second:", b.id);
  put_place(out, b.loc, sources);
}
