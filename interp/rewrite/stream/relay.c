/* relay.c - relay: an array becomes a stream, between stages or along an axis of a task. */
#include <string.h>

#include "rewrite/stream/relay.h"

enum { ARRAY, CONSUMER, DEPTH, AXIS, BACK, NAME, KEEP };

const TdExpr *td_relay_end(TdRewrite *r, TdSym stream, const TdType *token,
                           const TdExpr *const *index, int n, TdLoc loc) {
  TdViewDim dim[TD_MAX_RANK];
  for (int d = 0; d < n; d++) dim[d] = (TdViewDim){.step = 1, .out = -1};
  const TdType *t = td_type_port(r->session, token, 0, NULL, false);
  return td_expr_view(r->store->arena, stream, t, index, dim, n, loc);
}

TdStream td_relay_stream(const TdRelay *q, const TdUnit *u, TdSym like, const TdType *token,
                         int rank, const TdExpr *const *dim) {
  TdRewrite *r = q->r;
  const char *name = td_edit_fresh_name(r->store, u, like->name);
  td_util_made(r, name);
  TdStream s = {.sym = td_store_sym(r->store, name, TD_SYM_STREAM),
                .uid = td_store_uid(r->store),
                .type = td_type_port(r->session, token, rank, dim, false),
                .depth = td_util_const(r, q->depth)};
  return s;
}

/* The unit that reads the array, or else a loop; then q->array.unit is where that stands. */
static bool find_consumer(TdRelay *q) {
  TdRewrite *r = q->r;
  TdPlace *band;
  size_t n;
  const char *spec = r->arg[CONSUMER].text;
  TdDiag quiet = {.arena = r->arena};
  if (td_cursor_unit(r->arena, r->prog, spec, &q->to, &quiet)) return true;
  if (!td_cursor_band(r->arena, r->prog, spec, &band, &n, r->diag)) return false;
  q->loop = band[0].stmt;
  q->array.unit = band[0].unit;
  return true;
}

/* A parameter stands for the array passed to it, where the consumer is called. */
static bool find_passed(TdRelay *q) {
  const TdProg *p = q->r->prog;
  for (size_t i = 0; i < p->nunit; i++) {
    const TdStmt *call = p->unit[i]->body ? td_lift_call(q->r, p->unit[i]->body, q->to->sym) : NULL;
    if (!call) continue;
    const TdExpr *arg = call->expr[td_unit_param(q->to, q->array.sym) - q->to->param];
    if (arg->kind != TD_EXPR_VIEW) {
      td_util_refuse(q->r, TD_USAGE, "not-an-array", arg->loc, "'%s' is passed a scalar",
                     q->array.sym->name);
      return false;
    }
    return td_cursor_array(q->r->arena, p, arg->sym->name, p->unit[i], &q->array, q->r->diag);
  }
  return true;
}

/* An array that a design hands over as a whole. */
typedef struct Handed {
  const TdUnit *design, *from, *to;
  TdSym stream;
} Handed;

/* Whether a run stands for the consumer: it is that kernel, or calls it, or holds the loop. */
static bool is_task_of(const TdRelay *q, const TdRun *run, const TdUnit *task) {
  TdSym who = q->to ? q->to->sym : q->array.unit->sym;
  return run->unit == who || (task->body && td_lift_calls(q->r, task->body, who));
}

/* The block stream from which `task` gets an array of that name, or NULL. */
static TdSym got_from(const TdUnit *task, const char *name) {
  for (uint32_t i = 0; task->body && i < task->body->nkid; i++) {
    const TdStmt *s = task->body->kid[i];
    if (s->kind == TD_STMT_GET && s->sym && strcmp(s->sym->name, name) == 0 &&
        s->type->kind == TD_T_TENSOR)
      return s->expr[0]->sym;
  }
  return NULL;
}

/* The task of a design that takes slots of a stream. */
static const TdUnit *filler_of(const TdRelay *q, const TdUnit *design, TdSym stream) {
  for (size_t i = 0; i < design->nrun; i++) {
    const TdUnit *u = td_prog_unit(q->r->prog, design->run[i].unit);
    for (uint32_t k = 0; u->body && k < u->body->nkid && !design->run[i].rank; k++) {
      const TdStmt *s = u->body->kid[k];
      if (s->kind == TD_STMT_SLOT && s->expr[0]->sym == stream) return u;
    }
  }
  return NULL;
}

