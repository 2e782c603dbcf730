//! The media pipeline's state, and GPGPU_WALKER, which builds a launch from it.

use std::sync::LazyLock;

use gencl_isa::Generation;

use super::command::Flow;
use super::field::{COLUMNS, Packet, bits_of};
use super::layouts::{
    gpgpu_walker as walk, interface_descriptor_data as descriptor, media_curbe_load,
    media_interface_descriptor_load, media_vfe_state as vfe,
};
use super::state::{Pipeline, Vfe};
use super::{Streamer, traits};
use crate::gpu::{LaunchStatistics, Prepared};
use gencl_eu::dispatch::{GRF_SIZE, GroupStatistics, Launch, LaunchMark, Rounding, Scratch, Used};
use gencl_eu::fault::Fault;
use gencl_eu::memory::{Access, canonical};

/// Size of an interface descriptor in bytes.
const DESCRIPTOR_SIZE: u64 = 32;
/// Maximum number of descriptors: the index has 6 bits.
const MAX_DESCRIPTORS: u64 = 64;
/// Number of general registers of a thread.
const REGISTERS: usize = 128;

/// Mask of the bits of each dword of an interface descriptor that are not reserved, in each generation.
static DESCRIPTOR_BITS: LazyLock<[[u32; DESCRIPTOR_SIZE as usize / 4]; COLUMNS]> = LazyLock::new(|| {
    Generation::ALL
        .map(|generation| std::array::from_fn(|index| bits_of(descriptor::FIELDS, generation, index as u32)))
});

pub fn vfe_state(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    streamer.rule_stalled("MEDIA_VFE_STATE")?;
    let scratch_code = packet.get32(vfe::PER_THREAD_SCRATCH);
    let scratch_per_thread = traits::of(packet.generation).scratch_size(scratch_code);
    if scratch_code > 11 || scratch_per_thread > 2 << 20 {
        return Err(Fault::illegal(format!(
            "MEDIA_VFE_STATE: Per Thread Scratch Space {scratch_code} is reserved"
        )));
    }
    // Stack Size is the part of a thread's scratch space that is its stack, with the same encoding. It has no
    // effect on threads; Intel's driver sets both fields to the same size
    // (`PreambleHelper::programVfeState`).
    let stack_code = packet.get32(vfe::STACK_SIZE);
    streamer.rule(stack_code <= scratch_code, || {
        format!(
            "MEDIA_VFE_STATE: Stack Size {stack_code} is more than Per Thread Scratch Space {scratch_code}"
        )
    })?;
    if packet.is_set(vfe::SCOREBOARD_ENABLE) {
        return Err(Fault::unsupported("the scoreboard"));
    }
    if packet.is_set(vfe::HALF_SLICE_DISABLE) {
        return Err(Fault::unsupported("MEDIA_VFE_STATE with Half-Slice Disable"));
    }
    let max_threads = packet.get32(vfe::MAX_THREADS) + 1;
    let of_device = streamer.gpu.device.total_threads();
    streamer.rule(max_threads <= of_device, || {
        format!("MEDIA_VFE_STATE: Maximum Number of Threads is {max_threads}, the device has {of_device}")
    })?;
    let entries = packet.get(vfe::URB_ENTRIES) > 0 && packet.get(vfe::URB_ENTRY_SIZE) > 0;
    streamer.rule(entries || !traits::of(packet.generation).needs_urb_entries, || {
        "MEDIA_VFE_STATE: no URB entries".into()
    })?;
    let (curbe, most) = (packet.get32(vfe::CURBE_SIZE), streamer.gpu.device.constant_registers);
    streamer.rule(curbe <= most, || {
        format!("MEDIA_VFE_STATE: CURBE Allocation Size is {curbe}, the device has {most}")
    })?;
    streamer.state.vfe = Some(Vfe {
        scratch_base: packet.address(vfe::SCRATCH_BASE),
        scratch_code,
        scratch_per_thread,
        max_threads,
        curbe_size: curbe * GRF_SIZE as u32,
        gpgpu: !packet.has(vfe::GPGPU_MODE) || packet.is_set(vfe::GPGPU_MODE),
    });
    // The URB is allocated again: its contents are lost.
    streamer.state.curbe.clear();
    Ok(Flow::Next)
}

