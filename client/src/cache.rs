//! The kernel cache: what the compiler has made, on disk.
//!
//! An entry is found by the hash of everything that decides about its contents: the request (source, headers, options, device) and
//! the compiler. Each entry is a file, `<source>/<request>` below the cache's folder, both names being hashes; the first tells, before
//! there is a request, whether a source was ever built, and so whether a compile server will be needed. Translations of kernels
//! are entries too, in a folder for all of them. Entries are
//! written beside their place and renamed into it. What cannot be read, or is not what was written, is no entry, and is
//! built and written anew.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gencl_program::debug::{self, Debug};
use gencl_program::protocol::{BuildResult, Status, ToServer};
use gencl_program::report;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Begins each entry; changes when entries do.
const MAGIC: &[u8; 8] = b"gencl 1\n";

/// Bytes that entries may take when `GENCL_CACHE_SIZE` (MiB) does not say otherwise.
const DEFAULT_LIMIT: u64 = 256 << 20;

/// One in so many entries, by chance, is followed by a look how large the cache is. Most processes write few, and the look
/// takes longer than a small build when there are thousands.
const WRITES_BETWEEN_LOOKS: u32 = 16;

/// A file that was not renamed for so long belongs to a process that died.
const STALE: Duration = Duration::from_secs(3600);

/// Debug options that change nothing of what is compiled.
const HARMLESS: &[&str] = &[debug::LOG, debug::QUIET, debug::BATCH, debug::PROFILE, debug::IMAGES];

/// Text that makes a source mean something else each time.
const CHANGING: &[&[u8]] = &[b"__DATE__", b"__TIME__", b"__TIMESTAMP__", b"__has_include"];

/// The folder of all translations: it takes the place of a source's hash.
const TRANSLATIONS: &str = "translations";

type Hash = [u8; 32];

/// A folder with entries.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    limit: u64,
}

/// Where an entry belongs.
#[derive(Clone, Debug)]
pub(super) struct Key {
    /// Below the cache's folder.
    folder: String,
    name: String,
}

/// What a file holds behind [`MAGIC`] and a checksum.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    log: String,
    /// Files on disk that were read, and what they held.
    files: Vec<(String, Hash)>,
    binary: Vec<u8>,
}

