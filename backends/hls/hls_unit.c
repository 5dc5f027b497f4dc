/* hls_unit.c - a kernel as a C++ function: parameters, locals, calls, and where its pragmas stand.
   Arrays are C arrays and are passed whole or as leading rows. Locals begin undefined, as the
   program's do; state is static. */
#include <inttypes.h>
#include <string.h>

#include "analysis/effects.h"
#include "backends/hls/hls_lower.h"
#include "backends/hls/hls_text.h"

static TdHlsProg *prog_of(const TdCWriter *w) {
  return w->ud;
}

/* A loop over indices that an int may not hold is written with this. */
static const TdCTarget long_loops;

/* A FOR, with the type that its variable needs: the family reads it before it calls `before`. */
static void put_for(TdHlsProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  if (!td_hls_num_is_small(w, td_for_lo(s), td_for_hi(s))) w->target = &long_loops;
  td_vec_push(w->arena, &p->nest, s);
  td_cstmt_put_for(w, s);
  p->nest.n--;
}

static void before(TdCWriter *w, const TdStmt *s) {
  (void)s;
  w->target = &td_hls_unit_target;
}

static void inside(TdCWriter *w, const TdStmt *s) {
  td_hls_pragma_loop(prog_of(w), s);
}

/* What only is declared would be a warning. */
static void put_use(TdHlsProg *p, TdSym sym, const char *name) {
  if (td_map_getp(&p->unused, sym)) td_text_line(&p->w->out, "(void)%s;", name);
}

/* Declares an array: a local, a constant, or a state, which goes before the function. */
static void put_array(TdHlsProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  bool state = s->cls == TD_LOCAL_STATE;
  const char *name = td_cname_fresh(w, s->sym->name);
  const char *array = td_cstmt_array(w, s->sym, s->type, name);
  if (s->cls == TD_LOCAL_AUTO)
    td_text_line(&w->out, "%s;", array);
  else
    td_text_line(state ? &p->statics : &w->out, "static %s%s = %s;", state ? "" : "const ", array,
                 td_hls_table_of(w, s->blob));
  td_cname_put(w, s->sym, name, td_cfamily_type(w, s->type), NULL);
  td_hls_pragma_array(p, name, s->attrs);
  if (state) {
    td_text_line(&w->out, "#pragma HLS reset variable=%s", name);
    td_vec_push(w->arena, &p->state, ((TdHlsState){name, td_cfamily_type(w, s->type)}));
  }
  put_use(p, s->sym, name);
}

static void put_scalar(TdHlsProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  const char *none = s->type->kind == TD_T_BOOL ? "false" : "0";
  const char *value = s->nexpr ? w->target->value(w, s->expr[0]).text : none;
  const char *name = td_cname_declare(w, s->sym);
  td_text_line(&w->out, "%s %s = %s;", w->target->cell(w, s->sym, s->type), name, value);
  put_use(p, s->sym, name);
}

/* An array argument: by its name, or the rows that the leading indices say. */
static const char *rows(TdCWriter *w, const TdExpr *view) {
  const TdCName *base = td_cname_of(w, view->sym);
  TdText t = td_text_new(w->arena);
  td_text_puts(&t, base->text);
  for (uint32_t d = 0; d < view->nkid && view->u.dim[d].out < 0; d++) {
    int64_t extent = 0;
    td_type_extent(base->type, (int)d, &extent);
    td_text_putf(&t, "[%s]", td_cexpr_index(w, view->kid[d], extent, view->loc).text);
  }
  return td_text_str(&t);
}

static void put_call(TdHlsProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  TdText t = td_text_new(w->arena);
  for (uint32_t i = 0; i < s->nexpr; i++) {
    bool array = s->expr[i]->kind == TD_EXPR_VIEW;
    td_text_putf(&t, "%s%s", i ? ", " : "",
                 array ? rows(w, s->expr[i]) : w->target->value(w, s->expr[i]).text);
  }
  td_text_line(&w->out, "%s(%s);", td_cname_of(w, s->sym)->text, td_text_str(&t));
}

