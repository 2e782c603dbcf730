//! Control flow of every shape, at every SIMD width and by every strategy, against the same program on the
//! host.

use gencl_utest::{Case, Gpu, Launch, Random, all_control_flows, all_widths};

/// What the kernel of the same name computes for work-item `i`. `src` is one longer than the launch.
type Host = fn(src: &[i32], i: usize) -> i32;

const KERNELS: &[(&str, Host)] = &[
    ("compiler_if_else", if_else),
    ("compiler_lower_return0", lower_return0),
    ("compiler_lower_return1", lower_return1),
    ("compiler_lower_return2", lower_return2),
    ("compiler_unstructured_branch0", unstructured_branch0),
    ("compiler_unstructured_branch1", unstructured_branch1),
    ("compiler_unstructured_branch2", unstructured_branch2),
    ("compiler_unstructured_branch3", unstructured_branch3),
    ("compiler_goto_into_loop", goto_into_loop),
    ("compiler_irreducible", irreducible),
    ("compiler_nested_loops", nested_loops),
    ("compiler_loop_value", loop_value),
    ("compiler_switch", switch),
    ("compiler_short_circuit", short_circuit),
    ("compiler_gather_loop", gather_loop),
    ("compiler_gather_nested", gather_nested),
];

pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = KERNELS
        .iter()
        .flat_map(|&(name, host)| all_widths(name, move |width| elementwise(name, host, width)))
        .collect();
    let recursion = "compiler_tail_recursion";
    let recursion = all_widths(recursion, move |width| elementwise(recursion, tail_recursion, width));
    cases.extend(recursion.into_iter().map(|case| case.only_of_gencl("OpenCL C has no recursion")));
    cases.extend(all_widths("compiler_short_scatter", short_scatter));
    all_control_flows(cases)
}

/// Inputs in which lanes agree, alternate, differ in one place and differ everywhere.
fn inputs(n: usize) -> Vec<Vec<i32>> {
    let mut random = Random::new(7);
    let mut inputs: Vec<Vec<i32>> = vec![
        vec![9; n],
        vec![-9; n],
        (0..n).map(|i| if i % 2 == 0 { 5 } else { -5 }).collect(),
        (0..n).map(|i| i as i32 - n as i32 / 2).collect(),
        (0..n).map(|i| if i == n / 3 { 5 } else { 2 }).collect(),
    ];
    for range in [4, 30, 2000] {
        inputs.push((0..n).map(|_| (random.next_u32() % range) as i32 - range as i32 / 2).collect());
    }
    inputs
}

fn elementwise(name: &str, host: Host, width: u32) -> Result<(), String> {
    let gpu = Gpu::get()?;
    let program = gpu.build(name, Some(width))?;
    // The last one leaves lanes of a thread unused.
    for (n, local) in [(16, 16), (256, 64), (45, 15)] {
        for src in inputs(n + 1) {
            let (input, output) = (gpu.buffer(&src)?, gpu.buffer(&vec![-1i32; n])?);
            program.run(name, &[input.arg(), output.arg()], &Launch::linear(n, local))?;
            let result = output.read()?;
            for (i, got) in result.into_iter().enumerate() {
                let expected = host(&src, i);
                if got != expected {
                    return Err(format!("work-item {i} of {n}: {got}, expected {expected}; input {src:?}"));
                }
            }
        }
    }
    Ok(())
}

fn short_scatter(width: u32) -> Result<(), String> {
    let gpu = Gpu::get()?;
    let n = 128;
    let output = gpu.buffer(&vec![0i16; n])?;
    let count = (n as i32).to_ne_bytes();
    gpu.build("compiler_short_scatter", Some(width))?.run(
        "compiler_short_scatter",
        &[output.arg(), gencl_utest::Arg::Bytes(&count)],
        &Launch::linear(n, 32),
    )?;
    let expected: Vec<i16> = (0..n as i16).rev().map(|i| i * 3 - 20).collect();
    let result = output.read()?;
    if result == expected { Ok(()) } else { Err(format!("{result:?}")) }
}

