//! The kernel cache: results of builds on disk.
//!
//! The key of an entry is the hash of everything that determines its contents: the request (source, headers,
//! options, device, checks) and the compiler. Each entry is a file, `<source>/<request>` in the cache's folder; both
//! names are hashes. The first shows, before there is a request, whether a source was ever built, and so
//! whether a compile server will be needed. Translations of kernels are entries in a common folder. Entries
//! are written under temporary names and renamed. Files that cannot be read, are damaged, or could be another
//! user's are ignored and replaced.

use std::ffi::CString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use gencl_program::debug::{self, Debug};
use gencl_program::protocol::{BuildResult, Status, ToServer};
use gencl_program::tools::Tools;
use gencl_program::{environment, report, variables};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::folder::{Folder, Refusal};

/// The beginning of each entry, which identifies the format.
const MAGIC: &[u8; 8] = b"gencl 2\n";

/// Size limit in MiB, unless `GENCL_CACHE_SIZE` sets one.
const DEFAULT_LIMIT: f64 = 256.0;

/// Average number of stores between checks of the size, which are made at random: most processes store few
/// entries, and with thousands of entries a check takes longer than a small build.
const WRITES_BETWEEN_LOOKS: u32 = 16;

/// Age in seconds from which a temporary file belongs to a process that died.
const STALE: i64 = 3600;

/// Debug options that do not affect the compiler's output, but for those of checks, which are part of the key.
const HARMLESS: &[&str] = &[
    debug::LOG,
    debug::QUIET,
    debug::BATCH,
    debug::CHECK,
    debug::CHECK_TOOLS,
    debug::CHECK_GROUPS,
    debug::CHECK_OUTPUT,
];

/// Text in sources whose meaning differs between builds.
const CHANGING: &[&[u8]] = &[b"__DATE__", b"__TIME__", b"__TIMESTAMP__", b"__has_include"];

/// The folder of all translations, in place of a source's hash.
const TRANSLATIONS: &str = "translations";

type Hash = [u8; 32];

/// A folder with entries.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    limit: u64,
}

/// The location of an entry.
#[derive(Clone, Debug)]
pub(super) struct Key {
    /// Folder in the cache's folder.
    folder: String,
    name: String,
}

/// Contents of a file behind [`MAGIC`] and a hash.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    log: String,
    /// Files on disk that the build has read, with hashes of their contents.
    files: Vec<(String, Hash)>,
    binary: Vec<u8>,
}

impl Cache {
    /// The cache by the environment: `GENCL_CACHE` is its folder, or `off`; `GENCL_CACHE_SIZE` its limit in
    /// MiB. The default folder is `gencl` in the user's cache folder (XDG base directory specification).
    /// Debug options that affect the compiler's output and raised privileges disable it.
    pub(super) fn from_environment() -> Option<Self> {
        Self::choose().ok()
    }

