/* plain.c - reading without a terminal to edit on: lines as they come, no escapes. */
#include <string.h>
#include <unistd.h>

#include "repl/editor.h"
#include "repl/tty.h"

/* Takes one typed line into *text, with its newline; false when none is whole. */
static bool take_line(TdLine *l, TdText *text) {
  const char *s = td_text_str(&l->typed) + l->taken;
  size_t n = l->typed.n - l->taken;
  const char *stop = memchr(s, '\n', n);
  if (!stop) return false;
  size_t len = (size_t)(stop - s), kept = len > 0 && s[len - 1] == '\r' ? len - 1 : len;
  for (size_t i = 0; i < kept; i++)
    if (s[i]) td_text_putc(text, s[i]);
  td_text_putc(text, '\n');
  l->taken += len + 1;
  return true;
}

/* Reads more bytes, first dropping those that were taken; false at the end of the file. */
static bool read_more(TdLine *l) {
  char block[4096];
  size_t left = l->typed.n - l->taken;
  ssize_t n = read(l->in, block, sizeof block);
  if (l->taken && left) memmove(l->typed.at, l->typed.at + l->taken, left);
  l->typed.n = left;
  l->taken = 0;
  if (n > 0) td_text_putn(&l->typed, block, (size_t)n);
  if (n <= 0 && left) td_text_putc(&l->typed, '\n');
  return n > 0 || left > 0;
}

/* Waits for a line and takes it. */
static TdLineResult next_line(TdLine *l, TdText *text) {
  while (!take_line(l, text)) {
    int events = td_tty_wait(l->watched, -1);
    if (events & TD_TTY_INTERRUPT) return TD_LINE_INTERRUPTED;
    if (events & TD_TTY_WATCHED) l->ready(l->ready_ud);
    if (events & TD_TTY_INPUT && !read_more(l)) return TD_LINE_EOF;
  }
  return TD_LINE_TEXT;
}

TdLineResult td_plain_read(TdLine *l, TdText *text) {
  const TdLineHooks *h = l->hooks;
  bool has_prompt = isatty(l->in);
  const char *prompt = l->prompt;
  do {
    if (has_prompt) td_tty_write(l->out, prompt, strlen(prompt));
    TdLineResult result = next_line(l, text);
    if (has_prompt && result != TD_LINE_TEXT) td_tty_write(l->out, "\n", 1);
    if (result == TD_LINE_EOF && text->n) return TD_LINE_TEXT;
    if (result != TD_LINE_TEXT) return result;
    prompt = l->more;
  } while (h->state && h->state(h->ud, text->at, text->n - 1) == TD_INPUT_MORE);
  return TD_LINE_TEXT;
}
