/* Two passes over a row, the second from the cache. */
#include <math.h>

void run(const float *x, const float *r, const float *restrict g, float *h, float *y, long n, long m) {
    #pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++) {
        const float *restrict a = x + i * m, *restrict b = r + i * m;
        float *restrict u = h + i * m, *restrict v = y + i * m, s = 0;
        #pragma omp simd reduction(+ : s)
        for (long j = 0; j < m; j++) { float t = a[j] + b[j]; u[j] = t; s += t * t; }
        float f = 1 / sqrtf(s / m + 1e-6f);
        #pragma omp simd
        for (long j = 0; j < m; j++) v[j] = u[j] * f * g[j];
    }
}
