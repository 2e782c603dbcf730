//! The test-suite. Tests are selected by a part of their name: `make test T=compiler_unstructured`.

mod across;
mod after_fault;
mod api;
mod arguments;
mod arithmetic;
mod broken;
mod build_options;
mod builds;
mod checks;
mod child;
mod command_buffer;
mod control_flow;
mod cxx;
mod engine;
mod faults;
mod fine_grained;
mod floating_point;
mod half_storage;
mod hangs;
mod il;
mod images;
mod information;
mod integers;
mod library;
mod math;
mod memory;
mod misuse;
mod mpfr;
mod nd_range;
mod numbers;
mod objects;
mod out_of_order;
mod printf;
mod privileges;
mod programs;
mod read_past_end;
mod samples;
mod semaphore;
mod several_devices;
mod shared_memory;
mod told;
mod unified_memory;
mod witness;
mod work_groups;

use gencl_utest::Case;

fn main() {
    misuse::run_as_child();
    gencl_utest::main_with(cases)
}

fn cases() -> Vec<Case> {
    let cases = [
        checks::cases(),
        control_flow::cases(),
        arguments::cases(),
        memory::cases(),
        arithmetic::cases(),
        integers::cases(),
        library::cases(),
        library::conversions::scalar_cases(),
        floating_point::cases(),
        half_storage::cases(),
        math::cases(),
        nd_range::cases(),
        work_groups::cases(),
        across::cases(),
        build_options::cases(),
        builds::cases(),
        engine::cases(),
        several_devices::cases(),
        printf::cases(),
        privileges::cases(),
        programs::cases(),
        cxx::cases(),
        api::cases(),
        information::cases(),
        objects::cases(),
        il::cases(),
        images::cases(),
        shared_memory::cases(),
        fine_grained::cases(),
        unified_memory::cases(),
        command_buffer::cases(),
        semaphore::cases(),
        faults::cases(),
        hangs::cases(),
        after_fault::cases(),
        out_of_order::cases(),
        told::cases(),
        broken::cases(),
        read_past_end::cases(),
        misuse::cases(),
        witness::cases(),
    ];
    cases.into_iter().flatten().collect()
}
