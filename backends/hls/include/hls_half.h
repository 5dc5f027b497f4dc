/* hls_half.h - half: IEEE binary16. */
#ifndef TIDE_HLS_HALF_H
#define TIDE_HLS_HALF_H

#include "tide_minifloat.h"

using half = tide_hls::minifloat<5, 10>;

#endif
