/* spelling.c - the rows of dialect.def, taken apart. */
#include "backends/npu/mlir/spelling.h"

#include <stdlib.h>
#include <string.h>

static const TdSpelling rows[] = {
#define TD_SPELLING(from, to, op, text) {from, to, op, text},
#include "backends/npu/mlir/dialect.def"
};

static const struct {
  int from, to;
  const char *name;
  int64_t number;
  const char *word;
} words[] = {
#define TD_WORD(from, to, name, number, word) {from, to, name, number, word},
#include "backends/npu/mlir/dialect.def"
};

#define COUNT(x) (sizeof(x) / sizeof *(x))

int td_spelling_version(TdMlirForm form) {
  return form == TD_MLIR_PRETTY_1_0 ? 10 : 13;
}

const TdSpelling *td_spelling_of(int version, const char *op) {
  for (size_t i = 0; i < COUNT(rows); i++)
    if (rows[i].from <= version && version <= rows[i].to && strcmp(rows[i].op, op) == 0)
      return &rows[i];
  return NULL;
}

const TdSpelling *td_spelling_find(int version, const char *word) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    size_t n = strcspn(rows[i].text, " (<");
    if (rows[i].from <= version && version <= rows[i].to && strlen(word) == n &&
        memcmp(rows[i].text, word, n) == 0)
      return &rows[i];
  }
  return NULL;
}

const char *td_spelling_word(int version, const char *name, int64_t number) {
  for (size_t i = 0; i < COUNT(words); i++)
    if (words[i].from <= version && version <= words[i].to && words[i].number == number &&
        strcmp(words[i].name, name) == 0)
      return words[i].word;
  return NULL;
}

bool td_spelling_number(int version, const char *name, const char *word, int64_t *number) {
  for (size_t i = 0; i < COUNT(words); i++)
    if (words[i].from <= version && version <= words[i].to && strcmp(words[i].name, name) == 0 &&
        strcmp(words[i].word, word) == 0) {
      *number = words[i].number;
      return true;
    }
  return false;
}

/* The next word of a text between angle brackets, in a place of n bytes. */
static const char *take(const char *s, char *to, size_t n) {
  size_t k = strcspn(s, " >");
  for (size_t i = 0; i < k && i + 1 < n; i++) to[i] = s[i];
  to[k < n ? k : n - 1] = 0;
  return s[k] == ' ' ? s + k + 1 : s + k;
}

bool td_spelling_next(const char **at, TdSpelled *out) {
  const char *s = *at;
  *out = (TdSpelled){.text = s, .n = strcspn(s, "<")};
  if (!*s) return false;
  *at = s + out->n;
  if (out->n) return true;
  out->text = NULL;
  s = take(s + 1, out->kind, sizeof out->kind);
  s = take(s, out->name, sizeof out->name);
  for (int i = 0; i < 2; i++) s = take(s, out->more[i], sizeof out->more[i]);
  *at = strchr(s, '>') + 1;
  return true;
}

size_t td_spelling_set(const TdSpelled *x, const char *end, int64_t *out) {
  size_t n = 0;
  while (end[-1] != '<') end--;
  const char *s = end + strlen(x->kind) + 1 + strlen(x->name);
  for (char *rest; n < TD_SPELLED_SET; n++, s = rest) {
    out[n] = strtoll(s, &rest, 10);
    if (rest == s) break;
  }
  return n;
}
