//! Tests with numbers that were computed by hand from the tables of `cycles.rs`. The end of thread of every
//! script is a `mov(8)` of 2 clocks, and a `send` of 2 clocks that waits 8 clocks for its result: 12
//! together.

use super::Profile;
use crate::cycles::MessageClass;
use crate::tests::script::Script;

const END: u64 = 12;

fn profile(text: &str) -> Profile {
    Script::block(text).profile()
}

/// Clocks of the first instruction of a script and of the whole thread.
fn first(text: &str) -> (u64, u64) {
    let profile = profile(text);
    (profile.counters[0].issue, profile.longest)
}

#[test]
fn issue_by_type_and_width() {
    for (text, clocks) in [
        ("add(16) g10<1>F g20<8,8,1>F g22<8,8,1>F { align1 1H };", 4),
        ("add(8) g10<1>F g20<8,8,1>F g22<8,8,1>F { align1 1Q };", 2),
        ("add(1) g10<1>F g20<0,1,0>F g22<0,1,0>F { align1 1N };", 2),
        ("add(16) g10<1>D g20<8,8,1>D g22<8,8,1>D { align1 1H };", 4),
        ("add(16) g10<1>HF g20<16,16,1>HF g22<16,16,1>HF { align1 1H };", 2),
        ("add(4) g10<1>DF g20<4,4,1>DF g22<4,4,1>DF { align1 1N };", 2),
        ("add(8) g10<1>DF g20<4,4,1>DF g22<4,4,1>DF { align1 1Q };", 4),
        ("add(8) g10<1>UQ g20<4,4,1>UQ g22<4,4,1>UQ { align1 1Q };", 8),
        ("mul(8) g10<1>D g20<8,8,1>D g22<8,8,1>D { align1 1Q };", 4),
        ("mul(8) g10<1>D g20<8,8,1>D g22<16,8,2>W { align1 1Q };", 2),
        ("math inv(8) g10<1>F g20<8,8,1>F null<8,8,1>F { align1 1Q };", 4),
        ("math inv(16) g10<1>F g20<8,8,1>F null<8,8,1>F { align1 1H };", 8),
        ("math pow(8) g10<1>F g20<8,8,1>F g22<8,8,1>F { align1 1Q };", 8),
        ("math intdiv(8) g10<1>UD g20<8,8,1>UD g22<8,8,1>UD { align1 1Q };", 26),
        ("cbit(8) g10<1>UD g20<8,8,1>UD { align1 1Q };", 4),
    ] {
        let set = "; set g20 UD: 0x3f800000*16\n; set g22 UD: 0x3f800000*16\n";
        assert_eq!(first(&format!("{set}{text}")), (clocks, clocks + END), "{text}");
    }
}

#[test]
fn a_result_is_waited_for() {
    let pair = |first: &str| {
        format!("; set g20 F: 1*16\n{first}\nadd(8) g12<1>F g10<8,8,1>F g10<8,8,1>F {{ align1 1Q }};")
    };
    let single = profile(&pair("mov(8) g10<1>F g20<8,8,1>F { align1 1Q };"));
    assert_eq!((single.counters[0].awaited, single.counters[1].wait), (8, 8));
    assert_eq!(single.details[1].waits, [(0, 8)]);
    assert_eq!(single.longest, 2 + 8 + 2 + END);
    let math = profile(&pair("math inv(8) g10<1>F g20<8,8,1>F null<8,8,1>F { align1 1Q };"));
    assert_eq!((math.longest, math.second_pipe), (4 + 16 + 2 + END, 4));
    let independent =
        profile(&pair("mov(8) g14<1>F g20<8,8,1>F { align1 1Q };\nmov(8) g10<1>F 1F { align1 1Q };"));
    assert_eq!(independent.counters[2].wait, 8, "the last of both");
    let flag = profile(
        "; set g20 F: 1*16\ncmp.g.f0.0(8) null<1>F g20<8,8,1>F 0F { align1 1Q };\n\
         (+f0.0) mov(8) g12<1>F g20<8,8,1>F { align1 1Q };",
    );
    assert_eq!(flag.counters[1].wait, 12);
}

/// A dword from shared local memory for each of 16 lanes, `stride` bytes apart, and a use of it.
fn local(stride: u32, write: bool) -> Profile {
    let addresses =
        |from: u32| (from..from + 8).map(|lane| format!(" {}", lane * stride)).collect::<String>();
    let set = format!("; local 4096\n; set g20 UD:{}\n; set g21 UD:{}\n", addresses(0), addresses(8));
    profile(&if write {
        format!(
            "{set}; set g22 UD: 0*16\nsends(16) null<1>UD g20UD g22UD 0x04025efe 0x0000008c dp data 1 MsgDesc: mlen 2 rlen 0 {{ align1 1H }};"
        )
    } else {
        format!(
            "{set}send(16) g30<1>UD g20<8,8,1>UD 0x04205efe dp data 1 MsgDesc: mlen 2 rlen 2 {{ align1 1H }};\n\
             mov(16) g40<1>UD g30<8,8,1>UD {{ align1 1H }};"
        )
    })
}

