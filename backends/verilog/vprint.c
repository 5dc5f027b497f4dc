/* vprint.c - a module's tree as text. */
#include <inttypes.h>
#include <string.h>

#include "backends/verilog/vtree.h"

static void put_expr(TdText *out, const TdVl *e, bool inner);

static void use(TdVlSig *s, int lo, int width) {
  for (int i = lo; i < lo + width; i++) s->used[i] = true;
}

/* "12'd5", or in base 16 what is long. */
static void put_const(TdText *out, const TdVl *e) {
  if (e->op)
    td_text_puts(out, e->op);
  else if (e->bits > 65535)
    td_text_putf(out, "%d'h%" PRIx64, e->width, e->bits);
  else
    td_text_putf(out, "%d'd%" PRIu64, e->width, e->bits);
}

static void put_operand(TdText *out, const TdVl *e, bool is_signed) {
  if (is_signed) td_text_puts(out, "$signed(");
  put_expr(out, e, !is_signed);
  if (is_signed) td_text_puts(out, ")");
}

/* Both parts of a concatenation of concatenations, flat. */
static void put_parts(TdText *out, const TdVl *e) {
  if (e->kind == TD_VL_CAT) {
    put_parts(out, e->x);
    td_text_puts(out, ", ");
    put_parts(out, e->y);
  } else {
    put_expr(out, e, false);
  }
}

static void put_binary(TdText *out, const TdVl *e, bool inner) {
  if (inner) td_text_putc(out, '(');
  put_operand(out, e->x, e->is_signed);
  td_text_putf(out, " %s ", e->op);
  put_operand(out, e->y, e->is_signed && strcmp(e->op, ">>>") != 0);
  if (inner) td_text_putc(out, ')');
}

/* An expression; an `inner` one in parentheses where it is more than a word. */
static void put_expr(TdText *out, const TdVl *e, bool inner) {
  switch (e->kind) {
  case TD_VL_SIG:
    use(e->sig, 0, e->width);
    td_text_puts(out, e->sig->name);
    break;
  case TD_VL_CONST: put_const(out, e); break;
  case TD_VL_SLICE:
    use(e->x->sig, e->lo, e->width);
    td_text_putf(out, e->width > 1 ? "%s[%d:%d]" : "%s[%d]", e->x->sig->name,
                 e->width > 1 ? e->lo + e->width - 1 : e->lo, e->lo);
    break;
  case TD_VL_UNARY:
    td_text_puts(out, e->op);
    put_expr(out, e->x, true);
    break;
  case TD_VL_BINARY: put_binary(out, e, inner); break;
  case TD_VL_PICK:
    if (inner) td_text_putc(out, '(');
    put_expr(out, e->x, true);
    td_text_puts(out, " ? ");
    put_expr(out, e->y, true);
    td_text_puts(out, " : ");
    put_expr(out, e->z, true);
    if (inner) td_text_putc(out, ')');
    break;
  case TD_VL_CAT:
    td_text_putc(out, '{');
    put_parts(out, e);
    td_text_putc(out, '}');
    break;
  case TD_VL_REPEAT:
    td_text_putf(out, "{%d{", e->lo);
    put_expr(out, e->x, false);
    td_text_puts(out, "}}");
    break;
  }
}

static const char *text_of(TdVlModule *m, const TdVl *e) {
  TdText t = td_text_new(m->arena);
  put_expr(&t, e, false);
  return td_text_str(&t);
}

static void put_do(TdText *out, TdVlModule *m, const TdVlDo *d) {
  switch (d->kind) {
  case TD_VL_SET: td_text_line(out, "%s <= %s;", d->to->name, text_of(m, d->x)); break;
  case TD_VL_BLOCK:
    for (size_t i = 0; i < d->kid.n; i++) put_do(out, m, d->kid.at[i]);
    break;
  case TD_VL_IF:
    td_text_line(out, "if (%s) begin", text_of(m, d->x));
    for (size_t i = 0; i < d->kid.n; i++) {
      if (i) td_text_line(out, "end else begin");
      out->indent++;
      put_do(out, m, d->kid.at[i]);
      out->indent--;
    }
    td_text_line(out, "end");
    break;
  case TD_VL_CASE:
    td_text_line(out, "case (%s)", text_of(m, d->x));
    out->indent++;
    for (size_t i = 0; i < d->kid.n; i++) {
      td_text_line(out, "%s: begin", d->label.at[i]);
      out->indent++;
      put_do(out, m, d->kid.at[i]);
      out->indent--;
      td_text_line(out, "end");
    }
    out->indent--;
    td_text_line(out, "endcase");
    break;
  }
}

