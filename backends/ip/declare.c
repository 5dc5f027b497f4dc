/* declare.c - libclang parses the source; a visitor of its declarations writes what they are. */
#include "backends/ip/declare.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backends/ip/clang.h"

typedef struct Reader {
  TdClang lib;
  const TdDeclare *job;
  const char *name; /* the last one of the symbol */
  void *unit;
  FILE *out;
} Reader;

static const char *text_of(const Reader *r, TdClangString s) {
  const char *text = r->lib.getCString(s);
  return text ? text : "";
}

/* ---- places ---- */

/* The number of a file among those of the source, their count if it is none of them. */
static size_t number_of(const Reader *r, void *file) {
  for (size_t i = 0; file && i < r->job->nfile; i++) {
    void *own = r->lib.getFile(r->unit, r->job->path[i]);
    if (own && r->lib.File_isEqual(own, file)) return i;
  }
  return r->job->nfile;
}

/* A place of `length` bytes, or up to `end` where that is on its line. */
static void put_place(const Reader *r, TdClangPlace at, const TdClangPlace *end, size_t length) {
  void *file = NULL, *other = NULL;
  unsigned line = 0, col = 0, last = 0, stop = 0, byte;
  r->lib.getFileLocation(at, &file, &line, &col, &byte);
  if (end) r->lib.getFileLocation(*end, &other, &last, &stop, &byte);
  if (end) length = last == line && stop > col ? stop - col : 1;
  fprintf(r->out, "\t%zu\t%u\t%u\t%zu", number_of(r, file), line, col, length);
}

static void put_extent(const Reader *r, TdClangRange extent) {
  TdClangPlace end = r->lib.getRangeEnd(extent);
  put_place(r, r->lib.getRangeStart(extent), &end, 1);
}

/* ---- types ---- */

/* The text of a type without const and volatile. */
static const char *bare(const Reader *r, TdClangType t) {
  const char *s = text_of(r, r->lib.getTypeSpelling(t));
  for (;;) {
    if (strncmp(s, "const ", 6) == 0)
      s += 6;
    else if (strncmp(s, "volatile ", 9) == 0)
      s += 9;
    else
      return s;
  }
}

static bool is_array(TdClangType t) {
  return t.kind == TD_CLANG_CONSTANT_ARRAY || t.kind == TD_CLANG_OPEN_ARRAY;
}

/* How a parameter is passed, its elements in *t, its extents written to `extents`. */
static int way_of(const Reader *r, TdClangType *t, char *extents, size_t size) {
  bool reference = t->kind == TD_CLANG_REFERENCE;
  if (reference) *t = r->lib.getPointeeType(*t);
  bool pointer = t->kind == TD_CLANG_POINTER, array = false;
  if (pointer && reference) return TD_DECLARE_DEEP;
  if (pointer) *t = r->lib.getPointeeType(*t);
  if (pointer && t->kind == TD_CLANG_POINTER) return TD_DECLARE_DEEP;
  size_t n = (size_t)snprintf(extents, size, pointer ? "-1" : "");
  for (; is_array(*t); array = true) {
    long long extent = t->kind == TD_CLANG_OPEN_ARRAY ? -1 : r->lib.getArraySize(*t);
    if (n >= size - 24) return TD_DECLARE_OTHER;
    n += (size_t)snprintf(extents + n, size - n, n ? ",%lld" : "%lld", extent);
    *t = r->lib.getArrayElementType(*t);
  }
  if (t->kind == TD_CLANG_POINTER) return array ? TD_DECLARE_POINTERS : TD_DECLARE_DEEP;
  if (array && reference) return TD_IP_BOUND;
  if (array || pointer) return TD_IP_ARRAY;
  return reference && !r->lib.isConstQualifiedType(*t) ? TD_IP_REFERENCE : TD_IP_VALUE;
}

/* ---- declarations ---- */

static void put_parameter(const Reader *r, TdClangCursor p) {
  char extents[256] = "";
  TdClangType t = r->lib.getCanonicalType(r->lib.getCursorType(p));
  int way = way_of(r, &t, extents, sizeof extents);
  fputc('P', r->out);
  put_extent(r, r->lib.getCursorExtent(p));
  fprintf(r->out, "\t%d\t%u\t%s\t%s\t%s\n", way, r->lib.isConstQualifiedType(t) != 0, extents,
          bare(r, t), text_of(r, r->lib.getCursorSpelling(p)));
}

