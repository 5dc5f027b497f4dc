/* parse_test.c - the Lua parser by itself: shapes, places, names, marks, errors. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "frontend/lua/parse.h"
#include "tap.h"

/* What a parse needs and leaves; one per text. */
typedef struct Parsed {
  TdCtx *ctx;
  TdArena *arena;
  TdSources *sources;
  TdDiag diag;
  const TdAst *ast;
} Parsed;

/* Parses n bytes; the caller calls done. */
static Parsed parse_bytes(const char *text, size_t n, unsigned flags) {
  Parsed p = {.ctx = td_ctx_new()};
  p.arena = td_arena_new(p.ctx);
  p.diag.arena = p.arena;
  p.sources = td_sources_new(p.arena);
  uint32_t id = td_sources_add(p.sources, "=test", text, n);
  p.ast = td_parse_chunk(p.arena, td_names_new(p.arena), p.sources, id, flags, &p.diag);
  return p;
}

/* Parses a text without NULs. */
static Parsed parse(const char *text) {
  return parse_bytes(text, strlen(text), 0);
}

/* Frees what a parse left. */
static void done(Parsed *p) {
  td_arena_free(p->arena);
  td_ctx_free(p->ctx);
}

/* The text as the name of a test: in one line. */
static const char *title(TdArena *a, const char *text) {
  char *name = td_arena_strdup(a, text);
  for (char *s = name; *s; s++)
    if (*s == '\n') *s = ' ';
  return name;
}

/* The tree as an s-expression. */

static void put_expr(TdText *t, const TdAstExpr *e);
static void put_block(TdText *t, const TdAstBlock *b);

/* " a b c" */
static void put_exprs(TdText *t, const TdAstExprs *list) {
  for (size_t i = 0; i < list->n; i++) {
    td_text_putc(t, ' ');
    put_expr(t, list->at[i]);
  }
}

/* " name<attrib>", with what became of the variable: '=' assigned, '^' captured, '#' folded. */
static void put_locals(TdText *t, const TdAstLocals *list) {
  static const char *const attrib[] = {"", "<const>", "<close>"};
  for (size_t i = 0; i < list->n; i++) {
    const TdAstLocal *v = list->at[i];
    td_text_putf(t, " %s%s%s%s%s", v->name, attrib[v->attrib], v->assigned ? "=" : "",
                 v->captured ? "^" : "", v->constant ? "#" : "");
  }
}

/* "(fn [ params ] [ upvals ] body)" */
static void put_function(TdText *t, const TdAstFn *fn) {
  td_text_puts(t, "(fn [");
  put_locals(t, &fn->params);
  td_text_puts(t, fn->is_vararg ? " ... ] [" : " ] [");
  put_locals(t, &fn->upvals);
  td_text_puts(t, " ]");
  put_block(t, &fn->body);
  td_text_putc(t, ')');
}

/* A local as it is, an upvalue as ^place:name, a global as $name. */
static void put_name(TdText *t, const TdAstName *name) {
  if (name->binding == TD_AST_IS_UPVAL)
    td_text_putf(t, "^%d:%s", name->upval, name->id);
  else
    td_text_putf(t, "%s%s", name->binding == TD_AST_IS_GLOBAL ? "$" : "", name->id);
}

/* "(table 1 x=2 [k]=3)" */
static void put_table(TdText *t, const TdAstExpr *e) {
  td_text_puts(t, "(table");
  for (size_t i = 0; i < e->table.n; i++) {
    const TdAstItem *item = &e->table.at[i];
    td_text_putc(t, ' ');
    if (item->name) td_text_putf(t, "%s=", item->name);
    if (item->key) {
      td_text_putc(t, '[');
      put_expr(t, item->key);
      td_text_puts(t, "]=");
    }
    put_expr(t, item->value);
  }
  td_text_putc(t, ')');
}

/* "(head a b)"; b may be NULL. */
static void put_node(TdText *t, const char *head, const TdAstExpr *a, const TdAstExpr *b) {
  td_text_putf(t, "(%s ", head);
  put_expr(t, a);
  if (b) td_text_putc(t, ' ');
  if (b) put_expr(t, b);
  td_text_putc(t, ')');
}

/* "(call callee a b)" or "(call object :method a b)" */
static void put_call(TdText *t, const TdAstExpr *e) {
  td_text_puts(t, "(call ");
  put_expr(t, e->call.callee);
  if (e->kind == TD_AST_METHOD) td_text_putf(t, " :%s", e->call.method);
  put_exprs(t, &e->call.args);
  td_text_putc(t, ')');
}

