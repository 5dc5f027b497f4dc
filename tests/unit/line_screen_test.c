/* line_screen_test.c - what the editor sends to a terminal, against a model of what it should show.
 */
#include "repl/draft.h"
#include "repl/screen.h"
#include "repl/width.h"
#include "tests/unit/tap.h"
#include "tests/unit/vt.h"

static TdCtx *ctx;
static TdArena *arena;

/* A character of the model: its bytes, what a terminal shows for it, its cells. */
typedef struct Piece {
  const char *bytes, *shown;
  int cells;
} Piece;

static const Piece pieces[] = {
    {"a", "a", 1},
    {"b", "b", 1},
    {" ", " ", 1},
    {"\n", "", 0},
    {"\xE6\x97\xA5", "\xE6\x97\xA5", 2},
    {"e\xCC\x81", "e\xCC\x81", 1},
    {"\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80", "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80",
     2},
    {"\xF0\x9F\x87\xAB\xF0\x9F\x87\xB7", "\xF0\x9F\x87\xAB\xF0\x9F\x87\xB7", 2},
    {"\xE2\x9D\xA4\xEF\xB8\x8F", "\xE2\x9D\xA4\xEF\xB8\x8F", 2},
    {"\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD", "\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD", 2},
    {"\x01", "^A", 2},
    {"\xFF", "\\xFF", 4},
};
enum { N_PIECES = sizeof pieces / sizeof *pieces, MOST = 2000, N_ROWS = 12, NEWLINE = 3 };

/* The model: pieces, the cursor between them, and the rows that they should be. */
static struct {
  int piece[MOST], n, cursor;
  char row[MOST][VT_COLS * 8];
  int rows, at_row, at_col;
} model;

/* Lays the model out at a width, the simple way. */
static void lay_out(int cols) {
  static const char *const prompts[] = {"tide> ", " ..> "};
  int col = 6, lines = 0;
  model.rows = 0;
  strcpy(model.row[0], prompts[0]);
  for (int i = 0; i <= model.n; i++) {
    bool is_end = i == model.n, is_line = is_end || model.piece[i] == NEWLINE;
    int cells = is_line ? 1 : pieces[model.piece[i]].cells;
    if (col + cells > cols && (!is_line || i == model.cursor)) {
      model.row[++model.rows][0] = 0;
      col = 0;
    }
    if (i == model.cursor) {
      model.at_row = model.rows;
      model.at_col = col;
    }
    if (is_end) break;
    if (is_line) {
      strcpy(model.row[++model.rows], prompts[1]);
      col = 5;
      lines++;
    } else {
      strcat(model.row[model.rows], pieces[model.piece[i]].shown);
      col += cells;
    }
  }
  model.rows++;
}

/* Bytes of the first pieces. */
static size_t model_offset(int upto) {
  size_t n = 0;
  for (int i = 0; i < upto; i++) n += strlen(pieces[model.piece[i]].bytes);
  return n;
}

/* Puts a piece at the cursor. */
static void model_insert(int piece) {
  if (model.n == MOST) return;
  memmove(model.piece + model.cursor + 1, model.piece + model.cursor,
          sizeof *model.piece * (size_t)(model.n - model.cursor));
  model.piece[model.cursor++] = piece;
  model.n++;
}

/* Takes piece `at` out. */
static void model_delete(int at) {
  memmove(model.piece + at, model.piece + at + 1, sizeof *model.piece * (size_t)(model.n - at - 1));
  model.n--;
}

/* One random change to the model and the draft; both agree where characters begin. */
static void change(TdDraft *d) {
  int what = rand() % 10;
  if (what < 6) {
    int p = rand() % N_PIECES, times = rand() % 40 == 0 ? 60 : 1;
    for (; times > 0; times--) {
      model_insert(p);
      td_draft_insert(d, pieces[p].bytes, strlen(pieces[p].bytes));
    }
  } else if (what == 6 && model.cursor > 0) {
    size_t from = td_width_prev(d->at, d->n, d->cursor);
    model_delete(--model.cursor);
    td_draft_replace(d, from, d->cursor, "", 0);
  } else if (what == 7 && model.cursor < model.n) {
    model_delete(model.cursor);
    td_draft_replace(d, d->cursor, td_width_next(d->at, d->n, d->cursor), "", 0);
  } else if (what == 8 && model.n > 0) {
    model.cursor = rand() % (model.n + 1);
    td_draft_move(d, model_offset(model.cursor));
  } else if (what == 9 && model.n > 300) {
    model.n = model.cursor = 0;
    td_draft_replace(d, 0, d->n, "", 0);
  }
}

/* A row without blanks at its end. */
static const char *trimmed(const char *row) {
  static char out[VT_COLS * 8];
  snprintf(out, sizeof out, "%s", row);
  for (size_t n = strlen(out); n > 0 && out[n - 1] == ' ';) out[--n] = 0;
  return out;
}

/* Whether the terminal shows the model: the rows from screen->top on, the cursor among them, and
 * above them what was there before. */
