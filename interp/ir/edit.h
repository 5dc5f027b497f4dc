/* edit.h - path copies and positions: a position is (root, uid), and an edit gives a new root.
 * docs/ir.md, Identity. */
#ifndef TD_EDIT_H
#define TD_EDIT_H

#include "ir/walk.h"

/* Statements from a root down to one of them. */
typedef struct TdPath {
  const TdStmt *const *at; /* at[0] is the root, at[n - 1] the statement */
  size_t n;
} TdPath;

/* The path to the statement `uid` below root, or n == 0. Owned by a. */
TdPath td_edit_path(TdArena *a, const TdStmt *root, uint32_t uid);
const TdStmt *td_edit_find(TdCtx *c, const TdStmt *root, uint32_t uid);
/* The loops around the last statement of a path, outermost first (itself excluded). Owned by a. */
size_t td_edit_loops(TdArena *a, TdPath p, const TdStmt *const **loops);

/* root with statement `uid` replaced by n statements (n may be 0; not 1 only where its parent is a
 * block). */
const TdStmt *td_edit_replace(TdStore *st, const TdStmt *root, uint32_t uid,
                              const TdStmt *const *with, size_t n);
/* root with n statements put before or after statement `uid`. */
const TdStmt *td_edit_insert(TdStore *st, const TdStmt *root, uint32_t uid, bool after,
                             const TdStmt *const *s, size_t n);
/* A block of the statements of b from lo to hi (half open), with a fresh uid. */
const TdStmt *td_edit_slice(TdStore *st, const TdStmt *b, size_t lo, size_t hi);

/* Print names: whether one is taken in u, or in a design that runs u as a task (there u could not
 * call a unit of that name); and one like `want` that is free ("i_o", "i_o_1"..). */
bool td_edit_name_hidden(const TdProg *p, const TdUnit *u, const char *name);
const char *td_edit_fresh_name(TdStore *st, const TdUnit *u, const char *want);
/* Whether a name that a user gives can be printed: a Lua name that no printed chunk of p uses for a
 * type or a unit. */
bool td_edit_name_fits(const TdProg *p, const char *name);

/* cursor.c: names to things. A loop spec is "[unit:]..[band/]name[#n]"; d is filled with candidates
 * on failure. */
typedef struct TdPlace {
  const TdUnit *unit;
  const TdStmt *stmt; /* loop, or declaration of a local; NULL for a parameter */
  TdSym sym;
} TdPlace;
/* The loop that `spec` names in p. */
bool td_cursor_loop(TdArena *a, const TdProg *p, const char *spec, TdPlace *out, TdDiag *d);
/* The loops of a band, outermost first (one for a band of one loop); a loop name gives that loop
 * alone. */
bool td_cursor_band(TdArena *a, const TdProg *p, const char *spec, TdPlace **out, size_t *n,
                    TdDiag *d);
/* The array (parameter, local) that `spec` names: looked up in `beside` first (may be NULL), then
 * in the root, then wherever it is unique. */
bool td_cursor_array(TdArena *a, const TdProg *p, const char *spec, const TdUnit *beside,
                     TdPlace *out, TdDiag *d);
/* The unit or task that `spec` names. */
bool td_cursor_unit(TdArena *a, const TdProg *p, const char *spec, const TdUnit **out, TdDiag *d);
/* All loops of p as specs that name them, units in order, source order inside. */
size_t td_cursor_list_loops(TdArena *a, const TdProg *p, const char *const **specs);
/* The spec that names this loop of u; "_", which names none, for a loop `_` without a band. */
const char *td_cursor_spec(TdArena *a, const TdProg *p, const TdUnit *u, const TdStmt *loop);

#endif
