/* by_hand.c - a product on fingerprints, by hand: what Tide's proofs are held against. */
#include <stdint.h>

/* The hash of a symmetric operator on two words. */
static uint64_t mix(uint64_t x, uint64_t y, uint64_t key) {
  uint64_t r = x * y;
  return (r ^ r >> 32) + key;
}

void fingers(const uint64_t (*restrict A)[512][2], const uint64_t (*restrict B)[512][2],
             uint64_t (*restrict C)[512][2]) {
  const uint64_t add = 0x7659B4BCFE444B94u, mul = 0xB62BC74AAF68443Au;
  for (int i = 0; i < 512; i++)
    for (int j = 0; j < 512; j++)
      for (int k = 0; k < 512; k++)
        for (int h = 0; h < 2; h++)
          C[i][j][h] = mix(C[i][j][h], mix(A[i][k][h], B[k][j][h], mul), add);
}
