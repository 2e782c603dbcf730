//! Images and samplers as objects, and the commands on images.

mod arguments;
mod blocks;
mod commands;
mod create;
mod image;
mod kernels;
mod kinds;
mod random;
mod reference;
mod requirements;
mod samplers;
mod transfers;

use gencl_utest::{Case, Need, all_needing};

pub use image::{Image, RGBA, descriptor};
pub use samplers::{create as create_sampler, repeated_texels};

/// Why a case is not for Intel's driver.
const OTHERS: &str = "others take what is wrong, or give another code";

/// What programs of SPIR-V need.
const IL: Need = Need::Extension("cl_khr_il_program");

pub fn cases() -> Vec<Case> {
    all_needing(
        Need::Images,
        [
            Case::new("image_information", create::information),
            Case::new("image_formats", create::formats),
            Case::new("image_refused", create::refused),
            Case::of_gencl(OTHERS, "image_refused_strictly", create::refused_strictly),
            Case::of_gencl(OTHERS, "image_refused_2d_3d", create::refused_2d_3d),
            Case::new("image_host_pointers", create::host_pointers),
            Case::new("image_of_buffer", create::of_buffer),
            Case::new("image_of_buffer_refused", create::of_buffer_refused),
            Case::new("image_requirements", requirements::requirements),
            Case::new("image_read_write", transfers::read_write),
            Case::new("image_copy", transfers::copy),
            Case::new("image_copy_buffer", transfers::copy_buffer),
            Case::new("image_fill", transfers::fill),
            Case::of_gencl("others cut off", "image_fill_rounded", transfers::fill_rounded),
            Case::new("image_map", transfers::map),
            Case::new("image_map_host_pointer", transfers::map_host_pointer),
            Case::of_gencl(OTHERS, "image_read_write_refused", commands::read_write),
            Case::of_gencl(OTHERS, "image_copy_refused", commands::copy),
            Case::of_gencl(OTHERS, "image_fill_refused", commands::fill),
            Case::of_gencl(OTHERS, "image_map_refused", commands::map),
            Case::new("image_host_access_refused", commands::host_access),
            Case::new("image_arguments", arguments::set_and_launch),
            Case::of_gencl(OTHERS, "image_arguments_refused", arguments::refused),
            Case::new("image_kernel_write", kernels::write),
            Case::new("image_kernel_read", kernels::read),
            Case::new("image_kernel_read_and_write", kernels::read_and_write),
            Case::new("image_kernel_nearest", kernels::nearest),
            Case::new("image_kernel_linear", kernels::linear),
            Case::new("image_kernel_properties", kernels::properties),
            Case::new("image_kernel_control_flow", kernels::control_flow),
            Case::new("image_kernel_of_memory", kernels::of_memory),
            Case::new("image_kernel_many_launches", kernels::many_launches),
            Case::new("image_random", random::accesses),
            Case::new("image_blocks", blocks::words),
            Case::of_gencl(
                "others lack cl_intel_subgroups_char",
                "image_blocks_of_bytes",
                blocks::bytes_and_longs,
            ),
            Case::new("image_blocks_media", blocks::media),
            Case::new("il_image_blocks", blocks::words_of_spirv).needing(IL),
            Case::new("il_image_blocks_media", blocks::media_of_spirv).needing(IL),
            Case::new("sampler_information", samplers::information),
            Case::of_gencl(OTHERS, "sampler_refused", samplers::refused),
            Case::new("sampler_references", samplers::references),
            Case::of_gencl("OpenCL does not define it", "sampler_repeated_texels", samplers::repeated_texels),
            Case::of_gencl(
                "OpenCL does not define it",
                "sampler_released_before_launch",
                samplers::released_before_launch,
            ),
        ],
    )
}
