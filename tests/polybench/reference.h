/* reference.h - the thirty kernels of PolyBench 4.2.1, written by hand in C: what Tide computes is
 * held against them. Extents come first, in the order of the cases in examples/polybench. */
#ifndef TD_POLYBENCH_REFERENCE_H
#define TD_POLYBENCH_REFERENCE_H

#include <math.h>
#include <stdint.h>

#ifndef T
#  define T double
#endif
#define UP(i, lo, hi) for (int i = (lo); i < (hi); i++)
#define DOWN(i, hi, lo) for (int i = (hi); i >= (lo); i--)
#define VEC(a, n) T a[restrict n]
#define MAT(a, m, n) T a[restrict m][n]

static inline int32_t least(int32_t a, int32_t b) {
  return a < b ? a : b;
}
static inline int32_t most(int32_t a, int32_t b) {
  return a > b ? a : b;
}

static inline void gemm(int M, int N, int K, MAT(A, M, K), MAT(B, K, N), MAT(C, M, N), T alpha,
                        T beta) {
  UP(i, 0, M) {
    UP(j, 0, N) C[i][j] *= beta;
    UP(k, 0, K) UP(j, 0, N) C[i][j] += alpha * A[i][k] * B[k][j];
  }
}

static inline void gemver(int N, T alpha, T beta, MAT(A, N, N), VEC(u1, N), VEC(v1, N), VEC(u2, N),
                          VEC(v2, N), VEC(w, N), VEC(x, N), VEC(y, N), VEC(z, N)) {
  UP(i, 0, N) UP(j, 0, N) A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
  UP(i, 0, N) UP(j, 0, N) x[i] = x[i] + beta * A[j][i] * y[j];
  UP(i, 0, N) x[i] = x[i] + z[i];
  UP(i, 0, N) UP(j, 0, N) w[i] = w[i] + alpha * A[i][j] * x[j];
}

static inline void gesummv(int N, T alpha, T beta, MAT(A, N, N), MAT(B, N, N), VEC(x, N),
                           VEC(y, N)) {
  UP(i, 0, N) {
    T t = 0, s = 0;
    UP(j, 0, N) {
      t = A[i][j] * x[j] + t;
      s = B[i][j] * x[j] + s;
    }
    y[i] = alpha * t + beta * s;
  }
}

static inline void symm(int M, int N, T alpha, T beta, MAT(C, M, N), MAT(A, M, M), MAT(B, M, N)) {
  UP(i, 0, M) UP(j, 0, N) {
    T sum = 0;
    UP(k, 0, i) {
      C[k][j] += alpha * B[i][j] * A[i][k];
      sum += B[k][j] * A[i][k];
    }
    C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * sum;
  }
}

static inline void syr2k(int M, int N, T alpha, T beta, MAT(C, N, N), MAT(A, N, M), MAT(B, N, M)) {
  UP(i, 0, N) {
    UP(j, 0, i + 1) C[i][j] *= beta;
    UP(k, 0, M)
    UP(j, 0, i + 1) C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
  }
}

static inline void syrk(int M, int N, T alpha, T beta, MAT(C, N, N), MAT(A, N, M)) {
  UP(i, 0, N) {
    UP(j, 0, i + 1) C[i][j] *= beta;
    UP(k, 0, M) UP(j, 0, i + 1) C[i][j] += alpha * A[i][k] * A[j][k];
  }
}

static inline void trmm(int M, int N, T alpha, MAT(A, M, M), MAT(B, M, N)) {
  UP(i, 0, M) UP(j, 0, N) {
    UP(k, i + 1, M) B[i][j] += A[k][i] * B[k][j];
    B[i][j] = alpha * B[i][j];
  }
}

static inline void mm2(int I, int J, int K, int L, T alpha, T beta, MAT(tmp, I, J), MAT(A, I, K),
                       MAT(B, K, J), MAT(C, J, L), MAT(D, I, L)) {
  UP(i, 0, I) UP(j, 0, J) {
    tmp[i][j] = 0;
    UP(k, 0, K) tmp[i][j] += alpha * A[i][k] * B[k][j];
  }
  UP(i, 0, I) UP(j, 0, L) {
    D[i][j] *= beta;
    UP(k, 0, J) D[i][j] += tmp[i][k] * C[k][j];
  }
}

