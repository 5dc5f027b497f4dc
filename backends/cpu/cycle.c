/* cycle.c - which tasks of a compiled run wait for each other in a circle. */
#include <string.h>

#include "analysis/net/ends.h"
#include "backends/cpu/load/code.h"

enum { NOBODY = -1 };

/* The task among w of the other end of the stream that task `at` waits for, or NOBODY. */
static int other_end(const TdTraffic *n, const TdEnds *ends, const TdCpuWait *w, int count,
                     int at) {
  for (uint32_t c = 0; c < n->chan.n; c++) {
    if (n->chan.at[c].group || strcmp(td_traffic_chan_name(n->arena, n, c), w[at].stream) != 0)
      continue;
    uint32_t inst = w[at].gets ? ends[c].producer : ends[c].consumer;
    const char *name = inst == TD_TRAFFIC_NONE ? "" : td_traffic_inst_name(n->arena, n, inst);
    for (int i = 0; i < count; i++)
      if (strcmp(name, w[i].task) == 0) return i;
  }
  return NOBODY;
}

/* The first task of w from which waiting leads in a circle; next[i] is whom task i waits for. */
static int start_of(const int *next, int count) {
  for (int first = 0; first < count; first++) {
    int at = next[first];
    for (int k = 0; at != NOBODY && at != first && k < count; k++) at = next[at];
    if (at == first) return first;
  }
  return NOBODY;
}

const char *td_cpu_cycle(TdArena *a, const TdProg *p, const TdCpuWait *w, int count) {
  TdDiag quiet = {.arena = a};
  const TdTraffic *n = td_traffic_of(a, p, &quiet);
  const TdEnds *ends = n && !n->open ? td_ends_of(a, n, &quiet) : NULL;
  if (!ends) return NULL;
  int *next = TD_NEWN(a, int, (size_t)count);
  for (int i = 0; i < count; i++) next[i] = other_end(n, ends, w, count, i);
  int first = start_of(next, count), at = first;
  if (first == NOBODY) return NULL;
  TdText t = td_text_new(a);
  td_text_puts(&t, w[first].task);
  do {
    td_text_putf(&t, " -> %s -> %s", w[at].stream, w[next[at]].task);
    at = next[at];
  } while (at != first);
  return td_text_str(&t);
}
