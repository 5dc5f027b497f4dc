/* key.c - input decoding: UTF-8, control bytes, ESC sequences of xterm and its kin, pastes. */
#include "repl/key.h"

#include <string.h>

#include "repl/width.h"

#define PASTE_BEGIN "\033[200~"
#define PASTE_END "\033[201~"

/* The bytes not yet decoded. */
static const char *rest(const TdKeys *k, size_t *n) {
  *n = k->in.n - k->used;
  return td_text_str(&k->in) + k->used;
}

void td_key_feed(TdKeys *k, const char *s, size_t n) {
  size_t left = k->in.n - k->used;
  if (!k->in.arena) k->in = td_text_new(k->arena);
  if (left && k->used) memmove(k->in.at, k->in.at + k->used, left);
  k->in.n = left;
  k->used = 0;
  td_text_putn(&k->in, s, n);
}

void td_key_unread(TdKeys *k, const char *s, size_t n) {
  TdText all = td_text_new(k->arena);
  size_t left;
  const char *waiting = rest(k, &left);
  if (!n) return;
  td_text_putn(&all, s, n);
  td_text_putn(&all, waiting, left);
  k->in = all;
  k->used = k->scanned = 0;
}

void td_key_put_entered(TdText *out, TdText *text) {
  td_text_putf(out, "\r%s", PASTE_BEGIN);
  td_text_putn(out, td_text_str(text), text->n);
  td_text_puts(out, PASTE_END);
}

/* Whether the n bytes at s start with a text. */
static bool starts(const char *s, size_t n, const char *with) {
  size_t w = strlen(with);
  return n >= w && memcmp(s, with, w) == 0;
}

/* Where `what` starts in the n bytes at s, from offset `from`; n when nowhere. */
static size_t find(const char *s, size_t n, size_t from, const char *what) {
  for (; from < n; from++)
    if (s[from] == *what && starts(s + from, n - from, what)) return from;
  return n;
}

/* Takes a paste whose begin mark is at the front; false when its end has not come. */
static bool take_paste(TdKeys *k, TdKey *key) {
  size_t n, head = strlen(PASTE_BEGIN);
  const char *s = rest(k, &n);
  size_t end = find(s, n, k->scanned > head ? k->scanned : head, PASTE_END);
  if (end == n) {
    k->scanned = n > strlen(PASTE_END) ? n - strlen(PASTE_END) : 0;
    return false;
  }
  *key = (TdKey){.code = TD_KEY_PASTE, .text = s + head, .n = end - head};
  k->used += end + strlen(PASTE_END);
  k->scanned = 0;
  return true;
}

/* The key of a control byte or a plain code point. */
static TdKeyCode plain_code(uint32_t cp) {
  switch (cp) {
  case '\r':
  case '\n': return TD_KEY_ENTER;
  case '\t': return TD_KEY_TAB;
  case 0x7F:
  case 0x08: return TD_KEY_BACKSPACE;
  case 0x1B: return TD_KEY_ESCAPE;
  default: break;
  }
  if (cp >= 0x20) return cp;
  return TD_CTRL | (cp >= 1 && cp <= 26 ? cp + 'a' - 1 : cp + '@');
}

/* The modifiers that xterm's parameter means: 1 + shift + 2 alt + 4 ctrl. */
static TdKeyCode modifiers(int param) {
  int bits = param > 0 ? param - 1 : 0;
  return (bits & 1 ? TD_SHIFT : 0u) | (bits & 2 ? TD_ALT : 0u) | (bits & 4 ? TD_CTRL : 0u);
}

/* The key that the final byte of `ESC [ ... X` or `ESC O X` names. */
static TdKeyCode letter_code(char final) {
  switch (final) {
  case 'A': return TD_KEY_UP;
  case 'B': return TD_KEY_DOWN;
  case 'C': return TD_KEY_RIGHT;
  case 'D': return TD_KEY_LEFT;
  case 'H': return TD_KEY_HOME;
  case 'F': return TD_KEY_END;
  case 'M': return TD_KEY_ENTER;
  case 'Z': return TD_SHIFT | TD_KEY_TAB;
  default: return TD_KEY_NONE;
  }
}

