/* The program of docs/profiling.md with a fault in each kernel: runs the five kernels of a file, and checks the results.
 *
 *     newcomer KERNELS.cl
 *
 * Each reads N * N floats, and writes as many. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 512, ROWS = 128, TERMS = 16 };

static float in[N * N], out[N * N];

static float brighten(int row, int column)
{
    return 2 * in[row * N + column];
}

static float choose(int row, int column)
{
    float x = in[row * N + column];
    for (int i = 0; i < TERMS; i++)
        x = column % 2 ? sqrtf(x) + 1 : x * (0.5f - 0.01f * x) + 0.25f;
    return x;
}

static float transpose(int row, int column)
{
    return in[column * N + row];
}

static float window(int row, int column)
{
    float sum = 0;
    for (int k = 0; k < TERMS; k++)
        sum += in[row * N + column / 64 * 64 + (column + k) % 64];
    return sum;
}

static float average(int row, int column)
{
    float average = 0;
    for (int k = 0; k < TERMS; k++)
        average = (average - in[k * N + column]) * (row % ROWS) / ROWS + in[k * N + column];
    return average;
}

static const struct {
    const char *name;
    float (*expected)(int row, int column);
    size_t global[2], local[2];
} kernels[] = {
    {"brighten", brighten, {N, N}, {16, 16}},
    {"choose", choose, {N, N}, {64, 1}},
    {"transpose", transpose, {N, N}, {16, 16}},
    {"window", window, {N, N}, {64, 1}},
    {"average", average, {N, N / ROWS}, {64, 1}},
};

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", what, error);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    static char text[1 << 16];
    const char *source = text;
    cl_platform_id platform;
    cl_device_id device;
    cl_int error, wrong = 0;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;

    if (!file || !fread(text, 1, sizeof text - 1, file)) {
        fprintf(stderr, "usage: newcomer KERNELS.cl\n");
        return 2;
    }
    fclose(file);
    for (int i = 0; i < N * N; i++)
        in[i] = i % 7;
    check(clGetPlatformIDs(1, &platform, NULL), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "queue");
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error, "program");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
    cl_mem from = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof in, in, &error);
    check(error, "buffer");
    cl_mem to = clCreateBuffer(context, 0, sizeof out, NULL, &error);
    check(error, "buffer");
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        cl_kernel kernel = clCreateKernel(program, kernels[k].name, &error);
        check(error, kernels[k].name);
        check(clSetKernelArg(kernel, 0, sizeof from, &from), "argument");
        check(clSetKernelArg(kernel, 1, sizeof to, &to), "argument");
        const size_t *global = kernels[k].global, *local = kernels[k].local;
        check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL), "launch");
        check(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL), "read");
        for (int i = 0; i < N * N; i++) {
            float expected = kernels[k].expected(i / N, i % N);
            wrong += !(fabsf(out[i] - expected) <= 1e-4f * (1 + fabsf(expected)));
        }
        clReleaseKernel(kernel);
    }
    printf("%d of %d results are wrong\n", wrong, 5 * N * N);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return wrong != 0;
}
