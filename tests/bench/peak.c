/* peak.c - multiplications and additions of f32 in registers alone, which no product can beat: the
 * bench compiles it twice, with each pair as two instructions (-ffp-contract=off), as strict code
 * has them, and as one (fast). */

/* Chains enough to hide what a pair takes, of vectors that registers hold; FLOP is what a call
 * does. */
enum { CHAINS = 16, LANES = 16, ROUNDS = 1 << 20 };

void peak(float *out) {
  float sum[CHAINS][LANES], factor[LANES], term[LANES];
  for (int lane = 0; lane < LANES; lane++) factor[lane] = out[lane], term[lane] = out[lane + LANES];
  for (int c = 0; c < CHAINS; c++)
    for (int lane = 0; lane < LANES; lane++) sum[c][lane] = (float)c;
  for (int round = 0; round < ROUNDS; round++)
    for (int c = 0; c < CHAINS; c++)
      for (int lane = 0; lane < LANES; lane++)
        sum[c][lane] = sum[c][lane] * factor[lane] + term[lane];
  for (int c = 0; c < CHAINS; c++)
    for (int lane = 0; lane < LANES; lane++) out[lane] += sum[c][lane];
}
