//! The arithmetic operations: a row for each, with its name in the text form and what is known of it.

use super::Type;
use gencl_ir_support::names;

/// What is known of an arithmetic operation.
struct Arithmetic {
    /// For which types it exists.
    types: Types,
    /// Whether the hardware's result is the same to the bit as that of [`super::fold`].
    exact: bool,
}

/// A set of types.
enum Types {
    All,
    /// All but truth values.
    Numbers,
    /// All but floats.
    Bits,
    Integers,
    Floats,
    /// What the MATH unit computes with.
    Single,
}

impl Types {
    fn contains(self, ty: Type) -> bool {
        match self {
            Types::All => true,
            Types::Numbers => ty != Type::Bool,
            Types::Bits => !ty.is_float(),
            Types::Integers => ty.is_integer(),
            Types::Floats => ty.is_float(),
            Types::Single => ty == Type::F32,
        }
    }
}

/// Gives an exact result.
const fn exact(types: Types) -> Arithmetic {
    Arithmetic { types, exact: true }
}

/// Gives a result that depends on the machine, so that it is not folded.
const fn inexact(types: Types) -> Arithmetic {
    Arithmetic { types, exact: false }
}

macro_rules! arithmetic {
    ($($(#[$about:meta])* $type:ident {
        $($(#[$doc:meta])* $variant:ident = $name:literal, $row:ident($types:ident);)*
    })*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type { $($(#[$doc])* $variant),* }

        names! { $type { $($variant = $name),* } }

        impl $type {
            fn row(self) -> Arithmetic {
                match self { $($type::$variant => $row(Types::$types)),* }
            }

            /// Whether the operation exists for a type.
            pub fn takes(self, ty: Type) -> bool {
                self.row().types.contains(ty)
            }

            /// Whether the hardware's result is the same to the bit, so that the operation may be folded.
            pub fn is_exact(self) -> bool {
                self.row().exact
            }
        }
    )*};
}

arithmetic! {
    /// Operations with one source. Results wrap; floats are IEEE unless said otherwise.
    UnaryOp {
        /// Copy.
        Mov = "mov", exact(All);
        /// Bitwise complement; of Bool: negation.
        Not = "not", exact(Bits);
        /// Arithmetic negation.
        Neg = "neg", exact(Numbers);
        /// Absolute value.
        Abs = "abs", exact(Numbers);
        /// Toward minus infinity.
        Floor = "floor", exact(Floats);
        /// Toward plus infinity.
        Ceil = "ceil", exact(Floats);
        /// Toward zero.
        Trunc = "trunc", exact(Floats);
        /// To nearest, ties to even.
        RoundEven = "round_even", exact(Floats);
        /// 1/x of the MATH unit (1 ULP).
        Rcp = "rcp", inexact(Single);
        /// 1/sqrt(x) of the MATH unit.
        Rsqrt = "rsqrt", inexact(Single);
        /// sqrt(x) of the MATH unit.
        Sqrt = "sqrt", inexact(Single);
        /// 2^x of the MATH unit.
        Exp2 = "exp2", inexact(Single);
        /// log2(x) of the MATH unit.
        Log2 = "log2", inexact(Single);
        /// sin of the MATH unit, radians.
        Sin = "sin", inexact(Single);
        /// cos of the MATH unit, radians.
        Cos = "cos", inexact(Single);
        /// Number of leading zero bits; the width for 0.
        LeadingZeros = "leading_zeros", exact(Integers);
        /// Number of trailing zero bits; the width for 0.
        TrailingZeros = "trailing_zeros", exact(Integers);
        /// Number of one bits.
        PopCount = "pop_count", exact(Integers);
        /// Bits in reverse order.
        BitReverse = "bit_reverse", exact(Integers);
        /// Float: flush denormals and quieten NaN. Depends on the denormal mode.
        Canonicalize = "canonicalize", inexact(Floats);
    }

    /// Operations with two sources.
    #[allow(missing_docs, reason = "arithmetic named as in LLVM; what differs is said")]
    BinaryOp {
        Add = "add", exact(Numbers);
        Sub = "sub", exact(Numbers);
        Mul = "mul", exact(Numbers);
        /// The high half of the product.
        MulHigh = "mul_high", exact(Integers);
        /// Integer division by zero gives an undefined value, not a fault.
        Div = "div", exact(Integers);
        Rem = "rem", exact(Integers);
        /// Shift amounts are taken modulo the width.
        Shl = "shl", exact(Integers);
        /// Logical or arithmetic by the type's sign.
        Shr = "shr", exact(Integers);
        And = "and", exact(Bits);
        Or = "or", exact(Bits);
        Xor = "xor", exact(Bits);
        /// Float: the other operand where one is NaN.
        Min = "min", exact(Numbers);
        Max = "max", exact(Numbers);
        /// Saturating.
        AddSat = "add_sat", exact(Integers);
        SubSat = "sub_sat", exact(Integers);
        /// x^y of the MATH unit, `native_powr`.
        Pow = "pow", inexact(Single);
        /// Rounded-half-up average of integers, `rhadd`.
        Avg = "avg", exact(Integers);
        /// Approximate float quotient of the MATH unit, `native_divide`.
        FastDiv = "fast_div", inexact(Single);
    }

    /// Operations with three sources.
    TernaryOp {
        /// a * b + c. Float: rounded once.
        Mad = "mad", exact(Numbers);
        /// Bit select: bits of b where a has a one, else of c.
        BitSelect = "bit_select", exact(Integers);
    }
}
