/* graph.h - the task graph of a design as a value: instances that do something, the streams between
 * them, the arguments that they touch. Dato calls it the virtual mapping graph (4.1). */
#ifndef TD_ANALYSIS_NET_GRAPH_H
#define TD_ANALYSIS_NET_GRAPH_H

#include "affine/access.h"
#include "analysis/net/traffic.h"

/* An instance that does something. */
typedef struct TdGraphNode {
  uint32_t run;  /* of the design */
  uint32_t inst; /* in the net */
  uint32_t body; /* instances of one run with equal numbers do the same statements */
} TdGraphNode;

/* A stream in use, from its producer to its consumer; TD_TRAFFIC_NONE: outside the design. */
typedef struct TdGraphEdge {
  uint32_t chan; /* in the net */
  uint32_t from, to;
  TdRange tokens;
} TdGraphEdge;

/* A node that reads or writes an argument of the design: a global port. */
typedef struct TdGraphPort {
  uint32_t node;
  TdSym arg;
  bool read, write;
} TdGraphPort;

typedef struct TdGraph {
  const TdUnit *design;
  const TdTraffic *net;
  TD_VEC(TdGraphNode) node; /* runs in order; in each by ids */
  TD_VEC(TdGraphEdge) edge; /* streams in order of declaration */
  TD_VEC(TdGraphPort) port; /* nodes in order */
  const uint32_t *next;     /* where the streams of a node go: next[start[i]] up to */
  const uint32_t *start;    /* next[start[i + 1]], in order of streams */
} TdGraph;

/* The graph of the design that is q's root, at its sizes, owned by q->arena. False with d filled
 * when the ends of its streams are not one each, or cannot be told. */
bool td_graph_of(const TdAsk *q, TdGraph *out, TdDiag *d);

/* "pe[0][1]"; and the node of an instance, or TD_TRAFFIC_NONE. Owned by a. */
const char *td_graph_name(TdArena *a, const TdGraph *g, uint32_t node);
uint32_t td_graph_node(const TdGraph *g, uint32_t inst);

/* A question about ways along streams: from any of n nodes to any of those marked as targets, other
 * than itself. `apart`: the stream straight to the target does not count. */
typedef struct TdGraphAsk {
  const uint32_t *from;
  size_t n;
  const bool *target; /* by node */
  bool apart;
} TdGraphAsk;
/* The nodes on a shortest such way, both ends included; 0 if there is none. Owned by a. */
size_t td_graph_way(TdArena *a, const TdGraph *g, const TdGraphAsk *q, const uint32_t **way);
/* "a -> b -> c". */
const char *td_graph_way_name(TdArena *a, const TdGraph *g, const uint32_t *way, size_t n);

/* How many different bodies the nodes have: instances of one class share one. */
size_t td_graph_bodies(const TdGraph *g);
/* The tokens that the streams carry; the number of ports by which arguments are read, or written.
 */
TdRange td_graph_tokens(const TdGraph *g);
size_t td_graph_ports(const TdGraph *g, bool write);

/* graph_draw.c */
typedef enum { TD_GRAPH_INSTANCES, TD_GRAPH_TASKS } TdGraphBy;
/* A table: one line for each task, and for each array of streams. */
void td_graph_print(TdText *out, const TdGraph *g);
/* Graphviz text; an SVG drawing of the instances in layers from the producers down. */
void td_graph_dot(TdText *out, const TdGraph *g, TdGraphBy by);

#endif
