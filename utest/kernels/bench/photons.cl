/* Photons in a slab that scatters and absorbs. x is the weight that leaves: below zero in front, above zero behind,
   zero if the photon is absorbed; y is the distance from the axis. */
float uniform_random(uint *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return (*state >> 8) * (1.0f / 16777216.0f);
}

__kernel void photons(__global float2 *out, uint seed, float density, float albedo)
{
    uint i = get_global_id(0);
    uint state = ((i + 1) * 2654435761u ^ seed) | 1;
    float3 position = (float3)(0, 0, 0), direction = (float3)(0, 0, 1);
    float weight = 1, leaves = 0;
    while (weight > 0) {
        position += direction * (-log(1 - uniform_random(&state)) / density);
        if (position.z < 0 || position.z > 1) {
            leaves = position.z < 0 ? -weight : weight;
            break;
        }
        weight *= albedo;
        if (weight < 0.01f)
            weight = uniform_random(&state) < 0.1f ? weight * 10 : 0;
        float z = 2 * uniform_random(&state) - 1, angle = 2 * M_PI_F * uniform_random(&state);
        float radius = sqrt(1 - z * z);
        direction = (float3)(radius * cos(angle), radius * sin(angle), z);
    }
    out[i] = (float2)(leaves, sqrt(position.x * position.x + position.y * position.y));
}
