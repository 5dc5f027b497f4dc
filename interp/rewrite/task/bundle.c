/* bundle.c - bundle: isomorphic instances become one that does their work in turn. Dato 4.2.
 */
#include <string.h>

#include "ir/text/printer.h"
#include "rewrite/task/split_instances.h"
#include "rewrite/task/isomorphic.h"
#include "rewrite/task/merge_tasks.h"

enum { TASK, AXIS, FACTOR };

/* Instances along an axis of a run's map that are to be one. */
typedef struct Bundle {
  TdMapping m;
  TdRewrite *r;
  const TdRun *run;
  const TdUnit *kernel;
  int axis;
  int64_t extent[TD_MAX_RANK];
  int64_t shots; /* instances in one: all of the axis, or a factor of it */
  TdSym shot;    /* the loop over them */
  TdSubst sub;
  TdUnit *unit; /* the new kernel */
  TdUnit *design;
  TdRun to;
} Bundle;

static bool refuse(const Bundle *b, TdDiagKind kind, const char *code, const char *why) {
  td_util_refuse(b->r, kind, code, b->run->loc, "'%s' %s", b->run->sym->name, why);
  return false;
}

/* Whether the axis leaves the ids. */
static bool is_whole(const Bundle *b) {
  return b->shots == b->extent[b->axis];
}

/* The axis, and how many instances along it become one. */
static bool choose(Bundle *b) {
  const TdArgValue *axis = &b->r->arg[AXIS], *factor = &b->r->arg[FACTOR];
  if (b->run->rank == 0) return refuse(b, TD_USAGE, "axis", "is a single instance");
  if (!axis->given && b->run->rank > 1) {
    refuse(b, TD_USAGE, "axis", "has several axes");
    td_diag_help(b->r->diag, "say which: bundle(\"%s\", {axis = 0})", b->run->sym->name);
    return false;
  }
  b->axis = axis->given ? (int)axis->integer : 0;
  if (axis->given && (axis->integer < 0 || axis->integer >= b->run->rank))
    return refuse(b, TD_USAGE, "axis",
                  td_text_fmt(b->r->arena, "has no axis %lld: its axes are 0 to %d",
                              (long long)axis->integer, b->run->rank - 1));
  td_mapping_extents(&b->m, b->run, b->extent);
  int64_t n = b->extent[b->axis];
  b->shots = factor->given ? factor->integer : n;
  if (b->shots >= 1 && n % b->shots == 0) return true;
  return refuse(b, TD_USAGE, "factor",
                td_text_fmt(b->r->arena,
                            "has %lld instances along axis %d: %lld of them do not "
                            "divide that",
                            (long long)n, b->axis, (long long)b->shots));
}

/* ---- legality ---- */

/* The nodes that become the one whose ids begin at `id`; false if they may not. */
static bool check_group(const Bundle *b, int64_t *id, bool *mark) {
  TdArena *a = b->r->arena;
  uint32_t *node = TD_NEWN(a, uint32_t, b->shots);
  size_t n = 0;
  int64_t first = id[b->axis];
  for (int64_t s = 0; s < b->shots; s++, id[b->axis]++) {
    uint32_t x = td_mapping_node(&b->m, b->run, id);
    if (x != TD_TRAFFIC_NONE) node[n++] = x;
  }
  id[b->axis] = first;
  if (n > 0 && n < (size_t)b->shots)
    return refuse(b, TD_ILLEGAL, "isomorphic",
                  td_text_fmt(a,
                              "is not isomorphic along axis %d: beside %s an instance does "
                              "nothing",
                              b->axis, td_graph_name(a, &b->m.graph, node[0])));
  for (size_t i = 1; i < n; i++)
    if (!td_isomorphic_nodes(&b->m, node[0], node[i])) return false;
  return td_isomorphic_apart(&b->m, node, n, mark);
}

/* Steps ids on to those of the next bundle; false at the end. */
static bool next_group(const Bundle *b, int64_t *id) {
  for (int d = b->run->rank; d-- > 0;) {
    id[d] += d == b->axis ? b->shots : 1;
    if (id[d] < b->extent[d]) return true;
    id[d] = 0;
  }
  return false;
}

static bool check_groups(const Bundle *b) {
  int64_t id[TD_MAX_RANK] = {0};
  bool *mark = TD_NEWN(b->r->arena, bool, b->m.graph.node.n);
  do {
    TdMark scratch = td_arena_mark(b->r->arena);
    if (!check_group(b, id, mark)) return false;
    td_arena_release(b->r->arena, scratch);
  } while (next_group(b, id));
  return true;
}

