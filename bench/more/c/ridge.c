/* The products accumulate register tiles of 8 x 16 over blocks of rows, only the lower triangle of X' X;
   the factorisation works row by row. */
#include <math.h>
#include <stdlib.h>

enum { ROWS = 256 };
typedef double V __attribute__((vector_size(64), aligned(8), may_alias));

/* c[i.., j..] += sum over rows of a[row, i] b[row, j], for h <= 8 and w <= 16. */
static void tile(const double *a, const double *b, double *c, long rows, long la, long lb, long lc, long h, long w) {
    if (h == 8 && w == 16) {
        V s[8][2];
        for (int r = 0; r < 8; r++) for (int q = 0; q < 2; q++) s[r][q] = *(V *)(c + r * lc + 8 * q);
        for (long n = 0; n < rows; n++) {
            V x = *(const V *)(b + n * lb), y = *(const V *)(b + n * lb + 8);
            for (int r = 0; r < 8; r++) { double f = a[n * la + r]; s[r][0] += f * x; s[r][1] += f * y; }
        }
        for (int r = 0; r < 8; r++) for (int q = 0; q < 2; q++) *(V *)(c + r * lc + 8 * q) = s[r][q];
    } else
        for (long n = 0; n < rows; n++)
            for (long r = 0; r < h; r++)
                for (long q = 0; q < w; q++) c[r * lc + q] += a[n * la + r] * b[n * lb + q];
}

static void products(const double *x, const double *y, double *c, long n, long d, long m, int lower) {
    #pragma omp parallel for schedule(dynamic, 1)
    for (long i0 = 0; i0 < d; i0 += 64)
        for (long n0 = 0; n0 < n; n0 += ROWS) {
            long rows = n - n0 < ROWS ? n - n0 : ROWS, i1 = i0 + 64 < d ? i0 + 64 : d;
            for (long j = 0; j < m && (!lower || j < i1); j += 16)
                for (long i = i0; i < i1; i += 8)
                    tile(x + n0 * d + i, y + n0 * m + j, c + i * m + j, rows, d, m, m, i1 - i < 8 ? i1 - i : 8, m - j < 16 ? m - j : 16);
        }
}

void run(const double *x, const double *y, double lambda, double *w, long n, long d, long r) {
    double *a = calloc(d * d, sizeof(double));
    for (long i = 0; i < d * r; i++) w[i] = 0;
    products(x, x, a, n, d, d, 1);
    products(x, y, w, n, d, r, 0);
    for (long i = 0; i < d; i++) a[i * d + i] += lambda;
    for (long i = 0; i < d; i++) {
        double *restrict p = a + i * d;
        for (long j = 0; j <= i; j++) {
            const double *restrict q = a + j * d;
            double s = p[j];
            for (long k = 0; k < j; k++) s -= p[k] * q[k];
            p[j] = i == j ? sqrt(s) : s / q[j];
        }
    }
    for (long i = 0; i < d; i++) {
        for (long k = 0; k < i; k++)
            for (long c = 0; c < r; c++) w[i * r + c] -= a[i * d + k] * w[k * r + c];
        for (long c = 0; c < r; c++) w[i * r + c] /= a[i * d + i];
    }
    for (long i = d - 1; i >= 0; i--) {
        for (long c = 0; c < r; c++) w[i * r + c] /= a[i * d + i];
        for (long k = 0; k < i; k++)
            for (long c = 0; c < r; c++) w[k * r + c] -= a[i * d + k] * w[i * r + c];
    }
    free(a);
}
