/* fuzzy.c - fuzzy matching: the first place where a word fits, made as short as it can be. */
#include "repl/fuzzy.h"

#include <stdbool.h>

enum { EACH = 16, TOGETHER = 12, AT_START = 8, GAP = 1, MOST_GAP = 12 };

/* Whether a typed byte stands for a byte of the text: lower case for both cases. */
static bool fits(char text, char typed) {
  return text == typed || (typed >= 'a' && typed <= 'z' && text == typed - 'a' + 'A');
}

/* Whether a byte before another one means that no word starts there. */
static bool is_inner(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Finds the word in order: *first and *last become the bounds of a short place. */
static bool place(const char *text, size_t n, const char *word, size_t m, size_t *first,
                  size_t *last) {
  size_t i = 0, k = 0;
  for (; i < n && k < m; i++) k += fits(text[i], word[k]);
  if (k < m) return false;
  *last = i - 1;
  for (i = *last + 1; k > 0; i--) k -= fits(text[i - 1], word[k - 1]);
  *first = i;
  return true;
}

/* Finds the word in one piece, which goes before letters apart. */
static bool piece(const char *text, size_t n, const char *word, size_t m, size_t *first,
                  size_t *last) {
  for (size_t i = 0; i + m <= n; i++) {
    size_t k = 0;
    while (k < m && fits(text[i + k], word[k])) k++;
    *first = i;
    *last = i + m - 1;
    if (k == m) return true;
  }
  return false;
}

/* The score of one word of m > 0 bytes, or -1. */
static int score_word(const char *text, size_t n, const char *word, size_t m, unsigned char *hit) {
  size_t first, last, k = 0, before = 0;
  int score = 0;
  if (!piece(text, n, word, m, &first, &last) && !place(text, n, word, m, &first, &last)) return -1;
  for (size_t i = first; i <= last && k < m; i++) {
    if (!fits(text[i], word[k])) continue;
    size_t gap = k ? i - before - 1 : 0;
    score += EACH + (k && gap == 0 ? TOGETHER : 0);
    score -= GAP * (gap < MOST_GAP ? (int)gap : MOST_GAP);
    if (i == 0 || !is_inner(text[i - 1])) score += AT_START;
    if (hit) hit[i] = 1;
    before = i;
    k++;
  }
  return score;
}

int td_fuzzy_score(const char *text, size_t n, const char *query, size_t m, unsigned char *hit) {
  int score = 0;
  for (size_t at = 0, end; at < m; at = end) {
    while (at < m && query[at] == ' ') at++;
    for (end = at; end < m && query[end] != ' ';) end++;
    int word = end > at ? score_word(text, n, query + at, end - at, hit) : 0;
    if (word < 0) return -1;
    score += word;
  }
  return score;
}
