/* diag.h - places in the user's source, and errors as data that name them. */
#ifndef TD_DIAG_H
#define TD_DIAG_H

#include "base/text.h"
#include "base/vec.h"

/* A place: source id (0: none), 1-based line, 1-based column in bytes, length of the token in
 * bytes. */
typedef struct TdLoc {
  uint32_t source, line;
  uint16_t col, len;
} TdLoc;

/* Every chunk of source that was loaded, kept so that any error can draw its line. */
typedef struct TdSources TdSources;
TdSources *td_sources_new(TdArena *a);
/* Adds a chunk under its Lua chunk name ("@file.lua", "=tide:3"); copies both. Returns its id,
 * from 1. */
uint32_t td_sources_add(TdSources *s, const char *chunkname, const char *text, size_t n);
/* Has a chunk be compiled from other text of the same lines, while it is shown as it was typed. */
void td_sources_set_code(TdSources *s, uint32_t id, const char *code, size_t n);
const char *td_sources_code(const TdSources *s, uint32_t id, size_t *n);
/* Name to show (file name without '@' or '='), the text, and one line without its end. */
const char *td_sources_name(const TdSources *s, uint32_t id);
const char *td_sources_chunk(const TdSources *s, uint32_t id);
const char *td_sources_text(const TdSources *s, uint32_t id, size_t *n);
const char *td_sources_line(const TdSources *s, uint32_t id, uint32_t line, size_t *n);
/* The bytes of the line end that the n bytes at s begin with, as Lua counts lines: \n, \r, \r\n and
 * \n\r are one each; 0: none. */
size_t td_sources_line_end(const char *s, size_t n);
/* The newest source loaded under a chunk name, or 0. */
uint32_t td_sources_find(const TdSources *s, const char *chunkname);
/* The newest source that Lua's messages name by these n bytes, fewer than `most`: the end of a
 * longer file name behind "...", the beginning of another name; or 0. */
uint32_t td_sources_find_short(const TdSources *s, const char *name, size_t n, size_t most);

/* illegal: not provably the same program; unsupported: Tide cannot yet; usage: names, types,
 * arguments; limit: memory, budget, interrupt, depth; bug: Tide's own check failed; lua: an error
 * of plain Lua that nobody caught (fault.c makes them, no other code meets one). A program
 * that breaks a rule of the language when it is captured or run (index out of range, division by
 * zero, deadlock) is illegal too. */
typedef enum { TD_OK, TD_ILLEGAL, TD_UNSUPPORTED, TD_USAGE, TD_LIMIT, TD_BUG, TD_LUA } TdDiagKind;

typedef struct TdNote {
  TdLoc loc; /* source 0: no place */
  const char *text;
} TdNote;

/* Two statement instances that clash, and the element they clash on. */
typedef struct TdWitness {
  const char *array;   /* "C" */
  const char *element; /* "C[0][1]" */
  TdLoc first, second;
  const char *first_at, *second_at; /* "i = 0, j = 1" */
} TdWitness;

/* An error as data. Zeroed is "no error"; strings are owned by `arena`, which must be set before
 * use. */
typedef struct TdDiag {
  TdArena *arena;
  TdDiagKind kind;
  const char *code; /* stable: lower-case words joined by '-' */
  const char *message;
  TdLoc loc;
  const char *prim; /* the primitive that refused, or NULL */
  const char *help;
  const char *state; /* the loop nest or task at that moment, marked, or NULL */
  TD_VEC(TdNote) notes;
  const TdWitness *witness;
} TdDiag;

/* Fills d and returns false, so that `return td_diag_set(...)` reads well. The first error wins. */
bool td_diag_set(TdDiag *d, TdDiagKind kind, const char *code, TdLoc loc, const char *fmt, ...)
    TD_PRINTF(5, 6);
bool td_diag_vset(TdDiag *d, TdDiagKind kind, const char *code, TdLoc loc, const char *fmt,
                  va_list ap) TD_PRINTF(5, 0);
void td_diag_note(TdDiag *d, TdLoc loc, const char *fmt, ...) TD_PRINTF(3, 4);
void td_diag_help(TdDiag *d, const char *fmt, ...) TD_PRINTF(2, 3);
/* Keeps a witness, its strings copied. */
void td_diag_witness(TdDiag *d, TdWitness w);
bool td_diag_failed(const TdDiag *d);
const char *td_diag_kind_name(TdDiagKind kind);

/* "file:line:col: error: message", the line, a caret and range, notes, help; ends with a newline.
 */
void td_diag_print(TdText *out, const TdDiag *d, const TdSources *s);
/* The line of a place with caret, as td_diag_print draws it; nothing for source 0. */
void td_diag_print_place(TdText *out, TdLoc loc, const TdSources *s);

#endif
