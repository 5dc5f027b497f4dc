/* capture.c - from a Lua function and its parameter types to a kernel; starts again when a name
 * proves not to be a size. */
#include "frontend/capture.h"

#include <string.h>

#include "frontend/gen/irgen.h"
#include "ir/size_use.h"

#define MAX_ATTEMPTS 64

/* One extent of a parameter's type as its source has it; the constant when the text is not affine
 * in known names. */
static const TdExpr *extent_from_source(TdIrgen *l, const TdAstExpr *e, const TdExpr *value) {
  int64_t want, v;
  if (!td_expr_is_const(value, &want)) return value;
  if (e->kind == TD_AST_NAME) {
    const TdAstLocal *var = e->name.binding == TD_AST_IS_GLOBAL ? NULL : e->name.var;
    TdSizeEntry *s = td_sizes_candidate(l->sizes, e->name.id, var, want);
    if (!s) return value;
    s->used = true;
    return td_expr_size(l->session, l->arena, e->name.id, e->loc);
  }
  if (e->kind == TD_AST_INT) return value;
  TdDiag quiet = {.arena = l->diag->arena}, *diag = l->diag;
  l->diag = &quiet;
  const TdExpr *r = td_irgen_size_from_source(l, e);
  l->diag = diag;
  if (!r || !td_sizes_value(l->sizes, r, &v) || v != want) return value;
  td_sizes_use(l->sizes, r);
  return r;
}

/* The type of a parameter with the names of its extents. Its source is `T[a][b]..`, extents from
 * the inside out, where T may be a stream of such a type. */
static const TdType *type_from_source(TdIrgen *l, const TdType *t, const TdAstExpr *e) {
  if ((t->kind != TD_T_TENSOR && t->kind != TD_T_PORT) || !e) return t;
  const TdAstExpr *token = td_irgen_token_source(e, t->rank);
  const TdExpr *dim[TD_MAX_RANK];
  for (int d = 0; d < t->rank; d++) dim[d] = t->dim[d];
  for (int d = t->rank - 1; d >= 0 && e->kind == TD_AST_INDEX; d--, e = e->index.of)
    dim[d] = extent_from_source(l, e->index.key, dim[d]);
  if (t->kind == TD_T_TENSOR) return td_type_tensor(l->session, t->elem, t->rank, dim);
  return td_type_port(l->session, type_from_source(l, t->elem, token), t->rank, dim, t->block);
}

/* Makes sizes of the names that are whole extents of parameters, so that other extents may be
 * written with them. */
static void note_whole_extents(TdIrgen *l, const TdType *t, const TdAstExpr *e) {
  if ((t->kind != TD_T_TENSOR && t->kind != TD_T_PORT) || !e) return;
  if (t->kind == TD_T_PORT) note_whole_extents(l, t->elem, td_irgen_token_source(e, t->rank));
  for (int d = t->rank; d-- > 0 && e->kind == TD_AST_INDEX; e = e->index.of)
    if (e->index.key->kind == TD_AST_NAME) extent_from_source(l, e->index.key, t->dim[d]);
}

/* The sizes that a parameter's type mentions are in use; those without value are new. */
static bool note_dim_size(void *ud, const TdExpr *e) {
  if (e->kind == TD_EXPR_SIZE) td_sizes_unknown(ud, e->u.name)->used = true;
  return true;
}

static void note_sizes(TdIrgen *l, const TdType *t) {
  if (t->kind != TD_T_TENSOR && t->kind != TD_T_PORT) return;
  for (int d = 0; d < t->rank; d++) td_walk_expr(t->dim[d], note_dim_size, l->sizes);
  if (t->kind == TD_T_PORT) note_sizes(l, t->elem);
}

/* Binds a parameter; a scalar that the text assigns is copied to a local first. */
static bool bind_param(TdIrgen *l, const TdAstLocal *var, TdSym sym, const TdType *t) {
  bool scalar = td_type_is_scalar(t);
  if (scalar && var->assigned)
    return td_irgen_bind_new(l, var, td_irgen_scalar(td_expr_var(l->arena, sym, t, var->loc)));
  TdBindKind kind = scalar ? TD_B_SCALAR : TD_B_TENSOR;
  td_irgen_bind(l, var, (TdBinding){.kind = kind, .sym = sym, .type = t});
  return true;
}