/* The key of `ESC [ n ~`. */
static TdKeyCode number_code(int n) {
  switch (n) {
  case 1:
  case 7: return TD_KEY_HOME;
  case 2: return TD_KEY_INSERT;
  case 3: return TD_KEY_DELETE;
  case 4:
  case 8: return TD_KEY_END;
  case 5: return TD_KEY_PAGE_UP;
  case 6: return TD_KEY_PAGE_DOWN;
  default: return TD_KEY_NONE;
  }
}

/* A code point that came as a number, with its modifiers; the Ctrl of a letter is lower case. */
static TdKeyCode coded(int cp, TdKeyCode mods) {
  TdKeyCode code = plain_code((uint32_t)cp);
  if (mods & TD_CTRL && cp >= 'A' && cp <= 'Z') code = (TdKeyCode)(cp + 'a' - 'A');
  return code | (cp > 0x20 && cp < 0x7F ? mods & ~(TdKeyCode)TD_SHIFT : mods);
}

/* The key of a whole `ESC [` sequence with its parameters. */
static TdKeyCode sequence_code(const int param[3], char final) {
  TdKeyCode mods = modifiers(param[1]);
  if (final == 'u') return coded(param[0], mods);
  if (final != '~') return letter_code(final) | mods;
  return param[0] == 27 ? coded(param[2], mods) : number_code(param[0]) | mods;
}

/* Reads an `ESC [` or `ESC O` sequence at s. Returns its bytes, or 0 when it is not finished. */
static size_t read_sequence(const char *s, size_t n, TdKeyCode *code) {
  int param[3] = {0}, at = 0;
  size_t i = 2;
  if (s[1] == 'O') {
    if (n > 2) *code = letter_code(s[2]);
    return n > 2 ? 3 : 0;
  }
  for (; i < n && s[i] >= 0x20 && s[i] < 0x40; i++) {
    if (s[i] == ';' || s[i] == ':')
      at += at < 2;
    else if (s[i] >= '0' && s[i] <= '9' && param[at] < 100000)
      param[at] = param[at] * 10 + (s[i] - '0');
  }
  if (i == n) return 0;
  *code = sequence_code(param, s[i]);
  return i + 1;
}

/* Reads one character at s into *key. Returns its bytes, or 0 when it is cut and not late. */
static size_t read_character(const char *s, size_t n, bool late, TdKey *key) {
  uint32_t cp;
  size_t len = td_width_decode(s, n, &cp);
  unsigned char first = (unsigned char)s[0];
  size_t want = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (cp == TD_WIDTH_BAD && !late && first >= 0xC2 && first <= 0xF4 && n < want) {
    bool cut = true;
    for (size_t i = 1; i < n; i++) cut = cut && ((unsigned char)s[i] & 0xC0) == 0x80;
    if (cut) return 0;
  }
  *key = (TdKey){.code = cp == TD_WIDTH_BAD ? (TdKeyCode)TD_KEY_BYTE : plain_code(cp)};
  if (key->code < TD_KEY_NONE || key->code == TD_KEY_BYTE) {
    key->text = s;
    key->n = len;
  }
  return len;
}

/* Reads what follows an ESC at s: a sequence, or a key with Alt. Returns its bytes, or 0. */
static size_t read_escape(const char *s, size_t n, bool late, TdKey *key) {
  *key = (TdKey){.code = TD_KEY_ESCAPE};
  if (n == 1) return late;
  if (s[1] == 0x1B) return 1;
  if (s[1] == '[' || s[1] == 'O') {
    size_t len = read_sequence(s, n, &key->code);
    if (!len && late) {
      key->code = n == 2 ? TD_ALT | (TdKeyCode)s[1] : (TdKeyCode)TD_KEY_NONE;
      return n;
    }
    return len;
  }
  size_t inner = read_character(s + 1, n - 1, late, key);
  key->code |= TD_ALT;
  key->text = NULL;
  key->n = 0;
  return inner ? inner + 1 : 0;
}

bool td_key_next(TdKeys *k, bool late, TdKey *key) {
  size_t n;
  const char *s = rest(k, &n);
  if (n == 0) return false;
  if (starts(s, n, PASTE_BEGIN)) return take_paste(k, key);
  size_t len = s[0] == 0x1B ? read_escape(s, n, late, key) : read_character(s, n, late, key);
  k->used += len;
  return len > 0;
}

bool td_key_is_unsettled(const TdKeys *k) {
  size_t n;
  const char *s = rest(k, &n);
  return n > 0 && !starts(s, n, PASTE_BEGIN);
}
