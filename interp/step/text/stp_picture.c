/* stp_picture.c - a graph as boxes and arrows: a box for each family, an arrow for each stream of
 * one, with its shape. */
#include <string.h>

#include "step/text/stp_picture.h"

/* The box of each node, by uid; makes them. */
static uint32_t *box_nodes(TdPicture *p, const TdStpGraph *g) {
  TdArena *a = p->arena;
  TdMap known = {0};
  uint32_t *box = TD_NEWN(a, uint32_t, g->by_uid.n + 1);
  uint32_t *first = TD_NEWN(a, uint32_t, g->node.n + 1), *count = TD_NEWN(a, uint32_t, g->node.n);
  for (uint32_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    uint64_t key = td_map_mix((uint64_t)(uintptr_t)n->name, n->op), at = p->n;
    if (!td_map_get(&known, key, &at)) {
      td_map_put(a, &known, key, at);
      first[p->n++] = i;
    }
    box[n->uid] = (uint32_t)at;
    count[at]++;
  }
  p->box = TD_NEWN(a, const char *, p->n + 1);
  for (size_t i = 0; i < p->n; i++) {
    const TdStpNode *n = g->node.at[first[i]];
    const char *op = td_stp_ops[n->op].name;
    TdText t = td_text_new(a);
    td_text_puts(&t, n->name);
    if (strcmp(op, n->name) != 0) td_text_putf(&t, ": %s", op);
    if (n->fn.name) td_text_putf(&t, " %s", n->fn.name);
    if (count[i] > 1) td_text_putf(&t, " x %u", count[i]);
    p->box[i] = td_text_str(&t);
  }
  return box;
}

TdPicture td_stp_picture_of(TdArena *a, const TdStpGraph *g) {
  TdPicture p = {.arena = a, .title = "graph"};
  uint32_t *box = box_nodes(&p, g);
  TdMap seen = {0};
  for (size_t i = 0; i < g->node.n; i++) {
    const TdStpNode *n = g->node.at[i];
    for (size_t k = 0; k < n->nin; k++) {
      uint64_t known, key = (uint64_t)box[n->in[k].uid] << 32 | box[n->uid];
      if (td_map_get(&seen, key, &known)) continue;
      td_map_put(a, &seen, key, 1);
      const char *label = td_stp_shape_str(a, td_stp_graph_stream(g, n->in[k]));
      td_vec_push(a, &p.arrow, ((TdPictureArrow){box[n->in[k].uid], box[n->uid], label}));
    }
  }
  return p;
}
