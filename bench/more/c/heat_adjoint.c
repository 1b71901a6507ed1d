/* All fields are kept; the way back updates the adjoint and the gradients by the conductivities of the faces
   in one pass over each field. The adjoint's rim, which nothing reads, accumulates apart. */
#include <stdlib.h>
#include <string.h>

void run(const double *u0, const double *k, const double *seen, long steps, double dt, double *misfit, double *du,
         double *dk, long n, long m) {
    long N = n * m;
    double *u = malloc((steps + 1) * N * sizeof(double)), *w = calloc(6 * N, sizeof(double));
    double *kx = w, *ky = w + N, *gx = w + 2 * N, *gy = w + 3 * N, *la = w + 4 * N, *lb = w + 5 * N, total = 0;
    memcpy(u, u0, N * sizeof(double));
    #pragma omp parallel
    {
        #pragma omp for schedule(static)
        for (long i = 0; i < n; i++)
            for (long j = 0; j < m; j++) {
                long p = i * m + j;
                if (j + 1 < m) kx[p] = dt * 0.5 * (k[p] + k[p + 1]);
                if (i + 1 < n) ky[p] = dt * 0.5 * (k[p] + k[p + m]);
            }
        for (long t = 0; t < steps; t++) {
            const double *restrict a = u + t * N, *restrict x = kx, *restrict y = ky;
            double *restrict b = u + (t + 1) * N;
            #pragma omp for schedule(static)
            for (long i = 0; i < n; i++) {
                long p = i * m;
                if (i == 0 || i == n - 1) { memcpy(b + p, a + p, m * sizeof(double)); continue; }
                b[p] = a[p];
                b[p + m - 1] = a[p + m - 1];
                #pragma omp simd
                for (long q = p + 1; q < p + m - 1; q++)
                    b[q] = a[q] + x[q] * (a[q + 1] - a[q]) + x[q - 1] * (a[q - 1] - a[q]) + y[q] * (a[q + m] - a[q])
                         + y[q - m] * (a[q - m] - a[q]);
            }
        }
        #pragma omp for schedule(static) reduction(+ : total)
        for (long i = 0; i < n; i++)
            for (long j = 0; j < m; j++) {
                long p = i * m + j;
                double d = u[steps * N + p] - seen[p];
                total += d * d;
                du[p] = d;
                if (i && j && i < n - 1 && j < m - 1) la[p] = d;
            }
        double *from = la, *to = lb;
        for (long t = steps - 1; t >= 0; t--) {
            const double *restrict a = u + t * N, *restrict l = from, *restrict x = kx, *restrict y = ky;
            double *restrict o = to, *restrict hx = gx, *restrict hy = gy;
            #pragma omp for schedule(static)
            for (long i = 0; i < n - 1; i++) {
                long p = i * m;
                #pragma omp simd
                for (long q = p; q < p + m - 1; q++) {
                    hx[q] += (a[q + 1] - a[q]) * (l[q] - l[q + 1]);
                    hy[q] += (a[q + m] - a[q]) * (l[q] - l[q + m]);
                }
                if (i == 0) {
                    for (long j = 1; j < m - 1; j++) {
                        du[j] += y[j] * l[m + j];
                        du[N - m + j] += y[N - 2 * m + j] * l[N - 2 * m + j];
                    }
                    continue;
                }
                du[p] += x[p] * l[p + 1];
                du[p + m - 1] += x[p + m - 2] * l[p + m - 2];
                #pragma omp simd
                for (long q = p + 1; q < p + m - 1; q++)
                    o[q] = l[q] + x[q] * (l[q + 1] - l[q]) + x[q - 1] * (l[q - 1] - l[q]) + y[q] * (l[q + m] - l[q])
                         + y[q - m] * (l[q - m] - l[q]);
            }
            double *s = from; from = to; to = s;
        }
        #pragma omp for schedule(static)
        for (long i = 0; i < n; i++)
            for (long j = 0; j < m; j++) {
                long p = i * m + j;
                double g = (j + 1 < m ? gx[p] : 0) + (j ? gx[p - 1] : 0) + (i + 1 < n ? gy[p] : 0) + (i ? gy[p - m] : 0);
                dk[p] = 0.5 * dt * g;
                if (i && j && i < n - 1 && j < m - 1) du[p] = from[p];
            }
    }
    *misfit = 0.5 * total;
    free(u); free(w);
}
