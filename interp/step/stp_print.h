/* stp_print.h - a graph as Lua that loads back. */
#ifndef TD_STP_PRINT_H
#define TD_STP_PRINT_H

#include "step/stp_graph.h"

/* A chunk that returns the graph; tensors are shown by their types. */
void td_stp_print(TdText *out, const TdStpGraph *g);

#endif
