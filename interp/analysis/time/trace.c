/* trace.c - statements and expressions laid out, loops unrolled, calls followed. */
#include "analysis/time/trace.h"

#include "analysis/range/range.h"

/* Nodes of one trace: what a pipelined loop can hold, with all inside it side by side. */
enum { MOST_NODES = 1 << 20, ALL_BITS = TD_MAX_BITS };

static bool lay(TdTrace *t, const TdStmt *s);

static bool is_tensor(const TdExpr *e) {
  return e->type->kind == TD_T_TENSOR;
}

/* Whether a value of type t is a whole number, so that it can be a column. */
static bool is_whole(const TdType *t) {
  return td_type_is_integer(t) || t->kind == TD_T_INDEX || t->kind == TD_T_BOOL;
}

/* Looks for the loop of a variable. */
typedef struct LoopOf {
  TdSym sym;
  const TdStmt *loop;
} LoopOf;
static bool is_other_loop(void *ud, const TdStmt *s) {
  LoopOf *l = ud;
  if (s->kind == TD_STMT_FOR && s->sym == l->sym) l->loop = s;
  return !l->loop;
}

/* What the scalar e, or element `at` of the tensor e, is worth; of which `want` bits matter. */
static TdTraceValue trace_value(TdTrace *t, const TdExpr *e, int want, const TdTraceValue *at);

/* Notes whether an expression reads memory. */
static bool is_load(void *ud, const TdExpr *e) {
  bool *found = ud;
  *found |= e->kind == TD_EXPR_LOAD;
  return !*found;
}

/* The variable of a loop around the trace, whose iterations `stride` apart count. Its bounds are
 * read once, so a first index that data decides is a number of its own. */
static TdTraceValue counted(TdTrace *t, const TdStmt *loop, int64_t stride) {
  TdColumn c = {.kind = loop == t->loop ? TD_COLUMN_STEPS : TD_COLUMN_STILL, .loop = loop};
  bool data = false;
  td_walk_expr(td_for_lo(loop), is_load, &data);
  TdAff lo = data ? td_trace_column(t, td_for_lo(loop), (TdColumn){.low = loop}).form
                  : td_trace_form(t, trace_value(t, td_for_lo(loop), ALL_BITS, NULL));
  TdAff n = td_trace_column(t, loop, c).form;
  return (TdTraceValue){.affine = true, .form = td_sys_plus(t->arena, lo, stride, n)};
}

/* A loop variable, coordinate or scalar parameter from outside. */
static TdTraceValue symbol(TdTrace *t, TdSym sym, const TdType *type) {
  TdTraceBound *b = td_map_getp(&t->bound, sym);
  if (b) return b->value;
  LoopOf l = {.sym = sym};
  if (sym->kind == TD_SYM_LOOP)
    td_walk_stmt(t->session->ctx, t->ask->unit->body, is_other_loop, &l);
  if (l.loop) return counted(t, l.loop, l.loop->step);
  if (!is_whole(type)) return td_trace_parameter(t, sym, type);
  return td_trace_column(t, sym, (TdColumn){.sym = sym});
}

/* Has a symbol stand for a value. */
static void bind_value(TdTrace *t, TdSym sym, TdTraceValue v) {
  TdTraceBound *b = TD_NEW(t->arena, TdTraceBound);
  b->value = v;
  td_map_putp(t->arena, &t->bound, sym, b);
}

/* The index vector of a LOAD, or of element `at` of a VIEW, as forms of its array. */
static TdPlaced *place_of(TdTrace *t, const TdExpr *e, TdCellKind kind, const TdTraceValue *at,
                          TdAff *forms) {
  TdTraceValue x[TD_MAX_RANK] = {{0}};
  TdTraceBound *b = td_trace_array(t, e->sym, kind);
  for (uint32_t d = 0; d < e->nkid && d < TD_MAX_RANK; d++) {
    x[d] = trace_value(t, e->kid[d], ALL_BITS, NULL);
    if (e->kind != TD_EXPR_VIEW || e->u.dim[d].out < 0 || !at) continue;
    TdAff lo = td_trace_form(t, x[d]), i = td_trace_form(t, at[e->u.dim[d].out]);
    x[d] = (TdTraceValue){.affine = true, .form = td_sys_plus(t->arena, lo, e->u.dim[d].step, i)};
  }
  td_trace_address(t, b, x, forms);
  return b->array;
}

