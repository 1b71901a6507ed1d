/* Four rows share each load of the last iterate; the change is found on the way. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

void run(const double *a, const double *b, double tol, long most, double *out, int *steps, long n) {
    double *x = calloc(n, sizeof(double)), *y = malloc(n * sizeof(double)), change = INFINITY;
    long t = 0;
    while (t < most) {
        change = 0;
        #pragma omp parallel for schedule(static) reduction(max : change)
        for (long i = 0; i < n; i += 4) {
            long h = n - i < 4 ? n - i : 4;
            const double *restrict p = a + i * n, *restrict q = a + (i + (h > 1)) * n, *restrict r = a + (i + 2 * (h > 2)) * n,
                         *restrict s = a + (i + 3 * (h > 3)) * n;
            double sum[4], u = 0, v = 0, w = 0, z = 0;
            #pragma omp simd reduction(+ : u, v, w, z)
            for (long j = 0; j < n; j++) { u += p[j] * x[j]; v += q[j] * x[j]; w += r[j] * x[j]; z += s[j] * x[j]; }
            sum[0] = u; sum[1] = v; sum[2] = w; sum[3] = z;
            for (long l = 0; l < h; l++) {
                double d = (b[i + l] - sum[l]) / a[(i + l) * n + i + l];
                y[i + l] = x[i + l] + d;
                change = fmax(change, fabs(d));
            }
        }
        double *s = x; x = y; y = s;
        t++;
        if (change < tol) break;
    }
    memcpy(out, x, n * sizeof(double));
    *steps = t;
    free(x); free(y);
}