fn if_else(src: &[i32], i: usize) -> i32 {
    let (mut out, add) = if src[i] >= 0 { (src[i] + 3, 1) } else { (src[i] * 2, 2) };
    out += if out > 5 { add } else { -10 * add };
    out
}

fn lower_return0(src: &[i32], i: usize) -> i32 {
    if src[i] > 0 { i as i32 } else { src[i] - 7 }
}

fn lower_return1(src: &[i32], i: usize) -> i32 {
    if i < 11 && (src[i] > 0 || src[i + 1] < 2) { 100 + i as i32 } else { src[i] }
}

fn lower_return2(src: &[i32], i: usize) -> i32 {
    let mut value = i as i32;
    while value > src[i] {
        if value > 10 {
            return value;
        }
        value -= 1;
    }
    value + 2
}

fn unstructured_branch0(src: &[i32], i: usize) -> i32 {
    let (mut value, mut k) = (src[i], i as i32 % 7);
    let mut skip = value >= 0;
    loop {
        if !skip {
            value = value / 2 + 1;
        }
        skip = false;
        value += k;
        k += 3;
        if k >= 32 {
            return value;
        }
    }
}

fn unstructured_branch1(src: &[i32], i: usize) -> i32 {
    match (src[i] >= 0, src[i + 1] <= 2) {
        (true, _) => src[i] - 2 + 5,
        (false, true) => 1 + 5,
        (false, false) => 1 - 2 + 5,
    }
}

fn unstructured_branch2(src: &[i32], i: usize) -> i32 {
    if src[i] < 0 {
        return src[i] * 3;
    }
    match (src[i] < 4, src[i + 1] <= 2) {
        (true, _) => 3,
        (false, true) => 4 * 3,
        (false, false) => 2 * 3,
    }
}

fn unstructured_branch3(src: &[i32], i: usize) -> i32 {
    let (mut value, mut turns) = (src[i], 0);
    loop {
        if value < 2 {
            value += 3;
            if src[i + 1] < 2 {
                break;
            }
            value -= 1;
        }
        value -= 2;
        turns += 1;
        if !(turns < 4 && value & 1 != 0) {
            break;
        }
    }
    value + 100 * turns
}

fn goto_into_loop(src: &[i32], i: usize) -> i32 {
    enum At {
        OuterTest,
        OuterBody,
        InnerTest,
        InnerBody,
    }
    let (mut value, mut outer, mut inner) = (src[i], 0, 0);
    let mut at = if value < -20 {
        At::OuterBody
    } else if value & 1 != 0 {
        At::InnerBody
    } else {
        At::OuterTest
    };
    loop {
        at = match at {
            At::OuterTest if outer >= 4 => break,
            At::OuterTest => At::OuterBody,
            At::OuterBody => {
                value += outer;
                inner = 0;
                At::InnerTest
            }
            At::InnerTest if inner >= 3 => {
                outer += 1;
                At::OuterTest
            }
            At::InnerTest => {
                value ^= inner;
                At::InnerBody
            }
            At::InnerBody => {
                value += 5;
                if value % 11 == 0 {
                    break;
                }
                inner += 1;
                At::InnerTest
            }
        }
    }
    value + 1000 * outer + 100 * inner
}

fn irreducible(src: &[i32], i: usize) -> i32 {
    let (mut value, mut turns, mut trace) = (src[i], 0, 0i32);
    let mut in_a = value & 1 == 0;
    loop {
        turns += 1;
        if in_a {
            trace = trace.wrapping_mul(3) + 1;
            value += 2;
            if turns > 9 {
                break;
            }
            in_a = value & 4 != 0;
        } else {
            trace = trace.wrapping_mul(3) + 2;
            value -= 3;
            if turns > 7 {
                break;
            }
            in_a = value & 2 != 0;
            if !in_a && value & 8 == 0 {
                break;
            }
        }
    }
    trace + value
}

