/* cstmt.c - statements: one line each, nested as the program is. */
#include "backends/c/cfamily.h"

#include <inttypes.h>

/* "4" or, where the size is declared, "M". */
static const char *extent(TdCWriter *w, const TdExpr *e, int64_t value) {
  bool named = e->kind == TD_EXPR_SIZE && value > 0 && td_cname_has_size(w, e->u.name);
  return named ? e->u.name : td_text_fmt(w->arena, "%" PRId64, value > 0 ? value : 1);
}

/* "[M][8]": the dimensions of t from `first` on. */
static const char *dimensions(TdCWriter *w, const TdType *t, int first) {
  TdText s = td_text_new(w->arena);
  const TdType *known = td_cfamily_type(w, t);
  for (int d = first; d < t->rank; d++) {
    int64_t v = 1;
    td_type_extent(known, d, &v);
    td_text_putf(&s, "[%s]", extent(w, t->dim[d], v));
  }
  return td_text_str(&s);
}

const char *td_cstmt_array(TdCWriter *w, TdSym sym, const TdType *t, const char *name) {
  return td_text_fmt(w->arena, "%s %s%s", w->target->cell(w, sym, td_type_scalar(t)), name,
                     dimensions(w, t, 0));
}

const char *td_cstmt_pointer(TdCWriter *w, TdSym sym, const TdType *t, const char *name,
                             bool constant) {
  const char *cell = w->target->cell(w, sym, td_type_scalar(t)), *c = constant ? "const " : "";
  if (t->rank <= 1) return td_text_fmt(w->arena, "%s%s *restrict %s", c, cell, name);
  return td_text_fmt(w->arena, "%s%s (*restrict %s)%s", c, cell, name, dimensions(w, t, 1));
}

bool td_cstmt_is_once(const TdExpr *e) {
  bool call = e->kind == TD_EXPR_OP && (e->op == TD_OP_MIN || e->op == TD_OP_MAX);
  if (e->kind == TD_EXPR_LOAD || call) return true;
  for (uint32_t i = 0; i < e->nkid; i++)
    if (td_cstmt_is_once(e->kid[i])) return true;
  return false;
}

/* A block of its own: indented, with its own names. */
static void body(TdCWriter *w, const TdStmt *s) {
  size_t names = td_cname_mark(w);
  w->out.indent++;
  td_cstmt_put(w, s);
  w->out.indent--;
  td_cname_release(w, names);
}

const char *td_cstmt_step(TdCWriter *w, const TdStmt *s, const char *v, const char *end) {
  if (s->step == 1) return td_text_fmt(w->arena, "%s++", v);
  if (w->target->wraps && !td_crange_is_near(w, td_for_hi(s)))
    return td_text_fmt(w->arena, "%s = td_step(%s, %s, %" PRId64 ")", v, v, end, s->step);
  return td_text_fmt(w->arena, "%s += %" PRId64, v, s->step);
}

/* An upper bound that td_cstmt_is_once is computed before the loop runs. */
void td_cstmt_put_for(TdCWriter *w, const TdStmt *s) {
  size_t names = td_cname_mark(w), known = td_crange_mark(w);
  const char *type = w->target->loop_type;
  TdPiece lo = w->target->index(w, td_for_lo(s)), hi = w->target->index(w, td_for_hi(s));
  if (w->target->before) w->target->before(w, s);
  const char *v = td_cname_declare(w, s->sym), *end = td_cexpr_operand(w, hi, TD_BIND_SHIFT);
  const char *once = "";
  if (td_cstmt_is_once(td_for_hi(s))) {
    end = td_cname_fresh(w, td_text_fmt(w->arena, "%s_end", v));
    td_cname_put(w, NULL, end, NULL, NULL);
    once = td_text_fmt(w->arena, ", %s = %s", end, hi.text);
  }
  const char *step = td_cstmt_step(w, s, v, end);
  td_text_line(&w->out, "for (%s %s = %s%s; %s < %s; %s) {", type, v, lo.text, once, v, end, step);
  td_crange_push_loop(w, s->sym, td_for_lo(s), td_for_hi(s));
  w->out.indent++;
  if (w->target->inside) w->target->inside(w, s);
  w->out.indent--;
  body(w, td_for_body(s));
  td_text_line(&w->out, "}");
  td_crange_release(w, known);
  td_cname_release(w, names);
}

/* The condition of a repeat sees the locals of its body. */
static void put_while(TdCWriter *w, const TdStmt *s) {
  size_t names = td_cname_mark(w), known = td_crange_mark(w);
  if (s->post) {
    td_text_line(&w->out, "for (;;) {");
  } else {
    td_text_line(&w->out, "while (%s) {", w->target->truth(w, s->expr[0]).text);
    td_crange_push_cond(w, s->expr[0], true);
  }
  w->out.indent++;
  if (w->target->inside) w->target->inside(w, s);
  td_cstmt_put(w, s->kid[0]);
  if (s->post) {
    TdPiece go = w->target->truth(w, s->expr[0]);
    td_text_line(&w->out, "if (!%s) break;", td_cexpr_operand(w, go, TD_BIND_UNARY));
  }
  w->out.indent--;
  td_text_line(&w->out, "}");
  td_crange_release(w, known);
  td_cname_release(w, names);
}

