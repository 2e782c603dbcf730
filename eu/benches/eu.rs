//! Speed of the interpreter in lane-instructions per second on one core of the host: hand-written
//! kernels that do one thing each. `cargo bench -p gencl-simulator`.

use std::sync::LazyLock;
use std::time::Instant;

use gencl_eu::device::Device;
use gencl_eu::dispatch::{Bases, CancelFlag, GroupStatistics, Launch, Rounding, Used};
use gencl_eu::memory::{AddressSpace, Object};
use gencl_eu::{Kernel, Worker, run_group};
use gencl_isa::{Generation, parse_program};

const END: &str = "
    mov(8) g127<1>UD g0<8,8,1>UD { align1 WE_all 1Q };
    send(8) null<1>UW g127<8,8,1>UW 0x82000010 thread_spawner MsgDesc: mlen 1 rlen 0 { align1 WE_all 1Q EOT };";

/// Keeps denormals, as IEEE 754 wants it.
const DENORMALS: &str = "or(1) cr0<1>UD cr0<0,1,0>UD 0x4c0UD { align1 WE_all 1N };\n";

/// The inner loop of a Mandelbrot set: all lanes stay inside.
const MANDELBROT: &str = "
    mov(16) g10<1>F 0x00000000F { align1 1H };
    mov(16) g12<1>F 0x00000000F { align1 1H };
    mov(16) g14<1>F 0x3dcccccdF { align1 1H };
    mov(16) g16<1>F 0x3e4ccccdF { align1 1H };
    mov(16) g24<1>D 0D { align1 1H };
    LOOP:
    mul(16) g18<1>F g10<8,8,1>F g10<8,8,1>F { align1 1H };
    mul(16) g20<1>F g12<8,8,1>F g12<8,8,1>F { align1 1H };
    mul(16) g22<1>F g10<8,8,1>F g12<8,8,1>F { align1 1H };
    add(16) g26<1>F g18<8,8,1>F -g20<8,8,1>F { align1 1H };
    add(16) g10<1>F g26<8,8,1>F g14<8,8,1>F { align1 1H };
    add(16) g12<1>F g22<8,8,1>F g22<8,8,1>F { align1 1H };
    add(16) g12<1>F g12<8,8,1>F g16<8,8,1>F { align1 1H };
    add(16) g28<1>F g18<8,8,1>F g20<8,8,1>F { align1 1H };
    cmp.g.f0.0(16) null<1>F g28<8,8,1>F 0x40800000F { align1 1H };
    (+f0.0) break(16) JIP: END UIP: END { align1 1H };
    add(16) g24<1>D g24<8,8,1>D 1D { align1 1H };
    cmp.l.f0.0(16) null<1>D g24<8,8,1>D 20000D { align1 1H };
    (+f0.0) while(16) JIP: LOOP { align1 1H };
    END:
    nop;";

/// Multiply-adds.
const MAD: &str = "
    mov(16) g10<1>F 0x3f000000F { align1 1H };
    mov(16) g12<1>F 0x3e800000F { align1 1H };
    mov(16) g24<1>D 0D { align1 1H };
    LOOP:
    mad(16) g10<1>F g12<4,4,1>F g10<4,4,1>F g12<4,4,1>F { align16 1H };
    mad(16) g10<1>F g12<4,4,1>F g10<4,4,1>F g12<4,4,1>F { align16 1H };
    mad(16) g10<1>F g12<4,4,1>F g10<4,4,1>F g12<4,4,1>F { align16 1H };
    mad(16) g10<1>F g12<4,4,1>F g10<4,4,1>F g12<4,4,1>F { align16 1H };
    add(16) g24<1>D g24<8,8,1>D 1D { align1 1H };
    cmp.l.f0.0(16) null<1>D g24<8,8,1>D 20000D { align1 1H };
    (+f0.0) while(16) JIP: LOOP { align1 1H };";

/// Integer rounds as of a hash function.
const INTEGER: &str = "
    mov(16) g10<1>UD 0x12345UD { align1 1H };
    mov(16) g24<1>D 0D { align1 1H };
    LOOP:
    shl(16) g12<1>UD g10<8,8,1>UD 7UD { align1 1H };
    shr(16) g14<1>UD g10<8,8,1>UD 25UD { align1 1H };
    or(16) g12<1>UD g12<8,8,1>UD g14<8,8,1>UD { align1 1H };
    xor(16) g10<1>UD g10<8,8,1>UD g12<8,8,1>UD { align1 1H };
    add(16) g10<1>UD g10<8,8,1>UD 0x9e3779b9UD { align1 1H };
    and(16) g14<1>UD g10<8,8,1>UD 0xff00ff00UD { align1 1H };
    add(16) g10<1>UD g10<8,8,1>UD g14<8,8,1>UD { align1 1H };
    add(16) g24<1>D g24<8,8,1>D 1D { align1 1H };
    cmp.l.f0.0(16) null<1>D g24<8,8,1>D 20000D { align1 1H };
    (+f0.0) while(16) JIP: LOOP { align1 1H };";

