/* by_hand.c - six kernels of PolyBench 4.2.1, written by hand at their MEDIUM sizes: what the C
   that Tide emits is held against; and a product on fingerprints, for its proofs. */
#include <math.h>
#include <stdint.h>

void gemm(double (*restrict A)[240], double (*restrict B)[220], double (*restrict C)[220],
          double alpha, double beta) {
  for (int i = 0; i < 200; i++) {
    for (int j = 0; j < 220; j++) C[i][j] *= beta;
    for (int k = 0; k < 240; k++)
      for (int j = 0; j < 220; j++) C[i][j] += alpha * A[i][k] * B[k][j];
  }
}

void mm2(double alpha, double beta, double (*restrict tmp)[190], double (*restrict A)[210],
         double (*restrict B)[190], double (*restrict C)[220], double (*restrict D)[220]) {
  for (int i = 0; i < 180; i++)
    for (int j = 0; j < 190; j++) {
      tmp[i][j] = 0.0;
      for (int k = 0; k < 210; k++) tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (int i = 0; i < 180; i++)
    for (int j = 0; j < 220; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < 190; k++) D[i][j] += tmp[i][k] * C[k][j];
    }
}

void atax(double (*restrict A)[410], double *restrict x, double *restrict y, double *restrict tmp) {
  for (int i = 0; i < 410; i++) y[i] = 0;
  for (int i = 0; i < 390; i++) {
    tmp[i] = 0.0;
    for (int j = 0; j < 410; j++) tmp[i] = tmp[i] + A[i][j] * x[j];
    for (int j = 0; j < 410; j++) y[j] = y[j] + A[i][j] * tmp[i];
  }
}

void jacobi(double (*restrict A)[250], double (*restrict B)[250]) {
  for (int t = 0; t < 100; t++) {
    for (int i = 1; i < 249; i++)
      for (int j = 1; j < 249; j++)
        B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]);
    for (int i = 1; i < 249; i++)
      for (int j = 1; j < 249; j++)
        A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][1 + j] + B[1 + i][j] + B[i - 1][j]);
  }
}

void cholesky(double (*restrict A)[400]) {
  for (int i = 0; i < 400; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++) A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++) A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrt(A[i][i]);
  }
}

void correlation(double (*restrict data)[240], double (*restrict corr)[240], double *restrict mean,
                 double *restrict stddev) {
  double n = 260.0;
  for (int j = 0; j < 240; j++) {
    mean[j] = 0.0;
    for (int i = 0; i < 260; i++) mean[j] += data[i][j];
    mean[j] /= n;
  }
  for (int j = 0; j < 240; j++) {
    stddev[j] = 0.0;
    for (int i = 0; i < 260; i++) stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    stddev[j] = sqrt(stddev[j] / n);
    stddev[j] = stddev[j] <= 0.1 ? 1.0 : stddev[j];
  }
  for (int i = 0; i < 260; i++)
    for (int j = 0; j < 240; j++) {
      data[i][j] -= mean[j];
      data[i][j] /= sqrt(n) * stddev[j];
    }
  for (int i = 0; i < 239; i++) {
    corr[i][i] = 1.0;
    for (int j = i + 1; j < 240; j++) {
      corr[i][j] = 0.0;
      for (int k = 0; k < 260; k++) corr[i][j] += data[k][i] * data[k][j];
      corr[j][i] = corr[i][j];
    }
  }
  corr[239][239] = 1.0;
}

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
