//! The OpenCL C ABI: entry points, handles and the ICD dispatch table.
