/* sqlite.h - a database in a file, by SQLite, which is loaded when it is first asked. */
#ifndef TD_HOST_SQLITE_H
#define TD_HOST_SQLITE_H

#include "base/base.h"
#include "base/text.h"

typedef struct TdSqlite TdSqlite;

/* Opens or makes a file; owned by a, with which it is closed. NULL with d filled. */
TdSqlite *td_sqlite_open(TdArena *a, const char *path, TdDiag *d);
/* Runs one statement with n texts in place of its question marks; row(ud, text, ncol) is told each
 * row, whose texts (NULL: no value) it owns no longer than the call. False with d filled. */
typedef void TdSqliteRow(void *ud, const char *const *text, int ncol);
bool td_sqlite_run(TdSqlite *s, const char *sql, const char *const *value, int n, TdSqliteRow *row,
                   void *ud, TdDiag *d);
#endif
