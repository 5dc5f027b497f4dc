/* access.c - a subtree as the list of its leaves. */
#include "affine/access.h"

#include "affine/uses.h"
#include "affine/touch.h"

/* Calls are followed while a list has fewer leaves than this. */
enum { MOST_INLINED = 4096, BOTH = TD_TOUCH_READ | TD_TOUCH_WRITE };

static void walk(TdWalk *w, const TdStmt *s);

/* What extending the present nest needs. */
static TdNestMaker maker(const TdWalk *w) {
  return (TdNestMaker){w->out->session, w->out->space, w->env};
}

bool td_access_same_form(TdAff x, TdAff y) {
  if (x.bad || y.bad || x.c != y.c || x.n != y.n) return false;
  for (uint32_t i = 0; i < x.n; i++)
    if (x.m[i].col != y.m[i].col || x.m[i].coef != y.m[i].coef) return false;
  return true;
}

/* Whether two accesses touch the same elements, told without solving. */
static bool same_elements(const TdAccess *x, const TdAccess *y) {
  if (x->cell != y->cell || x->elem.nextra || y->elem.nextra || x->elem.row.n || y->elem.row.n ||
      x->may != y->may || x->reduction != y->reduction || x->rank != y->rank)
    return false;
  for (int d = 0; d < x->rank; d++)
    if (!td_access_same_form(x->index[d], y->index[d])) return false;
  return true;
}

/* Makes a read and a write of one element one access of the leaf under way; a flat list keeps them
 * apart, as places in the text. Returns how many there are. */
static size_t merge_accesses(TdWalk *w) {
  size_t n = 0;
  for (size_t i = 0; i < w->access.n; i++) {
    TdAccess *x = &w->access.at[i];
    size_t k = w->flat ? n : 0;
    while (k < n && !same_elements(&w->access.at[k], x)) k++;
    if (k == n) {
      w->access.at[n++] = *x;
    } else {
      w->access.at[k].read |= x->read;
      w->access.at[k].write |= x->write;
    }
  }
  return n;
}

/* The next number among the leaves of a uid. */
static uint32_t next_sub(TdWalk *w, uint32_t uid) {
  uint64_t n = 0;
  td_map_get(&w->subs, uid, &n);
  td_map_put(w->arena, &w->subs, uid, n + 1);
  return (uint32_t)n;
}

/* Closes the leaf under way; returns it. */
static TdLeaf *put_leaf(TdWalk *w, const TdStmt *s) {
  td_ctx_tick(w->out->session->ctx, 1);
  TdLeaf l = {.stmt = s, .nest = w->nest, .region = w->region, .reduce = -1};
  l.uid = w->top_uid ? w->top_uid : s->uid;
  l.origin = w->top_uid ? w->top_origin : s->origin;
  l.sub = next_sub(w, l.uid);
  l.nseen = w->region ? w->region->nloop : w->nest->nloop;
  l.seq = w->region ? w->region->seq : (uint32_t)w->out->at.n;
  l.naccess = merge_accesses(w);
  l.access = w->access.at;
  w->access.at = NULL;
  w->access.n = w->access.cap = 0;
  td_vec_push(w->arena, &w->out->at, l);
  return &w->out->at.at[w->out->at.n - 1];
}

/* The same if it touched anything; else NULL. */
static TdLeaf *end_leaf(TdWalk *w, const TdStmt *s) {
  return w->access.n ? put_leaf(w, s) : NULL;
}

static const TdElem scalar_elem = {0};

/* The operator under which op accumulates: a sum also takes terms away. */
static int accumulator(int op) {
  switch (op) {
  case TD_OP_SUB: return TD_OP_ADD;
  case TD_OP_ADD:
  case TD_OP_MUL:
  case TD_OP_MIN:
  case TD_OP_MAX:
  case TD_OP_BAND:
  case TD_OP_BOR:
  case TD_OP_BXOR:
  case TD_OP_AND:
  case TD_OP_OR: return op;
  default: return -1;
  }
}

