//! What is known of a module while it is written: types, values, declarations.

use std::collections::BTreeMap;
use std::rc::Rc;

use rspirv::spirv::BuiltIn;
use rustc_hash::FxHashMap;

use crate::environment::Environment;
use crate::error::Result;
use crate::metadata::Metadata;
use crate::module::Module;
use crate::text::quoted;
use crate::types::Types;
use crate::walk::{Id, Instruction};

/// What is known of a constant's value.
#[derive(Clone, Debug)]
pub(crate) enum Constant {
    /// An integer or truth value, zero-extended.
    Integer(u64),
    /// The bits of a float.
    Float(u64),
    /// OpConstantSampler: addressing mode, whether coordinates are normalised, filter mode.
    Sampler([u32; 3]),
    /// The parts of a vector, array or structure.
    Composite(Rc<[Part]>),
    /// A vector, array or structure of zeros.
    Null,
    Undef,
}

impl Constant {
    pub(crate) fn integer(&self) -> Option<u64> {
        match self {
            Constant::Integer(value) => Some(*value),
            _ => None,
        }
    }
}

/// A value: its type, and how an operand names it.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) ty: Id,
    pub(crate) text: String,
}

/// A constant, or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) value: Value,
    pub(crate) constant: Option<Constant>,
}

impl Part {
    pub(crate) fn new(ty: Id, text: String, constant: Option<Constant>) -> Part {
        Part { value: Value { ty, text }, constant }
    }

    pub(crate) fn undefined(ty: Id) -> Part {
        Part::new(ty, "undef".into(), Some(Constant::Undef))
    }
}

/// A module that is written.
pub(crate) struct Writer<'m> {
    pub(crate) module: &'m Module<'m>,
    pub(crate) environment: &'m Environment<'m>,
    pub(crate) types: Types,
    pub(crate) constants: FxHashMap<Id, Constant>,
    /// Bytes of all composite constants.
    pub(crate) constant_bytes: usize,
    /// Constants, variables and functions.
    pub(crate) values: FxHashMap<Id, Value>,
    /// Variables whose value is a built-in function's.
    pub(crate) built_ins: FxHashMap<Id, BuiltIn>,
    pub(crate) declarations: BTreeMap<String, String>,
    pub(crate) globals: String,
    pub(crate) functions: String,
    pub(crate) metadata: Metadata,
}

impl<'m> Writer<'m> {
    pub(crate) fn new(module: &'m Module<'m>, environment: &'m Environment<'m>) -> Writer<'m> {
        Writer {
            module,
            environment,
            types: Types::default(),
            constants: FxHashMap::default(),
            constant_bytes: 0,
            values: FxHashMap::default(),
            built_ins: FxHashMap::default(),
            declarations: BTreeMap::new(),
            globals: String::new(),
            functions: String::new(),
            metadata: Metadata::default(),
        }
    }

    /// A value that is known outside of functions.
    pub(crate) fn value(&self, own: &Instruction<'_>, id: Id) -> Result<Value> {
        self.values.get(&id).cloned().ok_or_else(|| own.error(format!("{id} has no value")))
    }

    /// A value with its type, as operands are written.
    pub(crate) fn typed(&self, value: &Value) -> String {
        format!("{} {}", self.types.text(value.ty), value.text)
    }

    /// Declares a function; its name with `@`.
    pub(crate) fn declare(&mut self, name: &str, result: &str, parameters: &str) -> String {
        let name = quoted(name);
        let line = || format!("declare spir_func {result} {name}({parameters}) #0\n");
        self.declarations.entry(name.clone()).or_insert_with(line);
        name
    }

    /// Declares one of LLVM's intrinsics.
    pub(crate) fn declare_intrinsic(&mut self, name: &str, result: &str, parameters: &str) {
        let line = || format!("declare {result} @{name}({parameters})\n");
        self.declarations.entry(format!("@{name}")).or_insert_with(line);
    }
}
