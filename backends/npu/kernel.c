/* kernel.c - stretches of tasks as C++ functions, printed by the family of C-like targets. */
#include "backends/npu/kernel.h"

#include <string.h>

#include "backends/c/runtime/runtime.h"
#include "backends/npu/lanes.h"
#include "backends/npu/math.h"

/* ---- arrays that kernels declare ---- */

bool td_npu_is_local(const TdStmt *s) {
  return s->kind == TD_STMT_LOCAL && s->type->kind == TD_T_TENSOR &&
         (s->cls == TD_LOCAL_AUTO || s->blob);
}

/* A search for them in a unit and what it calls. */
typedef struct Look {
  const TdNpuKernels *k;
  const TdUnit *unit;
  TdMap *seen; /* units, and symbols of locals */
  TdNpuLocals *out;
} Look;

static bool look_local(void *ud, const TdStmt *s) {
  Look *l = ud;
  const TdUnit *u = s->kind == TD_STMT_CALL ? td_prog_unit(l->k->prog, s->sym) : NULL;
  if ((!u && !td_npu_is_local(s)) || td_map_getp(l->seen, s->sym)) return true;
  td_map_putp(l->k->arena, l->seen, s->sym, l);
  if (u) {
    Look in = {l->k, u, l->seen, l->out};
    return !u->body || td_walk_stmt(td_arena_ctx(l->k->arena), u->body, look_local, &in);
  }
  TdNpuLocal x = {s, l->unit};
  td_vec_push(l->k->arena, l->out, x);
  return true;
}

void td_npu_locals_add(const TdNpuKernels *k, const TdUnit *u, const TdStmt *const *s, size_t n,
                       TdNpuLocals *out) {
  TdMap seen = {0};
  Look l = {k, u, &seen, out};
  for (size_t i = 0; i < n; i++) td_walk_stmt(td_arena_ctx(k->arena), s[i], look_local, &l);
}

static TdNpuLocals locals_of(const TdNpuKernels *k, const TdUnit *u) {
  TdNpuLocals list = {0};
  td_npu_locals_add(k, u, &u->body, 1, &list);
  return list;
}

/* ---- statements ---- */

/* What a call passes: an array, or its leading rows. */
static const char *argument(TdCWriter *w, const TdExpr *e) {
  if (e->kind != TD_EXPR_VIEW) return w->target->value(w, e).text;
  TdText t = td_text_new(w->arena);
  td_text_puts(&t, td_cname_of(w, e->sym)->text);
  for (uint32_t d = 0; d < e->nkid && e->u.dim[d].out < 0; d++)
    td_text_putf(&t, "[%s]", w->target->index(w, e->kid[d]).text);
  return td_text_str(&t);
}

static void put_call(TdCWriter *w, const TdStmt *s) {
  TdText t = td_text_new(w->arena);
  for (uint32_t i = 0; i < s->nexpr; i++)
    td_text_putf(&t, "%s%s", i ? ", " : "", argument(w, s->expr[i]));
  const TdNpuKernels *k = w->ud;
  TdNpuLocals list = locals_of(k, td_prog_unit(k->prog, s->sym));
  for (size_t i = 0; i < list.n; i++)
    td_text_putf(&t, "%s%s", t.n ? ", " : "", td_cname_of(w, list.at[i].decl->sym)->text);
  td_text_line(&w->out, "%s(%s);", s->sym->name, td_text_str(&t));
}

/* What a local array begins with: its memory is given. */
static void put_local(TdCWriter *w, const TdStmt *s) {
  if (s->init == TD_INIT_NONE || s->blob) return;
  const TdExpr *all = td_expr_whole(w->session, w->arena, s->sym, s->type, s->loc);
  td_cstmt_put(w, td_stmt_set(w->store, all, s->expr[0], s->loc));
}

/* What is asked of statements of unit u. */
static TdNpuAsk ask_of(TdNpuKernels *k, const TdUnit *u, const TdMap *types) {
  return (TdNpuAsk){.arena = k->arena,
                    .prog = k->prog,
                    .unit = u,
                    .generation = k->generation,
                    .types = types,
                    .fill = types ? &k->fill : NULL};
}

