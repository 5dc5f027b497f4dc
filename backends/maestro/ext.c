/* ext.c - datapath extensions: widths, and what they make of beats. One that is off is a
 * wire. */
#include <string.h>

#include "ir/num/num.h"
#include "backends/maestro/maestro.h"

/* ---- transpose ---- */

static const char *fits_transpose(TdMaestroExt *x, int64_t bits) {
  int64_t all = x->arg[0] * x->arg[1] * x->type->w;
  if (x->type->w % 8) return "its elements are no whole bytes";
  if (all % bits) return "its matrix is no multiple of the word";
  x->in = x->out = bits;
  x->take = x->give = all / bits;
  return NULL;
}

static void beat_transpose(const TdMaestroExt *x, const int64_t *reg, const uint8_t *in,
                           uint8_t *out) {
  (void)reg;
  size_t n = x->type->w / 8;
  for (int64_t r = 0; r < x->arg[0]; r++)
    for (int64_t c = 0; c < x->arg[1]; c++)
      memcpy(out + (size_t)(c * x->arg[0] + r) * n, in + (size_t)(r * x->arg[1] + c) * n, n);
}

/* ---- broadcast ---- */

static const char *fits_broadcast(TdMaestroExt *x, int64_t bits) {
  x->in = bits;
  x->out = x->arg[1];
  x->take = x->give = 1;
  if (x->arg[0] % 8 || x->arg[0] > bits) return "it takes more bits than the word has";
  return x->arg[1] % x->arg[0] ? "its output is no multiple of its input" : NULL;
}

static void beat_broadcast(const TdMaestroExt *x, const int64_t *reg, const uint8_t *in,
                           uint8_t *out) {
  (void)reg;
  size_t n = (size_t)x->arg[0] / 8;
  for (size_t i = 0; i < (size_t)x->out / 8; i += n) memcpy(out + i, in, n);
}

const TdMaestroExtInfo td_maestro_ext_info[TD_MAESTRO_EXT_KINDS] = {
#define TD_MAESTRO_EXT(id, name, args, regs, stem, summary)                                        \
  {name, args, regs, summary, fits_##stem, beat_##stem},
#include "backends/maestro/ext.def"
};
