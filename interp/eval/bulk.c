/* bulk.c - tensor expressions, element by element: what their expansion to loops would compute. */
#include "eval/machine.h"

/* An operand made ready: scalars evaluated, views resolved. */
typedef struct Operand Operand;
struct Operand {
  const TdExpr *e;
  const TdType *type; /* of an element */
  TdValue value;      /* of a scalar */
  TdView view;        /* of a tensor that lies in memory, else its memory is NULL */
  int64_t length;     /* MATMUL, REDUCE: iterations */
  Operand *kid[4];
};

/* A statement's target, which its operands may not overlap but element on element. */
typedef struct Bulk {
  TdTask *t;
  const TdView *target; /* or NULL */
} Bulk;

static Operand *prepare(const Bulk *b, const TdExpr *e, bool inner);
static bool set_all(TdTask *t, const TdView *target, const Operand *o, const TdLoc *loc);

/* Refuses an operand that meets the target elsewhere than at equal indices. */
static bool check_overlap(const Bulk *b, const Operand *o, bool inner) {
  if (!b->target || !td_memory_overlap(b->target, &o->view)) return true;
  if (!inner && td_memory_same_box(b->target, &o->view)) return true;
  return td_fault_set(b->t, "overlap", o->e->loc, TD_STMT_OVERLAP, o->view.memory->name.name);
}

/* Evaluates a tensor expression once, into memory that lives as long as the statement. */
static Operand *materialise(const Bulk *b, const TdExpr *e) {
  TdTask *t = b->t;
  TdMachine *m = t->machine;
  Operand *o = TD_NEW(m->scratch, Operand);
  const TdType *type = td_frame_type(m, t->frame->plan->unit, e->type, e->loc);
  int64_t count;
  if (!type || !td_type_count(type, &count) || !td_fault_room(m, count, e->loc)) return NULL;
  TdMemory *x = td_memory_new(m->scratch, type, "a temporary");
  *o = (Operand){.e = e, .type = x->elem, .view = td_memory_view(x)};
  Operand *from = prepare(b, e, true);
  return from && set_all(t, &o->view, from, &e->loc) ? o : NULL;
}

/* Length of dimension d of a tensor expression. */
static bool extent(TdTask *t, const TdExpr *e, int d, int64_t *n) {
  if (td_frame_value(t->frame->plan->unit, e->type->dim[d], n)) return true;
  return td_fault_set(t, "unbound-size", e->loc, "a size of this tensor has no value");
}

/* The kids of an operator, cast or tensor operator; false when one failed. */
static bool prepare_kids(const Bulk *b, Operand *o, bool inner) {
  const TdExpr *e = o->e;
  for (uint32_t i = 0; i < e->nkid; i++) {
    const TdExpr *k = e->kid[i];
    bool again = e->kind == TD_EXPR_TENSOR && e->op == TD_OP_MATMUL && k->kind != TD_EXPR_VIEW;
    o->kid[i] = again ? materialise(b, k) : prepare(b, k, inner || e->kind == TD_EXPR_TENSOR);
    if (!o->kid[i]) return false;
  }
  if (e->kind != TD_EXPR_TENSOR) return true;
  int axis = e->op == TD_OP_MATMUL ? e->kid[0]->type->rank - 1 : e->axis;
  return extent(b->t, e->kid[0], axis, &o->length);
}

/* Makes e ready; inner: below an operator that reads other elements than the one it makes. NULL: it
 * failed. */
static Operand *prepare(const Bulk *b, const TdExpr *e, bool inner) {
  TdTask *t = b->t;
  Operand *o = TD_NEW(t->machine->scratch, Operand);
  *o = (Operand){.e = e, .type = td_type_scalar(e->type)};
  if (e->kind == TD_EXPR_VIEW)
    return td_scalar_view(t, e, &o->view) && check_overlap(b, o, inner) ? o : NULL;
  if (e->kind == TD_EXPR_TENSOR && e->op == TD_OP_ALLREDUCE) {
    o->view = td_memory_view(td_meeting_result(t, e));
    return o;
  }
  if (e->kind != TD_EXPR_TENSOR && e->type->kind != TD_T_TENSOR) {
    o->value = td_scalar_eval(t, e);
    return td_value_is_defined(o->value) ? o : NULL;
  }
  return prepare_kids(b, o, inner) ? o : NULL;
}

TdValue td_bulk_start(int op) {
  return op == TD_OP_ADD ? td_value_of(0) : (TdValue){0, 0};
}

TdValue td_bulk_accumulate(TdTask *t, int op, const TdType *type, TdValue acc, TdValue x,
                           const TdType *of, TdLoc loc) {
  TdMachine *m = t->machine;
  if (of->kind == TD_T_FLOAT) {
    x = td_scalar_cast(t, type, of, x, loc);
    of = type;
  }
  if (!td_value_is_defined(acc)) return td_scalar_cast(t, type, of, x, loc);
  const TdType *both[] = {type, of};
  const TdValue v[] = {acc, x};
  const TdType *sum = td_promote_op(m->session, op, both, 2, loc, m->diag);
  if (!sum) {
    m->failed = true;
    return (TdValue){0, 0};
  }
  return td_scalar_cast(t, type, sum, td_scalar_apply(t, &(TdApply){op, 2, sum, both, v, loc}),
                        loc);
}

