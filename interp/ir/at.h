/* at.h - a program at other sizes: values for the sizes of the root, carried to the units that it
 * calls. */
#ifndef TD_AT_H
#define TD_AT_H

#include "ir/unit.h"

/* p with the sizes of its root that are in list given these values; the sizes of callees follow
 * from the shapes of what they are passed, or else are their caller's, or the root's, if they have
 * the name and value of one. Fails (d, usage) on a name the root does not have, a negative value,
 * an assumption that does not hold (illegal, "assume"), or a callee called at two sizes
 * (unsupported). */
const TdProg *td_at_sizes(const TdProg *p, const TdSize *list, size_t n, TdDiag *d);

/* The values of p's sizes without value, from the constant types of its arguments (NULL for
 * scalars); sizes that have values are checked. Returns p itself when nothing was missing. */
const TdProg *td_at_arguments(const TdProg *p, const TdType *const *arg, size_t n, TdDiag *d);

#endif
