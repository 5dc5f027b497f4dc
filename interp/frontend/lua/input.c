/* input.c - what an input of the prompt is compiled as. */
#include "frontend/lua/input.h"

#include <string.h>

#include "frontend/lua/walk_ast.h"

/* An input being rewritten: a copy in which what goes is overwritten by `blank`; NULs are left out
 * when it is put. */
typedef struct Rewriter {
  char *text;
  size_t n;
  char blank;
  const uint32_t *line; /* offset of each line, from 1 */
} Rewriter;

/* Offset of a place in the text. */
static size_t offset_of(const Rewriter *r, TdLoc loc) {
  return r->line[loc.line] + loc.col - 1u;
}

static const uint32_t *line_offsets(TdArena *a, const char *text, size_t n) {
  TD_VEC(uint32_t) v = {0};
  td_vec_push(a, &v, 0);
  td_vec_push(a, &v, 0);
  for (size_t i = 0; i < n;) {
    size_t end = td_sources_line_end(text + i, n - i);
    i += end ? end : 1;
    if (end) td_vec_push(a, &v, (uint32_t)i);
  }
  return v.at;
}

static void blank(const Rewriter *r, size_t at, size_t n) {
  memset(r->text + at, r->blank, n);
}

/* Blanks the word `local`; where it is to leave nothing, also what divides it from the next. */
static void blank_local(const Rewriter *r, size_t at) {
  size_t n = strlen("local");
  while (!r->blank && at + n < r->n && strchr(" \t", r->text[at + n])) n++;
  blank(r, at, n);
}

/* Blanks an attribute "<const>" that follows a declared name. */
static void blank_attribute(const Rewriter *r, size_t at) {
  size_t from = at;
  while (at < r->n && r->text[at] != '>') at++;
  blank(r, from, at < r->n ? at - from + 1 : at - from);
}

/* Whether a place is so far to the right that its column is not known. */
static bool is_far(TdLoc loc) {
  return loc.col == UINT16_MAX;
}

static bool refuse_far(TdLoc loc, TdDiag *d) {
  td_diag_help(d, "begin another line before it");
  return td_diag_set(d, TD_USAGE, "line-length", loc, "this line of the input is too long");
}

/* Moves the names of `local x`, which end at byte `end`, to the left over the blanked word, so that
 * "=nil" has room behind them and what follows keeps its columns. */
static void set_nil(const Rewriter *r, size_t begin, size_t end) {
  static const char nil[] = {'=', 'n', 'i', 'l'};
  memmove(r->text + begin, r->text + begin + sizeof nil, end - begin - sizeof nil);
  memcpy(r->text + end - sizeof nil, nil, sizeof nil);
}

/* Blanks what makes a top-level statement local; *nil_at is where " = nil" must be put for
 * `local x` (or SIZE_MAX). */
static bool make_global(const Rewriter *r, const TdAstStmt *st, size_t *nil_at, TdDiag *d) {
  *nil_at = SIZE_MAX;
  if (st->kind != TD_AST_LOCAL && st->kind != TD_AST_LOCAL_FUNCTION) return true;
  if (is_far(st->begin)) return refuse_far(st->begin, d);
  blank_local(r, offset_of(r, st->begin));
  if (st->kind == TD_AST_LOCAL_FUNCTION) return true;
  size_t end = SIZE_MAX;
  for (size_t i = 0; i < st->local.vars.n; i++) {
    const TdAstLocal *v = st->local.vars.at[i];
    if (is_far(v->loc)) return refuse_far(v->loc, d);
    end = offset_of(r, v->loc) + strlen(v->name);
    if (v->attrib == TD_AST_CLOSE) {
      td_diag_help(d, "write it inside do ... end");
      return td_diag_set(d, TD_USAGE, "close-input", v->loc,
                         "a <close> variable ends with its block, and "
                         "an input is not one");
    }
    if (v->attrib != TD_AST_PLAIN) blank_attribute(r, end);
  }
  if (st->local.values.n) return true;
  if (r->blank)
    set_nil(r, offset_of(r, st->begin), end);
  else
    *nil_at = end;
  return true;
}

/* Puts the bytes [from, to) that were not left out. */
static void put(const Rewriter *r, size_t from, size_t to, TdText *out) {
  for (size_t i = from; i < to; i++)
    if (r->text[i]) td_text_putc(out, r->text[i]);
}