/* sum op x, or a product: values of the types of three expressions. */
static TdTraceValue combine(TdTrace *t, TdOp op, const TdExpr *to, const TdExpr *a, TdTraceValue x,
                            const TdExpr *b, TdTraceValue y) {
  const TdExpr *kid[] = {td_expr_lit(t->arena, td_type_scalar(a->type), 0, a->loc),
                         td_expr_lit(t->arena, td_type_scalar(b->type), 0, b->loc)};
  const TdType *type = td_type_scalar(to->type);
  const TdExpr *e = td_expr_op(t->arena, op, type, kid, 2, to->loc);
  return td_trace_op(t, e, type->w, (TdTraceValue[]){x, y});
}

/* Element `at` of matmul or of a reduction along an axis: its terms in order. */
static TdTraceValue contraction(TdTrace *t, const TdExpr *e, const TdTraceValue *at) {
  const TdExpr *x = e->kid[0], *y = e->nkid > 1 ? e->kid[1] : NULL;
  int axis = y ? x->type->rank - 1 : e->axis, rank = is_tensor(e) ? e->type->rank : 0;
  int64_t n = 0;
  td_unit_value(t->unit, x->type->dim[axis], &n);
  TdOp op = y ? TD_OP_ADD : (TdOp)e->reduce;
  TdTraceValue sum = {0};
  for (int64_t k = 0; k < n && t->flow.node.n < MOST_NODES; k++) {
    TdTraceValue left[TD_MAX_RANK], right[TD_MAX_RANK] = {td_trace_const(k)};
    for (int d = 0, from = 0; d < x->type->rank; d++)
      left[d] = d == axis ? td_trace_const(k) : at[from++];
    if (rank) right[1] = at[rank - 1];
    TdTraceValue v = trace_value(t, x, ALL_BITS, left);
    if (y) v = combine(t, TD_OP_MUL, e, x, v, y, trace_value(t, y, ALL_BITS, right));
    sum = k ? combine(t, op, e, e, sum, y ? e : x, v)
            : td_trace_first_term(t, op, td_type_scalar(e->type), v);
  }
  return sum;
}

/* An operator or a cast, on elements where its kids are tensors. */
static TdTraceValue operation(TdTrace *t, const TdExpr *e, int want, const TdTraceValue *at) {
  TdTraceValue x[4] = {{0}};
  bool cast = e->kind == TD_EXPR_CAST;
  const TdType *to = td_type_scalar(e->type);
  bool cuts = cast && td_type_is_integer(to) && !to->saturate;
  int below = cuts                              ? (to->w < want ? to->w : want)
              : !cast && td_ops[e->op].commutes ? want
                                                : ALL_BITS;
  for (uint32_t i = 0; i < e->nkid && i < 4; i++)
    x[i] = trace_value(t, e->kid[i], below, is_tensor(e->kid[i]) ? at : NULL);
  return cast ? td_trace_cast(t, e, x[0]) : td_trace_op(t, e, want, x);
}

/* trace_value without the bound on recursion. */
static TdTraceValue value_node(TdTrace *t, const TdExpr *e, int want, const TdTraceValue *at) {
  TdAff forms[TD_MAX_RANK];
  int64_t v;
  switch (e->kind) {
  case TD_EXPR_LIT: return td_trace_literal(t, e->type, e->u.bits);
  case TD_EXPR_SIZE: return td_trace_const(td_unit_value(t->unit, e, &v) ? v : 0);
  case TD_EXPR_VAR: return symbol(t, e->sym, e->type);
  case TD_EXPR_LOAD:
  case TD_EXPR_VIEW: {
    TdPlaced *p = place_of(t, e, TD_CELL_MEMORY, at, forms);
    return td_trace_load(t, p, forms);
  }
  case TD_EXPR_TENSOR:
    if (e->op != TD_OP_ALLREDUCE) return contraction(t, e, at);
    return trace_value(t, e->kid[0], want, at);
  default: return operation(t, e, want, at);
  }
}

