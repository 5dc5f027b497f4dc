/* wrap.h - legality answers overruled, to measure refusals of what is right and to plant a fault;
 * work counted. */
#ifndef FUZZ_WRAP_H
#define FUZZ_WRAP_H

#include <stdbool.h>
#include <stdint.h>

/* While set, orders count as kept and bounds as equal, whatever the analysis says. */
extern bool wrap_forcing;
/* While set, no loop carries a dependence. */
extern bool wrap_forcing_parallel;
/* A planted fault: orders count as kept in every step. */
extern bool wrap_blind;
/* Units of work done so far by this process. */
extern uint64_t wrap_work;

#endif