/* Puts the input with its top-level statements made global. *at is where statement `last`, if it is
 * not NULL, begins in it. */
static bool put_global(Rewriter *r, const TdAstBlock *b, const TdAstStmt *last, size_t *at,
                       TdText *out, TdDiag *d) {
  size_t done = 0, nil_at;
  for (size_t i = 0; i < b->n; i++) {
    if (b->at[i] == last) {
      size_t begin = offset_of(r, last->begin);
      put(r, done, begin, out);
      *at = out->n;
      done = begin;
    }
    if (!make_global(r, b->at[i], &nil_at, d)) return false;
    if (nil_at == SIZE_MAX) continue;
    put(r, done, nil_at, out);
    td_text_puts(out, " = nil");
    done = nil_at;
  }
  put(r, done, r->n, out);
  return true;
}

/* The statement that ends the input with values, an expression or a return; or NULL. */
static const TdAstStmt *last_of(const TdAstBlock *b) {
  size_t n = b->n;
  while (n > 1 && b->at[n - 1]->kind == TD_AST_EMPTY) n--;
  const TdAstStmt *last = n ? b->at[n - 1] : NULL;
  return last && (last->kind == TD_AST_EVAL || last->kind == TD_AST_RETURN) ? last : NULL;
}

static Rewriter open_text(TdArena *a, const char *text, size_t n, char blank) {
  return (Rewriter){td_arena_strndup(a, text, n), n, blank, line_offsets(a, text, n)};
}

/* Whether the input ends in ';' (blanks and comments aside), which silences it. */
static bool is_silenced(const char *text, size_t n) {
  while (n && strchr(" \t\r\n", text[n - 1])) n--;
  return n && text[n - 1] == ';';
}

bool td_input_rewrite(TdArena *a, const char *text, size_t n, const TdAst *ast, TdInputCode *out,
                      TdDiag *d) {
  Rewriter r = open_text(a, text, n, ' ');
  const TdAstBlock *b = &ast->main->body;
  const TdAstStmt *last = last_of(b);
  TdText tree = td_text_new(a);
  size_t at = 0;
  if (last && is_far(last->begin)) return refuse_far(last->begin, d);
  if (!put_global(&r, b, last, &at, &tree, d)) return false;
  out->tree = out->lua = td_text_str(&tree);
  out->ntree = out->nlua = tree.n;
  out->shows = last && !is_silenced(text, n);
  if (!last || last->kind == TD_AST_RETURN) return true;
  TdText lua = td_text_new(a);
  td_text_putn(&lua, out->tree, at);
  td_text_puts(&lua, TD_INPUT_RETURNS);
  td_text_putn(&lua, out->tree + at, out->ntree - at);
  out->lua = td_text_str(&lua);
  out->nlua = lua.n;
  return true;
}

/* A visitor that looks for a call among expressions. */
static bool note_call(void *found, const TdAstExpr *e) {
  if (e->kind == TD_AST_CALL || e->kind == TD_AST_METHOD) *(bool *)found = true;
  return e->kind != TD_AST_FUNCTION;
}

/* What the last statement is to a script. */
static TdInputLast last_kind(const TdAstStmt *last) {
  if (!last) return TD_INPUT_NONE;
  if (last->kind == TD_AST_RETURN) return TD_INPUT_RETURN;
  bool is_call = last->call->kind == TD_AST_CALL || last->call->kind == TD_AST_METHOD,
       calls = false;
  if (is_call && !last->rest.n) return TD_INPUT_CALL;
  TdAstVisitor v = {.expr = note_call, .ud = &calls};
  td_walk_ast_expr(&v, last->call);
  for (size_t i = 0; i < last->rest.n; i++) td_walk_ast_expr(&v, last->rest.at[i]);
  return calls ? TD_INPUT_CALLS : TD_INPUT_VALUE;
}

bool td_input_script(TdArena *a, const char *text, size_t n, const TdAst *ast, TdInputScript *out,
                     TdDiag *d) {
  Rewriter r = open_text(a, text, n, 0);
  const TdAstStmt *last = last_of(&ast->main->body);
  TdText script = td_text_new(a);
  if (!put_global(&r, &ast->main->body, last, &out->at, &script, d)) return false;
  out->text = td_text_str(&script);
  out->n = script.n;
  out->last = last_kind(last);
  out->shows = last && !is_silenced(text, n);
  return true;
}
