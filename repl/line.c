/* line.c - the editor's life and its one loop: wait, decode, change, repaint. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "repl/editor.h"
#include "repl/tty.h"

#define HISTORY_CAP 10000
#define ESCAPE_MS 40

TdLine *td_line_new(TdCtx *c, const TdLineHooks *hooks, int in, int out) {
  TdArena *own = td_arena_new(c);
  TdLine *l = TD_NEW(own, TdLine);
  l->ctx = c;
  l->own = own;
  l->hooks = hooks;
  l->in = in;
  l->out = out;
  l->is_able = td_tty_is_able(in, out);
  l->is_plain = !td_tty_has_colour();
  l->has_ghost = true;
  l->watched = -1;
  l->line = td_arena_new(c);
  l->look = td_arena_new(c);
  l->keys.arena = own;
  l->typed = td_text_new(own);
  l->kill.ctx = c;
  l->history = td_history_new(c, td_history_path(own), HISTORY_CAP);
  l->screen = td_screen_new(c);
  l->recall = (TdRecall){.arena = td_arena_new(c), .history = l->history};
  l->menu.found.arena = td_arena_new(c);
  return l;
}

void td_line_free(TdLine *l) {
  if (!l) return;
  td_arena_free(l->menu.found.arena);
  td_arena_free(l->recall.arena);
  td_screen_free(&l->screen);
  td_history_free(l->history);
  td_kill_free(&l->kill);
  td_arena_free(l->look);
  td_arena_free(l->line);
  td_arena_free(l->own);
}

void td_line_watch(TdLine *l, int fd, void (*ready)(void *ud), void *ud) {
  l->watched = fd;
  l->ready = ready;
  l->ready_ud = ud;
}

void td_line_set_ghost(TdLine *l, bool on) {
  l->has_ghost = on;
}

void td_line_print_above(TdLine *l, const char *text, size_t n) {
  if (!l->is_up || n == 0) {
    td_tty_write(l->out, text, n);
    return;
  }
  TdText out = td_screen_erase(&l->screen);
  td_text_putn(&out, text, n);
  if (text[n - 1] != '\n') td_text_putc(&out, '\n');
  td_tty_write(l->out, out.at, out.n);
}

/* Sends what the screen made. */
static void write_text(TdLine *l, TdText out) {
  td_tty_write(l->out, out.at, out.n);
}

/* Begins the prompt in a row of its own: blanks to the margin wrap unless the row was empty. */
static void start_screen(TdLine *l) {
  int rows, cols;
  td_tty_size(l->out, &rows, &cols);
  td_screen_start(&l->screen, rows, cols);
  TdText out = td_text_new(l->line);
  td_text_putf(&out, "%*s\r", cols, "");
  write_text(l, out);
}

/* Follows the window to its new size. */
static void resize(TdLine *l) {
  int rows, cols;
  td_tty_size(l->out, &rows, &cols);
  write_text(l, td_screen_resize(&l->screen, rows, cols, td_tty_is_reflowing()));
}

/* Whether a character goes on with the word that is being typed, to be undone with it. */
static bool continues_word(const TdLine *l, const TdKey *key) {
  return !l->last && *key->text != ' ' && l->draft.cursor > 0;
}

/* Does what a key means for the text. */
static void edit(TdLine *l, const TdKey *key) {
  TdCommand *command = td_keymap_find(key->code);
  if (command || !key->text || !continues_word(l, key)) td_draft_group(&l->draft);
  l->has_killed = false;
  if (command)
    command(l);
  else if (key->code == TD_KEY_PASTE)
    td_change_paste(l, key->text, key->n);
  else if (key->text)
    td_change_type(l, key->text, key->n);
  l->last = command;
  if (!l->has_killed) l->kill.open = false;
}