pub fn curbe_load(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    let length = packet.get(media_curbe_load::LENGTH);
    let offset = packet.get(media_curbe_load::ADDRESS);
    let Some(state) = streamer.state.vfe else {
        return Err(Fault::illegal("MEDIA_CURBE_LOAD without MEDIA_VFE_STATE"));
    };
    streamer.rule(length > 0 && length.is_multiple_of(GRF_SIZE as u64), || {
        format!("MEDIA_CURBE_LOAD: CURBE Total Data Length {length} is not a multiple of 32")
    })?;
    streamer.rule(offset.is_multiple_of(64), || {
        format!("MEDIA_CURBE_LOAD: CURBE Data Start Address 0x{offset:x} is not a multiple of 64")
    })?;
    streamer.rule(length <= u64::from(state.curbe_size), || {
        format!(
            "MEDIA_CURBE_LOAD: {length} bytes are more than MEDIA_VFE_STATE's CURBE Allocation Size of {}",
            state.curbe_size
        )
    })?;
    let mut curbe = std::mem::take(&mut streamer.state.curbe);
    streamer.read_dynamic("MEDIA_CURBE_LOAD", offset, length, &mut curbe)?;
    streamer.state.curbe = curbe;
    Ok(Flow::Next)
}

pub fn descriptor_load(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    let length = packet.get(media_interface_descriptor_load::LENGTH);
    let offset = packet.get(media_interface_descriptor_load::ADDRESS);
    streamer.rule(!streamer.state.descriptors_in_use, || {
        "MEDIA_INTERFACE_DESCRIPTOR_LOAD needs a MEDIA_STATE_FLUSH after GPGPU_WALKER".into()
    })?;
    if length == 0 || !length.is_multiple_of(DESCRIPTOR_SIZE) || length > MAX_DESCRIPTORS * DESCRIPTOR_SIZE {
        return Err(Fault::illegal(format!(
            "MEDIA_INTERFACE_DESCRIPTOR_LOAD: Interface Descriptor Total Length {length}"
        )));
    }
    streamer.rule(offset.is_multiple_of(64), || {
        format!(
            "MEDIA_INTERFACE_DESCRIPTOR_LOAD: Interface Descriptor Data Start Address 0x{offset:x} is not a \
             multiple of 64"
        )
    })?;
    let mut data = std::mem::take(&mut streamer.read);
    streamer.read_dynamic("MEDIA_INTERFACE_DESCRIPTOR_LOAD", offset, length, &mut data)?;
    let (dwords, _) = data.as_chunks::<4>();
    let (descriptors, _) = dwords.as_chunks::<{ DESCRIPTOR_SIZE as usize / 4 }>();
    streamer.state.descriptors.clear();
    streamer.state.descriptors.extend(descriptors.iter().map(|dwords| dwords.map(u32::from_le_bytes)));
    streamer.read = data;
    Ok(Flow::Next)
}

pub fn state_flush(streamer: &mut Streamer<'_>, _: Packet<'_>) -> Result<Flow, Fault> {
    streamer.state.descriptors_in_use = false;
    Ok(Flow::Next)
}

pub fn walker(streamer: &mut Streamer<'_>, packet: Packet<'_>) -> Result<Flow, Fault> {
    if packet.is_set(walk::PREDICATE) && !streamer.state.registers.predicate() {
        return Ok(Flow::Next);
    }
    let (last, mark) = (streamer.last_walker.take(), streamer.mark);
    let walker = match last.filter(|last| last.is_for(packet, mark) && last.prepared.is_valid()) {
        Some(last) => Some(last),
        None => streamer.prepare(packet)?,
    };
    streamer.state.threads_active = true;
    streamer.state.descriptors_in_use = true;
    let Some(mut walker) = walker else { return Ok(Flow::Next) };
    streamer.running.begin_kernel(walker.statistics.kernel);
    let sum = walker.prepared.execute()?;
    streamer.gpu.launches.push(LaunchStatistics { sum, ..walker.statistics.clone() });
    streamer.state.registers.add_invocations(walker.invocations);
    streamer.last_walker = Some(walker);
    Ok(Flow::Next)
}

/// The last GPGPU_WALKER with its prepared launch, which can be executed again while the state is the same.
pub struct LastWalker<'a> {
    /// The dwords of the command.
    dwords: Vec<u32>,
    prepared: Box<dyn Prepared + 'a>,
    /// The statistics, without the counts of an execution.
    statistics: LaunchStatistics,
    /// Number of work-items.
    invocations: u64,
    /// How the launch is marked.
    mark: LaunchMark,
}

