/* design.c - the unit of a design: arguments, streams, runs, and the kernels of its tasks. */
#include "frontend/design.h"

#include <string.h>

#include "frontend/gen/irgen.h"

/* One attempt under way. */
typedef struct Builder {
  const TdDesignSpec *spec;
  TdIrgen l; /* for expressions in the builder's own text */
  TdSizes *sizes;
  TdUnits *units;
  TdDiag *d;
  TdUnit *unit;
  TD_VEC(const TdExpr *) facts; /* divisibility that layouts need */
} Builder;

/* `e` as it stands in the builder's text, if that has the value v; else the constant. */
static const TdExpr *named_value(Builder *b, const TdAstExpr *e, int64_t v) {
  const TdExpr *constant = td_expr_index(b->spec->session, b->l.arena, v, b->unit->loc);
  if (!e || e->kind == TD_AST_INT) return constant;
  if (e->kind == TD_AST_NAME) {
    const TdAstLocal *var = e->name.binding == TD_AST_IS_GLOBAL ? NULL : e->name.var;
    if (!td_sizes_candidate(b->sizes, e->name.id, var, v)) return constant;
    const TdExpr *s = td_expr_size(b->spec->session, b->l.arena, e->name.id, e->loc);
    td_sizes_use(b->sizes, s);
    return s;
  }
  TdDiag quiet = {.arena = b->d->arena};
  b->l.diag = &quiet;
  const TdExpr *r = td_irgen_size_from_source(&b->l, e);
  b->l.diag = b->d;
  int64_t have;
  if (!r || !td_sizes_value(b->sizes, r, &have) || have != v) return constant;
  td_sizes_use(b->sizes, r);
  return r;
}

/* Type t (constant extents) with the names that its text gives them. */
static const TdType *named_type(Builder *b, const TdType *t, const TdAstExpr *e) {
  if ((t->kind != TD_T_TENSOR && t->kind != TD_T_PORT) || !e) return t;
  const TdAstExpr *token = td_irgen_token_source(e, t->rank);
  const TdExpr *dim[TD_MAX_RANK];
  for (int d = t->rank - 1; d >= 0; d--) {
    int64_t v;
    bool indexed = e && e->kind == TD_AST_INDEX;
    dim[d] = td_expr_is_const(t->dim[d], &v) ? named_value(b, indexed ? e->index.key : NULL, v)
                                             : t->dim[d];
    e = indexed ? e->index.of : NULL;
  }
  TdSession *s = b->spec->session;
  if (t->kind == TD_T_TENSOR) return td_type_tensor(s, t->elem, t->rank, dim);
  return td_type_port(s, named_type(b, t->elem, token), t->rank, dim, t->block);
}

/* Entry number n (from 0) of the list part of a constructor, or the field `name`; NULL if the text
 * has none. */
static const TdAstExpr *table_entry(const TdAstExpr *t, size_t n, const char *name) {
  if (!t || t->kind != TD_AST_TABLE) return NULL;
  if (name) {
    const TdAstItem *item = td_context_item(t, name);
    return item ? item->value : NULL;
  }
  for (size_t i = 0, k = 0; i < t->table.n; i++)
    if (!t->table.at[i].name && !t->table.at[i].key && k++ == n) return t->table.at[i].value;
  return NULL;
}

static bool make_args(Builder *b) {
  const TdDesignSpec *s = b->spec;
  TdParam *p = TD_NEWN(b->l.arena, TdParam, s->narg);
  for (size_t i = 0; i < s->narg; i++) {
    TdSymKind kind = td_unit_param_kind(s->arg[i].type);
    p[i].type = named_type(b, s->arg[i].type, s->arg[i].source);
    p[i].sym = td_store_sym(b->units->store, s->arg[i].name, kind);
    p[i].loc = s->arg[i].loc;
    if (!td_irgen_marks(&b->l, p[i].loc.line, 'P', &p[i].attrs) ||
        !td_irgen_check_banks(&b->l, p[i].loc, p[i].attrs, p[i].type))
      return false;
  }
  b->unit->param = p;
  b->unit->nparam = s->narg;
  return true;
}

static bool make_streams(Builder *b) {
  const TdDesignSpec *s = b->spec;
  TdStream *st = TD_NEWN(b->l.arena, TdStream, s->nstream);
  for (size_t i = 0; i < s->nstream; i++) {
    const TdDesignStream *q = &s->stream[i];
    const TdExpr *dim[TD_MAX_RANK];
    for (int d = 0; d < q->type->rank; d++) {
      int64_t v;
      dim[d] = td_expr_is_const(q->type->dim[d], &v)
                   ? named_value(b, table_entry(q->options, (size_t)d, NULL), v)
                   : q->type->dim[d];
    }
    const TdType *token = named_type(b, q->type->elem, q->token);
    st[i].type = td_type_port(s->session, token, q->type->rank, dim, q->type->block);
    st[i].depth =
        q->of_sizes ? q->of_sizes : named_value(b, table_entry(q->options, 0, "depth"), q->depth);
    st[i].sym = td_store_sym(b->units->store, q->name, TD_SYM_STREAM);
    st[i].uid = td_store_uid(b->units->store);
    st[i].loc = q->loc;
    if (!td_irgen_marks(&b->l, q->loc.line, 'S', &st[i].attrs)) return false;
  }
  b->unit->stream = st;
  b->unit->nstream = s->nstream;
  return true;
}

