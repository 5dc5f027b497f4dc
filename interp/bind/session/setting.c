/* setting.c - settings of the session: words from one table, for :set, help and completion. */
#include <string.h>

#include "bind/prompt/prompt.h"

const TdSetting td_settings[] = {
#define TD_SETTING(NAME, name, words, initial, summary) {name, words, summary, initial},
#include "bind/prompt/settings.def"
};

const TdSetting *td_setting_find(const char *name, size_t n) {
  for (int i = 0; i < TD_SETTINGS; i++)
    if (strlen(td_settings[i].name) == n && memcmp(td_settings[i].name, name, n) == 0)
      return &td_settings[i];
  return NULL;
}

/* Word i of a setting, of *n bytes; NULL after the last. */
static const char *word_of(const TdSetting *s, int i, size_t *n) {
  const char *w = s->words;
  for (; i > 0 && *w; i--) {
    w += strcspn(w, "|");
    w += *w == '|';
  }
  *n = strcspn(w, "|");
  return *n ? w : NULL;
}

bool td_setting_take(TdBind *b, const TdSetting *s, const char *word) {
  size_t n;
  const char *w;
  for (int i = 0; (w = word_of(s, i, &n)); i++) {
    if (strlen(word) != n || memcmp(word, w, n) != 0) continue;
    b->setting[s - td_settings] = i;
    return true;
  }
  return false;
}

void td_setting_reset(TdBind *b) {
  for (int i = 0; i < TD_SETTINGS; i++) b->setting[i] = td_settings[i].initial;
}

void td_setting_print(TdText *out, const TdBind *b, const TdSetting *s) {
  size_t n;
  const char *w = word_of(s, b->setting[s - td_settings], &n);
  td_text_putf(out, "%s is %.*s\n", s->name, (int)n, w);
}
