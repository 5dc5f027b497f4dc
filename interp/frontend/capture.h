/* capture.h - a Lua function's source to a unit of the IR: names and types only. */
#ifndef TD_CAPTURE_H
#define TD_CAPTURE_H

#include "frontend/lua/value.h"

/* Sizes of a unit under capture. A name may be tried as a size and then found to be none: capture
 * starts again. */
typedef struct TdSizeEntry {
  const char *name;
  bool known, used; /* used: in a type or loop bound */
  bool plain;       /* not a size: pinned by a use that is not affine, or never used as one */
  int64_t value;
  const TdAstLocal *var; /* the Lua variable, or NULL for a global */
} TdSizeEntry;
typedef struct TdSizes {
  TdArena *arena;
  TD_VEC(TdSizeEntry) list;
  bool changed; /* something became plain: start again */
} TdSizes;

/* Units of a program under construction, callees first. */
typedef struct TdUnits {
  TdStore *store;
  TD_VEC(const TdUnit *) list;
} TdUnits;
/* Copies p's units into u, sharing those that are equal to one already there, renaming those whose
 * name another has; returns the symbol of p's root. */
TdSym td_units_import(TdUnits *u, const TdProg *p);
/* The same, where the root's name is none that is taken. */
typedef bool (*TdUnitsTaken)(void *ud, const char *name);
TdSym td_units_import_beside(TdUnits *u, const TdProg *p, TdUnitsTaken taken, void *ud);
/* Whether a unit has this name. */
bool td_units_is_named(const TdUnits *u, const char *name);
/* A fresh unit symbol called `want`, or want_1.. when that name is taken. */
TdSym td_units_name(TdUnits *u, const char *want);
/* The unit of a symbol among them. */
const TdUnit *td_units_find(const TdUnits *u, TdSym sym);

/* A parameter as the Lua table gives it: a name, the type's value, and its text. */
typedef struct TdCaptureParam {
  const char *name;
  const TdType *type;      /* extents are constants or sizes without value */
  const TdAstExpr *source; /* the type's expression, or NULL */
  TdLoc loc;
} TdCaptureParam;

/* What to capture. */
typedef struct TdCapture {
  TdSession *session;
  const TdHost *host;
  uintptr_t fn;     /* the Lua function */
  const TdAst *ast; /* its chunk */
  const TdAstFn *source;
  const char *name; /* of the unit */
  const TdCaptureParam *param;
  size_t nparam;
  const TdUnit *design; /* around a task, its streams by the host's numbers; or NULL */
  uint32_t line;        /* on which the task begins: its marks are the design's; or 0 */
  size_t max_coords;    /* trailing parameters without a type that are task ids (0 for a kernel) */
  const TdExpr *const *map; /* the extents of those */
} TdCapture;

/* Captures a kernel into units->store and appends it to units; NULL with d filled on failure. */
const TdUnit *td_capture_kernel(const TdCapture *c, TdUnits *units, TdDiag *d);

/* One attempt at a kernel with sizes as they are believed to be; appends it to units. */
TdUnit *td_capture_attempt(const TdCapture *c, TdSizes *z, TdUnits *units, TdDiag *d);
/* Fills u's list of sizes with those that occur in it. */
void td_capture_list_sizes(const TdSizes *z, TdCtx *ctx, TdUnit *u);
/* Repeats an attempt until no name changes between size and plain number. */
typedef const TdUnit *(*TdCaptureTry)(void *ud, TdSizes *z, TdUnits *units, TdDiag *d);
const TdUnit *td_capture_settle(TdUnits *units, TdCaptureTry attempt, void *ud, TdLoc loc,
                                TdDiag *d);

/* context.c: where a function expression stands in its chunk. */
typedef struct TdFnContext {
  const TdAstExpr *table; /* the table constructor it is an item of, or NULL */
  const TdAstExpr
      *call; /* the call that constructor (or the function itself) is the argument of, or NULL */
  const char *name; /* what the call's value is bound to: local, field, item, or the function around
                     * a return */
} TdFnContext;
TdFnContext td_context_of(const TdAst *ast, const TdAstFn *fn);
/* The name that the text binds a value to, or NULL. */
const char *td_context_name(const TdAst *ast, const TdAstExpr *value);
/* The item of a constructor with this name, or NULL. */
const TdAstItem *td_context_item(const TdAstExpr *table, const char *name);

/* sizes.c */
/* The entry of a candidate, made at its first use; NULL once it is plain. */
TdSizeEntry *td_sizes_candidate(TdSizes *z, const char *name, const TdAstLocal *var, int64_t value);
TdSizeEntry *td_sizes_unknown(TdSizes *z, const char *name);
/* Whether the unit has a size of this name, as far as is known. */
bool td_sizes_has(const TdSizes *z, const char *name);
/* Keeps a name from being a size, because something in the unit has it. */
void td_sizes_ban(TdSizes *z, const char *name);
/* Notes that the sizes in index expression e are used in a type or bound, or must lose their names.
 */
void td_sizes_use(TdSizes *z, const TdExpr *e);
void td_sizes_pin(TdSizes *z, const TdExpr *e);
/* The value of an index expression over the sizes noted so far; false if one is unknown. */
bool td_sizes_value(const TdSizes *z, const TdExpr *e, int64_t *v);

#endif