/* The C++ type of elements, as aie_api has it. */
static const char *element_type(TdCWriter *w, const TdType *t) {
  return t->kind == TD_T_FLOAT && t->w == 16 && t->brain ? "bfloat16" : w->target->cell(w, NULL, t);
}

/* An innermost loop as one of vectors; false, with why noted, where it is none. */
static bool put_lanes(TdCWriter *w, const TdNpuAsk *q, const TdStmt *s) {
  TdNpuKernels *k = w->ud;
  TdNpuLanes x;
  if (!td_npu_lanes_of(q, s, &x)) return false;
  if (!x.lanes) td_text_line(&w->out, "// one by one: %s", x.why);
  td_vec_push(k->arena, &k->loop, x);
  k->lanes |= x.lanes > 0;
  if (x.lanes) td_npu_lanes_put(q, w, &x);
  return x.lanes > 0;
}

/* A nest that vector instructions compute, as a call of the function that has them. */
static bool put_vectors(TdCWriter *w, const TdStmt *s) {
  TdNpuKernels *k = w->ud;
  TdNpuAsk q = ask_of(k, w->unit, k->types);
  const TdStmt *store;
  TdNpuMmul m;
  int64_t n;
  if (td_npu_vector_fill(&q, s, &store, &n)) {
    const char *type = w->target->cell(w, store->expr[0]->sym, store->expr[0]->type);
    td_text_line(&w->out, "tide_fill((%s *)%s, (%s)(%s), %lld);", type,
                 td_cname_of(w, store->expr[0]->sym)->text, type,
                 w->target->value(w, store->expr[1]).text, (long long)n);
  } else if (td_npu_vector_mmul(&q, s, &m)) {
    const char *a = element_type(w, m.elem[0]), *b = element_type(w, m.elem[1]),
               *c = element_type(w, m.elem[2]);
    td_text_line(&w->out,
                 "tide_mmul<%d, %d, %d>((const %s *)%s, (const %s *)%s, (%s *)%s, %lld, "
                 "%lld, %lld);",
                 m.mac->r, m.mac->s, m.mac->t, a, td_cname_of(w, m.a)->text, b,
                 td_cname_of(w, m.b)->text, c, td_cname_of(w, m.c)->text, (long long)m.m,
                 (long long)m.n, (long long)m.k);
  } else {
    return put_lanes(w, &q, s);
  }
  k->blocks = true;
  return true;
}

static bool put_stmt(TdCWriter *w, const TdStmt *s) {
  if (s->kind == TD_STMT_FOR) return put_vectors(w, s);
  if (s->kind == TD_STMT_CALL) {
    put_call(w, s);
    return true;
  }
  if (!td_npu_is_local(s)) return false;
  put_local(w, s);
  return true;
}

static const char *const reserved[] = {
    "restrict",  "class",  "new",   "template", "this",  "operator", "private", "public",
    "namespace", "delete", "try",   "catch",    "throw", "using",    "virtual", "friend",
    "bool",      "true",   "false", "and",      "or",    "not",      "xor",     NULL};

static const TdCTarget target = {.reserved = reserved,
                                 .loop_type = "int64_t",
                                 .wraps = true,
                                 .cell = td_cnum_cell,
                                 .value = td_cnum_value,
                                 .index = td_cnum_exact,
                                 .truth = td_cnum_exact,
                                 .stmt = put_stmt};

TdNpuKernels *td_npu_kernels_new(TdArena *a, const TdProg *p, int generation, TdDiag *d) {
  TdNpuKernels *k = TD_NEW(a, TdNpuKernels);
  *k = (TdNpuKernels){.arena = a, .prog = p, .generation = generation, .diag = d};
  k->w = td_cfamily_new(a, p, &target, k, d);
  return k;
}

/* A search for what statements use from outside. */
typedef struct Free {
  TdNpuKernels *k;
  const TdMap *type;
  TdMap inside, seen;
  TD_VEC(TdSym) array;
  TD_VEC(TdSym) index;
  const TdExpr *bad;
} Free;

static bool look_inside(void *ud, const TdStmt *s) {
  Free *f = ud;
  if (s->sym && s->kind != TD_STMT_CALL && !td_npu_is_local(s))
    td_map_putp(f->k->arena, &f->inside, s->sym, f);
  return true;
}