/* Whether the array is one that a task of a design hands to the consumer as a whole. */
static bool find_handed(const TdRelay *q, Handed *h) {
  const TdProg *p = q->r->prog;
  const char *name = q->r->arg[ARRAY].text;
  for (size_t i = 0; i < p->nunit; i++) {
    h->design = p->unit[i];
    for (size_t k = 0; k < h->design->nrun; k++) {
      const TdRun *run = &h->design->run[k];
      h->to = td_prog_unit(p, run->unit);
      h->stream = !run->rank && is_task_of(q, run, h->to) ? got_from(h->to, name) : NULL;
      if (h->stream && (h->from = filler_of(q, h->design, h->stream))) return true;
    }
  }
  return false;
}

static const TdProg *apply(TdRewrite *r) {
  TdRelay q = {.r = r, .depth = 2, .axis = -1};
  TdLoc none = {0};
  Handed h;
  if (!td_lift_check_name(r, &r->arg[NAME]) || !find_consumer(&q)) return NULL;
  if (r->arg[DEPTH].given) q.depth = r->arg[DEPTH].integer;
  if (r->arg[AXIS].given) q.axis = r->arg[AXIS].integer;
  q.apart = r->arg[AXIS].given && q.axis == -1;
  q.back = r->arg[BACK].integer;
  q.name = r->arg[NAME].text;
  static const int64_t no_axis = -1;
  q.keep = r->arg[KEEP].n || !r->arg[KEEP].given ? r->arg[KEEP].ints : &no_axis;
  q.nkeep = r->arg[KEEP].n;
  if (q.depth < 1)
    return td_util_refuse(r, TD_USAGE, "depth", none, "a stream holds at least 1 token, not %lld",
                          (long long)q.depth);
  if (q.axis < 0 && !q.apart && find_handed(&q, &h))
    return td_relay_token(&q, h.design, h.stream, h.from, h.to);
  const TdUnit *beside = q.to ? q.to : q.array.unit;
  if (!td_cursor_array(r->arena, r->prog, r->arg[ARRAY].text, beside, &q.array, r->diag))
    return NULL;
  if (q.to && q.array.unit == q.to && !q.array.stmt && !find_passed(&q)) return NULL;
  bool along = q.to && (q.axis >= 0 || q.apart || td_prog_is_task(r->prog, q.to->sym));
  return along ? td_relay_axis(&q) : td_relay_stage(&q);
}

const TdPrim td_prim_relay = {
    .name = "relay",
    .on = "array",
    .summary = "Send the elements of an array through a stream instead.",
    .args = {{"array", TD_ARG_ARRAY, TD_ARG_NEEDED,
              "a local array between two stages, or a buffer of a task", "local"},
             {"consumer", TD_ARG_UNIT, TD_ARG_NEEDED, "the stage or task that reads it", NULL},
             {"depth", TD_ARG_INT, TD_ARG_OPTION, "tokens that the stream holds; 2", NULL},
             {"axis", TD_ARG_INT, TD_ARG_OPTION,
              "the axis of the task's map to go along; -1: none, each instance has its own", NULL},
             {"back", TD_ARG_FLAG, TD_ARG_OPTION, "from its last instance to its first", NULL},
             {"name", TD_ARG_NAME, TD_ARG_OPTION, "name of the task that feeds or drains", NULL},
             {"map", TD_ARG_INTS, TD_ARG_OPTION,
              "the axes which that task has too; others are its innermost loops; all by default",
              NULL}},
    .rewrite = "C[i][j] = x; .. ; y = C[i][j]  =>  C:put(x) in one task, y = C:get() in the next;  "
               "along an axis: A_j[k] = A[i][k]  =>  A_j[k] = A_j[i][j]:get(); "
               "A_j[i][j + 1]:put(A_j[k]), fed by a task of its own",
    .legal = "between stages: each element is written once and then read once (reads of it that "
             "are adjacent count as one), in the same order, each side in one place or in several "
             "that take their turns. Along an axis: the buffer is copied "
             "from (or to) an argument in places and under conditions that no data decides, and "
             "nothing else touches that argument",
    .errors =
        "depth axis not-an-array not-a-task not-a-buffer access layout shared order stage elements "
        "deadlock name",
    .example = "s:buffer_at(\"A\", \"j\"); s:unfold(\"PE\"); s:relay(\"A_j\", \"PE\", {axis = 1})",
    .apply = apply,
};
