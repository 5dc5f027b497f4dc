/* paste.c - cleans pasted text. */
#include "repl/paste.h"

#include <string.h>

/* Bytes of the prompt, and of blanks before it, that the n bytes of a line start with; 0 when they
 * do not. The blanks of a prompt may have been lost on the way. */
static size_t prompt_length(const char *line, size_t n, const char *prompt) {
  size_t at = 0, len;
  prompt += strspn(prompt, " ");
  for (len = strlen(prompt); len > 0 && prompt[len - 1] == ' ';) len--;
  while (at < n && line[at] == ' ') at++;
  if (len == 0 || n - at < len || memcmp(line + at, prompt, len) != 0) return 0;
  at += len;
  if (at < n && line[at] != ' ') return 0;
  return at < n ? at + 1 : at;
}

/* A copy with newlines for all line ends and without NULs. */
static TdText with_newlines(TdArena *a, const char *s, size_t n) {
  TdText out = td_text_new(a);
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '\r' && i + 1 < n && s[i + 1] == '\n') continue;
    if (s[i]) td_text_putc(&out, s[i] == '\r' ? '\n' : s[i]);
  }
  return out;
}

TdText td_paste_clean(TdArena *a, const char *s, size_t n, const char *prompt, const char *more) {
  TdText in = with_newlines(a, s, n), out = td_text_new(a);
  for (size_t at = 0, end; at < in.n; at = end) {
    const char *line = in.at + at;
    const char *stop = memchr(line, '\n', in.n - at);
    size_t len = stop ? (size_t)(stop - line) : in.n - at;
    size_t skip = prompt_length(line, len, prompt);
    if (!skip) skip = prompt_length(line, len, more);
    end = at + len + (stop != NULL);
    td_text_putn(&out, line + skip, end - at - skip);
  }
  return out;
}
