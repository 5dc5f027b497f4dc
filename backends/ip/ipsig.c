/* ipsig.c - reads the lines that declare.h describes. */
#include "backends/ip/ipsig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/ip/declare.h"

/* ---- lines ---- */

typedef struct Lines {
  TdArena *arena;
  const TdIpsigText *in;
  const char *s; /* the next field, or line */
} Lines;

/* Goes to the next line; its letter, 0 behind the last. */
static char next_line(Lines *l) {
  if (l->s != l->in->text) {
    l->s += strcspn(l->s, "\n");
    l->s += *l->s == '\n';
  }
  return *l->s ? *l->s++ : 0;
}

/* The next field of the line. */
static const char *field(Lines *l) {
  l->s += *l->s == '\t';
  size_t n = strcspn(l->s, "\t\n");
  const char *text = td_arena_strndup(l->arena, l->s, n);
  l->s += n;
  return text;
}

static int64_t number(Lines *l) {
  return strtoll(field(l), NULL, 10);
}

/* The place in the next four fields; none of a file that is not the user's. */
static TdLoc place(Lines *l) {
  size_t file = (size_t)number(l);
  uint32_t line = (uint32_t)number(l);
  int64_t col = number(l), length = number(l);
  if (file >= l->in->nfile) return (TdLoc){0};
  return (TdLoc){l->in->source[file], line, (uint16_t)(col < UINT16_MAX ? col : UINT16_MAX),
                 (uint16_t)(length < UINT16_MAX ? length : UINT16_MAX)};
}

/* ---- errors ---- */

bool td_ipsig_check(const TdIpsigText *in, TdDiag *d) {
  enum { FATAL = 4 };
  Lines l = {d->arena, in, in->text};
  bool mine = false;
  for (char c; (c = next_line(&l)) == 'E' || c == 'N';) {
    bool fatal = c == 'E' && number(&l) == FATAL;
    TdLoc at = place(&l);
    const char *said = field(&l);
    if (c == 'E' && mine) break;
    if (c == 'N' && mine && at.source) td_diag_note(d, at, "%s", said);
    if (c == 'N' || (!at.source && !fatal)) continue;
    *d = (TdDiag){.arena = d->arena};
    td_diag_set(d, TD_USAGE, "foreign-source", at, "%s%s",
                at.source ? "" : "in what the source includes: ", said);
    mine = at.source;
    if (!mine && strstr(said, "file not found"))
      td_diag_help(d, "apt-get install libclang-common-14-dev, which has the headers of clang");
  }
  return !td_diag_failed(d);
}

/* ---- types ---- */

/* Tide's type for one of C++; *text is what the wrapper calls it. NULL: there is none. The classes
 * are those of Tide's own headers. */
static const TdType *type_of(Lines *l, const char **text) {
  static const struct {
    const char *name;
    char kind; /* i, u, f(loat), b */
    int bits;
  } known[] = {{"char", 'i', 8},
               {"signed char", 'i', 8},
               {"short", 'i', 16},
               {"int", 'i', 32},
               {"long", 'i', 64},
               {"long long", 'i', 64},
               {"unsigned char", 'u', 8},
               {"unsigned short", 'u', 16},
               {"unsigned int", 'u', 32},
               {"unsigned long", 'u', 64},
               {"unsigned long long", 'u', 64},
               {"float", 'f', 32},
               {"double", 'f', 64},
               {"bool", 'b', 1},
               {"_Bool", 'b', 1}};
  TdSession *s = l->in->session;
  const char *name = *text;
  int w = 0, i = 0;
  char sign[8], modes[40];
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (strcmp(known[k].name, name) == 0)
      return known[k].kind == 'b'   ? td_type_bool(s)
             : known[k].kind == 'f' ? td_type_float(s, known[k].bits)
             : known[k].kind == 'i' ? td_type_int(s, known[k].bits)
                                    : td_type_uint(s, known[k].bits);
  if (strcmp(name, "tide_hls::minifloat<5, 10>") == 0) {
    *text = "half";
    return td_type_float(s, 16);
  }
  if (sscanf(name, "tide_hls::integer<%d, %5[a-z]>", &w, sign) == 2) {
    bool is_signed = strcmp(sign, "true") == 0;
    *text = td_text_fmt(l->arena, "ap_%sint<%d>", is_signed ? "" : "u", w);
    if (w < 1 || w > TD_MAX_BITS) return NULL;
    return is_signed ? td_type_int(s, w) : td_type_uint(s, w);
  }
  if (sscanf(name, "tide_hls::fixed<%d, %d, %5[a-z], %39[A-Z_, ]>", &w, &i, sign, modes) != 4)
    return NULL;
  bool is_signed = strcmp(sign, "true") == 0, plain = strcmp(modes, "AP_TRN, AP_WRAP") == 0;
  *text = td_text_fmt(l->arena, "ap_%sfixed<%d, %d%s%s>", is_signed ? "" : "u", w, i,
                      plain ? "" : ", ", plain ? "" : modes);
  if (!plain || w < 1 || w > 64 || i < -64 || i > 128) return NULL;
  return td_type_fixed(s, is_signed, w, w - i);
}

/* ---- functions ---- */

/* Notes why a function cannot be called. */
static TdDiag *wrong(Lines *l, TdIpsig *f, TdDiagKind kind, const char *code, TdLoc at,
                     const char *text) {
  TdDiag *d = TD_NEW(l->arena, TdDiag);
  *d = (TdDiag){.arena = l->arena};
  td_diag_set(d, kind, code, at, "%s", text);
  if (!f->wrong) f->wrong = d;
  return d;
}

