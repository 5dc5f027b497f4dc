/* order.c - orders in memory, read. */
#include "ir/order.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A text being read. */
typedef struct Reader {
  TdArena *arena;
  const char *at;
  const char *why;
} Reader;

static bool fail(Reader *r, const char *why) {
  r->why = why;
  return false;
}

static void skip_blanks(Reader *r) {
  while (isspace((unsigned char)*r->at)) r->at++;
}

/* The next word; NULL: none. */
static const char *word(Reader *r) {
  skip_blanks(r);
  const char *from = r->at;
  while (isalnum((unsigned char)*r->at) || *r->at == '_') r->at++;
  return r->at == from ? NULL : td_arena_strndup(r->arena, from, (size_t)(r->at - from));
}

/* "/8" or "%8" where it follows; false when no number does. */
static bool number_after(Reader *r, char mark, int64_t *n) {
  if (*r->at != mark) return true;
  char *end;
  *n = strtoll(r->at + 1, &end, 10);
  if (end == r->at + 1 || *n < 1)
    return fail(r, td_text_fmt(r->arena, "'%c' takes a positive number", mark));
  r->at = end;
  return true;
}

static bool read_names(Reader *r, TdOrder *o) {
  const char *name;
  while ((name = word(r))) {
    if (o->nname == TD_ORDER_DIMS) return fail(r, "it has too many dimensions");
    o->name[o->nname++] = name;
  }
  if (strncmp(r->at, "->", 2) != 0) return fail(r, "it is not of the form \"m k -> m/8 k m%8\"");
  r->at += 2;
  return o->nname > 0 || fail(r, "it names no dimension");
}

static bool read_places(Reader *r, TdOrder *o) {
  const char *name;
  while ((name = word(r))) {
    TdOrderPlace p = {.div = 1};
    while (p.name < o->nname && strcmp(o->name[p.name], name) != 0) p.name++;
    if (p.name == o->nname)
      return fail(r, td_text_fmt(r->arena, "'%s' is not among its dimensions", name));
    if (o->nplace == TD_ORDER_PLACES) return fail(r, "it has too many dimensions");
    if (!number_after(r, '/', &p.div) || !number_after(r, '%', &p.mod) ||
        !number_after(r, ':', &p.pitch))
      return false;
    o->place[o->nplace++] = p;
  }
  return !*r->at || fail(r, td_text_fmt(r->arena, "'%s' cannot be read", r->at));
}

/* Whether the parts of one name put it together again, as extents of the tensor; then its extent.
 */
static bool check_name(Reader *r, TdOrder *o, int name, const int64_t *extent) {
  TdDesc digits = {0}, back;
  o->extent[name] = 1;
  for (int k = 0; k < o->nplace; k++) {
    const TdOrderPlace *p = &o->place[k];
    if (p->name != name) continue;
    if (p->pitch) return fail(r, "':' is for orders in bytes");
    if (p->mod && p->mod != extent[k])
      return fail(r,
                  td_text_fmt(r->arena, "'%s/%lld%%%lld' has %lld values, and dimension %d is %lld",
                              o->name[name], (long long)p->div, (long long)p->mod,
                              (long long)p->mod, k, (long long)extent[k]));
    digits.at[digits.n++] = (TdDigit){extent[k], p->div};
    o->extent[name] *= extent[k];
  }
  return td_desc_inverse(&digits, &back) ||
         fail(r, td_text_fmt(r->arena, "the parts of '%s' do not make it up", o->name[name]));
}

bool td_order_read(TdArena *a, const char *text, const int64_t *extent, int rank, TdOrder *out,
                   const char **why) {
  Reader r = {.arena = a, .at = text};
  *out = (TdOrder){0};
  bool ok = read_names(&r, out) && read_places(&r, out);
  if (ok && out->nplace != rank)
    ok = fail(&r, td_text_fmt(a, "it has %d dimensions, and the tensor %d", out->nplace, rank));
  for (int i = 0; ok && i < out->nname; i++) ok = check_name(&r, out, i, extent);
  *why = r.why;
  return ok;
}

const char *td_order_part(TdArena *a, const TdOrder *o, int place) {
  const TdOrderPlace *p = &o->place[place];
  TdText t = td_text_new(a);
  td_text_puts(&t, o->name[p->name]);
  if (p->div > 1) td_text_putf(&t, "/%lld", (long long)p->div);
  if (p->mod) td_text_putf(&t, "%%%lld", (long long)p->mod);
  return td_text_str(&t);
}