/* An expression. */
static void put_expr(TdText *t, const TdAstExpr *e) {
  switch (e->kind) {
  case TD_AST_NIL: td_text_puts(t, "nil"); return;
  case TD_AST_BOOL: td_text_puts(t, e->boolean ? "true" : "false"); return;
  case TD_AST_INT: td_text_putf(t, "%lld", (long long)e->integer); return;
  case TD_AST_FLOAT: td_text_put_double(t, e->number); return;
  case TD_AST_STRING: td_text_put_quoted(t, e->string.at, e->string.n); return;
  case TD_AST_VARARG: td_text_puts(t, "..."); return;
  case TD_AST_FUNCTION: put_function(t, e->fn); return;
  case TD_AST_TABLE: put_table(t, e); return;
  case TD_AST_NAME: put_name(t, &e->name); return;
  case TD_AST_FIELD:
    put_expr(t, e->field.of);
    td_text_putf(t, ".%s", e->field.key);
    return;
  case TD_AST_INDEX: put_node(t, "at", e->index.of, e->index.key); return;
  case TD_AST_CALL:
  case TD_AST_METHOD: put_call(t, e); return;
  case TD_AST_UNARY: put_node(t, td_ast_unary_text(e->unary.op), e->unary.of, NULL); return;
  case TD_AST_BINARY:
    put_node(t, td_ast_binary_text(e->binary.op), e->binary.left, e->binary.right);
    return;
  case TD_AST_PAREN: put_node(t, "paren", e->paren, NULL); return;
  }
}

/* " (cond body) (else body)" */
static void put_if(TdText *t, const TdAstStmt *s) {
  for (size_t i = 0; i < s->arms.n; i++) {
    const TdAstArm *arm = &s->arms.at[i];
    td_text_puts(t, " (");
    if (arm->cond)
      put_expr(t, arm->cond);
    else
      td_text_puts(t, "else");
    put_block(t, &arm->body);
    td_text_putc(t, ')');
  }
}

/* A statement, in parentheses. */
static void put_stmt(TdText *t, const TdAstStmt *s) {
  static const char *const head[] = {
      [TD_AST_LOCAL] = "local",   [TD_AST_LOCAL_FUNCTION] = "localfn",
      [TD_AST_DEFINE] = "define", [TD_AST_ASSIGN] = "set",
      [TD_AST_EVAL] = "eval",     [TD_AST_DO] = "do",
      [TD_AST_WHILE] = "while",   [TD_AST_REPEAT] = "repeat",
      [TD_AST_IF] = "if",         [TD_AST_FOR] = "for",
      [TD_AST_FOR_IN] = "forin",  [TD_AST_RETURN] = "return",
      [TD_AST_BREAK] = "break",   [TD_AST_GOTO] = "goto",
      [TD_AST_LABEL] = "label",   [TD_AST_EMPTY] = "nothing",
  };
  td_text_putf(t, "(%s", head[s->kind]);
  switch (s->kind) {
  case TD_AST_LOCAL:
    put_locals(t, &s->local.vars);
    td_text_puts(t, " :=");
    put_exprs(t, &s->local.values);
    break;
  case TD_AST_LOCAL_FUNCTION:
    put_locals(t, &(TdAstLocals){&s->function.var, 1});
    td_text_putc(t, ' ');
    put_function(t, s->function.fn);
    break;
  case TD_AST_DEFINE:
    put_exprs(t, &(TdAstExprs){&s->function.target, 1});
    td_text_putc(t, ' ');
    put_function(t, s->function.fn);
    break;
  case TD_AST_ASSIGN:
    put_exprs(t, &s->assign.targets);
    td_text_puts(t, " :=");
    put_exprs(t, &s->assign.values);
    break;
  case TD_AST_EVAL: put_exprs(t, &(TdAstExprs){&s->call, 1}); break;
  case TD_AST_DO: put_block(t, &s->block); break;
  case TD_AST_WHILE:
  case TD_AST_REPEAT:
    put_exprs(t, &(TdAstExprs){&s->loop.cond, 1});
    put_block(t, &s->loop.body);
    break;
  case TD_AST_IF: put_if(t, s); break;
  case TD_AST_FOR:
  case TD_AST_FOR_IN:
    put_locals(t, &s->each.vars);
    td_text_puts(t, " :=");
    put_exprs(t, &s->each.over);
    put_block(t, &s->each.body);
    break;
  case TD_AST_RETURN: put_exprs(t, &s->values); break;
  case TD_AST_GOTO: td_text_putf(t, " %s->%u", s->jump.name, s->jump.label->loc.line); break;
  case TD_AST_LABEL: td_text_putf(t, " %s", s->label); break;
  case TD_AST_BREAK:
  case TD_AST_EMPTY: break;
  }
  td_text_putc(t, ')');
}

