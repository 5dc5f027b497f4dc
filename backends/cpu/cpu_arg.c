/* cpu_arg.c - parameters and arguments: scalars by value, tensors by pointer, and strides where a
   unit is given views that do not lie row-major. */
#include <inttypes.h>

#include "backends/cpu/cpu_text.h"

/* Writes the separator and one parameter or argument. */
static void put(TdText *t, const char *text) {
  if (!*text) return;
  td_text_putf(t, "%s%s", t->n ? ", " : "", text);
}

/* The strides of parameter i as texts: numbers, or parameters of their own, which are written. */
static const char *const *strides_of(TdCpuProg *p, const TdCpuParam *x, const TdType *t,
                                     const char *name, TdText *out) {
  TdArena *a = p->w->arena;
  const char **stride = TD_NEWN(a, const char *, t->rank);
  for (int d = 0; d < t->rank; d++) {
    stride[d] = td_text_fmt(a, "%" PRId64, x->stride[d]);
    if (x->known[d]) continue;
    stride[d] = td_cname_fresh(p->w, td_text_fmt(a, "%s_stride%d", name, d));
    td_cname_put(p->w, NULL, stride[d], NULL, NULL);
    put(out, td_text_fmt(a, "int64_t %s", stride[d]));
  }
  return stride;
}

/* Declares tensor parameter i of u. */
static void put_tensor(TdCpuProg *p, TdCpuUnit *u, size_t i, TdText *out) {
  TdCWriter *w = p->w;
  const TdParam *param = &u->unit->param[i];
  const TdCpuParam *x = &u->param[i];
  const TdType *t = td_cfamily_type(w, param->type);
  const char *name = td_cname_fresh(w, param->sym->name);
  const char *const *stride = NULL;
  if (x->dense) {
    put(out, td_cstmt_pointer(w, param->sym, param->type, name, !x->written));
  } else {
    const char *cell = w->target->cell(w, param->sym, td_type_scalar(t));
    put(out, td_text_fmt(w->arena, "%s%s *restrict %s", x->written ? "" : "const ", cell, name));
    stride = strides_of(p, x, t, name, out);
  }
  td_cname_put(w, param->sym, name, t, stride);
}

const char *td_cpu_arg_params(TdCpuProg *p, TdCpuUnit *u) {
  TdCWriter *w = p->w;
  TdText out = td_text_new(w->arena);
  for (size_t i = 0; i < u->unit->nparam; i++) {
    const TdParam *x = &u->unit->param[i];
    if (x->type->kind == TD_T_TENSOR) {
      put_tensor(p, u, i, &out);
    } else if (x->type->kind == TD_T_PORT) {
      td_cfamily_refuse(w, "no-streams", x->loc, "run it as a task of a design",
                        "%s takes streams, which a plain call cannot give it", u->unit->sym->name);
    } else {
      const char *name = td_cname_declare(w, x->sym);
      put(&out, td_text_fmt(w->arena, "%s %s", w->target->cell(w, x->sym, x->type), name));
    }
  }
  return td_text_str(&out);
}

/* Whether a view is all of an array, as C would pass it. */
static bool is_whole(TdCWriter *w, const TdExpr *view, const TdCName *base) {
  if (base->stride || base->type->rank != view->type->rank) return false;
  for (uint32_t d = 0; d < view->nkid; d++) {
    int64_t lo, extent;
    if (!td_expr_is_const(view->kid[d], &lo) || lo || view->u.dim[d].out != (int)d) return false;
    td_type_extent(base->type, (int)d, &extent);
    if (view->u.dim[d].step != 1 || extent != td_cfamily_size(w, view->type->dim[d])) return false;
  }
  return true;
}

/* Every element of the view must lie inside its base. */
const char *td_cpu_arg_pointer(TdCpuProg *p, const TdExpr *view) {
  TdCWriter *w = p->w;
  const TdCName *base = td_cname_of(w, view->sym);
  TdPiece index[TD_MAX_RANK];
  if (!view->nkid) return base->text;
  for (uint32_t d = 0; d < view->nkid; d++) {
    const TdViewDim *dim = &view->u.dim[d];
    int64_t extent = 0, n = dim->out < 0 ? 1 : td_cfamily_size(w, view->type->dim[dim->out]);
    td_type_extent(base->type, (int)d, &extent);
    if (n <= 0 || extent <= 0) return base->text;
    index[d] = td_cexpr_index(w, view->kid[d], extent - (n - 1) * dim->step, view->loc);
  }
  return td_text_fmt(w->arena, "(void *)&%s", td_cexpr_at(w, base, index).text);
}

/* The stride of dimension d of an array, times step. */
static const char *stride_of(TdCWriter *w, const TdCName *base, uint32_t d, int64_t step) {
  if (base->stride && step == 1) return base->stride[d];
  if (base->stride) return td_text_fmt(w->arena, "%s * %" PRId64, base->stride[d], step);
  int64_t n = step, extent;
  for (int k = base->type->rank - 1; k > (int)d; k--) {
    td_type_extent(base->type, k, &extent);
    n *= extent;
  }
  return td_text_fmt(w->arena, "%" PRId64, n);
}

/* Gives a view to parameter x. */
static void put_view(TdCpuProg *p, const TdExpr *view, const TdCpuParam *x, TdText *out) {
  TdCWriter *w = p->w;
  const TdCName *base = td_cname_of(w, view->sym);
  if (!base->type) return;
  put(out, x->dense && is_whole(w, view, base) ? base->text : td_cpu_arg_pointer(p, view));
  for (int out_dim = 0; !x->dense && out_dim < view->type->rank; out_dim++)
    for (uint32_t d = 0; d < view->nkid && !x->known[out_dim]; d++)
      if (view->u.dim[d].out == out_dim) put(out, stride_of(w, base, d, view->u.dim[d].step));
}

void td_cpu_arg_call(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  const TdCpuUnit *f = td_cpu_param_unit(p, s->sym);
  TdText out = td_text_new(w->arena);
  if (f->unit->kind == TD_UNIT_KERNEL) {
    put(&out, "run");
    put(&out, td_cpu_unit_room_of(p, f));
    put(&out, td_cpu_unit_state_of(p, f));
  } else if (f->unit->kind == TD_UNIT_DESIGN) {
    td_cfamily_refuse(w, "nested-design", s->loc, "call the design from Lua",
                      "a call of design %s inside a kernel", f->unit->sym->name);
  }
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const TdExpr *e = s->expr[i];
    if (e->kind == TD_EXPR_VIEW && e->type->kind == TD_T_TENSOR)
      put_view(p, e, &f->param[i], &out);
    else
      put(&out,
          (p->argument ? p->argument(w, e, f->unit->param[i].sym) : w->target->value(w, e)).text);
  }
  bool foreign = f->unit->kind == TD_UNIT_EXTERN;
  if (foreign) td_text_line(&w->out, "run->foreign = %d;", 1 + td_cpu_unit_place(p, s->loc));
  td_text_line(&w->out, "%s(%s);", f->name, td_text_str(&out));
  if (foreign) td_text_line(&w->out, "run->foreign = 0;");
}