static TdValue element(TdTask *t, const Operand *o, const int64_t *index);

/* a * b of a matmul that accumulates in `type`; *of is its own type. */
static TdValue product(TdTask *t, const Operand *o, TdValue a, TdValue b, const TdType **of) {
  TdMachine *m = t->machine;
  TdLoc loc = o->e->loc;
  const TdType *both[] = {o->kid[0]->type, o->kid[1]->type};
  TdValue v[] = {a, b};
  for (int i = 0; i < 2 && o->type->kind == TD_T_FLOAT; i++) {
    v[i] = td_scalar_cast(t, o->type, both[i], v[i], loc);
    both[i] = o->type;
  }
  *of = td_promote_op(m->session, TD_OP_MUL, both, 2, loc, m->diag);
  m->failed |= !*of;
  if (m->failed) return (TdValue){0, 0};
  return td_scalar_apply(t, &(TdApply){TD_OP_MUL, 2, *of, both, v, loc});
}

/* Element `index` of a matmul: rows of the left by columns of the right, either may be a vector. */
static TdValue matmul(TdTask *t, const Operand *o, const int64_t *index) {
  int left = o->kid[0]->e->type->rank, right = o->kid[1]->e->type->rank;
  int64_t a[2] = {0}, b[2] = {0};
  if (left == 2) a[0] = index[0];
  if (right == 2) b[1] = index[left - 1];
  TdValue acc = td_bulk_start(TD_OP_ADD);
  for (int64_t k = 0; k < o->length && !t->machine->failed; k++) {
    a[left - 1] = b[0] = k;
    TdValue x = element(t, o->kid[0], a), y = element(t, o->kid[1], b);
    if (t->machine->failed || !td_fault_tick(t->machine, 1)) break;
    const TdType *of;
    x = product(t, o, x, y, &of);
    if (!t->machine->failed) acc = td_bulk_accumulate(t, TD_OP_ADD, o->type, acc, x, of, o->e->loc);
  }
  return acc;
}

/* Element `index` of a reduction along an axis of its operand. */
static TdValue reduce(TdTask *t, const Operand *o, const int64_t *index) {
  int64_t in[TD_MAX_RANK] = {0};
  int axis = o->e->axis, rank = o->e->kid[0]->type->rank;
  for (int d = 0; d < rank - 1; d++) in[d < axis ? d : d + 1] = index[d];
  TdValue acc = td_bulk_start(o->e->reduce);
  for (int64_t k = 0; k < o->length; k++) {
    in[axis] = k;
    TdValue x = element(t, o->kid[0], in);
    if (t->machine->failed || !td_fault_tick(t->machine, 1)) break;
    acc = td_bulk_accumulate(t, o->e->reduce, o->type, acc, x, o->kid[0]->type, o->e->loc);
  }
  return acc;
}

/* Element `index` of an operand. */
static TdValue element(TdTask *t, const Operand *o, const int64_t *index) {
  const TdExpr *e = o->e;
  if (o->view.memory)
    return td_memory_read(t, &o->view, td_memory_offset(&o->view, index), &e->loc);
  if (td_value_is_defined(o->value)) return o->value;
  if (e->kind == TD_EXPR_TENSOR)
    return e->op == TD_OP_MATMUL ? matmul(t, o, index) : reduce(t, o, index);
  TdValue v[4];
  const TdType *of[4];
  for (uint32_t i = 0; i < e->nkid; i++) {
    v[i] = element(t, o->kid[i], index);
    of[i] = o->kid[i]->type;
    if (t->machine->failed) return (TdValue){0, 0};
  }
  if (e->kind == TD_EXPR_CAST) return td_scalar_cast(t, o->type, of[0], v[0], e->loc);
  return td_scalar_apply(t, &(TdApply){e->op, (int)e->nkid, o->type, of, v, e->loc});
}

/* Writes every element of target. */
static bool set_all(TdTask *t, const TdView *target, const Operand *o, const TdLoc *loc) {
  int64_t index[TD_MAX_RANK] = {0};
  if (!td_memory_count(target)) return true;
  do {
    TdValue v = element(t, o, index);
    v = td_scalar_cast(t, target->memory->elem, o->type, v, *loc);
    if (t->machine->failed || !td_fault_tick(t->machine, 1)) return false;
    if (!td_memory_write(t, target, td_memory_offset(target, index), v, loc)) return false;
  } while (td_memory_next(target, index));
  return true;
}

bool td_bulk_set(TdTask *t, const TdView *target, const TdExpr *value, const TdLoc *loc) {
  TdArena *scratch = t->machine->scratch;
  TdMark mark = td_arena_mark(scratch);
  Bulk b = {t, target};
  const Operand *o = prepare(&b, value, false);
  bool ok = o && set_all(t, target, o, loc);
  td_arena_release(scratch, mark);
  return ok;
}

TdValue td_bulk_scalar(TdTask *t, const TdExpr *e) {
  TdArena *scratch = t->machine->scratch;
  TdMark mark = td_arena_mark(scratch);
  Bulk b = {t, NULL};
  const Operand *o = prepare(&b, e, false);
  int64_t none = 0;
  TdValue v = o ? element(t, o, &none) : (TdValue){0, 0};
  td_arena_release(scratch, mark);
  return v;
}