/* C = A B. */
static inline void product(int I, int J, int K, MAT(C, I, J), MAT(A, I, K), MAT(B, K, J)) {
  UP(i, 0, I) UP(j, 0, J) {
    C[i][j] = 0;
    UP(k, 0, K) C[i][j] += A[i][k] * B[k][j];
  }
}

static inline void mm3(int I, int J, int K, int L, int M, MAT(E, I, J), MAT(A, I, K), MAT(B, K, J),
                       MAT(F, J, L), MAT(C, J, M), MAT(D, M, L), MAT(G, I, L)) {
  product(I, J, K, E, A, B);
  product(J, L, M, F, C, D);
  product(I, L, J, G, E, F);
}

static inline void atax(int M, int N, MAT(A, M, N), VEC(x, N), VEC(y, N), VEC(tmp, M)) {
  UP(i, 0, N) y[i] = 0;
  UP(i, 0, M) {
    tmp[i] = 0;
    UP(j, 0, N) tmp[i] += A[i][j] * x[j];
    UP(j, 0, N) y[j] += A[i][j] * tmp[i];
  }
}

static inline void bicg(int M, int N, MAT(A, N, M), VEC(s, M), VEC(q, N), VEC(p, M), VEC(r, N)) {
  UP(i, 0, M) s[i] = 0;
  UP(i, 0, N) {
    q[i] = 0;
    UP(j, 0, M) s[j] += r[i] * A[i][j];
    UP(j, 0, M) q[i] += A[i][j] * p[j];
  }
}

static inline void doitgen(int R, int Q, int P, T A[restrict R][Q][P], MAT(C4, P, P), VEC(sum, P)) {
  UP(r, 0, R) UP(q, 0, Q) {
    UP(p, 0, P) {
      sum[p] = 0;
      UP(s, 0, P) sum[p] += A[r][q][s] * C4[s][p];
    }
    UP(p, 0, P) A[r][q][p] = sum[p];
  }
}

static inline void mvt(int N, VEC(x1, N), VEC(x2, N), VEC(y1, N), VEC(y2, N), MAT(A, N, N)) {
  UP(i, 0, N) UP(j, 0, N) x1[i] += A[i][j] * y1[j];
  UP(i, 0, N) UP(j, 0, N) x2[i] += A[j][i] * y2[j];
}

/* The mean of each column of data. */
static inline void means(int M, int N, MAT(data, N, M), VEC(mean, M)) {
  UP(j, 0, M) {
    mean[j] = 0;
    UP(i, 0, N) mean[j] += data[i][j];
    mean[j] /= (T)N;
  }
}

static inline void correlation(int M, int N, MAT(data, N, M), MAT(corr, M, M), VEC(mean, M),
                               VEC(stddev, M)) {
  means(M, N, data, mean);
  UP(j, 0, M) {
    stddev[j] = 0;
    UP(i, 0, N) stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    stddev[j] = sqrt(stddev[j] / N);
    if (stddev[j] <= 0.1) stddev[j] = 1;
  }
  UP(i, 0, N) UP(j, 0, M) {
    data[i][j] -= mean[j];
    data[i][j] /= sqrt((T)N) * stddev[j];
  }
  UP(i, 0, M - 1) {
    corr[i][i] = 1;
    UP(j, i + 1, M) {
      corr[i][j] = 0;
      UP(k, 0, N) corr[i][j] += data[k][i] * data[k][j];
      corr[j][i] = corr[i][j];
    }
  }
  corr[M - 1][M - 1] = 1;
}

static inline void covariance(int M, int N, MAT(data, N, M), MAT(cov, M, M), VEC(mean, M)) {
  means(M, N, data, mean);
  UP(i, 0, N) UP(j, 0, M) data[i][j] -= mean[j];
  UP(i, 0, M) UP(j, i, M) {
    cov[i][j] = 0;
    UP(k, 0, N) cov[i][j] += data[k][i] * data[k][j];
    cov[i][j] /= (T)N - 1;
    cov[j][i] = cov[i][j];
  }
}

