// log
kernel void k(global int *x) { x[0] = 1099511627776; }
// expect
// warns.cl:2:39: warning: implicit conversion from 'long' to 'int' changes value from 1099511627776 to 0
//     2 | kernel void k(global int *x) { x[0] = 1099511627776; }
//       |                                     ~ ^~~~~~~~~~~~~
