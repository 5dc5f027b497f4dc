/* stp_print.h - a graph as Lua that loads back. */
#ifndef TD_STP_PRINT_H
#define TD_STP_PRINT_H

#include "step/text/stp_plan.h"

/* A chunk that returns the graph. What repeats prints as loops. Tensors are arguments of the chunk;
 * without them, their types stand for them. */
void td_stp_print(TdText *out, const TdStpGraph *g);
/* The chunk's arguments; their number. */
size_t td_stp_print_data(TdArena *a, const TdStpGraph *g, const TdStpDatum **data);

#endif
