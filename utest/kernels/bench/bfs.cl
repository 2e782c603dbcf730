/* A step of a breadth-first search: nodes of a level number their neighbours that have no level. */
__kernel void bfs(__global uint *levels, __global const uint *starts, __global const uint *edges, uint level)
{
    uint node = get_global_id(0);
    if (levels[node] != level)
        return;
    for (uint i = starts[node]; i < starts[node + 1]; i++)
        if (levels[edges[i]] == UINT_MAX)
            levels[edges[i]] = level + 1;
}
