/* repl.c - read an input, run it, again; nothing that an input does ends the session. */
#include "repl/repl.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "repl/colour.h"
#include "repl/journal.h"
#include "repl/line.h"
#include "tide.h"

static bool asks; /* a line is read that is no Lua */

static TdInputState input_state(void *ud, const char *text, size_t n) {
  if (asks) return TD_INPUT_WHOLE;
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

/* Reads a line for :debug. */
static bool ask(void *ud, const char *prompt, TdText *line) {
  Reader *r = ud;
  const char *text;
  size_t n;
  asks = true;
  TdLineResult result = td_line_read(r->line, prompt, prompt, &text, &n);
  asks = false;
  if (result != TD_LINE_TEXT) return false;
  td_text_putn(line, text, n);
  return true;
}

/* Reads an input; the end when even a second try finds no room for it. */
static TdLineResult next_input(struct lua_State *L, Reader *r) {
  for (int tries = 0; tries < 2; tries++)
    if (td_prompt_guard(L, read_input, r)) return r->result;
  return TD_LINE_EOF;
}

/* Whether a command is to be run again, though it is no input of a script. */
static bool is_setting(const char *text, size_t n) {
  return n > 5 && strncmp(text, ":set ", 5) == 0;
}

/* Runs an input, which the journal has before. */
static void run_noted(struct lua_State *L, TdJournal *j, const char *text, size_t n) {
  size_t before = td_prompt_kept(L);
  if (!td_prompt_has_journal(L)) td_journal_close(j);
  if (!td_journal_begin(j, text, n))
    fputs("(the journal is full: tide --resume will replay the inputs before this one)\n", stderr);
  bool ok = td_prompt_run(L, text, n);
  td_journal_end(j, td_prompt_kept(L) > before || (ok && is_setting(text, n)));
}

/* An input after the prompt that it was given at. */
static void print_input(const char *text, size_t n) {
  for (const char *at = text; at < text + n;) {
    size_t line = 0;
    while (at + line < text + n && at[line] != '\n') line++;
    printf("%s%.*s\n", at == text ? "tide> " : "  ..> ", (int)line, at);
    at += line + 1;
  }
  fflush(stdout);
}

/* Runs the inputs of a session that was killed, and says how it ended. */
static void replay(struct lua_State *L, const TdJournalLeft *left) {
  if (chdir(left->folder) != 0) fprintf(stderr, "(its folder %s is gone)\n", left->folder);
  for (size_t i = 0; i < left->input.n; i++) {
    print_input(left->input.at[i].text, left->input.at[i].n);
    td_prompt_run(L, left->input.at[i].text, left->input.at[i].n);
  }
  printf("(%zu input%s of the session in %s)\n", left->input.n, left->input.n == 1 ? "" : "s",
         left->folder);
  if (left->full) puts("(its journal was full then: what came later is not known)");
  if (left->last.n) {
    puts("(it was killed while it ran this, which is not run again:)");
    print_input(left->last.text, left->last.n);
  }
  fflush(stdout);
}

static void close_journal(void *journal) {
  td_journal_close(journal);
}

int td_repl_run(struct lua_State *L, bool resumes) {
  TdLineHooks hooks = {.ud = L,
                       .state = input_state,
                       .indent = indent,
                       .highlight = highlight,
                       .match = match,
                       .complete = complete};
  TdCtx *ctx = td_prompt_ctx(L);
  Reader r = {.ctx = ctx, .line = td_line_new(ctx, &hooks, STDIN_FILENO, STDOUT_FILENO)};
  TdArena *life = td_arena_new(ctx);
  TdJournalLeft left = {.last = {0}};
  TdJournal *j = td_journal_open(life, td_journal_folder(life), resumes ? &left : NULL);
  if (!j) {
    fputs("tide: no session was killed that could be resumed\n", stderr);
    td_line_free(r.line);
    td_arena_free(life);
    return 1;
  }
  td_prompt_at_exit(close_journal, j);
  td_prompt_set_asker(ask, &r);
  td_prompt_watch(L, true);
  if (resumes) replay(L, &left);
  while (!td_prompt_quits(L)) {
    td_line_set_ghost(r.line, td_prompt_has_ghost(L));
    td_line_watch(r.line, td_prompt_bell(), hear, &r);
    hear(&r);
    TdLineResult result = next_input(L, &r);
    if (result == TD_LINE_EOF) break;
    if (result == TD_LINE_TEXT && r.n) run_noted(L, j, r.text, r.n);
  }
  td_prompt_at_exit(NULL, NULL);
  td_prompt_set_asker(NULL, NULL);
  td_journal_close(j);
  td_prompt_watch(L, false);
  td_prompt_close();
  td_line_free(r.line);
  td_arena_free(life);
  return 0;
}