/* What a chain of operators from a value down to the place it is stored in looks like. */
typedef struct Chain {
  const TdExpr *self;
  int op;
  bool ring; /* no step rounds */
} Chain;

/* Whether casting into t on the way to a place of type `place` loses nothing that the place keeps:
 * the value is kept, or wraps at least as wide. */
static bool keeps_chain(const TdType *t, const TdType *from, const TdType *place, int op) {
  if (td_promote_holds(t, from)) return true;
  if (op == TD_OP_MIN || op == TD_OP_MAX || t->saturate) return false;
  bool exact = td_type_is_integer(t) || td_type_is_fixed(t);
  bool was_exact = td_type_is_integer(from) || td_type_is_fixed(from);
  return exact && was_exact && t->f >= from->f && t->w - t->f >= place->w - place->f;
}

/* Follows the operators of one kind in `value` to the only use of the array that `place` is in;
 * false when there are others on the way, or casts that lose what the place keeps. */
static bool find_chain(const TdExpr *value, const TdExpr *place, Chain *c) {
  const TdType *to = td_type_scalar(place->type);
  *c = (Chain){.op = -1, .ring = to->kind != TD_T_FLOAT};
  const TdExpr *casts[8];
  size_t ncast = 0;
  for (const TdExpr *e = value;;) {
    if (e->kind == place->kind && td_equal_expr(e, place)) {
      for (uint32_t d = 0; d < e->nkid; d++)
        if (td_walk_uses_expr(e->kid[d], place->sym)) return false;
      c->self = e;
      break;
    }
    int op = e->kind == TD_EXPR_OP ? accumulator(e->op) : -1;
    if (e->kind == TD_EXPR_CAST && ncast < 8) {
      casts[ncast++] = e;
      e = e->kid[0];
      continue;
    }
    if (op < 0 || e->nkid != 2 || (c->op >= 0 && op != c->op)) return false;
    c->op = op;
    bool left = td_walk_uses_expr(e->kid[0], place->sym);
    if (left == td_walk_uses_expr(e->kid[1], place->sym)) return false;
    if (!left && e->op == TD_OP_SUB) return false;
    e = e->kid[left ? 0 : 1];
  }
  for (size_t i = 0; i < ncast; i++)
    if (!keeps_chain(td_type_scalar(casts[i]->type), td_type_scalar(casts[i]->kid[0]->type), to,
                     c->op))
      return false;
  return c->op >= 0;
}

int td_access_accumulates(const TdExpr *value, const TdExpr *place, bool *ring) {
  Chain c;
  bool found = find_chain(value, place, &c);
  *ring = found && c.ring;
  return found ? c.op : -1;
}

/* Marks the accesses of `place = place op e`. */
static void mark_reduction(TdWalk *w, const TdExpr *place, const Chain *c) {
  for (size_t i = 0; i < w->access.n; i++) {
    TdAccess *x = &w->access.at[i];
    if (x->expr == place || x->expr == c->self) x->reduction = true;
  }
}

/* STORE and SET: `place` gets the value. */
static void walk_write(TdWalk *w, const TdStmt *s) {
  const TdExpr *place = s->expr[0], *value = s->expr[1];
  TdElem el = td_touch_elem(place->type);
  td_touch_value(w, value, &el);
  td_touch_place(w, place, &el, TD_CELL_MEMORY, TD_TOUCH_WRITE);
  Chain c;
  bool reduces = find_chain(value, place, &c);
  if (reduces) mark_reduction(w, place, &c);
  TdLeaf *l = end_leaf(w, s);
  if (!l || !reduces) return;
  l->reduce = c.op;
  l->ring = c.ring;
}

