/* explain.h - an element on which two programs differ: is that a difference of values, and why. */
#ifndef TD_DRIVE_EXPLAIN_H
#define TD_DRIVE_EXPLAIN_H

#include "check.h"
#include "compare.h"

/* Statements of a run within which it is shown why programs differ. */
#define TD_EXPLAIN_STEPS 1000000

/* Whether programs that are equal at a level below strict are so on numbers too; r tells where not.
 */
bool td_explain_confirmed(const TdPair *p, TdCheck *c, TdEvalAnswer *r);

/* Has c show the difference r of p's programs. */
void td_explain_difference(const TdPair *p, TdCheck *c, const TdEvalAnswer *r);

/* Decides on the element on which p's programs differ at c's level: false where they may be equal
 * at a later one. They differ if they do so in a ring, and so at every level between, and on
 * numbers; else their bits decide, and then they are equal at level `from`, or nothing does. c gets
 * the explanation, of programs cut down to the element. */
bool td_explain_settled(const TdPair *p, TdCheck *c, TdEvalAnswer *r, TdLevel from);

#endif