static void put_list(TdText *out, TdVlModule *m, const TdVlPort *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    td_text_putf(out, "%s.%s(%s)", i ? ", " : "", p[i].name,
                 p[i].x ? text_of(m, p[i].x) : p[i].text);
}

static void put_instance(TdText *out, TdVlModule *m, const TdVlItem *i) {
  TdText t = td_text_new(m->arena);
  td_text_putf(&t, "%s", i->module);
  if (i->param.n) {
    td_text_puts(&t, " #(");
    put_list(&t, m, i->param.at, i->param.n);
    td_text_putc(&t, ')');
  }
  td_text_putf(&t, " %s (", i->name);
  td_text_line(out, "%s", td_text_str(&t));
  out->indent += 2;
  for (size_t k = 0; k < i->port.n; k++)
    td_text_line(out, ".%s(%s)%s", i->port.at[k].name,
                 i->port.at[k].x ? text_of(m, i->port.at[k].x) : i->port.at[k].text,
                 k + 1 < i->port.n ? "," : "");
  out->indent -= 2;
  td_text_line(out, ");");
}

static void put_scope(TdText *out, TdVlModule *m, const TdVlScope *s);

static void put_item(TdText *out, TdVlModule *m, const TdVlItem *i) {
  if (i->note) td_text_line(out, "// %s", i->note);
  switch (i->kind) {
  case TD_VL_ASSIGN: td_text_line(out, "assign %s = %s;", i->to->name, text_of(m, i->x)); break;
  case TD_VL_ALWAYS:
    td_text_line(out, "always @(posedge clk) begin");
    out->indent++;
    put_do(out, m, i->act);
    out->indent--;
    td_text_line(out, "end");
    break;
  case TD_VL_INSTANCE: put_instance(out, m, i); break;
  case TD_VL_LOOP:
    td_text_line(out, "genvar %s;", i->variable);
    td_text_line(out, "generate for (%s = 0; %s < %" PRId64 "; %s = %s + 1) begin : %s",
                 i->variable, i->variable, i->count, i->variable, i->variable, i->name);
    out->indent++;
    put_scope(out, m, i->scope);
    out->indent--;
    td_text_line(out, "end endgenerate");
    break;
  case TD_VL_NOTE: break;
  }
}

static const char *range(TdVlModule *m, int width) {
  return width > 1 ? td_text_fmt(m->arena, "[%d:0] ", width - 1) : "";
}

/* One that gathers what nothing reads. */
static void put_unused(TdText *out, TdVlModule *m, const TdVlScope *s) {
  TdText t = td_text_new(m->arena);
  for (size_t i = 0; i < s->sig.n; i++) {
    const TdVlSig *x = s->sig.at[i];
    for (int lo = 0; lo < x->width && !x->output && !x->gone; lo++) {
      if (x->used[lo]) continue;
      int hi = lo;
      while (hi + 1 < x->width && !x->used[hi + 1]) hi++;
      if (hi - lo + 1 == x->width)
        td_text_putf(&t, ", %s", x->name);
      else
        td_text_putf(&t, ", %s[%d:%d]", x->name, hi, lo);
      lo = hi;
    }
  }
  if (t.n) td_text_line(out, "wire unused_ok = &{1'b0%s};", td_text_str(&t));
}

static void put_scope(TdText *out, TdVlModule *m, const TdVlScope *s) {
  for (size_t i = 0; i < s->sig.n; i++) {
    const TdVlSig *x = s->sig.at[i];
    if (x->input || x->output || x->gone) continue;
    td_text_line(out, "%s %s%s;", x->reg ? "reg" : "wire", range(m, x->width), x->name);
  }
  td_text_putc(out, '\n');
  for (size_t i = 0; i < s->item.n; i++) put_item(out, m, s->item.at[i]);
  put_unused(out, m, s);
}

void td_vprint_module(TdText *out, TdVlModule *m) {
  td_text_puts(out, td_text_str(&m->head));
  td_text_line(out, "module %s (", m->name);
  out->indent++;
  size_t n = 0, k = 0;
  for (size_t i = 0; i < m->top.sig.n; i++)
    n += m->top.sig.at[i]->input || m->top.sig.at[i]->output;
  for (size_t i = 0; i < m->top.sig.n; i++) {
    const TdVlSig *x = m->top.sig.at[i];
    if (!x->input && !x->output) continue;
    td_text_line(out, "%s wire %s%s%s", x->input ? "input " : "output", range(m, x->width), x->name,
                 ++k < n ? "," : "");
  }
  out->indent--;
  td_text_line(out, ");");
  out->indent++;
  for (size_t i = 0; i < m->constant.n; i++)
    td_text_line(out, "localparam %s = %s;", m->constant.at[i].name, m->constant.at[i].text);
  put_scope(out, m, &m->top);
  out->indent--;
  td_text_line(out, "endmodule");
}
