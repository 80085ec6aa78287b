/* The loops of peers/gcc.py, as one writes them for a compiler: plain, rows contiguous, an OpenMP
   pragma where a loop allows it. Arrays a and b that take turns both begin as the input. */
#include <stdint.h>
#include <string.h>

#define PARALLEL _Pragma("omp parallel for schedule(static)")
#define SIMD _Pragma("omp simd")

/* The result is in a after an even number of steps, else in b. */
void jacobi_2d(long n, long m, long steps, double *a, double *b) {
  for (long t = 0; t < steps; t++) {
    PARALLEL for (long i = 1; i < n - 1; i++) {
      const double *x = a + i * m;
      double *y = b + i * m;
      SIMD for (long j = 1; j < m - 1; j++)
        y[j] = 0.2 * (x[j] + x[j - 1] + x[j + 1] + x[j - m] + x[j + m]);
    }
    double *swap = a; a = b; b = swap;
  }
}

void heat_3d(long n, long m, long l, long steps, double *a, double *b) {
  for (long t = 0; t < steps; t++) {
    PARALLEL for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < m - 1; j++) {
        const double *x = a + (i * m + j) * l;
        double *y = b + (i * m + j) * l;
        SIMD for (long k = 1; k < l - 1; k++)
          y[k] = 0.25 * x[k] + 0.125 * (x[k - 1] + x[k + 1] + x[k - l] + x[k + l] +
                                        x[k - m * l] + x[k + m * l]);
      }
    double *swap = a; a = b; b = swap;
  }
}

/* Each row depends on itself and on the row above: on threads only by waves, one line apart. */
void seidel_2d(long n, long m, long steps, double *x) {
  for (long t = 0; t < steps; t++)
    for (long i = 1; i < n - 1; i++) {
      double *y = x + i * m;
      for (long j = 1; j < m - 1; j++)
        y[j] = (y[j - m - 1] + y[j - m] + y[j - m + 1] + y[j - 1] + y[j] + y[j + 1] +
                y[j + m - 1] + y[j + m] + y[j + m + 1]) / 9.0;
    }
}

void fdtd_2d(long n, long m, long steps, const double *source, double *restrict ex,
             double *restrict ey, double *restrict hz) {
  for (long t = 0; t < steps; t++) {
    PARALLEL for (long i = 0; i < n; i++) {
      double *x = ex + i * m, *y = ey + i * m, *z = hz + i * m;
      if (i == 0)
        for (long j = 0; j < m; j++) y[j] = source[t];
      else
        SIMD for (long j = 0; j < m; j++) y[j] -= 0.5 * (z[j] - z[j - m]);
      SIMD for (long j = 1; j < m; j++) x[j] -= 0.5 * (z[j] - z[j - 1]);
    }
    PARALLEL for (long i = 0; i < n - 1; i++) {
      double *x = ex + i * m, *y = ey + i * m, *z = hz + i * m;
      SIMD for (long j = 0; j < m - 1; j++) z[j] -= 0.7 * (x[j + 1] - x[j] + y[j + m] - y[j]);
    }
  }
}

void lu(long n, double *a) {
  for (long k = 0; k < n; k++) {
    const double *pivot = a + k * n;
    PARALLEL for (long i = k + 1; i < n; i++) {
      double *row = a + i * n;
      double factor = row[k] /= pivot[k];
      SIMD for (long j = k + 1; j < n; j++) row[j] -= factor * pivot[j];
    }
  }
}

void floyd_warshall(long n, int32_t *d) {
  for (long k = 0; k < n; k++) {
    const int32_t *via = d + k * n;
    PARALLEL for (long i = 0; i < n; i++) {
      int32_t *row = d + i * n, first = row[k];
      SIMD for (long j = 0; j < n; j++) {
        int32_t sum = first + via[j];
        row[j] = row[j] < sum ? row[j] : sum;
      }
    }
  }
}

/* Four tables, so that equal neighbours do not wait for each other. */
void histogram(long n, const uint8_t *image, int32_t *count) {
  memset(count, 0, 256 * sizeof *count);
#pragma omp parallel
  {
    int32_t own[4][256] = {{0}};
#pragma omp for schedule(static) nowait
    for (long i = 0; i < n / 4; i++)
      for (int k = 0; k < 4; k++) own[k][image[4 * i + k]]++;
#pragma omp critical
    for (int b = 0; b < 256; b++) count[b] += own[0][b] + own[1][b] + own[2][b] + own[3][b];
  }
  for (long i = n / 4 * 4; i < n; i++) count[image[i]]++;
}

void running_sum(long n, const int64_t *x, int64_t *sum) {
  int64_t total = 0;
  for (long i = 0; i < n; i++) sum[i] = total += x[i];
}

/* Columns in blocks of 256; rows four at a time, which do not wait for
   each other; more would meet in the same lines of a cache. */
void smooth_image(long h, long w, float a, const float *restrict image, float *restrict out) {
  const float b = 1 - a;
  PARALLEL for (long block = 0; block < w; block += 256) {
    long end = block + 256 < w ? block + 256 : w;
    memcpy(out + block, image + block, (end - block) * sizeof *out);
    for (long y = 1; y < h; y++)
      SIMD for (long x = block; x < end; x++)
        out[y * w + x] = a * image[y * w + x] + b * out[(y - 1) * w + x];
    for (long y = h - 2; y >= 0; y--)
      SIMD for (long x = block; x < end; x++)
        out[y * w + x] = a * out[y * w + x] + b * out[(y + 1) * w + x];
  }
  PARALLEL for (long first = 0; first < h; first += 4) {
    long rows = first + 4 < h ? 4 : h - first;
    float *base = out + first * w, state[4];
    for (long r = 0; r < rows; r++) state[r] = base[r * w];
    for (long x = 1; x < w; x++)
      for (long r = 0; r < rows; r++)
        base[r * w + x] = state[r] = a * base[r * w + x] + b * state[r];
    for (long x = w - 2; x >= 0; x--)
      for (long r = 0; r < rows; r++)
        base[r * w + x] = state[r] = a * base[r * w + x] + b * state[r];
  }
}
