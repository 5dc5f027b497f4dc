/* width.c - UTF-8 clusters and their cells, from ranges of the Unicode database. */
#include "repl/width.h"

#include <stdio.h>
#include <string.h>

enum {
  ZERO = 1,    /* joins the cluster before it, no cells */
  MARK = 2,    /* joins it too, with a cell of its own */
  WIDE = 4,    /* two cells */
  PICT = 8,    /* a picture, which a joiner can tie to another */
  CONTROL = 16 /* moves the cursor or hides: never sent to a terminal */
};

typedef struct Range {
  uint32_t first, last;
  int flags;
} Range;

#define X(first, last, flags) {first, last, flags},
static const Range ranges[] = {
#include "repl/width.def"
};
#undef X

#define JOINER 0x200Du
#define AS_EMOJI 0xFE0Fu

/* Flags of a code point; 0 is one plain cell. */
static int flags_of(uint32_t cp) {
  if (cp >= 0x20 && cp < 0x7F) return 0;
  size_t lo = 0, hi = sizeof ranges / sizeof *ranges;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (cp < ranges[mid].first)
      hi = mid;
    else if (cp > ranges[mid].last)
      lo = mid + 1;
    else
      return ranges[mid].flags;
  }
  return 0;
}

/* Regional indicators: two of them are a flag. */
static bool is_flag_letter(uint32_t cp) {
  return cp >= 0x1F1E6 && cp <= 0x1F1FF;
}

/* Modifiers that join the picture before them. */
static bool is_skin_tone(uint32_t cp) {
  return cp >= 0x1F3FB && cp <= 0x1F3FF;
}

size_t td_width_decode(const char *s, size_t n, uint32_t *cp) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned char first = (unsigned char)s[0];
  *cp = first;
  if (first < 0x80) return 1;
  size_t len = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  uint32_t c = first & (0x7Fu >> len);
  bool good = first >= 0xC2 && first <= 0xF4 && len <= n;
  for (size_t i = 1; good && i < len; i++) {
    unsigned char next = (unsigned char)s[i];
    good = (next & 0xC0) == 0x80;
    c = c << 6 | (next & 0x3Fu);
  }
  good = good && c >= least[len] && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
  *cp = good ? c : TD_WIDTH_BAD;
  return good ? len : 1;
}

/* What the code point after a cluster does to it: whether it joins, and with which cells. */
static bool joins(TdCluster *k, uint32_t base, uint32_t before, uint32_t cp) {
  int flags = flags_of(cp), base_flags = flags_of(base);
  if (flags & ZERO) {
    bool to_emoji = cp == AS_EMOJI && (base_flags & PICT) && k->cells == 1;
    if (to_emoji) k->cells = 2;
    if (cp == AS_EMOJI || cp == JOINER) k->is_unsure = true;
    return true;
  }
  if (flags & MARK) {
    k->cells++;
    k->is_unsure = true;
    return true;
  }
  bool tied = before == JOINER && (flags & PICT) && (base_flags & PICT);
  bool toned = is_skin_tone(cp) && (base_flags & PICT);
  bool flag = is_flag_letter(cp) && is_flag_letter(before);
  if (flag || tied || toned) {
    k->cells = 2;
    k->is_unsure = true;
  }
  return flag || tied || toned;
}

TdCluster td_width_cluster(const char *s, size_t n) {
  uint32_t base, cp;
  size_t bytes = td_width_decode(s, n, &base);
  if (base == '\n') return (TdCluster){.bytes = 1};
  int flags = base == TD_WIDTH_BAD ? CONTROL : flags_of(base);
  TdCluster k = {.bytes = bytes, .cells = flags & WIDE ? 2 : 1};
  if (flags & (CONTROL | ZERO | MARK)) {
    char shown[TD_WIDTH_ESCAPE];
    k.is_escaped = true;
    k.cells = (int)td_width_escape(s, bytes, shown);
    return k;
  }
  bool is_flag = false;
  for (uint32_t before = base; k.bytes < n; before = cp, k.bytes += bytes) {
    if ((unsigned char)s[k.bytes] < 0x80) break;
    bytes = td_width_decode(s + k.bytes, n - k.bytes, &cp);
    if (cp == TD_WIDTH_BAD || (is_flag && is_flag_letter(cp))) break;
    if (!joins(&k, base, before, cp)) break;
    is_flag = is_flag || is_flag_letter(cp);
  }
  return k;
}

size_t td_width_escape(const char *s, size_t n, char out[TD_WIDTH_ESCAPE]) {
  uint32_t cp;
  td_width_decode(s, n, &cp);
  if (cp == TD_WIDTH_BAD)
    snprintf(out, TD_WIDTH_ESCAPE, "\\x%02X", (unsigned char)s[0]);
  else if (cp < 0x20 || cp == 0x7F)
    snprintf(out, TD_WIDTH_ESCAPE, "^%c", (int)(cp ^ 0x40));
  else
    snprintf(out, TD_WIDTH_ESCAPE, "\\u{%X}", (unsigned)cp);
  return strlen(out);
}

size_t td_width_next(const char *s, size_t n, size_t at) {
  return at < n ? at + td_width_cluster(s + at, n - at).bytes : n;
}

size_t td_width_prev(const char *s, size_t n, size_t at) {
  if (at == 0) return 0;
  if (s[at - 1] == '\n') return at - 1;
  size_t p = at;
  while (p > 0 && s[p - 1] != '\n') p--;
  for (size_t next = p; next < at; next = td_width_next(s, n, next)) p = next;
  return p;
}

int td_width_cells(const char *s, size_t n) {
  int cells = 0;
  for (size_t at = 0; at < n;) {
    TdCluster k = td_width_cluster(s + at, n - at);
    cells += k.cells;
    at += k.bytes;
  }
  return cells;
}

size_t td_width_fit(const char *s, size_t n, int cells) {
  size_t at = 0;
  while (at < n) {
    TdCluster k = td_width_cluster(s + at, n - at);
    if (k.cells > cells) break;
    cells -= k.cells;
    at += k.bytes;
  }
  return at;
}
