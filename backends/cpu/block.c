/* block.c - the blocks of arguments that layouts give to instances: where one lies; and those
 * that several instances hold and write, of which each has a copy, loaded at the start. In the end
 * all are equal, and that of the first is stored. */
#include <inttypes.h>
#include <stdlib.h>

#include "backends/cpu/text.h"

const char *td_cpu_block_id(TdCpuProg *p, const TdRun *r, int k) {
  int64_t inner = 1;
  for (int a = k + 1; a < r->rank; a++) inner *= td_cfamily_size(p->w, r->map[a]);
  return td_text_fmt(p->w->arena, "td_i / %" PRId64 " %% %" PRId64, inner,
                     td_cfamily_size(p->w, r->map[k]));
}

/* The axis of the map that cuts the dimension at *s of a layout, which is passed; -1: none does. */
static int axis_at(const char **s, const TdRun *r) {
  char *end;
  if (*(*s)++ == 'R') return -1;
  int axis = (int)strtol(*s, &end, 10);
  *s = end;
  return axis < r->rank ? axis : -1;
}

bool td_cpu_block_is_shared(TdCpuProg *p, const TdRun *r, const TdRunArg *b) {
  bool shared = false;
  unsigned named = 0;
  for (const char *s = b->layout; s && *s;) {
    int axis = axis_at(&s, r);
    if (axis >= 0) named |= 1u << axis;
  }
  for (int k = 0; b->layout && k < r->rank; k++)
    shared |= !(named >> k & 1) && td_cfamily_size(p->w, r->map[k]) > 1;
  return shared;
}

TdCpuBlock td_cpu_block_of(TdCpuProg *p, const TdRun *r, const TdRunArg *b) {
  TdCWriter *w = p->w;
  const TdCName *arg = td_cname_of(w, b->arg);
  const TdType *t = arg->type;
  TdCpuBlock block = {.rank = t->rank, .count = 1, .cell = td_type_scalar(t)};
  TdText offset = td_text_new(w->arena);
  const char *s = b->layout;
  for (int d = 0; d < t->rank; d++) {
    int axis = s ? axis_at(&s, r) : -1;
    int64_t parts = axis < 0 ? 1 : td_cfamily_size(w, r->map[axis]), extent = 0;
    td_type_extent(t, d, &extent);
    block.extent[d] = parts ? extent / parts : 0;
    block.count *= block.extent[d];
    block.stride[d] = td_cpu_arg_stride(w, arg, (uint32_t)d, 1);
    if (axis < 0) continue;
    block.named |= 1u << axis;
    td_text_putf(&offset, " + %s * %s", td_cpu_block_id(p, r, axis),
                 td_cpu_arg_stride(w, arg, (uint32_t)d, block.extent[d]));
  }
  const char *cell = w->target->cell(w, b->arg, block.cell);
  block.at = td_text_fmt(w->arena, "(%s *)%s%s", cell, arg->text, td_text_str(&offset));
  return block;
}

/* Begins loops over a block, whose elements are then td_at[..] and number td_k of a copy. */
static void put_loops(TdCpuProg *p, const TdCpuBlock *b, TdText *out) {
  TdCWriter *w = p->w;
  p->computes = true;
  const char *cell = w->target->cell(w, NULL, b->cell);
  td_text_line(out, "    %s *td_at = %s;", cell, b->at);
  td_text_line(out, "    int64_t td_k = 0;");
  for (int d = 0; d < b->rank; d++)
    td_text_line(out, "    for (int64_t td_%d = 0; td_%d < %" PRId64 "; td_%d++)", d, d,
                 b->extent[d], d);
}

/* "td_at[td_0 * 8 + td_1 * 1]". */
static const char *element(TdArena *a, const TdCpuBlock *b) {
  TdText t = td_text_new(a);
  td_text_puts(&t, "td_at[");
  for (int d = 0; d < b->rank; d++)
    td_text_putf(&t, "%std_%d * %s", d ? " + " : "", d, b->stride[d]);
  td_text_putc(&t, ']');
  return td_text_str(&t);
}

void td_cpu_block_load(TdCpuProg *p, const TdCpuBlock *b, const char *copies, TdText *out) {
  td_text_line(out, "    {");
  put_loops(p, b, out);
  td_text_line(out, "      %s[td_i][td_k++] = %s;", copies, element(p->w->arena, b));
  td_text_line(out, "    }");
}

/* Text of the number of the first instance that holds the block of td_i. */
static const char *first_of(TdCpuProg *p, const TdRun *r, const TdCpuBlock *b) {
  TdText t = td_text_new(p->w->arena);
  int64_t inner = 1;
  td_text_putc(&t, '0');
  for (int k = r->rank - 1; k >= 0; k--) {
    if (b->named >> k & 1) td_text_putf(&t, " + %s * %" PRId64, td_cpu_block_id(p, r, k), inner);
    inner *= td_cfamily_size(p->w, r->map[k]);
  }
  return td_text_str(&t);
}

void td_cpu_block_store(TdCpuProg *p, const TdRun *r, const TdCpuBlock *b, const char *copies,
                        int64_t number, TdText *out) {
  static const char *const bits[] = {[32] = "td_bits_f32", [64] = "td_bits_f64"};
  const char *same = b->cell->kind == TD_T_FLOAT && b->cell->w >= 32 ? bits[b->cell->w] : "";
  td_text_line(out, "    int64_t td_first = %s;", first_of(p, r, b));
  put_loops(p, b, out);
  td_text_line(out, "    {");
  td_text_line(out, "      if (%s(%s[td_i][td_k]) != %s(%s[td_first][td_k]))", same, copies, same,
               copies);
  td_text_line(out, "        td_fault(run, 6, %d, %" PRId64 ", td_i);",
               td_cpu_unit_place(p, r->loc), number);
  td_text_line(out, "      if (td_i == td_first) %s = %s[td_i][td_k];", element(p->w->arena, b),
               copies);
  td_text_line(out, "      td_k++;");
  td_text_line(out, "    }");
}
