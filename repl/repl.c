/* repl.c - read an input, run it, again; nothing that an input does ends the session. */
#include "repl/repl.h"

#include <stdio.h>
#include <unistd.h>

#include "repl/colour.h"
#include "repl/line.h"
#include "tide.h"

static TdInputState input_state(void *ud, const char *text, size_t n) {
  switch (td_prompt_state(ud, text, n)) {
  case TD_PROMPT_WHOLE: return TD_INPUT_WHOLE;
  case TD_PROMPT_MORE: return TD_INPUT_MORE;
  default: return TD_INPUT_WRONG;
  }
}

static int indent(void *ud, const char *text, size_t n, size_t line) {
  (void)ud;
  return td_colour_indent(text, n, line);
}

static void highlight(void *ud, const char *text, size_t n, TdSpans *out) {
  (void)ud;
  td_colour_spans(text, n, out);
}

static bool match(void *ud, const char *text, size_t n, size_t at, size_t *partner) {
  (void)ud;
  return td_colour_match(text, n, at, partner);
}

static void complete(void *ud, const char *text, size_t n, size_t cursor, TdLineItems *out) {
  (void)n;
  TdPromptItems found = {.arena = out->arena};
  td_prompt_complete(ud, text, cursor, &found);
  out->from = found.from;
  out->to = cursor;
  for (size_t i = 0; i < found.list.n; i++) {
    TdLineItem item = {.insert = found.list.at[i].insert, .help = found.list.at[i].help};
    td_vec_push(out->arena, &out->items, item);
  }
}

/* What the prompt is reading. */
typedef struct Reader {
  TdCtx *ctx;
  TdLine *line;
  const char *text;
  size_t n;
  TdLineResult result;
} Reader;

/* Tells above the prompt what jobs have come to. */
static void hear(void *ud) {
  Reader *r = ud;
  size_t n;
  TdArena *a = td_arena_scratch(r->ctx);
  const char *text = td_prompt_hear(a, &n);
  if (n) td_line_print_above(r->line, text, n);
  td_arena_free(a);
}

static void read_input(struct lua_State *L, TdArena *a, void *ud) {
  (void)L, (void)a;
  Reader *r = ud;
  r->result = td_line_read(r->line, "tide> ", "  ..> ", &r->text, &r->n);
}

/* Reads an input; the end when even a second try finds no room for it. */
static TdLineResult next_input(struct lua_State *L, Reader *r) {
  for (int tries = 0; tries < 2; tries++)
    if (td_prompt_guard(L, read_input, r)) return r->result;
  return TD_LINE_EOF;
}

int td_repl_run(struct lua_State *L) {
  TdLineHooks hooks = {.ud = L,
                       .state = input_state,
                       .indent = indent,
                       .highlight = highlight,
                       .match = match,
                       .complete = complete};
  TdCtx *ctx = td_prompt_ctx(L);
  Reader r = {.ctx = ctx, .line = td_line_new(ctx, &hooks, STDIN_FILENO, STDOUT_FILENO)};
  td_prompt_watch(L, true);
  while (!td_prompt_quits(L)) {
    td_line_set_ghost(r.line, td_prompt_has_ghost(L));
    td_line_watch(r.line, td_prompt_bell(), hear, &r);
    hear(&r);
    TdLineResult result = next_input(L, &r);
    if (result == TD_LINE_EOF) break;
    if (result == TD_LINE_TEXT && r.n) td_prompt_run(L, r.text, r.n);
  }
  td_prompt_watch(L, false);
  td_prompt_close();
  td_line_free(r.line);
  return 0;
}
