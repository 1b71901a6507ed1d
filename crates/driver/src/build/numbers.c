/* Numbers as the language has them: conversions, functions that C lacks, and how messages show them. */

static inline float f32of(uint32_t bits) { float x; memcpy(&x, &bits, sizeof x); return x; }
static inline double f64of(uint64_t bits) { double x; memcpy(&x, &bits, sizeof x); return x; }
static inline uint64_t f32bits(float x) { uint32_t b; memcpy(&b, &x, sizeof b); return b; }
static inline uint64_t f64bits(double x) { uint64_t b; memcpy(&b, &x, sizeof b); return b; }

/* A float of few bits: a sign, an exponent and a fraction. Those of 8 bits have no infinity. */
static float widened(uint64_t bits, int exponent, int fraction, int infinite) {
    uint64_t magnitude = bits & ((UINT64_C(1) << (exponent + fraction)) - 1);
    uint64_t most = ((UINT64_C(1) << exponent) - 1) << fraction;
    uint64_t part = bits & ((UINT64_C(1) << fraction) - 1), power = magnitude >> fraction;
    int bias = (1 << (exponent - 1)) - 1;
    float sign = bits >> (exponent + fraction) & 1 ? -1.0f : 1.0f;
    if (infinite && magnitude == most) return sign * INFINITY;
    if (infinite ? magnitude > most : magnitude == (UINT64_C(1) << (exponent + fraction)) - 1) return NAN;
    if (power == 0) return sign * ldexpf((float)part, 1 - bias - fraction);
    return sign * ldexpf((float)(part | UINT64_C(1) << fraction), (int)power - bias - fraction);
}

/* The nearest float of few bits; of two the even one. */
static uint64_t narrowed(double x, int exponent, int fraction, int infinite) {
    uint64_t most = ((UINT64_C(1) << exponent) - 1) << fraction;
    uint64_t all = (UINT64_C(1) << (exponent + fraction)) - 1;
    uint64_t over = infinite ? most : all;
    int bias = (1 << (exponent - 1)) - 1, lowest = 1 - bias, leading = -1023;
    if (x != x) return infinite ? most | UINT64_C(1) << (fraction - 1) : all;
    uint64_t sign = (uint64_t)(signbit(x) != 0) << (exponent + fraction);
    x = fabs(x);
    leading = (int)(f64bits(x) >> 52) - 1023;
    if (leading < lowest) leading = lowest;
    if (leading > bias + 2) return sign | over;
    double scaled = ldexp(x, fraction - leading), whole = floor(scaled), rest = scaled - whole;
    uint64_t rounded = (uint64_t)whole;
    if (rest > 0.5 || (rest == 0.5 && (rounded & 1))) rounded++;
    uint64_t bits = ((uint64_t)(leading - lowest) << fraction) + rounded;
    return sign | (bits < over ? bits : over);
}

/* An integer as a double from which narrower floats are rounded as from the integer itself. */
static double oddly(__int128 x) {
    __int128 kept = x & ~(__int128)2047, size = x < 0 ? -x : x;
    if (size >> 53 == 0) return (double)x;
    return (double)(kept | ((__int128)(x != kept) << 11));
}

/* A float as an integer: towards zero, and no further than the type reaches. */
static int64_t saturated(double x, int64_t least, int64_t most) {
    if (x != x) return 0;
    if (x <= (double)least) return least;
    return x >= (double)most ? most : (int64_t)x;
}

static uint64_t saturatedUnsigned(double x, uint64_t most) {
    if (!(x > 0)) return 0;
    return x >= (double)most ? most : (uint64_t)x;
}

/* Powers: products for small ones, which are exact where they can be. */
static double powerOf(double x, int64_t n) {
    double product = 1;
    if (n < -64 || n > 64) {
        product = pow(fabs(x), (double)n);
        return signbit(x) && (n & 1) ? -product : product;
    }
    for (int64_t i = n < 0 ? -n : n; i > 0; i--) product *= x;
    return n < 0 ? 1 / product : product;
}

static uint64_t integerPower(uint64_t b, uint64_t n) {
    uint64_t product = 1;
    for (; n; n >>= 1, b *= b)
        if (n & 1) product *= b;
    return product;
}