static TdTraceValue trace_value(TdTrace *t, const TdExpr *e, int want, const TdTraceValue *at) {
  td_ctx_enter(t->session->ctx);
  TdTraceValue v = value_node(t, e, want, at);
  td_ctx_leave(t->session->ctx);
  return v;
}

/* Element `at` of the target of a STORE or SET gets its value. */
static void write_element(TdTrace *t, const TdExpr *place, const TdExpr *value,
                          const TdTraceValue *at) {
  TdAff forms[TD_MAX_RANK];
  const TdType *type = td_type_scalar(place->type);
  TdTraceValue v = trace_value(t, value, type->w, is_tensor(value) ? at : NULL);
  TdPlaced *p = place_of(t, place, TD_CELL_MEMORY, at, forms);
  td_trace_store(t, p, forms, v, type);
}

/* Moves an index vector on over a tensor of type t; false at the end. */
static bool next_element(TdTrace *t, const TdType *type, int64_t *index) {
  for (int d = type->rank; d-- > 0;) {
    int64_t n;
    if (td_unit_value(t->unit, type->dim[d], &n) && ++index[d] < n) return true;
    index[d] = 0;
  }
  return false;
}

/* All elements of the target of a SET, or of a local with a tensor as its value. */
static void write_all(TdTrace *t, const TdExpr *place, const TdExpr *value) {
  int64_t index[TD_MAX_RANK] = {0};
  do {
    TdTraceValue at[TD_MAX_RANK];
    for (int d = 0; d < place->type->rank; d++) at[d] = td_trace_const(index[d]);
    write_element(t, place, value, at);
  } while (t->flow.node.n < MOST_NODES && next_element(t, place->type, index));
}

/* LOCAL: new storage; constants and states are there from outside. */
static void lay_local(TdTrace *t, const TdStmt *s) {
  if (s->cls != TD_LOCAL_AUTO) return;
  TdTraceValue v = {0};
  bool whole = s->init != TD_INIT_NONE && !is_tensor(s->expr[0]);
  if (whole) v = trace_value(t, s->expr[0], td_type_scalar(s->type)->w, NULL);
  TdTraceBound *b = td_trace_declare(t, s->sym, s->type, s);
  if (whole && b->rank) {
    td_trace_fill(t, b->array, v, false);
  } else if (whole) {
    td_trace_store(t, b->array, b->lo, v, s->type);
  } else if (s->init != TD_INIT_NONE) {
    write_all(t, td_expr_whole(t->session, t->arena, s->sym, s->type, s->loc), s->expr[0]);
  }
}

/* Cycles that a token takes on its stream; a port that a network gave a kernel has its marks. */
static int64_t beats_of(TdTrace *t, const TdExpr *stream, const TdType *token) {
  const TdStream *s = NULL;
  const TdParam *port = td_unit_param(t->unit, stream->sym);
  if (stream->type->kind == TD_T_PORT && stream->type->block) return 1;
  if (port && td_attrs_get(port->attrs, TD_ATTR_MIN_DEPTH))
    return td_unit_beats(t->unit, port->attrs, token);
  for (size_t i = 0; i < t->ask->prog->nunit && !s; i++)
    s = td_unit_stream(t->ask->prog->unit[i], stream->sym);
  return s ? td_unit_beats(t->unit, s->attrs, token) : 1;
}

/* Whether a view is as large as its array. */
static bool is_as_large(const TdTrace *t, const TdExpr *view, const TdPlaced *p) {
  int64_t n;
  bool whole = view->type->rank == p->rank;
  for (int d = 0; whole && d < p->rank; d++)
    whole = td_unit_value(t->unit, view->type->dim[d], &n) && n == p->extent[d];
  return whole;
}

