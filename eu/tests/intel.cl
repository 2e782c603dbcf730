kernel void vadd(global const float* a, global const float* b, global float* c, float k) {
  int i = get_global_id(0);
  float s = a[i];
  for (int n = 0; n < i; n++) { if (n % 3 == 0) continue; s += b[n] * k; if (s > 1000.0f) break; }
  c[i] = s + native_sin(b[i]);
}
kernel void red(global const int* a, global int* out, local int* t) {
  int l = get_local_id(0);
  t[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = get_local_size(0)/2; s > 0; s >>= 1) { if (l < s) t[l] += t[l+s]; barrier(CLK_LOCAL_MEM_FENCE); }
  if (l == 0) atomic_add(out, t[0]);
}
kernel void chars(global const uchar4* a, global uchar4* o, global long* q) {
  int i = get_global_id(0);
  uchar4 v = a[i]; o[i] = v.wzyx + (uchar4)(1); q[i] = q[i] * 3 + (v.x / (v.y|1));
}
