//! The parts of a module: SPIR-V 1.6, 2.4 "Logical Layout of a Module".

use rspirv::spirv::{
    AddressingModel, Decoration, ExecutionMode, ExecutionModel, LinkageType, MemoryModel, Op,
};
use rustc_hash::FxHashMap;

use crate::capability::{self, Set};
use crate::environment::Features;
use crate::error::Result;
use crate::scopes::{self, Node, Scope};
use crate::walk::{Id, Instruction};

/// What is said of an id, apart from its definition.
#[derive(Clone, Debug)]
pub(crate) struct Decorated {
    pub(crate) decoration: Decoration,
    pub(crate) operands: Vec<u32>,
}

/// A kernel.
#[derive(Clone, Debug)]
pub(crate) struct EntryPoint {
    pub(crate) function: Id,
    pub(crate) name: String,
}

/// An execution mode of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Mode {
    pub(crate) mode: ExecutionMode,
    pub(crate) operands: Vec<u32>,
}

/// A place in a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The id of the file's name.
    pub(crate) file: Id,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// A basic block.
#[derive(Clone, Debug)]
pub(crate) struct Block<'a> {
    pub(crate) label: Id,
    pub(crate) instructions: Vec<Instruction<'a>>,
}

/// A function; without blocks one that another module has.
#[derive(Clone, Debug)]
pub(crate) struct Function<'a> {
    pub(crate) own: Instruction<'a>,
    /// Where its definition is, if the module tells it.
    pub(crate) place: Option<Place>,
    pub(crate) parameters: Vec<Instruction<'a>>,
    pub(crate) blocks: Vec<Block<'a>>,
}

/// A module.
#[derive(Debug, Default)]
pub(crate) struct Module<'a> {
    /// The number of the tool that wrote it.
    pub(crate) tool: u32,
    pub(crate) pointer_bits: u32,
    /// Products and sums are rounded separately (ContractionOff). It is said of kernels, whose functions are shared.
    pub(crate) forbids_contraction: bool,
    pub(crate) sets: FxHashMap<Id, Set>,
    pub(crate) entry_points: Vec<EntryPoint>,
    pub(crate) modes: FxHashMap<Id, Vec<Mode>>,
    pub(crate) names: FxHashMap<Id, String>,
    pub(crate) strings: FxHashMap<Id, String>,
    /// Texts of source files, by the ids of the files' names.
    pub(crate) sources: FxHashMap<Id, String>,
    /// Nodes of debug information.
    pub(crate) scopes: FxHashMap<Id, Node>,
    /// Constants of one word, by which debug information may name lines.
    numbers: FxHashMap<Id, u32>,
    decorations: FxHashMap<Id, Vec<Decorated>>,
    /// Types, constants and variables, in the module's order.
    pub(crate) globals: Vec<Instruction<'a>>,
    pub(crate) functions: Vec<Function<'a>>,
    /// Indices in it, by the functions' ids.
    by_id: FxHashMap<Id, usize>,
}

