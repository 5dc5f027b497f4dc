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

int td_repl_run(struct lua_State *L) {
  TdLineHooks hooks = {.ud = L,
                       .state = input_state,
                       .indent = indent,
                       .highlight = highlight,
                       .match = match,
                       .complete = complete};
  TdLine *line = td_line_new(td_prompt_ctx(L), &hooks, STDIN_FILENO, STDOUT_FILENO);
  td_prompt_watch(L, true);
  for (;;) {
    const char *text;
    size_t n;
    TdLineResult r = td_line_read(line, "tide> ", "  ..> ", &text, &n);
    if (r == TD_LINE_EOF) break;
    if (r == TD_LINE_INTERRUPTED || n == 0) continue;
    td_prompt_run(L, text, n);
    if (td_prompt_quits(L)) break;
  }
  td_prompt_watch(L, false);
  td_line_free(line);
  return 0;
}
