/*
 * Mandelbrot: a plain OpenCL program. It lists the platforms and devices, builds a kernel from source,
 * renders the set on the first device, checks every pixel against the host and writes mandelbrot.png.
 *
 *     cc -O2 -ffp-contract=off mandelbrot.c -o mandelbrot -lOpenCL -lpng
 *     ./mandelbrot [width height]
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_ITERATIONS 256

static const char *source =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "__kernel void mandelbrot(__global uint *counts, int width, float x0, float y0, float step)\n"
    "{\n"
    "    int px = get_global_id(0), py = get_global_id(1);\n"
    "    float cx = x0 + px * step, cy = y0 + py * step;\n"
    "    float x = 0, y = 0, xx = 0, yy = 0;\n"
    "    uint n = 0;\n"
    "    while (n < MAX_ITERATIONS && xx + yy <= 4.0f) {\n"
    "        y = 2.0f * x * y + cy;\n"
    "        x = xx - yy + cx;\n"
    "        xx = x * x;\n"
    "        yy = y * y;\n"
    "        n++;\n"
    "    }\n"
    "    counts[py * width + px] = n;\n"
    "}\n";

/* The same computation, operation by operation. */
static unsigned host_count(int px, int py, float x0, float y0, float step)
{
    float cx = x0 + px * step, cy = y0 + py * step;
    float x = 0, y = 0, xx = 0, yy = 0;
    unsigned n = 0;
    while (n < MAX_ITERATIONS && xx + yy <= 4.0f) {
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
        n++;
    }
    return n;
}

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: OpenCL error %d\n", what, error);
        exit(1);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static cl_device_id list_and_choose(void)
{
    cl_platform_id platforms[16];
    cl_device_id chosen = NULL;
    cl_uint count = 0;
    check(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
    for (cl_uint p = 0; p < count && p < 16; p++) {
        char name[256] = "";
        cl_device_id devices[16];
        cl_uint n = 0;
        check(clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name, name, NULL), "clGetPlatformInfo");
        printf("platform %u: %s\n", p, name);
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &n) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < n && d < 16; d++) {
            check(clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL), "clGetDeviceInfo");
            printf("  device %u: %s\n", d, name);
            if (!chosen)
                chosen = devices[d];
        }
    }
    if (!chosen) {
        fprintf(stderr, "no OpenCL device\n");
        exit(1);
    }
    return chosen;
}

/* Blue to yellow outside, black inside. */
static void colour(unsigned n, png_byte *rgb)
{
    if (n >= MAX_ITERATIONS) {
        rgb[0] = rgb[1] = rgb[2] = 0;
        return;
    }
    unsigned t = n * 8 > 255 ? 255 : n * 8;
    rgb[0] = (png_byte)(t * t / 255);
    rgb[1] = (png_byte)t;
    rgb[2] = (png_byte)(90 + (255 - t) / 3);
}

static void write_png(const char *path, const cl_uint *counts, int width, int height)
{
    png_image image;
    png_byte *pixels = malloc((size_t)width * height * 3);
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = width;
    image.height = height;
    image.format = PNG_FORMAT_RGB;
    for (size_t i = 0; i < (size_t)width * height; i++)
        colour(counts[i], pixels + 3 * i);
    if (!png_image_write_to_file(&image, path, 0, pixels, 0, NULL)) {
        fprintf(stderr, "%s: %s\n", path, image.message);
        exit(1);
    }
    free(pixels);
}

int main(int argc, char **argv)
{
    int width = argc > 2 ? atoi(argv[1]) : 1024, height = argc > 2 ? atoi(argv[2]) : 768;
    if (width < 1 || height < 1 || width > 16384 || height > 16384) {
        fprintf(stderr, "usage: %s [width height]\n", argv[0]);
        return 2;
    }
    float step = 3.0f / width, x0 = -2.2f, y0 = -0.5f * height * step;
    cl_int error;
    cl_device_id device = list_and_choose();
    char name[256] = "";
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);

    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
    check(error, "clCreateCommandQueue");

    double begin = seconds();
    char options[64];
    snprintf(options, sizeof options, "-DMAX_ITERATIONS=%d", MAX_ITERATIONS);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error, "clCreateProgramWithSource");
    error = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        static char log[65536];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fprintf(stderr, "%s\n", log);
    }
    check(error, "clBuildProgram");
    double built = seconds() - begin;

    cl_kernel kernel = clCreateKernel(program, "mandelbrot", &error);
    check(error, "clCreateKernel");
    size_t pixels = (size_t)width * height, bytes = pixels * sizeof(cl_uint);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_WRITE_ONLY, bytes, NULL, &error);
    check(error, "clCreateBuffer");
    check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
    check(clSetKernelArg(kernel, 1, sizeof width, &width), "clSetKernelArg");
    check(clSetKernelArg(kernel, 2, sizeof x0, &x0), "clSetKernelArg");
    check(clSetKernelArg(kernel, 3, sizeof y0, &y0), "clSetKernelArg");
    check(clSetKernelArg(kernel, 4, sizeof step, &step), "clSetKernelArg");

    size_t global[2] = { width, height };
    cl_event event;
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, NULL, 0, NULL, &event), "clEnqueueNDRangeKernel");
    cl_uint *counts = malloc(bytes);
    check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, counts, 0, NULL, NULL), "clEnqueueReadBuffer");
    cl_ulong start = 0, end = 0;
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), "profiling");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "profiling");
    double ran = (end - start) * 1e-9;

    printf("device:      %s\n", name);
    printf("build:       %.1f ms\n", built * 1e3);
    printf("kernel:      %.1f ms for %d x %d pixels\n", ran * 1e3, width, height);
    printf("lanes:       %.2f million work-items per second\n", ran > 0 ? pixels / ran * 1e-6 : 0.0);

    size_t wrong = 0;
    unsigned long long iterations = 0;
    for (int py = 0; py < height; py++)
        for (int px = 0; px < width; px++) {
            cl_uint n = counts[(size_t)py * width + px];
            iterations += n;
            wrong += n != host_count(px, py, x0, y0, step);
        }
    printf("iterations:  %.1f million per second\n", ran > 0 ? iterations / ran * 1e-6 : 0.0);
    if (wrong) {
        fprintf(stderr, "%zu of %zu pixels differ from the host's\n", wrong, pixels);
        return 1;
    }
    write_png("mandelbrot.png", counts, width, height);
    printf("all pixels agree with the host; wrote mandelbrot.png\n");

    free(counts);
    clReleaseEvent(event);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