/* A token into a tensor, or a part of one; where it may hold something else, element by element. */
static void write_token(TdTrace *t, const TdExpr *view, TdTraceValue v) {
  TdAff forms[TD_MAX_RANK];
  int64_t index[TD_MAX_RANK] = {0};
  TdPlaced *p = place_of(t, view, TD_CELL_MEMORY, NULL, forms);
  if (is_as_large(t, view, p) && !(t->guard && p->fresh && p->filled)) {
    td_trace_fill(t, p, v, true);
    return;
  }
  TdPlaced *token = td_arena_copy(t->arena, p, sizeof *p);
  token->rank = view->type->rank;
  for (int d = 0; d < token->rank; d++)
    td_unit_value(t->unit, view->type->dim[d], &token->extent[d]);
  do {
    TdTraceValue at[TD_MAX_RANK];
    TdAff *of = TD_NEWN(t->arena, TdAff, TD_MAX_RANK);
    for (int d = 0; d < view->type->rank; d++) {
      at[d] = td_trace_const(index[d]);
      of[d] = at[d].form;
    }
    p = place_of(t, view, TD_CELL_MEMORY, at, forms);
    td_trace_store(t, p, forms, td_trace_element(t, token, v, of), td_type_scalar(view->type));
  } while (t->flow.node.n < MOST_NODES && next_element(t, view->type, index));
}

/* GET and SLOT: a token, and where it goes. A buffer is memory that is there once it was got. */
static void lay_get(TdTrace *t, const TdStmt *s) {
  TdAff forms[TD_MAX_RANK];
  bool slot = s->kind == TD_STMT_SLOT;
  TdPlaced *p = place_of(t, s->expr[0], slot ? TD_CELL_PUT : TD_CELL_GET, NULL, forms);
  const TdType *token = s->expr[0]->type->kind == TD_T_PORT ? s->expr[0]->type->elem : s->type;
  int64_t beats = token && !slot ? beats_of(t, s->expr[0], token) : 1;
  TdTokenKind kind = slot ? TD_TOKEN_SLOT : TD_TOKEN_GET;
  TdTraceValue v = td_trace_token(t, p, kind, forms, beats, (TdTraceValue){0});
  if (s->sym && s->type->kind == TD_T_TENSOR && s->expr[0]->type->block) {
    td_trace_take(td_trace_declare(t, s->sym, s->type, s)->array, v.node);
  } else if (s->nexpr > 1) {
    TdPlaced *to = place_of(t, s->expr[1], TD_CELL_MEMORY, NULL, forms);
    if (to->rank == 0 || s->expr[1]->kind == TD_EXPR_LOAD)
      td_trace_store(t, to, forms, v, td_type_scalar(s->expr[1]->type));
    else
      write_token(t, s->expr[1], v);
  } else if (s->sym) {
    TdTraceBound *b = td_trace_declare(t, s->sym, s->type, s);
    b->array->handed = s->expr[0]->type->block;
    if (b->rank)
      td_trace_fill(t, b->array, v, true);
    else
      td_trace_store(t, b->array, b->lo, v, s->type);
  }
}

static int64_t count_elements(const TdTrace *t, const TdType *type) {
  int64_t n = 1, extent;
  for (int d = 0; d < type->rank; d++)
    if (td_unit_value(t->unit, type->dim[d], &extent)) n *= extent;
  return n;
}

/* The token of a PUT, after its value. */
static void put_token(TdTrace *t, const TdStmt *s, TdTraceValue v) {
  TdAff forms[TD_MAX_RANK];
  int64_t beats = beats_of(t, s->expr[0], s->expr[1]->type);
  TdPlaced *p = place_of(t, s->expr[0], TD_CELL_PUT, NULL, forms);
  td_trace_token(t, p, TD_TOKEN_PUT, forms, beats, v);
  if (s->expr[0]->type->block) td_trace_hand(t, s->expr[1]->sym);
}

