/* source.h - C sources of users as shared objects in the folder of built things. */
#ifndef TD_HOST_SOURCE_H
#define TD_HOST_SOURCE_H

#include "ir/ir.h"

/* The path of the shared object that holds a foreign function: its library, or what its source is
 * compiled to, unless that was done before. Owned by a. NULL with d filled: a file that cannot be
 * read, or what the compiler said, at its line. */
const char *td_source_library(TdArena *a, const TdForeign *f, TdDiag *d);

#endif
