/* The program of docs/profiling.md: multiplies two matrices with a kernel of a file, and checks the result.
 *
 *     matrix KERNEL.cl LOCAL_X LOCAL_Y ROWS
 *
 * The work-groups have LOCAL_X * LOCAL_Y work-items, each of which computes ROWS elements below each other. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 256 };

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
    static float a[N * N], b[N * N], c[N * N];
    float *host[3] = {a, b, c};
    const char *source = text;
    cl_platform_id platform;
    cl_device_id device;
    cl_mem memory[3];
    cl_int error, n = N, wrong = 0;

    if (argc != 5) {
        fprintf(stderr, "usage: matrix KERNEL.cl LOCAL_X LOCAL_Y ROWS\n");
        return 2;
    }
    FILE *file = fopen(argv[1], "r");
    if (!file || !fread(text, 1, sizeof text - 1, file)) {
        perror(argv[1]);
        return 2;
    }
    fclose(file);
    check(clGetPlatformIDs(1, &platform, NULL), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "queue");
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error, "program");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
    cl_kernel kernel = clCreateKernel(program, "multiply", &error);
    check(error, "kernel");
    for (int i = 0; i < N * N; i++) {
        a[i] = i % 7;
        b[i] = i % 5;
    }
    for (int i = 0; i < 3; i++) {
        memory[i] = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof a, host[i], &error);
        check(error, "buffer");
        check(clSetKernelArg(kernel, i, sizeof memory[i], &memory[i]), "argument");
    }
    check(clSetKernelArg(kernel, 3, sizeof n, &n), "argument");
    size_t local[2] = {atoi(argv[2]), atoi(argv[3])};
    size_t global[2] = {N, N / atoi(argv[4])};
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL), "launch");
    check(clEnqueueReadBuffer(queue, memory[2], CL_TRUE, 0, sizeof c, c, 0, NULL, NULL), "read");
    for (int y = 0; y < N; y++) {
        for (int x = 0; x < N; x++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[y * N + k] * b[k * N + x];
            wrong += sum != c[y * N + x];
        }
    }
    printf("%d of %d elements are wrong\n", wrong, N * N);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    for (int i = 0; i < 3; i++)
        clReleaseMemObject(memory[i]);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return wrong != 0;
}
