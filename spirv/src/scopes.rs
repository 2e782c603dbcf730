//! What producers tell of functions in the source: OpenCL.DebugInfo.100 and NonSemantic.Shader.DebugInfo.100, which
//! number their instructions alike.

use crate::walk::{Id, Instruction};

/// Instructions of the set, by their numbers.
const FUNCTION: u32 = 20;
const LEXICAL_BLOCK: u32 = 21;
const LEXICAL_BLOCK_DISCRIMINATOR: u32 = 22;
const SCOPE: u32 = 23;
const NO_SCOPE: u32 = 24;
const INLINED_AT: u32 = 25;
const SOURCE: u32 = 35;
/// Of NonSemantic.Shader.DebugInfo.100 only, in place of OpLine.
const LINE: u32 = 103;
const NO_LINE: u32 = 104;

/// A node of the debug information.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Node {
    /// The ids of its name and of its source.
    Function { name: Id, source: Id, line: u32 },
    /// A part of another scope.
    Block { parent: Id },
    /// A call that the producer inlined, in a scope, which may be inlined in turn.
    InlinedAt { line: u32, scope: Id, outer: Option<Id> },
    /// The ids of the file's name and of its text.
    Source { file: Id, text: Option<Id> },
}

/// A scope, and the call by which it is where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) scope: Id,
    pub(crate) inlined_at: Option<Id>,
}

impl Node {
    /// The node that an instruction of a set makes. `number` gives the value of an operand that is a number.
    pub(crate) fn of(own: &Instruction<'_>, number: impl Fn(u32) -> u32) -> Option<Node> {
        match *own.operands {
            [_, FUNCTION, name, _, source, line, ..] => {
                Some(Node::Function { name, source, line: number(line) })
            }
            [_, LEXICAL_BLOCK, _, _, _, parent, ..] | [_, LEXICAL_BLOCK_DISCRIMINATOR, _, _, parent, ..] => {
                Some(Node::Block { parent })
            }
            [_, INLINED_AT, line, scope, ref outer @ ..] => {
                Some(Node::InlinedAt { line: number(line), scope, outer: outer.first().copied() })
            }
            [_, SOURCE, file, ref text @ ..] => Some(Node::Source { file, text: text.first().copied() }),
            _ => None,
        }
    }
}

/// The operands of an instruction of NonSemantic.Shader.DebugInfo.100 that sets the line of those that follow: ids of
/// the source, the line and the column; `None` within when it is not known.
pub(crate) fn line(own: &Instruction<'_>) -> Option<Option<[Id; 3]>> {
    match *own.operands {
        [_, LINE, source, line, _, column, ..] => Some(Some([source, line, column])),
        [_, NO_LINE, ..] => Some(None),
        _ => None,
    }
}

impl Scope {
    /// The scope of the instructions that follow, if an instruction of the set changes it.
    pub(crate) fn of(own: &Instruction<'_>) -> Option<Option<Scope>> {
        match *own.operands {
            [_, SCOPE, scope, ref at @ ..] => Some(Some(Scope { scope, inlined_at: at.first().copied() })),
            [_, NO_SCOPE, ..] => Some(None),
            _ => None,
        }
    }
}
