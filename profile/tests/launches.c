/* Launches kernels whose code is the same, and ends in the way that the first argument says. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *SOURCE =
    "__kernel void unused(__global float *x) { x[0] = 0.0f; }\n"
    "__kernel void first(__global float *x, int n) { x[get_global_id(0)] += N; }\n"
    "__kernel void second(__global float *x, int n) { x[get_global_id(0)] += N; }\n"
    "__kernel void wild(__global float *x, int n) { x[get_global_id(0) + (1 << 27)] = n; }\n";

static cl_context context;
static cl_command_queue queue;
static cl_mem memory;

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", what, error);
        exit(2);
    }
}

static cl_program build(cl_device_id device, const char *options)
{
    cl_program program = clCreateProgramWithSource(context, 1, &SOURCE, NULL, NULL);
    check(clBuildProgram(program, 1, &device, options, NULL, NULL), "clBuildProgram");
    return program;
}

static cl_int launch(cl_program program, const char *name, cl_int n)
{
    cl_int error;
    size_t global = n, local = 64;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    check(error, name);
    check(clSetKernelArg(kernel, 0, sizeof memory, &memory), "argument 0");
    check(clSetKernelArg(kernel, 1, sizeof n, &n), "argument 1");
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), "launch");
    clReleaseKernel(kernel);
    return clFinish(queue);
}

int main(int argc, char **argv)
{
    const char *end = argc > 1 ? argv[1] : "exit";
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "clCreateCommandQueue");
    memory = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096 * sizeof(float), NULL, &error);
    check(error, "clCreateBuffer");
    cl_program program = build(device, "-DN=4");
    check(launch(program, "second", 1024), "second");
    check(launch(program, "first", 2048), "first");
    check(launch(program, "second", 4096), "second");
    if (!strcmp(end, "builds"))
        check(launch(build(device, "-DN=8"), "second", 1024), "second of another build");
    if (!strcmp(end, "fault"))
        printf("wild: %d\n", launch(program, "wild", 64));
    printf("launched\n");
    fflush(stdout);
    if (!strcmp(end, "abort"))
        abort();
    if (!strcmp(end, "wait"))
        pause();
    if (!strcmp(end, "3"))
        return 3;
    return 0;
}
