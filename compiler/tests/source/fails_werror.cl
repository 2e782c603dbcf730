// options -Werror
// fails
kernel void k(global int *x) { x[0] = 1099511627776; }
// expect
// fails_werror.cl:3:39: error: implicit conversion from 'long' to 'int' changes value from 1099511627776 to 0
//     3 | kernel void k(global int *x) { x[0] = 1099511627776; }
//       |                                     ~ ^~~~~~~~~~~~~
