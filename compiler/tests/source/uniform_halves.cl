// Half floats that are the same for all work-items, in either half of a dword, as operands of `mad`.
// run 8 8
// buffer uint zero 8
// value uint 0x40003c00
// value uint 0xc2004400
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void uniform_halves(global uint *out, half2 a, half2 b) {
    half x = get_local_id(0);
    out[get_local_id(0)] = as_ushort(fma(x, a.y, b.y)) | as_ushort(fma(x, a.x, -b.y)) << 16;
}
// expect
// 0x4200c200 0x4400bc00 0x45003c00 0x46004200 0x47004500 0x48004700 0x48804880 0x49004980
