//! Tests with the programs that read the files.

#[path = "../src/fixture.rs"]
mod fixture;

use std::path::Path;
use std::process::Command;

use gencl_profile::analysis::Analysis;
use gencl_profile::compare::compare;
use gencl_profile::output;
use gencl_profile::trace::{Record, Trace};
use gencl_simulator::statistics::Report;
use gencl_testing::harness::{self, Outcome};

fn written(report: &Report) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    output::write(&Analysis::of(report), &[], None, folder.path()).unwrap();
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
const AFTER: &str = "<script>addEventListener('shown', async () => {
const results = { took: performance.now() };
const drawn = () => new Promise(done => setTimeout(done, 30));
const click = async element => { element.click(); await drawn(); };
const all = selector => [...document.querySelectorAll(selector)];
const cells = column => all(`#kernels tbody td:nth-child(${column})`).map(cell => cell.textContent);
const head = id => document.querySelector(`#kernels th[data-id=${id}]`);
const width = () => Math.max(0, document.documentElement.scrollWidth - innerWidth);
results.advice = all('#todo li').map(item => item.textContent);
results.kernels = cells(1);
results.wide = head('local') !== null;
await click(head('time'));
results.sorted = cells(1);
const last = document.querySelector('#kernels tbody tr').lastChild.getBoundingClientRect();
results.last = last.right <= document.querySelector('#kernels').getBoundingClientRect().right + 0.5;
await click(document.querySelector('#app input[data-column=time]'));
results.hidden = head('time') === null;
await click(document.querySelector('#tab-source'));
const row = all('tr.cost').find(row => row.textContent.includes('s += load'));
const rows = () => document.querySelectorAll('tr.code-row').length;
results.folded = rows();
await click(row);
results.unfolded = rows();
await click(row);
results.again = rows();
results.code = document.querySelector('.source td.text').getBoundingClientRect().width;
results.overflow = [width()];
for (const tab of ['flame', 'roofline', 'timeline', 'comparison', 'overview']) {
  await click(document.querySelector(`#tab-${tab}`));
  results[tab] = all('main svg .frame, main svg circle, main table.list').length;
  results.overflow.push(width());
  if (tab === 'flame') results.source = all('main svg .label').some(label => label.textContent.startsWith('7: s +='));
  if (tab === 'timeline') results.legend = all('.legend span').map(entry => entry.textContent);
}
document.querySelector('.term').focus();
results.tip = document.getElementById('tip').textContent;
const search = document.querySelector('#search');
search.value = 'get_global_id';
search.dispatchEvent(new Event('input'));
await drawn();
results.found = all('#lines tbody tr').length;
results.faults = faults;
document.documentElement.setAttribute('data-results', encodeURIComponent(JSON.stringify(results)));
});</script>";

/// A trace with two calls.
fn trace() -> Trace {
    let call = |name: &str, begin, end| Record::Call {
        name: name.to_owned(),
        thread: 1,
        thread_name: None,
        begin,
        end,
        code: 0,
    };
    Trace {
        process: 1,
        records: vec![call("clCreateBuffer", 0, 1000), call("clFinish", 2000, 9000)],
        ..Trace::default()
    }
}

/// The page of a report in a window of a width, after it has been used.
fn used_page(width: u32) -> Result<serde_json::Value, String> {
    let (report, mut earlier) = (large(4000), fixture::report());
    // Kernel and line become slower.
    earlier.kernels[0].cycles /= 2;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (analysis, earlier) = (Analysis::of(&report), Analysis::of(&earlier));
    let comparison = compare(&earlier, &analysis);
    output::write(&analysis, &[trace()], Some(&comparison), folder.path())?;
    let path = folder.path().join("profile.html");
    let page = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
    let page = page.replacen("<body>", &format!("<body>{BEFORE}{AFTER}"), 1);
    std::fs::write(&path, page).map_err(|error| error.to_string())?;
    results(&path, width)
}

fn page_in_chromium() -> Outcome {
    let results = used_page(1400)?;
    assert_eq!(results["faults"], serde_json::json!([]));
    let took = results["took"].as_f64().ok_or("no time")?;
    println!("loaded in {took} ms");
    assert_eq!(results["kernels"], serde_json::json!(["sum", "00000000000000b2"]));
    assert_eq!(results["sorted"], serde_json::json!(["00000000000000b2", "sum"]));
    let advice = results["advice"][0].as_str().unwrap_or_default();
    assert!(advice.contains("uncoalesced access") && advice.contains("return x[i];"), "{results}");
    for part in ["wide", "last", "hidden", "source"] {
        assert_eq!(results[part], true, "{part}: {results}");
    }
    assert!(results["code"].as_f64() >= Some(550.0), "{results}");
    assert!(results["tip"].as_str().is_some_and(|tip| tip.contains("data port")), "{results}");
    assert_eq!(results["legend"], serde_json::json!(["API call", "API call that waits"]));
    // One of five instructions is of this line.
    assert_eq!(
        (&results["folded"], &results["unfolded"], &results["again"]),
        (&0.into(), &800.into(), &0.into())
    );
    assert_eq!(results["roofline"], 1, "one kernel has operations and memory");
    assert_eq!((&results["overview"], &results["found"]), (&2.into(), &1.into()));
    assert_eq!((&results["timeline"], &results["comparison"]), (&2.into(), &2.into()));
    assert!(results["flame"].as_u64() > Some(4), "{results}");
    Ok(())
}

/// Nothing is wider than a narrow window, and the source has most of it.
fn page_in_a_narrow_window() -> Outcome {
    let results = used_page(500)?;
    assert_eq!(results["faults"], serde_json::json!([]));
    assert_eq!(results["overflow"], serde_json::json!([0, 0, 0, 0, 0, 0]));
    assert_eq!(results["wide"], false);
    assert!(results["code"].as_f64() >= Some(300.0), "{results}");
    Ok(())
}

/// The page of a kernel with many instructions is small: it was 29 MB.
fn a_large_page_is_compressed() -> Outcome {
    let report = large(60_000);
    let folder = written(&report);
    let size = |name: &str| std::fs::metadata(folder.path().join(name)).map_or(0, |file| file.len());
    assert!(size("profile.json") > 10 << 20, "{} bytes", size("profile.json"));
    assert!((1..3 << 20).contains(&size("profile.html")), "{} bytes", size("profile.html"));
    Ok(())
}

/// The results of a page with [`AFTER`].
fn results(page: &Path, width: u32) -> Result<serde_json::Value, String> {
    let mut command = Command::new("chromium");
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=5000"]);
    command.arg(format!("--window-size={width},1000"));
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

/// A test.
type Test = fn() -> Outcome;

fn main() {
    let in_chromium: [(&str, Test); 2] =
        [("page_in_chromium", page_in_chromium), ("page_in_a_narrow_window", page_in_a_narrow_window)];
    let mut tests = vec![
        harness::test_unless(
            harness::missing_programs(&["callgrind_annotate"]),
            "callgrind_annotate",
            callgrind_annotate,
        ),
        harness::test("a_large_page_is_compressed", a_large_page_is_compressed),
    ];
    let missing = || harness::missing_programs(&["chromium"]);
    tests.extend(in_chromium.into_iter().map(|(name, run)| harness::test_unless(missing(), name, run)));
    harness::run(tests);
}