/* Statements, each after a blank. */
static void put_block(TdText *t, const TdAstBlock *b) {
  for (size_t i = 0; i < b->n; i++) {
    td_text_putc(t, ' ');
    put_stmt(t, b->at[i]);
  }
}

/* Programs and their trees; what a tree shows of names is told above. */
static const struct {
  const char *name, *text, *tree;
} shapes[] = {
    {"literals", "return nil, true, false, 1, 0x10, 1.5, 0x.8p1, 'a\\n', [[\nb]], ...",
     "(return nil true false 1 16 1.5 1.0 \"a\\n\" \"b\" ...)"},
    {"integers wrap in hex and become floats in decimal",
     "return 0xffffffffffffffff, 9223372036854775807, 9223372036854775808, 3e2",
     "(return -1 9223372036854775807 9.223372036854776e+18 300.0)"},
    {"escapes", "return '\\x41\\65\\u{48}\\z  \n  x\\\ny', '\\u{7FFFFFFF}' == '\\xFD\\xBF'",
     "(return \"AAHx\\ny\" (== \"\xFD\xBF\xBF\xBF\xBF\xBF\" \"\xFD\xBF\"))"},
    {"precedence", "return 1 + a * -b ^ c ^ d .. 'x' .. y < z and not p or q == r",
     "(return (or (and (< (.. (+ 1 (* $a (- (^ $b (^ $c $d))))) (.. \"x\" $y)) $z) (not $p)) "
     "(== $q $r)))"},
    {"bitwise precedence", "return a | b ~ c & d << e .. f, ~x, #y // 2 % 3 - 1",
     "(return (| $a (~ $b (& $c (<< $d (.. $e $f))))) (~ $x) (- (% (// (# $y) 2) 3) 1))"},
    {"left associative, parentheses kept", "return a - b - c, (a - (b))",
     "(return (- (- $a $b) $c) (paren (- $a (paren $b))))"},
    {"suffixes", "a.b[c]:d(1)'s'{x}.y()",
     "(eval (call (call (call (call (at $a.b $c) :d 1) \"s\") "
     "(table $x)).y))"},
    {"table", "return {1, x = 2, [3] = 4; y, f = f, ...,}",
     "(return (table 1 x=2 [3]=4 $y f=$f ...))"},
    {"local function sees itself, local does not", "local function f() f() end local g = g",
     "(localfn f^ (fn [ ] [ f^ ] (eval (call ^0:f)))) (local g := $g)"},
    {"methods have a self", "function a.b:c(x, ...) self.x = x end",
     "(define $a.b.c (fn [ self x ... ] [ ] (set self.x := x)))"},
    {"upvalues in Lua's order, through functions between",
     "local a, b = 1 local function f(x) print(b) return function() x = a + b end end",
     "(local a^ b^ := 1) (localfn f (fn [ x=^ ] [ _ENV^ b^ a^ ] (eval (call $print ^1:b)) "
     "(return (fn [ ] [ x=^ a^ b^ ] (set ^0:x := (+ ^1:a ^2:b))))))"},
    {"folded constants are no upvalues",
     "local n <const> = 2 * 8 local m <const> = f() return function() return n, m end",
     "(local n<const>^# := (* 2 8)) (local m<const>^ := (call $f)) "
     "(return (fn [ ] [ m<const>^ ] (return ^-1:n ^0:m)))"},
    {"_ENV is a variable", "local _ENV = {} x = _ENV", "(local _ENV := (table)) (set $x := _ENV)"},
    {"assignment and scopes", "local a do local a = a a = 1 end a, b[a] = a, 2",
     "(local a= :=) (do (local a= := a) (set a := 1)) (set a (at $b a) := a 2)"},
    {"loops", "for i = 1, n, 2 do i = i end for k, v in pairs(t) do break end while x do ; end",
     "(for i= := 1 $n 2 (set i := i)) (forin k v := (call $pairs $t) (break)) "
     "(while $x (nothing))"},
    {"repeat sees the body's locals", "repeat local x until x", "(repeat x (local x :=))"},
    {"if", "if a then b() elseif c then else d() end",
     "(if ($a (eval (call $b))) ($c) (else (eval (call $d))))"},
    {"goto", "do\ngoto on\nlocal x\n::on:: ; ::too::\nend\n::back::\ngoto back",
     "(do (goto on->4) (local x :=) (label on) (nothing) (label too)) (label back) (goto back->6)"},
    {"attributes", "local a <const>, b <close> = 1, nil", "(local a<const> b<close> := 1 nil)"},
    {"return may end with ';'", "do return end return 1;", "(do (return)) (return 1)"},
};

