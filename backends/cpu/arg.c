/* arg.c - parameters and arguments: scalars by value, tensors by pointer, and strides where a
 * unit is given views that do not lie row-major. */
#include <inttypes.h>

#include "backends/cpu/text.h"

/* Writes the separator and one parameter or argument. */
static void put(TdText *t, const char *text) {
  if (!*text) return;
  td_text_putf(t, "%s%s", t->n ? ", " : "", text);
}

const char *const *td_cpu_arg_strides(TdCpuProg *p, const TdCpuParam *x, int rank, const char *name,
                                      const char **fresh) {
  TdArena *a = p->w->arena;
  const char **stride = TD_NEWN(a, const char *, rank);
  for (int d = 0; d < rank; d++) {
    fresh[d] = NULL;
    stride[d] = td_text_fmt(a, "%" PRId64, x->stride[d]);
    if (x->known[d]) continue;
    stride[d] = fresh[d] = td_cname_fresh(p->w, td_text_fmt(a, "%s_stride%d", name, d));
    td_cname_put(p->w, NULL, stride[d], NULL, NULL);
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
    const char *cell = w->target->cell(w, param->sym, td_type_scalar(t)), *fresh[TD_MAX_RANK];
    put(out, td_text_fmt(w->arena, "%s%s *restrict %s", x->written ? "" : "const ", cell, name));
    stride = td_cpu_arg_strides(p, x, t->rank, name, fresh);
    for (int d = 0; d < t->rank; d++)
      if (fresh[d]) put(out, td_text_fmt(w->arena, "int64_t %s", fresh[d]));
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
static const char *pointer_to(TdCpuProg *p, const TdExpr *view) {
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

const char *td_cpu_arg_stride(TdCWriter *w, const TdCName *base, uint32_t d, int64_t step) {
  if (base->stride && step == 1) return base->stride[d];
  if (base->stride) return td_text_fmt(w->arena, "%s * %" PRId64, base->stride[d], step);
  int64_t n = step, extent;
  for (int k = base->type->rank - 1; k > (int)d; k--) {
    td_type_extent(base->type, k, &extent);
    n *= extent;
  }
  return td_text_fmt(w->arena, "%" PRId64, n);
}

/* The stride of dimension `out` of a view. */
static const char *view_stride(TdCWriter *w, const TdExpr *view, int out) {
  uint32_t d = 0;
  while (view->u.dim[d].out != out) d++;
  return td_cpu_arg_stride(w, td_cname_of(w, view->sym), d, view->u.dim[d].step);
}

/* Gives a view to parameter x. */
static void put_view(TdCpuProg *p, const TdExpr *view, const TdCpuParam *x, TdText *out) {
  TdCWriter *w = p->w;
  const TdCName *base = td_cname_of(w, view->sym);
  if (!base->type) return;
  put(out, x->dense && is_whole(w, view, base) ? base->text : pointer_to(p, view));
  for (int d = 0; !x->dense && d < view->type->rank; d++)
    if (!x->known[d]) put(out, view_stride(w, view, d));
}

void td_cpu_arg_fill(TdCpuProg *p, const TdCpuUnit *f, const char *frame, size_t i,
                     const TdExpr *e) {
  TdCWriter *w = p->w;
  bool view = e->kind == TD_EXPR_VIEW, tensor = view && e->type->kind == TD_T_TENSOR;
  td_text_line(&w->out, "%s.%s = %s;", frame, f->field[i],
               view ? pointer_to(p, e) : w->target->value(w, e).text);
  for (int d = 0; tensor && d < e->type->rank; d++) {
    const char *stride = f->stride[i * TD_MAX_RANK + (size_t)d];
    if (stride) td_text_line(&w->out, "%s.%s = %s;", frame, stride, view_stride(w, e, d));
  }
}

void td_cpu_arg_call(TdCpuProg *p, const TdStmt *s) {
  TdCWriter *w = p->w;
  const TdCpuUnit *f = td_cpu_param_unit(p, s->sym);
  TdText out = td_text_new(w->arena);
  bool foreign = f->unit->kind == TD_UNIT_EXTERN;
  put(&out, "run");
  put(&out, td_cpu_unit_room_of(p, f));
  put(&out, td_cpu_unit_state_of(p, f));
  for (uint32_t i = 0; i < s->nexpr; i++) {
    const TdExpr *e = s->expr[i];
    if (e->kind == TD_EXPR_VIEW && e->type->kind == TD_T_TENSOR)
      put_view(p, e, &f->param[i], &out);
    else
      put(&out,
          (p->argument ? p->argument(w, e, f->unit->param[i].sym) : w->target->value(w, e)).text);
  }
  if (foreign) td_text_line(&w->out, "run->foreign = %d;", 1 + td_cpu_unit_place(p, s->loc));
  td_text_line(&w->out, "%s(%s);", f->name, td_text_str(&out));
  if (foreign) td_text_line(&w->out, "run->foreign = 0;");
}
