//! Tests with the programs that read the files.

#[path = "../src/fixture.rs"]
mod fixture;

use std::path::Path;
use std::process::Command;

use gencl_profile::analysis::Analysis;
use gencl_profile::output;
use gencl_simulator::statistics::Report;
use gencl_testing::harness::{self, Outcome};

fn written(report: &Report) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    output::write(&Analysis::of(report), &[], folder.path()).unwrap();
    folder
}

fn printed(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(text) } else { Err(format!("{}: {text}", output.status)) }
}

/// The totals are those of the table, and the source is found.
fn callgrind_annotate() -> Outcome {
    let report = fixture::report();
    let folder = written(&report);
    let mut command = Command::new("callgrind_annotate");
    let text = printed(command.args(["--threshold=100", "callgrind.out"]).current_dir(folder.path()))?;
    let total = text.lines().find(|line| line.ends_with("PROGRAM TOTALS")).ok_or("no totals")?;
    assert_eq!(total.split_whitespace().next(), Some("4,320"), "{text}");
    let row =
        text.lines().find(|line| line.ends_with("s += load(x, 0);")).ok_or("the source is not annotated")?;
    assert_eq!(row.split_whitespace().next(), Some("4,040"), "{text}");
    Ok(())
}

/// A kernel with many instructions, each of a line of its own.
fn large(instructions: usize) -> Report {
    let mut report = fixture::report();
    let kernel = &mut report.kernels[0];
    let pattern = kernel.instructions.clone();
    kernel.instructions = (0..instructions)
        .map(|index| {
            let mut instruction = pattern[index % pattern.len()].clone();
            instruction.offset = index as u32 * 16;
            instruction.waits.iter_mut().for_each(|wait| wait.offset = instruction.offset.saturating_sub(16));
            instruction
        })
        .collect();
    report
}

/// Recorded before the page's script.
const BEFORE: &str = "<script>window.faults = [];
addEventListener('error', event => faults.push(event.message));
for (const kind of ['error', 'warn']) console[kind] = (...text) => faults.push(text.join(' '));
</script>";

/// Uses the page as a reader would, and leaves the results in an attribute.
const AFTER: &str = "<script>{
const results = { took: performance.now() };
const cells = column => [...document.querySelectorAll('table.list')[0].querySelectorAll(`tbody td:nth-child(${column})`)].map(cell => cell.textContent);
const head = text => [...document.querySelectorAll('table.list')[0].querySelectorAll('th')].find(cell => cell.textContent === text);
results.kernels = cells(2);
head('clocks').click(); head('clocks').click();
results.sorted = cells(2);
document.querySelector('#tab-source').click();
const row = [...document.querySelectorAll('tr.cost')].find(row => row.textContent.includes('s += load'));
const rows = () => document.querySelectorAll('tr.code-row').length;
results.folded = rows();
row.click();
results.unfolded = rows();
row.click();
results.again = rows();
for (const tab of ['flame', 'roofline', 'overview']) {
  document.querySelector(`#tab-${tab}`).click();
  results[tab] = document.querySelectorAll('main svg .frame, main svg circle, main table.list').length;
}
const search = document.querySelector('#search');
search.value = 'get_global_id';
search.dispatchEvent(new Event('input'));
results.found = document.querySelectorAll('table.list')[1].querySelectorAll('tbody tr').length;
results.faults = faults;
document.documentElement.setAttribute('data-results', encodeURIComponent(JSON.stringify(results)));
}</script>";

fn page_in_chromium() -> Outcome {
    let report = large(4000);
    let folder = written(&report);
    let path = folder.path().join("profile.html");
    let page = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
    let page = page.replacen("<body>", &format!("<body>{BEFORE}"), 1).replacen(
        "</body>",
        &format!("{AFTER}</body>"),
        1,
    );
    std::fs::write(&path, page).map_err(|error| error.to_string())?;
    let results = results(&path)?;
    assert_eq!(results["faults"], serde_json::json!([]));
    let took = results["took"].as_f64().ok_or("no time")?;
    println!("loaded in {took} ms");
    assert_eq!(results["kernels"], serde_json::json!(["sum", "00000000000000b2"]));
    assert_eq!(results["sorted"], serde_json::json!(["00000000000000b2", "sum"]));
    // One of five instructions is of this line.
    assert_eq!(
        (&results["folded"], &results["unfolded"], &results["again"]),
        (&0.into(), &800.into(), &0.into())
    );
    assert_eq!(results["roofline"], 1, "one kernel has operations and memory");
    assert_eq!((&results["overview"], &results["found"]), (&2.into(), &1.into()));
    assert!(results["flame"].as_u64() > Some(4), "{results}");
    Ok(())
}

/// The results of a page with [`AFTER`].
fn results(page: &Path) -> Result<serde_json::Value, String> {
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=5000"]);
    // Its settings and caches go beside the page.
    command.arg(format!("--user-data-dir={}", page.with_extension("chromium").display()));
    let dom = printed(command.arg(format!("file://{}", page.display())))?;
    let text = dom.split("data-results=\"").nth(1).and_then(|rest| rest.split('"').next());
    let text = text.ok_or_else(|| format!("no results in {}", &dom[..dom.len().min(300)]))?;
    serde_json::from_str(&decoded(text)).map_err(|error| error.to_string())
}

/// A text without the escapes of `encodeURIComponent`.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}

fn main() {
    harness::run(vec![
        harness::test_unless(
            harness::missing_programs(&["callgrind_annotate"]),
            "callgrind_annotate",
            callgrind_annotate,
        ),
        harness::test_unless(harness::missing_programs(&["chromium"]), "page_in_chromium", page_in_chromium),
    ]);
}