/* "dim % parts == 0", now or as a fact; a layout needs whole blocks. */
static bool check_divides(Builder *b, const TdDesignBind *q, const TdExpr *dim, int64_t parts) {
  TdSession *ss = b->spec->session;
  const TdExpr *rest = td_lin_mod(ss, b->l.arena, dim, parts);
  int64_t v, n = 0;
  if (td_sizes_value(b->sizes, rest, &v) && v) {
    td_sizes_value(b->sizes, dim, &n);
    return td_diag_set(b->d, TD_ILLEGAL, "indivisible", q->loc,
                       "layout \"%s\" of '%s': %lld elements do not divide into %lld blocks",
                       q->layout, q->name, (long long)n, (long long)parts);
  }
  if (td_expr_is_const(rest, &v)) return true;
  const TdExpr *fact = td_expr_op2(b->l.arena, TD_OP_EQ, td_type_bool(ss), rest,
                                   td_expr_index(ss, b->l.arena, 0, q->loc));
  td_vec_push(b->l.arena, &b->facts, fact);
  return true;
}

/* The block of an argument that one instance sees under a layout; NULL on failure. */
static const TdType *local_type(Builder *b, const TdDesignTask *t, const TdExpr *const *map,
                                const TdDesignBind *q) {
  const TdType *full = b->unit->param[q->arg].type;
  if (!q->layout) return full;
  const TdExpr *dim[TD_MAX_RANK];
  const char *at = q->layout;
  for (int d = 0; d < full->rank; d++) {
    dim[d] = full->dim[d];
    if (*at++ != 'S') continue;
    int axis = *at++ - '0';
    if (axis >= t->rank) {
      td_diag_set(b->d, TD_USAGE, "layout", q->loc,
                  "layout \"%s\" of '%s' names axis %d; map has %d", q->layout, q->name, axis,
                  t->rank);
      return NULL;
    }
    td_sizes_pin(b->sizes, map[axis]);
    if (!check_divides(b, q, dim[d], t->map[axis])) return NULL;
    dim[d] = td_lin_floordiv(b->spec->session, b->l.arena, dim[d], t->map[axis]);
  }
  return td_type_tensor(b->spec->session, full->elem, full->rank, dim);
}

/* The kernel of a task, captured with local types. */
static const TdUnit *task_kernel(Builder *b, const TdDesignTask *t, const TdExpr *const *map) {
  TdCaptureParam *p = TD_NEWN(b->l.arena, TdCaptureParam, t->nbind);
  for (size_t i = 0; i < t->nbind; i++) {
    const TdType *local = local_type(b, t, map, &t->bind[i]);
    if (!local) return NULL;
    p[i] = (TdCaptureParam){.name = t->bind[i].name, .type = local, .loc = t->bind[i].loc};
  }
  TdCapture c = {.session = b->spec->session,
                 .host = b->spec->host,
                 .fn = t->fn,
                 .ast = t->ast,
                 .source = t->source,
                 .name = t->name,
                 .param = p,
                 .nparam = t->nbind,
                 .design = b->unit,
                 .line = t->ast == b->spec->ast ? t->loc.line : 0,
                 .max_coords = (size_t)t->rank,
                 .map = map};
  const TdUnit *u = td_capture_attempt(&c, b->sizes, b->units, b->d);
  if (!u || u->ncoord == 0 || u->ncoord == (size_t)t->rank) return u;
  td_diag_set(b->d, TD_USAGE, "task-ids", t->loc,
              "'%s' has %zu ids for a map of %d axes: none, or one for "
              "each",
              t->name, u->ncoord, t->rank);
  return NULL;
}

/* The symbol of the kernel's parameter called name. */
static TdSym param_named(const TdUnit *k, const char *name) {
  for (size_t i = 0; i < k->nparam; i++)
    if (strcmp(k->param[i].sym->name, name) == 0) return k->param[i].sym;
  return NULL;
}

static bool make_run(Builder *b, const TdDesignTask *t, TdRun *run) {
  const TdAstExpr *map_text = table_entry(t->table, 0, "map");
  run->rank = (uint8_t)t->rank;
  for (int d = 0; d < t->rank; d++)
    run->map[d] = named_value(b, table_entry(map_text, (size_t)d, NULL), t->map[d]);
  if (!td_irgen_marks(&b->l, t->loc.line, 'R', &run->attrs)) return false;
  const TdUnit *k = task_kernel(b, t, run->map);
  if (!k) return false;
  TdRunArg *bind = TD_NEWN(b->l.arena, TdRunArg, t->nbind);
  for (size_t i = 0; i < t->nbind; i++)
    bind[i] = (TdRunArg){.param = param_named(k, t->bind[i].name),
                         .arg = b->unit->param[t->bind[i].arg].sym,
                         .layout = t->bind[i].layout};
  run->bind = bind;
  run->nbind = t->nbind;
  run->unit = k->sym;
  run->sym = td_store_sym(b->units->store, t->name, TD_SYM_RUN);
  run->uid = td_store_uid(b->units->store);
  run->loc = t->loc;
  return true;
}

