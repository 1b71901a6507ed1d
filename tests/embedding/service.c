/* Calls the functions of service.ein, beside another library: cc service.c -L. -lservice -lmodel -lm */
#include "model.h"
#include "service.h"
#include <math.h>
#include <stdio.h>

int main(void) {
    char message[200];
    double x[] = {1, 2, 3}, a, b, c, d;
    einlang_tensor tx = {x, EINLANG_F64, 1, {3}, {1}}, out;
    if (service_copy(&tx, &out, message, sizeof message)) return puts(message), 1;
    printf("copy: %g %g %g\n", ((double *)out.data)[0], ((double *)out.data)[1], ((double *)out.data)[2]);
    service_release(&out);
    if (service_g(&tx, &a, message, sizeof message)) return puts(message), 1;
    if (service_g_kernel_0(&tx, &b, message, sizeof message)) return puts(message), 1;
    if (service_g_0(2.5, 10, &c, message, sizeof message)) return puts(message), 1;
    if (model_clamp(9, 1, 7, &d, message, sizeof message)) return puts(message), 1;
    printf("names: %g %g %g %g\n", a, b, c, d);

    int32_t n, m;
    bool found, early;
    if (service_steps(2, 50, &n, &found, message, sizeof message)) return puts(message), 1;
    if (service_steps(2, 2, &m, &early, message, sizeof message)) return puts(message), 1;
    printf("steps: %d %d, %d %d", (int)n, (int)found, (int)m, (int)early);
    if (service_collatz(27, &n, message, sizeof message)) return puts(message), 1;
    printf(", collatz %d\n", (int)n);

    int32_t at[] = {0, 2, 7};
    einlang_tensor ta = {at, EINLANG_I32, 1, {2}, {1}};
    if (service_taken(&tx, &ta, &out, message, sizeof message)) return puts(message), 1;
    printf("taken: %g %g\n", ((double *)out.data)[0], ((double *)out.data)[1]);
    service_release(&out);
    ta.extents[0] = 3;
    service_taken(&tx, &ta, &out, message, sizeof message);
    puts(message);
    einlang_tensor square = {x, EINLANG_F64, 2, {1, 3}, {3, 1}};
    service_cell(&square, 0, -1, &a, message, sizeof message);
    puts(message);
    x[1] = -2;
    service_logs(&tx, &out, message, sizeof message);
    puts(message);
    double shown[] = {1, 0.1, 1e20, -1e-5, 123456.789, 1e15, INFINITY, NAN};
    for (int i = 0; i < 8; i++) {
        service_said(shown[i], (float)shown[i], i - 3, &a, message, sizeof message);
        puts(message);
    }

    if (service_special(2.5, &a, &b, &c, &d, message, sizeof message)) return puts(message), 1;
    printf("special: %.12g %.12g %.12g %.12g\n", a, b, c, d);
    if (service_divisors(84, -36, &n, &m, message, sizeof message)) return puts(message), 1;
    printf("divisors: %d %d", (int)n, (int)m);
    int32_t many[] = {84, 30, 7, 0};
    einlang_tensor tm = {many, EINLANG_I32, 1, {4}, {1}};
    if (service_shared(&tm, 36, &out, message, sizeof message)) return puts(message), 1;
    for (int i = 0; i < 4; i++) printf(" %d", (int)((int32_t *)out.data)[i]);
    service_release(&out);
    if (service_deep(1000, &n, message, sizeof message)) return puts(message), 1;
    printf(", deep %d\n", (int)n);
    printf("deeper: %d, %.30s\n", (int)service_deep(1000000, &n, message, sizeof message), message);

    if (service_swing(1, 0, 0.5, &a, &b, message, sizeof message)) return puts(message), 1;
    if (service_chosen(a, b, 5, 6, 1, &c, &d, message, sizeof message)) return puts(message), 1;
    printf("swing: %g %g, chosen %g %g\n", a, b, c, d);
    for (int kind = 0; kind < 3; kind++) {
        if (service_area(kind, 2, &a, message, sizeof message)) return puts(message), 1;
        printf(kind < 2 ? "area %g, " : "area %g\n", a);
    }
    int32_t to[] = {-1, 0, 1, 1};
    einlang_tensor tt = {to, EINLANG_I32, 1, {4}, {1}};
    if (service_links(&tt, &out, message, sizeof message)) return puts(message), 1;
    printf("links: %d %d\n", (int)((int32_t *)out.data)[2], (int)((int32_t *)out.data)[3]);
    service_release(&out);
    to[1] = 3;
    service_links(&tt, &out, message, sizeof message);
    puts(message);
    uint16_t half;
    if (service_halves(0x3e00, 0x3400, &half, message, sizeof message)) return puts(message), 1;
    printf("halves: %04x\n", half);
    return 0;
}