/* What a body may not hold. */
typedef struct Holds {
  const TdProg *prog;
  TdCtx *ctx;
  const char *what; /* "state", "allreduce" */
  TdLoc loc;
} Holds;

static bool look_expr(void *ud, const TdExpr *e) {
  Holds *h = ud;
  if (e->kind == TD_EXPR_TENSOR && e->op == TD_OP_ALLREDUCE) h->what = "allreduce", h->loc = e->loc;
  return !h->what;
}

/* Looks for a state in what is called. */
static bool look_callee(void *ud, const TdStmt *s) {
  Holds *h = ud;
  if (s->kind == TD_STMT_LOCAL && s->cls == TD_LOCAL_STATE) h->what = "state", h->loc = s->loc;
  const TdUnit *u = s->kind == TD_STMT_CALL ? td_prog_unit(h->prog, s->sym) : NULL;
  if (u && u->body) td_walk_stmt(h->ctx, u->body, look_callee, h);
  for (size_t i = 0; u && i < u->nrun; i++)
    td_walk_stmt(h->ctx, td_prog_unit(h->prog, u->run[i].unit)->body, look_callee, h);
  return !h->what;
}

static bool check_body(const Bundle *b) {
  const TdStmt *body = b->kernel->body;
  Holds h = {.prog = b->r->prog, .ctx = b->r->session->ctx};
  td_walk_exprs(h.ctx, body, look_expr, &h);
  for (uint32_t i = (uint32_t)td_stmt_preamble(body); i < body->nkid && !h.what; i++)
    td_walk_stmt(h.ctx, body->kid[i], look_callee, &h);
  if (h.what) {
    bool state = *h.what == 's';
    td_util_refuse(b->r, TD_UNSUPPORTED, h.what, h.loc,
                   state ? "what '%s' calls keeps a state, one for each instance"
                         : "the instances of '%s' meet in an allreduce",
                   b->run->sym->name);
    return false;
  }
  if (!td_mapping_returns(b->r, b->kernel)) return true;
  return refuse(b, TD_UNSUPPORTED, "return", "returns: the other shots would be lost");
}

/* ---- the new kernel ---- */

/* The layout without the axis, or NULL where no map is left. */
static const char *new_layout(const Bundle *b, const char *layout, int rank) {
  TdText t = td_text_new(b->r->arena);
  if (!layout || b->to.rank == 0) return NULL;
  for (int d = 0; d < rank; d++) {
    int axis = td_mapping_axis(layout, d);
    if (axis < 0 || (axis == b->axis && is_whole(b)))
      td_text_putc(&t, 'R');
    else
      td_text_putf(&t, "S%d", axis > b->axis && is_whole(b) ? axis - 1 : axis);
  }
  return td_names_str(b->r->session->names, td_text_str(&t));
}

/* The extent of a block when there are fewer instances, which must divide what is shared out. */
static const TdExpr *fewer_blocks(Bundle *b, const TdExpr *dim) {
  TdRewrite *r = b->r;
  TdArena *a = r->store->arena;
  int64_t parts = b->extent[b->axis] / b->shots, fixed;
  const TdExpr *rest = td_lin_mod(r->session, a, dim, parts);
  const TdExpr *none =
      td_expr_op2(a, TD_OP_EQ, td_type_bool(r->session), rest, td_util_const(r, 0));
  if (!td_expr_is_const(rest, &fixed)) {
    *b->design = *td_util_assume(r, b->design, none);
    r->used_value = true;
  }
  return td_lin_floordiv(r->session, a, dim, parts);
}

