typedef struct {
    float value;
    int count;
    int rest[3];
} Part;

float times(Part part, int factor)
{
    return part.value * factor + part.rest[2];
}

int digits(int n, int count)
{
    return n < 10 ? count : digits(n / 10, count + 1);
}

/* What is different without optimisations: structures that are passed by value, calls of a function by itself, and formats
   in variables. */
kernel void sum(global const float *in, global Part *sums, int n)
{
    Part own = {in[0], n, {7, 8, 9}};
    own.value = times(own, 2) + times(own, 3);
    own.count = digits(12345, 1);
    constant char *format = own.count > 4 ? "%d digits, %g\n" : "few\n";
    if (get_global_id(0) == 0)
        printf(format, own.count, own.value);
}
