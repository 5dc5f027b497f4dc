/* line_test.c - the parts of the line editor that need no terminal. */
#define _XOPEN_SOURCE 700
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "repl/draft.h"
#include "repl/fuzzy.h"
#include "repl/history.h"
#include "repl/key.h"
#include "repl/kill.h"
#include "repl/menu.h"
#include "repl/paste.h"
#include "repl/recall.h"
#include "repl/screen.h"
#include "repl/width.h"
#include "tests/unit/tap.h"
#include "tests/unit/vt.h"

static TdCtx *ctx;
static TdArena *arena;

/* ---- width ---- */

/* A text that is one cluster of so many cells, or not. */
typedef struct WidthCase {
  const char *text;
  int cells;
  bool is_one;
  const char *name;
} WidthCase;

static void test_width(void) {
  static const WidthCase cases[] = {
      {"a", 1, true, "ASCII"},
      {"\xC3\xA9", 1, true, "precomposed accent"},
      {"e\xCC\x81", 1, true, "combining accent"},
      {"e\xCC\x81\xCC\xA8", 1, true, "two combining marks"},
      {"\xE6\x97\xA5", 2, true, "CJK"},
      {"\xEF\xBC\xA1", 2, true, "full-width letter"},
      {"\xEF\xBD\xB1", 1, true, "half-width kana"},
      {"\xED\x95\x9C", 2, true, "Hangul syllable"},
      {"\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", 2, true, "Hangul jamo"},
      {"\xF0\x9F\x98\x80", 2, true, "emoji"},
      {"\xE2\x9D\xA4", 1, true, "text heart"},
      {"\xE2\x9D\xA4\xEF\xB8\x8F", 2, true, "emoji heart"},
      {"1\xEF\xB8\x8F\xE2\x83\xA3", 1, true, "keycap"},
      {"\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD", 2, true, "skin tone"},
      {"\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80", 2, true, "ZWJ cluster"},
      {"\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7", 2, true,
       "family"},
      {"\xF0\x9F\x87\xAB\xF0\x9F\x87\xB7", 2, true, "flag"},
      {"\xF0\x9F\x87\xAB\xF0\x9F\x87\xB7\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA", 4, false, "two flags"},
      {"a\xE2\x80\x8D\xF0\x9F\x9A\x80", 3, false, "a joiner after a letter joins no picture"},
      {"\xE0\xA4\xA8\xE0\xA4\xBF", 2, true, "Devanagari with its spacing vowel"},
      {"\x01", 2, true, "control"},
      {"\x7F", 2, true, "delete"},
      {"\xFF", 4, true, "invalid byte"},
      {"\xC0\x80", 8, false, "overlong form"},
      {"\xED\xA0\x80", 12, false, "surrogate"},
      {"\xE6\x97", 8, false, "cut character"},
      {"\xE2\x80\xAE", 8, true, "right-to-left override"},
      {"\xCC\x81", 7, true, "accent on nothing"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const WidthCase *c = &cases[i];
    size_t n = strlen(c->text);
    char name[96];
    snprintf(name, sizeof name, "width: %s", c->name);
    bool one = td_width_next(c->text, n, 0) == n && td_width_prev(c->text, n, n) == 0;
    ok(td_width_cells(c->text, n) == c->cells && one == c->is_one, name);
  }
  char out[TD_WIDTH_ESCAPE + 1] = "";
  out[td_width_escape("\x1b", 1, out)] = 0;
  is_text(out, "^[", "width: ESC is shown as ^[");
  out[td_width_escape("\xFE", 1, out)] = 0;
  is_text(out, "\\xFE", "width: an invalid byte in hex");
  bool same = true;
  for (uint32_t cp = 1; cp < 0x110000; cp++) {
    char s[4];
    uint32_t back;
    if (cp >= 0xD800 && cp < 0xE000) continue;
    size_t n = td_width_encode(cp, s);
    same = same && td_width_decode(s, n, &back) == n && back == cp;
  }
  ok(same, "width: every code point reads back");
}

/* ---- draft ---- */

static TdDraft draft_of(const char *text) {
  TdDraft d = {.arena = arena, .goal = -1};
  td_draft_insert(&d, text, strlen(text));
  td_draft_group(&d);
  return d;
}

static bool draft_is(const TdDraft *d, const char *text) {
  return d->n == strlen(text) && memcmp(td_draft_text(d), text, d->n) == 0;
}

static void test_draft(void) {
  TdDraft d = draft_of("ab\n\xE6\x97\xA5\xE6\x97\xA5 long\nx");
  td_draft_move(&d, 9);
  ok(td_draft_move_line(&d, -1) && d.cursor == 2, "draft: up to a shorter line");
  ok(td_draft_move_line(&d, 1) && d.cursor == 9, "draft: and down again to the same cell");
  ok(td_draft_move_line(&d, 1) && d.cursor == d.n && !td_draft_move_line(&d, 1),
     "draft: down to the last line");
  ok(td_draft_word_before(&d, 14) == 10 && td_draft_word_after(&d, 0) == 2, "draft: words");
  ok(td_draft_blank_before(&d, 9) == 3, "draft: blanks");
  ok(td_draft_is_end(&d, d.n) && !td_draft_is_end(&d, 0), "draft: end");
}

static void test_undo(void) {
  TdDraft d = draft_of("one");
  td_draft_insert(&d, " two", 4);
  td_draft_group(&d);
  td_draft_replace(&d, 0, 3, "1", 1);
  td_draft_replace(&d, 1, 1, "!", 1);
  ok(draft_is(&d, "1! two"), "undo: edited");
  ok(td_draft_undo(&d) && draft_is(&d, "one two") && d.cursor == 7, "undo: a group at once");
  ok(td_draft_undo(&d) && draft_is(&d, "one"), "undo: the group before");
  ok(td_draft_redo(&d) && draft_is(&d, "one two"), "redo: one");
  ok(td_draft_redo(&d) && draft_is(&d, "1! two") && !td_draft_redo(&d), "redo: all");
  ok(td_draft_undo(&d) && (td_draft_insert(&d, "x", 1), !td_draft_redo(&d)),
     "redo: none after a change");
  srand(7);
  char states[200][64];
  TdDraft r = draft_of("");
  for (int i = 0; i < 200; i++) {
    snprintf(states[i], sizeof states[i], "%.*s", (int)r.n, td_draft_text(&r));
    size_t from = r.n ? (size_t)rand() % r.n : 0;
    size_t to = r.n ? from + (size_t)rand() % (r.n - from) : 0;
    char text[3] = {(char)('a' + rand() % 26), 'x', 'y'};
    td_draft_group(&r);
    td_draft_replace(&r, from, to, text, r.n > 50 ? 0 : 1 + (size_t)rand() % 3);
  }
  bool same = true;
  for (int i = 199; i >= 0; i--) same = td_draft_undo(&r) && draft_is(&r, states[i]) && same;
  ok(same, "undo: 200 random changes, back through every state");
}

static void test_kill(void) {
  TdKill k = {.ctx = ctx};
  size_t n;
  td_kill_add(&k, "b", 1, false);
  td_kill_add(&k, "c", 1, false);
  td_kill_add(&k, "a", 1, true);
  is_text(td_kill_text(&k, &n), "abc", "kill: joined at both ends");
  k.open = false;
  td_kill_add(&k, "new", 3, false);
  is_text(td_kill_text(&k, &n), "new", "kill: the newest");
  td_kill_turn(&k);
  is_text(td_kill_text(&k, &n), "abc", "kill: the one before");
  td_kill_turn(&k);
  is_text(td_kill_text(&k, &n), "new", "kill: around the ring");
  td_kill_free(&k);
}

/* ---- keys ---- */

static void test_keys(void) {
  static const struct {
    const char *bytes;
    TdKeyCode code;
  } cases[] = {{"a", 'a'},
               {"\x01", TD_CTRL | 'a'},
               {"\x1f", TD_CTRL | '_'},
               {"\r", TD_KEY_ENTER},
               {"\x1b\r", TD_ALT | TD_KEY_ENTER},
               {"\x1b[A", TD_KEY_UP},
               {"\x1bOB", TD_KEY_DOWN},
               {"\x1b[1;5C", TD_CTRL | TD_KEY_RIGHT},
               {"\x1b[3~", TD_KEY_DELETE},
               {"\x1b[3;5~", TD_CTRL | TD_KEY_DELETE},
               {"\x1b[13;3u", TD_ALT | TD_KEY_ENTER},
               {"\x1b[27;3;13~", TD_ALT | TD_KEY_ENTER},
               {"\x1b[97;5u", TD_CTRL | 'a'},
               {"\x1b[Z", TD_SHIFT | TD_KEY_TAB},
               {"\x1b\x7f", TD_ALT | TD_KEY_BACKSPACE},
               {"\x1b"
                "f",
                TD_ALT | 'f'},
               {"\x1b[?c", TD_KEY_NONE},
               {"\xE6\x97\xA5", 0x65E5},
               {"\xFF", TD_KEY_BYTE}};
  TdKeys k = {.arena = arena};
  TdKey key;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char name[64];
    size_t n = strlen(cases[i].bytes);
    bool early = false;
    for (size_t b = 0; b < n; b++) {
      td_key_feed(&k, cases[i].bytes + b, 1);
      if (b + 1 < n) early = td_key_next(&k, false, &key) || early;
    }
    snprintf(name, sizeof name, "key: case %zu, byte by byte", i);
    ok(!early && td_key_next(&k, false, &key) && (key.code & ~0u) == cases[i].code &&
           !td_key_is_unsettled(&k),
       name);
  }
  td_key_feed(&k, "\x1b", 1);
  ok(!td_key_next(&k, false, &key) && td_key_next(&k, true, &key) && key.code == TD_KEY_ESCAPE,
     "key: ESC alone, when nothing follows");
  td_key_feed(&k, "\x1b[200~a\x1b[20", 11);
  ok(!td_key_next(&k, true, &key) && !td_key_is_unsettled(&k), "key: an open paste waits");
  td_key_feed(&k, "1~z", 3);
  ok(td_key_next(&k, false, &key) && key.code == TD_KEY_PASTE && key.n == 1 && *key.text == 'a',
     "key: a paste");
  ok(td_key_next(&k, false, &key) && key.code == 'z', "key: and what follows it");
}

