/* cname.c - what things are called in the text: the user's names wherever C allows. */
#include "backends/c/cfamily.h"

#include <string.h>

/* Words that mean something to every C or C++ compiler, and functions that a C compiler calls by
 * itself. */
static const char *const words[] = {
    "_Alignas", "_Alignof",   "_Atomic",   "_Bool",          "_Complex",
    "_Generic", "_Imaginary", "_Noreturn", "_Static_assert", "_Thread_local",
    "abort",    "asm",        "auto",      "bool",           "break",
    "case",     "char",       "const",     "continue",       "default",
    "do",       "double",     "else",      "enum",           "extern",
    "false",    "float",      "for",       "goto",           "i386",
    "if",       "inline",     "int",       "int16_t",        "int32_t",
    "int64_t",  "int8_t",     "linux",     "long",           "main",
    "memcmp",   "memcpy",     "memmove",   "memset",         "register",
    "restrict", "return",     "short",     "signed",         "size_t",
    "sizeof",   "static",     "struct",    "switch",         "true",
    "typedef",  "typeof",     "uint16_t",  "uint32_t",       "uint64_t",
    "uint8_t",  "union",      "unix",      "unsigned",       "void",
    "volatile", "while",      NULL};

static bool is_listed(const char *const *list, const char *name) {
  for (; list && *list; list++)
    if (strcmp(*list, name) == 0) return true;
  return false;
}

/* Whether a name is the language's, the target's, or in scope. */
static bool is_taken(const TdCWriter *w, const char *name) {
  if (is_listed(words, name) || is_listed(w->target->reserved, name) ||
      is_listed(w->target->functions, name))
    return true;
  for (size_t i = 0; i < w->name.n; i++)
    if (strcmp(w->name.at[i].text, name) == 0) return true;
  return false;
}

/* name in the letters of C; what begins as the names of implementations and targets do gets a
 * letter in front. */
static char *spell(TdArena *a, const char *name) {
  bool digit = *name >= '0' && *name <= '9';
  bool theirs = (name[0] == '_' && name[1]) || strncmp(name, "td_", 3) == 0;
  char *s = td_text_fmt(a, "%s%s", digit || theirs || !*name ? "v" : "", name);
  for (char *p = s; *p; p++)
    if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *p)) *p = '_';
  return s;
}

const char *td_cname_fresh(TdCWriter *w, const char *name) {
  const char *base = spell(w->arena, name), *s = base;
  const char *join = base[strlen(base) - 1] == '_' ? "" : "_"; /* two in a row are C++'s own */
  for (int n = 1; is_taken(w, s); n++) s = td_text_fmt(w->arena, "%s%s%d", base, join, n);
  return s;
}

const TdCName *td_cname_put(TdCWriter *w, TdSym sym, const char *text, const TdType *array,
                            const char *const *stride) {
  TdCName name = {sym, text, array, stride};
  td_vec_push(w->arena, &w->name, name);
  return &w->name.at[w->name.n - 1];
}

const char *td_cname_declare(TdCWriter *w, TdSym sym) {
  return td_cname_put(w, sym, td_cname_fresh(w, sym->name), NULL, NULL)->text;
}

const TdCName *td_cname_of(const TdCWriter *w, TdSym sym) {
  static const TdCName unknown = {.text = "unknown"};
  for (size_t i = w->name.n; i-- > 0;)
    if (w->name.at[i].sym == sym) return &w->name.at[i];
  if (!td_diag_failed(w->diag))
    td_diag_set(w->diag, TD_BUG, "unnamed", (TdLoc){0}, "%s is used where it is not declared",
                sym->name);
  return &unknown;
}

/* What the names of sizes stand for. */
static const TdSymbol a_size = {.name = "size"};

bool td_cname_put_size(TdCWriter *w, const char *name) {
  if (is_taken(w, name)) return false;
  td_cname_put(w, &a_size, name, NULL, NULL);
  return true;
}

bool td_cname_has_size(const TdCWriter *w, const char *name) {
  for (size_t i = 0; i < w->name.n; i++)
    if (w->name.at[i].sym == &a_size && strcmp(w->name.at[i].text, name) == 0) return true;
  return false;
}

size_t td_cname_mark(const TdCWriter *w) {
  return w->name.n;
}

void td_cname_release(TdCWriter *w, size_t mark) {
  w->name.n = mark;
}