impl Cache {
    /// The cache that the environment asks for, if it asks for one: `GENCL_CACHE` is its folder, or `off`;
    /// `GENCL_CACHE_SIZE` its limit in MiB. Without it, the folder is `gencl` in the user's cache folder (XDG base
    /// directory specification). Debug options that change the compiler turn it off.
    pub(super) fn from_environment() -> Option<Self> {
        let (debug, _) = Debug::from_environment();
        if debug.is_any_set_but(HARMLESS) {
            return None;
        }
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let folder = match variable("GENCL_CACHE") {
            Some(off) if off == "off" => return None,
            Some(folder) => PathBuf::from(folder),
            None => match variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute()) {
                Some(folder) => folder.join("gencl"),
                None => PathBuf::from(variable("HOME")?).join(".cache/gencl"),
            },
        };
        let bytes = |mebibytes: &str| Some(mebibytes.parse::<u64>().ok()?.saturating_mul(1 << 20));
        let limit = report::setting("GENCL_CACHE_SIZE", "a number of MiB", bytes, DEFAULT_LIMIT);
        Some(Self { folder, limit })
    }

    /// Was a source ever built, with whatever options?
    pub(super) fn knows(&self, source: &[u8]) -> bool {
        self.folder.join(hex(Sha256::digest(source).as_slice())).is_dir()
    }

    /// Is there nothing in it?
    pub(super) fn is_empty(&self) -> bool {
        fs::read_dir(&self.folder).map_or(true, |mut entries| entries.next().is_none())
    }

    /// Where what comes of a request belongs; `compiler` names the compiler. `None` when that may be something else each time.
    pub(super) fn key(&self, request: &ToServer, compiler: &str) -> Option<Key> {
        let source = match request {
            ToServer::Compile(request) => {
                let texts =
                    || std::iter::once(&request.source).chain(request.headers.iter().map(|h| &h.source));
                if texts().any(|text| CHANGING.iter().any(|word| contains(text, word))) {
                    return None;
                }
                request.source.as_slice()
            }
            ToServer::Link(_) => b"link",
            ToServer::Widen(_) => b"widen",
            ToServer::Hello { .. } | ToServer::Translate(_) => return None,
        };
        let mut hash = Sha256::new();
        hash.update(compiler);
        hash.update([0]);
        // What relative paths mean.
        hash.update(std::env::current_dir().ok()?.as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update(postcard::to_stdvec(request).ok()?);
        Some(Key { folder: hex(Sha256::digest(source).as_slice()), name: hex(hash.finalize().as_slice()) })
    }

    /// Where the answer to a request for a translation belongs; `host` says for which processor, and `compiler` by whom.
    pub(super) fn translation_key(request: &[u8], compiler: &str, host: &str) -> Key {
        let mut hash = Sha256::new();
        for part in [compiler.as_bytes(), host.as_bytes()] {
            hash.update(part);
            hash.update([0]);
        }
        hash.update(request);
        Key { folder: TRANSLATIONS.into(), name: hex(hash.finalize().as_slice()) }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(&key.folder).join(&key.name)
    }

    /// What was stored for a request.
    pub(super) fn load(&self, key: &Key) -> Option<BuildResult> {
        let path = self.path(key);
        let entry = decode(&fs::read(&path).ok()?)?;
        let unchanged = |(file, hash): &(String, Hash)| hash_of(Path::new(file)).as_ref() == Some(hash);
        if !entry.files.iter().all(unchanged) {
            return None;
        }
        // Those not used for longest go first.
        let _ = File::open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        let files = entry.files.into_iter().map(|(file, _)| file).collect();
        Some(BuildResult { status: Status::Success, log: entry.log, binary: entry.binary, files })
    }

    /// Stores what came of a request, if it went well. That it cannot be stored is nobody's trouble.
    pub(super) fn store(&self, key: &Key, result: &BuildResult) {
        if result.status != Status::Success {
            return;
        }
        let files = result.files.iter().map(|file| Some((file.clone(), hash_of(Path::new(file))?)));
        let Some(files) = files.collect::<Option<Vec<_>>>() else { return };
        let entry = Entry { log: result.log.clone(), files, binary: result.binary.clone() };
        let Some(bytes) = encode(&entry) else { return };
        if let Err(error) = self.write(key, &bytes) {
            tracing::debug!("kernel cache in {}: {error}", self.folder.display());
            return;
        }
        let chance = u32::from_str_radix(&key.name[..4], 16).unwrap_or(0);
        if chance.is_multiple_of(WRITES_BETWEEN_LOOKS) {
            self.evict();
        }
    }

    fn write(&self, key: &Key, bytes: &[u8]) -> std::io::Result<()> {
        use std::os::unix::fs::DirBuilderExt;
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let folder = self.folder.join(&key.folder);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let beside = folder.join(format!(".{}-{number}", std::process::id()));
        let written = File::create_new(&beside)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&beside, self.path(key)));
        if written.is_err() {
            // It may not have come into being.
            let _ = fs::remove_file(&beside);
        }
        written
    }

    /// Removes entries, those not used for longest first, until the rest takes three quarters of the limit, if it is exceeded.
    fn evict(&self) {
        let mut entries = Vec::new();
        let mut total = 0;
        for folder in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                let Ok(about) = file.metadata() else { continue };
                let used = about.modified().unwrap_or(UNIX_EPOCH);
                let unfinished = file.file_name().as_encoded_bytes().starts_with(b".");
                if unfinished && used.elapsed().is_ok_and(|age| age > STALE) {
                    let _ = fs::remove_file(file.path());
                } else if !unfinished {
                    total += about.len();
                    entries.push((used, about.len(), file.path()));
                }
            }
        }
        if total <= self.limit {
            return;
        }
        entries.sort_unstable();
        for (_, size, path) in entries {
            if total <= self.limit / 4 * 3 {
                break;
            }
            // Another process may have been faster.
            let _ = fs::remove_file(&path);
            // Goes when it is empty.
            let _ = path.parent().map(fs::remove_dir);
            total -= size;
        }
    }
}

fn encode(entry: &Entry) -> Option<Vec<u8>> {
    let body = postcard::to_stdvec(entry).ok()?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(crc32fast::hash(&body).to_le_bytes());
    bytes.extend(body);
    Some(bytes)
}

fn decode(bytes: &[u8]) -> Option<Entry> {
    let (checksum, body) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<4>()?;
    if crc32fast::hash(body) != u32::from_le_bytes(*checksum) {
        return None;
    }
    postcard::from_bytes(body).ok()
}

