//! What a program was created from.

use std::collections::BTreeMap;

use gencl_program::protocol::CompileRequest;
use gencl_spirv::SpecConstant;
use parking_lot::Mutex;

use crate::{Code, Error, Result};

/// What a program was created from.
#[derive(Debug)]
pub(super) enum Input {
    /// OpenCL C.
    Source(String),
    /// A module of SPIR-V.
    Il(Il),
    /// Binaries of the application.
    Binaries,
    /// Objects and libraries, by `clLinkProgram`.
    Objects,
}

impl Input {
    /// Builds compile it.
    pub(super) fn is_compiled(&self) -> bool {
        matches!(self, Self::Source(_) | Self::Il(_))
    }

    /// A request with what is to be compiled. Its target and options are left empty. `None` when there is nothing to
    /// compile.
    pub(super) fn request(&self) -> Option<CompileRequest> {
        let (source, specialization) = match self {
            Self::Source(source) => (source.as_bytes(), Vec::new()),
            Self::Il(il) => (&*il.module, il.values.lock().clone().into_iter().collect()),
            Self::Binaries | Self::Objects => return None,
        };
        Some(CompileRequest { source: source.to_vec(), specialization, ..CompileRequest::default() })
    }
}

/// A module of SPIR-V.
#[derive(Debug)]
pub(super) struct Il {
    pub(super) module: Box<[u8]>,
    constants: Vec<SpecConstant>,
    /// Values that were set, little endian, by the constants' ids.
    values: Mutex<BTreeMap<u32, Vec<u8>>>,
}

impl Il {
    /// `INVALID_VALUE` when the bytes are no module. What is wrong within instructions is found by a build, whose log says
    /// what.
    pub(super) fn new(module: &[u8]) -> Result<Self> {
        let constants = gencl_spirv::specialization_constants(module)
            .map_err(|error| Error::new(Code::InvalidValue, error.to_string()))?;
        Ok(Self { module: module.into(), constants, values: Mutex::default() })
    }

    /// The number of bytes of a specialization constant. `INVALID_SPEC_ID`.
    pub(super) fn size_of(&self, id: u32) -> Result<usize> {
        let found = self.constants.iter().find(|constant| constant.id == id);
        found.map(|constant| constant.size).ok_or_else(|| {
            let ids: Vec<_> = self.constants.iter().map(|constant| constant.id.to_string()).collect();
            let reason = format!("the module has no specialization constant {id}, but [{}]", ids.join(", "));
            Error::new(Code::InvalidSpecId, reason)
        })
    }

    /// Sets a specialization constant of that size for builds to come.
    pub(super) fn specialize(&self, id: u32, value: &[u8]) {
        self.values.lock().insert(id, value.to_vec());
    }
}