impl<'a> Module<'a> {
    /// The parts of a module with these instructions, for a device with these features.
    ///
    /// # Errors
    /// Instructions are at places where they may not be, or demand what there is not.
    pub(crate) fn new(tool: u32, instructions: &[Instruction<'a>], features: Features) -> Result<Module<'a>> {
        let mut module = Module { tool, ..Module::default() };
        let mut open: Option<Function<'a>> = None;
        let mut place = None;
        // The file whose text continues.
        let mut text_of = None;
        for own in instructions {
            match (own.op, &mut open) {
                (Op::Function, None) => {
                    let (parameters, blocks) = (Vec::new(), Vec::new());
                    open = Some(Function { own: *own, place, parameters, blocks });
                }
                (Op::Line | Op::NoLine, None) => place = module.place(own).flatten(),
                (Op::Source, None) => text_of = module.source(own)?,
                (Op::SourceContinued, None) => {
                    if let Some(text) = text_of.and_then(|file| module.sources.get_mut(&file)) {
                        text.push_str(&own.string(0)?.0);
                    }
                }
                (Op::FunctionParameter, Some(function)) if function.blocks.is_empty() => {
                    function.parameters.push(*own);
                }
                (Op::FunctionEnd, Some(function)) => {
                    module.by_id.insert(function.own.result, module.functions.len());
                    module.functions.extend(open.take());
                }
                (Op::Label, Some(function)) => {
                    function.blocks.push(Block { label: own.result, instructions: Vec::new() });
                }
                (_, Some(function)) => match function.blocks.last_mut() {
                    Some(block) => block.instructions.push(*own),
                    None if is_debug(own.op) => {}
                    None => return Err(own.error("it is in no block")),
                },
                (_, None) => module.global(own, features)?,
            }
        }
        if let Some(function) = open {
            return Err(function.own.error("the function does not end"));
        }
        if module.pointer_bits == 0 {
            return Err(match instructions.first() {
                Some(first) => first.error("the module has no memory model"),
                None => crate::error::SpirvError {
                    place: crate::error::Place { number: None, opcode: 0, offset: 0 },
                    what: "the module has no instructions".into(),
                },
            });
        }
        Ok(module)
    }

    fn global(&mut self, own: &Instruction<'a>, features: Features) -> Result<()> {
        match own.op {
            Op::Capability => {
                capability::check(own.operand(0)?, features).map_err(|what| own.error(what))?;
            }
            Op::ExtInstImport => {
                let (name, _) = own.string(0)?;
                let set = capability::set(&name);
                let set =
                    set.ok_or_else(|| own.error(format!("the instruction set {name} is not supported")))?;
                self.sets.insert(own.result, set);
            }
            Op::MemoryModel => {
                let (addressing, memory) = (own.operand(0)?, own.operand(1)?);
                self.pointer_bits = match AddressingModel::from_u32(addressing) {
                    Some(AddressingModel::Physical32) => 32,
                    Some(AddressingModel::Physical64) => 64,
                    _ => return Err(own.error("the addressing model is not physical")),
                };
                if MemoryModel::from_u32(memory) != Some(MemoryModel::OpenCL) {
                    return Err(own.error("the memory model is not OpenCL's"));
                }
            }
            Op::EntryPoint => {
                if ExecutionModel::from_u32(own.operand(0)?) != Some(ExecutionModel::Kernel) {
                    return Err(own.error("the entry point is no kernel"));
                }
                let name = own.string(2)?.0;
                self.entry_points.push(EntryPoint { function: own.operand(1)?, name });
            }
            Op::ExecutionMode | Op::ExecutionModeId => {
                // An unknown mode changes no meaning: those that do need a capability.
                if let Some(mode) = ExecutionMode::from_u32(own.operand(1)?) {
                    self.forbids_contraction |= mode == ExecutionMode::ContractionOff;
                    let operands = own.operands_from(2)?.to_vec();
                    self.modes.entry(own.operand(0)?).or_default().push(Mode { mode, operands });
                }
            }
            Op::Name => {
                self.names.insert(own.operand(0)?, own.string(1)?.0);
            }
            Op::String => {
                self.strings.insert(own.result, own.string(0)?.0);
            }
            Op::Decorate | Op::DecorateId => {
                if let Some(decoration) = Decoration::from_u32(own.operand(1)?) {
                    let operands = own.operands_from(2)?.to_vec();
                    let list = self.decorations.entry(own.operand(0)?).or_default();
                    list.push(Decorated { decoration, operands });
                }
            }
            Op::GroupDecorate => {
                let group = self.decorations.get(&own.operand(0)?).cloned().unwrap_or_default();
                for id in own.operands_from(1)? {
                    self.decorations.entry(*id).or_default().extend(group.iter().cloned());
                }
            }
            op if is_debug(op) => {}
            Op::Extension
            | Op::DecorationGroup
            | Op::DecorateString
            | Op::MemberDecorate
            | Op::MemberDecorateString => {}
            // What accesses may be of the same memory: hints, by decorations and memory operands.
            Op::AliasDomainDeclINTEL | Op::AliasScopeDeclINTEL | Op::AliasScopeListDeclINTEL => {}
            Op::TypeForwardPointer => self.globals.push(*own),
            Op::ExtInst if self.is_debug(own) => self.scope_node(own),
            _ if own.result != 0 => {
                if let (Op::Constant, [number]) = (own.op, own.operands) {
                    self.numbers.insert(own.result, *number);
                }
                self.globals.push(*own);
            }
            _ => return Err(own.error("it may not be outside of functions")),
        }
        Ok(())
    }

    /// OpSource: the file's id, if it has one and a text.
    fn source(&mut self, own: &Instruction<'a>) -> Result<Option<Id>> {
        let (Some(file), true) = (own.operands.get(2), own.operands.len() > 3) else { return Ok(None) };
        self.sources.insert(*file, own.string(3)?.0);
        Ok(Some(*file))
    }

    /// Keeps a node of debug information, if an instruction makes one.
    fn scope_node(&mut self, own: &Instruction<'a>) {
        let node = match self.set(own) {
            Some(Set::DebugInfo) => Node::of(own, |number| number),
            Some(Set::ShaderDebugInfo) => Node::of(own, |id| self.number(id)),
            _ => None,
        };
        if let Some(Node::Source { file, text: Some(text) }) = node
            && let Some(text) = self.strings.get(&text)
        {
            self.sources.insert(file, text.clone());
        }
        self.scopes.extend(node.map(|node| (own.result, node)));
    }

    /// A constant that debug information names; 0, a line that is not known, if it is none.
    fn number(&self, id: Id) -> u32 {
        self.numbers.get(&id).copied().unwrap_or(0)
    }

    /// Whether an instruction does nothing that a kernel notices.
    pub(crate) fn is_debug(&self, own: &Instruction<'_>) -> bool {
        is_debug(own.op) || self.set(own).is_some_and(|set| set != Set::OpenCl)
    }

    /// The set of an extended instruction.
    fn set(&self, own: &Instruction<'_>) -> Option<Set> {
        (own.op == Op::ExtInst).then(|| self.sets.get(own.operands.first()?).copied())?
    }

    /// The scope of the instructions that follow, if an instruction changes it.
    pub(crate) fn scope(&self, own: &Instruction<'_>) -> Option<Option<Scope>> {
        let tells = matches!(self.set(own), Some(Set::DebugInfo | Set::ShaderDebugInfo));
        Scope::of(own).filter(|_| tells)
    }

    /// The place of the instructions that follow, if an instruction changes it.
    pub(crate) fn place(&self, own: &Instruction<'_>) -> Option<Option<Place>> {
        match (own.op, own.operands) {
            (Op::Line, [file, line, column, ..]) => {
                Some(Some(Place { file: *file, line: *line, column: *column }))
            }
            (Op::NoLine, _) => Some(None),
            (Op::ExtInst, _) if self.set(own) == Some(Set::ShaderDebugInfo) => {
                let ids = scopes::line(own)?;
                Some(ids.and_then(|[source, line, column]| {
                    let Node::Source { file, .. } = *self.scopes.get(&source)? else { return None };
                    Some(Place { file, line: self.number(line), column: self.number(column) })
                }))
            }
            _ => None,
        }
    }

    /// The function with an id.
    pub(crate) fn function(&self, id: Id) -> Option<&Function<'a>> {
        self.by_id.get(&id).map(|index| &self.functions[*index])
    }

    /// The function that a kernel only calls, with its own parameters: producers keep kernels that other functions call
    /// twice. Its body is the kernel's, so that structures are not copied for the call.
    pub(crate) fn called_only(&self, kernel: &Function<'a>) -> Option<&Function<'a>> {
        let is_kernel = self.entry_points.iter().any(|entry| entry.function == kernel.own.result);
        let [block] = kernel.blocks.as_slice() else { return None };
        let mut instructions = block.instructions.iter().filter(|own| !self.is_debug(own));
        let (call, end) = (instructions.next()?, instructions.next()?);
        if !is_kernel || instructions.next().is_some() || call.op != Op::FunctionCall || end.op != Op::Return
        {
            return None;
        }
        let (called, arguments) = call.operands.split_first()?;
        let same = arguments.iter().eq(kernel.parameters.iter().map(|parameter| &parameter.result));
        let called = self.function(*called)?;
        (same && called.parameters.len() == arguments.len() && !called.blocks.is_empty()).then_some(called)
    }

    /// What is said of an id by one kind of decoration: its operands.
    pub(crate) fn decoration(&self, id: Id, decoration: Decoration) -> Option<&[u32]> {
        self.decorations_of(id, decoration).next()
    }

    /// The operands of all decorations of one kind.
    pub(crate) fn decorations_of(&self, id: Id, decoration: Decoration) -> impl Iterator<Item = &[u32]> {
        let list = self.decorations.get(&id).map_or(&[][..], Vec::as_slice);
        list.iter().filter(move |row| row.decoration == decoration).map(|row| row.operands.as_slice())
    }

    /// The alignment that an id is decorated with, in bytes.
    pub(crate) fn alignment(&self, id: Id) -> Option<u32> {
        let bytes = *self.decoration(id, Decoration::Alignment)?.first()?;
        bytes.is_power_of_two().then_some(bytes)
    }

    /// The name and kind of linkage of an id, if other modules know it.
    pub(crate) fn linkage(&self, id: Id) -> Option<(String, LinkageType)> {
        let operands = self.decoration(id, Decoration::LinkageAttributes)?;
        let (kind, name) = operands.split_last()?;
        let bytes: Vec<u8> =
            name.iter().flat_map(|word| word.to_le_bytes()).take_while(|b| *b != 0).collect();
        Some((String::from_utf8(bytes).ok()?, LinkageType::from_u32(*kind)?))
    }
}

/// Instructions for debuggers and tools.
pub(crate) fn is_debug(op: Op) -> bool {
    matches!(
        op,
        Op::Nop
            | Op::Line
            | Op::NoLine
            | Op::Source
            | Op::SourceContinued
            | Op::SourceExtension
            | Op::MemberName
            | Op::ModuleProcessed
    )
}