fn hash_of(file: &Path) -> Option<Hash> {
    fs::read(file).ok().map(|contents| Sha256::digest(contents).into())
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use gencl_program::protocol::CompileRequest;

    use super::*;

    /// A cache in a folder of its own, which goes with it.
    struct Temporary(Cache);

    impl Temporary {
        fn new(name: &str, limit: u64) -> Self {
            let folder = std::env::temp_dir().join(format!("gencl-cache-{name}-{}", std::process::id()));
            Self(Cache { folder, limit })
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0.folder);
        }
    }

    #[test]
    fn what_is_made_for_another_host_is_not_stored() {
        assert!(Debug::parse("log=debug,host=v3").0.is_any_set_but(HARMLESS));
    }

    fn request(source: &str) -> ToServer {
        ToServer::Compile(CompileRequest { source: source.into(), ..CompileRequest::default() })
    }

    fn result(size: usize, files: &[&str]) -> BuildResult {
        let files = files.iter().map(ToString::to_string).collect();
        BuildResult { status: Status::Success, log: "a warning".into(), binary: vec![7; size], files }
    }

    #[test]
    fn what_is_stored_is_found() {
        let Temporary(cache) = &Temporary::new("found", DEFAULT_LIMIT);
        assert!(cache.is_empty());
        let key = cache.key(&request("a"), "compiler").unwrap();
        assert_eq!(cache.load(&key), None);
        assert!(!cache.knows(b"a"));
        cache.store(&key, &result(100, &[]));
        assert_eq!(cache.load(&key), Some(result(100, &[])));
        assert!(cache.knows(b"a") && !cache.is_empty());
        for (text, compiler) in [("b", "compiler"), ("a", "another")] {
            assert_eq!(cache.load(&cache.key(&request(text), compiler).unwrap()), None);
        }
        let failed = BuildResult { status: Status::Failure, ..result(0, &[]) };
        let key = cache.key(&request("wrong"), "compiler").unwrap();
        cache.store(&key, &failed);
        assert_eq!(cache.load(&key), None);
    }

    #[test]
    fn damage_is_noticed() {
        let Temporary(cache) = &Temporary::new("damage", DEFAULT_LIMIT);
        let key = cache.key(&request("a"), "").unwrap();
        cache.store(&key, &result(100, &[]));
        let good = fs::read(cache.path(&key)).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert!(decode(&bad).is_none(), "byte {at}");
            assert!(decode(&good[..at]).is_none(), "cut at {at}");
        }
        fs::write(cache.path(&key), b"gencl 1\n").unwrap();
        assert_eq!(cache.load(&key), None);
        cache.store(&key, &result(100, &[]));
        assert!(cache.load(&key).is_some());
    }

    #[test]
    fn files_that_were_included_are_looked_at() {
        let temporary = Temporary::new("files", DEFAULT_LIMIT);
        let cache = &temporary.0;
        fs::create_dir_all(&cache.folder).unwrap();
        let header = cache.folder.join("header.h");
        fs::write(&header, "1").unwrap();
        let key = cache.key(&request("#include"), "").unwrap();
        cache.store(&key, &result(10, &[header.to_str().unwrap()]));
        assert!(cache.load(&key).is_some());
        fs::write(&header, "2").unwrap();
        assert_eq!(cache.load(&key), None);
        fs::remove_file(&header).unwrap();
        assert_eq!(cache.load(&key), None);
    }

    #[test]
    fn what_changes_with_time_is_not_kept() {
        let Temporary(cache) = &Temporary::new("time", DEFAULT_LIMIT);
        assert!(cache.key(&request("int a = sizeof(__DATE__);"), "").is_none());
        assert!(cache.key(&request("__has_include"), "").is_none());
        assert!(cache.key(&ToServer::Hello { version: 1 }, "").is_none());
    }

    #[test]
    fn the_oldest_go_first() {
        let Temporary(cache) = &Temporary::new("limit", 10_000);
        let keys: Vec<_> = (0..20).map(|i| cache.key(&request(&i.to_string()), "").unwrap()).collect();
        for (age, key) in keys.iter().enumerate() {
            let bytes =
                encode(&Entry { log: String::new(), files: Vec::new(), binary: vec![0; 1000] }).unwrap();
            cache.write(key, &bytes).unwrap();
            let time = SystemTime::now() - Duration::from_secs(1000 * (age as u64 + 1));
            File::open(cache.path(key)).unwrap().set_modified(time).unwrap();
        }
        cache.evict();
        let kept: Vec<bool> = keys.iter().map(|key| cache.load(key).is_some()).collect();
        let count = kept.iter().filter(|kept| **kept).count();
        assert!((5..=7).contains(&count), "{count} entries");
        assert!(kept.is_sorted_by(|a, b| a >= b), "{kept:?}");
        assert!(!cache.knows(b"19"), "empty folders go");
    }
}
