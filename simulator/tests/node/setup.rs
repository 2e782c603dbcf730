//! Shared by the tests: buffers that are mapped and placed, batches, kernels.

use std::time::Duration;

use gencl_i915::{
    ContextId, Engine, ExecBuffer, ExecFlags, ExecObject, GemHandle, HostMemory, ObjectFlags, RenderNode,
    Result,
};
use gencl_isa::{Generation, encode, parse_program};
use gencl_simulator::{Settings, Simulator};

pub const CONTEXT: ContextId = ContextId(0);

pub fn simulator() -> Simulator {
    Simulator::with_settings("skl", Settings { workers: 2, ..Settings::default() }).unwrap()
}

/// A simulator with a hang limit of 200 ms.
pub fn with_short_hang_limit() -> Simulator {
    let settings = Settings { workers: 2, hang_limit: Duration::from_millis(200), ..Settings::default() };
    Simulator::with_settings("skl", settings).unwrap()
}

/// A mapped buffer with a fixed GPU address.
pub struct Buffer {
    pub handle: GemHandle,
    pub address: u64,
    map: HostMemory,
}

impl Buffer {
    pub fn new(node: &Simulator, address: u64, size: u64) -> Buffer {
        let handle = node.gem_create(size).unwrap();
        Buffer { handle, address, map: node.gem_map(handle).unwrap() }
    }

    pub fn write(&self, offset: usize, dwords: &[u32]) {
        let bytes: Vec<u8> = dwords.iter().flat_map(|d| d.to_le_bytes()).collect();
        self.write_bytes(offset, &bytes);
    }

    pub fn write_bytes(&self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.map.len());
        // SAFETY: within the mapping, and no batch runs while a test writes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.map.address().add(offset), bytes.len()) };
    }

    pub fn read(&self, offset: usize, dwords: usize) -> Vec<u32> {
        assert!(offset + 4 * dwords <= self.map.len());
        let read = |index: usize| {
            // SAFETY: within the mapping, and aligned to bytes as `read_unaligned` wants.
            unsafe { self.map.address().add(offset + 4 * index).cast::<u32>().read_unaligned() }
        };
        (0..dwords).map(read).collect()
    }

    /// As an object of a batch, at its address.
    pub fn object(&self) -> ExecObject {
        ExecObject {
            handle: self.handle,
            offset: self.address,
            alignment: 0,
            flags: ObjectFlags::PINNED | ObjectFlags::SUPPORTS_48B_ADDRESS,
            pad_to_size: 0,
            relocations: Vec::new(),
        }
    }
}

/// An object without a fixed address.
pub fn unplaced(handle: GemHandle) -> ExecObject {
    ExecObject {
        handle,
        offset: 0,
        alignment: 0,
        flags: ObjectFlags::empty(),
        pad_to_size: 0,
        relocations: Vec::new(),
    }
}

/// Queues a batch; the last object is the batch buffer.
pub fn exec(node: &Simulator, context: ContextId, objects: &mut [ExecObject]) -> Result<()> {
    node.exec_buffer(&mut ExecBuffer {
        context,
        engine: Engine::Render,
        flags: ExecFlags::empty(),
        objects,
        batch_start: 0,
        batch_length: 0,
        awaited: false,
    })
}

/// A machine with a batch, a heap for state and kernels, and data.
pub struct Machine {
    pub node: Simulator,
    pub batch: Buffer,
    pub heap: Buffer,
    pub data: Buffer,
}

pub const HEAP: u64 = 0x100_0000;
pub const DATA: u64 = 0x7000_2000_0000;
pub const KERNEL: usize = 0x4000;
const CURBE: usize = 0x1000;

/// MI_BATCH_BUFFER_END
pub const END: u32 = 0x0500_0000;

/// A launch of work-groups in one dimension.
pub struct Launch<'a> {
    pub kernel: &'a str,
    /// Lanes: 8 or 16.
    pub simd: u32,
    pub threads: u32,
    pub groups: u32,
    pub slm_code: u32,
    /// Cross-thread constants, one register.
    pub cross_thread: [u32; 8],
    /// The lanes of the last thread.
    pub right_mask: u32,
}