/* Takes a key: the search or the list may want it, C-x is for the next one. */
static void take_key(TdLine *l, TdKey key) {
  if (l->is_after_cx) {
    key = (TdKey){.code = key.code | TD_AFTER_CX};
  } else if (key.code == (TD_CTRL | 'x')) {
    l->is_after_cx = true;
    return;
  }
  l->is_after_cx = false;
  if (td_browse_key(l, &key) || td_tab_key(l, &key)) return;
  edit(l, &key);
}

/* Reads bytes; false when the terminal is gone. */
static bool read_keys(TdLine *l) {
  char block[4096];
  ssize_t n = read(l->in, block, sizeof block);
  if (n > 0) td_key_feed(&l->keys, block, (size_t)n);
  return n > 0;
}

/* Takes every key that came; `late` as for td_key_next. */
static void take_keys(TdLine *l, bool late) {
  TdKey key;
  while (!l->is_done && td_key_next(&l->keys, late, &key)) take_key(l, key);
}

/* Handles what a wait reported, then every key that came. */
static void handle(TdLine *l, int events) {
  if (events & TD_TTY_LOST) {
    if (!td_tty_enter()) td_submit_end(l, TD_LINE_EOF);
    td_screen_forget(&l->screen);
  }
  if (events & TD_TTY_RESIZED) resize(l);
  if (events & TD_TTY_INTERRUPT) td_submit_cancel(l);
  if (events & TD_TTY_WATCHED) l->ready(l->ready_ud);
  if (events & TD_TTY_INPUT && !read_keys(l)) td_submit_end(l, TD_LINE_EOF);
  take_keys(l, events == 0);
}

/* Has the prompt up until an input is done. Keys that came before it are taken first. */
static void run(TdLine *l) {
  TdView v;
  take_keys(l, false);
  while (!l->is_done) {
    v = td_look_view(l, false);
    write_text(l, td_screen_paint(&l->screen, &v));
    handle(l, td_tty_wait(l->watched, td_key_is_unsettled(&l->keys) ? ESCAPE_MS : -1));
  }
  v = td_look_view(l, true);
  write_text(l, td_screen_finish(&l->screen, &v));
}

/* Called however the reading ends. */
static void prompt_down(void *l) {
  ((TdLine *)l)->is_up = false;
}

/* Renews what belongs to one input. */
static void start_input(TdLine *l, const char *prompt, const char *more) {
  td_arena_free(l->line);
  l->line = NULL;
  l->line = td_arena_new(l->ctx);
  l->prompt = td_arena_strdup(l->line, prompt);
  l->more = td_arena_strdup(l->line, more);
  l->draft = (TdDraft){.arena = l->line, .goal = -1};
  l->stash = td_text_new(l->line);
  l->replaced = td_text_new(l->line);
  l->menu.found.items.n = 0;
  l->recall.is_open = false;
  l->last = NULL;
  l->is_after_cx = false;
  l->is_done = false;
  td_history_sync(l->history);
  l->entry = td_history_count(l->history);
}

/* Edits an input on the terminal. */
static TdLineResult read_edited(TdLine *l, TdText *text) {
  l->is_up = true;
  start_screen(l);
  run(l);
  td_text_putn(text, td_draft_text(&l->draft), l->draft.n);
  return l->result;
}

TdLineResult td_line_read(TdLine *l, const char *prompt, const char *more, const char **text,
                          size_t *n) {
  TdArena *life = td_arena_scratch(l->ctx);
  start_input(l, prompt, more);
  TdText got = td_text_new(l->line);
  TdLineResult result = TD_LINE_EOF;
  if (td_tty_open(life, l->in, l->out, l->is_able)) {
    td_arena_defer(life, prompt_down, l);
    result = l->is_able ? read_edited(l, &got) : td_plain_read(l, &got);
  }
  td_arena_free(life);
  while (got.n > 0 && strchr(" \t\n", got.at[got.n - 1])) got.at[--got.n] = 0;
  if (result == TD_LINE_TEXT && isatty(l->in))
    td_history_add(l->history, got.at, got.n, (int64_t)time(NULL));
  *text = td_text_str(&got);
  *n = got.n;
  return result;
}