    /// As [`Cache::from_environment`]; the error says why there is none.
    pub(super) fn choose() -> Result<Self, String> {
        let (debug, _) = Debug::from_environment();
        if debug.is_any_set_but(HARMLESS) {
            return Err("GENCL_DEBUG has options that affect the compiler".to_owned());
        }
        let variable = environment::trusted_value;
        let folder = match variable(variables::CACHE.name) {
            Some(off) if off == "off" => return Err("GENCL_CACHE=off".to_owned()),
            Some(folder) => PathBuf::from(folder),
            None => match variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute()) {
                Some(folder) => folder.join("gencl"),
                None => PathBuf::from(variable("HOME").ok_or("HOME is not set")?).join(".cache/gencl"),
            },
        };
        let limit = (report::number(&variables::CACHE_SIZE, DEFAULT_LIMIT) * f64::from(1 << 20)) as u64;
        Ok(Self { folder, limit })
    }

    /// Its folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The largest size of all entries in bytes.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether a source was ever built, with any options.
    pub(super) fn knows(&self, source: &[u8]) -> bool {
        self.open().is_some_and(|folder| folder.subfolder(hex(Sha256::digest(source).as_slice())).is_ok())
    }

    /// Whether the cache is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.open().is_none_or(|folder| folder.names().is_empty())
    }

    /// The cache's folder, if it exists.
    fn open(&self) -> Option<Folder> {
        self.unless_refused(Folder::open(&self.folder))
    }

    /// The opened file or folder. Prints a message, once, when it is not used as it could be another user's.
    fn unless_refused<T>(&self, opened: Result<T, Refusal>) -> Option<T> {
        if let Err(refusal @ Refusal::Untrusted(_)) = &opened {
            report::once(
                "kernel cache",
                &format!(
                    "the kernel cache {}, or something in it, is not used: {refusal}",
                    self.folder.display()
                ),
            );
        }
        opened.ok()
    }

    /// The location of a request's result; `compiler` identifies the compiler. `None` when results may differ
    /// between builds.
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
        // Base of relative paths.
        hash.update(std::env::current_dir().ok()?.as_os_str().as_encoded_bytes());
        hash.update([0]);
        let checks = Tools::of(&Debug::from_environment().0);
        if checks.any() {
            hash.update(format!("{checks:?}"));
        }
        hash.update(postcard::to_stdvec(request).ok()?);
        Some(Key { folder: hex(Sha256::digest(source).as_slice()), name: hex(hash.finalize().as_slice()) })
    }

    /// The location of a translation; `host` identifies the processor, `compiler` the translator.
    pub(super) fn translation_key(request: &[u8], compiler: &str, host: &str) -> Key {
        let mut hash = Sha256::new();
        for part in [compiler.as_bytes(), host.as_bytes()] {
            hash.update(part);
            hash.update([0]);
        }
        hash.update(request);
        Key { folder: TRANSLATIONS.into(), name: hex(hash.finalize().as_slice()) }
    }

    /// The stored result of a request.
    pub(super) fn load(&self, key: &Key) -> Option<BuildResult> {
        let folder = self.unless_refused(self.open()?.subfolder(key.folder.as_str()))?;
        let mut file = self.unless_refused(folder.file(&key.name))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let entry = decode(&key.name, &bytes)?;
        let unchanged = |(file, hash): &(String, Hash)| hash_of(Path::new(file)).as_ref() == Some(hash);
        if !entry.files.iter().all(unchanged) {
            return None;
        }
        // The modification time is the time of the last use.
        let _ = file.set_modified(SystemTime::now());
        let files = entry.files.into_iter().map(|(file, _)| file).collect();
        Some(BuildResult { status: Status::Success, log: entry.log, binary: entry.binary, files })
    }

    /// Stores the result of a successful request. Errors are reported once.
    pub(super) fn store(&self, key: &Key, result: &BuildResult) {
        if result.status != Status::Success {
            return;
        }
        let files = result.files.iter().map(|file| Some((file.clone(), hash_of(Path::new(file))?)));
        let Some(files) = files.collect::<Option<Vec<_>>>() else { return };
        let entry = Entry { log: result.log.clone(), files, binary: result.binary.clone() };
        let Some(bytes) = encode(&key.name, &entry) else { return };
        // Another process may have removed the folder between its creation and the write.
        let written = self.write(key, &bytes).or_else(|_| self.write(key, &bytes));
        if let Err(Refusal::System(error)) = &written {
            let folder = self.folder.display();
            report::once(
                "kernel cache",
                &format!(
                    "kernels are not kept for later runs: {folder}: {error}; GENCL_CACHE=FOLDER names another folder, GENCL_CACHE=off none"
                ),
            );
        }
        if self.unless_refused(written).is_none() {
            return;
        }
        let chance = u32::from_str_radix(&key.name[..4], 16).unwrap_or(0);
        if chance.is_multiple_of(WRITES_BETWEEN_LOOKS) {
            self.evict();
        }
    }

    fn write(&self, key: &Key, bytes: &[u8]) -> Result<(), Refusal> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let folder = Folder::create(&self.folder)?.create_subfolder(&key.folder)?;
        let beside = format!(".{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        folder.write(&key.name, &beside, bytes)
    }

    /// Checks that entries can be written.
    pub(super) fn probe(&self) -> Result<(), Refusal> {
        let folder = Folder::create(&self.folder)?;
        let name = format!(".probe-{}", std::process::id());
        folder.write(&name, &format!("{name}-new"), b"")?;
        folder.remove(name.as_str());
        Ok(())
    }

    /// All entries. Temporary files of processes that died are removed.
    fn entries(&self) -> Vec<Stored> {
        let Some(root) = self.open() else { return Vec::new() };
        let mut entries = Vec::new();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() as i64);
        for name in root.names() {
            let Ok(folder) = root.subfolder(name.as_c_str()) else { continue };
            for file in folder.names() {
                let Some(about) = folder.stat(file.as_c_str()) else { continue };
                if !file.as_bytes().starts_with(b".") {
                    let used = (about.st_mtime, about.st_mtime_nsec);
                    entries.push(Stored { used, size: about.st_size as u64, folder: name.clone(), file });
                } else if now - about.st_mtime > STALE {
                    folder.remove(file.as_c_str());
                }
            }
        }
        entries
    }

    /// The number of entries, and the bytes of all.
    pub(super) fn usage(&self) -> (u64, u64) {
        let entries = self.entries();
        (entries.len() as u64, entries.iter().map(|entry| entry.size).sum())
    }

    /// If the limit is exceeded, removes the least recently used entries until three quarters of it are used.
    fn evict(&self) {
        let entries = self.entries();
        if entries.iter().map(|entry| entry.size).sum::<u64>() > self.limit {
            self.remove(entries, self.limit / 4 * 3);
        }
    }

    /// Removes all entries.
    pub(super) fn clear(&self) {
        self.remove(self.entries(), 0);
    }

    /// Removes the least recently used entries until others with at most `kept` bytes are left.
    fn remove(&self, mut entries: Vec<Stored>, kept: u64) {
        let Some(root) = self.open() else { return };
        let mut total: u64 = entries.iter().map(|entry| entry.size).sum();
        entries.sort_unstable();
        for entry in entries {
            if total <= kept {
                break;
            }
            let Ok(folder) = root.subfolder(entry.folder.as_c_str()) else { continue };
            folder.remove(entry.file.as_c_str());
            root.remove_subfolder(entry.folder.as_c_str());
            total -= entry.size;
        }
    }
}