/* LOCAL: its initial value is a write of all of it; state and constants are there from outside. */
static void walk_local(TdWalk *w, const TdStmt *s) {
  if (s->cls != TD_LOCAL_AUTO) return;
  if (s->init != TD_INIT_NONE) {
    TdElem el = td_touch_elem(s->type);
    td_touch_value(w, s->expr[0], &el);
  }
  td_touch_declare(w, s->sym, s);
  if (s->init != TD_INIT_NONE) td_touch_whole(w, s->sym, s->type, TD_CELL_MEMORY, TD_TOUCH_WRITE);
  end_leaf(w, s);
}

/* GET and SLOT: an operation on a stream, and the target filled. */
static void walk_get(TdWalk *w, const TdStmt *s) {
  TdCellKind end = s->kind == TD_STMT_GET ? TD_CELL_GET : TD_CELL_PUT;
  td_touch_place(w, s->expr[0], &scalar_elem, end, BOTH);
  if (s->nexpr > 1) {
    TdElem el = td_touch_elem(s->expr[1]->type);
    td_touch_place(w, s->expr[1], &el, TD_CELL_MEMORY, TD_TOUCH_WRITE);
  } else if (s->sym) {
    td_touch_declare(w, s->sym, s);
    td_touch_whole(w, s->sym, s->type, TD_CELL_MEMORY, TD_TOUCH_WRITE);
  }
  end_leaf(w, s);
}

/* PUT: the value is read, the stream end moves on. */
static void walk_put(TdWalk *w, const TdStmt *s) {
  TdElem el = td_touch_elem(s->expr[1]->type);
  td_touch_value(w, s->expr[1], &el);
  td_touch_place(w, s->expr[0], &scalar_elem, TD_CELL_PUT, BOTH);
  end_leaf(w, s);
}

/* Reads of the scalars among the arguments of a call, and of their index expressions. */
static void walk_arguments(TdWalk *w, const TdStmt *s) {
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const TdExpr *e = s->expr[i];
    if (e->kind != TD_EXPR_VIEW)
      td_touch_value(w, e, &scalar_elem);
    else
      for (uint32_t d = 0; d < e->nkid; d++) td_touch_value(w, e->kid[d], &scalar_elem);
  }
}

/* What is passed to unit u (NULL: unknown), whose inside is not looked at: perhaps all of it is
 * used. That a design only reads, or only gets from, what it is passed is known. */
static void touch_passed(TdWalk *w, const TdUnit *u, uint32_t i, const TdExpr *e) {
  bool design = u && u->kind == TD_UNIT_DESIGN;
  unsigned use = design ? td_uses_param(w->ask->prog, u, u->param[i].sym) : (unsigned)TD_USES_ALL;
  TdElem el = td_touch_elem(e->type);
  if (e->type->kind != TD_T_PORT && use)
    td_touch_place(w, e, &el, TD_CELL_MEMORY, use == TD_USES_READ ? TD_TOUCH_READ : BOTH);
  if (e->type->kind != TD_T_PORT) return;
  if (use & TD_USES_PUT) td_touch_place(w, e, &el, TD_CELL_PUT, BOTH);
  if (use & TD_USES_GET) td_touch_place(w, e, &el, TD_CELL_GET, BOTH);
}

/* A call whose inside is not looked at. */
static void walk_opaque_call(TdWalk *w, const TdStmt *s, const TdUnit *u, bool pure) {
  walk_arguments(w, s);
  w->may = true;
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (s->expr[i]->kind == TD_EXPR_VIEW) touch_passed(w, u, i, s->expr[i]);
  if (!pure) td_touch_whole(w, s->sym, td_type_bool(w->out->session), TD_CELL_EFFECT, BOTH);
  w->may = false;
  end_leaf(w, s);
}

/* Stops a walk at RETURN. */
static bool is_return(void *ud, const TdStmt *s) {
  (void)ud;
  return s->kind != TD_STMT_RETURN;
}

/* Whether s can return from its unit. */
static bool holds_return(const TdWalk *w, const TdStmt *s) {
  return !td_walk_stmt(w->out->session->ctx, s, is_return, NULL);
}

