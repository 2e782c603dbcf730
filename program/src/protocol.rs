//! The compile server's protocol.
//!
//! `genclc --serve` reads [`ToServer`] messages from its standard input and writes [`FromServer`] messages to
//! its standard output. A message is a frame: its length in bytes as a little-endian `u32`, then the message
//! itself in `postcard` encoding. Each side first sends its [`VERSION`], and closes the connection when the
//! other's differs. Requests are answered in order, one [`FromServer::Result`] or
//! [`FromServer::Translated`] each, with any number of [`FromServer::Progress`] before it.
//!
//! New variants are added at the end of the enumerations, and any change of a variant raises [`VERSION`].

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The version of the protocol that this crate speaks.
pub const VERSION: u32 = 7;

/// Longest frame that is accepted, in bytes: far above any program, far below a garbled length.
pub const MAX_FRAME: u32 = 256 << 20;

/// A message to the compile server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToServer {
    /// The first message.
    Hello {
        /// The client's [`VERSION`].
        version: u32,
    },
    /// Compile one source.
    Compile(CompileRequest),
    /// Link objects and libraries.
    Link(LinkRequest),
    /// Translate a kernel's machine code to host code. The contents are defined by the execution units'
    /// interface for translated code (`Request`, in `postcard` encoding).
    Translate(Vec<u8>),
    /// Compile an executable for another SIMD width.
    Widen(WidenRequest),
}

/// Compiles an executable's kernels for a larger SIMD width, which allows larger work-groups.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WidenRequest {
    /// The executable as an ELF file, with its bitcode.
    pub program: Vec<u8>,
    /// SIMD width of all kernels without a required sub-group size.
    pub lanes: u32,
}

/// Links objects and libraries: results of [`CompileRequest`]s with `object` and of other links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRequest {
    /// Objects and libraries as ELF files.
    pub inputs: Vec<Vec<u8>>,
    /// Link options as the application gave them.
    pub options: String,
    /// The target's name as `genclc --target` takes it: `skl`.
    pub target: String,
}

/// A build from source or IL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileRequest {
    /// OpenCL C, or a module of SPIR-V, which its magic number tells.
    pub source: Vec<u8>,
    /// Build options as the application gave them.
    pub options: String,
    /// Files for `#include`, which take precedence over those on disk.
    pub headers: Vec<Header>,
    /// The target's name as `genclc --target` takes it: `skl`.
    pub target: String,
    /// Make an object, without linking.
    pub object: bool,
    /// Values of a module's specialization constants, little endian, with their ids (the decoration SpecId).
    pub specialization: Vec<(u32, Vec<u8>)>,
}

/// A header in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Name, as in the quotes of `#include`.
    pub name: String,
    /// Its text.
    pub source: Vec<u8>,
}

/// A message from the compile server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromServer {
    /// The first message.
    Hello {
        /// The server's [`VERSION`].
        version: u32,
        /// Identity of the compiler, part of the cache's key: differs whenever output may differ.
        compiler: String,
    },
    /// The server begins a pass. Tells the client where a crash happened.
    Progress {
        /// The kernel; empty when the pass works on the whole program.
        kernel: String,
        /// The pass.
        pass: String,
    },
    /// Result of a build.
    Result(BuildResult),
    /// The end of a translation (`gencl_simulator::translated::abi::Answer`, in `postcard` encoding).
    Translated(Vec<u8>),
    /// The last message: the server's process has ended with this status (of `waitpid`). The server is no
    /// child of the application, so that the application's `wait` does not see it.
    Ended(i32),
}

/// Result of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildResult {
    /// Success or kind of error.
    pub status: Status,
    /// The build log: errors and warnings with line and column.
    pub log: String,
    /// The program as ELF file when `status` is [`Status::Success`], else empty.
    pub binary: Vec<u8>,
    /// Files on disk that the build has read.
    pub files: Vec<String>,
}

/// Status of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// The build succeeded, and there is a binary.
    Success,
    /// `CL_BUILD_PROGRAM_FAILURE`: an error in the source, or something that the device does not support.
    Failure,
    /// `CL_INVALID_BUILD_OPTIONS`
    InvalidOptions,
    /// The target is not known to this compiler.
    InvalidTarget,
}

/// Writes one message and flushes.
///
/// # Errors
/// Those of the stream; [`io::ErrorKind::InvalidData`] when the message is longer than [`MAX_FRAME`].
pub fn write_message<T: Serialize>(stream: &mut impl Write, message: &T) -> io::Result<()> {
    let bytes = postcard::to_stdvec(message).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
    let length = u32::try_from(bytes.len())
        .ok()
        .filter(|&length| length <= MAX_FRAME)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "message too long"))?;
    stream.write_all(&length.to_le_bytes())?;
    stream.write_all(&bytes)?;
    stream.flush()
}

/// Reads one message; `None` when the stream ends before its first byte.
///
/// # Errors
/// Those of the stream, [`io::ErrorKind::UnexpectedEof`] for an end inside a message, and
/// [`io::ErrorKind::InvalidData`] for bytes that are no message.
pub fn read_message<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    let mut have = 0;
    while have < length.len() {
        match stream.read(&mut length[have..]) {
            Ok(0) if have == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => have += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    let length = u32::from_le_bytes(length);
    if length > MAX_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("frame of {length} bytes")));
    }
    // Memory grows with the bytes that arrive, so that a garbled length does not reserve any.
    let mut bytes = Vec::new();
    stream.take(u64::from(length)).read_to_end(&mut bytes)?;
    if bytes.len() < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    match postcard::take_from_bytes(&bytes) {
        Ok((message, [])) => Ok(Some(message)),
        Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "bytes after the message")),
        Err(e) => Err(io::Error::new(io::ErrorKind::InvalidData, e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile() -> ToServer {
        ToServer::Compile(CompileRequest {
            source: b"kernel void k() {}".to_vec(),
            options: "-w".into(),
            headers: vec![Header { name: "a.h".into(), source: b"int a;".to_vec() }],
            target: "skl".into(),
            object: false,
            specialization: vec![(1, vec![2, 3])],
        })
    }

    #[test]
    fn messages_round_trip_in_order() {
        let mut stream = Vec::new();
        write_message(&mut stream, &ToServer::Hello { version: VERSION }).unwrap();
        write_message(&mut stream, &compile()).unwrap();
        let mut read = stream.as_slice();
        assert_eq!(read_message(&mut read).unwrap(), Some(ToServer::Hello { version: VERSION }));
        assert_eq!(read_message(&mut read).unwrap(), Some(compile()));
        assert_eq!(read_message::<ToServer>(&mut read).unwrap(), None);
    }

    #[test]
    fn truncated_messages_are_errors() {
        let mut stream = Vec::new();
        write_message(&mut stream, &compile()).unwrap();
        for cut in 1..stream.len() {
            let error = read_message::<ToServer>(&mut &stream[..cut]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "cut at {cut}");
        }
    }

    #[test]
    fn a_garbled_length_is_refused() {
        let stream = [0xff; 64];
        let error = read_message::<ToServer>(&mut stream.as_slice()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    proptest::proptest! {
        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..256)) {
            let mut stream = (bytes.len() as u32).to_le_bytes().to_vec();
            stream.extend(&bytes);
            let _ = read_message::<ToServer>(&mut stream.as_slice());
            let _ = read_message::<FromServer>(&mut stream.as_slice());
        }
    }
}
