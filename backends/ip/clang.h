/* clang.h - the functions of libclang that read declarations, found by name when they are needed:
 * nothing of it is needed to build Tide. Its C interface has kept these since version 3.2. */
#ifndef TD_IP_CLANG_H
#define TD_IP_CLANG_H

#include <stdbool.h>

typedef struct TdClangString {
  const void *data;
  unsigned flags;
} TdClangString;
typedef struct TdClangCursor {
  int kind, data;
  const void *at[3];
} TdClangCursor;
typedef struct TdClangType {
  int kind;
  void *at[2];
} TdClangType;
typedef struct TdClangPlace {
  const void *at[2];
  unsigned data;
} TdClangPlace;
typedef struct TdClangRange {
  const void *at[2];
  unsigned from, end;
} TdClangRange;

/* Kinds of cursors and types, severities, and what a visitor returns, as libclang numbers them. */
enum {
  TD_CLANG_UNEXPOSED = 1,
  TD_CLANG_FUNCTION = 8,
  TD_CLANG_NAMESPACE = 22,
  TD_CLANG_LINKAGE = 23,
  TD_CLANG_FUNCTION_TEMPLATE = 30
};
enum {
  TD_CLANG_VOID = 2,
  TD_CLANG_POINTER = 101,
  TD_CLANG_REFERENCE = 103,
  TD_CLANG_CONSTANT_ARRAY = 112,
  TD_CLANG_OPEN_ARRAY = 114
};
enum { TD_CLANG_ERROR = 3, TD_CLANG_FATAL = 4 };
enum { TD_CLANG_NEXT = 1, TD_CLANG_INTO = 2 };

typedef int TdClangVisit(TdClangCursor at, TdClangCursor around, void *ud);

/* X(result, name after "clang_", parameters) */
#define TD_CLANG_FUNCTIONS(X)                                                                      \
  X(void *, createIndex, (int, int))                                                               \
  X(int, parseTranslationUnit2,                                                                    \
    (void *, const char *, const char *const *, int, void *, unsigned, unsigned, void **))         \
  X(TdClangCursor, getTranslationUnitCursor, (void *))                                             \
  X(unsigned, visitChildren, (TdClangCursor, TdClangVisit *, void *))                              \
  X(const char *, getCString, (TdClangString))                                                     \
  X(TdClangString, getCursorSpelling, (TdClangCursor))                                             \
  X(TdClangString, getCursorUSR, (TdClangCursor))                                                  \
  X(TdClangCursor, getCursorSemanticParent, (TdClangCursor))                                       \
  X(unsigned, isCursorDefinition, (TdClangCursor))                                                 \
  X(TdClangType, getCursorType, (TdClangCursor))                                                   \
  X(TdClangType, getCursorResultType, (TdClangCursor))                                             \
  X(int, Cursor_getNumArguments, (TdClangCursor))                                                  \
  X(TdClangCursor, Cursor_getArgument, (TdClangCursor, unsigned))                                  \
  X(TdClangType, getCanonicalType, (TdClangType))                                                  \
  X(TdClangType, getPointeeType, (TdClangType))                                                    \
  X(TdClangType, getArrayElementType, (TdClangType))                                               \
  X(long long, getArraySize, (TdClangType))                                                        \
  X(unsigned, isConstQualifiedType, (TdClangType))                                                 \
  X(TdClangString, getTypeSpelling, (TdClangType))                                                 \
  X(TdClangPlace, getCursorLocation, (TdClangCursor))                                              \
  X(TdClangRange, getCursorExtent, (TdClangCursor))                                                \
  X(TdClangPlace, getRangeStart, (TdClangRange))                                                   \
  X(TdClangPlace, getRangeEnd, (TdClangRange))                                                     \
  X(void, getFileLocation, (TdClangPlace, void **, unsigned *, unsigned *, unsigned *))            \
  X(void *, getFile, (void *, const char *))                                                       \
  X(int, File_isEqual, (void *, void *))                                                           \
  X(unsigned, getNumDiagnostics, (void *))                                                         \
  X(void *, getDiagnostic, (void *, unsigned))                                                     \
  X(int, getDiagnosticSeverity, (void *))                                                          \
  X(TdClangString, getDiagnosticSpelling, (void *))                                                \
  X(TdClangPlace, getDiagnosticLocation, (void *))                                                 \
  X(void *, getChildDiagnostics, (void *))                                                         \
  X(unsigned, getNumDiagnosticsInSet, (void *))                                                    \
  X(void *, getDiagnosticInSet, (void *, unsigned))

typedef struct TdClang {
#define TD_CLANG_MEMBER(result, name, list) result(*name) list;
  TD_CLANG_FUNCTIONS(TD_CLANG_MEMBER)
#undef TD_CLANG_MEMBER
} TdClang;

/* Loads libclang, which stays loaded; false: it is not there, or lacks one of them. */
bool td_clang_load(TdClang *c);

#endif