/* Parameter i comes with the blocks of all shots: what was a block is now a part of it. */
static void widen(Bundle *b, size_t i, TdRunArg *bind) {
  TdRewrite *r = b->r;
  TdArena *a = r->store->arena;
  TdParam *p = (TdParam *)(uintptr_t)&b->unit->param[i];
  const TdType *full = td_unit_param(b->m.design, bind->arg)->type, *old = p->type;
  const TdExpr *lo[TD_MAX_RANK], *dim[TD_MAX_RANK];
  TdViewDim view[TD_MAX_RANK];
  for (int d = 0; d < old->rank; d++) {
    bool along = td_mapping_axis(bind->layout, d) == b->axis;
    view[d] = (TdViewDim){1, d};
    lo[d] = td_util_const(r, 0);
    dim[d] = old->dim[d];
    if (!along) continue;
    lo[d] = td_lin_times(r->session, a, td_util_var(r, b->shot),
                         td_mapping_block(&b->m, b->kernel, old->dim[d], b->design));
    dim[d] = is_whole(b) ? full->dim[d] : fewer_blocks(b, full->dim[d]);
  }
  p->type = td_type_tensor(r->session, old->elem, old->rank, dim);
  p->sym = td_store_sym(r->store, p->sym->name, (TdSymKind)p->sym->kind);
  td_subst_view(&b->sub, bind->param, td_expr_view(a, p->sym, old, lo, view, old->rank, p->loc));
  bind->param = p->sym;
}

/* Whether all instances along the axis hold one block, which they change: bind says of what. */
static bool shares_changes(const TdRunArg *bind, const TdEffect *e, size_t n) {
  const TdEffect *x = td_effects_find(e, n, bind->param);
  return bind->layout && x && x->write && x->read;
}

/* Parameters as all shots see them. */
static bool bind_params(Bundle *b) {
  TdRewrite *r = b->r;
  TdAsk q = td_util_ask(r, b->kernel);
  const TdEffect *e;
  size_t n = td_effects_of(&q, b->kernel->body, &e);
  TdRunArg *bind = td_arena_copy(r->store->arena, b->run->bind, b->run->nbind * sizeof *bind);
  b->unit->param =
      td_arena_copy(r->store->arena, b->kernel->param, b->kernel->nparam * sizeof(TdParam));
  for (size_t i = 0; i < b->run->nbind; i++) {
    size_t k = (size_t)(td_unit_param(b->kernel, bind[i].param) - b->kernel->param);
    const TdType *t = b->kernel->param[k].type;
    int rank = t->kind == TD_T_TENSOR ? t->rank : 0;
    bool along = false;
    for (int d = 0; d < rank; d++) along |= td_mapping_axis(bind[i].layout, d) == b->axis;
    if (!along && shares_changes(&bind[i], e, n))
      return refuse(b, TD_ILLEGAL, "copies",
                    td_text_fmt(r->arena,
                                "changes '%s', of which its instances along axis %d have "
                                "a copy each",
                                bind[i].param->name, b->axis));
    if (along) widen(b, k, &bind[i]);
    bind[i].layout = new_layout(b, bind[i].layout, rank);
  }
  b->to.bind = bind;
  return true;
}

/* The id that shot number `shot` has along the axis. */
static const TdExpr *id_of_shot(const Bundle *b, TdSym coord) {
  TdRewrite *r = b->r;
  const TdExpr *shot = td_util_var(r, b->shot);
  if (is_whole(b) || !coord) return shot;
  TdArena *a = r->store->arena;
  return td_lin_plus(r->session, a, td_lin_times(r->session, a, td_util_var(r, coord), b->shots),
                     shot);
}

/* Coordinates, and the variable of the loop over the shots. */
static void set_coords(Bundle *b) {
  TdRewrite *r = b->r;
  const TdUnit *k = b->kernel;
  TdSym *coord = TD_NEWN(r->store->arena, TdSym, k->ncoord + 1);
  TdSym old = k->ncoord ? k->coord[b->axis] : NULL;
  const char *stem = !old          ? "shot"
                     : is_whole(b) ? old->name
                                   : td_text_fmt(r->arena, "%s_i", old->name);
  const char *name = old && is_whole(b) ? stem : td_util_name(r, k, NULL, stem);
  b->shot = td_store_sym(r->store, name, TD_SYM_LOOP);
  b->unit->ncoord = 0;
  for (size_t i = 0; i < k->ncoord; i++)
    if (k->coord[i] != old || !is_whole(b)) coord[b->unit->ncoord++] = k->coord[i];
  b->unit->coord = coord;
  if (!old) return;
  TdSym kept = old;
  if (!is_whole(b)) {
    kept = td_store_sym(r->store, old->name, TD_SYM_COORD);
    coord[b->axis] = kept;
  }
  td_subst_expr(&b->sub, old, id_of_shot(b, kept));
}