/* The place of the part of a name that begins at `div`; -1: none, -2: two of them. */
static int part_at(const TdOrder *o, int name, int64_t div) {
  int found = -1;
  for (int k = 0; k < o->nplace; k++)
    if (o->place[k].name == name && o->place[k].div == div) found = found < 0 ? k : -2;
  return found;
}

/* Fills how many values each part of a name has, and how many the name has room for. */
static bool measure_name(Reader *r, TdOrderBytes *b, int name, int64_t extent, int64_t *n) {
  const TdOrder *o = &b->order;
  int parts = 0, seen = 0;
  for (int k = 0; k < o->nplace; k++) parts += o->place[k].name == name;
  int64_t div = 1;
  for (; seen < parts; seen++) {
    int k = part_at(o, name, div);
    if (k < 0) break;
    const TdOrderPlace *p = &o->place[k];
    if (!p->mod && seen + 1 < parts) break;
    n[k] = p->mod ? p->mod : (extent + div - 1) / div;
    if (n[k] < 1) n[k] = 1;
    if (n[k] > (INT64_C(1) << 40) / div) return fail(r, "its digits are too large");
    div *= n[k];
  }
  b->room[name] = div;
  if (seen < parts || !parts)
    return fail(r, td_text_fmt(r->arena, "the parts of '%s' do not make it up", o->name[name]));
  if (div >= extent) return true;
  return fail(r, td_text_fmt(r->arena, "the parts of '%s' have %lld values, and it has %lld",
                             o->name[name], (long long)div, (long long)extent));
}

/* The bytes from value to value of each part, from the inside out. */
static bool place_parts(Reader *r, TdOrderBytes *b, int64_t element, const int64_t *n,
                        int64_t *stride) {
  int64_t span = element;
  for (int k = b->order.nplace; k-- > 0;) {
    stride[k] = b->order.place[k].pitch ? b->order.place[k].pitch : span;
    if (stride[k] < span || n[k] > (INT64_C(1) << 40) / stride[k])
      return fail(r, td_text_fmt(r->arena,
                                 "the values of '%s' take %lld bytes each, and stand %lld "
                                 "apart",
                                 td_order_part(r->arena, &b->order, k), (long long)span,
                                 (long long)stride[k]));
    span = stride[k] * n[k];
  }
  b->bytes = span;
  return true;
}

/* Puts the digits of all names together, each name's most significant first. */
static bool join_digits(Reader *r, TdOrderBytes *b, const int64_t *n, const int64_t *stride) {
  TdOrder *o = &b->order;
  for (int name = 0; name < o->nname; name++) {
    for (int64_t div = b->room[name]; div > 1 || part_at(o, name, div) >= 0;) {
      int k = 0;
      while (k < o->nplace && (o->place[k].name != name || o->place[k].div * n[k] != div ||
                               (n[k] == 1 && o->place[k].div > 1)))
        k++;
      if (k == o->nplace) break;
      if (b->at.n == TD_DESC_DIGITS) return fail(r, "it has too many dimensions");
      b->part[b->at.n] = k;
      b->at.at[b->at.n++] = (TdDigit){n[k], stride[k]};
      div = o->place[k].div;
      if (div == 1) break;
    }
  }
  return true;
}

bool td_order_read_bytes(TdArena *a, const char *text, const int64_t *extent, int rank,
                         int64_t element, TdOrderBytes *out, const char **why) {
  Reader r = {.arena = a, .at = text};
  int64_t n[TD_ORDER_PLACES], stride[TD_ORDER_PLACES];
  *out = (TdOrderBytes){0};
  bool ok = read_names(&r, &out->order) && read_places(&r, &out->order);
  if (ok && out->order.nname != rank)
    ok = fail(&r, td_text_fmt(a, "it names %d dimensions, and the tensor has %d", out->order.nname,
                              rank));
  for (int i = 0; ok && i < rank; i++) {
    out->order.extent[i] = extent[i];
    ok = measure_name(&r, out, i, extent[i], n);
  }
  ok = ok && place_parts(&r, out, element, n, stride) && join_digits(&r, out, n, stride);
  *why = r.why;
  return ok;
}
