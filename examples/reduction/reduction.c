/* The program of docs/debugging.md: adds numbers with the kernel of a file, and checks the sums of the work-groups.
 *
 *     reduction sum.cl */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 56, GROUP = 16, GROUPS = (N + GROUP - 1) / GROUP };

typedef struct {
    cl_float value;
    cl_int count;
} Part;

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
    float in[N];
    Part sums[GROUPS];
    const char *source = text;
    cl_platform_id platform;
    cl_device_id device;
    cl_int error, n = N, wrong = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: reduction KERNEL.cl\n");
        return 2;
    }
    FILE *file = fopen(argv[1], "r");
    if (!file || !fread(text, 1, sizeof text - 1, file)) {
        perror(argv[1]);
        return 2;
    }
    fclose(file);
    for (int i = 0; i < N; i++)
        in[i] = i + 1;
    check(clGetPlatformIDs(1, &platform, NULL), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "queue");
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error, "program");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
    cl_kernel kernel = clCreateKernel(program, "sum", &error);
    check(error, "kernel");
    cl_mem numbers = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof in, in, &error);
    check(error, "buffer");
    cl_mem results = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof sums, NULL, &error);
    check(error, "buffer");
    check(clSetKernelArg(kernel, 0, sizeof numbers, &numbers), "argument");
    check(clSetKernelArg(kernel, 1, sizeof results, &results), "argument");
    check(clSetKernelArg(kernel, 2, sizeof n, &n), "argument");
    size_t global = GROUPS * GROUP, local = GROUP;
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), "launch");
    check(clEnqueueReadBuffer(queue, results, CL_TRUE, 0, sizeof sums, sums, 0, NULL, NULL), "read");
    for (int group = 0; group < GROUPS; group++) {
        Part sum = {0, 0};
        for (int i = group * GROUP; i < N && i < (group + 1) * GROUP; i++) {
            sum.value += in[i];
            sum.count++;
        }
        printf("group %d: %g of %d numbers, not %g of %d\n", group, sums[group].value, sums[group].count, sum.value, sum.count);
        wrong += sum.value != sums[group].value || sum.count != sums[group].count;
    }
    clReleaseMemObject(numbers);
    clReleaseMemObject(results);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return wrong != 0;
}