fn nested_loops(src: &[i32], i: usize) -> i32 {
    let mut sum = 0;
    for a in 0..src[i] & 15 {
        if a == 3 {
            continue;
        }
        for b in a..12 {
            if (b + src[i]) & 3 == 0 {
                continue;
            }
            if b * a > 40 {
                break;
            }
            sum += a * 16 + b;
        }
        if sum > 900 {
            break;
        }
        sum += 1;
    }
    sum
}

fn loop_value(src: &[i32], i: usize) -> i32 {
    let mut x = src[i] as u32;
    let mut fuel = 30;
    loop {
        fuel -= 1;
        if fuel < 0 {
            break;
        }
        x = x.wrapping_mul(5).wrapping_add(3);
        if x & 28 == 8 {
            break;
        }
    }
    loop {
        fuel -= 1;
        if fuel < 0 || src[i + 1] & 3 == 1 {
            break;
        }
        x = x.wrapping_add(7);
    }
    x as i32 ^ fuel
}

fn switch(src: &[i32], i: usize) -> i32 {
    let mut result = 0i32;
    for turn in 0..3 {
        match (src[i] + turn) & 7 {
            0 => result += 1,
            1 | 2 => result = (result + 20) ^ 0x55,
            3 => result ^= 0x55,
            5 => {
                result *= 3;
                continue;
            }
            6 => break,
            _ => result -= turn,
        }
        result += 100;
    }
    result
        + match src[i] {
            -1000 => 7,
            5 => 70,
            100000 => 700,
            _ => 0,
        }
}

fn short_circuit(src: &[i32], i: usize) -> i32 {
    let (mut a, mut b, mut r) = (src[i], src[i + 1], 0);
    if a > 0 && (b > 0 || a > 10) && a != b {
        r |= 1;
    }
    if a < 0 || (b < 0 && a < 50) {
        r |= 2;
    }
    r |= match (a > b, a > 7, b > 7) {
        (true, true, _) => 4,
        (true, false, _) => 8,
        (false, _, true) => 16,
        (false, _, false) => 32,
    };
    while a > 0 && b > 0 && r < 4000 {
        r += 64;
        a -= 9;
        b -= 5;
    }
    r
}

fn tail_recursion(src: &[i32], i: usize) -> i32 {
    let [a, b] = [src[i], src[i + 1]].map(i32::abs);
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    let (mut n, mut up, mut down) = (a, 0, 0);
    while n > 1 {
        (n, up, down) = if n & 1 == 1 { (n - 3, down + 1, up) } else { (n / 2, up, down + 1) };
    }
    let sum: i32 = (0..=b & 31).map(|n| n * n).sum();
    let calls = a & 15;
    let rounds = b + (calls + 1) / 2 * 2 + calls / 2;
    let rounds = if calls % 2 == 0 { rounds } else { -rounds };
    divisor + 7 * (up * 1000 + down) + 11 * sum + 13 * rounds
}

fn gather_loop(src: &[i32], i: usize) -> i32 {
    let (mut fuel, mut sum) = (40i32, 0i32);
    let mut at = src[i] as u32 & 15;
    loop {
        fuel -= 1;
        if fuel < 0 {
            break;
        }
        let v = src[at as usize];
        at = at.wrapping_mul(3).wrapping_add(v as u32) & 15;
        if v > sum {
            continue;
        }
        sum = sum.wrapping_add(v.wrapping_sub(src[at as usize]));
        if v & 7 == 3 {
            break;
        }
    }
    sum.wrapping_mul(64).wrapping_add(fuel)
}

fn gather_nested(src: &[i32], i: usize) -> i32 {
    let byte = |at: u32| i64::from(src[at as usize / 4].to_le_bytes()[at as usize % 4]);
    let mut sum = i64::from(src[i + 1]);
    let mut k = src[i] as u32 & 7;
    while k < (src[k as usize & 15] as u32 & 31) {
        let mut at = k & 7;
        loop {
            sum += byte(at * 3);
            at += 1 + (src[at as usize] as u32 & 3);
            if at >= 15 {
                break;
            }
        }
        sum ^= i64::from(src[(at as usize & 7) * 2 + 1]);
        k += 1;
    }
    (sum ^ (sum >> 32)) as i32
}
