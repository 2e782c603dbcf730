//! Arithmetic, comparisons, conversions and accesses to memory.

use super::{BIT, Function, I64, POINTER, Scalar, Ty, Value};

impl Function {
    /// An operation on two operands of one type: `add`, `fmul`, `lshr` ... None where one of them stays as it is.
    pub fn binary(&mut self, operation: &str, a: &Value, b: &Value) -> Value {
        match operation {
            "add" | "or" | "xor" if a.is_zero() => return b.clone(),
            "add" | "sub" | "or" | "xor" | "shl" | "lshr" | "ashr" if b.is_zero() => return a.clone(),
            "and" if b.as_int() == Some(u64::MAX >> (64 - b.ty.scalar.bits())) => return a.clone(),
            _ => {}
        }
        self.value(a.ty, &format!("{operation} {}, {}", a.typed(), b.name()))
    }

    /// A comparison: `icmp ult`, `fcmp oeq` ...
    pub fn compare(&mut self, operation: &str, a: &Value, b: &Value) -> Value {
        self.value(a.ty.of(Scalar::Int(1)), &format!("{operation} {}, {}", a.typed(), b.name()))
    }

    /// A conversion: `zext`, `fptrunc`, `bitcast` ...; none if the type is the same.
    pub fn convert(&mut self, operation: &str, a: &Value, ty: Ty) -> Value {
        if a.ty == ty {
            return a.clone();
        }
        if let (Some(value), "zext" | "trunc") = (a.as_int(), operation) {
            return Value::int(ty, value);
        }
        self.value(ty, &format!("{operation} {} to {}", a.typed(), ty.text()))
    }

    /// To integers of another size.
    pub fn resize(&mut self, a: &Value, bits: u32, signed: bool) -> Value {
        let operation = match bits.cmp(&a.ty.scalar.bits()) {
            std::cmp::Ordering::Less => "trunc",
            _ if signed => "sext",
            _ => "zext",
        };
        self.convert(operation, a, a.ty.of(Scalar::Int(bits)))
    }

    /// `bitcast` to elements of the same size.
    pub fn cast(&mut self, a: &Value, scalar: Scalar) -> Value {
        self.convert("bitcast", a, a.ty.of(scalar))
    }

    /// `select`
    pub fn select(&mut self, condition: &Value, yes: &Value, no: &Value) -> Value {
        self.value(yes.ty, &format!("select {}, {}, {}", condition.typed(), yes.typed(), no.typed()))
    }

    /// A function of one operand that LLVM has.
    pub fn function_of(&mut self, name: &str, a: &Value) -> Value {
        let suffix = format!(".{}", a.ty.mangled());
        self.intrinsic(name, &suffix, a.ty, &[a])
    }

    /// `a * b + c`, rounded once.
    pub fn fma(&mut self, a: &Value, b: &Value, c: &Value) -> Value {
        let suffix = format!(".{}", a.ty.mangled());
        self.intrinsic("fma", &suffix, a.ty, &[a, b, c])
    }

    /// `fneg`
    pub fn negated(&mut self, a: &Value) -> Value {
        self.value(a.ty, &format!("fneg {}", a.typed()))
    }

    /// A scalar in all lanes.
    pub fn splat(&mut self, a: &Value, lanes: u32) -> Value {
        if lanes == 1 {
            return a.clone();
        }
        let ty = Ty { lanes, ..a.ty };
        if let Some(value) = a.as_int() {
            return Value::int(ty, value);
        }
        let text = format!("insertelement {} poison, {}, i64 0", ty.text(), a.typed());
        let first = self.value(ty, &text);
        let zeros = format!("<{lanes} x i32> zeroinitializer");
        self.value(ty, &format!("shufflevector {}, {} poison, {zeros}", first.typed(), ty.text()))
    }

    /// One lane.
    pub fn element(&mut self, a: &Value, lane: u32) -> Value {
        if a.ty.lanes == 1 {
            return a.clone();
        }
        self.value(Ty { lanes: 1, ..a.ty }, &format!("extractelement {}, i64 {lane}", a.typed()))
    }

    /// A vector with another value in one lane.
    pub fn insert(&mut self, a: &Value, element: &Value, lane: u32) -> Value {
        self.value(a.ty, &format!("insertelement {}, {}, i64 {lane}", a.typed(), element.typed()))
    }

    /// The lanes of `a`, then those of `b`, in another order.
    pub fn shuffle(&mut self, a: &Value, b: Option<&Value>, order: &[u32]) -> Value {
        let ty = Ty { lanes: order.len() as u32, ..a.ty };
        if a.ty.lanes == 1 {
            let pair = Ty { lanes: 2, ..a.ty };
            let mut both = self.insert(&Value::poison(pair), a, 0);
            if let Some(b) = b {
                both = self.insert(&both, b, 1);
            }
            return self.shuffle(&both, None, order);
        }
        if order.len() == 1 {
            return self.element(a, order[0]);
        }
        let order: Vec<String> = order.iter().map(|n| format!("i32 {n}")).collect();
        let second = b.map_or("poison", Value::name);
        let text = format!(
            "shufflevector {}, {} {second}, <{} x i32> <{}>",
            a.typed(),
            a.ty.text(),
            order.len(),
            order.join(", ")
        );
        self.value(ty, &text)
    }

    /// A mask's bits as an integer of as many bits.
    pub fn mask_bits(&mut self, mask: &Value) -> Value {
        self.convert("bitcast", mask, Ty::int(mask.ty.lanes, 1))
    }

    /// Bits as a mask of as many lanes.
    pub fn mask(&mut self, bits: &Value) -> Value {
        self.convert("bitcast", bits, Ty::int(1, bits.ty.scalar.bits()))
    }

    /// Whether a mask is true in all lanes.
    pub fn all(&mut self, mask: &Value) -> Value {
        let bits = self.mask_bits(mask);
        if bits.ty == BIT {
            return bits;
        }
        self.compare("icmp eq", &bits, &Value::int(bits.ty, u64::MAX))
    }

    /// A place some bytes further.
    pub fn offset(&mut self, pointer: &Value, bytes: &Value) -> Value {
        self.value(POINTER, &format!("getelementptr i8, {}, {}", pointer.typed(), bytes.typed()))
    }

    /// A place a known number of bytes further.
    pub fn at(&mut self, pointer: &Value, bytes: usize) -> Value {
        if bytes == 0 {
            return pointer.clone();
        }
        self.offset(pointer, &Value::int(I64, bytes as u64))
    }

    /// `load`, with alignment and metadata: `align 4, !tbaa !2`.
    pub fn load(&mut self, ty: Ty, pointer: &Value, how: &str) -> Value {
        self.value(ty, &format!("load {}, {}, {how}", ty.text(), pointer.typed()))
    }

    /// `store`
    pub fn store(&mut self, value: &Value, pointer: &Value, how: &str) {
        self.line(&format!("store {}, {}, {how}", value.typed(), pointer.typed()));
    }
}
