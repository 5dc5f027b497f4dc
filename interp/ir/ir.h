/* ir.h - the IR in one include; read the headers in this order. */
#ifndef TD_IR_H
#define TD_IR_H

#include "ir/type.h"       /* interned types and the promotion table */
#include "ir/expr.h"       /* pure expressions */
#include "ir/num/num.h"    /* arithmetic on typed scalars */
#include "ir/stmt.h"       /* statements, attributes, symbols, the store */
#include "ir/unit.h"       /* kernels, designs, programs */
#include "ir/lin.h"        /* quasi-affine normal form */
#include "ir/subst.h"      /* replace symbols and sizes */
#include "ir/walk.h"       /* visit, map, copy */
#include "ir/num/wide.h"   /* words of more than 64 bits */
#include "ir/edit.h"       /* positions, path copies, names */
#include "ir/text/print.h" /* text, equality, structural check */

#endif