/* Reads all of a view at once outside of pipelined loops; false: that cannot be. */
static bool drain(TdTrace *t, const TdExpr *view, TdTraceValue *v) {
  TdAff forms[TD_MAX_RANK];
  if (view->kind != TD_EXPR_VIEW || t->loop) return false;
  return td_trace_drain(t, place_of(t, view, TD_CELL_MEMORY, NULL, forms), view, v);
}

/* Whether elements take turns at a memory: the target has ports, or what is reached so far has a
 * width of its own. */
static bool takes_turns(const TdTrace *t) {
  bool narrow = t->target->ports;
  for (size_t i = 0; i < t->placed.n; i++) narrow |= t->placed.at[i]->bytes > 0;
  return narrow;
}

/* PUT: the value, or all elements of a tensor, and a token. Where elements take no turns they take
 * no time, so one stands for all. */
static void lay_put(TdTrace *t, const TdStmt *s) {
  const TdExpr *e = s->expr[1];
  TdTraceValue v = {0};
  int64_t index[TD_MAX_RANK] = {0}, multiplies = t->multiplies;
  TdReach all = {0};
  bool more = is_tensor(e) && !s->expr[0]->type->block && !drain(t, e, &v);
  if (!is_tensor(e)) v = trace_value(t, e, ALL_BITS, NULL);
  while (more && t->flow.node.n < MOST_NODES) {
    TdTraceValue at[TD_MAX_RANK];
    for (int d = 0; d < e->type->rank; d++) at[d] = td_trace_const(index[d]);
    v = trace_value(t, e, ALL_BITS, at);
    td_vec_push(t->arena, &all.element, v);
    bool each = takes_turns(t);
    more = each && next_element(t, e->type, index);
    if (!each)
      t->multiplies = multiplies + (t->multiplies - multiplies) * count_elements(t, e->type);
  }
  put_token(t, s, v);
  td_trace_compose(t, all.element.at, all.element.n);
}

/* The part of an array or stream that a view passes. */
static TdTraceBound *bind_view(TdTrace *t, const TdExpr *view, TdCellKind kind) {
  TdTraceBound *of = td_trace_array(t, view->sym, kind), *b = TD_NEW(t->arena, TdTraceBound);
  TdAff *lo = TD_NEWN(t->arena, TdAff, TD_MAX_RANK);
  TdViewDim *dim = TD_NEWN(t->arena, TdViewDim, TD_MAX_RANK);
  for (int d = 0; d < of->rank; d++) {
    int at = of->dim[d].out;
    lo[d] = of->lo[d];
    dim[d] = (TdViewDim){0, -1};
    if (at < 0 || (uint32_t)at >= view->nkid) continue;
    TdAff x = td_trace_form(t, trace_value(t, view->kid[at], ALL_BITS, NULL));
    lo[d] = td_sys_plus(t->arena, lo[d], of->dim[d].step, x);
    const TdViewDim *v = &view->u.dim[at];
    if (v->out >= 0) dim[d] = (TdViewDim){of->dim[d].step * v->step, v->out};
  }
  *b = (TdTraceBound){.array = of->array, .rank = of->rank, .lo = lo, .dim = dim};
  return b;
}

/* Has the parameters of u stand for the arguments of a call. */
static void bind_arguments(TdTrace *t, const TdUnit *u, const TdStmt *call) {
  for (uint32_t i = 0; i < call->nexpr && i < u->nparam; i++) {
    const TdExpr *e = call->expr[i];
    TdSym param = u->param[i].sym;
    if (e->kind != TD_EXPR_VIEW) {
      bind_value(t, param, trace_value(t, e, ALL_BITS, NULL));
    } else if (e->type->kind != TD_T_PORT) {
      td_trace_bind(t, param, TD_CELL_MEMORY, bind_view(t, e, TD_CELL_MEMORY));
    } else {
      td_trace_bind(t, param, TD_CELL_GET, bind_view(t, e, TD_CELL_GET));
      td_trace_bind(t, param, TD_CELL_PUT, bind_view(t, e, TD_CELL_PUT));
    }
  }
}

