// C++ for OpenCL: templates, classes, references, lambdas, overloads, constant expressions, operators; a generic pointer
// as `this`; program-scope objects with constructors, of constants and of what is known when a program runs only;
// variables of functions.
namespace shapes {
template <typename T, int N> struct Vector {
    T elements[N];
    constexpr T &operator[](int i) { return elements[i]; }
    constexpr const T &operator[](int i) const { return elements[i]; }
    Vector operator+(const Vector &other) const {
        Vector sum;
        for (int i = 0; i < N; i++)
            sum[i] = elements[i] + other[i];
        return sum;
    }
    T dot(const Vector &other) const {
        T sum = 0;
        for (int i = 0; i < N; i++)
            sum += elements[i] * other[i];
        return sum;
    }
};
struct Base { int a; int twice() const { return 2 * a; } };
struct Derived : Base { int b; Derived(int a, int b) : Base{a}, b(b) {} int sum() const { return twice() + b; } };
} // namespace shapes

template <typename T> T most(T a, T b) { return a > b ? a : b; }
template <typename F> int each(int n, F f) { int sum = 0; for (int i = 0; i < n; i++) sum += f(i); return sum; }
int kind(int) { return 1; }
int kind(float) { return 2; }
int kind(int4 x) { return x.w; }
constexpr int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
void increase(int &x, int by = 5) { x += by; }

struct Counter {
    int start, steps;
    Counter(int start) : start(start), steps(0) {
        for (int i = start; i != 1; i = i % 2 ? 3 * i + 1 : i / 2)
            steps++;
    }
    ~Counter() { steps = -1; }
    int value() const { return 1000 * start + steps; }
};
__global Counter known(27);
// What is only known when it runs: a built-in function, and another object.
struct Place { int size, other; Place(int other) : size(get_global_size(0) + 10 * get_num_groups(0)), other(other) {} };
__global Place place(known.steps + 1);
__global int changes = 7;
__constant int table[] = {factorial(3), factorial(5)};

int remembered(int x) {
    static int first = x;
    return first;
}

__kernel void cxx(__global int *out) {
    int i = get_global_id(0);
    shapes::Vector<int, 3> v{{i, 2, 3}}, w{{1, i, 1}};
    __local shapes::Base shared;
    if (get_local_id(0) == 0)
        shared.a = get_group_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    __global int *o = out + 12 * i;
    o[0] = (v + w).dot(w);
    o[1] = shapes::Derived(i, 4).sum();
    o[2] = most(i, 5) + most(2.5f, 1.0f) * 2;
    o[3] = each(4, [&](int k) { return k * i + o[0]; });
    o[4] = kind(1) + 10 * kind(1.0f) + 100 * kind((int4)(7));
    int x = i;
    increase(x);
    increase(x, 2);
    o[5] = x;
    o[6] = known.value();
    o[7] = place.size + 100 * place.other;
    o[8] = table[1] + table[0];
    o[9] = shared.twice();
    o[10] = remembered(42);
    auto p = nullptr == out ? 0 : changes;
    static_assert(factorial(4) == 24, "constant expressions");
    o[11] = p + __OPENCL_CPP_VERSION__;
}

// Initialized once.
__kernel void again(__global int *out) { out[0] = place.size++; }