static void test_paste(void) {
  static const struct {
    const char *in, *out, *name;
  } cases[] = {{"tide> a\n ..> b", "a\nb", "prompts"},
               {"tide> for\n ..>   x\n ..> end", "for\n  x\nend", "indents stay"},
               {"..> b\ntide>\ntide> c", "b\n\nc", "prompts that lost blanks"},
               {"a\r\nb\rc", "a\nb\nc", "line ends"},
               {"x = tide> 3\ntide>4", "x = tide> 3\ntide>4", "what only looks like one"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char name[64];
    snprintf(name, sizeof name, "paste: %s", cases[i].name);
    TdText got = td_paste_clean(arena, cases[i].in, strlen(cases[i].in), "tide> ", " ..> ");
    is_text(td_text_str(&got), cases[i].out, name);
  }
}

/* ---- history ---- */

static bool entry_is(const TdHistory *h, size_t i, const char *text) {
  if (i >= td_history_count(h)) return false;
  const TdEntry *e = td_history_at(h, i);
  return e->n == strlen(text) && memcmp(e->text, text, e->n) == 0;
}

static void add(TdHistory *h, const char *text, int64_t when) {
  td_history_add(h, text, strlen(text), when);
}

static void test_history(const char *dir) {
  const char *path = td_text_fmt(arena, "%s/deep/er/history", dir);
  TdHistory *a = td_history_new(ctx, path, 8), *b = td_history_new(ctx, path, 8);
  struct stat st;
  add(a, "one", 100);
  add(b, "two\n\tlines\n\n@end", 200);
  add(a, "three", 300);
  add(a, "three", 301);
  add(a, " \n", 302);
  td_history_sync(b);
  ok(td_history_count(b) == 3 && entry_is(b, 0, "one") && entry_is(b, 2, "three"),
     "history: two sessions share it, in order");
  ok(entry_is(a, 1, "two\n\tlines\n\n@end") && td_history_at(a, 1)->time == 200,
     "history: lines, tabs and times come back");
  ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600, "history: private");
  ok(td_history_find(a, 3, -1, "t", 1, "", 0) == 2 &&
         td_history_find(a, 2, -1, "t", 1, "", 0) == 1 &&
         td_history_find(a, 1, -1, "t", 1, "", 0) == TD_NO_ENTRY,
     "history: older entries that start alike");
  ok(td_history_find(a, 3, -1, "t", 1, "three", 5) == 1 &&
         td_history_find(a, 0, 1, "th", 2, "", 0) == 2,
     "history: but not the same one; newer ones");
  for (int i = 0; i < 30; i++) add(i % 2 ? a : b, td_text_fmt(arena, "n%d", i), i);
  TdHistory *c = td_history_new(ctx, path, 8);
  td_history_sync(a);
  ok(td_history_count(a) <= 16 && td_history_count(c) <= 16 &&
         entry_is(c, td_history_count(c) - 1, "n29") && entry_is(a, td_history_count(a) - 1, "n29"),
     "history: capped, and both sessions go on");
  td_history_free(a);
  td_history_free(b);
  td_history_free(c);
}

