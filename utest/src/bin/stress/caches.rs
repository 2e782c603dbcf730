//! A kernel cache whose entries are damaged: they are built anew, and results are right.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gencl_utest::Random;

use crate::child::Stage;
use crate::tally::Tally;

/// How often the cache is damaged in a repetition.
const TIMES: u64 = 4;

pub fn repeat(stage: &Stage) -> Result<Tally, String> {
    let mut random = Random::new(stage.seed);
    // Translations are entries, too.
    let engine = ["auto", "translate"][random.below(2)];
    let run = || stage.run("rounds", stage.seed, Duration::ZERO, &[("GENCL_ENGINE", engine)]);
    let mut tally = run()?;
    for _ in 0..TIMES {
        for path in files(&stage.cache())? {
            if random.below(4) > 0 {
                damage(&path, &mut random).map_err(|error| format!("{}: {error}", path.display()))?;
                tally.count("entries damaged");
            }
        }
        tally += run()?;
    }
    Ok(tally)
}

fn damage(path: &Path, random: &mut Random) -> std::io::Result<()> {
    let mut bytes = fs::read(path)?;
    let length = bytes.len().max(1);
    match random.below(7) {
        0 => bytes.clear(),
        1 => bytes.truncate(random.below(length)),
        2 => bytes.extend((0..random.below(5000)).map(|_| random.next_u32() as u8)),
        3 => {
            fs::remove_file(path)?;
            return fs::create_dir(path);
        }
        4 => bytes = (0..random.below(5000)).map(|_| random.next_u32() as u8).collect(),
        _ => {
            for _ in 0..1 + random.below(3) {
                if let Some(byte) = bytes.get_mut(random.below(length)) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
    fs::write(path, bytes)
}

/// All files below a folder, in an order that is always the same.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
