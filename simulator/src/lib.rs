//! A software i915 and Gen GPU.
