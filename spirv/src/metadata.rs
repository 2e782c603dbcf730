//! Metadata of a module, which LLVM IR has at the end.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::walk::Id;

/// The debug information that is written.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// The compilation unit, which the first function with lines makes, and in front of two nodes of flags.
    pub(crate) unit: Option<usize>,
    /// By the id of the file's name.
    pub(crate) files: FxHashMap<Id, usize>,
    /// By function, call that the producer inlined, line and column.
    pub(crate) locations: FxHashMap<(usize, Option<usize>, u32, u16), usize>,
    /// Functions that the producer inlined, by their ids.
    pub(crate) inlined: FxHashMap<Id, usize>,
    /// Calls of them, by the function in which they are and their ids.
    pub(crate) calls: FxHashMap<(usize, Id), usize>,
}

/// The metadata of a module.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    text: String,
    next: usize,
    division: Option<usize>,
    pub(crate) lines: Lines,
}

impl Metadata {
    /// Enters a node that is a list; its number.
    pub(crate) fn add(&mut self, list: &str) -> usize {
        self.add_node(&format!("!{{{list}}}"))
    }

    /// Enters a node; its number.
    pub(crate) fn add_node(&mut self, node: &str) -> usize {
        let _ = writeln!(self.text, "!{} = {node}", self.next);
        self.next += 1;
        self.next - 1
    }

    /// Enters a node that equal ones are not merged with; its number.
    pub(crate) fn add_distinct(&mut self, node: &str) -> usize {
        self.add_node(&format!("distinct {node}"))
    }

    /// Enters the properties of a loop, each a node; the number of the loop's own node, which names itself.
    pub(crate) fn add_loop(&mut self, properties: &[String]) -> usize {
        let list: Vec<String> = properties.iter().map(|node| format!(", !{}", self.add(node))).collect();
        self.add_distinct(&format!("!{{!{}{}}}", self.next, list.concat()))
    }

    /// The number of the node with the error that a division of single floats may have: OpenCL C 3.0, 7.4.
    pub(crate) fn division(&mut self) -> usize {
        if let Some(number) = self.division {
            return number;
        }
        let number = self.add("float 2.5");
        *self.division.insert(number)
    }

    pub(crate) fn text(&self) -> String {
        let lines = self.lines.unit.map(|unit| {
            format!("!llvm.dbg.cu = !{{!{unit}}}\n!llvm.module.flags = !{{!{}, !{}}}\n", unit + 1, unit + 2)
        });
        format!(
            "\n!opencl.ocl.version = !{{!{0}}}\n{1}!{0} = !{{i32 3, i32 0}}\n{2}",
            self.next,
            self.text,
            lines.unwrap_or_default()
        )
    }
}
