//! `bench compare`: the kernels of `utest/kernels/bench` on several drivers in turn, each in a process of its own.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use clap::Parser;
use serde_json::Value;

use crate::kernels::{self, Size};
use crate::{DRIVERS, NO_CACHES, median};

/// Compares drivers, or one with different settings: gencl, pocl where it is installed, and what is named.
#[derive(Debug, Parser)]
pub struct Options {
    #[arg(long, value_enum, default_value = "medium")]
    size: Size,
    /// Processes for each kernel and driver.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Names of kernels; all if there are none.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// A further driver: a name for it and the variables that choose it, as
    /// intel:OCL_ICD_VENDORS=/opt/intel.icd,LD_LIBRARY_PATH=/opt/intel/lib.
    #[arg(value_parser = Peer::parse)]
    peers: Vec<Peer>,
}

/// A driver, by the variables that choose it.
#[derive(Clone, Debug)]
struct Peer {
    name: String,
    variables: Vec<(String, String)>,
}

impl Peer {
    fn parse(text: &str) -> Result<Peer, String> {
        let (name, variables) = text.split_once(':').ok_or("NAME:VARIABLE=VALUE,... is expected")?;
        let variable = |text: &str| {
            let (name, value) = text.split_once('=').ok_or_else(|| format!("{text} is no VARIABLE=VALUE"))?;
            Ok((name.to_owned(), value.to_owned()))
        };
        let variables = variables.split(',').map(variable).collect::<Result<_, String>>()?;
        Ok(Peer { name: name.to_owned(), variables })
    }

    /// The drivers that are found without being named, gencl first.
    fn installed() -> impl Iterator<Item = Peer> {
        let drivers = DRIVERS.iter().filter(|driver| driver.fast);
        let drivers =
            drivers.filter(|driver| driver.vendors.is_none_or(|vendors| Path::new(vendors).exists()));
        drivers.map(|driver| Peer {
            name: driver.name.to_owned(),
            variables: driver
                .vendors
                .map(|path| ("OCL_ICD_VENDORS".into(), path.into()))
                .into_iter()
                .collect(),
        })
    }

    /// What `bench kernels` prints about a kernel with this driver.
    fn measure(&self, kernel: &str, size: Size) -> Result<Value, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args(["kernels", "--size", &format!("{size:?}").to_lowercase(), kernel]);
        command.envs(NO_CACHES).envs(self.variables.iter().cloned());
        let output = command.output().map_err(|error| error.to_string())?;
        let line: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| String::from_utf8_lossy(&output.stderr).trim().to_owned())?;
        match line["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(line),
        }
    }
}

/// Measures and prints medians, ratios to the first driver, and their geometric means. An error if the first is
/// wrong somewhere.
pub fn compare(options: &Options) -> Result<(), String> {
    let cases = kernels::select(&options.only)?;
    let peers: Vec<Peer> = Peer::installed().chain(options.peers.iter().cloned()).collect();
    let mut lines: BTreeMap<(&str, usize), Vec<Value>> = BTreeMap::new();
    let mut is_right = true;
    for _ in 0..options.rounds {
        for case in &cases {
            for (index, peer) in peers.iter().enumerate() {
                match peer.measure(case.name, options.size) {
                    Ok(line) => lines.entry((case.name, index)).or_default().push(line),
                    Err(error) => {
                        eprintln!("{}: {}: {error}", case.name, peer.name);
                        is_right &= index != 0;
                    }
                }
            }
        }
    }
    for measurement in ["steady_ms", "build_ms", "first_launch_ms", "first_result_ms"] {
        let value = |case: &str, peer: usize| {
            let values = lines.get(&(case, peer))?.iter().map(|line| line[measurement].as_f64());
            values.collect::<Option<_>>().map(median)
        };
        let row = |case: &str| (0..peers.len()).map(|peer| value(case, peer)).collect::<Vec<_>>();
        print(measurement, &peers, cases.iter().map(|case| (case.name, row(case.name))));
    }
    if is_right { Ok(()) } else { Err(format!("{} is wrong", peers[0].name)) }
}

/// Prints a table: a row for each kernel, a column for each driver, then how long drivers take compared with the
/// first.
fn print<'a>(title: &str, peers: &[Peer], rows: impl Iterator<Item = (&'a str, Vec<Option<f64>>)>) {
    let cell = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    let line = |name: &str, values: &[String], ratios: &[String]| {
        let columns = |cells: &[String]| cells.iter().map(|cell| format!("{cell:>14}")).collect::<String>();
        println!("{name:<16}{}  {}", columns(values), columns(ratios));
    };
    let names: Vec<String> = peers.iter().map(|peer| peer.name.clone()).collect();
    let quotients: Vec<String> = names[1..].iter().map(|name| format!("{name}/{}", names[0])).collect();
    line(title, &names, &quotients);
    let mut logarithms = vec![Vec::new(); quotients.len()];
    for (name, values) in rows {
        let ratios: Vec<Option<f64>> = values[1..].iter().map(|value| Some((*value)? / values[0]?)).collect();
        for (logarithms, ratio) in logarithms.iter_mut().zip(&ratios) {
            logarithms.extend(ratio.map(f64::ln));
        }
        let cells = |values: &[Option<f64>]| values.iter().copied().map(cell).collect::<Vec<_>>();
        line(name, &cells(&values), &cells(&ratios));
    }
    let mean = |logarithms: &Vec<f64>| {
        (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
    };
    let means: Vec<String> = logarithms.iter().map(|logarithms| cell(mean(logarithms))).collect();
    line("geometric mean", &vec![String::new(); names.len()], &means);
    println!();
}