/* Each program has its tree. */
static void test_shapes(void) {
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    Parsed p = parse(shapes[i].text);
    TdText t = td_text_new(p.arena);
    if (p.ast)
      put_block(&t, &p.ast->main->body);
    else
      td_text_putf(&t, " error: %s", p.diag.message);
    is_text(td_text_str(&t) + 1, shapes[i].tree, shapes[i].name);
    done(&p);
  }
}

/* Each error: its text, code, place, and a twin that differs in one fact and is accepted. */
static const struct {
  const char *code, *text;
  uint32_t line, col, len;
  const char *twin;
} errors[] = {
    {"syntax", "for i = 1, 2 do\n  x = 1\n)", 3, 1, 1, "for i = 1, 2 do\n  x = 1\nend"},
    {"syntax", "x = = 1", 1, 5, 1, "x = 1"},
    {"syntax", "x y", 1, 3, 1, "x(y)"},
    {"syntax", "f() = 1", 1, 1, 1, "f().x = 1"},
    {"syntax", "(a) = 1", 1, 1, 1, "(a).b = 1"},
    {"syntax", "(f()) return", 1, 7, 6, "f() return"},
    {"syntax", "\tend", 1, 2, 3, "\tdo end"},
    {"syntax", "return 1 x = 2", 1, 10, 1, "do return 1 end x = 2"},
    {"syntax", "x = function(..., a) end", 1, 17, 1, "x = function(a, ...) end"},
    {"syntax", "for i do end", 1, 7, 2, "for i in x do end"},
    {"bad-character", "x = 1 ! 2", 1, 7, 1, "x = 1 ~ 2"},
    {"bad-number", "x = 0x", 1, 5, 2, "x = 0x0"},
    {"bad-number", "x = 1..2", 1, 5, 4, "x = 1 ..2"},
    {"bad-number", "x = 3in", 1, 5, 2, "x = 3"},
    {"bad-string", "x = 'ab\ny'", 1, 5, 3, "x = 'ab\\\ny'"},
    {"bad-string", "x = [=a", 1, 5, 1, "x = [=[a]=]"},
    {"bad-string", "x = 'ab", 1, 5, 3, "x = 'ab'"},
    {"bad-escape", "x = 'a\\q'", 1, 7, 2, "x = 'a\\n'"},
    {"bad-escape", "x = '\\300'", 1, 6, 5, "x = '\\200'"},
    {"bad-escape", "x = '\\xfg'", 1, 6, 4, "x = '\\xff'"},
    {"bad-escape", "x = '\\u{80000000}'", 1, 6, 11, "x = '\\u{7fffffff}'"},
    {"const-assign", "local x <const> = 1\nx = 2", 2, 1, 1, "local x = 1\nx = 2"},
    {"const-assign", "local x <close> = nil\nfunction f() y, x = 2 end", 2, 17, 1,
     "local x <close> = nil\nfunction f() y, x.y = 2 end"},
    {"const-assign", "local f <const> = 1\nfunction f() end", 2, 10, 1,
     "local f <const> = 1\nfunction f.g() end"},
    {"attrib-unknown", "local x <big> = 1", 1, 10, 3, "local x <const> = 1"},
    {"close-repeated", "local x <close>, y <close> = 1", 1, 18, 1, "local x <close>, y = 1"},
    {"vararg-outside", "function f() return ... end", 1, 21, 3, "function f(...) return ... end"},
    {"break-outside", "while x do f = function() break end end", 1, 27, 5, "while x do break end"},
    {"goto-undefined", "do ::a:: end\ngoto a", 2, 6, 1, "do ::a:: end ::a::\ngoto a"},
    {"goto-scope", "goto a\nlocal x\n::a:: x = 1", 1, 6, 1, "local x\ngoto a\n::a:: x = 1"},
    {"goto-scope", "repeat\ngoto a\nlocal x\n::a:: until x", 2, 6, 1,
     "repeat\ngoto a\n::a:: local x until x"},
    {"label-repeated", "::a:: do\n  ::a:: end", 2, 5, 1, "do ::a:: end do ::a:: end"},
    {"incomplete", "while x do", 1, 11, 0, "while x do end"},
};

