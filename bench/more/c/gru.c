/* The input's part is one product for all steps; each step multiplies by the recurrent weights in register
   tiles of 8 rows and 32 columns, and then applies the gates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef float V __attribute__((vector_size(64), aligned(4), may_alias));

/* c = a b + bias for the columns [j0, j1); a is m x k, b is k x n. */
static void product(const float *a, const float *b, const float *bias, float *c, long m, long k, long n, long j0, long j1) {
    for (long j = j0; j < j1; j += 32) {
        long w = j1 - j < 32 ? j1 - j : 32, i = 0;
        if (w == 32)
            for (; i + 8 <= m; i += 8) {
                V s[8][2];
                for (int r = 0; r < 8; r++) { s[r][0] = *(const V *)(bias + j); s[r][1] = *(const V *)(bias + j + 16); }
                for (long p = 0; p < k; p++) {
                    V x = *(const V *)(b + p * n + j), y = *(const V *)(b + p * n + j + 16);
                    for (int r = 0; r < 8; r++) {
                        float f = a[(i + r) * k + p];
                        s[r][0] += f * x;
                        s[r][1] += f * y;
                    }
                }
                for (int r = 0; r < 8; r++) { *(V *)(c + (i + r) * n + j) = s[r][0]; *(V *)(c + (i + r) * n + j + 16) = s[r][1]; }
            }
        for (; i < m; i++) {
            float s[32];
            for (long q = 0; q < w; q++) s[q] = bias[j + q];
            for (long p = 0; p < k; p++)
                for (long q = 0; q < w; q++) s[q] += a[i * k + p] * b[p * n + j + q];
            for (long q = 0; q < w; q++) c[i * n + j + q] = s[q];
        }
    }
}

void run(const float *x, const float *wx, const float *wh, const float *bx, const float *bh, float *h,
         long T, long B, long I, long H) {
    long G = 3 * H, blocks = (G + 31) / 32;
    float *u = malloc(T * B * G * sizeof(float)), *v = malloc(B * G * sizeof(float)), *zero = calloc(B * H, sizeof(float));
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long q = 0; q < blocks; q++) product(x, wx, bx, u, T * B, I, G, q * 32, q * 32 + 32 < G ? q * 32 + 32 : G);
        for (long t = 0; t < T; t++) {
            const float *old = t ? h + (t - 1) * B * H : zero;
            #pragma omp for schedule(static)
            for (long q = 0; q < blocks; q++) product(old, wh, bh, v, B, H, G, q * 32, q * 32 + 32 < G ? q * 32 + 32 : G);
            #pragma omp for schedule(static)
            for (long n = 0; n < B; n++) {
                const float *restrict p = u + (t * B + n) * G, *restrict r = v + n * G, *restrict o = old + n * H;
                float *restrict to = h + (t * B + n) * H;
                #pragma omp simd
                for (long k = 0; k < H; k++) {
                    float reset = 1 / (1 + expf(-(p[k] + r[k])));
                    float z = 1 / (1 + expf(-(p[H + k] + r[H + k])));
                    float e = expf(-2 * (p[2 * H + k] + reset * r[2 * H + k]));
                    float fresh = 2 / (1 + e) - 1;
                    to[k] = fresh + z * (o[k] - fresh);
                }
            }
        }
    }
    free(u); free(v); free(zero);
}
