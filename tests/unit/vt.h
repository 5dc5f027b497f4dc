/* vt.h - a tiny terminal for tests of what is sent to one: a grid of cells, a cursor, reflow. */
#ifndef VT_H
#define VT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VT_ROWS = 64, VT_COLS = 256, VT_CELL = 40, VT_SGR = 16 };

/* What one cell shows; the second cell of a wide character is empty and `is_tail`. */
typedef struct VtCell {
  char text[VT_CELL], sgr[VT_SGR];
  bool is_tail;
} VtCell;

typedef struct Vt {
  int rows, cols, row, col;
  bool is_summing; /* each code point has its own cells: ZWJ and skin tones join nothing */
  bool is_pending; /* the last column was written: the next character wraps */
  bool no_wrap, is_pasting;
  VtCell cell[VT_ROWS][VT_COLS];
  bool is_soft[VT_ROWS]; /* the row was wrapped into the next one */
  int used[VT_ROWS];     /* cells of the row that were written since it was cleared whole */
  bool is_keeping;       /* as tmux: those count when rows are wrapped anew */
  int scrolled;          /* rows that left at the top */
  int bells, writes;
  char sgr[VT_SGR];
  char held[64]; /* an escape sequence or character that is not whole */
  size_t n_held;
  unsigned before; /* the code point before */
} Vt;

/* An empty terminal. */
static inline void vt_init(Vt *v, int rows, int cols) {
  memset(v, 0, sizeof *v);
  v->rows = rows;
  v->cols = cols;
}

/* Clears a row from a column on. */
static inline void vt_clear(Vt *v, int row, int from) {
  for (int c = from; c < VT_COLS; c++) memset(&v->cell[row][c], 0, sizeof(VtCell));
  v->is_soft[row] = false;
  if (from == 0 || (!v->is_keeping && from < v->used[row])) v->used[row] = from;
}

/* Goes a row down, scrolling at the bottom. */
static inline void vt_line_feed(Vt *v) {
  if (v->row + 1 < v->rows) {
    v->row++;
    return;
  }
  memmove(v->cell[0], v->cell[1], sizeof v->cell[0] * (VT_ROWS - 1));
  memmove(v->is_soft, v->is_soft + 1, sizeof *v->is_soft * (VT_ROWS - 1));
  memmove(v->used, v->used + 1, sizeof *v->used * (VT_ROWS - 1));
  vt_clear(v, v->rows - 1, 0);
  v->scrolled++;
}

/* Whether a code point is in a range. */
static inline bool vt_in(unsigned cp, unsigned lo, unsigned hi) {
  return cp >= lo && cp <= hi;
}

/* Cells of a code point, from a few ranges that tests use. */
static inline int vt_width(unsigned cp) {
  if (vt_in(cp, 0x300, 0x36F) || cp == 0x200D || vt_in(cp, 0xFE00, 0xFE0F)) return 0;
  return vt_in(cp, 0x1100, 0x115F) || vt_in(cp, 0x2E80, 0xA4CF) || vt_in(cp, 0xAC00, 0xD7A3) ||
                 vt_in(cp, 0xF900, 0xFAFF) || vt_in(cp, 0xFF00, 0xFF60) ||
                 vt_in(cp, 0x1F300, 0x1FAFF)
             ? 2
             : 1;
}

/* Adds bytes to the character before the cursor, which takes `cells` cells then. */
static inline void vt_join(Vt *v, const char *s, size_t n, int cells) {
  int c = v->is_pending ? v->cols - 1 : v->col - 1;
  while (c > 0 && v->cell[v->row][c].is_tail) c--;
  if (c < 0) return;
  VtCell *to = &v->cell[v->row][c];
  if (strlen(to->text) + n < VT_CELL) strncat(to->text, s, n);
  if (cells == 2 && c + 1 < v->cols && !v->cell[v->row][c + 1].is_tail) {
    v->cell[v->row][c + 1] = (VtCell){.is_tail = true};
    v->col = c + 2 < v->cols ? c + 2 : v->cols - 1;
    if (v->used[v->row] < c + 2) v->used[v->row] = c + 2;
  }
}

/* Shows a character at the cursor, or joins it to the one before. */
static inline void vt_put(Vt *v, const char *s, size_t n, unsigned cp) {
  int w = vt_width(cp);
  bool flags = vt_in(cp, 0x1F1E6, 0x1F1FF) && vt_in(v->before, 0x1F1E6, 0x1F1FF);
  bool joins = !v->is_summing && (v->before == 0x200D || vt_in(cp, 0x1F3FB, 0x1F3FF) || flags);
  v->before = flags ? 0 : cp;
  if (w == 0 || joins) {
    vt_join(v, s, n, !v->is_summing && (cp == 0xFE0F || flags) ? 2 : 0);
    return;
  }
  if (!v->no_wrap && (v->is_pending || v->col + w > v->cols)) {
    v->is_soft[v->row] = true;
    vt_line_feed(v);
    v->col = 0;
  }
  v->is_pending = false;
  if (v->col + w > v->cols) v->col = v->cols - w;
  for (int i = 0; i < w; i++) v->cell[v->row][v->col + i] = (VtCell){.is_tail = i > 0};
  VtCell *to = &v->cell[v->row][v->col];
  memcpy(to->text, s, n);
  memcpy(to->sgr, v->sgr, VT_SGR);
  v->col += w;
  if (v->used[v->row] < v->col) v->used[v->row] = v->col;
  if (v->col >= v->cols) {
    v->col = v->cols - 1;
    v->is_pending = true;
  }
}

