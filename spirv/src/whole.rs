//! The module as LLVM IR: globals, declarations, functions.

use std::fmt::Write;

use rspirv::spirv::{BuiltIn, Decoration, LinkageType, Op, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::constants::CONSTANTS;
use crate::environment::Environment;
use crate::error::Result;
use crate::lower::FunctionWriter;
use crate::text::quoted;
use crate::types::{Type, address_space};
use crate::walk::{Id, Instruction};
use crate::writer::{Constant, Value, Writer};

impl Writer<'_> {
    /// The whole module.
    pub(crate) fn write(mut self) -> Result<String> {
        let module = self.module;
        if let (Some(first), true) =
            (module.functions.first(), module.pointer_bits != self.environment.pointer_bits)
        {
            let (own, device) = (module.pointer_bits, self.environment.pointer_bits);
            return Err(first.own.error(format!("pointers have {own} bits, those of the device {device}")));
        }
        // Initialisers name functions and later variables.
        self.name_functions();
        for own in &module.globals {
            self.global(own)?;
        }
        for function in &module.functions {
            let text = FunctionWriter::new(&mut self, function).write()?;
            self.functions.push_str(&text);
        }
        let Environment { triple, data_layout, .. } = self.environment;
        let mut text = format!("target datalayout = \"{data_layout}\"\ntarget triple = \"{triple}\"\n\n");
        text.push_str(&self.types.definitions);
        text.push_str(&self.globals);
        for line in self.declarations.values() {
            text.push_str(line);
        }
        text.push_str(&self.functions);
        text.push_str(ATTRIBUTES);
        text.push_str(&self.metadata.text());
        Ok(text)
    }

    /// The name of a function or variable: what kernels and other modules call it, or its id.
    fn name_functions(&mut self) {
        let kernels: FxHashMap<Id, &str> =
            self.module.entry_points.iter().map(|entry| (entry.function, entry.name.as_str())).collect();
        let taken: FxHashSet<&str> = kernels.values().copied().collect();
        for function in &self.module.functions {
            let id = function.own.result;
            let name = match (kernels.get(&id), self.module.linkage(id)) {
                (Some(name), _) => (*name).to_owned(),
                // Producers make a kernel that calls an exported function of the same name.
                (None, Some((name, _))) if !taken.contains(name.as_str()) => name,
                (None, _) => format!("function.{id}"),
            };
            let ty = function.own.operands.get(1).copied().unwrap_or(0);
            self.values.insert(id, Value { ty, text: quoted(&name) });
        }
    }

    /// A type, a constant or a variable.
    fn global(&mut self, own: &Instruction<'_>) -> Result<()> {
        match own.op {
            Op::Variable => self.variable(own),
            Op::TypeForwardPointer => self.types.declare_pointer(own),
            op if CONSTANTS.contains(&op) => self.constant(own),
            _ => {
                let packed = self.module.decoration(own.result, Decoration::CPacked).is_some();
                let constants = &self.constants;
                self.types.define(own, packed, |id| constants.get(&id).and_then(Constant::integer))
            }
        }
    }

    fn variable(&mut self, own: &Instruction<'_>) -> Result<()> {
        let id = own.result;
        let Some(Type::Pointer(class, pointee)) = self.types.get(own.ty).cloned() else {
            return Err(own.error("a variable's type is no pointer"));
        };
        if let Some([number, ..]) = self.module.decoration(id, Decoration::BuiltIn) {
            let known = BuiltIn::from_u32(*number);
            let known = known.ok_or_else(|| own.error(format!("there is no built-in variable {number}")))?;
            self.built_ins.insert(id, known);
            self.values.insert(id, Value { ty: own.ty, text: "poison".into() });
            return Ok(());
        }
        let linkage = self.module.linkage(id);
        let name = linkage.as_ref().map_or_else(|| format!("variable.{id}"), |(name, _)| name.clone());
        let space = address_space(class).expect("it is a pointer's");
        let initial = match own.operands.get(1) {
            Some(initial) => self.value(own, *initial)?.text,
            None if matches!(linkage, Some((_, LinkageType::Import))) => String::new(),
            None if class == StorageClass::Workgroup => "undef".into(),
            None => "zeroinitializer".into(),
        };
        let kind = if class == StorageClass::UniformConstant { "constant" } else { "global" };
        let linked = match linkage {
            Some((_, LinkageType::Import)) => "external ",
            // Another module may import it: `linkonce_odr` would go where nothing in this module uses it.
            Some((_, LinkageType::LinkOnceODR)) => "weak_odr ",
            Some(_) => "",
            None => "internal ",
        };
        let align = self.module.alignment(id).map(|bytes| format!(", align {bytes}")).unwrap_or_default();
        let (name, ty) = (quoted(&name), self.types.text(pointee));
        let _ = writeln!(self.globals, "{name} = {linked}addrspace({space}) {kind} {ty} {initial}{align}");
        self.values.insert(id, Value { ty: own.ty, text: name });
        Ok(())
    }
}

/// Attributes that clang gives to functions and their declarations: calls are not moved into or out of branches.
const ATTRIBUTES: &str = "\nattributes #0 = { convergent nounwind }\n";