impl LastWalker<'_> {
    /// Whether it is for an equal command without indirect parameters.
    fn is_for(&self, packet: Packet<'_>, mark: LaunchMark) -> bool {
        self.dwords == packet.dwords
            && self.mark == mark
            && !packet.is_set(walk::INDIRECT)
            && packet.get(walk::DATA_LENGTH) == 0
    }
}

impl<'a> Streamer<'a> {
    /// Prepares the launch of a walker; `None` when it has no work-groups.
    fn prepare(&mut self, packet: Packet<'_>) -> Result<Option<LastWalker<'a>>, Fault> {
        let launch = self.launch(packet)?;
        let groups = launch.groups();
        if groups.contains(&0) {
            return Ok(None);
        }
        let lanes =
            (0..launch.threads_per_group()).map(|t| u64::from(launch.dispatch_mask(t).count_ones())).sum();
        let (kernel, simd_width, sum) = (launch.kernel, launch.simd_width, GroupStatistics::default());
        Ok(Some(LastWalker {
            dwords: packet.dwords.to_vec(),
            mark: self.mark,
            prepared: self.gpu.executor.prepare(launch, self.memory, self.running)?,
            statistics: LaunchStatistics { kernel, simd_width, groups, sum },
            invocations: groups.iter().fold(lanes, |product: u64, n| product.saturating_mul(*n)),
        }))
    }
}

/// What an interface descriptor says of the states that its kernel uses (Volume 2d, INTERFACE_DESCRIPTOR_DATA): for
/// prefetching, 0 for none. The largest number of surfaces stands for more of them, too.
fn used(desc: Packet<'_>) -> Used {
    Used {
        surfaces: Some(desc.get32(descriptor::BINDING_TABLE_COUNT)).filter(|count| (1..31).contains(count)),
        samplers: Some(4 * desc.get32(descriptor::SAMPLER_COUNT)).filter(|count| *count > 0),
    }
}

impl Streamer<'_> {
    /// Reads state relative to the Dynamic State Base Address; replaces the contents of `data`.
    fn read_dynamic(
        &mut self,
        command: &str,
        offset: u64,
        length: u64,
        data: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let (generation, end) = (self.gpu.device.generation, offset + length);
        self.rule(self.state.is_dynamic(generation, end), || {
            format!("{command}: 0x{end:x} is beyond the limit of dynamic state")
        })?;
        self.read_state(self.state.bases.dynamic.wrapping_add(offset), length, data)
    }

    /// Reads state; replaces the contents of `data`.
    fn read_state(&mut self, address: u64, length: u64, data: &mut Vec<u8>) -> Result<(), Fault> {
        let address = canonical(address);
        self.memory.check(address, length, Access::Read)?;
        data.clear();
        data.resize(length as usize, 0);
        self.memory.read(&mut self.cursor, address, data)?;
        Ok(())
    }

