/* European options: x is the price of the call, y that of the put. */
float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    float series = -0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f));
    float tail = 0.39894228f * exp(-0.5f * d * d) * k * (0.319381530f + k * series);
    return d > 0 ? 1.0f - tail : tail;
}

__kernel void black_scholes(__global float2 *options, __global const float *prices, __global const float *strikes,
                            __global const float *years, float rate, float volatility)
{
    int i = get_global_id(0);
    float price = prices[i], strike = strikes[i], t = years[i];
    float deviation = volatility * sqrt(t);
    float d1 = (log(price / strike) + (rate + 0.5f * volatility * volatility) * t) / deviation;
    float d2 = d1 - deviation;
    float discounted = strike * exp(-rate * t);
    float n1 = normal(d1), n2 = normal(d2);
    options[i] = (float2)(price * n1 - discounted * n2, discounted * (1 - n2) - price * (1 - n1));
}