/// Words widened to floats and back.
const CONVERT: &str = "
    mov(16) g24<1>D 0D { align1 1H };
    LOOP:
    mov(16) g10<1>F g1<8,8,1>UW { align1 1H };
    mov(16) g12<1>D g10<8,8,1>F { align1 1H };
    mov(16) g14<2>UW g12<8,8,1>UD { align1 1H };
    mov(8) g16<1>UQ g12<8,8,1>UD { align1 1Q };
    add(8) g18<1>UQ g16<4,4,1>UQ g16<4,4,1>UQ { align1 1Q };
    add(16) g24<1>D g24<8,8,1>D 1D { align1 1H };
    cmp.l.f0.0(16) null<1>D g24<8,8,1>D 20000D { align1 1H };
    (+f0.0) while(16) JIP: LOOP { align1 1H };";

/// Dwords loaded and stored through 64-bit addresses, consecutive with a shift of 2.
const MEMORY: &str = "
    mov(16) g24<1>D 0D { align1 1H };
    mov(8) g30<1>UQ g1<8,8,1>UW { align1 1Q };
    mov(8) g32<1>UQ g1.8<8,8,1>UW { align1 1Q };
    shl(8) g30<1>UQ g30<4,4,1>UQ 2UD { align1 1Q };
    shl(8) g32<1>UQ g32<4,4,1>UQ 2UD { align1 1Q };
    add(8) g30<1>UQ g30<4,4,1>UQ 0x10000UD { align1 1Q };
    add(8) g32<1>UQ g32<4,4,1>UQ 0x10000UD { align1 1Q };
    LOOP:
    send(16) g34<1>UD g30<8,8,1>UD 0x08245eff dp data 1 MsgDesc: mlen 4 rlen 2 { align1 1H };
    add(16) g34<1>D g34<8,8,1>D 1D { align1 1H };
    sends(16) null<1>UD g30UD g34UD 0x08065eff 0x0000008c dp data 1 MsgDesc: mlen 4 rlen 0 { align1 1H };
    add(16) g24<1>D g24<8,8,1>D 1D { align1 1H };
    cmp.l.f0.0(16) null<1>D g24<8,8,1>D 20000D { align1 1H };
    (+f0.0) while(16) JIP: LOOP { align1 1H };";

/// Rounding down, which takes the general path for floats.
const GENERAL: &str = "
    or(1) cr0<1>UD cr0<0,1,0>UD 0x20UD { align1 WE_all 1N };
    mov(16) g10<1>F 0x3f000000F { align1 1H };
    mov(16) g24<1>D 0D { align1 1H };
    LOOP:
    add(16) g12<1>F g10<8,8,1>F g10<8,8,1>F { align1 1H };
    mul(16) g12<1>F g10<8,8,1>F g10<8,8,1>F { align1 1H };
    add(16) g24<1>D g24<8,8,1>D 1D { align1 1H };
    cmp.l.f0.0(16) null<1>D g24<8,8,1>D 2000D { align1 1H };
    (+f0.0) while(16) JIP: LOOP { align1 1H };";

/// Seconds that this thread has been running on a processor; wall-clock time where the system does not tell.
fn processor_time() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = statistics.split_whitespace().next().and_then(|text| text.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |ns| ns / 1e9)
}

fn launch() -> Launch {
    let ids: Vec<u8> = (0..16u16).flat_map(u16::to_le_bytes).collect();
    Launch {
        kernel: 0,
        simd_width: 16,
        threads: [1, 1, 1],
        first_group: [0; 3],
        end_group: [1, 1, 1],
        right_mask: u32::MAX,
        bottom_mask: u32::MAX,
        cross_thread: Vec::new(),
        per_thread: ids,
        per_thread_size: 32,
        indirect_data: false,
        slm_size: 0,
        barrier: false,
        scratch: None,
        bases: Bases::default(),
        binding_table: 0,
        samplers: 0,
        used: Used::default(),
        alternate_float: false,
        rounding: Rounding::NearestEven,
        single_program_flow: false,
    }
}

fn main() {
    let device = Device::named("skl").expect("the device is in the table");
    let object = Object::create(0x10000).expect("memory for a buffer");
    let memory = AddressSpace::new([(0x10000, object)]).expect("one buffer");
    let apart = MEMORY.replace(" 2UD", " 3UD");
    let kernels = [
        ("mandelbrot", MANDELBROT),
        ("mad", MAD),
        ("integer", INTEGER),
        ("convert", CONVERT),
        ("memory", MEMORY),
        ("apart", &apart),
        ("general path", GENERAL),
    ];
    for (name, body) in kernels {
        let code = parse_program(Generation::Gen9, &format!("{DENORMALS}{body}{END}"))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let kernel = Kernel::assemble(device, &code, true).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        let mut worker = Worker::new(device, 0);
        let (launch, cancel) = (launch(), CancelFlag::default());
        let mut total = GroupStatistics::default();
        let start = processor_time();
        while processor_time() - start < 0.5 {
            total += run_group(&kernel, &launch, [0; 3], &memory, &mut worker, &cancel)
                .unwrap_or_else(|fault| panic!("{name}: {fault}"));
        }
        let seconds = processor_time() - start;
        println!(
            "{name:<14} {:>8.0} million lane-instructions/s {:>7.1} ns/instruction",
            total.lane_instructions as f64 / seconds / 1e6,
            seconds * 1e9 / total.instructions as f64
        );
    }
}