    /// The launch that a GPGPU_WALKER command and the current state describe.
    fn launch(&mut self, packet: Packet<'_>) -> Result<Launch, Fault> {
        if self.state.pipeline != Pipeline::Gpgpu {
            return Err(Fault::illegal("GPGPU_WALKER without PIPELINE_SELECT of the GPGPU pipeline"));
        }
        let Some(state) = self.state.vfe else {
            return Err(Fault::illegal("GPGPU_WALKER without MEDIA_VFE_STATE"));
        };
        if !state.gpgpu {
            return Err(Fault::illegal("GPGPU_WALKER without GPGPU Mode of MEDIA_VFE_STATE"));
        }
        let index = packet.get(walk::DESCRIPTOR) as usize;
        let Some(dwords) = self.state.descriptors.get(index).copied() else {
            return Err(Fault::illegal(format!(
                "GPGPU_WALKER: interface descriptor {index}, but {} were loaded",
                self.state.descriptors.len()
            )));
        };
        let desc = Packet { dwords: &dwords, generation: packet.generation };
        let simd_width = match packet.get(walk::SIMD_SIZE) {
            0 => 8,
            1 => 16,
            2 => 32,
            _ => return Err(Fault::illegal("GPGPU_WALKER: SIMD Size 3 is reserved")),
        };
        let threads = [walk::WIDTH, walk::HEIGHT, walk::DEPTH].map(|field| packet.get32(field) + 1);
        self.check_threads(threads, desc, &state)?;
        let end_group = if packet.is_set(walk::INDIRECT) {
            self.state.registers.dispatch_dimensions()
        } else {
            [walk::END_X, walk::END_Y, walk::END_Z].map(|field| packet.get32(field))
        };
        let first_z = if packet.has(walk::FIRST_Z) { walk::FIRST_Z } else { walk::FIRST_Z_GEN7 };
        let (cross_thread, per_thread, per_thread_size) =
            self.constants(packet, desc, threads.iter().product::<u32>() as usize)?;
        let launch = Launch {
            kernel: self.kernel(desc)?,
            simd_width,
            threads,
            first_group: [walk::FIRST_X, walk::FIRST_Y, first_z].map(|field| packet.get32(field)),
            end_group,
            right_mask: packet.get32(walk::RIGHT_MASK),
            bottom_mask: packet.get32(walk::BOTTOM_MASK),
            cross_thread,
            per_thread,
            per_thread_size,
            indirect_data: packet.get(walk::DATA_LENGTH) > 0,
            slm_size: self.slm(desc)?,
            barrier: desc.is_set(descriptor::BARRIER),
            scratch: self.scratch(&state)?,
            bases: self.state.bases,
            binding_table: desc.address(descriptor::BINDING_TABLE) as u32,
            samplers: desc.address(descriptor::SAMPLERS) as u32,
            used: used(desc),
            alternate_float: desc.is_set(descriptor::FLOAT_MODE),
            rounding: match desc.get(descriptor::ROUNDING) {
                0 => Rounding::NearestEven,
                1 => Rounding::Up,
                2 => Rounding::Down,
                _ => Rounding::Zero,
            },
            single_program_flow: desc.is_set(descriptor::SINGLE_PROGRAM_FLOW),
            mark: self.mark,
        };
        for thread in 0..launch.threads_per_group() {
            self.rule(launch.dispatch_mask(thread) != 0, || {
                format!("GPGPU_WALKER: the execution masks leave no lane of thread {thread}")
            })?;
        }
        Ok(launch)
    }

    /// Checks the number of threads of a work-group, which walker and descriptor both contain and the
    /// hardware limits, and the other fields of the descriptor.
    fn check_threads(&self, threads: [u32; 3], desc: Packet<'_>, state: &Vfe) -> Result<(), Fault> {
        let count: u32 = threads.iter().product();
        let expected = desc.get32(descriptor::THREADS);
        if expected != count {
            return Err(Fault::illegal(format!(
                "GPGPU_WALKER dispatches {count} threads per work-group, the interface descriptor has {expected}"
            )));
        }
        let subslice = self.gpu.device.subslice_threads();
        if count > subslice {
            return Err(Fault::illegal(format!(
                "GPGPU_WALKER: {count} threads per work-group, a subslice has {subslice}"
            )));
        }
        if count > state.max_threads {
            return Err(Fault::illegal(format!(
                "GPGPU_WALKER: {count} threads per work-group, MEDIA_VFE_STATE allows {}",
                state.max_threads
            )));
        }
        for (field, name) in [
            (descriptor::SOFTWARE_EXCEPTION, "software exceptions"),
            (descriptor::MASK_STACK_EXCEPTION, "mask stack exceptions"),
            (descriptor::ILLEGAL_OPCODE_EXCEPTION, "illegal opcode exceptions"),
            (descriptor::GLOBAL_BARRIER, "the global barrier"),
        ] {
            if desc.is_set(field) {
                return Err(Fault::unsupported(name));
            }
        }
        // Reserved bits must be 0, as in commands (Volume 2d).
        if !self.gpu.settings.strict {
            return Ok(());
        }
        let defined = &DESCRIPTOR_BITS[desc.generation.column()];
        for (index, (dword, mask)) in desc.dwords.iter().zip(defined).enumerate() {
            self.rule(dword & !mask == 0, || {
                format!("interface descriptor: reserved bits of dword {index} are set (0x{dword:08x})")
            })?;
        }
        Ok(())
    }

    /// The GPU address of the kernel, which must lie in a buffer.
    fn kernel(&self, desc: Packet<'_>) -> Result<u64, Fault> {
        let offset = desc.address(descriptor::KERNEL);
        self.rule(self.state.is_instruction(desc.generation, offset + 1), || {
            format!("Kernel Start Pointer 0x{offset:x} is beyond the limit of instructions")
        })?;
        let address = canonical(self.state.bases.instruction.wrapping_add(offset));
        self.memory.check(address, 8, Access::Fetch)?;
        Ok(address)
    }

