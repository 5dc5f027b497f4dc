/* graphviz.h - graphs laid out by Graphviz, whose libgvc is loaded when it is first asked. */
#ifndef TD_HOST_GRAPHVIZ_H
#define TD_HOST_GRAPHVIZ_H

#include "base/base.h"
#include "base/text.h"

/* A graph, as text of Graphviz, in a format of its own ("svg", "plain"), laid out in layers; owned
 * by a. NULL with d filled: libgvc is not here, or cannot. */
const char *td_graphviz_render(TdArena *a, const char *dot, const char *format, TdDiag *d);

#endif
