/* wrap.h - legality answers overruled, to measure refusals of what is right. */
#ifndef FUZZ_WRAP_H
#define FUZZ_WRAP_H

#include <stdbool.h>

/* While set, orders count as kept and bounds as equal, whatever the analysis says. */
extern bool wrap_forcing;
/* While set, no loop carries a dependence. */
extern bool wrap_forcing_parallel;

#endif