/* Each error has its code and place, and its twin none. */
static void test_errors(void) {
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    Parsed p = parse(errors[i].text);
    TdText got = td_text_new(p.arena), want = td_text_new(p.arena);
    const TdDiag *d = &p.diag;
    td_text_putf(&got, "%s %u:%u+%u", p.ast ? "accepted" : d->code, d->loc.line, d->loc.col,
                 d->loc.len);
    td_text_putf(&want, "%s %u:%u+%u", errors[i].code, errors[i].line, errors[i].col,
                 errors[i].len);
    is_text(td_text_str(&got), td_text_str(&want), title(p.arena, errors[i].text));
    done(&p);
    p = parse(errors[i].twin);
    ok(p.ast, title(p.arena, errors[i].twin));
    if (!p.ast) printf("#   %s\n", p.diag.message);
    done(&p);
  }
}

/* Messages as the user reads them, notes included. */
static void test_messages(void) {
  Parsed p = parse("x = 1\nfor i = 1, 2 do\n  y = 2\n\nx)");
  TdText t = td_text_new(p.arena);
  td_diag_print(&t, &p.diag, p.sources);
  is_text(td_text_str(&t),
          "test:5:2: error: a name alone is not a statement, near ')' [syntax]\n"
          "     5 | x)\n       |  ^\n",
          "a statement that is none");
  done(&p);
  p = parse("for i = 1, 2 do\n  f(x)\nuntil");
  t = td_text_new(p.arena);
  td_diag_print(&t, &p.diag, p.sources);
  is_text(td_text_str(&t),
          "test:3:1: error: 'end' expected to close 'for' at line 1, near 'until' [syntax]\n"
          "     3 | until\n       | ^~~~~\n"
          "note: test:1:1: 'for' is here\n     1 | for i = 1, 2 do\n       | ^~~\n",
          "a block that is not closed");
  done(&p);
}

/* What more lines could complete, and what they could not. */
static void test_incomplete(void) {
  static const char *const more[] = {
      "for i = 1, 2 do", "x",         "x =",          "f(",    "x = {1,", "--[==[ a\nb]]",
      "x = [[ab\n",      "x = 'ab\\", "x = 'ab\\z  ", "local", "if x",    "x = 'ab\\\n",
      "function f(a,",   "x = 1 +",   "repeat x() ",  "goto",  "::a",     "return function()",
  };
  static const char *const never[] = {
      "x = 'ab",   "x = )",  "goto x", "break",       "end",         "x = 0x",
      "x = '\\x4", "x = [=", "for 1",  "local x <y>", "f() = g() +", "local 1 = {"};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
    Parsed p = parse(more[i]);
    ok(!p.ast && td_parse_is_incomplete(&p.diag), title(p.arena, more[i]));
    done(&p);
  }
  for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
    Parsed p = parse(never[i]);
    ok(!p.ast && !td_parse_is_incomplete(&p.diag), title(p.arena, never[i]));
    done(&p);
  }
}

/* The statement i of the main chunk. */
static const TdAstStmt *stmt(const Parsed *p, size_t i) {
  return p->ast->main->body.at[i];
}

/* "line:col+len first-last" against what is wanted. */
static void is_place(TdLoc loc, uint32_t first, uint32_t last, const char *want, const char *name) {
  char got[80];
  snprintf(got, sizeof got, "%u:%u+%u %u-%u", loc.line, loc.col, loc.len, first, last);
  is_text(got, want, name);
}

