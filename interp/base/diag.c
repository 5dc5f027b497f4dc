/* diag.c - errors as data, and how they are drawn. */
#include "base/diag.h"

#include <string.h>

bool td_diag_vset(TdDiag *d, TdDiagKind kind, const char *code, TdLoc loc, const char *fmt,
                  va_list ap) {
  if (d->kind != TD_OK) return false;
  d->kind = kind;
  d->code = code;
  d->loc = loc;
  d->message = td_text_vfmt(d->arena, fmt, ap);
  return false;
}

bool td_diag_set(TdDiag *d, TdDiagKind kind, const char *code, TdLoc loc, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  td_diag_vset(d, kind, code, loc, fmt, ap);
  va_end(ap);
  return false;
}

void td_diag_note(TdDiag *d, TdLoc loc, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = td_text_vfmt(d->arena, fmt, ap);
  va_end(ap);
  td_vec_push(d->arena, &d->notes, ((TdNote){loc, text}));
}

void td_diag_help(TdDiag *d, const char *fmt, ...) {
  if (d->help) return;
  va_list ap;
  va_start(ap, fmt);
  d->help = td_text_vfmt(d->arena, fmt, ap);
  va_end(ap);
}

void td_diag_witness(TdDiag *d, TdWitness w) {
  w.array = td_arena_strdup(d->arena, w.array);
  w.element = td_arena_strdup(d->arena, w.element);
  w.first_at = td_arena_strdup(d->arena, w.first_at);
  w.second_at = td_arena_strdup(d->arena, w.second_at);
  d->witness = td_arena_copy(d->arena, &w, sizeof w);
}

bool td_diag_failed(const TdDiag *d) {
  return d->kind != TD_OK;
}

const char *td_diag_kind_name(TdDiagKind kind) {
  static const char *const name[] = {"ok",    "illegal", "unsupported", "usage",
                                     "limit", "bug",     "lua"};
  return name[kind];
}

/* "file:line:col: " when the place is known. */
static void put_position(TdText *out, TdLoc loc, const TdSources *s) {
  if (!loc.source || !s) return;
  td_text_putf(out, "%s:%u:", td_sources_name(s, loc.source), loc.line);
  if (loc.col) td_text_putf(out, "%u:", loc.col);
  td_text_putc(out, ' ');
}

/* Width of a UTF-8 text in code points; a stray byte counts as one. */
static size_t code_points(const char *s, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) count += ((unsigned char)s[i] & 0xC0) != 0x80;
  return count;
}

#define SHOWN_LINE 160

void td_diag_print_place(TdText *out, TdLoc loc, const TdSources *s) {
  size_t n = 0;
  const char *line = loc.source && s ? td_sources_line(s, loc.source, loc.line, &n) : NULL;
  if (!line || loc.col > n + 1) return;
  size_t from = 0, at = loc.col ? loc.col - 1u : 0;
  if (at > SHOWN_LINE / 2 && n > SHOWN_LINE) from = at - SHOWN_LINE / 2;
  while (from && ((unsigned char)line[from] & 0xC0) == 0x80) from--;
  size_t shown = n - from > SHOWN_LINE ? SHOWN_LINE : n - from;
  td_text_putf(out, "%6u | ", loc.line);
  td_text_putn(out, line + from, shown);
  td_text_putc(out, '\n');
  if (!loc.col) return;
  td_text_puts(out, "       | ");
  for (size_t i = from; i < at; i++) {
    if (line[i] == '\t')
      td_text_putc(out, '\t');
    else if (((unsigned char)line[i] & 0xC0) != 0x80)
      td_text_putc(out, ' ');
  }
  td_text_putc(out, '^');
  size_t len = loc.len, room = from + shown - (at < from + shown ? at : from + shown);
  if (len > room) len = room;
  size_t width = code_points(line + at, len);
  for (size_t i = 1; i < width; i++) td_text_putc(out, '~');
  td_text_putc(out, '\n');
}

/* The element, and the two instances that clash on it; a line that both stand on is drawn once. */
static void put_witness(TdText *out, const TdWitness *w, const TdSources *s) {
  const TdLoc loc[] = {w->first, w->second};
  const char *at[] = {w->first_at, w->second_at}, *word[] = {"first ", "second"};
  bool same = memcmp(&loc[0], &loc[1], sizeof *loc) == 0;
  td_text_putf(out, "witness: %s\n", w->element);
  for (int i = 0; i < 2; i++) {
    td_text_putf(out, "  %s ", word[i]);
    put_position(out, loc[i], s);
    td_text_putf(out, "at %s\n", at[i] && *at[i] ? at[i] : "the only instance");
    if (!same || i == 1) td_diag_print_place(out, loc[i], s);
  }
}

/* The message, its first line ended by the code, which `?code` explains; plain Lua has none. */
static void put_message(TdText *out, const TdDiag *d) {
  size_t n = strcspn(d->message, "\n");
  td_text_putn(out, d->message, n);
  if (d->code && d->kind != TD_LUA) td_text_putf(out, " [%s]", d->code);
  td_text_putf(out, "%s\n", d->message + n);
}

void td_diag_print(TdText *out, const TdDiag *d, const TdSources *s) {
  put_position(out, d->loc, s);
  td_text_puts(out, "error: ");
  if (d->prim) td_text_putf(out, "%s: ", d->prim);
  put_message(out, d);
  td_diag_print_place(out, d->loc, s);
  if (d->witness) put_witness(out, d->witness, s);
  for (size_t i = 0; i < d->notes.n; i++) {
    td_text_puts(out, "note: ");
    put_position(out, d->notes.at[i].loc, s);
    td_text_putf(out, "%s\n", d->notes.at[i].text);
    td_diag_print_place(out, d->notes.at[i].loc, s);
  }
  if (d->state && *d->state) td_text_putf(out, "at that moment:\n%s", d->state);
  if (d->help) td_text_putf(out, "help: %s\n", d->help);
}