static const TdCaptureParam *find_param(const TdCapture *c, const char *name) {
  for (size_t i = 0; i < c->nparam; i++)
    if (strcmp(c->param[i].name, name) == 0) return &c->param[i];
  return NULL;
}

static bool missing_type(TdIrgen *l, const TdCapture *c, const TdAstLocal *var) {
  td_irgen_fail(l, "no-type", var->loc, "parameter '%s' has no type", var->name);
  const char **names = TD_NEWN(l->arena, const char *, c->nparam + 1);
  for (size_t i = 0; i < c->nparam; i++) names[i] = c->param[i].name;
  const char *near = td_text_nearest(var->name, names, c->nparam);
  if (near)
    td_diag_help(l->diag, "did you mean '%s'?", near);
  else if (c->max_coords)
    td_diag_help(l->diag, "ids have none: they are one for each axis of map (%zu) and come last",
                 c->max_coords);
  else
    td_diag_help(l->diag, "say it in the table: %s = i32[8]", var->name);
  return false;
}

static bool unused_type(TdIrgen *l, const TdCapture *c) {
  for (size_t i = 0; i < c->nparam; i++) {
    bool found = false;
    for (size_t k = 0; k < c->source->params.n; k++)
      found |= strcmp(c->source->params.at[k]->name, c->param[i].name) == 0;
    if (!found)
      return td_irgen_fail(l, "no-parameter", c->param[i].loc,
                           "'%s' has a type but the function has no such parameter",
                           c->param[i].name);
  }
  return true;
}

/* A size without value keeps its name, so nothing else has it. */
static bool check_size_names(TdIrgen *l, const TdCapture *c) {
  for (size_t i = 0; i < c->source->params.n; i++) {
    const TdAstLocal *var = c->source->params.at[i];
    if (td_sizes_has(l->sizes, var->name))
      return l->sizes->changed ||
             td_irgen_fail(l, "name", var->loc, "'%s' is a size and a parameter", var->name);
  }
  return true;
}

/* Lua lets a parameter hide another; by name neither would be known. */
static bool check_names_once(TdIrgen *l, const TdAstFn *fn) {
  for (size_t i = 0; i < fn->params.n; i++)
    for (size_t k = 0; k < i; k++)
      if (fn->params.at[i]->name == fn->params.at[k]->name &&
          strcmp(fn->params.at[i]->name, "_") != 0)
        return td_irgen_fail(l, "name", fn->params.at[i]->loc, "two parameters are called '%s'",
                             fn->params.at[i]->name);
  return true;
}

/* Declares and binds parameters and task ids. */
static bool lower_params(TdIrgen *l, const TdCapture *c, TdUnit *u) {
  size_t n = c->source->params.n;
  TdParam *param = TD_NEWN(l->arena, TdParam, n);
  TdSym *coord = TD_NEWN(l->arena, TdSym, n);
  if (c->source->is_vararg)
    return td_irgen_fail(l, "not-in-kernel", c->source->loc, "a kernel cannot take '...'");
  if (!check_names_once(l, c->source)) return false;
  for (size_t i = 0; i < c->nparam; i++)
    note_whole_extents(l, c->param[i].type, c->param[i].source);
  for (size_t i = 0; i < n; i++) {
    const TdAstLocal *var = c->source->params.at[i];
    const TdCaptureParam *p = find_param(c, var->name);
    TdSymKind kind = p ? td_unit_param_kind(p->type) : TD_SYM_COORD;
    if (!p && (n - i > c->max_coords || u->ncoord + (n - i) > c->max_coords))
      return missing_type(l, c, var);
    if (p && u->ncoord)
      return td_irgen_fail(l, "parameter-order", var->loc, "task ids come after the parameters");
    if (strcmp(var->name, "tide") == 0)
      return td_irgen_fail(l, "name", var->loc, "no parameter is called 'tide', like the module");
    TdSym sym = td_irgen_declare_param(l, var->name, kind);
    if (!p) {
      td_irgen_note_range(l, sym, td_expr_index(l->session, l->arena, 0, var->loc),
                          c->map[u->ncoord]);
      coord[u->ncoord++] = sym;
      td_irgen_bind(
          l, var, (TdBinding){.kind = TD_B_SCALAR, .sym = sym, .type = td_type_index(l->session)});
      continue;
    }
    const TdType *t = type_from_source(l, p->type, p->source);
    note_sizes(l, t);
    TdParam *q = &param[u->nparam++];
    *q = (TdParam){.sym = sym, .type = t, .loc = p->loc};
    if (!td_irgen_marks(l, p->loc.line, 'P', &q->attrs) ||
        !td_irgen_check_banks(l, p->loc, q->attrs, t) || !bind_param(l, var, sym, t))
      return false;
  }
  u->param = param;
  u->coord = coord;
  return unused_type(l, c) && check_size_names(l, c);
}

