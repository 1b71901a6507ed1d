/* Calls the functions of model.ein from C: cc main.c -L. -lmodel -lm */
#include "model.h"
#include <stdio.h>

static einlang_tensor vector(void *data, int32_t elem, int64_t n) {
    einlang_tensor t = {data, elem, 1, {n}, {1}};
    return t;
}

static einlang_tensor matrix(void *data, int32_t elem, int64_t rows, int64_t columns) {
    einlang_tensor t = {data, elem, 2, {rows, columns}, {columns, 1}};
    return t;
}

int main(void) {
    char message[200];
    float x[] = {1, 2, 3, 4, 5, 6}, w[] = {1, 0, 0, -1, 0.5f, 1, 1, 1, 1}, b[] = {0, 10, -1};
    einlang_tensor tx = matrix(x, EINLANG_F32, 2, 3), tw = matrix(w, EINLANG_F32, 3, 3);
    einlang_tensor tb = vector(b, EINLANG_F32, 3), out;
    if (model_layer(&tx, &tw, &tb, &out, message, sizeof message)) return puts(message), 1;
    printf("layer %d x %d:", (int)out.extents[0], (int)out.extents[1]);
    for (int i = 0; i < 6; i++) printf(" %g", ((float *)out.data)[i]);
    puts("");
    model_release(&out);

    /* The same matrix by columns: only the strides differ. */
    float by_column[] = {1, 4, 2, 5, 3, 6};
    einlang_tensor tc = {by_column, EINLANG_F32, 2, {2, 3}, {1, 2}};
    if (model_layer(&tc, &tw, &tb, &out, message, sizeof message)) return puts(message), 1;
    printf("by columns:");
    for (int i = 0; i < 6; i++) printf(" %g", ((float *)out.data)[i]);
    puts("");
    model_release(&out);

    double t[] = {1, 2, 3}, y[] = {2, 4, 6}, error, slope = 1;
    einlang_tensor tt = vector(t, EINLANG_F64, 3), ty = vector(y, EINLANG_F64, 3);
    for (int step = 0; step < 3; step++) {
        if (model_descend(&tt, &ty, slope, 0.05, &error, &slope, message, sizeof message))
            return puts(message), 1;
        printf("error %.6g, slope %.6g\n", error, slope);
    }
    if (model_smooth(&tt, 0.5, &out, message, sizeof message)) return puts(message), 1;
    printf("smooth: %g %g %g\n", ((double *)out.data)[0], ((double *)out.data)[1], ((double *)out.data)[2]);
    model_release(&out);

    int32_t keys[] = {2, 0, 2, 7, 2};
    einlang_tensor tk = vector(keys, EINLANG_I32, 5);
    if (model_count(&tk, 4, &out, message, sizeof message)) return puts(message), 1;
    printf("count:");
    for (int i = 0; i < out.extents[0]; i++) printf(" %d", ((int32_t *)out.data)[i]);
    puts("");
    model_release(&out);

    double clamped[3];
    for (int i = 0; i < 3; i++)
        if (model_clamp(4.0 * i, 1, 7, &clamped[i], message, sizeof message)) return puts(message), 1;
    printf("clamp: %g %g %g\n", clamped[0], clamped[1], clamped[2]);

    double mixed = 0;
    if (model_mixed(1, 2, 3, &mixed, message, sizeof message)) return puts(message), 1;
    printf("mixed: %g\n", mixed);

    int64_t times[2] = {1, 2};
    einlang_tensor tl = {times, EINLANG_I64, 1, {2}, {1}};
    if (model_later(&tl, INT64_C(1) << 50, &out, message, sizeof message)) return puts(message), 1;
    printf("later: %lld\n", (long long)((int64_t *)out.data)[1]);
    model_release(&out);

    double mean = 0, parts[] = {3, 1, 2};
    einlang_tensor tp = vector(parts, EINLANG_F64, 3);
    if (model_weighted(&tp, &mean, message, sizeof message)) return puts(message), 1;
    if (model_sorted(&tp, &out, message, sizeof message)) return puts(message), 1;
    printf("weighted: %g, sorted: %g %g %g\n", mean, ((double *)out.data)[0], ((double *)out.data)[1],
           ((double *)out.data)[2]);
    model_release(&out);
    int32_t many = 0;
    if (model_doubled(3, 4, &many, message, sizeof message)) return puts(message), 1;
    printf("doubled: %d\n", (int)many);
    tp.extents[0] = 2;

    int32_t status = model_weighted(&tp, &mean, message, sizeof message);
    printf("two of three weights: %d, %s\n", (int)status, message);
    status = model_share(&tk, 0, &out, message, sizeof message);
    printf("share by 0: %d, %s\n", (int)status, message);
    status = model_layer(&tx, &tw, &tt, &out, message, sizeof message);
    printf("another type: %d, %s\n", (int)status, message);
    tb.extents[0] = 2;
    status = model_layer(&tx, &tw, &tb, &out, message, sizeof message);
    printf("another length: %d, %s\n", (int)status, message);
    /* One number as 2^62 of them: their bytes do not fit a word. */
    einlang_tensor huge = {x, EINLANG_F32, 2, {INT64_C(1) << 31, INT64_C(1) << 31}, {0, 0}};
    status = model_layer(&huge, &tw, &tb, &out, message, sizeof message);
    printf("more than memory: %d, %s\n", (int)status, message);
    status = model_layer(&tx, &tw, &tb, &out, NULL, 0);
    printf("without a message: %d\n", (int)status);
    status = model_layer(&tx, &tw, &tb, NULL, message, sizeof message);
    printf("without a result: %d, %s\n", (int)status, message);
    return 0;
}