static void test_history_race(const char *dir) {
  const char *path = td_text_fmt(arena, "%s/race", dir);
  enum { N_WRITERS = 4, N_EACH = 100 };
  fflush(stdout);
  for (int w = 0; w < N_WRITERS; w++) {
    if (fork() != 0) continue;
    TdHistory *h = td_history_new(ctx, path, 10000);
    for (int i = 0; i < N_EACH; i++) add(h, td_text_fmt(arena, "writer %d\nentry %d", w, i), i);
    _exit(0);
  }
  while (wait(NULL) > 0) {
  }
  TdHistory *h = td_history_new(ctx, path, 10000);
  int next[N_WRITERS] = {0}, good = 0;
  for (size_t i = 0; i < td_history_count(h); i++) {
    int w, k;
    if (sscanf(td_history_at(h, i)->text, "writer %d\nentry %d", &w, &k) == 2 && next[w] == k)
      next[w]++, good++;
  }
  ok(good == N_WRITERS * N_EACH, "history: four writers at once lose nothing");
  td_history_free(h);
}

static void test_history_path(const char *dir) {
  setenv("HOME", "/home/me", 1);
  unsetenv("XDG_STATE_HOME");
  unsetenv("TIDE_HISTORY");
  is_text(td_history_path(arena), "/home/me/.local/state/tide/history", "history: at home");
  setenv("XDG_STATE_HOME", "/state", 1);
  is_text(td_history_path(arena), "/state/tide/history", "history: in the state directory");
  setenv("TIDE_HISTORY", "mine", 1);
  is_text(td_history_path(arena), "mine", "history: named");
  setenv("TIDE_HISTORY", "", 1);
  ok(!td_history_path(arena), "history: off");
  TdHistory *h = td_history_new(ctx, NULL, 4), *no = td_history_new(ctx, dir, 4);
  for (int i = 0; i < 20; i++) add(h, td_text_fmt(arena, "%d", i), i);
  add(no, "kept", 1);
  ok(td_history_count(h) < 9 && entry_is(h, td_history_count(h) - 1, "19"), "history: in memory");
  ok(entry_is(no, 0, "kept"), "history: of a path that is no file, in memory");
  td_history_free(h);
  td_history_free(no);
}

