/* Anti-diagonals in buffers indexed by the row; rb is the second sequence reversed. */
#include <stdlib.h>

static inline int most(int a, int b) { return a > b ? a : b; }

void run(const int *a, const int *rb, long same_, long other_, long open_, long extend_, int *out, long n, long m) {
    int same = same_, other = other_, open = open_, extend = extend_, best = 0;
    int *buffers = malloc(7 * (n + 2) * sizeof(int)), *h[3], *e[2], *f[2];
    for (int i = 0; i < 3; i++) h[i] = buffers + i * (n + 2);
    for (int i = 0; i < 2; i++) { e[i] = buffers + (3 + i) * (n + 2); f[i] = buffers + (5 + i) * (n + 2); }
    for (long i = 0; i < 3 * (n + 2); i++) buffers[i] = 0;
    for (long i = 3 * (n + 2); i < 7 * (n + 2); i++) buffers[i] = -1000000;
    for (long s = 2; s <= n + m; s++) {
        long lo = s - m > 1 ? s - m : 1, hi = s - 1 < n ? s - 1 : n;
        const int *restrict h1 = h[(s + 2) % 3], *restrict h2 = h[(s + 1) % 3], *restrict e1 = e[(s + 1) % 2], *restrict f1 = f[(s + 1) % 2];
        const int *restrict letters = rb + (m - s);
        int *restrict h0 = h[s % 3], *restrict e0 = e[s % 2], *restrict f0 = f[s % 2];
        #pragma omp simd reduction(max : best)
        for (long i = lo; i <= hi; i++) {
            int x = most(e1[i] - extend, h1[i] - open), y = most(f1[i - 1] - extend, h1[i - 1] - open);
            int v = most(most(0, h2[i - 1] + (a[i - 1] == letters[i] ? same : other)), most(x, y));
            e0[i] = x;
            f0[i] = y;
            h0[i] = v;
            best = most(best, v);
        }
        /* The rim: column 0 lies at row s, row 0 at index 0. */
        h0[0] = 0;
        f0[0] = -1000000;
        if (s <= n) { h0[s] = 0; e0[s] = -1000000; }
    }
    *out = best;
    free(buffers);
}