/* Does a whole `ESC [` sequence, held without its end in v->held. */
static inline void vt_sequence(Vt *v, char final) {
  const char *args = v->held + 2;
  int n = atoi(args), by = n > 0 ? n : 1;
  v->is_pending = false;
  switch (final) {
  case 'A': v->row = v->row > by ? v->row - by : 0; break;
  case 'C': v->col = v->col + by < v->cols ? v->col + by : v->cols - 1; break;
  case 'H': v->row = v->col = 0; break;
  case 'J':
    if (n == 2) vt_clear(v, v->row, 0);
    vt_clear(v, v->row, v->col);
    for (int r = n == 2 ? 0 : v->row + 1; r < v->rows; r++)
      if (r != v->row) vt_clear(v, r, 0);
    break;
  case 'K': vt_clear(v, v->row, n == 2 ? 0 : v->col); break;
  case 'm': snprintf(v->sgr, VT_SGR, "%.15s", strcmp(args, "0") == 0 ? "" : args); break;
  case 'h':
  case 'l':
    if (strcmp(args, "?7") == 0) v->no_wrap = final == 'l';
    if (strcmp(args, "?2004") == 0) v->is_pasting = final == 'h';
    break;
  default: break;
  }
}

/* Does a control character. */
static inline void vt_control(Vt *v, char c) {
  v->before = 0;
  if (c == '\r') v->col = 0;
  if (c == '\n') vt_line_feed(v);
  if (c == '\a') v->bells++;
  if (c == '\r' || c == '\n') v->is_pending = false;
}

/* Takes one byte. */
static inline void vt_byte(Vt *v, char c) {
  unsigned char u = (unsigned char)c, first = (unsigned char)v->held[0];
  if (v->n_held == 0 && u < 0x20 && u != 0x1B) {
    vt_control(v, c);
    return;
  }
  v->held[v->n_held++] = c;
  v->held[v->n_held] = 0;
  first = (unsigned char)v->held[0];
  if (first == 0x1B) {
    if (v->n_held > 2 && u >= 0x40) {
      v->held[v->n_held - 1] = 0;
      vt_sequence(v, c);
      v->n_held = 0;
    }
    return;
  }
  size_t want = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (v->n_held < want) return;
  unsigned cp = want == 1 ? first : first & (0x7Fu >> want);
  for (size_t i = 1; i < want; i++) cp = cp << 6 | ((unsigned char)v->held[i] & 0x3Fu);
  v->n_held = 0;
  vt_put(v, v->held, want, cp);
}

/* Takes n bytes. */
static inline void vt_feed(Vt *v, const char *s, size_t n) {
  v->writes++;
  for (size_t i = 0; i < n; i++) vt_byte(v, s[i]);
}

/* The text of a row without the blanks at its end; valid until the fourth call after. */
static inline const char *vt_row(const Vt *v, int row) {
  static char texts[4][VT_COLS * VT_CELL];
  static int turn;
  char *out = texts[turn = (turn + 1) % 4];
  size_t n = 0, kept = 0;
  for (int c = 0; c < v->cols; c++) {
    const VtCell *cell = &v->cell[row][c];
    if (cell->is_tail) continue;
    size_t len = strlen(cell->text);
    memcpy(out + n, len ? cell->text : " ", len ? len : 1);
    n += len ? len : 1;
    if (len && strcmp(cell->text, " ") != 0) kept = n;
  }
  out[kept] = 0;
  return out;
}

/* The first row from `from` on that contains text; -1 when none does. */
static inline int vt_find(const Vt *v, int from, const char *text) {
  for (int r = from; r < v->rows; r++)
    if (strstr(vt_row(v, r), text)) return r;
  return -1;
}

/* Takes a new size, as terminals do that wrap their lines anew; the cursor stays at its cell. */
static inline void vt_resize(Vt *v, int rows, int cols) {
  static Vt old;
  int row = 0, col = 0;
  memcpy(&old, v, sizeof old);
  vt_init(v, rows, cols);
  v->is_summing = old.is_summing;
  v->is_keeping = old.is_keeping;
  v->is_pasting = old.is_pasting;
  v->scrolled = old.scrolled;
  v->bells = old.bells;
  v->rows = VT_ROWS;
  int last = old.rows - 1;
  while (last > old.row && old.used[last] == 0) last--;
  for (int r = 0; r <= last; r++) {
    int used = old.used[r];
    for (int c = 0; c < used || (r == old.row && c <= old.col); c++) {
      const VtCell *cell = &old.cell[r][c];
      bool is_wide = c + 1 < old.cols && old.cell[r][c + 1].is_tail;
      if (v->col + (is_wide ? 2 : 1) > cols && !cell->is_tail) {
        v->is_soft[v->row] = true;
        vt_line_feed(v);
        v->col = 0;
      }
      if (r == old.row && c == old.col) {
        row = v->row + v->scrolled - old.scrolled;
        col = v->col;
      }
      if (c < used) v->cell[v->row][v->col++] = *cell;
      if (v->used[v->row] < v->col) v->used[v->row] = v->col;
    }
    if (!old.is_soft[r] && r < last) {
      vt_line_feed(v);
      v->col = 0;
    }
  }
  int surplus = v->row + 1 - rows;
  row -= v->scrolled - old.scrolled;
  for (; surplus > 0; surplus--, row--) {
    v->row = VT_ROWS - 1;
    vt_line_feed(v);
  }
  v->rows = rows;
  v->row = row > 0 ? row : 0;
  v->col = col;
}

#endif
