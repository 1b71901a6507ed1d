/* The distances to all centres are one vector per point; sums are private to a thread. */
#include <stdlib.h>
#include <string.h>

typedef double V __attribute__((vector_size(64), aligned(8), may_alias));

void run(const double *x, const double *start, long steps, double *c, int *label, long n, long d, long k) {
    memcpy(c, start, k * d * sizeof(double));
    double *ct = malloc(k * d * sizeof(double)), *sum = malloc(k * d * sizeof(double)), *count = malloc(k * sizeof(double));
    for (long t = 0; t <= steps; t++) {
        for (long a = 0; a < k; a++) for (long b = 0; b < d; b++) ct[b * k + a] = c[a * d + b];
        memset(sum, 0, k * d * sizeof(double));
        memset(count, 0, k * sizeof(double));
        #pragma omp parallel
        {
            double *own = calloc(k * d, sizeof(double)), *number = calloc(k, sizeof(double)), *restrict far = malloc(k * sizeof(double));
            #pragma omp for schedule(static)
            for (long i = 0; i < n; i++) {
                const double *restrict p = x + i * d;
                long a = 0;
                for (; a + 16 <= k; a += 16) {
                    V s = {0}, t = {0};
                    for (long b = 0; b < d; b++) {
                        V y = p[b] - *(const V *)(ct + b * k + a), z = p[b] - *(const V *)(ct + b * k + a + 8);
                        s += y * y;
                        t += z * z;
                    }
                    *(V *)(far + a) = s;
                    *(V *)(far + a + 8) = t;
                }
                for (; a < k; a++) {
                    double s = 0;
                    for (long b = 0; b < d; b++) { double z = p[b] - ct[b * k + a]; s += z * z; }
                    far[a] = s;
                }
                double low = far[0];
                #pragma omp simd reduction(min : low)
                for (long c = 1; c < k; c++) low = far[c] < low ? far[c] : low;
                long at = 0;
                while (far[at] != low) at++;
                label[i] = at;
                number[at] += 1;
                for (long b = 0; b < d; b++) own[at * d + b] += p[b];
            }
            #pragma omp critical
            {
                for (long a = 0; a < k * d; a++) sum[a] += own[a];
                for (long a = 0; a < k; a++) count[a] += number[a];
            }
            free(own); free(number); free(far);
        }
        if (t < steps)
            for (long a = 0; a < k; a++)
                if (count[a] > 0) for (long b = 0; b < d; b++) c[a * d + b] = sum[a * d + b] / count[a];
    }
    free(ct); free(sum); free(count);
}