/// A file with an entry; the least recently used one is the smallest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Stored {
    /// Seconds and nanoseconds of the time.
    used: (i64, i64),
    size: u64,
    folder: CString,
    file: CString,
}

/// The contents of an entry of that name.
fn encode(name: &str, entry: &Entry) -> Option<Vec<u8>> {
    let body = postcard::to_stdvec(entry).ok()?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend(guard(name, &body));
    bytes.extend(body);
    Some(bytes)
}

fn decode(name: &str, bytes: &[u8]) -> Option<Entry> {
    let (hash, body) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
    if guard(name, body) != *hash {
        return None;
    }
    postcard::from_bytes(body).ok()
}

/// Checksum that detects damage and renamed entries.
fn guard(name: &str, body: &[u8]) -> Hash {
    Sha256::new().chain_update(name).chain_update(body).finalize().into()
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
    use std::fs::{File, Permissions};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};

    use gencl_program::protocol::CompileRequest;

    use super::*;

    /// A limit that the tests' entries do not exceed.
    const LIMIT: u64 = 1 << 30;

    /// A cache in a temporary folder, which is removed with it.
    struct Temporary(Cache);

    impl Temporary {
        fn new(name: &str, limit: u64) -> Self {
            let folder = std::env::temp_dir().join(format!("gencl-cache-{name}-{}", std::process::id()));
            Self(Cache { folder, limit })
        }

        /// A cache with an entry, and the entry's path.
        fn with_entry(name: &str) -> (Self, Key, PathBuf) {
            let temporary = Self::new(name, LIMIT);
            let cache = &temporary.0;
            let key = cache.key(&request("a"), "").unwrap();
            cache.store(&key, &result(100, &[]));
            assert!(cache.load(&key).is_some());
            let path = cache.path(&key);
            (temporary, key, path)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0.folder);
        }
    }

    impl Cache {
        fn path(&self, key: &Key) -> PathBuf {
            self.folder.join(&key.folder).join(&key.name)
        }
    }

    #[test]
    fn what_is_made_for_another_host_is_not_stored() {
        assert!(Debug::parse("log=debug,host=v3").0.is_any_set_but(HARMLESS));
        assert!(!Debug::parse("check,check-tools=race,check-output=x").0.is_any_set_but(HARMLESS));
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
        let Temporary(cache) = &Temporary::new("found", LIMIT);
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
        let (Temporary(cache), key, _) = &Temporary::with_entry("damage");
        let good = fs::read(cache.path(key)).unwrap();
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert!(decode(&key.name, &bad).is_none(), "byte {at}");
            assert!(decode(&key.name, &good[..at]).is_none(), "cut at {at}");
        }
        assert!(decode("another", &good).is_none());
        fs::write(cache.path(key), MAGIC).unwrap();
        assert_eq!(cache.load(key), None);
        cache.store(key, &result(100, &[]));
        assert!(cache.load(key).is_some());
    }

    #[test]
    fn what_is_made_is_the_users_alone() {
        let (temporary, _, entry) = Temporary::with_entry("modes");
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        assert_eq!(mode(&entry), 0o600);
        assert_eq!(mode(entry.parent().unwrap()), 0o700);
        assert_eq!(mode(&temporary.0.folder), 0o700);
    }

    /// An entry that `make` has replaced by another kind of file is ignored, and replaced.
    #[track_caller]
    fn refused(name: &str, make: impl FnOnce(&Path)) {
        let (Temporary(cache), key, entry) = &Temporary::with_entry(name);
        make(entry);
        assert_eq!(cache.load(key), None);
        cache.store(key, &result(100, &[]));
        assert_eq!(cache.load(key), Some(result(100, &[])));
    }

    #[test]
    fn links_and_what_would_wait_are_no_entries() {
        refused("link", |entry| {
            let other = entry.with_extension("other");
            fs::rename(entry, &other).unwrap();
            symlink(&other, entry).unwrap();
        });
        refused("fifo", |entry| {
            fs::remove_file(entry).unwrap();
            rustix::fs::mkfifoat(rustix::fs::CWD, entry, 0o600.into()).unwrap();
        });
    }

    #[test]
    fn what_others_may_write_to_is_no_entry() {
        let allow = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        refused("group-writable", |entry| allow(entry, 0o620));
        refused("world-writable", |entry| allow(entry, 0o602));
        let (Temporary(cache), key, entry) = &Temporary::with_entry("open-folders");
        for folder in [entry.parent().unwrap(), &cache.folder] {
            allow(folder, 0o770);
            assert_eq!(cache.load(key), None);
            allow(folder, 0o750);
            assert!(cache.load(key).is_some());
        }
    }

    #[test]
    fn a_folder_within_may_not_be_a_link_but_the_way_to_all_may() {
        let (temporary, key, entry) = Temporary::with_entry("folder-link");
        let folder = entry.parent().unwrap();
        let way = temporary.0.folder.join("way");
        symlink(&temporary.0.folder, &way).unwrap();
        assert!(Cache { folder: way, limit: LIMIT }.load(&key).is_some());
        let other = folder.with_extension("other");
        fs::rename(folder, &other).unwrap();
        symlink(&other, folder).unwrap();
        assert_eq!(temporary.0.load(&key), None);
    }

    /// Only root can change owners; other users test with root's files.
    #[test]
    fn what_belongs_to_another_user_is_not_used() {
        let untrusted = |opened: Result<Folder, Refusal>| matches!(opened, Err(Refusal::Untrusted(_)));
        if !rustix::process::geteuid().is_root() {
            assert!(untrusted(Folder::open(Path::new("/usr"))));
            return;
        }
        let give = |path: &Path, user| std::os::unix::fs::chown(path, Some(user), None).unwrap();
        refused("foreign", |entry| give(entry, 1));
        let (Temporary(cache), key, entry) = &Temporary::with_entry("foreign-folder");
        for folder in [entry.parent().unwrap(), &cache.folder] {
            give(folder, 1);
            assert_eq!(cache.load(key), None);
            assert!(!cache.knows(b"a"));
            give(folder, 0);
            assert!(cache.load(key).is_some());
        }
        give(&cache.folder, 1);
        cache.store(&cache.key(&request("b"), "").unwrap(), &result(100, &[]));
        assert_eq!(fs::read_dir(&cache.folder).unwrap().count(), 1, "nothing is written there");
    }

    #[test]
    fn files_that_were_included_are_looked_at() {
        let temporary = Temporary::new("files", LIMIT);
        let cache = &temporary.0;
        // Nobody else may write to it, whatever the umask.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&cache.folder).unwrap();
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
        let Temporary(cache) = &Temporary::new("time", LIMIT);
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
                encode(&key.name, &Entry { log: String::new(), files: Vec::new(), binary: vec![0; 1000] })
                    .unwrap();
            cache.write(key, &bytes).unwrap();
            let time = SystemTime::now() - std::time::Duration::from_secs(1000 * (age as u64 + 1));
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
