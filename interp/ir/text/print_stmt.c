/* print_stmt.c - statements as Lua, one a line, attributes as a comment at its end. */
#include <string.h>

#include "ir/text/printer.h"

/* The integers at the end of an attribute's arguments; `first`: they are all of them. */
static void put_integers(TdPrinter *p, const TdAttrInts *l, bool first) {
  if (first) td_text_putc(p->out, '(');
  for (size_t i = 0; l && i < l->n; i++)
    td_text_putf(p->out, "%s%lld", first && !i ? "" : ", ", (long long)l->at[i]);
}

void td_printer_attrs(TdPrinter *p, TdAttrs attrs) {
  for (size_t i = 0; i < attrs.n; i++) {
    const TdAttr *x = &attrs.at[i];
    const char *args = td_attrs[x->kind].args;
    td_text_putf(p->out, "%s%s", i ? " " : " --@ ", td_attrs[x->kind].name);
    for (int k = 0; args[k]; k++) {
      if (args[k] == 'd') {
        put_integers(p, x->arg[k].ints, k == 0);
        continue;
      }
      td_text_puts(p->out, k ? ", " : "(");
      if (td_attr_is_integer(args[k]))
        td_text_putf(p->out, "%lld", (long long)x->arg[k].i);
      else if (args[k] == 's')
        td_text_put_quoted(p->out, x->arg[k].s, strlen(x->arg[k].s));
      else
        td_text_puts(p->out, args[k] == 'y' ? x->arg[k].sym->name : x->arg[k].s);
    }
    if (*args) td_text_putc(p->out, ')');
  }
}

static void start_line(TdPrinter *p) {
  for (int i = 0; i < p->out->indent; i++) td_text_puts(p->out, "  ");
}

static void end_line(TdPrinter *p, TdAttrs attrs) {
  td_printer_attrs(p, attrs);
  td_text_putc(p->out, '\n');
}

static void put_word_line(TdPrinter *p, const char *word) {
  start_line(p);
  td_text_puts(p->out, word);
  td_text_putc(p->out, '\n');
}

static void put_body(TdPrinter *p, const TdStmt *block) {
  p->out->indent++;
  td_printer_stmts(p, block, 0);
  p->out->indent--;
}

/* "hi - 1" as Lua's inclusive end. */
static void put_last(TdPrinter *p, const TdExpr *hi) {
  TdArena *a = p->out->arena;
  const TdExpr *one = td_expr_lit(a, hi->type, 1, hi->loc);
  const TdExpr *last = td_expr_op2(a, TD_OP_SUB, hi->type, hi, one);
  td_printer_index(p, p->session ? td_lin_simplify(p->session, a, last) : last);
}

/* Marks the variable that s declares in the line so far. */
static void mark_symbol(TdPrinter *p, const TdStmt *s, size_t from) {
  td_printer_mark(p, TD_PRINT_SYMBOL, from, s->sym->name, s->type, s->loc);
}

static void put_for(TdPrinter *p, const TdStmt *s) {
  start_line(p);
  size_t from = p->out->n;
  td_text_putf(p->out, "for %s = ", s->sym->name);
  td_printer_index(p, td_for_lo(s));
  td_text_puts(p->out, ", ");
  put_last(p, td_for_hi(s));
  if (s->step != 1) td_text_putf(p->out, ", %lld", (long long)s->step);
  td_text_puts(p->out, " do");
  mark_symbol(p, s, from);
  end_line(p, s->attrs);
  put_body(p, td_for_body(s));
  put_word_line(p, "end");
}

/* repeat stores the condition to go on; Lua writes the one to stop. */
static void put_while(TdPrinter *p, const TdStmt *s) {
  const TdExpr *cond = s->expr[0];
  start_line(p);
  if (!s->post) {
    td_text_puts(p->out, "while ");
    td_printer_expr(p, cond, NULL);
    td_text_puts(p->out, " do");
    end_line(p, s->attrs);
    put_body(p, s->kid[0]);
    put_word_line(p, "end");
    return;
  }
  td_text_puts(p->out, "repeat");
  end_line(p, s->attrs);
  put_body(p, s->kid[0]);
  start_line(p);
  td_text_puts(p->out, "until ");
  bool negated = cond->kind == TD_EXPR_OP && cond->op == TD_OP_NOT;
  if (!negated) td_text_puts(p->out, "not (");
  td_printer_expr(p, negated ? cond->kid[0] : cond, NULL);
  td_text_puts(p->out, negated ? "\n" : ")\n");
}

/* A literal is spelled as a value of the run, so that no branch is dropped when it is loaded. */
static void put_condition(TdPrinter *p, const TdExpr *e) {
  if (e->kind == TD_EXPR_LIT)
    td_printer_literal(p, e, false);
  else
    td_printer_expr(p, e, NULL);
}

static bool is_else_if(const TdStmt *block) {
  return block->nkid == 1 && block->kid[0]->kind == TD_STMT_IF && !block->kid[0]->attrs.n;
}

static void put_if(TdPrinter *p, const TdStmt *s) {
  for (const char *word = "if";; word = "elseif") {
    start_line(p);
    td_text_putf(p->out, "%s ", word);
    put_condition(p, s->expr[0]);
    td_text_puts(p->out, " then");
    end_line(p, s->attrs);
    put_body(p, s->kid[0]);
    if (s->nkid < 2 || !is_else_if(s->kid[1])) break;
    s = s->kid[1]->kid[0];
  }
  if (s->nkid > 1) {
    put_word_line(p, "else");
    put_body(p, s->kid[1]);
  }
  put_word_line(p, "end");
}

