/* Nine products per point; rows outside are a row of zeros, the first and last column are apart. */
#include <stdlib.h>

void run(const float *x, const float *w, const float *bias, float *y, long N, long C, long P, long Q) {
    float *zeros = calloc(Q, sizeof(float));
    #pragma omp parallel for collapse(2) schedule(static)
    for (long n = 0; n < N; n++)
        for (long c = 0; c < C; c++) {
            const float *in = x + (n * C + c) * P * Q, *f = w + 9 * c;
            for (long p = 0; p < P; p++) {
                const float *restrict a = p ? in + (p - 1) * Q : zeros, *restrict b = in + p * Q,
                            *restrict d = p + 1 < P ? in + (p + 1) * Q : zeros;
                float *restrict o = y + ((n * C + c) * P + p) * Q;
                float f0 = f[0], f1 = f[1], f2 = f[2], f3 = f[3], f4 = f[4], f5 = f[5], f6 = f[6], f7 = f[7], f8 = f[8], v = bias[c];
                #pragma omp simd
                for (long q = 1; q < Q - 1; q++)
                    o[q] = v + f0 * a[q - 1] + f1 * a[q] + f2 * a[q + 1] + f3 * b[q - 1] + f4 * b[q] + f5 * b[q + 1]
                         + f6 * d[q - 1] + f7 * d[q] + f8 * d[q + 1];
                for (long q = 0; q < Q; q += Q > 1 ? Q - 1 : 1) {
                    float s = v + f1 * a[q] + f4 * b[q] + f7 * d[q];
                    if (q) s += f0 * a[q - 1] + f3 * b[q - 1] + f6 * d[q - 1];
                    if (q + 1 < Q) s += f2 * a[q + 1] + f5 * b[q + 1] + f8 * d[q + 1];
                    o[q] = s;
                }
            }
        }
    free(zeros);
}