/* A state with one more dimension in front, for the shots. */
static const TdStmt *widen_state(Bundle *b, const TdStmt *s) {
  TdRewrite *r = b->r;
  TdArena *a = r->store->arena;
  const TdType *t = s->blob->type;
  const TdExpr *dim[TD_MAX_RANK + 1], *lo[TD_MAX_RANK + 1];
  TdViewDim view[TD_MAX_RANK + 1];
  dim[0] = td_util_const(r, b->shots);
  lo[0] = td_util_var(r, b->shot);
  view[0] = (TdViewDim){1, -1};
  for (int d = 0; d < t->rank; d++) {
    dim[d + 1] = t->dim[d];
    lo[d + 1] = td_util_const(r, 0);
    view[d + 1] = (TdViewDim){1, d};
  }
  TdBlob *blob = TD_NEW(a, TdBlob);
  *blob = (TdBlob){td_type_tensor(r->session, t->elem, t->rank + 1, dim), s->blob->count * b->shots,
                   NULL};
  size_t bytes = (size_t)s->blob->count * td_type_bytes(td_type_scalar(t));
  char *data = TD_NEWN(a, char, bytes *(size_t)b->shots);
  for (int64_t i = 0; i < b->shots; i++) memcpy(data + (size_t)i * bytes, s->blob->data, bytes);
  blob->data = data;
  TdSym sym = td_store_sym(r->store, s->sym->name, TD_SYM_LOCAL);
  td_subst_view(&b->sub, s->sym, td_expr_view(a, sym, s->type, lo, view, t->rank + 1, s->loc));
  const TdStmt *wide = td_stmt_data(r->store, sym, TD_LOCAL_STATE, blob, s->loc);
  return td_stmt_with_attrs(r->store, wide, s->attrs);
}

/* The body in a loop over the shots, behind the constants and states. */
static bool make_body(Bundle *b) {
  TdRewrite *r = b->r;
  const TdStmt *body = b->kernel->body;
  size_t data = td_stmt_preamble(body);
  const TdStmt **list = TD_NEWN(r->arena, const TdStmt *, data + 1);
  for (size_t i = 0; i < data; i++) {
    list[i] = body->kid[i];
    if (list[i]->cls != TD_LOCAL_STATE) continue;
    if (list[i]->blob->type->rank == TD_MAX_RANK)
      return refuse(b, TD_LIMIT, "state", "keeps a state with too many dimensions");
    list[i] = widen_state(b, list[i]);
  }
  const TdStmt *rest = td_edit_slice(r->store, body, data, body->nkid);
  const TdExpr *hi = is_whole(b) ? b->run->map[b->axis] : td_util_const(r, b->shots);
  list[data] = td_stmt_for(r->store, b->shot, td_util_const(r, 0), hi, 1,
                           td_subst_in_stmt(&b->sub, rest), body->loc);
  b->unit->body = td_stmt_with_kids(r->store, body, list, data + 1);
  return true;
}

/* The run without the axis, or with fewer instances along it. */
static void set_run(Bundle *b) {
  b->to = *b->run;
  if (!is_whole(b)) {
    int64_t n = td_mapping_block(&b->m, b->m.design, b->run->map[b->axis], b->design);
    b->to.map[b->axis] = td_util_const(b->r, n / b->shots);
    return;
  }
  b->to.rank--;
  for (int d = b->axis; d < b->to.rank; d++) b->to.map[d] = b->run->map[d + 1];
}

static const TdProg *put(Bundle *b) {
  TdRewrite *r = b->r;
  TdRun *run = td_arena_copy(r->store->arena, b->m.design->run, b->m.design->nrun * sizeof *run);
  run[b->run - b->m.design->run] = b->to;
  b->design->run = run;
  const TdUnit *kernel = td_lift_tidy(r, b->unit);
  const TdProg *p = td_mapping_put(&b->m, b->design, &kernel, 1);
  if (td_mapping_end(&b->m, p) != TD_MAPPING_UNKNOWN) return p;
  refuse(b, TD_ILLEGAL, "not-decided",
         "has its order decided by data: taking turns might block it");
  return NULL;
}

static const TdProg *apply_axis(TdRewrite *r, const char *task) {
  Bundle b = {.r = r};
  b.run = td_mapping_open(r, task, &b.m);
  if (!b.run) return NULL;
  b.kernel = td_mapping_kernel(&b.m, b.run);
  if (!b.kernel || !choose(&b) || !check_body(&b) || !check_groups(&b)) return NULL;
  b.sub = td_subst_new(r->store);
  b.unit = td_unit_copy(r->store, b.kernel);
  b.design = td_unit_copy(r->store, b.m.design);
  set_run(&b);
  set_coords(&b);
  if (!bind_params(&b) || !make_body(&b)) return NULL;
  td_mapping_join_sizes(&b.m, b.unit);
  td_util_made(r, b.run->sym->name);
  return put(&b);
}

