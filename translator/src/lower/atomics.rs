//! Atomic operations as LLVM IR: which are the host's, and what becomes of a value by the others.

use gencl_eu::message::AtomicOperation as Operation;

use crate::ir::{BIT, Function, Scalar, Value};

/// How the operands of all channels become one.
pub struct Reduction {
    /// LLVM's name; `None` counts the channels.
    pub combine: Option<&'static str>,
    /// What changes nothing.
    pub neutral: u64,
    /// What is done with the one.
    pub then: &'static str,
    /// Bits of the values.
    pub bits: u32,
}

/// The operations that can be done at once for all channels.
pub fn reduction(operation: Operation, bits: u32) -> Option<Reduction> {
    let lowest = 1 << (bits - 1);
    let (combine, neutral, then) = match operation {
        Operation::Add => (Some("add"), 0, "add"),
        Operation::Subtract => (Some("add"), 0, "sub"),
        Operation::Increment => (None, 0, "add"),
        Operation::Decrement | Operation::PreDecrement => (None, 0, "sub"),
        Operation::And => (Some("and"), u64::MAX, "and"),
        Operation::Or => (Some("or"), 0, "or"),
        Operation::Xor => (Some("xor"), 0, "xor"),
        Operation::SignedMaximum => (Some("smax"), lowest, "max"),
        Operation::SignedMinimum => (Some("smin"), lowest - 1, "min"),
        Operation::UnsignedMaximum => (Some("umax"), 0, "umax"),
        Operation::UnsignedMinimum => (Some("umin"), u64::MAX, "umin"),
        Operation::Move
        | Operation::ReverseSubtract
        | Operation::CompareWrite
        | Operation::FloatMaximum
        | Operation::FloatMinimum
        | Operation::FloatCompareWrite => return None,
    };
    Some(Reduction { combine, neutral, then, bits })
}

/// LLVM's `atomicrmw` for an operation with one operand, or with 1.
pub fn host_operation(operation: Operation) -> Option<&'static str> {
    match operation {
        Operation::Move => Some("xchg"),
        other => reduction(other, 32).map(|reduction| reduction.then),
    }
}

impl Function {
    /// `atomicrmw`; the old value.
    pub fn host_atomic(&mut self, name: &str, at: &Value, operand: &Value) -> Value {
        let bytes = operand.ty.scalar.bits() / 8;
        let text = format!("atomicrmw {name} {}, {} seq_cst, align {bytes}", at.typed(), operand.typed());
        self.value(operand.ty, &text)
    }

    /// `cmpxchg`: what was there, and whether it was what was expected.
    pub fn compare_exchange(&mut self, at: &Value, expected: &Value, new: &Value) -> (Value, Value) {
        let bytes = new.ty.scalar.bits() / 8;
        let text = format!(
            "cmpxchg {}, {}, {} seq_cst seq_cst, align {bytes}",
            at.typed(),
            expected.typed(),
            new.typed()
        );
        let both = self.value(new.ty, &text);
        let pair = format!("{{ {}, i1 }} {}", new.ty.text(), both.name());
        let old = self.value(new.ty, &format!("extractvalue {pair}, 0"));
        let same = self.value(BIT, &format!("extractvalue {pair}, 1"));
        (old, same)
    }

    /// What a value is replaced by: itself, where it is to stay.
    pub fn new_value(&mut self, operation: Operation, old: &Value, a: &Value, b: &Value) -> Value {
        let mut pick = |condition: &str, yes: &Value, no: &Value| {
            let holds = self.compare(condition, old, a);
            self.select(&holds, yes, no)
        };
        match operation {
            Operation::And => self.binary("and", old, a),
            Operation::Or => self.binary("or", old, a),
            Operation::Xor => self.binary("xor", old, a),
            Operation::Move => a.clone(),
            Operation::Increment | Operation::Add => self.binary("add", old, a),
            Operation::Decrement | Operation::PreDecrement | Operation::Subtract => {
                self.binary("sub", old, a)
            }
            Operation::ReverseSubtract => self.binary("sub", a, old),
            Operation::SignedMaximum => pick("icmp sge", old, a),
            Operation::SignedMinimum => pick("icmp sle", old, a),
            Operation::UnsignedMaximum => pick("icmp uge", old, a),
            Operation::UnsignedMinimum => pick("icmp ule", old, a),
            Operation::CompareWrite => pick("icmp eq", b, old),
            Operation::FloatMaximum => self.float_extreme("fcmp oge", old, a),
            Operation::FloatMinimum => self.float_extreme("fcmp ole", old, a),
            Operation::FloatCompareWrite => {
                let [x, y] = [old, a].map(|v| self.cast(v, Scalar::Float));
                let equal = self.compare("fcmp oeq", &x, &y);
                self.select(&equal, b, old)
            }
        }
    }

    /// The old value where the comparison holds, or the operand is no number.
    fn float_extreme(&mut self, comparison: &str, old: &Value, a: &Value) -> Value {
        let [x, y] = [old, a].map(|v| self.cast(v, Scalar::Float));
        let stays = self.compare(comparison, &x, &y);
        let nan = self.compare("fcmp uno", &y, &y);
        let stays = self.binary("or", &stays, &nan);
        self.select(&stays, old, a)
    }
}