void td_cstmt_put_if(TdCWriter *w, const TdStmt *s, TdCBody put_body) {
  for (uint32_t arm = 0; arm < s->nkid; arm++) {
    size_t known = td_crange_mark(w);
    if (arm)
      td_text_line(&w->out, "} else {");
    else
      td_text_line(&w->out, "if (%s) {", w->target->truth(w, s->expr[0]).text);
    td_crange_push_cond(w, s->expr[0], !arm);
    put_body(w, s->kid[arm]);
    td_crange_release(w, known);
  }
  td_text_line(&w->out, "}");
}

/* The elements of a constant table, 64 bits each. */
static void put_elements(TdCWriter *w, const TdBlob *b) {
  const TdType *t = td_type_scalar(b->type);
  size_t bytes = td_type_bytes(t);
  TdText line = td_text_new(w->arena);
  for (int64_t i = 0; i < b->count; i++) {
    uint64_t v = td_num_load(t, (const char *)b->data + (size_t)i * bytes);
    const TdExpr *e = td_expr_lit(w->arena, t, v, (TdLoc){0});
    td_text_putf(&line, "%s%s", line.n ? ", " : "", w->target->value(w, e).text);
    if (line.n < 80 && i + 1 < b->count) continue;
    td_text_line(&w->out, "%s%s", td_text_str(&line), i + 1 < b->count ? "," : "");
    line = td_text_new(w->arena);
  }
}

static void put_table(TdCWriter *w, const TdStmt *s) {
  const char *name = td_cname_fresh(w, s->sym->name);
  td_text_line(&w->out, "static const %s = {", td_cstmt_array(w, s->sym, s->type, name));
  w->out.indent++;
  put_elements(w, s->blob);
  w->out.indent--;
  td_text_line(&w->out, "};");
  td_cname_put(w, s->sym, name, td_cfamily_type(w, s->type), NULL);
}

const char *td_cstmt_initial(TdCWriter *w, const TdStmt *s) {
  if (s->nexpr) return w->target->value(w, s->expr[0]).text;
  bool wide = td_type_is_integer(s->type) && s->type->w > 64;
  return wide ? w->target->value(w, td_expr_lit(w->arena, s->type, 0, s->loc)).text : "0";
}

static void put_local(TdCWriter *w, const TdStmt *s) {
  if (s->cls == TD_LOCAL_CONST) {
    put_table(w, s);
    return;
  }
  if (s->type->kind == TD_T_TENSOR) {
    const char *name = td_cname_fresh(w, s->sym->name);
    td_text_line(&w->out, "%s;", td_cstmt_array(w, s->sym, s->type, name));
    td_cname_put(w, s->sym, name, td_cfamily_type(w, s->type), NULL);
    return;
  }
  const char *value = td_cstmt_initial(w, s);
  const char *name = td_cname_declare(w, s->sym);
  td_text_line(&w->out, "%s %s = %s;", w->target->cell(w, s->sym, s->type), name, value);
}

static void put_store(TdCWriter *w, const TdStmt *s) {
  TdPiece value = w->target->value(w, s->expr[1]);
  td_text_line(&w->out, "%s = %s;", td_cexpr_touch(w, s->expr[0], true).text, value.text);
}

void td_cstmt_put_one(TdCWriter *w, const TdStmt *s) {
  if (w->target->stmt(w, s)) return;
  switch (s->kind) {
  case TD_STMT_FOR: td_cstmt_put_for(w, s); break;
  case TD_STMT_WHILE: put_while(w, s); break;
  case TD_STMT_IF: td_cstmt_put_if(w, s, body); break;
  case TD_STMT_LOCAL: put_local(w, s); break;
  case TD_STMT_STORE: put_store(w, s); break;
  case TD_STMT_BREAK: td_text_line(&w->out, "break;"); break;
  case TD_STMT_RETURN: td_text_line(&w->out, "return;"); break;
  case TD_STMT_BLOCK:
    td_text_line(&w->out, "{");
    body(w, s);
    td_text_line(&w->out, "}");
    break;
  default:
    td_cfamily_refuse(w, "no-streams", s->loc, "build for another target",
                      "this target has no streams");
  }
}

void td_cstmt_put(TdCWriter *w, const TdStmt *s) {
  if (s->kind != TD_STMT_BLOCK) {
    td_cstmt_put_one(w, s);
    return;
  }
  td_ctx_enter(w->session->ctx);
  for (uint32_t i = 0; i < s->nkid && !td_diag_failed(w->diag); i++) {
    if (w->target->begin) w->target->begin(w, s->kid[i]);
    bool inside = w->target->apart && w->target->apart(w, s->kid[i]);
    w->out.indent += inside;
    const TdStmt *x = td_ctensor_expand(w, s->kid[i]);
    if (x == s->kid[i])
      td_cstmt_put_one(w, x);
    else
      for (uint32_t k = 0; k < x->nkid; k++) td_cstmt_put_one(w, x->kid[k]);
    w->out.indent -= inside;
    if (inside) td_text_line(&w->out, "}");
  }
  td_ctx_leave(w->session->ctx);
}