/* ---- lists ---- */

/* What a list names: instances of tasks, or tasks whose instances pair up by their ids. */
typedef struct List {
  TdRewrite *r;
  TdMapping m;
  const char *const *spec;
  size_t n;
  const TdRun **run; /* of each */
  bool whole;        /* tasks of several instances each */
} List;

static bool refuse_list(const List *l, size_t i, const char *code, const char *why) {
  td_util_refuse(l->r, TD_USAGE, code, l->run[i]->loc, "'%s' %s", l->spec[i], why);
  return false;
}

/* Finds the tasks; those with a map go together with others of equal extents. */
static bool find_tasks(List *l) {
  TdRewrite *r = l->r;
  int64_t first[TD_MAX_RANK], extent[TD_MAX_RANK];
  l->run = TD_NEWN(r->arena, const TdRun *, l->n);
  l->run[0] = td_mapping_open(r, td_split_instances_task(r->arena, l->spec[0]), &l->m);
  for (size_t i = 1; i < l->n && l->run[i - 1]; i++)
    l->run[i] = td_mapping_task(&l->m, td_split_instances_task(r->arena, l->spec[i]));
  if (!l->run[l->n - 1]) return false;
  l->whole = l->run[0]->rank > 0 && !td_split_instances_is_instance(l->spec[0]);
  td_mapping_extents(&l->m, l->run[0], first);
  for (size_t i = 0; i < l->n; i++) {
    const TdRun *x = l->run[i];
    bool same = x->rank == l->run[0]->rank;
    if (l->whole != (x->rank > 0 && !td_split_instances_is_instance(l->spec[i])))
      return refuse_list(l, i, "list", "is not beside what has as many instances");
    td_mapping_extents(&l->m, x, extent);
    for (int d = 0; same && d < x->rank; d++) same = extent[d] == first[d];
    if (l->whole && !same) return refuse_list(l, i, "list", "has another map than the first");
    for (size_t k = 0; l->whole && k < i; k++)
      if (l->run[k] == x) return refuse_list(l, i, "list", "is there twice");
  }
  return true;
}

/* Whether n nodes may be one. */
static bool check_nodes(const List *l, const uint32_t *node, size_t n, bool *mark) {
  for (size_t i = 0; i < n; i++) {
    if (node[i] == TD_TRAFFIC_NONE) {
      td_util_refuse(l->r, TD_ILLEGAL, "isomorphic", l->run[0]->loc,
                     "an instance in the list does nothing");
      return false;
    }
    for (size_t k = 0; k < i; k++)
      if (node[i] == node[k]) return refuse_list(l, 0, "list", "names an instance twice");
    if (i && !td_isomorphic_nodes(&l->m, node[0], node[i])) return false;
  }
  return td_isomorphic_apart(&l->m, node, n, mark);
}

/* Whether instances of equal ids of all tasks may be one. */
static bool check_tasks(const List *l) {
  int64_t extent[TD_MAX_RANK], id[TD_MAX_RANK] = {0};
  int64_t count = td_mapping_extents(&l->m, l->run[0], extent);
  bool *mark = TD_NEWN(l->r->arena, bool, l->m.graph.node.n + 1);
  uint32_t *node = TD_NEWN(l->r->arena, uint32_t, l->n);
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i;
    for (int d = l->run[0]->rank; d-- > 0; rest /= extent[d]) id[d] = rest % extent[d];
    for (size_t k = 0; k < l->n; k++) node[k] = td_mapping_node(&l->m, l->run[k], id);
    if (!check_nodes(l, node, l->n, mark)) return false;
  }
  return true;
}

/* Whether the instances may be one; lists them. */
static bool check_instances(const List *l, TdFamilies *all) {
  for (size_t i = 0; i < l->n; i++)
    if (!td_split_instances_parse(&l->m, l->spec[i], all)) return false;
  uint32_t *node = TD_NEWN(l->r->arena, uint32_t, all->n);
  for (size_t i = 0; i < all->n; i++)
    node[i] = td_mapping_node(&l->m, td_mapping_task(&l->m, all->at[i].task), all->at[i].base);
  return check_nodes(l, node, all->n, TD_NEWN(l->r->arena, bool, l->m.graph.node.n + 1));
}

