/* line_test.c - the parts of the line editor that need no terminal. */
#include <stdlib.h>

#include "repl/draft.h"
#include "repl/fuzzy.h"
#include "repl/key.h"
#include "repl/kill.h"
#include "repl/menu.h"
#include "repl/paste.h"
#include "repl/recall.h"
#include "repl/width.h"
#include "tests/unit/tap.h"

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

/* Writes a valid code point; returns its bytes. */
static size_t encode(uint32_t cp, char out[4]) {
  size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
  if (n == 1) {
    out[0] = (char)cp;
    return n;
  }
  for (size_t i = n - 1; i > 0; i--, cp >>= 6) out[i] = (char)(0x80 | (cp & 0x3F));
  out[0] = (char)((0xF00u >> n & 0xF0u) | cp);
  return n;
}

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
    size_t n = encode(cp, s);
    same = same && td_width_decode(s, n, &back) == n && back == cp;
  }
  ok(same, "width: every code point reads back");
}

/* ---- draft ---- */

/* A draft with the cursor after its text. */
static TdDraft draft_of(const char *text) {
  TdDraft d = {.arena = arena, .goal = -1};
  td_draft_insert(&d, text, strlen(text));
  td_draft_group(&d);
  return d;
}

/* Whether the draft is this text. */
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
  ok(td_draft_undo(&d) && draft_is(&d, "one two") && td_draft_undo(&d) && draft_is(&d, "one"),
     "undo: past what was never done again");
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
  } cases[] = {
      {"tide> a\n ..> b", "a\nb", "prompts"},
      {"tide> for\n ..>   x\n ..> end", "for\n  x\nend", "indents stay"},
      {"..> b\ntide>\ntide> c", "b\n\nc", "prompts that lost blanks"},
      {"a\r\nb\rc", "a\nb\nc", "line ends"},
      {"tide> a\n1\n\ntide> b\n ..> c\nx\n", "a\n|b\nc\n", "a session and its output"},
      {"\n tide> a\nb ..> c\ntide> d", "a\n|d", "a session, from its first line that says so"},
      {"x\ntide> a\n1", "x\na\n1", "no session: output stays"},
      {"", "", "nothing"},
      {"x = tide> 3\ntide>4", "x = tide> 3\ntide>4", "what only looks like one"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char name[64];
    snprintf(name, sizeof name, "paste: %s", cases[i].name);
    TdText all = td_text_new(arena);
    size_t count;
    TdText *input =
        td_paste_inputs(arena, cases[i].in, strlen(cases[i].in), "tide> ", " ..> ", &count);
    for (size_t k = 0; k < count; k++)
      td_text_putf(&all, "%s%s", k ? "|" : "", td_text_str(&input[k]));
    is_text(td_text_str(&all), cases[i].out, name);
  }
}

/* ---- search and lists ---- */

/* Adds a text to a history. */
static void add(TdHistory *h, const char *text, int64_t when) {
  td_history_add(h, text, strlen(text), when);
}

/* The score of texts that end in NUL. */
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

int main(void) {
  ctx = td_ctx_new();
  arena = td_arena_new(ctx);
  test_width();
  test_draft();
  test_undo();
  test_kill();
  test_keys();
  test_paste();
  test_search();
  test_menu();
  td_arena_free(arena);
  ok(td_ctx_bytes(ctx) == 0, "no memory is left");
  td_ctx_free(ctx);
  return done_testing();
}