static bool look_free(void *ud, const TdExpr *e) {
  Free *f = ud;
  if (!e->sym || td_map_getp(&f->inside, e->sym) || td_map_getp(&f->seen, e->sym)) return true;
  td_map_putp(f->k->arena, &f->seen, e->sym, f);
  if (td_map_getp(f->type, e->sym))
    td_vec_push(f->k->arena, &f->array, e->sym);
  else if (e->kind == TD_EXPR_VAR)
    td_vec_push(f->k->arena, &f->index, e->sym);
  else if (!f->bad)
    f->bad = e;
  return true;
}

/* Adds an array to a list of parameters, its name put in scope. */
static void put_array(TdCWriter *w, TdSym sym, const TdType *type, TdText *list) {
  const char *name = td_cname_fresh(w, sym->name);
  td_text_putf(list, "%s%s", list->n ? ", " : "", td_cstmt_pointer(w, sym, type, name, false));
  td_cname_put(w, sym, name, type, NULL);
}

/* The parameters as C++ declares them, their names put in scope. */
static const char *params(Free *f, TdText *first) {
  TdCWriter *w = f->k->w;
  TdText t = td_text_new(w->arena);
  for (size_t i = 0; i < f->array.n; i++)
    put_array(w, f->array.at[i], td_map_getp(f->type, f->array.at[i]), &t);
  for (size_t i = 0; i < f->index.n; i++) {
    const char *name = td_cname_declare(w, f->index.at[i]);
    td_text_putf(&t, "%sint32_t %s_in", t.n ? ", " : "", name);
    td_text_putf(first, "  const int64_t %s = %s_in;\n", name, name);
  }
  return td_text_str(&t);
}

static bool add_callee(void *ud, const TdStmt *s) {
  TdNpuKernels *k = ud;
  if (s->kind != TD_STMT_CALL) return true;
  const TdUnit *u = td_prog_unit(k->prog, s->sym);
  for (size_t i = 0; i < k->callee.n; i++)
    if (k->callee.at[i] == u) return true;
  if (!u->body)
    return td_diag_set(k->diag, TD_UNSUPPORTED, "npu-extern", s->loc, "'%s' has no model to run",
                       u->sym->name);
  if (!td_walk_stmt(td_arena_ctx(k->arena), u->body, add_callee, k)) return false;
  td_vec_push(k->arena, &k->callee, u);
  return true;
}

/* Adds the locals of n statements, which it is given memory for, to a kernel's arrays. */
static void add_locals(Free *f, const TdStmt *const *s, size_t n) {
  TdNpuLocals list = {0};
  td_npu_locals_add(f->k, NULL, s, n, &list);
  for (size_t i = 0; i < list.n; i++) {
    TdSym sym = list.at[i].decl->sym;
    if (!td_map_getp(&f->seen, sym)) td_vec_push(f->k->arena, &f->array, sym);
    td_map_putp(f->k->arena, &f->seen, sym, f);
  }
}

/* What a kernel of n statements takes. */
static const TdNpuCost *cost_of(TdNpuKernels *k, const TdUnit *u, const TdStmt *const *s,
                                size_t n) {
  TdNpuCost *c = TD_NEW(k->arena, TdNpuCost);
  TdNpuAsk q = ask_of(k, u, k->types);
  for (size_t i = 0; i < n; i++) td_npu_cost_add(&q, s[i], 1, c);
  return c;
}

