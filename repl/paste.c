/* paste.c - takes pasted text apart into inputs. */
#include "repl/paste.h"

#include <string.h>

#include "base/vec.h"

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

/* Inputs under way. */
typedef struct Paste {
  TdArena *arena;
  const char *prompt, *more;
  bool is_session,
      is_begun; /* the first line that is not blank has come, and begins with `prompt` */
  TD_VEC(TdText) input;
} Paste;

static bool is_blank(const char *line, size_t n) {
  return n == 0 || strspn(line, " \t\n") >= n;
}

static void open_input(Paste *p) {
  td_vec_push(p->arena, &p->input, td_text_new(p->arena));
}

/* Takes a line of n bytes, which ends with its newline if it has one. */
static void take_line(Paste *p, const char *line, size_t n) {
  size_t len = n && line[n - 1] == '\n' ? n - 1 : n;
  size_t first = prompt_length(line, len, p->prompt);
  size_t skip = first ? first : prompt_length(line, len, p->more);
  if (!p->is_begun && !is_blank(line, n)) {
    p->is_begun = true;
    p->is_session = first > 0;
    if (first) p->input.at[0].n = 0;
  } else if (p->is_session && first) {
    open_input(p);
  }
  if (p->is_session && !skip) return;
  td_text_putn(&p->input.at[p->input.n - 1], line + skip, n - skip);
}

TdText *td_paste_inputs(TdArena *a, const char *s, size_t n, const char *prompt, const char *more,
                        size_t *count) {
  Paste p = {.arena = a, .prompt = prompt, .more = more};
  TdText in = with_newlines(a, s, n);
  open_input(&p);
  for (size_t at = 0, end; at < in.n; at = end) {
    const char *stop = memchr(in.at + at, '\n', in.n - at);
    end = stop ? (size_t)(stop - in.at) + 1 : in.n;
    take_line(&p, in.at + at, end - at);
  }
  *count = p.input.n;
  return p.input.at;
}