/* Reads "4,8" into the extents; false: one is nothing that memory has. */
static bool read_extents(TdIpsigParam *p, const char *s) {
  p->shaped = true;
  for (char *end; *s; s = end + (*end == ',')) {
    int64_t n = strtoll(s, &end, 10);
    bool open = n == -1 && p->rank == 0;
    if (p->rank == TD_MAX_RANK || (n < 1 && !open) || n > INT32_MAX) return false;
    if (open) p->shaped = false;
    p->extent[p->rank++] = n;
  }
  return true;
}

static void read_parameter(Lines *l, TdIpsig *f) {
  TdIpsigParam p = {.loc = place(l)};
  int way = (int)number(l);
  p.ip.pass = (uint8_t)way;
  p.ip.constant = number(l);
  bool fits = read_extents(&p, field(l));
  p.ip.type = field(l);
  p.elem = type_of(l, &p.ip.type);
  p.name = field(l);
  const char *why = NULL;
  if (way == TD_DECLARE_DEEP)
    why = "pointers to pointers have no meaning here";
  else if (way == TD_DECLARE_POINTERS)
    why = td_text_fmt(l->arena, "'%s' is an array of pointers", p.name);
  else if (!p.elem)
    why = td_text_fmt(l->arena, "Tide has no type for '%s'", p.ip.type);
  else if (!*p.name)
    why = "this parameter has no name, by which a call could give it";
  else if (way == TD_DECLARE_OTHER || !fits)
    why = td_text_fmt(l->arena, "'%s' is declared in a way that Tide has no type for", p.name);
  TdDiag *d = why ? wrong(l, f, TD_UNSUPPORTED, "ip-type", p.loc, why) : NULL;
  if (d && strstr(p.ip.type, "stream<"))
    td_diag_help(d, "write a function that takes an array, and fills the stream from it");
  if (p.ip.pass == TD_IP_REFERENCE) p.extent[p.rank++] = 1;
  td_vec_push(l->arena, &f->param, p);
}

/* A function, which may be declared several times. */
typedef struct Found {
  const char *usr;
  bool defined;
} Found;
typedef TD_VEC(Found) Founds;

/* Whether a function of this name is the wanted one. */
static bool is_wanted(const char *full, const char *want) {
  size_t n = strlen(full), m = strlen(want);
  bool tail = n >= m && strcmp(full + n - m, want) == 0;
  return tail && (n == m || full[n - m - 1] == ':');
}

/* Reads a declaration: the new one of `out` that it is, or NULL, with parameters to be skipped. */
static TdIpsig *read_function(Lines *l, const char *want, Founds *found, TdIpsigs *out) {
  const char *usr = field(l);
  TdLoc at = place(l);
  bool template_ = number(l), defined = number(l);
  const char *result = field(l), *symbol = field(l);
  if (!at.source || !is_wanted(symbol, want)) return NULL;
  for (size_t i = 0; i < found->n; i++)
    if (strcmp(found->at[i].usr, usr) == 0) {
      found->at[i].defined |= defined;
      return NULL;
    }
  td_vec_push(l->arena, found, ((Found){usr, defined}));
  td_vec_push(l->arena, out, ((TdIpsig){.symbol = symbol, .loc = at}));
  TdIpsig *f = &out->at[out->n - 1];
  if (template_)
    wrong(l, f, TD_UNSUPPORTED, "ip-template", at,
          td_text_fmt(l->arena,
                      "'%s' is a template: write a function that calls one instance of it",
                      symbol));
  else if (strcmp(result, "void") != 0)
    wrong(l, f, TD_USAGE, "ip-function", at,
          td_text_fmt(l->arena, "'%s' returns a value (%s): %s", symbol, result,
                      l->in->cxx ? "a function that Tide calls is void and writes its results"
                                 : "give its signature, as in f64(f64, i32[8])"));
  return f;
}

bool td_ipsig_read(TdArena *a, const TdIpsigText *in, const char *symbol, TdIpsigs *out,
                   TdDiag *d) {
  Lines l = {a, in, in->text};
  Founds found = {0};
  TdIpsig *f = NULL;
  for (char c; (c = next_line(&l));) {
    if (c == 'F') f = read_function(&l, symbol, &found, out);
    if (c == 'P' && f) read_parameter(&l, f);
  }
  if (!out->n)
    return td_diag_set(d, TD_USAGE, "ip-function", (TdLoc){0}, "%s has no function '%s'", in->given,
                       symbol);
  for (size_t i = 0; i < out->n; i++) {
    f = &out->at[i];
    if (strcmp(f->symbol, out->at[0].symbol) != 0)
      return td_diag_set(d, TD_USAGE, "ip-function", f->loc,
                         "'%s' may be %s or %s: name it with its namespace", symbol,
                         out->at[0].symbol, f->symbol);
    if (f->wrong || found.at[i].defined) continue;
    TdDiag *w =
        wrong(&l, f, TD_USAGE, "ip-function", f->loc,
              td_text_fmt(a, "'%s' is declared here, and not defined in this source", f->symbol));
    td_diag_help(w, "name the source that defines it, or include that in quotes");
  }
  return true;
}

bool td_ipsig_refuse(const TdIpsigs *all, TdDiag *d) {
  td_diag_set(d, TD_UNSUPPORTED, "ip-overload", all->at[1].loc,
              "'%s' is overloaded: a call from Tide could mean any of %zu", all->at[0].symbol,
              all->n);
  td_diag_note(d, all->at[0].loc, "another one");
  td_diag_help(d, "give the types of its parameters in tide.extern, by their names: x = f32[4]");
  return false;
}