/* A call of foreign code: one operation, after what is passed and before what is read then. */
static void lay_foreign(TdTrace *t, const TdStmt *s, const TdAttr *cost) {
  TdOperator op = {.key = s->sym->name, .interval = 1};
  if (cost) {
    op.interval = cost->arg[0].i;
    op.stages = (int32_t)cost->arg[1].i;
    op.dsp = cost->arg[2].i;
  }
  uint32_t *after = TD_NEWN(t->arena, uint32_t, s->nexpr + 1);
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (s->expr[i]->kind != TD_EXPR_VIEW)
      after[i] = td_trace_source(t, trace_value(t, s->expr[i], ALL_BITS, NULL));
  after[s->nexpr] = t->guard;
  uint32_t node = td_flow_add(&t->flow, (TdFlowNode){.stages = op.stages}, after, s->nexpr + 1);
  for (uint32_t i = 0; i < s->nexpr; i++)
    if (s->expr[i]->kind == TD_EXPR_VIEW && s->expr[i]->type->kind != TD_T_PORT)
      td_trace_forget(td_trace_array(t, s->expr[i]->sym, TD_CELL_MEMORY)->array,
                      td_trace_node(node));
  td_vec_push(t->arena, &t->op, ((TdTraceOp){op, node, s}));
}

/* A call: arguments bound, the body of the callee laid out. */
static bool lay_call(TdTrace *t, const TdStmt *s) {
  const TdUnit *u = td_prog_unit(t->ask->prog, s->sym), *caller = t->unit;
  const TdAttr *cost = u ? td_attrs_get(u->attrs, TD_ATTR_COST) : NULL;
  if (u && u->kind == TD_UNIT_EXTERN && !cost && u->foreign->model)
    u = td_prog_unit(t->ask->prog, u->foreign->model);
  if (!u || u->kind != TD_UNIT_KERNEL) {
    lay_foreign(t, s, cost);
    return true;
  }
  bind_arguments(t, u, s);
  TdTraceLeft broken = t->broken, returned = t->returned;
  uint32_t guard = t->guard;
  t->unit = u;
  t->broken = t->returned = (TdTraceLeft){0};
  size_t mark = td_trace_mark(t, s, 0);
  bool ok = lay(t, u->body);
  td_trace_unmark(t, mark);
  t->unit = caller;
  t->guard = guard;
  t->broken = broken;
  t->returned = returned;
  return ok;
}

/* Statements one after the other. */
static bool lay_block(TdTrace *t, const TdStmt *s) {
  uint32_t outer = t->guard, broken = t->broken.when, returned = t->returned.when;
  bool ok = true;
  for (uint32_t i = 0; ok && i < s->nkid && td_trace_goes_on(t); i++) {
    if (t->broken.when != broken || t->returned.when != returned) {
      t->guard = td_trace_rest(t, outer);
      broken = t->broken.when;
      returned = t->returned.when;
    }
    ok = lay(t, s->kid[i]);
  }
  t->guard = outer;
  return ok;
}

/* FOR: as many bodies as it can have iterations. */
static bool lay_for(TdTrace *t, const TdStmt *s) {
  TdAsk q = *t->ask;
  int64_t n, least;
  q.unit = t->unit;
  const TdExpr *gap = td_lin_minus(t->session, t->arena, td_for_hi(s), td_for_lo(s));
  if (!td_range_of(&q, s, gap, &least, &n))
    return td_diag_set(t->diag, TD_UNSUPPORTED, "trip-unknown", s->loc,
                       "'%s' has to be laid out, but may run any number of times", s->sym->name);
  TdAff lo = td_trace_form(t, trace_value(t, td_for_lo(s), ALL_BITS, NULL));
  TdTraceLeft broken = t->broken;
  uint32_t outer = t->guard;
  t->broken = (TdTraceLeft){0};
  for (int64_t i = 0; i < n && td_trace_goes_on(t); i += s->step) {
    t->guard = td_trace_rest(t, outer);
    TdAff v = td_sys_plus(t->arena, lo, 1, td_sys_const(i));
    bind_value(t, s->sym, (TdTraceValue){.affine = true, .form = v});
    size_t mark = td_trace_mark(t, s, i / s->step);
    if (!lay(t, td_for_body(s))) return false;
    td_trace_unmark(t, mark);
  }
  t->guard = outer;
  t->broken = broken;
  return true;
}

