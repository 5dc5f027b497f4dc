/* input.c - what an input of the prompt is compiled as. */
#include "frontend/input.h"

#include <string.h>

typedef struct Rewriter {
  TdText text;
  const char *from;
  size_t n;
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

static void blank(char *s, size_t at, size_t n) {
  memset(s + at, ' ', n);
}

/* Blanks an attribute "<const>" that follows a declared name. */
static void blank_attribute(char *s, size_t n, size_t at) {
  while (at < n && s[at] != '<') at++;
  while (at < n && s[at] != '>') s[at++] = ' ';
  if (at < n) s[at] = ' ';
}

/* Whether a place is so far to the right that its column is not known. */
static bool is_far(TdLoc loc) {
  return loc.col == UINT16_MAX;
}

static bool refuse_far(TdLoc loc, TdDiag *d) {
  td_diag_help(d, "begin another line before it");
  return td_diag_set(d, TD_USAGE, "line-length", loc, "this line of the input is too long");
}

/* Blanks what makes a top-level statement local; *nil_at is where "=nil" must go for `local x` (or
 * n). */
static bool make_global(const Rewriter *r, char *s, const TdAstStmt *st, size_t *nil_at,
                        TdDiag *d) {
  *nil_at = SIZE_MAX;
  if (st->kind != TD_AST_LOCAL && st->kind != TD_AST_LOCAL_FUNCTION) return true;
  if (is_far(st->begin)) return refuse_far(st->begin, d);
  blank(s, offset_of(r, st->begin), strlen("local"));
  if (st->kind == TD_AST_LOCAL_FUNCTION) return true;
  for (size_t i = 0; i < st->local.vars.n; i++) {
    const TdAstLocal *v = st->local.vars.at[i];
    if (is_far(v->loc)) return refuse_far(v->loc, d);
    size_t end = offset_of(r, v->loc) + strlen(v->name);
    if (v->attrib == TD_AST_CLOSE) {
      td_diag_help(d, "write it inside do ... end");
      return td_diag_set(d, TD_USAGE, "close-input", v->loc,
                         "a <close> variable ends with its block, and "
                         "an input is not one");
    }
    if (v->attrib != TD_AST_PLAIN) blank_attribute(s, r->n, end);
    if (!st->local.values.n && i + 1 == st->local.vars.n) *nil_at = end;
  }
  return true;
}

/* Whether the input ends in ';' (blanks and comments aside), which silences it. */
static bool is_silenced(const char *text, size_t n) {
  while (n && strchr(" \t\r\n", text[n - 1])) n--;
  return n && text[n - 1] == ';';
}

bool td_input_rewrite(TdArena *a, const char *text, size_t n, const TdAst *ast, TdInputCode *out,
                      TdDiag *d) {
  Rewriter r = {.from = text, .n = n, .line = line_offsets(a, text, n)};
  char *s = td_arena_strndup(a, text, n);
  const TdAstBlock *b = &ast->main->body;
  TdText tree = td_text_new(a);
  size_t done = 0;
  for (size_t i = 0; i < b->n; i++) {
    size_t nil_at;
    if (!make_global(&r, s, b->at[i], &nil_at, d)) return false;
    if (nil_at == SIZE_MAX) continue;
    td_text_putn(&tree, s + done, nil_at - done);
    td_text_puts(&tree, "=nil");
    done = nil_at;
  }
  td_text_putn(&tree, s + done, n - done);
  const TdAstStmt *last = b->n ? b->at[b->n - 1] : NULL;
  while (last && last->kind == TD_AST_EMPTY && b->n > 1) last = b->at[b->n - 2];
  bool value = last && last->kind == TD_AST_EVAL;
  bool answers = value || (last && last->kind == TD_AST_RETURN);
  if (value && is_far(last->begin)) return refuse_far(last->begin, d);
  out->tree = td_text_str(&tree);
  out->ntree = tree.n;
  out->shows = answers && !is_silenced(text, n);
  out->lua = out->tree;
  out->nlua = out->ntree;
  if (!value) return true;
  size_t at = offset_of(&r, last->begin) + (tree.n - n);
  TdText lua = td_text_new(a);
  td_text_putn(&lua, out->tree, at);
  td_text_puts(&lua, "return ");
  td_text_putn(&lua, out->tree + at, out->ntree - at);
  out->lua = td_text_str(&lua);
  out->nlua = lua.n;
  return true;
}