/* tide.assume(...) statements at the start of the body; returns how many there are. */
static bool lower_assumes(TdIrgen *l, const TdAstBlock *b, TdUnit *u, size_t *n) {
  TD_VEC(const TdExpr *) list = {0};
  for (*n = 0; *n < b->n && b->at[*n]->kind == TD_AST_EVAL; ++*n) {
    const TdAstExpr *call = b->at[*n]->call;
    if (call->kind != TD_AST_CALL) break;
    TdVal f = td_irgen_expr(l, call->call.callee);
    if (!td_irgen_ok(&f)) return false;
    if (f.kind != TD_V_CONST || f.c.kind != TD_C_WORD || f.c.u.word != TD_WORD_ASSUME) break;
    for (size_t i = 0; i < call->call.args.n; i++) {
      const TdExpr *e = td_irgen_assume(l, call->call.args.at[i]);
      if (!e) return false;
      if (e->kind != TD_EXPR_LIT) td_vec_push(l->arena, &list, e);
    }
  }
  u->assert_ = list.at;
  u->nassert = list.n;
  return true;
}

typedef struct LoopNames {
  TdArena *arena;
  TdMap total, seen;
  bool number;
} LoopNames;

/* First counts the loops of each name, then gives those of one name their numbers. */
static bool visit_loop(void *ud, const TdStmt *s) {
  LoopNames *x = ud;
  if (s->kind != TD_STMT_FOR || strcmp(s->sym->name, "_") == 0) return true;
  uint64_t key = (uint64_t)(uintptr_t)s->sym->name, n = 0, total = 0;
  TdMap *m = x->number ? &x->seen : &x->total;
  td_map_get(m, key, &n);
  td_map_put(x->arena, m, key, n + 1);
  td_map_get(&x->total, key, &total);
  if (x->number && total > 1) ((TdSymbol *)(uintptr_t)s->sym)->ordinal = (uint16_t)(n + 1);
  return true;
}

/* Loops captured under one name are i#1, i#2.. in source order; their symbols are not shared yet.
 */
static void number_loops(TdIrgen *l, const TdStmt *body) {
  LoopNames x = {.arena = l->arena};
  td_walk_stmt(l->session->ctx, body, visit_loop, &x);
  x.number = true;
  td_walk_stmt(l->session->ctx, body, visit_loop, &x);
}

/* Preamble and statements as the body of the unit. */
static const TdStmt *make_body(TdIrgen *l, const TdStmts *list, TdLoc loc) {
  TD_VEC(const TdStmt *) all = {0};
  for (size_t i = 0; i < l->preamble.n; i++) td_vec_push(l->arena, &all, l->preamble.at[i]);
  for (size_t i = 0; i < list->n; i++) td_vec_push(l->arena, &all, list->at[i]);
  return td_stmt_block(l->store, all.at, all.n, loc);
}

/* The first line that belongs to the kernel: of a parameter's type, or the function's. */
static uint32_t first_line(const TdCapture *c) {
  uint32_t first = c->source->line_defined;
  for (size_t i = 0; i < c->nparam; i++)
    if (c->param[i].loc.line && c->param[i].loc.line < first) first = c->param[i].loc.line;
  return first;
}

