/* 27_micro_kernel.c - the library of 27_library_kernel.lua. */
#include <stdint.h>

/* C[8][8] += A * B, with A in strips of four rows that lie column by column, as vector units like
 * it. */
void mm_8x8x16(const int8_t *A, const int8_t *B, int32_t *C) {
  for (int strip = 0; strip < 2; strip++)
    for (int k = 0; k < 16; k++)
      for (int n = 0; n < 8; n++)
        for (int lane = 0; lane < 4; lane++)
          C[(strip * 4 + lane) * 8 + n] += A[strip * 64 + k * 4 + lane] * B[k * 8 + n];
}