#[test]
fn bank_conflicts_of_shared_local_memory() {
    for (stride, ways) in [(0, 1), (4, 1), (8, 2), (16, 4), (32, 8), (64, 16), (68, 1)] {
        let read = local(stride, false);
        assert_eq!((read.port, read.distinct_lines()), (ways, 0), "every {stride} bytes");
        assert_eq!(read.messages[MessageClass::Slm as usize], 1);
        assert_eq!(read.counters[0].conflicts, ways - 1);
        assert_eq!(read.details[0].class, Some(MessageClass::Slm));
        // 2 clocks for the send, then the accesses of the banks and the latency.
        assert_eq!(read.longest, 2 + (ways - 1) + 100 + 4 + END);
    }
    assert_eq!(local(0, true).port, 16, "writes to one dword");
}

/// A dword from memory for each of 8 lanes, `stride` bytes apart.
fn lines(stride: u64) -> Profile {
    let addresses =
        |from: u64| (from..from + 4).map(|lane| format!(" {}", 0x10000 + lane * stride)).collect::<String>();
    profile(&format!(
        "; simd 8\n; set g20 UQ:{}\n; set g21 UQ:{}\n\
         send(8) g30<1>UD g20<8,8,1>UD 0x04146eff dp data 1 MsgDesc: mlen 2 rlen 1 {{ align1 1Q }};\n\
         mov(8) g40<1>UD g30<8,8,1>UD {{ align1 1Q }};\n\
         send(8) g31<1>UD g20<8,8,1>UD 0x04146eff dp data 1 MsgDesc: mlen 2 rlen 1 {{ align1 1Q }};\n\
         mov(8) g41<1>UD g31<8,8,1>UD {{ align1 1Q }};",
        addresses(0),
        addresses(4)
    ))
}

#[test]
fn cache_lines_of_strided_accesses() {
    for (stride, count) in [(0, 1), (4, 1), (8, 1), (16, 2), (32, 4), (64, 8), (256, 8)] {
        let profile = lines(stride);
        assert_eq!(profile.counters[0].lines, count, "every {stride} bytes");
        assert_eq!((profile.port, profile.distinct_lines()), (2 * count, count));
        assert_eq!((profile.counters[0].misses, profile.counters[2].misses), (count, 0));
        // The first access misses the L3 cache, the second does not.
        assert_eq!(profile.counters[0].awaited, 400 + count - 1);
        assert_eq!(profile.counters[2].awaited, 146 + count - 1);
    }
}

#[test]
fn lanes_are_counted() {
    let profile =
        profile("; mask 0x00ff\nmov(16) g10<1>D 1D { align1 1H };\nmov(8) g12<1>D 1D { align1 WE_all 1Q };");
    let lanes: Vec<u64> = profile.counters.iter().map(|c| c.lanes).collect();
    assert_eq!(lanes, [8, 8, 8, 8]);
    assert_eq!((profile.groups, profile.threads, profile.total().executions), (1, 1, 4));
}

/// Thread 0 executes another division before it arrives at the barrier.
#[test]
fn a_barrier_opens_when_the_last_thread_arrives() {
    let profile = profile(
        "; threads 2
cmp.nz.f0.0(1) null<1>UW g1<0,1,0>UW 0UW { align1 WE_all 1N };
(+f0.0) jmpi(1) JIP: LATE { align1 WE_all 1N };
math inv(8) g12<1>F g0<8,8,1>F null<8,8,1>F { align1 WE_all 1Q };
mov(8) g14<1>F g12<8,8,1>F { align1 WE_all 1Q };
LATE:
mov(8) g20<1>UD 0UD { align1 WE_all 1Q };
send(8) null<1>UD g20<8,8,1>UD 0x02000004 gateway MsgDesc: mlen 1 rlen 0 { align1 WE_all 1Q };
wait(1) n0<1>UD { align1 WE_all 1N };",
    );
    assert_eq!(profile.messages[MessageClass::Barrier as usize], 2);
    let wait = profile.counters[6];
    assert_eq!(wait.executions, 2, "tries do not count");
    // Compare 2, flag 12, jump 8, mov 2, result 8, send 2. Before it: math 4, result 16, mov 2.
    let (early, late) = (34, 34 + 22);
    assert_eq!(wait.wait, (late + 30 - late) + (late + 30 - early));
    assert_eq!(profile.details[6].waits, [(5, wait.wait)], "for the barrier message");
    assert_eq!(profile.longest, late + 30 + 1 + END);
}

/// A loop, in which an instruction waits for one before it and for one after it.
#[test]
fn waits_are_the_sums_of_their_producers() {
    let profile = profile(
        "mov(8) g10<1>F 1F { align1 1Q };
mov(1) g1<1>UD 3UD { align1 WE_all 1N };
LOOP:
add(8) g12<1>F g10<8,8,1>F 1F { align1 1Q };
math inv(8) g10<1>F g12<8,8,1>F null<8,8,1>F { align1 1Q };
add.nz.f0.0(1) g1<1>D g1<0,1,0>D -1D { align1 WE_all 1N };
(+f0.0) jmpi(1) JIP: LOOP { align1 WE_all 1N };",
    );
    // The first time for the `mov`, which has had the 2 clocks of the other one; then for the `math`, with 16 clocks
    // of latency, of which 2 + 12 + 8 have passed.
    assert_eq!(profile.details[2].waits, [(0, 6)]);
    for (counter, details) in profile.counters.iter().zip(&profile.details) {
        assert_eq!(counter.wait, details.waits.iter().map(|(_, clocks)| clocks).sum::<u64>());
    }
    assert_eq!(profile.total().wait, profile.total().awaited);
}

#[test]
fn profiles_are_reproducible() {
    assert_eq!(lines(64), lines(64));
}