/* The program in which the first of n tasks does the work of all, one after the other. */
static const TdProg *in_sequence(TdRewrite *r, const char *const *task, size_t n) {
  TdMapping m;
  if (n == 1) return r->prog;
  for (size_t i = 1; i < n; i++) {
    TdSequence q = {.m = &m, .first = td_mapping_open(r, task[0], &m)};
    q.second = q.first ? td_mapping_task(&m, task[i]) : NULL;
    if (!q.second || !td_merge_tasks_check(&q)) return NULL;
    r->prog = td_merge_tasks_put(&q);
    r->naming = (TdNaming){0};
  }
  if (td_mapping_end(&m, r->prog) != TD_MAPPING_UNKNOWN) return r->prog;
  return td_util_refuse(r, TD_ILLEGAL, "not-decided", m.design->loc,
                        "data decides the order of '%s': taking turns might block it", task[0]);
}

/* The instances as one: neighbours in a loop over their ids, others one after the other. */
static const TdProg *apply_instances(List *l, const TdFamilies *all) {
  TdRewrite *r = l->r;
  TdFamily f;
  bool row = td_split_instances_join(&l->m, all, &f);
  if (row && l->run[0]->rank == 1 && td_mapping_extents(&l->m, l->run[0], (int64_t[1]){0}) == f.n)
    return apply_axis(r, f.task);
  const char **task = TD_NEWN(r->arena, const char *, all->n);
  if (row) {
    task[0] = td_split_instances_peel(r, &f);
    return task[0] ? apply_axis(r, task[0]) : NULL;
  }
  for (size_t i = 0; i < all->n; i++)
    if (!(task[i] = td_split_instances_peel(r, &all->at[i]))) return NULL;
  td_util_made(r, task[0]);
  return in_sequence(r, task, all->n);
}

static const TdProg *apply_list(TdRewrite *r) {
  List l = {.r = r, .spec = r->arg[TASK].names, .n = r->arg[TASK].n};
  TdFamilies all = {0};
  TdLoc none = {0};
  if (r->arg[AXIS].given || r->arg[FACTOR].given)
    return td_util_refuse(r, TD_USAGE, "axis", none, "a list has no axis");
  if (!find_tasks(&l) || (l.whole && !check_tasks(&l))) return NULL;
  if (!l.whole) return check_instances(&l, &all) ? apply_instances(&l, &all) : NULL;
  td_util_made(r, l.spec[0]);
  return in_sequence(r, l.spec, l.n);
}

static const TdProg *apply(TdRewrite *r) {
  const TdArgValue *v = &r->arg[TASK];
  TdLoc none = {0};
  if (v->n == 0) return td_util_refuse(r, TD_USAGE, "list", none, "a list names at least one task");
  bool one = v->n == 1 && !td_split_instances_is_instance(v->names[0]);
  return one ? apply_axis(r, v->names[0]) : apply_list(r);
}

const TdPrim td_prim_bundle = {
    .name = "bundle",
    .on = "task",
    .summary = "Let one instance do the work of isomorphic ones, in turn.",
    .args = {{"task", TD_ARG_NAMES, TD_ARG_NEEDED, "a task, or a list of tasks or instances",
              "task|instance"},
             {"axis", TD_ARG_INT, TD_ARG_OPTION, "the axis of its map that leaves the ids", NULL},
             {"factor", TD_ARG_INT, TD_ARG_OPTION,
              "only so many neighbours along the axis become one, which stays; all by default; 1 "
              "changes "
              "no instance, as a split by 1 no iteration",
              NULL}},
    .rewrite =
        "task mm, map {P, Q}: S(i, j)  =>  task mm, map {P}: for j = 0, Q - 1 do S(i, j) end",
    .legal = "the instances do the same statements and move as many tokens of each declared "
             "stream; no path of streams leads from one to another; the design still runs to its "
             "end",
    .errors = "not-a-design no-task ambiguous-task instance list shared axis factor isomorphic "
              "interface path "
              "state allreduce "
              "return copies not-decided deadlock open",
    .example = "s:unfold(\"PE\"); s:bundle(\"PE\", {axis = 1})",
    .apply = apply,
};
