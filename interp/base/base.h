/* base.h - the ground floor: libc only. Read the headers in this order. */
#ifndef TD_BASE_H
#define TD_BASE_H

#include "base/ctx.h"   /* budget, interrupt, escape */
#include "base/arena.h" /* memory by lifetime */
#include "base/vec.h"   /* growing arrays */
#include "base/map.h"   /* hash maps */
#include "base/sym.h"   /* names and symbols */
#include "base/text.h"  /* growing text */
#include "base/diag.h"  /* places and errors */

#endif