impl Default for Launch<'_> {
    fn default() -> Self {
        let cross_thread = [DATA as u32, (DATA >> 32) as u32, 0, 0, 0, 0, 0, 0];
        Launch { kernel: "", simd: 8, threads: 1, groups: 1, slm_code: 0, cross_thread, right_mask: u32::MAX }
    }
}

impl Machine {
    pub fn new(node: Simulator) -> Machine {
        let batch = Buffer::new(&node, 0x20_0000, 0x4000);
        let heap = Buffer::new(&node, HEAP, 0x10_0000);
        let data = Buffer::new(&node, DATA, 0x40_0000);
        Machine { node, batch, heap, data }
    }

    pub fn objects(&self) -> Vec<ExecObject> {
        vec![self.heap.object(), self.data.object(), self.batch.object()]
    }

    /// The error state of context 0.
    pub fn error(&self) -> Option<String> {
        self.node.error_state(CONTEXT).map(|state| state.text)
    }

    /// Writes a batch, runs it in context 0 and waits for it.
    pub fn run(&self, commands: &[&[u32]]) -> Result<()> {
        self.start(CONTEXT, commands)?;
        self.node.gem_wait(self.batch.handle, -1)
    }

    pub fn start(&self, context: ContextId, commands: &[&[u32]]) -> Result<()> {
        let mut dwords = commands.concat();
        dwords.push(END);
        self.batch.write(0, &dwords);
        exec(&self.node, context, &mut self.objects())
    }

    /// The commands of a launch; its kernel and constants are written to the heap. Each thread has its lanes'
    /// local ids x in `g2` after one register of cross-thread constants.
    pub fn launch(&self, launch: &Launch<'_>) -> Vec<u32> {
        self.heap.write_bytes(KERNEL, &assemble(launch.kernel));
        let barrier = u32::from(launch.kernel.contains("gateway")) << 21;
        self.heap.write(
            0,
            &[KERNEL as u32, 0, 0, 0, 0, 1 << 16, barrier | launch.slm_code << 16 | launch.threads, 1],
        );
        self.heap.write(CURBE, &launch.cross_thread);
        for thread in 0..launch.threads {
            let ids: Vec<u8> =
                (0..16).flat_map(|lane| ((thread * launch.simd + lane) as u16).to_le_bytes()).collect();
            self.heap.write_bytes(CURBE + 32 * (1 + thread as usize), &ids);
        }
        let curbe = 32 * (1 + launch.threads);
        let (low, high) = (HEAP as u32 | 1, (HEAP >> 32) as u32);
        [
            &[0x6904_0302][..],
            &[0x6101_0011, 1, 0, 0, 1, 0, low, high, 1, 0, low, high],
            &[0xffff_f001, 0xffff_f001, 0xffff_f001, 0xffff_f001, 1, 0, 0],
            // L3CNTLREG with shared local memory.
            &[0x1100_0001, 0x7034, 0x6000_0121],
            &[0x7000_0007, 0, 0, 167 << 16 | 2 << 8, 0, 2 << 16 | 128, 0, 0, 0],
            &[0x7001_0002, 0, curbe, CURBE as u32],
            &[0x7002_0002, 0, 32, 0],
            &[0x7105_000d, 0, 0, 0, (launch.simd / 16) << 30 | (launch.threads - 1)],
            &[0, 0, launch.groups, 0, 0, 1, 0, 1, launch.right_mask, u32::MAX],
            &[0x7004_0000, 0],
            &[0x7a00_0004, 1 << 20, 0, 0, 0, 0],
        ]
        .concat()
    }

    /// Runs a launch.
    pub fn run_kernel(&self, launch: &Launch<'_>) -> Result<()> {
        let commands = self.launch(launch);
        self.run(&[&commands])
    }
}

/// Machine code of a kernel, end of thread added.
pub fn assemble(text: &str) -> Vec<u8> {
    let end = "mov(8) g127<1>UD g0<8,8,1>UD { align1 WE_all 1Q };
        send(8) null<1>UW g127<8,8,1>UW 0x82000010
            thread_spawner MsgDesc: mlen 1 rlen 0 { align1 WE_all 1Q EOT };";
    let program = parse_program(Generation::Gen9, &format!("{text}\n{end}")).unwrap();
    program.iter().flat_map(|i| encode(Generation::Gen9, i).unwrap()).collect()
}
