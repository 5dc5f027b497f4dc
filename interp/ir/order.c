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
    if (o->nplace == TD_ORDER_DIMS) return fail(r, "it has too many dimensions");
    if (!number_after(r, '/', &p.div) || !number_after(r, '%', &p.mod)) return false;
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