static int score(const char *text, const char *query) {
  return td_fuzzy_score(text, strlen(text), query, strlen(query), NULL);
}

static void test_search(void) {
  ok(score("alpha = 1", "al1") > 0 && score("alpha", "lx") < 0, "fuzzy: letters in order");
  ok(score("beta alpha", "alp bet") > 0, "fuzzy: words in any order");
  ok(score("s:split", "SP") < 0 && score("s:SPlit", "sp") > 0, "fuzzy: capitals only if typed");
  ok(score("xspx split", "split") > score("s p l i t", "split"), "fuzzy: letters together first");
  ok(score("a reorder", "re") > score("are", "re"), "fuzzy: starts of words first");
  TdHistory *h = td_history_new(ctx, NULL, 100);
  add(h, "s:split(\"i\", 8)", 1);
  add(h, "print(1)", 2);
  add(h, "s:split(\"j\", 4)", 3);
  add(h, "print(1)", 4);
  TdRecall r = {.arena = td_arena_new(ctx), .history = h};
  td_recall_type(&r, "", 0);
  ok(r.hits.n == 3 && td_recall_entry(&r)->time == 4, "search: all, newest first, each once");
  td_recall_type(&r, "split", 5);
  ok(r.hits.n == 2 && td_recall_entry(&r)->time == 3, "search: the newer of equals first");
  td_recall_move(&r, 1);
  td_recall_move(&r, 1);
  ok(td_recall_entry(&r)->time == 1, "search: the last one stays");
  td_recall_erase(&r);
  size_t cursor;
  TdBlock b = td_recall_show(&r, arena, 4, &cursor);
  ok(cursor == 12 && strstr(b.text, "search: spli  1/2\n> s:split(\"j\", 4)\n  s:split(\"i\""),
     "search: shown");
  td_arena_free(r.arena);
  td_history_free(h);
}