/* IF: one arm if it is known which, else both under their condition. */
static bool lay_if(TdTrace *t, const TdStmt *s) {
  TdTraceValue v = trace_value(t, s->expr[0], 1, NULL);
  int64_t c;
  if (v.affine && td_sys_is_const(v.form, &c)) {
    uint32_t arm = c ? 0 : 1;
    return arm >= s->nkid || lay(t, s->kid[arm]);
  }
  uint32_t outer = t->guard, is = v.node, number = ++t->conditions;
  TdFlowArm *arms = TD_NEWN(t->arena, TdFlowArm, s->nkid);
  const TdFlowArm *within = t->arm;
  if (v.affine) {
    TdTraceCell cell = {.what = TD_TRACE_CONVERT, .n = 1, .type = td_type_bool(t->session)};
    cell.bits = 1;
    cell.x[0] = v;
    td_trace_note(t, is = td_flow_add(&t->flow, (TdFlowNode){0}, NULL, 0), cell);
  }
  bool ok = true;
  for (uint32_t arm = 0; ok && arm < s->nkid; arm++) {
    uint32_t own = arm ? td_trace_condition(t, TD_TRACE_NOT, is, 0) : is;
    t->guard = outer ? td_trace_condition(t, TD_TRACE_BOTH, outer, own) : own;
    arms[arm] = (TdFlowArm){within, number, arm};
    t->arm = &arms[arm];
    ok = lay(t, s->kid[arm]);
  }
  t->guard = outer;
  t->arm = within;
  return ok;
}

/* lay without the bound on recursion. */
static bool lay_node(TdTrace *t, const TdStmt *s) {
  switch (s->kind) {
  case TD_STMT_FOR: return lay_for(t, s);
  case TD_STMT_IF: return lay_if(t, s);
  case TD_STMT_CALL: return lay_call(t, s);
  case TD_STMT_LOCAL: lay_local(t, s); break;
  case TD_STMT_STORE: write_element(t, s->expr[0], s->expr[1], NULL); break;
  case TD_STMT_SET: write_all(t, s->expr[0], s->expr[1]); break;
  case TD_STMT_GET:
  case TD_STMT_SLOT: lay_get(t, s); break;
  case TD_STMT_PUT: lay_put(t, s); break;
  case TD_STMT_WHILE:
    return td_diag_set(t->diag, TD_UNSUPPORTED, "trip-unknown", s->loc,
                       "a while loop cannot be laid out side by side");
  case TD_STMT_BLOCK: return lay_block(t, s);
  case TD_STMT_BREAK: td_trace_leave(t, &t->broken); break;
  case TD_STMT_RETURN: td_trace_leave(t, &t->returned); break;
  default: break;
  }
  return true;
}

/* Lays out s and all below it, after what was laid out before. */
static bool lay(TdTrace *t, const TdStmt *s) {
  const TdStmt *outer = t->stmt;
  if (t->flow.node.n >= MOST_NODES)
    return td_diag_set(t->diag, TD_LIMIT, "too-many-copies", s->loc,
                       "more than %d operations would lie side by side here", MOST_NODES);
  td_ctx_enter(t->session->ctx);
  t->stmt = s;
  bool ok = lay_node(t, s);
  t->stmt = outer;
  td_ctx_leave(t->session->ctx);
  return ok;
}