/* Whether s stores something in itself, which compilers warn of. */
static bool is_idle(const TdStmt *s) {
  if (s->kind != TD_STMT_STORE && s->kind != TD_STMT_SET) return false;
  const TdExpr *e = s->expr[1];
  while (e->kind == TD_EXPR_CAST && e->type == e->kid[0]->type) e = e->kid[0];
  return td_equal_expr(s->expr[0], e);
}

static bool stmt(TdCWriter *w, const TdStmt *s) {
  TdHlsProg *p = prog_of(w);
  switch (s->kind) {
  case TD_STMT_FOR: put_for(p, s); return true;
  case TD_STMT_LOCAL:
    if (s->type->kind == TD_T_TENSOR)
      put_array(p, s);
    else
      put_scalar(p, s);
    return true;
  case TD_STMT_CALL: put_call(p, s); return true;
  default: return is_idle(s);
  }
}

#define HOOKS                                                                                      \
  .cell = td_hls_num_cell, .value = td_hls_num_store, .index = td_hls_num_index,                   \
  .truth = td_hls_num_truth, .group = td_hls_num_group, .stmt = stmt, .before = before,            \
  .inside = inside
const TdCTarget td_hls_unit_target = {.reserved = td_hls_name_words, .loop_type = "int", HOOKS};
static const TdCTarget long_loops = {.reserved = td_hls_name_words, .loop_type = "int64_t", HOOKS};
const TdCTarget td_hls_unit_names = {.reserved = td_hls_name_globals, .loop_type = "int", HOOKS};

/* Declares the sizes of u that C++ can name, once for all functions. */
static void put_sizes(TdHlsProg *p, const TdUnit *u) {
  TdCWriter *w = p->w;
  w->target = &td_hls_unit_names;
  for (size_t i = 0; i < u->nsize; i++) {
    const TdSize *s = &u->size[i];
    uint64_t value, key = (uint64_t)(uintptr_t)s->name;
    if (!s->known || s->value < 0 || s->value > INT32_MAX) continue;
    bool there = td_map_get(&p->size, key, &value);
    if (there && value != (uint64_t)s->value) continue;
    if (!td_cname_put_size(w, s->name) || there) continue;
    td_map_put(w->arena, &p->size, key, (uint64_t)s->value);
    td_text_line(&p->sizes, "constexpr int %s = %" PRId64 ";", s->name, s->value);
  }
  w->target = &td_hls_unit_target;
}

/* Declares the parameters: arrays that are only read are constant. */
static void put_params(TdHlsProg *p) {
  TdCWriter *w = p->w;
  const TdUnit *u = w->unit;
  const TdEffect *e;
  size_t n = td_effects_of(&p->ask, u->body, &e);
  p->param.n = 0;
  for (size_t i = 0; i < u->nparam; i++) {
    const TdParam *x = &u->param[i];
    const TdEffect *f = td_effects_find(e, n, x->sym);
    TdHlsParam made = {.type = x->type, .read = f && f->read, .written = f && f->write};
    if (x->type->kind == TD_T_TENSOR) {
      made.type = td_cfamily_type(w, x->type);
      made.name = td_cname_fresh(w, x->sym->name);
      made.text = td_cstmt_array(w, x->sym, x->type, made.name);
      td_cname_put(w, x->sym, made.name, made.type, NULL);
    } else {
      made.name = td_cname_declare(w, x->sym);
      made.text = td_text_fmt(w->arena, "%s %s", w->target->cell(w, x->sym, x->type), made.name);
    }
    td_vec_push(w->arena, &p->param, made);
  }
}

/* What find_unused knows: parameters and locals by symbol; those that are read, and parameters that
   are written, are taken out. */
