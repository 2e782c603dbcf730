// Program-scope variables, and pointers between them.
// options -cl-std=CL3.0
// run 4 4
// buffer int zero 4

struct node {
    global struct node *next;
    constant int *value;
};
constant int values[] = {1, 10, 100, 1000};
global struct node last = {0, &values[3]};
global struct node first = {&last, values + 1};
global struct node *constant list = &first;
global int total = 5;

kernel void variables(global int *out) {
    int sum = 0;
    for (global struct node *node = list; node; node = node->next)
        sum += *node->value + node->value[-1];
    out[get_global_id(0)] = sum + atomic_add(&total, 0);
}
// expect
// 1116 1116 1116 1116
