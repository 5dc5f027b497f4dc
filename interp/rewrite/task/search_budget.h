/* search_budget.h - the options steps and seconds, of every search. */
#ifndef TD_REWRITE_TASK_SEARCH_BUDGET_H
#define TD_REWRITE_TASK_SEARCH_BUDGET_H

#include "base/search.h"
#include "rewrite/util.h"

/* Sets limits by what is given; 0: nothing is. False with r->diag filled when it makes no sense. */
bool td_search_budget(TdRewrite *r, const TdArgValue *steps, const TdArgValue *seconds,
                      TdSearchLimits *out);

#endif
