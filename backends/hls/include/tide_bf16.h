/* tide_bf16.h - tide_bf16: the upper half of a float. */
#ifndef TIDE_BF16_H
#define TIDE_BF16_H

#include "tide_minifloat.h"

using tide_bf16 = tide_hls::minifloat<8, 7>;

#endif