    /// Cross-thread constants, per-thread constants of all threads, and the number of bytes of the latter for
    /// one thread.
    ///
    /// They are the walker's indirect data if it has any, else the CURBE, in the same layout (Volume 7,
    /// "GPGPU Thread Payload": cross-thread data first, then that of each thread).
    fn constants(
        &mut self,
        packet: Packet<'_>,
        desc: Packet<'_>,
        threads: usize,
    ) -> Result<(Vec<u8>, Vec<u8>, usize), Fault> {
        let cross = desc.get(descriptor::CROSS_THREAD_LENGTH) as usize * GRF_SIZE;
        let each = desc.get(descriptor::CONSTANT_LENGTH) as usize * GRF_SIZE;
        let first = desc.get(descriptor::CONSTANT_OFFSET) as usize * GRF_SIZE;
        if GRF_SIZE + cross + each > REGISTERS * GRF_SIZE {
            return Err(Fault::illegal(format!(
                "{cross} bytes of cross-thread and {each} bytes of per-thread constants exceed the registers"
            )));
        }
        // Volume 2d, INTERFACE_DESCRIPTOR_DATA: 0 to 63; Ivy Bridge, Volume 2 Part 2, the same.
        self.rule(each <= 63 * GRF_SIZE, || {
            format!("INTERFACE_DESCRIPTOR_DATA: Constant URB Entry Read Length is {}", each / GRF_SIZE)
        })?;
        let length = packet.get(walk::DATA_LENGTH);
        let mut indirect = Vec::new();
        let data = if length > 0 {
            let address = self.state.bases.indirect.wrapping_add(packet.address(walk::DATA_ADDRESS));
            self.read_state(address, length, &mut indirect)?;
            &indirect
        } else {
            &self.state.curbe
        };
        let end = first + cross + each * threads;
        if data.len() < end {
            return Err(Fault::illegal(format!(
                "the interface descriptor reads {end} bytes of constants, {} were loaded",
                data.len()
            )));
        }
        let per_thread = first + cross;
        Ok((data[first..per_thread].to_vec(), data[per_thread..end].to_vec(), each))
    }

    /// Bytes of shared local memory.
    fn slm(&self, desc: Packet<'_>) -> Result<u32, Fault> {
        let code = desc.get32(descriptor::SLM_SIZE);
        let Some(size) =
            traits::of(desc.generation).slm_size(code).filter(|size| *size <= self.gpu.device.slm_size)
        else {
            return Err(Fault::illegal(format!(
                "Shared Local Memory Size {code} is more than the device has"
            )));
        };
        // Shared local memory is a part of the L3 cache, which has to be enabled (Volume 2c, L3CNTLREG).
        self.rule(size == 0 || self.state.registers.slm_enabled(desc.generation), || {
            let register = traits::of(desc.generation).slm_enable;
            format!("shared local memory is used while SLM Enable of L3CNTLREG (0x{register:x}) is 0")
        })?;
        Ok(size)
    }

    /// Scratch memory; the smallest size without a base means none.
    fn scratch(&self, state: &Vfe) -> Result<Option<Scratch>, Fault> {
        let smallest = traits::of(self.gpu.device.generation).scratch_size(0);
        if state.scratch_base == 0 && state.scratch_per_thread == smallest {
            return Ok(None);
        }
        let device = self.gpu.device;
        let thread_numbers = match device.scratch_ids {
            0 => state.max_threads,
            ids => device.slices * device.subslices * ids,
        };
        let size = u64::from(thread_numbers) * u64::from(state.scratch_per_thread);
        self.rule(state.scratch_base + size <= 1 << 32, || {
            format!(
                "scratch space at 0x{:x} is beyond the 32 bits of the thread's pointer",
                state.scratch_base
            )
        })?;
        let address = canonical(self.state.bases.general.wrapping_add(state.scratch_base));
        // Every hardware thread has its part, whether it will run or not. The memory may be missing as a
        // whole: Intel's driver keeps the state of an earlier launch, without its memory, for a kernel that
        // uses no scratch.
        if self.memory.check(address, 1, Access::Write).is_ok() {
            self.memory.check(address, size, Access::Write)?;
        }
        Ok(Some(Scratch {
            base: state.scratch_base,
            per_thread: state.scratch_per_thread,
            code: state.scratch_code,
            slots: state.max_threads,
        }))
    }
}
