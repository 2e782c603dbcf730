//! Divergent control flow, compared with the same program for one lane at a time.

use super::script::Script;

/// Runs a program on lanes with the inputs `0..16` in `g20` (D), and compares `g10` (D) with `expected` of
/// each.
fn check(name: &str, code: &str, expected: impl Fn(i32) -> i32) {
    for mask in [0xffffu32, 0x0001, 0x5a5a, 0x00ff, 0x8000] {
        let inputs: Vec<String> = (0..16).map(|n| n.to_string()).collect();
        let outputs: Vec<String> = (0..16)
            .map(|n| if mask >> n & 1 != 0 { expected(n).to_string() } else { "-1".to_owned() })
            .collect();
        let text = format!(
            "; mask {mask}\n; set g20 D: {}\n; set g10 D: -1*16\n{code}\n; is g10 D: {}",
            inputs.join(" "),
            outputs.join(" ")
        );
        if let Err(error) = Script::block(&text).run() {
            panic!("{name}, mask {mask:#x}: {error}");
        }
    }
}

#[test]
fn if_else() {
    let code = "
        cmp.l.f0.0(16) null<1>D g20<8,8,1>D 5D { align1 1H };
        (+f0.0) if(16) JIP: ELSE UIP: ENDIF { align1 1H };
        add(16) g10<1>D g20<8,8,1>D 100D { align1 1H };
        else(16) JIP: ENDIF UIP: ENDIF { align1 1H };
        ELSE:
        add(16) g10<1>D g20<8,8,1>D 200D { align1 1H };
        ENDIF:
        endif(16) JIP: NEXT { align1 1H };
        NEXT:
        add(16) g10<1>D g10<8,8,1>D 1D { align1 1H };";
    check("if else", code, |n| if n < 5 { n + 101 } else { n + 201 });
}

/// As Mesa writes it: a thread without channels for the else side goes on before the endif, where the channels wait.
#[test]
fn else_with_branch_control() {
    let code = "
        mov(16) g10<1>D 0D { align1 1H };
        LOOP:
        cmp.l.f0.0(16) null<1>D g20<8,8,1>D 5D { align1 1H };
        (+f0.0) if(16) JIP: ELSE UIP: ENDIF { align1 1H };
        add(16) g10<1>D g10<8,8,1>D 100D { align1 1H };
        else(16) JIP: JOIN UIP: ENDIF { align1 1H BranchCtrl };
        ELSE:
        break(16) JIP: ENDIF UIP: WHILE { align1 1H };
        add(16) g10<1>D g10<8,8,1>D 10000D { align1 1H };
        JOIN:
        nop;
        ENDIF:
        endif(16) JIP: WHILE { align1 1H };
        add(16) g10<1>D g10<8,8,1>D 1D { align1 1H };
        cmp.l.f0.0(16) null<1>D g10<8,8,1>D 300D { align1 1H };
        WHILE:
        (+f0.0) while(16) JIP: LOOP { align1 1H };";
    check("break from the else side", code, |n| if n < 5 { 303 } else { 0 });
    let code = "
        mov(16) g10<1>D 0D { align1 1H };
        cmp.l.f0.0(16) null<1>D g20<8,8,1>D 100D { align1 1H };
        (+f0.0) if(16) JIP: OUT UIP: OUT { align1 1H };
        cmp.l.f0.0(16) null<1>D g20<8,8,1>D 5D { align1 1H };
        (+f0.0) if(16) JIP: ELSE UIP: ENDIF { align1 1H };
        add(16) g10<1>D g20<8,8,1>D 100D { align1 1H };
        else(16) JIP: JOIN UIP: ENDIF { align1 1H BranchCtrl };
        ELSE:
        add(16) g10<1>D g20<8,8,1>D 200D { align1 1H };
        JOIN:
        nop;
        ENDIF:
        endif(16) JIP: OUT { align1 1H };
        OUT:
        endif(16) JIP: NEXT { align1 1H };
        NEXT:
        add(16) g10<1>D g10<8,8,1>D 1D { align1 1H };";
    check("else side that is skipped", code, |n| match n {
        100.. => 1,
        5.. => n + 201,
        _ => n + 101,
    });
}

#[test]
fn nested_ifs_of_which_one_is_skipped() {
    let code = "
        mov(16) g10<1>D 0D { align1 1H };
        cmp.l.f0.0(16) null<1>D g20<8,8,1>D 8D { align1 1H };
        (+f0.0) if(16) JIP: OUT UIP: OUT { align1 1H };
        cmp.g.f0.0(16) null<1>D g20<8,8,1>D 100D { align1 1H };
        (+f0.0) if(16) JIP: IN UIP: IN { align1 1H };
        mov(16) g10<1>D 77D { align1 1H };
        IN:
        endif(16) JIP: OUT { align1 1H };
        add(16) g10<1>D g10<8,8,1>D 5D { align1 1H };
        OUT:
        endif(16) JIP: NEXT { align1 1H };
        NEXT:
        add(16) g10<1>D g10<8,8,1>D 1D { align1 1H };";
    check("nested if", code, |n| if n < 8 { 6 } else { 1 });
}