/* Nodes stand where the source has them. */
static void test_places(void) {
  Parsed p = parse("local t =\r\n  a.bc(\r\n 1,\r\n 2)\r\nfor i = 1, 2 do\n\tt[1] =\n"
                   "   xx + yy\nend\nobj:put(function\n(q) end)\n");
  is_place(stmt(&p, 0)->loc, stmt(&p, 0)->first, stmt(&p, 0)->last, "1:1+5 1-4", "local");
  const TdAstExpr *call = stmt(&p, 0)->local.values.at[0];
  is_place(call->loc, call->first, call->last, "2:5+2 2-4", "call");
  is_place(stmt(&p, 0)->local.vars.at[0]->loc, 0, 0, "1:7+1 0-0", "variable");
  const TdAstStmt *loop = stmt(&p, 1), *set = loop->each.body.at[0];
  is_place(loop->loc, loop->first, loop->last, "5:1+3 5-8", "loop");
  is_place(set->loc, loop->each.body.first, loop->each.body.last, "6:7+1 5-8", "block");
  is_place(set->assign.targets.at[0]->loc, set->first, set->last, "6:3+1 6-7", "index");
  const TdAstExpr *sum = set->assign.values.at[0];
  is_place(sum->loc, sum->first, sum->last, "7:7+1 7-7", "operator");
  const TdAstExpr *put = stmt(&p, 2)->call, *fn = put->call.args.at[0];
  is_place(put->loc, put->first, put->last, "9:5+3 9-10", "method");
  is_place(fn->loc, fn->first, fn->last, "9:9+8 9-10", "function");
  is_place(fn->fn->loc, fn->fn->line_defined, fn->fn->last_line_defined, "9:9+8 10-10",
           "function as Lua places it");
  done(&p);
}

/* Functions are found as Lua places them. */
static void test_functions(void) {
  Parsed p = parse("f(function(a) end, function(b, c) end)\nlocal function g()\nend\n"
                   "h = function()\n  return function() end end");
  TdAstFns two = td_ast_functions(p.ast, p.arena, 1, 1);
  ok(two.n == 2 && two.at[0]->params.n == 1 && two.at[1]->params.n == 2,
     "two functions on one line, in source order");
  TdAstFns none = td_ast_functions(p.ast, p.arena, 2, 2),
           g = td_ast_functions(p.ast, p.arena, 2, 3);
  ok(none.n == 0 && g.n == 1 && g.at[0]->level == 2, "a function by its first and last line");
  TdAstFns inner = td_ast_functions(p.ast, p.arena, 5, 5);
  ok(inner.n == 1 && inner.at[0]->level == 3 && inner.at[0]->outer->line_defined == 4,
     "a function in a function");
  ok(td_ast_functions(p.ast, p.arena, 0, 0).at[0] == p.ast->main, "the main chunk");
  done(&p);
}

/* Marks are kept with text and place; other comments are not. */
static void test_marks(void) {
  Parsed p =
      parse("--@ first\nx = 1 --@  unroll(2) \t\n--[[ --@ no\n]] y = '--@ no' --@\r\n-- @ no");
  ok(p.ast->marks.n == 3, "marks are counted");
  const TdAstMark *m = p.ast->marks.at;
  is_text(m[0].text, "first", "a mark on its own line");
  is_text(m[1].text, "unroll(2)", "a mark at the end of a line, without blanks");
  is_place(m[1].loc, m[2].loc.line, m[2].loc.col, "2:7+16 4-17", "places of marks");
  ok(m[2].n == 0, "an empty mark");
  done(&p);
}

/* Text made of `head`, n times `part`, and `tail`. */
static Parsed parse_repeated(const char *head, const char *part, size_t n, const char *tail) {
  TdCtx *ctx = td_ctx_new();
  TdArena *a = td_arena_new(ctx);
  TdText t = td_text_new(a);
  td_text_puts(&t, head);
  for (size_t i = 0; i < n; i++) td_text_puts(&t, part);
  td_text_puts(&t, tail);
  Parsed p = parse_bytes(td_text_str(&t), t.n, 0);
  td_arena_free(a);
  td_ctx_free(ctx);
  return p;
}