static bool note_local(void *ud, const TdStmt *s) {
  TdHlsProg *p = ud;
  if (s->kind == TD_STMT_LOCAL) td_map_putp(p->w->arena, &p->unused, s->sym, (void *)(uintptr_t)s);
  return true;
}

static bool note_read(void *ud, const TdExpr *e) {
  TdHlsProg *p = ud;
  if (e->sym) td_map_drop(&p->unused, (uint64_t)(uintptr_t)e->sym);
  return true;
}

static bool note_reads(void *ud, const TdStmt *s) {
  for (uint32_t i = 0; i < s->nexpr && !is_idle(s); i++) {
    bool target = i == 0 && (s->kind == TD_STMT_STORE || s->kind == TD_STMT_SET);
    bool local = target && s->expr[0]->sym->kind != TD_SYM_TENSOR;
    for (uint32_t k = 0; local && k < s->expr[0]->nkid; k++)
      td_walk_expr(s->expr[0]->kid[k], note_read, ud);
    if (!local) td_walk_expr(s->expr[i], note_read, ud);
  }
  return true;
}

static void find_unused(TdHlsProg *p, const TdUnit *u) {
  TdCtx *c = p->w->session->ctx;
  p->unused = (TdMap){0};
  for (size_t i = 0; i < u->nparam; i++)
    td_map_putp(p->w->arena, &p->unused, u->param[i].sym, (void *)(uintptr_t)&u->param[i]);
  td_walk_stmt(c, u->body, note_local, p);
  td_walk_stmt(c, u->body, note_reads, p);
}

const char *td_hls_unit_signature(TdArena *a, const char *name, const TdHlsParam *param, size_t n) {
  enum { COLUMNS = 88 };
  TdText t = td_text_new(a);
  td_text_putf(&t, "void %s(", name);
  size_t line = 0;
  for (size_t i = 0; i < n; i++) {
    bool constant = param[i].type->kind == TD_T_TENSOR && !param[i].written;
    const char *text = td_text_fmt(a, "%s%s", constant ? "const " : "", param[i].text);
    bool full = i && t.n - line + strlen(text) > COLUMNS;
    if (full) line = t.n;
    td_text_putf(&t, "%s%s%s", i ? "," : "", full ? "\n    " : i ? " " : "", text);
  }
  td_text_putc(&t, ')');
  return td_text_str(&t);
}

void td_hls_unit_put(TdHlsProg *p, size_t unit) {
  TdCWriter *w = p->w;
  const TdUnit *u = w->prog->unit[unit];
  bool root = unit == w->prog->nunit - 1;
  td_cfamily_enter(w, u, NULL);
  p->ask.unit = u;
  p->nest.n = 0;
  p->statics = w->out = td_text_new(w->arena);
  w->out.indent = 1;
  for (size_t i = 0; i < w->prog->nunit; i++)
    td_cname_put(w, w->prog->unit[i]->sym, p->name[i], NULL, NULL);
  put_sizes(p, u);
  find_unused(p, u);
  put_params(p);
  if (root) td_hls_pragma_ports(p);
  if (!root && td_attrs_get(u->attrs, TD_ATTR_INLINE)) td_text_line(&w->out, "#pragma HLS inline");
  for (size_t i = 0; i < u->nparam; i++)
    td_hls_pragma_array(p, p->param.at[i].name, u->param[i].attrs);
  for (size_t i = 0; i < u->nparam; i++) put_use(p, u->param[i].sym, p->param.at[i].name);
  td_cstmt_put(w, u->body);
  if (p->functions.n) td_text_putc(&p->functions, '\n');
  if (p->statics.n) td_text_putf(&p->functions, "%s\n", td_text_str(&p->statics));
  td_text_putf(&p->functions, "%s%s {\n%s}\n", root ? "extern \"C\" " : "static ",
               td_hls_unit_signature(w->arena, p->name[unit], p->param.at, p->param.n),
               td_text_str(&w->out));
}
