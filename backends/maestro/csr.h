/* csr.h - registers of a system by number, name and value. */
#ifndef TD_MAESTRO_CSR_H
#define TD_MAESTRO_CSR_H

#include "backends/maestro/maestro.h"

/* The number of the first register, and fields beyond those of csr.def. */
enum {
  TD_MAESTRO_CSR_FIRST = 960,
  TD_MAESTRO_CSR_EXT = 64,
  TD_MAESTRO_CSR_REG,
  TD_MAESTRO_CSR_START,
  TD_MAESTRO_CSR_WORK
};

typedef struct TdMaestroCsr {
  const char *name;
  int streamer, field; /* -1: of the system */
  int64_t index, number;
} TdMaestroCsr;
typedef TD_VEC(TdMaestroCsr) TdMaestroCsrs;

/* All read-write registers, in the order in which they are written. */
const TdMaestroCsrs *td_maestro_csr_map(const TdMaestroSystem *s, TdArena *a);
/* The registers of the array, behind busy and the cycle counter, which are read only. */
const TdMaestroCsrs *td_maestro_csr_extra(const TdMaestroSystem *s, TdArena *a);
/* What one of them holds for this work. */
uint32_t td_maestro_csr_work(const TdMaestroWork *w, const TdMaestroCsr *r);
/* What a register holds for these patterns. */
uint32_t td_maestro_csr_value(const TdMaestroSystem *s, const TdMaestroPattern *pattern,
                              const TdMaestroCsr *r);
/* What values, one for each register of the map, would do; false with d filled where the hardware
 * has no such state. */
bool td_maestro_csr_decode(const TdMaestroSystem *s, const TdMaestroCsrs *map,
                           const uint32_t *value, TdMaestroPattern *pattern, TdDiag *d);

#endif