static double logGamma(double x) { int sign; return lgamma_r(x, &sign); }

/* Digamma and its derivatives: moved up by their recurrences, then by the asymptotic series. */
static const double bernoulli[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730,
                                   7.0 / 6, -3617.0 / 510, 43867.0 / 798, -174611.0 / 330};
static const double halfTurn = 3.14159265358979323846;

static double digamma(double x) {
    if ((x <= 0 && x == floor(x)) || x != x || x == -INFINITY) return NAN;
    if (x < 0) return digamma(1 - x) - halfTurn / tan(halfTurn * (x - floor(x)));
    double below = 0, series = 0;
    for (; x < 10; x += 1) below += 1 / x;
    if (x == INFINITY) return x;
    double square = 1 / (x * x), power = square;
    for (int k = 1; k <= 10; k++, power *= square) series += bernoulli[k - 1] / (2 * k) * power;
    return log(x) - 0.5 / x - series - below;
}

static double factorial(int n) {
    double product = 1;
    for (int k = 2; k <= n; k++) product *= k;
    return product;
}

static double polygammaFrom1(int n, double x) {
    if (x != x || x < -1e6) return NAN;
    if (x == INFINITY) return 0;
    double whole = factorial(n), below = 0;
    for (; x < 10 + n; x += 1) below += whole / powerOf(x, n + 1);
    double series = factorial(n - 1) / powerOf(x, n) + whole / (2 * powerOf(x, n + 1));
    double ratio = whole / powerOf(x, n + 2) * (n + 1) / 2;
    for (int k = 1; k <= 10; k++) {
        if (k > 1) ratio *= (2.0 * k + n - 1) * (2.0 * k + n - 2) / (2.0 * k * (2.0 * k - 1) * x * x);
        series += bernoulli[k - 1] * ratio;
    }
    return n % 2 == 1 ? series + below : -(series + below);
}

static double trigamma(double x) {
    if (x <= 0 && x == floor(x)) return INFINITY;
    if (x >= 0) return polygammaFrom1(1, x);
    double sine = sin(halfTurn * (x - floor(x)));
    return halfTurn / sine * (halfTurn / sine) - trigamma(1 - x);
}

static double polygamma(int64_t n, double x) {
    if (n == 0) return digamma(x);
    if (n == 1) return trigamma(x);
    if (n < 0 || n > 169 || (x <= 0 && x == floor(x))) return NAN;
    return polygammaFrom1((int)n, x);
}

/* The fewest digits that read back as the same float, as `print` shows them. Not all surroundings write a
   point; it is found by its place. */
static const char *shown(char *text, double x, int single, int exponent, int fraction, int infinite) {
    char digits[40];
    int n = 0, power, at = 0;
    double read = 0, few = single ? 1e-4f : 1e-4;
    if (x != x) return "NaN";
    if (isinf(x)) return x < 0 ? "-inf" : "inf";
    if (x == 0) return signbit(x) ? "-0.0" : "0.0";
    for (n = 1; n < 18; n++) {
        snprintf(digits, sizeof digits, "%.*e", n - 1, fabs(x));
        read = single ? strtof(digits, 0) : strtod(digits, 0);
        if (exponent ? widened(narrowed(read, exponent, fraction, infinite), exponent, fraction, infinite) == fabs(x)
                     : read == fabs(x))
            break;
    }
    power = atoi(strchr(digits, 'e') + 1);
    if (n > 1) memmove(digits + 1, strchr(digits, 'e') - (n - 1), (size_t)n - 1);
    if (x < 0) text[at++] = '-';
    if (read >= (single ? 1e16f : 1e16) || read < few) {
        text[at++] = digits[0];
        if (n > 1) text[at++] = '.';
        for (int i = 1; i < n; i++) text[at++] = digits[i];
        sprintf(text + at, "e%d", power);
        return text;
    }
    if (power < 0) text[at++] = '0';
    for (int i = 0; i <= power; i++) text[at++] = i < n ? digits[i] : '0';
    text[at++] = '.';
    for (int i = power + 1; i < 0; i++) text[at++] = '0';
    for (int i = power < 0 ? 0 : power + 1; i < n; i++) text[at++] = digits[i];
    if (n <= power + 1) text[at++] = '0';
    text[at] = 0;
    return text;
}
