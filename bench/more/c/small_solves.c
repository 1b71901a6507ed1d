/* Eight systems at a time, one per lane; rows are exchanged by selection, so lanes never part. */
#include <math.h>

void run(const double *a, const double *b, double *x, long n) {
    #pragma omp parallel for schedule(static)
    for (long s = 0; s < n; s += 8) {
        double m[6][7][8] __attribute__((aligned(64)));
        long l = n - s < 8 ? n - s : 8;
        for (int i = 0; i < 6; i++)
            for (int k = 0; k < 8; k++) {
                long at = s + (k < l ? k : 0);
                for (int j = 0; j < 6; j++) m[i][j][k] = a[at * 36 + i * 6 + j];
                m[i][6][k] = b[at * 6 + i];
            }
        #pragma GCC unroll 6
        for (int c = 0; c < 6; c++) {
            #pragma GCC unroll 6
            for (int i = c + 1; i < 6; i++) {
                #pragma GCC unroll 7
                for (int j = 6; j >= c; j--) {
                    #pragma omp simd
                    for (int k = 0; k < 8; k++) {
                        int swap = fabs(m[i][c][k]) > fabs(m[c][c][k]);
                        double p = m[c][j][k], q = m[i][j][k];
                        m[c][j][k] = swap ? q : p;
                        m[i][j][k] = swap ? p : q;
                    }
                }
            }
            double inverse[8];
            #pragma omp simd
            for (int k = 0; k < 8; k++) inverse[k] = 1 / m[c][c][k];
            #pragma GCC unroll 6
            for (int i = c + 1; i < 6; i++) {
                double f[8];
                #pragma omp simd
                for (int k = 0; k < 8; k++) f[k] = m[i][c][k] * inverse[k];
                #pragma GCC unroll 7
                for (int j = c + 1; j < 7; j++) {
                    #pragma omp simd
                    for (int k = 0; k < 8; k++) m[i][j][k] -= f[k] * m[c][j][k];
                }
            }
        }
        #pragma GCC unroll 6
        for (int i = 5; i >= 0; i--) {
            #pragma GCC unroll 6
            for (int j = i + 1; j < 6; j++) {
                #pragma omp simd
                for (int k = 0; k < 8; k++) m[i][6][k] -= m[i][j][k] * m[j][6][k];
            }
            #pragma omp simd
            for (int k = 0; k < 8; k++) m[i][6][k] /= m[i][i][k];
        }
        for (long k = 0; k < l; k++) for (int i = 0; i < 6; i++) x[(s + k) * 6 + i] = m[i][6][k];
    }
}