/* Inputs that nobody would write. */
static void test_hostile(void) {
  static const char nuls[] = "x = 'a\0b' -- \0 \xFF\n--[[\0]] y = '\xC3\x28'";
  Parsed p = parse_bytes(nuls, sizeof nuls - 1, 0);
  ok(p.ast && stmt(&p, 0)->assign.values.at[0]->string.n == 3, "NULs and bad UTF-8 in strings");
  done(&p);
  p = parse_bytes("x =\0 1", 6, 0);
  ok(!p.ast && strcmp(p.diag.code, "bad-character") == 0, "a NUL elsewhere");
  done(&p);
  p = parse_bytes("", 0, 0);
  ok(p.ast && p.ast->main->body.n == 0, "the empty chunk");
  done(&p);
  static const char script[] = "\xEF\xBB\xBF#!/usr/bin/tide\nx = 1";
  p = parse_bytes(script, sizeof script - 1, TD_PARSE_FILE);
  ok(p.ast && stmt(&p, 0)->loc.line == 2, "a file may begin with a mark and '#'");
  done(&p);
  p = parse_bytes(script + 3, sizeof script - 4, 0);
  ok(!p.ast, "a chunk may not");
  done(&p);
  p = parse_repeated("x = 1", " + 1", 300000, "");
  const TdAstExpr *sum = p.ast ? stmt(&p, 0)->assign.values.at[0] : NULL;
  ok(sum && sum->loc.col == UINT16_MAX && sum->constant->integer == 300001, "a line of a megabyte");
  done(&p);
  p = parse_repeated("x = a", ".b[1]()", 100000, "");
  ok(p.ast, "a chain of a hundred thousand calls");
  done(&p);
  p = parse_repeated("x = ", "(", 500000, "");
  ok(!p.ast && strcmp(p.diag.code, "too-deep") == 0 && p.diag.loc.col == 203, "too deep");
  done(&p);
  p = parse_repeated("local _", ",_", 199, "");
  ok(p.ast, "200 locals");
  done(&p);
  p = parse_repeated("local _", ",_", 200, "");
  ok(!p.ast && strcmp(p.diag.code, "too-many-locals") == 0 && p.diag.loc.col == 407, "201 locals");
  done(&p);
  p = parse_repeated("f(1", ",1", 253, ")");
  ok(!p.ast && strcmp(p.diag.code, "too-many-values") == 0, "254 arguments");
  done(&p);
}

/* A function that uses n locals of each of the two functions around it. */
static void test_upvalues(void) {
  for (size_t n = 127; n <= 128; n++) {
    TdCtx *ctx = td_ctx_new();
    TdArena *a = td_arena_new(ctx);
    TdText t = td_text_new(a), uses = td_text_new(a);
    td_text_puts(&t, "local x0");
    for (size_t i = 1; i < n; i++) td_text_putf(&t, ", x%zu", i);
    td_text_puts(&t, "\nfunction f()\nlocal y0");
    for (size_t i = 1; i < n; i++) td_text_putf(&t, ", y%zu", i);
    for (size_t i = 0; i < n; i++) td_text_putf(&uses, "x%zu = y%zu ", i, i);
    td_text_putf(&t, "\nfunction g()\n%s end end", td_text_str(&uses));
    Parsed p = parse_bytes(td_text_str(&t), t.n, 0);
    if (n == 127)
      ok(p.ast, "254 upvalues, and _ENV");
    else
      ok(!p.ast && strcmp(p.diag.code, "too-many-upvalues") == 0 && p.diag.loc.line == 5,
         "256 upvalues");
    done(&p);
    td_arena_free(a);
    td_ctx_free(ctx);
  }
}

static jmp_buf escaped;

/* Comes back to where the jump was set. */
static void escape(void *ud, TdWhy why) {
  *(TdWhy *)ud = why;
  longjmp(escaped, 1);
}

/* Ctrl-C ends a parse. */
static void test_interrupt(void) {
  static TdWhy why = TD_WHY_MEMORY;
  TdCtx *ctx = td_ctx_new();
  TdArena *a = td_arena_new(ctx);
  TdDiag diag = {.arena = a};
  TdSources *sources = td_sources_new(a);
  uint32_t id = td_sources_add(sources, "=test", "x = 1", 5);
  td_ctx_set_escape(ctx, escape, &why);
  td_ctx_interrupt(ctx);
  if (setjmp(escaped) == 0) td_parse_chunk(a, td_names_new(a), sources, id, 0, &diag);
  ok(why == TD_WHY_INTERRUPT, "an interrupt ends a parse");
  td_arena_free(a);
  td_ctx_free(ctx);
}

int main(void) {
  test_shapes();
  test_errors();
  test_messages();
  test_incomplete();
  test_places();
  test_functions();
  test_marks();
  test_hostile();
  test_upvalues();
  test_interrupt();
  return done_testing();
}