static inline void cholesky(int N, MAT(A, N, N)) {
  UP(i, 0, N) {
    UP(j, 0, i) {
      UP(k, 0, j) A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    UP(k, 0, i) A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrt(A[i][i]);
  }
}

static inline void durbin(int N, VEC(r, N), VEC(y, N)) {
  T next[N], beta = 1, alpha = -r[0];
  y[0] = -r[0];
  UP(k, 1, N) {
    T sum = 0;
    beta = (1 - alpha * alpha) * beta;
    UP(i, 0, k) sum += r[k - i - 1] * y[i];
    alpha = -(r[k] + sum) / beta;
    UP(i, 0, k) next[i] = y[i] + alpha * y[k - i - 1];
    UP(i, 0, k) y[i] = next[i];
    y[k] = alpha;
  }
}

static inline void gramschmidt(int M, int N, MAT(A, M, N), MAT(R, N, N), MAT(Q, M, N)) {
  UP(k, 0, N) {
    T norm = 0;
    UP(i, 0, M) norm += A[i][k] * A[i][k];
    R[k][k] = sqrt(norm);
    UP(i, 0, M) Q[i][k] = A[i][k] / R[k][k];
    UP(j, k + 1, N) {
      R[k][j] = 0;
      UP(i, 0, M) R[k][j] += Q[i][k] * A[i][j];
      UP(i, 0, M) A[i][j] -= Q[i][k] * R[k][j];
    }
  }
}

static inline void lu(int N, MAT(A, N, N)) {
  UP(i, 0, N) {
    UP(j, 0, i) {
      UP(k, 0, j) A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    UP(j, i, N) UP(k, 0, i) A[i][j] -= A[i][k] * A[k][j];
  }
}

static inline void ludcmp(int N, MAT(A, N, N), VEC(b, N), VEC(x, N), VEC(y, N)) {
  lu(N, A);
  UP(i, 0, N) {
    T w = b[i];
    UP(j, 0, i) w -= A[i][j] * y[j];
    y[i] = w;
  }
  DOWN(i, N - 1, 0) {
    T w = y[i];
    UP(j, i + 1, N) w -= A[i][j] * x[j];
    x[i] = w / A[i][i];
  }
}

static inline void trisolv(int N, MAT(L, N, N), VEC(x, N), VEC(b, N)) {
  UP(i, 0, N) {
    x[i] = b[i];
    UP(j, 0, i) x[i] -= L[i][j] * x[j];
    x[i] /= L[i][i];
  }
}

/* What deriche's filter multiplies by: a[1..4], b[1..2]. */
static inline void coefficients(T a[5], T b[3]) {
  const double alpha = 0.25, e = exp(-alpha);
  const double k = (1 - e) * (1 - e) / (1 + 2 * alpha * e - exp(2 * alpha));
  a[1] = k;
  a[2] = k * e * (alpha - 1);
  a[3] = k * e * (alpha + 1);
  a[4] = -k * exp(-2 * alpha);
  b[1] = pow(2, -alpha);
  b[2] = -exp(-2 * alpha);
}

/* The filter along one line of n elements, `step` apart, there and back; sums go out. */
static inline void along(int n, int step, const T *in, T *out, T *there, T *back, const T *a,
                         const T *b) {
  T y1 = 0, y2 = 0, x1 = 0, x2 = 0;
  UP(j, 0, n) {
    there[j * step] = a[1] * in[j * step] + a[2] * x1 + b[1] * y1 + b[2] * y2;
    x1 = in[j * step];
    y2 = y1;
    y1 = there[j * step];
  }
  y1 = y2 = x1 = 0;
  DOWN(j, n - 1, 0) {
    back[j * step] = a[3] * x1 + a[4] * x2 + b[1] * y1 + b[2] * y2;
    x2 = x1;
    x1 = in[j * step];
    y2 = y1;
    y1 = back[j * step];
  }
  UP(j, 0, n) out[j * step] = there[j * step] + back[j * step];
}

static inline void deriche(int W, int H, MAT(img, W, H), MAT(out, W, H), MAT(y1, W, H),
                           MAT(y2, W, H)) {
  T a[5], b[3];
  coefficients(a, b);
  UP(i, 0, W) along(H, 1, img[i], out[i], y1[i], y2[i], a, b);
  UP(j, 0, H) along(W, H, &out[0][j], &out[0][j], &y1[0][j], &y2[0][j], a, b);
}

static inline void floyd_warshall(int N, int32_t path[restrict N][N]) {
  UP(k, 0, N) UP(i, 0, N) UP(j, 0, N) path[i][j] = least(path[i][j], path[i][k] + path[k][j]);
}

static inline void nussinov(int N, int32_t seq[restrict N], int32_t best[restrict N][N]) {
  DOWN(i, N - 1, 0) UP(j, i + 1, N) {
    int32_t b = most(best[i][j], best[i][j - 1]);
    if (i + 1 < N) b = most(b, best[i + 1][j]);
    if (i + 1 < N) b = most(b, best[i + 1][j - 1] + (i < j - 1 && seq[i] + seq[j] == 3));
    UP(k, i + 1, j) b = most(b, best[i][k] + best[k + 1][j]);
    best[i][j] = b;
  }
}

static inline void adi(int S, int N, MAT(u, N, N), MAT(v, N, N), MAT(p, N, N), MAT(q, N, N)) {
  const double mul1 = 2 * (1.0 / S) / (1.0 / N * (1.0 / N)), mul2 = 1.0 / S / (1.0 / N * (1.0 / N));
  const T a = -mul1 / 2, b = 1 + mul1, d = -mul2 / 2, e = 1 + mul2, c = a, f = d;
  UP(t, 0, S) {
    UP(i, 1, N - 1) {
      v[0][i] = 1;
      p[i][0] = 0;
      q[i][0] = v[0][i];
      UP(j, 1, N - 1) {
        p[i][j] = -c / (a * p[i][j - 1] + b);
        q[i][j] = (-d * u[j][i - 1] + (1 + 2 * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1]) /
                  (a * p[i][j - 1] + b);
      }
      v[N - 1][i] = 1;
      DOWN(j, N - 2, 1) v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    UP(i, 1, N - 1) {
      u[i][0] = 1;
      p[i][0] = 0;
      q[i][0] = u[i][0];
      UP(j, 1, N - 1) {
        p[i][j] = -f / (d * p[i][j - 1] + e);
        q[i][j] = (-a * v[i - 1][j] + (1 + 2 * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1]) /
                  (d * p[i][j - 1] + e);
      }
      u[i][N - 1] = 1;
      DOWN(j, N - 2, 1) u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
  }
}

static inline void fdtd_2d(int S, int X, int Y, MAT(ex, X, Y), MAT(ey, X, Y), MAT(hz, X, Y),
                           VEC(fict, S)) {
  UP(t, 0, S) {
    UP(j, 0, Y) ey[0][j] = fict[t];
    UP(i, 1, X) UP(j, 0, Y) ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
    UP(i, 0, X) UP(j, 1, Y) ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
    UP(i, 0, X - 1)
    UP(j, 0, Y - 1) hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}

/* One step of heat-3d from A to B. */
static inline void heat(int N, T A[restrict N][N][N], T B[restrict N][N][N]) {
  UP(i, 1, N - 1)
  UP(j, 1, N - 1)
  UP(k, 1, N - 1)
  B[i][j][k] = 0.125 * (A[i + 1][j][k] - 2 * A[i][j][k] + A[i - 1][j][k]) +
               0.125 * (A[i][j + 1][k] - 2 * A[i][j][k] + A[i][j - 1][k]) +
               0.125 * (A[i][j][k + 1] - 2 * A[i][j][k] + A[i][j][k - 1]) + A[i][j][k];
}

static inline void heat_3d(int S, int N, T A[restrict N][N][N], T B[restrict N][N][N]) {
  UP(t, 0, S) {
    heat(N, A, B);
    heat(N, B, A);
  }
}

static inline void jacobi_1d(int S, int N, VEC(A, N), VEC(B, N)) {
  UP(t, 0, S) {
    UP(i, 1, N - 1) B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
    UP(i, 1, N - 1) A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
  }
}

/* One step of jacobi-2d from A to B. */
static inline void five(int N, MAT(A, N, N), MAT(B, N, N)) {
  UP(i, 1, N - 1)
  UP(j, 1, N - 1) B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
}

static inline void jacobi_2d(int S, int N, MAT(A, N, N), MAT(B, N, N)) {
  UP(t, 0, S) {
    five(N, A, B);
    five(N, B, A);
  }
}

static inline void seidel_2d(int S, int N, MAT(A, N, N)) {
  UP(t, 0, S)
  UP(i, 1, N - 1)
  UP(j, 1, N - 1)
  A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] +
             A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) /
            9;
}

#endif