const TdNpuKernel *td_npu_kernel_of(TdNpuKernels *k, const TdStmt *const *s, size_t n,
                                    const char *like, const TdMap *type) {
  TdCWriter *w = k->w;
  TdCtx *ctx = td_arena_ctx(k->arena);
  Free f = {.k = k, .type = type};
  for (size_t i = 0; i < n; i++) td_walk_stmt(ctx, s[i], look_inside, &f);
  for (size_t i = 0; i < n; i++) {
    td_walk_exprs(ctx, s[i], look_free, &f);
    if (!td_walk_stmt(ctx, s[i], add_callee, k)) return NULL;
  }
  if (f.bad) {
    td_diag_set(k->diag, TD_UNSUPPORTED, "npu-scalar", f.bad->loc,
                "'%s' is a scalar that outlives moves of blocks", f.bad->sym->name);
    td_diag_help(k->diag, "make it a tensor of one element");
    return NULL;
  }
  TdUnit *u = TD_NEW(k->arena, TdUnit);
  add_locals(&f, s, n);
  *u = (TdUnit){.kind = TD_UNIT_KERNEL, .sym = td_store_sym(w->store, like, TD_SYM_UNIT)};
  u->loc = s[0]->loc;
  td_cfamily_enter(w, u, NULL);
  k->types = type;
  TdText first = td_text_new(k->arena);
  const char *declared = params(&f, &first);
  w->out = td_text_new(k->arena);
  w->out.indent = 1;
  td_cstmt_put(w, td_stmt_block(w->store, s, n, s[0]->loc));
  if (td_diag_failed(k->diag)) return NULL;
  const char *text =
      td_text_fmt(k->arena, "(%s) {\n%s%s}\n", declared, td_text_str(&first), td_text_str(&w->out));
  TdNpuKernel x = {NULL, f.array.n, f.index.n, f.array.at, f.index.at, text, NULL, s[0]->loc};
  for (size_t i = 0; i < k->kernel.n; i++)
    if (strcmp(k->kernel.at[i].text, text) == 0) {
      x.name = k->kernel.at[i].name;
      return td_arena_copy(k->arena, &x, sizeof x);
    }
  x.name = td_text_fmt(k->arena, "%s_%zu", like, k->kernel.n);
  x.cost = cost_of(k, u, s, n);
  td_vec_push(k->arena, &k->kernel, x);
  return td_arena_copy(k->arena, &x, sizeof x);
}

/* A unit that kernels call. */
static void put_callee(TdNpuKernels *k, const TdUnit *u, TdText *out) {
  TdCWriter *w = k->w;
  TdText t = td_text_new(k->arena);
  td_cfamily_enter(w, u, NULL);
  k->types = NULL;
  for (size_t i = 0; i < u->nparam; i++) {
    const TdParam *p = &u->param[i];
    if (td_type_is_scalar(p->type)) {
      const char *name = td_cname_fresh(w, p->sym->name);
      td_cname_put(w, p->sym, name, NULL, NULL);
      td_text_putf(&t, "%s%s %s", t.n ? ", " : "", w->target->cell(w, p->sym, p->type), name);
      continue;
    }
    put_array(w, p->sym, td_cfamily_type(w, p->type), &t);
  }
  TdNpuLocals list = locals_of(k, u);
  for (size_t i = 0; i < list.n; i++) {
    const TdNpuLocal *l = &list.at[i];
    put_array(w, l->decl->sym, td_unit_type(w->session, l->unit, l->decl->type), &t);
  }
  w->out = td_text_new(k->arena);
  w->out.indent = 1;
  td_cstmt_put(w, u->body);
  td_text_putf(out, "static void %s(%s) {\n%s}\n\n", u->sym->name, td_text_str(&t),
               td_text_str(&w->out));
}

const char *td_npu_kernels_text(TdNpuKernels *k) {
  TdText t = td_text_new(k->arena);
  for (size_t i = 0; i < k->callee.n; i++) put_callee(k, k->callee.at[i], &t);
  for (size_t i = 0; i < k->kernel.n; i++) {
    const TdNpuKernel *x = &k->kernel.at[i];
    td_text_putf(&t, TD_NPU_COST "%s:", x->name);
    td_npu_cost_print(&t, x->cost);
    td_text_putf(&t, "\nvoid %s%s\n", x->name, x->text);
  }
  if (td_diag_failed(k->diag)) return NULL;
  const char *all = td_prelude_add(k->arena, td_text_str(&t));
  return td_text_fmt(k->arena,
                     "// What the cores compute.\n%s#define restrict __restrict\n"
                     "extern \"C\" {\n\n%s%s}\n",
                     td_npu_prologue(k->arena, k->blocks, k->lanes),
                     k->libm ? "" : td_npu_math_of(k->arena, all), all);
}
