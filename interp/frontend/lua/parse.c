/* parse.c - the chunk, and the tokens and errors of its parser. */
#include "frontend/lua/parse.h"

#include <string.h>

#include "frontend/lua/habit.h"
#include "frontend/lua/parser.h"

#define MAX_LEVELS 199

/* Has every further token be the end of the input. */
static void stop(TdParser *p) {
  p->has_ahead = false;
  p->tok.kind = TD_TOK_EOF;
}

void td_parse_next(TdParser *p) {
  p->prev_last = p->tok.last;
  if (p->has_ahead)
    p->tok = p->ahead;
  else
    p->tok = td_lex_next(&p->lex);
  p->has_ahead = false;
}

TdTokKind td_parse_ahead(TdParser *p) {
  if (!p->has_ahead) p->ahead = td_lex_next(&p->lex);
  p->has_ahead = true;
  return p->ahead.kind;
}

bool td_parse_accept(TdParser *p, TdTokKind kind) {
  if (p->tok.kind != kind) return false;
  td_parse_next(p);
  return true;
}

void td_parse_expect(TdParser *p, TdTokKind kind) {
  bool condition = kind == TD_TOK_THEN || kind == TD_TOK_DO;
  bool braces = p->tok.kind == TD_TOK_LBRACE && !td_diag_failed(p->diag);
  bool compares = condition && p->tok.kind == TD_TOK_ASSIGN && !td_diag_failed(p->diag);
  if (!td_parse_accept(p, kind)) td_parse_unexpected(p, "'%s' expected", td_lex_text(kind));
  if (compares)
    td_diag_help(p->diag, "== compares, = assigns");
  else if (condition && braces)
    td_diag_help(p->diag, "Lua writes do .. end and then .. end, not { .. }");
}

void td_parse_close(TdParser *p, TdTokKind kind, TdTokKind opener, TdLoc loc) {
  if (td_parse_accept(p, kind) || td_diag_failed(p->diag)) return;
  TdTokKind found = p->tok.kind;
  bool lists = kind == TD_TOK_RPAREN || kind == TD_TOK_RBRACE;
  if (loc.line == p->tok.loc.line)
    td_parse_unexpected(p, "'%s' expected to close '%s'", td_lex_text(kind), td_lex_text(opener));
  else
    td_parse_unexpected(p, "'%s' expected to close '%s' at line %u,", td_lex_text(kind),
                        td_lex_text(opener), loc.line);
  td_diag_note(p->diag, loc, "'%s' is here", td_lex_text(opener));
  if (kind == TD_TOK_RBRACKET && found == TD_TOK_COMMA)
    td_diag_help(p->diag, "each dimension has brackets of its own: [M][N]");
  else if (lists && (found == TD_TOK_NAME || found == TD_TOK_INT || found == TD_TOK_STRING))
    td_diag_help(p->diag, "is a comma missing?");
}

const char *td_parse_name(TdParser *p) {
  const char *name = p->tok.kind == TD_TOK_NAME ? p->tok.name : "?";
  if (!td_parse_accept(p, TD_TOK_NAME)) td_parse_unexpected(p, "a name expected");
  return name;
}

/* Sets the diag to this message, followed by `near` if it is not NULL. */
static void report(TdParser *p, const char *code, TdLoc loc, const char *near, const char *fmt,
                   va_list ap) {
  stop(p);
  if (td_diag_failed(p->diag)) return;
  TdText t = td_text_new(p->diag->arena);
  td_text_vputf(&t, fmt, ap);
  if (near) td_text_putf(&t, " near %s", near);
  td_diag_set(p->diag, TD_USAGE, code, loc, "%s", td_text_str(&t));
}

void td_parse_unexpected(TdParser *p, const char *fmt, ...) {
  bool at_end = p->tok.kind == TD_TOK_EOF, first = !td_diag_failed(p->diag);
  const char *help =
      at_end || !first ? NULL : td_habit_help(p->diag->arena, p->lex.begin, p->tok.at, p->lex.end);
  va_list ap;
  va_start(ap, fmt);
  report(p, at_end ? "incomplete" : "syntax", p->tok.loc, td_lex_shown(p->diag->arena, &p->tok),
         fmt, ap);
  va_end(ap);
  if (help) td_diag_help(p->diag, "%s", help);
}

void td_parse_error(TdParser *p, const char *code, TdLoc loc, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  report(p, code, loc, NULL, fmt, ap);
  va_end(ap);
}

void td_parse_enter(TdParser *p) {
  if (++p->level > MAX_LEVELS)
    td_parse_error(p, "too-deep", p->tok.loc, "more than %d levels of nesting", MAX_LEVELS);
}

void td_parse_leave(TdParser *p, int levels) {
  p->level -= levels;
}

/* Parses the main function, which Lua gives the upvalue _ENV and any arguments. */
static const TdAstFn *parse_main(TdParser *p) {
  TdAstFn *fn = TD_NEW(p->arena, TdAstFn);
  *fn = (TdAstFn){.loc = {p->lex.source, 1, 1, 0}, .level = 1, .is_vararg = true};
  td_vec_push(p->arena, &p->functions, fn);
  TdScopeFn scope;
  td_scope_open_fn(&p->scope, &scope, fn);
  td_scope_resolve(&p->scope, p->scope.env, fn->loc);
  fn->body = td_parse_stmt_list(p, TD_TOK_EOF, fn->loc);
  if (p->tok.kind != TD_TOK_EOF) td_parse_unexpected(p, "the end of the input expected");
  td_scope_close_fn(&p->scope);
  return fn;
}

const TdAst *td_parse_chunk(TdArena *a, TdNames *names, const TdSources *sources,
                            uint32_t source_id, unsigned flags, TdDiag *diag) {
  size_t n;
  const char *text = td_sources_code(sources, source_id, &n);
  TdParser p = {.arena = a, .diag = diag, .prev_last = 1};
  p.is_input = (flags & TD_PARSE_INPUT) != 0;
  p.lex = td_lex_open(a, names, diag, source_id, text, n);
  if (flags & TD_PARSE_FILE) td_lex_skip_file_head(&p.lex);
  td_scope_open(&p.scope, a, names, diag);
  p.tok = td_lex_next(&p.lex);
  TdAst *ast = TD_NEW(a, TdAst);
  *ast = (TdAst){.main = parse_main(&p)};
  ast->functions = (TdAstFns){p.functions.at, p.functions.n};
  ast->marks.at = p.lex.marks.at;
  ast->marks.n = p.lex.marks.n;
  return td_diag_failed(diag) ? NULL : ast;
}

bool td_parse_is_incomplete(const TdDiag *diag) {
  return td_diag_failed(diag) && strcmp(diag->code, "incomplete") == 0;
}
