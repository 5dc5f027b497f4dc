/* races.h - arguments that several instances of a design touch. */
#ifndef TD_ANALYSIS_NET_RACES_H
#define TD_ANALYSIS_NET_RACES_H

#include "affine/access.h"

/* Whether no element of an argument of the design (q's root) is surely written by one instance and
 * touched by another; else d ("race") names the element and both. *open is set when that depends
 * on what cannot be told, and is left alone otherwise. */
bool td_races_check(const TdAsk *q, const char **open, TdDiag *d);

#endif