/* Writes the name of a declaration with its namespaces, those without a name left out. */
static void put_symbol(const Reader *r, TdClangCursor at) {
  const char *name = text_of(r, r->lib.getCursorSpelling(at));
  if (at.kind == TD_CLANG_UNEXPOSED || at.kind == TD_CLANG_LINKAGE) name = "";
  TdClangCursor around = r->lib.getCursorSemanticParent(at);
  bool inside = around.kind == TD_CLANG_NAMESPACE || around.kind == TD_CLANG_LINKAGE ||
                around.kind == TD_CLANG_UNEXPOSED;
  if (inside) put_symbol(r, around);
  bool last = at.kind == TD_CLANG_FUNCTION || at.kind == TD_CLANG_FUNCTION_TEMPLATE;
  if (*name && *name != '(') fprintf(r->out, "%s%s", name, last ? "" : "::");
}

static void put_function(const Reader *r, TdClangCursor f) {
  TdClangType result = r->lib.getCanonicalType(r->lib.getCursorResultType(f));
  fprintf(r->out, "F\t%s", text_of(r, r->lib.getCursorUSR(f)));
  put_place(r, r->lib.getCursorLocation(f), NULL, strlen(r->name));
  fprintf(r->out, "\t%d\t%d\t%s\t", f.kind == TD_CLANG_FUNCTION_TEMPLATE,
          r->lib.isCursorDefinition(f) != 0, text_of(r, r->lib.getTypeSpelling(result)));
  put_symbol(r, f);
  fputc('\n', r->out);
  int n = f.kind == TD_CLANG_FUNCTION ? r->lib.Cursor_getNumArguments(f) : 0;
  for (int i = 0; i < n; i++) put_parameter(r, r->lib.Cursor_getArgument(f, (unsigned)i));
}

static int on_declaration(TdClangCursor at, TdClangCursor around, void *ud) {
  const Reader *r = ud;
  (void)around;
  if (at.kind == TD_CLANG_NAMESPACE || at.kind == TD_CLANG_LINKAGE || at.kind == TD_CLANG_UNEXPOSED)
    return TD_CLANG_INTO;
  bool function = at.kind == TD_CLANG_FUNCTION || at.kind == TD_CLANG_FUNCTION_TEMPLATE;
  if (function && strcmp(text_of(r, r->lib.getCursorSpelling(at)), r->name) == 0)
    put_function(r, at);
  return TD_CLANG_NEXT;
}

/* ---- errors ---- */

/* What is said of a place, in one line. */
static void put_said(const Reader *r, void *diagnostic) {
  const TdClang *c = &r->lib;
  put_place(r, c->getDiagnosticLocation(diagnostic), NULL, 1);
  fputc('\t', r->out);
  for (const char *s = text_of(r, c->getDiagnosticSpelling(diagnostic)); *s; s++)
    fputc(*s == '\n' || *s == '\t' ? ' ' : *s, r->out);
  fputc('\n', r->out);
}

static void put_errors(const Reader *r) {
  unsigned n = r->lib.getNumDiagnostics(r->unit);
  for (unsigned i = 0; i < n; i++) {
    void *d = r->lib.getDiagnostic(r->unit, i), *notes = r->lib.getChildDiagnostics(d);
    int severity = r->lib.getDiagnosticSeverity(d);
    if (severity < TD_CLANG_ERROR) continue;
    fprintf(r->out, "E\t%d", severity);
    put_said(r, d);
    unsigned m = r->lib.getNumDiagnosticsInSet(notes);
    for (unsigned k = 0; k < m; k++) {
      fputc('N', r->out);
      put_said(r, r->lib.getDiagnosticInSet(notes, k));
    }
  }
}

void td_declare_run(void *job) {
  Reader r = {.job = job};
  const TdDeclare *j = r.job;
  const char *args[] = {j->cxx ? "-xc++" : "-xc", j->cxx ? "-std=c++17" : "-std=gnu11", "-w", "-I",
                        j->headers};
  const char *colon = strrchr(j->symbol, ':');
  r.name = colon ? colon + 1 : j->symbol;
  if (!td_clang_load(&r.lib)) _exit(TD_DECLARE_ABSENT);
  void *index = r.lib.createIndex(0, 0);
  int n = sizeof args / sizeof *args;
  if (r.lib.parseTranslationUnit2(index, j->path[0], args, n, NULL, 0, 0, &r.unit) != 0)
    _exit(TD_DECLARE_FAILED);
  r.out = fopen(j->to, "w");
  if (!r.out) _exit(TD_DECLARE_DISK);
  put_errors(&r);
  r.lib.visitChildren(r.lib.getTranslationUnitCursor(r.unit), on_declaration, &r);
  if (fclose(r.out) != 0) _exit(TD_DECLARE_DISK);
}
