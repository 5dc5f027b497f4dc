/* submit.c - keys that end the input, or leave the terminal for a while. */
#include "repl/editor.h"
#include "repl/tty.h"

void td_submit_end(TdLine *l, TdLineResult result) {
  l->result = result;
  l->is_done = true;
}

void td_submit_enter(TdLine *l) {
  const TdLineHooks *h = l->hooks;
  const TdDraft *d = &l->draft;
  bool is_blank = td_draft_is_end(d, 0);
  bool is_more = !td_draft_is_end(d, d->cursor) ||
                 (!is_blank && h->state && h->state(h->ud, d->at, d->n) == TD_INPUT_MORE);
  if (is_more)
    td_change_newline(l);
  else
    td_submit_end(l, TD_LINE_TEXT);
}

void td_submit_cancel(TdLine *l) {
  l->kill.open = false;
  td_kill_add(&l->kill, td_draft_text(&l->draft), l->draft.n, false);
  td_submit_end(l, TD_LINE_INTERRUPTED);
}

void td_submit_delete(TdLine *l) {
  if (l->draft.n == 0)
    td_submit_end(l, TD_LINE_EOF);
  else
    td_change_delete_right(l);
}

void td_submit_stop(TdLine *l) {
  TdView v = td_look_view(l, true);
  TdText out = td_screen_finish(&l->screen, &v);
  td_tty_write(l->out, out.at, out.n);
  td_tty_stop();
}

void td_submit_clear(TdLine *l) {
  static const char clear[] = "\033[H\033[2J";
  td_tty_write(l->out, clear, sizeof clear - 1);
  td_screen_forget(&l->screen);
}
