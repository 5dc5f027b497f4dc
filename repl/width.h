/* width.h - UTF-8 as a terminal shows it: clusters that are one character to the user, and their
 * cells. */
#ifndef TD_WIDTH_H
#define TD_WIDTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One character as the user sees it. */
typedef struct TdCluster {
  size_t bytes;
  int cells;
  bool is_escaped; /* cannot be shown as it is: td_width_escape writes what stands for it */
  bool is_unsure;  /* terminals disagree about its cells */
} TdCluster;

#define TD_WIDTH_BAD UINT32_MAX
#define TD_WIDTH_ESCAPE 16

/* Reads one code point from the n > 0 bytes at s. Returns its bytes; an invalid byte counts as one
 * and is TD_WIDTH_BAD. */
size_t td_width_decode(const char *s, size_t n, uint32_t *cp);

/* The cluster at the start of the n > 0 bytes at s. A newline is a cluster of no cells. */
TdCluster td_width_cluster(const char *s, size_t n);

/* Writes the stand-in for an escaped cluster, `^A`, `\xFF` or `\u{202E}`; returns its length. */
size_t td_width_escape(const char *s, size_t n, char out[TD_WIDTH_ESCAPE]);

/* Where the cluster after or before offset `at` ends or starts; at the end or start it stays. */
size_t td_width_next(const char *s, size_t n, size_t at);
size_t td_width_prev(const char *s, size_t n, size_t at);

/* Cells of n bytes without newline, tabs counted as one escape. */
int td_width_cells(const char *s, size_t n);

/* How many of the n bytes at s fit into `cells` cells as whole clusters. */
size_t td_width_fit(const char *s, size_t n, int cells);

#endif
