/* ext.c - datapath extensions: widths, and what they make of beats. One that is off is a
 * wire. */
#include <string.h>

#include "ir/num/num.h"
#include "backends/maestro/maestro.h"
#include "backends/maestro/user.h"

/* Signed integers of so many bytes, little endian. */
static int64_t get(const uint8_t *at, size_t bytes) {
  uint64_t v = 0;
  for (size_t i = 0; i < bytes; i++) v |= (uint64_t)at[i] << (8 * i);
  unsigned up = 64 - 8 * (unsigned)bytes;
  return up ? (int64_t)(v << up) >> up : (int64_t)v;
}

static void put(uint8_t *at, size_t bytes, int64_t v) {
  for (size_t i = 0; i < bytes; i++) at[i] = (uint8_t)((uint64_t)v >> (8 * i));
}

/* Sets widths and beats of an extension whose words have the same bits on both sides. */
static const char *same_width(TdMaestroExt *x, int64_t bits, int64_t take, int64_t give) {
  x->in = x->out = bits;
  x->take = take;
  x->give = give;
  return NULL;
}

/* ---- transpose ---- */

static const char *fits_transpose(TdMaestroExt *x, int64_t bits) {
  int64_t all = x->arg[0] * x->arg[1] * x->type->w;
  if (x->type->w % 8) return "its elements are no whole bytes";
  if (all % bits) return "its matrix is no multiple of the word";
  return same_width(x, bits, all / bits, all / bits);
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

/* ---- memset ---- */

static const char *fits_memset(TdMaestroExt *x, int64_t bits) {
  return same_width(x, bits, 1, 1);
}

static void beat_memset(const TdMaestroExt *x, const int64_t *reg, const uint8_t *in,
                        uint8_t *out) {
  (void)in;
  memset(out, (int)(reg[0] & 0xff), (size_t)x->out / 8);
}

/* ---- words gathered into one ---- */

int64_t td_maestro_ext_takes(const TdMaestroExt *x, const int64_t *reg) {
  return !x->counts ? x->take : reg[0] & 0xff ? reg[0] & 0xff : 1;
}

bool td_maestro_ext_is_wire(const TdMaestroExt *x) {
  return x->take == 1 && x->give == 1 && !x->counts && !x->user;
}

/* An extension that makes one word of as many as its register says. */
static const char *gathers(TdMaestroExt *x, int64_t bits, int64_t give) {
  x->counts = true;
  if (x->type->kind != TD_T_INT || x->type->w % 8 || x->type->w > 32)
    return "its elements are no integers of 8, 16 or 32 bits";
  return same_width(x, bits, 1, give);
}

static const char *fits_maxpool(TdMaestroExt *x, int64_t bits) {
  return gathers(x, bits, 1);
}

static void beat_maxpool(const TdMaestroExt *x, const int64_t *reg, const uint8_t *in,
                         uint8_t *out) {
  size_t e = x->type->w / 8, word = (size_t)x->in / 8;
  size_t n = (size_t)td_maestro_ext_takes(x, reg);
  for (size_t i = 0; i < word; i += e) {
    int64_t most = INT64_MIN;
    for (size_t b = 0; b < n; b++) {
      int64_t v = get(in + b * word + i, e);
      if (v > most) most = v;
    }
    put(out + i, e, most);
  }
}

static const char *fits_add(TdMaestroExt *x, int64_t bits) {
  return gathers(x, bits, 1);
}

/* Sums of n words, element by element, each kept in `wide` bytes. */
static void add_words(const TdMaestroExt *x, const int64_t *reg, const uint8_t *in, uint8_t *out,
                      size_t wide) {
  size_t e = x->type->w / 8, word = (size_t)x->in / 8;
  size_t n = (size_t)td_maestro_ext_takes(x, reg);
  for (size_t i = 0; i < word / e; i++) {
    int64_t sum = 0;
    for (size_t b = 0; b < n; b++) sum += get(in + b * word + i * e, e);
    put(out + i * wide, wide, sum);
  }
}

static void beat_add(const TdMaestroExt *x, const int64_t *reg, const uint8_t *in, uint8_t *out) {
  add_words(x, reg, in, out, x->type->w / 8);
}

static const char *fits_add_wide(TdMaestroExt *x, int64_t bits) {
  return gathers(x, bits, 32 / x->type->w);
}

static void beat_add_wide(const TdMaestroExt *x, const int64_t *reg, const uint8_t *in,
                          uint8_t *out) {
  add_words(x, reg, in, out, 4);
}

/* ---- rescale ---- */

/* The registers of a rescale. */
typedef struct Scale {
  int64_t zp_in, mult, zp_out, shift;
} Scale;

static Scale scale_of(const int64_t *reg) {
  return (Scale){(int32_t)(uint32_t)reg[0], reg[1] & 0xffffffff, (int32_t)(uint32_t)reg[2],
                 reg[3] & 63};
}

static int64_t saturate8(int64_t v) {
  return v < -128 ? -128 : v > 127 ? 127 : v;
}

/* The sum on 64 bits, wrapping. */
static int64_t plus(int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* (x - zp_in) * mult, rounded half up, and a second time away from zero where the shift is above
 * 31; shifted. */
static int64_t rescale(const Scale *s, int64_t x, bool twice) {
  int64_t v = (int64_t)((uint64_t)(x - s->zp_in) * (uint64_t)s->mult);
  if (s->shift) {
    bool down = v < 0;
    v = plus(v, INT64_C(1) << (s->shift - 1));
    if (twice && s->shift > 31) v = plus(v, down ? -(INT64_C(1) << 30) : INT64_C(1) << 30);
  }
  return plus(v >> s->shift, s->zp_out);
}

static const char *fits_rescale_down(TdMaestroExt *x, int64_t bits) {
  if (bits % 32) return "its words are no multiple of 32 bits";
  return same_width(x, bits, 4, 1);
}

static void beat_rescale_down(const TdMaestroExt *x, const int64_t *reg, const uint8_t *in,
                              uint8_t *out) {
  Scale s = scale_of(reg);
  for (size_t i = 0; i < (size_t)x->out / 8; i++)
    put(out + i, 1, saturate8(rescale(&s, get(in + 4 * i, 4), true)));
}

static const char *fits_rescale_up(TdMaestroExt *x, int64_t bits) {
  if (bits % 32) return "its words are no multiple of 32 bits";
  return same_width(x, bits, 1, 4);
}

static void beat_rescale_up(const TdMaestroExt *x, const int64_t *reg, const uint8_t *in,
                            uint8_t *out) {
  Scale s = scale_of(reg);
  for (size_t i = 0; i < (size_t)x->in / 8; i++)
    put(out + 4 * i, 4, rescale(&s, get(in + i, 1), false));
}

static const char *fits_rescale_efficient(TdMaestroExt *x, int64_t bits) {
  return fits_rescale_down(x, bits);
}

/* What rescale_efficient leaves of a shift behind those before the product: 16 bits of the
 * multiplier, then 8 of the difference, as far as there are so many. */
static Scale efficient(const Scale *s, int64_t *data) {
  int64_t mult = s->shift < 16 ? s->shift : 16, rest = s->shift - mult;
  *data = rest < 8 ? rest : 8;
  return (Scale){s->zp_in, s->mult >> mult, s->zp_out, rest - *data};
}

static void beat_rescale_efficient(const TdMaestroExt *x, const int64_t *reg, const uint8_t *in,
                                   uint8_t *out) {
  Scale s = scale_of(reg);
  int64_t data;
  Scale e = efficient(&s, &data);
  e.mult &= 0xffff;
  for (size_t i = 0; i < (size_t)x->out / 8; i++) {
    int64_t v = ((get(in + 4 * i, 4) - e.zp_in) >> data) * e.mult;
    if (e.shift) v += INT64_C(1) << (e.shift - 1);
    put(out + i, 1, saturate8((v >> e.shift) + e.zp_out));
  }
}

/* ---- int4 ---- */

static const char *fits_int4(TdMaestroExt *x, int64_t bits) {
  return same_width(x, bits, 1, 1);
}

static void beat_int4(const TdMaestroExt *x, const int64_t *reg, const uint8_t *in, uint8_t *out) {
  (void)reg;
  for (size_t i = 0; i < (size_t)x->out / 8; i++) {
    int v = in[i / 2] >> (i % 2 * 4) & 15;
    out[i] = (uint8_t)(v < 8 ? v : v - 16);
  }
}

/* ---- a user's kernel ---- */

static const char *fits_user(TdMaestroExt *x, int64_t bits) {
  return td_maestro_user_fits(x, bits);
}

/* data.c runs it: it needs an arena. */
static void beat_user(const TdMaestroExt *x, const int64_t *reg, const uint8_t *in, uint8_t *out) {
  (void)reg;
  (void)in;
  memset(out, 0, (size_t)(x->out / 8 * x->give));
}

const TdMaestroExtInfo td_maestro_ext_info[TD_MAESTRO_EXT_KINDS] = {
#define TD_MAESTRO_EXT(id, name, args, regs, stem, summary)                                        \
  {name, args, regs, summary, fits_##stem, beat_##stem},
#include "backends/maestro/ext.def"
};
