// A block of HLS C++ that somebody else has written: a moving sum of TAPS samples, saturated.
#include "ap_int.h"

#define TAPS 4

namespace filters {
typedef ap_int<12> sample_t;

void moving_sum(const sample_t in[32], sample_t out[32], int &peak) {
  ap_int<14> sum = 0;
  peak = 0;
  for (int i = 0; i < 32; i++) {
#pragma HLS pipeline II = 1
    sum += in[i];
    if (i >= TAPS) sum -= in[i - TAPS];
    out[i] = sum > 2047 ? ap_int<14>(2047) : sum < -2048 ? ap_int<14>(-2048) : sum;
    if (sum > peak) peak = sum;
  }
}
} // namespace filters
