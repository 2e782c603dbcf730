//! `gencl-sim`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use clap::builder::TypedValueParser;
use gencl_eu::device::Device;

use crate::device_name;

/// Runs a program with a simulated Intel GPU at /dev/dri/renderD128.
#[derive(Parser)]
#[command(name = "gencl-sim", version)]
pub struct Arguments {
    /// The GPU.
    #[arg(long, value_name = "NAME", default_value = "skl", value_parser = device())]
    pub device: &'static Device,
    /// Report undefined behaviour of the hardware as errors.
    #[arg(long)]
    pub strict: bool,
    /// Print every request of the program to standard error.
    #[arg(long)]
    pub trace: bool,
    /// Write statistics of kernels as JSON, which gencl-stats shows; FILE.PID for further processes. With -
    /// as FILE, print a table to standard error instead.
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub program: Vec<OsString>,
}

/// The device of a name.
fn device() -> impl TypedValueParser<Value = &'static Device> {
    device_name().try_map(|name| Device::named(&name).ok_or("no device has this name"))
}
