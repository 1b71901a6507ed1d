/* Positions as one array per axis; four bodies share each load of the others. */
#include <math.h>
#include <stdlib.h>

void run(const float *x0, const float *v0, const float *m, long steps, double dt_, double soft_, float *xo, float *vo, long n) {
    float dt = dt_, eps = (float)soft_ * (float)soft_;
    float *w = malloc(6 * n * sizeof(float)), *px = w, *py = w + n, *pz = w + 2 * n, *a = w + 3 * n;
    for (long i = 0; i < n; i++) {
        px[i] = x0[3 * i]; py[i] = x0[3 * i + 1]; pz[i] = x0[3 * i + 2];
        for (int c = 0; c < 3; c++) vo[3 * i + c] = v0[3 * i + c];
    }
    for (long t = 0; t < steps; t++) {
        #pragma omp parallel for schedule(static)
        for (long i = 0; i < n; i += 4) {
            long l = i + 4 <= n ? 4 : n - i;
            float q[4][3];
            for (long r = 0; r < 4; r++) { long p = i + (r < l ? r : 0); q[r][0] = px[p]; q[r][1] = py[p]; q[r][2] = pz[p]; }
            float s00 = 0, s01 = 0, s02 = 0, s10 = 0, s11 = 0, s12 = 0, s20 = 0, s21 = 0, s22 = 0, s30 = 0, s31 = 0, s32 = 0;
            #pragma omp simd reduction(+ : s00, s01, s02, s10, s11, s12, s20, s21, s22, s30, s31, s32)
            for (long j = 0; j < n; j++) {
                float X = px[j], Y = py[j], Z = pz[j], mass = m[j];
#define BODY(r, A, B, C) { float dx = X - q[r][0], dy = Y - q[r][1], dz = Z - q[r][2]; float r2 = dx * dx + dy * dy + dz * dz + eps; \
                float g = 1 / sqrtf(r2); g = mass * g * g * g; A += g * dx; B += g * dy; C += g * dz; }
                BODY(0, s00, s01, s02) BODY(1, s10, s11, s12) BODY(2, s20, s21, s22) BODY(3, s30, s31, s32)
            }
            float sums[4][3] = {{s00, s01, s02}, {s10, s11, s12}, {s20, s21, s22}, {s30, s31, s32}};
            for (long r = 0; r < l; r++) for (int c = 0; c < 3; c++) a[3 * (i + r) + c] = sums[r][c];
        }
        for (long i = 0; i < n; i++) {
            for (int c = 0; c < 3; c++) vo[3 * i + c] += dt * a[3 * i + c];
            px[i] += dt * vo[3 * i]; py[i] += dt * vo[3 * i + 1]; pz[i] += dt * vo[3 * i + 2];
        }
    }
    for (long i = 0; i < n; i++) { xo[3 * i] = px[i]; xo[3 * i + 1] = py[i]; xo[3 * i + 2] = pz[i]; }
    free(w);
}
