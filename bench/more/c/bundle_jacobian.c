/* Rotations and their derivatives are found once per camera; an observation then takes products of 3 x 3
   matrices and the chain rule written by hand. */
#include <math.h>
#include <stdlib.h>

/* R and its derivatives by the three components of the rotation vector. */
static void rotation(const double *w, double (*r)[9]) {
    double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), c = cos(angle), s = sin(angle), k[3];
    for (int i = 0; i < 3; i++) k[i] = w[i] / angle;
    double cross[9] = {0, -k[2], k[1], k[2], 0, -k[0], -k[1], k[0], 0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) r[0][3 * i + j] = (i == j) * c + (1 - c) * k[i] * k[j] + s * cross[3 * i + j];
    for (int l = 0; l < 3; l++) {
        double d[3];
        for (int i = 0; i < 3; i++) d[i] = ((i == l) - k[i] * k[l]) / angle;
        double turn[9] = {0, -d[2], d[1], d[2], 0, -d[0], -d[1], d[0], 0};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                r[1 + l][3 * i + j] = k[l] * (s * (k[i] * k[j] - (i == j)) + c * cross[3 * i + j])
                                    + (1 - c) * (d[i] * k[j] + k[i] * d[j]) + s * turn[3 * i + j];
    }
}

void run(const double *cameras, const double *points, const int *camera, const int *point, const double *seen, double *e,
         double *by_camera, double *by_point, long C, long O) {
    double (*turns)[4][9] = malloc(C * sizeof(*turns));
    for (long i = 0; i < C; i++) rotation(cameras + 9 * i, turns[i]);
    #pragma omp parallel for schedule(static)
    for (long o = 0; o < O; o++) {
        const double *restrict c = cameras + 9 * camera[o], *restrict p = points + 3 * point[o];
        double (*restrict r)[9] = turns[camera[o]], q[4][3];
        for (int l = 0; l < 4; l++)
            for (int i = 0; i < 3; i++) q[l][i] = r[l][3 * i] * p[0] + r[l][3 * i + 1] * p[1] + r[l][3 * i + 2] * p[2];
        for (int i = 0; i < 3; i++) q[0][i] += c[3 + i];
        double z = 1 / q[0][2], a = -q[0][0] * z, b = -q[0][1] * z, rr = a * a + b * b, f = c[6];
        double d = 1 + rr * (c[7] + rr * c[8]), slope = 2 * f * (c[7] + 2 * rr * c[8]);
        double at[2] = {a, b}, by[2][2] = {{f * d + slope * a * a, slope * a * b}, {slope * a * b, f * d + slope * b * b}};
        for (int i = 0; i < 2; i++) {
            double g[3] = {-by[i][0] * z, -by[i][1] * z, -(by[i][0] * a + by[i][1] * b) * z};
            double *restrict jc = by_camera + 18 * o + 9 * i, *restrict jp = by_point + 6 * o + 3 * i;
            for (int l = 0; l < 3; l++) {
                jc[l] = g[0] * q[1 + l][0] + g[1] * q[1 + l][1] + g[2] * q[1 + l][2];
                jc[3 + l] = g[l];
                jp[l] = g[0] * r[0][l] + g[1] * r[0][3 + l] + g[2] * r[0][6 + l];
            }
            jc[6] = d * at[i];
            jc[7] = f * rr * at[i];
            jc[8] = f * rr * rr * at[i];
            e[2 * o + i] = f * d * at[i] - seen[2 * o + i];
        }
    }
    free(turns);
}