/* A literal is spelled with its type: a bare one would be a constant where nothing assigns the
 * local, and takes nothing that is made from a wider operand. */
static void put_local(TdPrinter *p, const TdStmt *s) {
  start_line(p);
  size_t from = p->out->n;
  td_text_putf(p->out, "local %s = ", s->sym->name);
  if (s->init == TD_INIT_VALUE) {
    const TdExpr *v = s->expr[0];
    bool copy = v->kind == TD_EXPR_VIEW;
    if (v->kind == TD_EXPR_LIT)
      td_printer_literal(p, v, false);
    else
      td_printer_expr(p, v, NULL);
    if (copy) td_text_puts(p->out, ":copy()");
  } else {
    td_printer_type(p, s->type);
    td_text_putc(p->out, '(');
    if (s->init == TD_INIT_FILL) td_printer_expr(p, s->expr[0], td_type_scalar(s->type));
    td_text_putc(p->out, ')');
  }
  mark_symbol(p, s, from);
  end_line(p, s->attrs);
}

static void put_store(TdPrinter *p, const TdStmt *s) {
  start_line(p);
  td_printer_expr(p, s->expr[0], NULL);
  td_text_puts(p->out, " = ");
  td_printer_expr(p, s->expr[1], s->expr[0]->type);
  end_line(p, s->attrs);
}

/* `target:verb(value)` of set and put. */
static void put_method(TdPrinter *p, const TdStmt *s, const char *verb, const TdType *literal) {
  start_line(p);
  td_printer_expr(p, s->expr[0], NULL);
  td_text_putf(p->out, ":%s(", verb);
  td_printer_expr(p, s->expr[1], literal);
  td_text_putc(p->out, ')');
  end_line(p, s->attrs);
}

static void put_get(TdPrinter *p, const TdStmt *s, const char *verb) {
  start_line(p);
  size_t from = p->out->n;
  bool into_view = s->nexpr > 1 && s->expr[1]->kind == TD_EXPR_VIEW;
  if (s->nexpr > 1) {
    td_printer_expr(p, s->expr[1], NULL);
    td_text_puts(p->out, into_view ? ":set(" : " = ");
  } else {
    td_text_putf(p->out, "local %s = ", s->sym->name);
  }
  td_printer_expr(p, s->expr[0], NULL);
  td_text_putf(p->out, ":%s()%s", verb, into_view ? ")" : "");
  if (s->nexpr < 2) mark_symbol(p, s, from);
  end_line(p, s->attrs);
}

/* Type of parameter i of the unit called, to print literals as they load. */
static const TdType *callee_param(const TdPrinter *p, const TdStmt *s, uint32_t i) {
  const TdUnit *u = p->prog ? td_prog_unit(p->prog, s->sym) : NULL;
  return u && i < u->nparam && td_type_is_scalar(u->param[i].type) ? u->param[i].type : NULL;
}

static void put_call(TdPrinter *p, const TdStmt *s) {
  start_line(p);
  td_text_putf(p->out, "%s(", s->sym->name);
  for (uint32_t i = 0; i < s->nexpr; i++) {
    if (i) td_text_puts(p->out, ", ");
    td_printer_expr(p, s->expr[i], callee_param(p, s, i));
  }
  td_text_putc(p->out, ')');
  end_line(p, s->attrs);
}

static void put_word(TdPrinter *p, const char *word, TdAttrs attrs) {
  start_line(p);
  td_text_puts(p->out, word);
  end_line(p, attrs);
}

static void put_block(TdPrinter *p, const TdStmt *s) {
  put_word(p, "do", s->attrs);
  put_body(p, s);
  put_word_line(p, "end");
}

/* Statement s, and what is below it, at out's indentation. */
static void put_stmt(TdPrinter *p, const TdStmt *s) {
  size_t from = p->out->n;
  switch ((TdStmtKind)s->kind) {
  case TD_STMT_FOR: put_for(p, s); break;
  case TD_STMT_WHILE: put_while(p, s); break;
  case TD_STMT_IF: put_if(p, s); break;
  case TD_STMT_LOCAL: put_local(p, s); break;
  case TD_STMT_STORE: put_store(p, s); break;
  case TD_STMT_SET: put_method(p, s, "set", td_type_scalar(s->expr[0]->type)); break;
  case TD_STMT_GET: put_get(p, s, "get"); break;
  case TD_STMT_SLOT: put_get(p, s, "slot"); break;
  case TD_STMT_PUT: put_method(p, s, "put", td_type_scalar(s->expr[0]->type->elem)); break;
  case TD_STMT_CALL: put_call(p, s); break;
  case TD_STMT_BREAK: put_word(p, "break", s->attrs); break;
  case TD_STMT_RETURN: put_word(p, "return", s->attrs); break;
  case TD_STMT_BLOCK: put_block(p, s); break;
  case TD_STMT_KINDS: break;
  }
  td_printer_mark(p, TD_PRINT_STMT, from, NULL, NULL, s->loc);
}

void td_printer_stmts(TdPrinter *p, const TdStmt *block, size_t from) {
  for (size_t i = from; i < block->nkid; i++) {
    const TdStmt *s = block->kid[i];
    bool last = i + 1 == block->nkid;
    if (s->kind == TD_STMT_RETURN && !last)
      put_word(p, "do return end", s->attrs);
    else
      put_stmt(p, s);
  }
}
