/* One pass; the vector functions of the C library do the rest. */
#include <math.h>

void run(const float *restrict s, const float *restrict strike, const float *restrict years, const float *restrict sigma,
         double rate_, float *restrict call, float *restrict put, float *restrict delta, float *restrict vega, long n) {
    float rate = rate_;
    #pragma omp parallel for simd schedule(static)
    for (long i = 0; i < n; i++) {
        float root = sqrtf(years[i]), width = sigma[i] * root;
        float d1 = (logf(s[i] / strike[i]) + (rate + 0.5f * sigma[i] * sigma[i]) * years[i]) / width;
        float paid = strike[i] * expf(-rate * years[i]);
        float n1 = 0.5f + 0.5f * erff(d1 * 0.70710678f), n2 = 0.5f + 0.5f * erff((d1 - width) * 0.70710678f);
        float price = s[i] * n1 - paid * n2;
        call[i] = price;
        put[i] = price - s[i] + paid;
        delta[i] = n1;
        vega[i] = s[i] * root * expf(-0.5f * d1 * d1) * 0.39894228f;
    }
}
