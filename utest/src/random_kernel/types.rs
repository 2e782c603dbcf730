//! Integer types of OpenCL C.

/// A scalar or vector of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// Of an element: 8, 16, 32 or 64.
    pub bits: u32,
    /// Whether an element is signed.
    pub signed: bool,
    /// Elements: 1, 2 or 4.
    pub count: u32,
}

impl Type {
    /// A scalar.
    pub const fn scalar(bits: u32, signed: bool) -> Type {
        Type { bits, signed, count: 1 }
    }

    /// One element.
    pub fn element(self) -> Type {
        Type { count: 1, ..self }
    }

    /// The same with unsigned elements.
    pub fn unsigned(self) -> Type {
        Type { signed: false, ..self }
    }

    /// Its name.
    pub fn name(self) -> String {
        let sign = if self.signed { "" } else { "u" };
        let base = match self.bits {
            8 => "char",
            16 => "short",
            32 => "int",
            _ => "long",
        };
        let count = if self.count > 1 { self.count.to_string() } else { String::new() };
        format!("{sign}{base}{count}")
    }

    /// Bytes.
    pub fn bytes(self) -> u32 {
        self.bits / 8 * self.count
    }
}

/// All scalar types.
pub const SCALARS: [Type; 8] = [
    Type::scalar(8, true),
    Type::scalar(8, false),
    Type::scalar(16, true),
    Type::scalar(16, false),
    Type::scalar(32, true),
    Type::scalar(32, false),
    Type::scalar(64, true),
    Type::scalar(64, false),
];