static bool is_shown(const Vt *vt, const TdScreen *s) {
  int first = vt->row - (int)s->row, top = (int)s->top;
  if (model.at_row != top + (int)s->row || vt->col != model.at_col || first < 0) return false;
  int seen = model.rows - top < s->rows ? model.rows - top : s->rows;
  for (int i = 0; i < seen; i++) {
    bool is_ascii = true;
    for (const char *c = model.row[top + i]; *c; c++) is_ascii = is_ascii && (signed char)*c > 0;
    if (vt->is_summing && !is_ascii) continue;
    if (strcmp(vt_row(vt, first + i), trimmed(model.row[top + i])) != 0) return false;
  }
  for (int r = first + seen; r < vt->rows; r++)
    if (*vt_row(vt, r)) return false;
  return first == 0 || strcmp(vt_row(vt, first - 1), "above") == 0;
}

/* Sends what the screen made to the terminal. */
static void feed(Vt *vt, TdText out) {
  vt_feed(vt, out.at, out.n);
}

/* A view of a draft without anything else. */
static TdView view_of(const TdDraft *d) {
  return (TdView){
      .draft = {.text = td_draft_text(d), .n = d->n, .prompt = "tide> ", .more = " ..> "},
      .cursor = d->cursor};
}

/* Random edits at one width, now and then in a window of another; each is looked at. */
static void test_screen(int cols, bool is_summing, bool is_keeping) {
  static Vt vt;
  char name[80];
  TdDraft d = {.arena = arena, .goal = -1};
  TdScreen s = td_screen_new(ctx);
  int shown = 0, steps = 3000, now = cols;
  srand((unsigned)cols);
  model.n = model.cursor = 0;
  vt_init(&vt, N_ROWS, cols);
  vt.is_summing = is_summing;
  vt.is_keeping = is_keeping;
  vt_feed(&vt, "above\r\n", 7);
  td_screen_start(&s, N_ROWS, cols);
  for (int i = 0; i < steps; i++) {
    change(&d);
    if (!is_summing && rand() % 50 == 0) {
      now = now == cols ? 12 + rand() % cols : cols;
      vt_resize(&vt, N_ROWS, now);
      feed(&vt, td_screen_resize(&s, N_ROWS, now, true));
    }
    TdView v = view_of(&d);
    feed(&vt, td_screen_paint(&s, &v));
    lay_out(now);
    shown += is_shown(&vt, &s);
    if (shown == i + 1) continue;
    printf("# step %d, in a window of %d columns\n", i, now);
    break;
  }
  snprintf(name, sizeof name, "screen: %d random edits at %d columns%s", steps, cols,
           is_summing   ? ", terminal sums widths"
           : is_keeping ? ", terminal keeps cleared cells"
                        : "");
  ok(shown == steps, name);
  td_screen_free(&s);
}

static void test_repaint(void) {
  TdScreen s = td_screen_new(ctx);
  TdDraft d = {.arena = arena, .goal = -1};
  for (int i = 0; i < 200; i++) td_draft_insert(&d, "local x = 1\n", 12);
  td_screen_start(&s, 50, 80);
  TdView v = view_of(&d);
  td_screen_paint(&s, &v);
  TdText out = td_screen_paint(&s, &v);
  ok(out.n == 10, "repaint: nothing when nothing changed");
  td_draft_insert(&d, "y", 1);
  v = view_of(&d);
  out = td_screen_paint(&s, &v);
  is_text(out.at, "\033[?7l\r\033[0;1;32m ..> \033[0my\033[K\033[?7h",
          "repaint: only the row that changed");
  td_screen_free(&s);
}

static void test_last_view(void) {
  static Vt vt;
  TdScreen s = td_screen_new(ctx);
  TdDraft d = {.arena = arena, .goal = -1};
  for (int i = 0; i < 30; i++) td_draft_insert(&d, "z\n", 2);
  vt_init(&vt, N_ROWS, 40);
  td_screen_start(&s, N_ROWS, 40);
  TdView v = view_of(&d);
  feed(&vt, td_screen_paint(&s, &v));
  int before = vt.scrolled;
  feed(&vt, td_screen_finish(&s, &v));
  ok(before == 0 && vt.scrolled == 31 + 1 - N_ROWS && vt.row == N_ROWS - 1 && vt.col == 0,
     "screen: a tall draft is left whole above the next row");
  td_screen_free(&s);
}

int main(void) {
  ctx = td_ctx_new();
  arena = td_arena_new(ctx);
  for (int i = 0; i < 3; i++) {
    static const int widths[] = {20, 80, 200};
    test_screen(widths[i], false, false);
    test_screen(widths[i], false, true);
    test_screen(widths[i], true, false);
  }
  test_repaint();
  test_last_view();
  td_arena_free(arena);
  ok(td_ctx_bytes(ctx) == 0, "no memory is left");
  td_ctx_free(ctx);
  return done_testing();
}