/* Walks s as one opaque region, or within the one already open. */
static void walk_region(TdWalk *w, const TdStmt *s, void (*inside)(TdWalk *, const TdStmt *)) {
  const TdRegion *region = w->region;
  const TdNest *nest = w->nest;
  if (!region) {
    TdRegion *r = TD_NEW(w->arena, TdRegion);
    *r = (TdRegion){nest->nloop, (uint32_t)w->out->at.n};
    w->region = r;
  }
  w->nest = td_nest_maybe(w->out->space, nest);
  inside(w, s);
  w->nest = nest;
  w->region = region;
}

/* The body of a unit; a return at its very end says nothing. */
static void walk_body(TdWalk *w, const TdStmt *body) {
  size_t n = body->nkid;
  if (n && body->kid[n - 1]->kind == TD_STMT_RETURN) n--;
  for (size_t i = 0; i < n; i++) walk(w, body->kid[i]);
}

/* Whether something but the last statement of a body returns. */
static bool returns_early(const TdWalk *w, const TdStmt *body) {
  for (uint32_t i = 0; i < body->nkid; i++)
    if (holds_return(w, body->kid[i]) &&
        (i + 1 < body->nkid || body->kid[i]->kind != TD_STMT_RETURN))
      return true;
  return false;
}

/* The leaves of the callee's body, under its parameters' bindings. */
static void walk_callee(TdWalk *w, const TdUnit *u, const TdStmt *call) {
  TdEnv *env = TD_NEW(w->arena, TdEnv);
  *env = (TdEnv){.up = w->env, .unit = u, .root = td_prog_root(w->ask->prog), .call = call};
  const TdEnv *up = w->env;
  bool outermost = !w->top_uid;
  if (outermost) {
    w->top_uid = call->uid;
    w->top_origin = call->origin;
  }
  walk_arguments(w, call);
  end_leaf(w, call);
  w->env = env;
  if (returns_early(w, u->body))
    walk_region(w, u->body, walk_body);
  else
    walk_body(w, u->body);
  w->env = up;
  if (outermost) w->top_uid = w->top_origin = 0;
}

/* CALL: kernels, and externs with a model, are looked into. */
static void walk_call(TdWalk *w, const TdStmt *s) {
  const TdUnit *u = td_prog_unit(w->ask->prog, s->sym);
  bool pure = u && u->foreign && u->foreign->pure;
  if (u && u->kind == TD_UNIT_EXTERN && u->foreign->model)
    u = td_prog_unit(w->ask->prog, u->foreign->model);
  if (!w->flat && u && u->kind == TD_UNIT_KERNEL && w->out->at.n < MOST_INLINED)
    walk_callee(w, u, s);
  else
    walk_opaque_call(w, s, u, pure);
}

/* Whether s breaks out of the loop right around it. */
static bool holds_break(TdCtx *c, const TdStmt *s) {
  if (s->kind == TD_STMT_BREAK) return true;
  if (s->kind == TD_STMT_FOR || s->kind == TD_STMT_WHILE) return false;
  td_ctx_enter(c);
  bool found = false;
  for (uint32_t i = 0; !found && i < s->nkid; i++) found = holds_break(c, s->kid[i]);
  td_ctx_leave(c);
  return found;
}

/* What the header of s reads, as a leaf. */
static void walk_header(TdWalk *w, const TdStmt *s) {
  for (uint32_t i = 0; i < s->nexpr; i++) td_touch_value(w, s->expr[i], &scalar_elem);
  end_leaf(w, s);
}

/* The body of a FOR, one loop deeper. */
static void walk_loop_body(TdWalk *w, const TdStmt *s) {
  const TdNest *up = w->nest;
  TdNestMaker m = maker(w);
  w->nest = td_nest_loop(&m, up, s);
  walk(w, s->kid[0]);
  w->nest = up;
}

