// Programs with a fault in their calls of the API, and some without one: the first argument is the name of one.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1024
#define BYTES (N * sizeof(int))

static cl_context context;
static cl_device_id device;
static cl_command_queue queue;
static cl_program program;
static cl_kernel add, half;
static cl_mem a, b;

static const char *source = "kernel void add(global int *p, global const int *q, int n) {\n"
                            "    int i = get_global_id(0);\n"
                            "    p[i] = q[i] + n;\n"
                            "}\n"
                            "kernel void count(global int *p) { atomic_inc(p); }\n";

static cl_command_queue new_queue(cl_command_queue_properties flags) {
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, flags, 0};
    return clCreateCommandQueueWithProperties(context, device, list, NULL);
}

static void set(cl_kernel kernel, cl_mem p, cl_mem q, int n) {
    clSetKernelArg(kernel, 0, sizeof p, &p);
    clSetKernelArg(kernel, 1, sizeof q, &q);
    clSetKernelArg(kernel, 2, sizeof n, &n);
}

// Launches a kernel for `count` elements from `begin` on.
static void launch(cl_command_queue on, cl_kernel kernel, size_t begin, size_t count, cl_event after) {
    clEnqueueNDRangeKernel(on, kernel, 1, &begin, &count, NULL, after ? 1 : 0, after ? &after : NULL, NULL);
}

static void leak_buffer(void) { clCreateBuffer(context, 0, 64, NULL, NULL); }

static void leak_many(void) {
    for (int i = 0; i < 3; i++)
        leak_buffer();
    clEnqueueMarkerWithWaitList(queue, 0, NULL, &(cl_event){0});
    clSVMAlloc(context, 0, 64, 0);
}

static void given_up(void) {
    leak_buffer();
    if (!clCreateBuffer(context, 0, 0, NULL, NULL))
        exit(0);
}

static void use_released(void) {
    cl_mem c = clCreateBuffer(context, 0, 64, NULL, NULL);
    clReleaseMemObject(c);
    int x = 1;
    for (int i = 0; i < 2; i++)
        clEnqueueWriteBuffer(queue, c, CL_TRUE, 0, sizeof x, &x, 0, NULL, NULL);
}

static void release_twice(void) {
    cl_mem c = clCreateBuffer(context, 0, 64, NULL, NULL);
    clReleaseMemObject(c);
    clReleaseMemObject(c);
}

static void wrong_type(void) { clRetainMemObject((cl_mem)queue); }

static void ignored_error(void) {
    size_t global = N, local = 1 << 20;
    set(add, a, b, 1);
    clEnqueueNDRangeKernel(queue, add, 1, NULL, &global, &local, 0, NULL, NULL);
    clFinish(queue);
}

static void handled_error(void) {
    size_t global = N, local = 1 << 20;
    set(add, a, b, 1);
    if (clEnqueueNDRangeKernel(queue, add, 1, NULL, &global, &local, 0, NULL, NULL)) {
        clGetKernelWorkGroupInfo(add, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof local, &local, NULL);
        clEnqueueNDRangeKernel(queue, add, 1, NULL, &global, &local, 0, NULL, NULL);
    }
    clFinish(queue);
}

static void argument_not_set(void) {
    clSetKernelArg(half, 0, sizeof a, &a);
    launch(queue, half, 0, N, NULL);
}

static void argument_size(void) {
    long n = 1;
    set(add, a, b, 1);
    clSetKernelArg(add, 2, sizeof n, &n);
    clSetKernelArg(add, 2, 1, &n);
}

static void still_mapped(void) {
    cl_mem c = clCreateBuffer(context, 0, 64, NULL, NULL);
    clEnqueueMapBuffer(queue, c, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, NULL, NULL);
    clReleaseMemObject(c);
}

// Two queues, of which the second reads what the first writes.
static void two_queues(void) {
    cl_command_queue second = new_queue(0);
    set(add, a, b, 1);
    launch(queue, add, 0, N, NULL);
    set(half, b, a, 2);
    launch(second, half, N / 2, N / 2, NULL);
    clFinish(queue);
    clFinish(second);
    clReleaseCommandQueue(second);
}

