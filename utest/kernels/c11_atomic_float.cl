__kernel void c11_atomic_float(__global atomic_float *sum)
{
    float seen = atomic_load(sum);
    while (!atomic_compare_exchange_weak_explicit(sum, &seen, seen + 0.5f, memory_order_acq_rel,
                                                  memory_order_relaxed, memory_scope_device))
        ;
}
