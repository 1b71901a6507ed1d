/* The distances to all centres are one vector per point; sums are private to a thread. */
#include <stdlib.h>
#include <string.h>

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
                for (long a0 = 0; a0 < k; a0 += 16) {
                    double s[16] = {0};
                    if (a0 + 16 <= k)
                        for (long b = 0; b < d; b++) {
                            const double *restrict row = ct + b * k + a0;
                            for (int a = 0; a < 16; a++) { double z = p[b] - row[a]; s[a] += z * z; }
                        }
                    else
                        for (long b = 0; b < d; b++)
                            for (long a = 0; a0 + a < k; a++) { double z = p[b] - ct[b * k + a0 + a]; s[a] += z * z; }
                    for (long a = 0; a < 16 && a0 + a < k; a++) far[a0 + a] = s[a];
                }
                double low = far[0];
                #pragma omp simd reduction(min : low)
                for (long a = 1; a < k; a++) low = far[a] < low ? far[a] : low;
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