static bool make_runs(Builder *b) {
  TdRun *run = TD_NEWN(b->l.arena, TdRun, b->spec->ntask);
  for (size_t i = 0; i < b->spec->ntask; i++)
    if (!make_run(b, &b->spec->task[i], &run[i])) return false;
  b->unit->run = run;
  b->unit->nrun = b->spec->ntask;
  return true;
}

static bool is_assume(const TdAstStmt *s) {
  if (s->kind != TD_AST_EVAL || s->call->kind != TD_AST_CALL) return false;
  const TdAstExpr *f = s->call->call.callee;
  const char *name = f->kind == TD_AST_FIELD  ? f->field.key
                     : f->kind == TD_AST_NAME ? f->name.id
                                              : "";
  return strcmp(name, "assume") == 0;
}

/* tide.assume(...) of the builder's text, then what the layouts need. */
static bool make_asserts(Builder *b) {
  const TdAstBlock *body = &b->spec->source->body;
  TD_VEC(const TdExpr *) all = {0};
  for (size_t i = 0; i < body->n; i++)
    for (size_t k = 0; is_assume(body->at[i]) && k < body->at[i]->call->call.args.n; k++) {
      const TdExpr *e = td_irgen_assume(&b->l, body->at[i]->call->call.args.at[k]);
      if (!e) return false;
      if (e->kind != TD_EXPR_LIT) td_vec_push(b->l.arena, &all, e);
    }
  for (size_t i = 0; i < b->facts.n; i++) {
    bool known = false;
    for (size_t k = 0; k < all.n; k++) known |= td_equal_expr(all.at[k], b->facts.at[i]);
    if (!known) td_vec_push(b->l.arena, &all, b->facts.at[i]);
  }
  b->unit->assert_ = all.at;
  b->unit->nassert = all.n;
  return true;
}

/* Whether an argument or a stream is declared in a line. */
static bool is_interface(const TdDesignSpec *s, uint32_t line) {
  for (size_t i = 0; i < s->narg; i++)
    if (s->arg[i].loc.line == line) return true;
  for (size_t i = 0; i < s->nstream; i++)
    if (s->stream[i].loc.line == line) return true;
  return false;
}

/* Leaves the marks inside a task, and of data around it that it uses, to its kernel. */
static void leave_marks(Builder *b, const TdDesignTask *t) {
  td_irgen_drop_marks(&b->l, t->loc.line + 1, t->source->last_line_defined);
  for (size_t i = 0; i < t->source->upvals.n; i++) {
    uint32_t line = t->source->upvals.at[i]->loc.line;
    if (!is_interface(b->spec, line)) td_irgen_drop_marks(&b->l, line, line);
  }
}

/* Leaves the marks of tasks to their kernels, and keeps sizes from the names of arguments and
 * streams. */
static void prepare(Builder *b) {
  const TdDesignSpec *s = b->spec;
  for (size_t i = 0; i < s->ntask; i++)
    if (s->task[i].ast == s->ast) leave_marks(b, &s->task[i]);
  for (size_t i = 0; i < s->narg; i++) td_sizes_ban(b->sizes, s->arg[i].name);
  for (size_t i = 0; i < s->nstream; i++) td_sizes_ban(b->sizes, s->stream[i].name);
}

static const TdUnit *try_design(void *ud, TdSizes *z, TdUnits *units, TdDiag *d) {
  const TdDesignSpec *s = ud;
  TdArena *a = units->store->arena;
  Builder b = {.spec = s, .sizes = z, .units = units, .d = d, .unit = TD_NEW(a, TdUnit)};
  TdStmts nothing = {0};
  b.l = (TdIrgen){.session = s->session,
                  .store = units->store,
                  .arena = a,
                  .host = s->host,
                  .diag = d,
                  .sizes = z,
                  .units = units,
                  .out = &nothing};
  TdFrame frame = {.fn = s->builder, .ast = s->ast, .source = s->source};
  *b.unit = (TdUnit){.kind = TD_UNIT_DESIGN, .loc = s->source->loc};
  td_irgen_enter_fn(&b.l, &frame, s->source->line_defined);
  prepare(&b);
  if (!make_args(&b) || !make_streams(&b) || !make_runs(&b) || !make_asserts(&b)) return NULL;
  if (!td_irgen_marks(&b.l, s->source->last_line_defined, 'K', &b.unit->attrs)) return NULL;
  if (!td_irgen_check_marks(&b.l)) return NULL;
  b.unit->sym = td_units_name(units, s->name);
  b.unit->uid = td_store_uid(units->store);
  td_capture_list_sizes(z, s->session->ctx, b.unit);
  td_vec_push(a, &units->list, b.unit);
  return b.unit;
}

const TdUnit *td_design_capture(const TdDesignSpec *s, TdUnits *units, TdDiag *d) {
  return td_capture_settle(units, try_design, (void *)(uintptr_t)s, s->source->loc, d);
}
