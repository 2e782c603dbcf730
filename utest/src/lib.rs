//! The test-suite: it loads the driver through the ICD loader, as any application does.
