/* stp_picture.h - a graph of STeP, to be drawn. */
#ifndef TD_STP_PICTURE_H
#define TD_STP_PICTURE_H

#include "analysis/net/picture.h"
#include "step/stp_graph.h"

/* A box for each family of nodes. */
TdPicture td_stp_picture_of(TdArena *a, const TdStpGraph *g);

#endif