/// A loop whose lanes leave in different iterations; `uip` of `break` is the `while` or the instruction after
/// it.
fn loop_with_break(uip: &str) -> String {
    format!(
        "
        mov(16) g10<1>D 0D {{ align1 1H }};
        mov(16) g12<1>D 0D {{ align1 1H }};
        LOOP:
        cmp.ge.f0.0(16) null<1>D g12<8,8,1>D g20<8,8,1>D {{ align1 1H }};
        (+f0.0) break(16) JIP: WHILE UIP: {uip} {{ align1 1H }};
        add(16) g12<1>D g12<8,8,1>D 1D {{ align1 1H }};
        and.nz.f0.0(16) null<1>D g12<8,8,1>D 1D {{ align1 1H }};
        (+f0.0) cont(16) JIP: WHILE UIP: WHILE {{ align1 1H }};
        add(16) g10<1>D g10<8,8,1>D g12<8,8,1>D {{ align1 1H }};
        WHILE:
        while(16) JIP: LOOP {{ align1 1H }};
        AFTER:
        add(16) g10<1>D g10<8,8,1>D 1000D {{ align1 1H }};"
    )
}

/// The sum of the even numbers up to `n`, and 1000.
fn even_sum(n: i32) -> i32 {
    (1..=n).filter(|k| k % 2 == 0).sum::<i32>() + 1000
}

#[test]
fn loops_with_break_and_continue() {
    check("break to the instruction behind", &loop_with_break("AFTER"), even_sum);
    check("break to the while", &loop_with_break("WHILE"), even_sum);
}

#[test]
fn loops_in_loops() {
    // for (i = 0; i < n; i++) for (j = 0; j <= i; j++) { if (j == 5) break; count++; }
    let code = "
        mov(16) g10<1>D 0D { align1 1H };
        mov(16) g12<1>D 0D { align1 1H };
        cmp.g.f0.0(16) null<1>D g20<8,8,1>D 0D { align1 1H };
        (+f0.0) if(16) JIP: END UIP: END { align1 1H };
        OUTER:
        mov(16) g14<1>D 0D { align1 1H };
        INNER:
        cmp.z.f0.0(16) null<1>D g14<8,8,1>D 5D { align1 1H };
        (+f0.0) break(16) JIP: WHILE UIP: WHILE { align1 1H };
        add(16) g10<1>D g10<8,8,1>D 1D { align1 1H };
        add(16) g14<1>D g14<8,8,1>D 1D { align1 1H };
        cmp.le.f0.0(16) null<1>D g14<8,8,1>D g12<8,8,1>D { align1 1H };
        WHILE:
        (+f0.0) while(16) JIP: INNER { align1 1H };
        add(16) g12<1>D g12<8,8,1>D 1D { align1 1H };
        cmp.l.f0.0(16) null<1>D g12<8,8,1>D g20<8,8,1>D { align1 1H };
        (+f0.0) while(16) JIP: OUTER { align1 1H };
        END:
        endif(16) JIP: NEXT { align1 1H };
        NEXT:
        nop;";
    check("loops in loops", code, |n| (0..n).map(|i| (i + 1).min(5)).sum());
}

#[test]
fn forward_gotos_meet_at_joins() {
    // A forward goto is taken by the channels whose predicate is false: n < 4 skips to A; of the rest, odd
    // ones skip to B.
    let code = "
        mov(16) g10<1>D 0D { align1 1H };
        cmp.l.f0.0(16) null<1>D g20<8,8,1>D 4D { align1 1H };
        (-f0.0) goto(16) JIP: A UIP: A { align1 1H };
        and.nz.f0.0(16) null<1>D g20<8,8,1>D 1D { align1 1H };
        (-f0.0) goto(16) JIP: A UIP: B { align1 1H };
        add(16) g10<1>D g10<8,8,1>D 1D { align1 1H };
        A:
        join(16) JIP: B { align1 1H };
        add(16) g10<1>D g10<8,8,1>D 10D { align1 1H };
        B:
        join(16) JIP: NEXT { align1 1H };
        NEXT:
        add(16) g10<1>D g10<8,8,1>D 100D { align1 1H };";
    check("goto", code, |n| match n {
        0..4 => 110,
        _ if n % 2 == 1 => 100,
        _ => 111,
    });
}

