//! Names of programs, sources and kernels in a report.

use std::collections::{BTreeMap, BTreeSet};

use gencl_simulator::statistics::Report;
use gencl_simulator::statistics::report::Kernel;

/// Completes the names of programs, which are `N-HASH`, and of their sources with the kernel that takes most of the time, and gives
/// kernels of the same name labels that differ.
pub fn name(report: &mut Report) {
    let mut hottest: BTreeMap<String, &Kernel> = BTreeMap::new();
    for kernel in report.kernels.iter().filter(|kernel| !kernel.program.is_empty()) {
        let most = hottest.entry(kernel.program.clone()).or_insert(kernel);
        if kernel.cycles > most.cycles {
            *most = kernel;
        }
    }
    let names: BTreeMap<String, String> =
        hottest.into_iter().map(|(name, kernel)| (name.clone(), format!("{name}-{}", kernel.name))).collect();
    for source in &mut report.sources {
        let name = source.name.strip_suffix(".cl").and_then(|program| names.get(program));
        source.name = name.map_or_else(|| std::mem::take(&mut source.name), |name| format!("{name}.cl"));
    }
    for kernel in &mut report.kernels {
        if let Some(name) = names.get(&kernel.program) {
            kernel.program.clone_from(name);
        }
    }
    let mut same: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, kernel) in report.kernels.iter().enumerate().filter(|(_, kernel)| !kernel.name.is_empty()) {
        same.entry(kernel.name.clone()).or_default().push(index);
    }
    for (name, indices) in same.into_iter().filter(|(_, indices)| indices.len() > 1) {
        let kernels: Vec<&Kernel> = indices.iter().map(|index| &report.kernels[*index]).collect();
        let labels = differences(&kernels);
        for (index, label) in indices.into_iter().zip(labels) {
            report.kernels[index].label = format!("{name} ({label})");
        }
    }
}

/// What makes the difference between kernels of the same name: the options that not all of them have, else the SIMD width, the
/// program, the hash of the code; several of these where one is not enough.
fn differences(kernels: &[&Kernel]) -> Vec<String> {
    let words =
        |kernel: &Kernel| -> Vec<String> { kernel.options.split_whitespace().map(str::to_owned).collect() };
    let all: Vec<Vec<String>> = kernels.iter().map(|kernel| words(kernel)).collect();
    let options = |kernel: &Kernel| {
        let own = words(kernel);
        let own: Vec<&str> = own
            .iter()
            .filter(|word| !all.iter().all(|words| words.contains(word)))
            .map(String::as_str)
            .collect();
        if own.is_empty() { "other options".to_owned() } else { own.join(" ") }
    };
    let program = |kernel: &Kernel| kernel.program.splitn(3, '-').take(2).collect::<Vec<_>>().join("-");
    let parts: [&dyn Fn(&Kernel) -> String; 4] =
        [&options, &|kernel| format!("SIMD{}", kernel.simd_width), &program, &|kernel| kernel.hash.clone()];
    let mut labels = vec![String::new(); kernels.len()];
    for part in parts {
        let texts: Vec<String> = kernels.iter().map(|kernel| part(kernel)).collect();
        let are_different = |texts: &[String]| texts.iter().collect::<BTreeSet<_>>().len();
        if are_different(&texts) == 1 || are_different(&labels) == labels.len() {
            continue;
        }
        for (label, text) in labels.iter_mut().zip(texts) {
            let comma = if label.is_empty() { "" } else { ", " };
            label.push_str(&format!("{comma}{text}"));
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use gencl_simulator::statistics::report::Source;

    fn kernel(name: &str, program: &str, options: &str, hash: &str, cycles: u64) -> Kernel {
        let [name, program, options, hash] = [name, program, options, hash].map(str::to_owned);
        Kernel { name, program, options, hash, cycles, simd_width: 16, ..Kernel::default() }
    }

    #[test]
    fn sources_are_named_by_the_kernel_that_takes_most_of_the_time() {
        let kernels = vec![kernel("first", "1-aa", "", "1", 10), kernel("second", "1-aa", "", "2", 30)];
        let sources = ["1-aa.cl", "other.h"].map(|name| Source { name: name.to_owned(), text: None });
        let mut report = Report { kernels, sources: sources.to_vec(), ..Report::default() };
        name(&mut report);
        assert_eq!(report.sources[0].name, "1-aa-second.cl");
        assert_eq!(report.sources[1].name, "other.h");
        assert!(
            report.kernels.iter().all(|kernel| kernel.program == "1-aa-second" && kernel.label.is_empty())
        );
    }

    #[test]
    fn kernels_of_one_name_are_told_apart() {
        let labels = |kernels: &[Kernel]| {
            let mut report = Report { kernels: kernels.to_vec(), ..Report::default() };
            name(&mut report);
            report.kernels.into_iter().map(|kernel| kernel.label).collect::<Vec<_>>()
        };
        let a = kernel("a", "1-aa", "-DN=4 -w", "1", 1);
        assert_eq!(labels(std::slice::from_ref(&a)), [""]);
        assert_eq!(
            labels(&[a.clone(), kernel("a", "2-aa", "-DN=8 -w", "1", 1), kernel("a", "3-aa", "-w", "1", 1)]),
            ["a (-DN=4)", "a (-DN=8)", "a (other options)"]
        );
        let wide = Kernel { simd_width: 32, ..a.clone() };
        assert_eq!(labels(&[a.clone(), wide]), ["a (SIMD16)", "a (SIMD32)"]);
        assert_eq!(labels(&[a.clone(), kernel("a", "2-bb", "-DN=4 -w", "1", 1)]), ["a (1-aa)", "a (2-bb)"]);
        let options = [kernel("a", "2-aa", "", "2", 1), kernel("a", "3-aa", "", "3", 1)];
        assert_eq!(
            labels(&[a, options[0].clone(), options[1].clone()]),
            ["a (-DN=4 -w, 1-aa)", "a (other options, 2-aa)", "a (other options, 3-aa)"]
        );
    }
}
