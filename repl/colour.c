/* colour.c - a scanner that never fails, for text that may be broken. */
#include "repl/colour.h"

#include <ctype.h>
#include <string.h>

static bool is_word(char ch) {
  return isalnum((unsigned char)ch) || ch == '_' || (ch & 0x80);
}

/* End of a long bracket `[==[ .. ]==]` at i, or i when there is none; *open: it does not end. */
static size_t long_bracket(const char *s, size_t n, size_t i, bool *open) {
  size_t level = 0, k = i + 1;
  while (k < n && s[k] == '=') level++, k++;
  if (k >= n || s[k] != '[') return i;
  for (k++; k < n; k++) {
    if (s[k] != ']') continue;
    size_t e = 0;
    while (k + 1 + e < n && s[k + 1 + e] == '=') e++;
    if (e == level && k + 1 + e < n && s[k + 1 + e] == ']') return k + e + 2;
  }
  *open = true;
  return n;
}

static size_t quoted_end(const char *s, size_t n, size_t i, bool *open) {
  char quote = s[i++];
  while (i < n && s[i] != quote && s[i] != '\n') i += s[i] == '\\' && i + 1 < n ? 2 : 1;
  *open = i >= n;
  return i < n ? i + 1 : n;
}

static size_t comment_end(const char *s, size_t n, size_t i, bool *open) {
  if (i + 2 < n && s[i + 2] == '[') {
    size_t end = long_bracket(s, n, i + 2, open);
    if (end != i + 2) return end;
  }
  while (i < n && s[i] != '\n') i++;
  *open = i == n;
  return i;
}

TdColourToken td_colour_token(const char *s, size_t n, size_t i) {
  TdColourToken t = {.kind = TD_COLOUR_SIGN, .at = i, .end = i + 1};
  if (isspace((unsigned char)s[i])) {
    t.kind = TD_COLOUR_SPACE;
  } else if (isdigit((unsigned char)s[i])) {
    t.kind = TD_COLOUR_NUMBER;
    while (t.end < n && (is_word(s[t.end]) || s[t.end] == '.')) t.end++;
  } else if (is_word(s[i])) {
    t.kind = TD_COLOUR_WORD;
    while (t.end < n && is_word(s[t.end])) t.end++;
  } else if (s[i] == '"' || s[i] == '\'') {
    t.kind = TD_COLOUR_STRING;
    t.end = quoted_end(s, n, i, &t.open);
  } else if (s[i] == '-' && i + 1 < n && s[i + 1] == '-') {
    t.kind = TD_COLOUR_COMMENT;
    t.end = comment_end(s, n, i, &t.open);
  } else if (s[i] == '[' && long_bracket(s, n, i, &t.open) != i) {
    t.kind = TD_COLOUR_STRING;
    t.end = long_bracket(s, n, i, &t.open);
  }
  return t;
}

static bool is_one_of(const char *s, TdColourToken t, const char *words) {
  size_t len = t.end - t.at;
  for (const char *w = words; *w; w += strcspn(w, " ") + (w[strcspn(w, " ")] == ' '))
    if (strcspn(w, " ") == len && memcmp(w, s + t.at, len) == 0) return true;
  return false;
}

static const char keywords[] =
    "and break do else elseif end false for function goto if in local nil "
    "not or repeat return then true until while";
static const char openers[] = "do then repeat function else";
static const char closers[] = "end until else elseif";

bool td_colour_is_keyword(const char *s, TdColourToken t) {
  return t.kind == TD_COLOUR_WORD && is_one_of(s, t, keywords);
}

const char *td_colour_keywords(void) {
  return keywords;
}

void td_colour_spans(const char *text, size_t n, TdSpans *out) {
  if (n && strchr(":?!", text[0])) {
    td_style_add(out, 0, n, TD_STYLE_COMMAND);
    return;
  }
  for (size_t i = 0; i < n;) {
    TdColourToken t = td_colour_token(text, n, i);
    TdStyle style = t.kind == TD_COLOUR_NUMBER    ? TD_STYLE_NUMBER
                    : t.kind == TD_COLOUR_STRING  ? TD_STYLE_STRING
                    : t.kind == TD_COLOUR_COMMENT ? TD_STYLE_COMMENT
                                                  : TD_STYLE_PLAIN;
    if (td_colour_is_keyword(text, t)) style = TD_STYLE_KEYWORD;
    if (style != TD_STYLE_PLAIN) td_style_add(out, t.at, t.end - t.at, style);
    i = t.end;
  }
}

int td_colour_indent(const char *text, size_t n, size_t line) {
  int depth = 0;
  for (size_t i = 0; i < line && i < n;) {
    TdColourToken t = td_colour_token(text, n, i);
    if (t.kind == TD_COLOUR_WORD)
      depth += is_one_of(text, t, openers) - is_one_of(text, t, closers);
    if (t.kind == TD_COLOUR_SIGN && strchr("([{", text[t.at])) depth++;
    if (t.kind == TD_COLOUR_SIGN && strchr(")]}", text[t.at])) depth--;
    i = t.end;
  }
  size_t i = line;
  while (i < n && (text[i] == ' ' || text[i] == '\t')) i++;
  if (i < n && text[i] != '\n') {
    TdColourToken t = td_colour_token(text, n, i);
    bool closes = (t.kind == TD_COLOUR_WORD && is_one_of(text, t, closers)) ||
                  (t.kind == TD_COLOUR_SIGN && strchr(")]}", text[i]));
    depth -= closes;
  }
  return depth > 0 ? 2 * depth : 0;
}

bool td_colour_match(const char *text, size_t n, size_t at, size_t *partner) {
  size_t open[256], depth = 0;
  for (size_t i = 0; i < n;) {
    TdColourToken t = td_colour_token(text, n, i);
    bool sign = t.kind == TD_COLOUR_SIGN;
    if (sign && strchr("([{", text[t.at]) && depth < 256) {
      open[depth++] = t.at;
    } else if (sign && strchr(")]}", text[t.at]) && depth) {
      size_t o = open[--depth];
      *partner = o == at ? t.at : o;
      if (o == at || t.at == at) return true;
    }
    i = t.end;
  }
  return false;
}