/* One attempt with the sizes as they are believed to be. */
static TdUnit *attempt(TdIrgen *l, const TdCapture *c) {
  TdUnit *u = TD_NEW(l->arena, TdUnit);
  *u = (TdUnit){.kind = TD_UNIT_KERNEL, .loc = c->source->loc};
  TdFrame frame = {.fn = c->fn, .ast = c->ast, .source = c->source};
  td_irgen_enter_fn(l, &frame, first_line(c));
  td_irgen_drop_marks(l, c->line, c->line);
  if (c->design) td_irgen_note_design(l, c->design);
  TdStmts list = {0};
  l->out = &list;
  size_t skip;
  if (!td_irgen_marks(l, c->source->line_defined, 'K', &u->attrs)) return NULL;
  if (!lower_params(l, c, u) || !lower_assumes(l, &c->source->body, u, &skip)) return NULL;
  TdAstBlock rest = c->source->body;
  if (skip) rest = (TdAstBlock){.at = rest.at + skip, .n = rest.n - skip};
  if (!td_irgen_block(l, &rest) || !td_irgen_check_marks(l)) return NULL;
  u->body = make_body(l, &list, c->source->loc);
  number_loops(l, u->body);
  return u;
}

/* Sizes that were tried but never used as sizes become plain numbers. */
static bool drop_unused_sizes(TdSizes *z) {
  bool dropped = false;
  for (size_t i = 0; i < z->list.n; i++) {
    TdSizeEntry *e = &z->list.at[i];
    if (e->used || e->plain) continue;
    e->plain = dropped = true;
  }
  return dropped;
}

void td_capture_list_sizes(const TdSizes *z, TdCtx *ctx, TdUnit *u) {
  TdSizeUse use = td_size_use_of(ctx, z->arena, u);
  TdSize *size = TD_NEWN(z->arena, TdSize, use.name.n);
  for (size_t i = 0; i < use.name.n; i++)
    for (size_t k = 0; k < z->list.n; k++)
      if (z->list.at[k].name == use.name.at[i])
        size[i] = (TdSize){use.name.at[i], z->list.at[k].known, z->list.at[k].value};
  u->nsize = use.name.n;
  u->size = size;
}

/* The symbol of the unit. A task whose name a unit has leaves it the names that are printed. */
static TdSym name_of(TdUnits *units, const TdCapture *c) {
  bool other = c->design && td_units_is_named(units, c->name);
  return td_units_name(units,
                       other ? td_text_fmt(units->store->arena, "%s_task", c->name) : c->name);
}

TdUnit *td_capture_attempt(const TdCapture *c, TdSizes *z, TdUnits *units, TdDiag *d) {
  TdIrgen l = {.session = c->session,
               .store = units->store,
               .arena = units->store->arena,
               .host = c->host,
               .diag = d,
               .sizes = z,
               .units = units,
               .stream = c->design ? c->design->stream : NULL};
  TdUnit *u = attempt(&l, c);
  if (!u) return NULL;
  u->sym = name_of(units, c);
  u->uid = td_store_uid(units->store);
  td_capture_list_sizes(z, c->session->ctx, u);
  td_vec_push(units->store->arena, &units->list, u);
  return u;
}

const TdUnit *td_capture_settle(TdUnits *units, TdCaptureTry attempt_once, void *ud, TdLoc loc,
                                TdDiag *d) {
  TdSizes sizes = {.arena = units->store->arena};
  for (int n = 0; n < MAX_ATTEMPTS; n++) {
    TdUnits saved = *units;
    TdStore counters = *units->store;
    for (size_t i = 0; i < sizes.list.n; i++) sizes.list.at[i].used = false;
    sizes.changed = false;
    const TdUnit *u = attempt_once(ud, &sizes, units, d);
    if (!u) return NULL;
    if (!sizes.changed && !drop_unused_sizes(&sizes)) return u;
    *units = saved;
    units->store->next_uid = counters.next_uid;
    units->store->next_sym = counters.next_sym;
  }
  td_diag_set(d, TD_BUG, "sizes", loc, "the sizes do not settle");
  return NULL;
}

static const TdUnit *try_kernel(void *ud, TdSizes *z, TdUnits *units, TdDiag *d) {
  return td_capture_attempt(ud, z, units, d);
}

const TdUnit *td_capture_kernel(const TdCapture *c, TdUnits *units, TdDiag *d) {
  return td_capture_settle(units, try_kernel, (void *)(uintptr_t)c, c->source->loc, d);
}