static void test_menu(void) {
  static const char *const words[] = {"re\xC3\xA9", "re\xC3\xA8", "rest"};
  TdMenu m = {.found.arena = arena, .chosen = TD_MENU_NONE};
  for (size_t i = 0; i < 3; i++) {
    TdLineItem item = {.insert = words[i], .help = i == 2 ? "helps" : NULL};
    td_vec_push(arena, &m.found.items, item);
  }
  ok(td_menu_common(&m.found) == 2, "menu: common text");
  m.found.items.n = 2;
  ok(td_menu_common(&m.found) == 2, "menu: never cuts a character");
  m.found.items.n = 3;
  TdBlock b = td_menu_show(&m, arena, 5, 10);
  is_text(b.text, "re\xC3\xA9   rest\nre\xC3\xA8 ", "menu: columns, read downwards");
  td_menu_column(&m, 1);
  td_menu_column(&m, 1);
  b = td_menu_show(&m, arena, 5, 10);
  ok(m.chosen == 2 && strstr(b.text, "\nhelps"), "menu: a column to the right; help");
  td_menu_step(&m, 1);
  ok(m.chosen == 0, "menu: around");
  b = td_menu_show(&m, arena, 2, 4);
  is_text(b.text, "re\xC3\xA9 \n1/3 ", "menu: a small window of the list");
}

/* ---- screen: random editing against a model ---- */

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

static size_t model_offset(int upto) {
  size_t n = 0;
  for (int i = 0; i < upto; i++) n += strlen(pieces[model.piece[i]].bytes);
  return n;
}

static void model_insert(int piece) {
  if (model.n == MOST) return;
  memmove(model.piece + model.cursor + 1, model.piece + model.cursor,
          sizeof *model.piece * (size_t)(model.n - model.cursor));
  model.piece[model.cursor++] = piece;
  model.n++;
}

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

static void feed(Vt *vt, TdText out) {
  vt_feed(vt, out.at, out.n);
}

static TdView view_of(const TdDraft *d) {
  return (TdView){
      .draft = {.text = td_draft_text(d), .n = d->n, .prompt = "tide> ", .more = " ..> "},
      .cursor = d->cursor};
}

/* Random edits at one width, now and then in a window of another; each is looked at. */
static void test_screen(int cols, bool is_summing) {
  static Vt vt;
  char name[80];
  TdDraft d = {.arena = arena, .goal = -1};
  TdScreen s = td_screen_new(ctx);
  int shown = 0, steps = 3000, now = cols;
  srand((unsigned)cols);
  model.n = model.cursor = 0;
  vt_init(&vt, N_ROWS, cols);
  vt.is_summing = is_summing;
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
           is_summing ? ", terminal sums widths" : "");
  ok(shown == steps, name);
  td_screen_free(&s);
}

static void test_repaint(void) {
  TdScreen s = td_screen_new(ctx);
  TdDraft d = draft_of("");
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
  TdDraft d = draft_of("");
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
  char dir[] = "/tmp/tide_line_XXXXXX";
  ctx = td_ctx_new(NULL, NULL);
  arena = td_arena_new(ctx);
  if (!mkdtemp(dir)) return 1;
  test_width();
  test_draft();
  test_undo();
  test_kill();
  test_keys();
  test_paste();
  test_history(dir);
  test_history_race(dir);
  test_history_path(dir);
  test_search();
  test_menu();
  for (int i = 0; i < 3; i++) {
    static const int widths[] = {20, 80, 200};
    test_screen(widths[i], false);
    test_screen(widths[i], true);
  }
  test_repaint();
  test_last_view();
  td_arena_free(arena);
  ok(td_ctx_bytes(ctx) == 0, "no memory is left");
  td_ctx_free(ctx);
  return done_testing();
}