/* FOR: what its bounds read, then its body, opaque if it can be left early. */
static void walk_for(TdWalk *w, const TdStmt *s) {
  walk_header(w, s);
  if (holds_break(w->out->session->ctx, s->kid[0]))
    walk_region(w, s, walk_loop_body);
  else
    walk_loop_body(w, s);
}

/* WHILE, inside its region. */
static void walk_while(TdWalk *w, const TdStmt *s) {
  walk_header(w, s);
  walk(w, s->kid[0]);
}

/* IF: what its condition reads, then the arms under it. */
static void walk_if(TdWalk *w, const TdStmt *s) {
  walk_header(w, s);
  const TdNest *up = w->nest;
  TdNestMaker m = maker(w);
  for (uint32_t arm = 0; arm < s->nkid; arm++) {
    w->nest = td_nest_branch(&m, up, s->expr[0], arm == 0);
    walk(w, s->kid[arm]);
  }
  w->nest = up;
}

/* walk without the bound on recursion. */
static void walk_node(TdWalk *w, const TdStmt *s) {
  switch (s->kind) {
  case TD_STMT_FOR: walk_for(w, s); break;
  case TD_STMT_WHILE: walk_region(w, s, walk_while); break;
  case TD_STMT_IF: walk_if(w, s); break;
  case TD_STMT_LOCAL: walk_local(w, s); break;
  case TD_STMT_STORE:
  case TD_STMT_SET: walk_write(w, s); break;
  case TD_STMT_GET:
  case TD_STMT_SLOT: walk_get(w, s); break;
  case TD_STMT_PUT: walk_put(w, s); break;
  case TD_STMT_CALL: walk_call(w, s); break;
  case TD_STMT_BLOCK:
    for (uint32_t i = 0; i < s->nkid; i++) walk(w, s->kid[i]);
    break;
  case TD_STMT_BREAK:
  case TD_STMT_RETURN:
    if (w->region) put_leaf(w, s);
    break;
  default: break;
  }
}

/* The leaves of s and below, in source order. */
static void walk(TdWalk *w, const TdStmt *s) {
  td_ctx_enter(w->out->session->ctx);
  walk_node(w, s);
  td_ctx_leave(w->out->session->ctx);
}

TdSpace *td_access_space(TdArena *a) {
  TdSpace *s = TD_NEW(a, TdSpace);
  s->arena = a;
  return s;
}

/* Walks one root; one that can return is opaque. */
static void walk_root(TdWalk *w, const TdStmt *root) {
  const TdUnit *u = w->out->unit;
  bool is_body = u->body && root->uid == u->body->uid;
  if (is_body ? returns_early(w, root) : holds_return(w, root))
    walk_region(w, root, is_body ? walk_body : walk);
  else
    walk(w, root);
}

/* Both kinds of list. */
static TdLeaves *list(const TdAsk *q, TdSpace *space, const TdStmt *const *root, size_t n,
                      bool flat) {
  TdArena *a = space->arena;
  TdLeaves *out = TD_NEW(a, TdLeaves);
  size_t *start = TD_NEWN(a, size_t, n + 1);
  out->session = q->prog->store->session;
  out->space = space;
  out->unit = q->unit;
  out->start = start;
  TdEnv *env = TD_NEW(a, TdEnv);
  env->unit = q->unit;
  TdWalk w = {.ask = q, .arena = a, .out = out, .flat = flat, .env = env};
  w.nest = td_nest_top(space);
  for (size_t i = 0; i < n; i++) {
    walk_root(&w, root[i]);
    start[i + 1] = out->at.n;
  }
  return out;
}

TdLeaves *td_access_list(const TdAsk *q, TdSpace *space, const TdStmt *const *root, size_t n) {
  return list(q, space, root, n, false);
}

TdLeaves *td_access_list_flat(const TdAsk *q, TdSpace *space, const TdStmt *const *root, size_t n) {
  return list(q, space, root, n, true);
}