static void ordered_queues(void) {
    cl_command_queue second = new_queue(0);
    cl_event event, user = clCreateUserEvent(context, NULL);
    size_t count = N;
    set(add, a, b, 1);
    clEnqueueNDRangeKernel(queue, add, 1, NULL, &count, NULL, 0, NULL, &event);
    set(half, b, a, 2);
    launch(second, half, 0, N, event);
    clFinish(second);
    launch(queue, half, 0, N, NULL);
    clReleaseEvent(event);
    clFinish(queue);
    launch(second, half, 0, N, user);
    launch(queue, half, 0, N, NULL);
    clFinish(queue);
    clSetUserEventStatus(user, CL_COMPLETE);
    clFinish(second);
    clReleaseEvent(user);
    clReleaseCommandQueue(second);
}

// Two queues, of which each has its half of a buffer.
static void halves(void) {
    cl_command_queue second = new_queue(0);
    set(add, a, b, 1);
    launch(queue, add, 0, N / 2, NULL);
    launch(second, add, N / 2, N / 2, NULL);
    clFinish(queue);
    clFinish(second);
    clReleaseCommandQueue(second);
}

static void out_of_order(void) {
    int data[N] = {0};
    cl_command_queue second = new_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    clEnqueueWriteBuffer(second, b, CL_FALSE, 0, BYTES, data, 0, NULL, NULL);
    set(add, a, b, 1);
    launch(second, add, 0, N, NULL);
    clEnqueueBarrierWithWaitList(second, 0, NULL, NULL);
    clEnqueueReadBuffer(second, a, CL_TRUE, 0, BYTES, data, 0, NULL, NULL);
    clReleaseCommandQueue(second);
}

static void use_mapped(void) {
    int *p = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_WRITE, 64, 64, 0, NULL, NULL, NULL);
    set(add, a, b, 1);
    launch(queue, add, 0, 8, NULL);
    launch(queue, add, 16, 8, NULL);
    clFinish(queue);
    memset(p, 0, 64);
    clEnqueueUnmapMemObject(queue, a, p, 0, NULL, NULL);
    launch(queue, add, 16, 8, NULL);
    clFinish(queue);
}

static void right(void) {
    set(add, a, b, 1);
    launch(queue, add, 0, N, NULL);
    int *p = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, 0, BYTES, 0, NULL, NULL, NULL);
    clEnqueueUnmapMemObject(queue, a, p, 0, NULL, NULL);
    clFinish(queue);
    cl_kernel count = clCreateKernel(program, "count", NULL);
    clSetKernelArg(count, 0, sizeof a, &a);
    cl_command_queue second = new_queue(0);
    launch(queue, count, 0, N, NULL);
    launch(second, count, 0, N, NULL);
    clFinish(queue);
    clFinish(second);
    clReleaseCommandQueue(second);
    clReleaseKernel(count);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"leak_many", leak_many},       {"given_up", given_up},   {"use_released", use_released},         {"release_twice", release_twice},
    {"wrong_type", wrong_type},     {"ignored_error", ignored_error},       {"handled_error", handled_error},
    {"still_mapped", still_mapped}, {"argument_not_set", argument_not_set}, {"argument_size", argument_size},
    {"two_queues", two_queues},     {"ordered_queues", ordered_queues},     {"halves", halves},
    {"use_mapped", use_mapped},     {"out_of_order", out_of_order},         {"right", right},
};

int main(int count, char **arguments) {
    cl_platform_id platform;
    clGetPlatformIDs(1, &platform, NULL);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = new_queue(0);
    program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    clBuildProgram(program, 0, NULL, "", NULL, NULL);
    add = clCreateKernel(program, "add", NULL);
    half = clCreateKernel(program, "add", NULL);
    a = clCreateBuffer(context, 0, BYTES, NULL, NULL);
    b = clCreateBuffer(context, 0, BYTES, NULL, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (count > 1 && !strcmp(cases[i].name, arguments[1]))
            cases[i].run();
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseKernel(add);
    clReleaseKernel(half);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