#[test]
fn forward_gotos_without_a_true_channel_take_all() {
    // As IGC writes a jump of all channels.
    let code = "
        mov(16) g10<1>D 0D { align1 1H };
        mov(1) f0<1>UW 0UW { align1 WE_all 1N };
        (+f0.0) goto(16) JIP: A UIP: A { align1 1H };
        add(16) g10<1>D g10<8,8,1>D 1D { align1 1H };
        A:
        join(16) JIP: NEXT { align1 1H };
        NEXT:
        goto(16) JIP: B UIP: B { align1 1H };
        add(16) g10<1>D g10<8,8,1>D 10D { align1 1H };
        B:
        join(16) JIP: END { align1 1H };
        END:
        nop;";
    check("goto of all, goto of none", code, |_| 10);
}

#[test]
fn backward_gotos_are_loops() {
    let code = "
        mov(16) g10<1>D 0D { align1 1H };
        LOOP:
        add(16) g10<1>D g10<8,8,1>D 1D { align1 1H };
        cmp.l.f0.0(16) null<1>D g10<8,8,1>D g20<8,8,1>D { align1 1H };
        (+f0.0) goto(16) JIP: OUT UIP: LOOP { align1 1H BranchCtrl };
        OUT:
        join(16) JIP: NEXT { align1 1H };
        NEXT:
        add(16) g10<1>D g10<8,8,1>D 100D { align1 1H };";
    check("backward goto", code, |n| n.max(1) + 100);
}

#[test]
fn halt_leaves_all_nested_blocks() {
    let code = "
        mov(16) g10<1>D 1D { align1 1H };
        cmp.l.f0.0(16) null<1>D g20<8,8,1>D 3D { align1 1H };
        (+f0.0) if(16) JIP: ENDIF UIP: ENDIF { align1 1H };
        halt(16) JIP: ENDIF UIP: RETURN { align1 1H };
        ENDIF:
        endif(16) JIP: RETURN { align1 1H };
        mov(16) g10<1>D 2D { align1 1H };
        RETURN:
        halt(16) JIP: NEXT UIP: NEXT { align1 1H };
        NEXT:
        add(16) g10<1>D g10<8,8,1>D 5D { align1 1H };";
    check("halt", code, |n| if n < 3 { 6 } else { 7 });
}

#[test]
fn uniform_jumps() {
    let code = "
        mov(16) g10<1>D 0D { align1 1H };
        mov(1) g12<1>D 0D { align1 WE_all 1N };
        LOOP:
        add(16) g10<1>D g10<8,8,1>D 3D { align1 1H };
        add(1) g12<1>D g12<0,1,0>D 1D { align1 WE_all 1N };
        cmp.l.f0.0(1) null<1>D g12<0,1,0>D 7D { align1 WE_all 1N };
        (+f0.0) jmpi(1) JIP: LOOP { align1 WE_all 1N };";
    check("jmpi", code, |_| 21);
}

#[test]
fn calls_return() {
    let code = "
        mov(16) g10<1>D 0D { align1 1H };
        mov(2) g30<1>UD 0UD { align1 WE_all 1N };
        call(16) g30<1>UD JIP: FUNCTION { align1 1H };
        call(16) g30<1>UD JIP: FUNCTION { align1 1H };
        jmpi(1) JIP: NEXT { align1 WE_all 1N };
        FUNCTION:
        add(16) g10<1>D g10<8,8,1>D 4D { align1 1H };
        ret(16) g30<0,1,0>UD { align1 1H };
        NEXT:
        nop;";
    check("call", code, |_| 8);
}

/// Threads that find a lock taken let the others run at once: the last one, that frees it, and those that have it then.
#[test]
fn spinning_threads_have_short_turns() {
    let text = "
        ; threads 4
        ; set 10000 UD: 1
        mov(16) g22<1>UD 0x10000UD { align1 1H };
        mov(16) g24<1>UD 1UD { align1 1H };
        cmp.z.f0.0(16) null<1>UD g1<0,1,0>UW 48UD { align1 1H };
        (+f0.0.any16h) jmpi(1) JIP: FREE { align1 WE_all 1N };
        LOOP:
        sends(16) g30<1>UD g22UD g24UD 0x0420a4ff 0x00000080 dp data 1 MsgDesc: mlen 2 rlen 2 { align1 1H };
        cmp.z.f0.0(16) null<1>UD g30<0,1,0>UD 1UD { align1 1H };
        (+f0.0.any16h) jmpi(1) JIP: LOOP { align1 WE_all 1N };
        FREE:
        mov(16) g26<1>UD 0UD { align1 1H };
        sends(16) null<1>UD g22UD g26UD 0x04025eff 0x0000008c dp data 1 MsgDesc: mlen 2 rlen 0 { align1 1H };";
    let text: Vec<&str> = text.lines().map(str::trim).collect();
    let profile = Script::block(&text.join("\n")).profile();
    // Each of the three takes two looks before its turn ends, and one in its next.
    assert_eq!(profile.counters[4].executions, 9);
}