/* An empty trace. */
static void begin(TdTrace *t, const TdAsk *q, const TdTarget *target, TdDiag *d) {
  *t = (TdTrace){.ask = q, .target = target, .arena = q->arena, .unit = q->unit, .diag = d};
  t->session = q->prog->store->session;
  t->space = td_access_space(t->arena);
  t->flow = td_flow_new(t->arena, target->usable);
}

bool td_trace_of(const TdAsk *q, const TdTarget *target, TdTraced what, TdTrace *t, TdDiag *d) {
  const TdStmt *loop = what.loop;
  begin(t, q, target, d);
  t->loop = loop;
  t->stride = loop ? loop->step * what.lanes : 0;
  TdTraceValue v = loop ? counted(t, loop, t->stride) : (TdTraceValue){0};
  bool ok = true;
  for (int64_t i = 0; ok && i < what.lanes; i++) {
    if (loop) {
      TdAff at = td_sys_plus(t->arena, v.form, 1, td_sys_const(i * loop->step));
      bind_value(t, loop->sym, (TdTraceValue){.affine = true, .form = at});
    }
    size_t mark = i ? td_trace_mark(t, loop, i) : 0;
    for (size_t k = 0; ok && k < what.n && td_trace_goes_on(t); k++) {
      t->guard = td_trace_rest(t, 0);
      ok = lay(t, what.s[k]);
    }
    t->guard = 0;
    if (i) td_trace_unmark(t, mark);
  }
  return ok;
}

bool td_trace_of_element(const TdAsk *q, const TdTarget *target, const TdStmt *s, TdTrace *t,
                         TdDiag *d) {
  begin(t, q, target, d);
  t->stmt = s;
  bool local = s->kind == TD_STMT_LOCAL, put = s->kind == TD_STMT_PUT;
  const TdExpr *place =
      local ? td_expr_whole(t->session, t->arena, s->sym, s->type, s->loc) : s->expr[put];
  TdTraceValue at[TD_MAX_RANK];
  for (int k = 0; k < place->type->rank; k++)
    at[k] = td_trace_column(t, td_arena_alloc(t->arena, 1), (TdColumn){0});
  if (put)
    td_vec_push(t->arena, &t->result, trace_value(t, place, ALL_BITS, at));
  else
    write_element(t, place, s->expr[local ? 0 : 1], at);
  return t->flow.node.n < MOST_NODES ||
         td_diag_set(d, TD_LIMIT, "too-many-copies", s->loc, "a sum of too many terms");
}

bool td_trace_of_token(const TdAsk *q, const TdTarget *target, const TdStmt *s, TdTrace *t,
                       TdDiag *d) {
  begin(t, q, target, d);
  t->stmt = s;
  put_token(t, s, (TdTraceValue){0});
  return true;
}

bool td_trace_of_tests(const TdAsk *q, const TdTarget *target, const TdStmt *s, TdTrace *t,
                       TdDiag *d) {
  begin(t, q, target, d);
  t->stmt = s;
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const TdExpr *e = s->expr[i];
    bool view = s->kind == TD_STMT_CALL && e->kind == TD_EXPR_VIEW;
    if (view && e->type->kind == TD_T_TENSOR) td_trace_array(t, e->sym, TD_CELL_MEMORY);
    for (uint32_t k = 0; view && k < e->nkid; k++)
      td_vec_push(t->arena, &t->result, trace_value(t, e->kid[k], ALL_BITS, NULL));
    if (!view) td_vec_push(t->arena, &t->result, trace_value(t, e, ALL_BITS, NULL));
  }
  return t->flow.node.n < MOST_NODES ||
         td_diag_set(d, TD_LIMIT, "too-many-copies", s->loc, "a sum of too many terms");
}

const TdPlaced *td_trace_storage(const TdAsk *q, const TdTarget *target, const TdStmt *decl) {
  TdTrace *t = TD_NEW(q->arena, TdTrace);
  TdDiag none = {.arena = q->arena};
  begin(t, q, target, &none);
  return td_trace_declare(t, decl->sym, decl->type, decl)->array;
}
