/* fuzzy.h - how well a text fits what a user remembers of it. */
#ifndef TD_FUZZY_H
#define TD_FUZZY_H

#include <stddef.h>

/* The score of text for a query: each blank-separated word must occur in it with its letters in
 * order, capitals only when they are typed. -1 when one does not; more for letters together and at
 * starts of words. When hit is not NULL, hit[i] becomes 1 for each byte that fits. */
int td_fuzzy_score(const char *text, size_t n, const char *query, size_t m, unsigned char *hit);

#endif
