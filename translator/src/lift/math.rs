//! The functions of the `math` instruction, which the simulator defines, as code.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::{Add, Mul, Sub};

use gencl_eu::functions::{self, BitOps, Double, FloatOps, Single};
use gencl_isa::MathFunction;

use crate::middle::builder::Builder;
use crate::middle::function::Value;
use crate::middle::op::{Binary, Convert, FloatRelation, Relation, Unary};
use crate::middle::types::Scalar;

/// Writes a function of floats; `b` is used by `pow` alone.
pub fn evaluate(f: &mut Builder, function: MathFunction, a: Value, b: Value) -> Value {
    let writer = Writer { function: RefCell::new(std::mem::take(f)), values: RefCell::default() };
    let result = functions::evaluate::<Lanes<'_, f32>>(function, writer.keep(a), writer.keep(b)).get();
    *f = writer.function.into_inner();
    result
}

/// Where numbers write their operations.
struct Writer {
    function: RefCell<Builder>,
    values: RefCell<Vec<Value>>,
}

impl Writer {
    fn keep<T>(&self, value: Value) -> Lanes<'_, T> {
        let mut values = self.values.borrow_mut();
        values.push(value);
        Lanes { write: self, index: values.len() - 1, element: PhantomData }
    }
}

/// A value whose elements are as a type of the host.
struct Lanes<'w, T> {
    write: &'w Writer,
    /// Its place among the writer's values.
    index: usize,
    element: PhantomData<T>,
}

impl<T> Clone for Lanes<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Lanes<'_, T> {}

impl<'w, T> Lanes<'w, T> {
    fn get(self) -> Value {
        self.write.values.borrow()[self.index]
    }

    fn apply<R>(self, operation: impl FnOnce(&mut Builder, Value) -> Value) -> Lanes<'w, R> {
        let value = operation(&mut self.write.function.borrow_mut(), self.get());
        self.write.keep(value)
    }

    fn binary(self, operation: Binary, other: Self) -> Self {
        self.apply(|f, a| f.binary(operation, a, other.get()))
    }

    fn integer(self, value: u64) -> Self {
        self.apply(|f, a| f.int(f.ty(a), value))
    }
}

macro_rules! operators {
    ($($name:ident::$method:ident: $operation:expr),*) => {
        $(
            impl<'w, T> $name for Lanes<'w, T> {
                type Output = Lanes<'w, T>;
                fn $method(self, other: Self) -> Self {
                    self.binary($operation, other)
                }
            }

            impl<'w> $name<f32> for Lanes<'w, f32> {
                type Output = Lanes<'w, f32>;
                fn $method(self, constant: f32) -> Self {
                    self.binary($operation, self.like(constant))
                }
            }

            impl<'w> $name<f64> for Lanes<'w, f64> {
                type Output = Lanes<'w, f64>;
                fn $method(self, constant: f64) -> Self {
                    self.binary($operation, self.like(constant))
                }
            }
        )*
    };
}

operators!(Add::add: Binary::FAdd, Sub::sub: Binary::FSub, Mul::mul: Binary::FMul);

macro_rules! numbers {
    ($($float:ident/$bits:ident = $scalar:expr),*) => {
        $(
            impl<'w> FloatOps for Lanes<'w, $float> {
                type Constant = $float;
                type Mask = Lanes<'w, bool>;
                type Bits = Lanes<'w, $bits>;

                fn like(self, constant: $float) -> Self {
                    self.apply(|f, a| f.float(f.ty(a), f64::from(constant)))
                }

                fn less(self, limit: $float) -> Self::Mask {
                    let limit = self.like(limit);
                    self.apply(|f, a| f.compare_floats(FloatRelation::Olt, a, limit.get()))
                }

                fn greater(self, limit: $float) -> Self::Mask {
                    let limit = self.like(limit);
                    self.apply(|f, a| f.compare_floats(FloatRelation::Ogt, a, limit.get()))
                }

                fn equal(self, constant: $float) -> Self::Mask {
                    let limit = self.like(constant);
                    self.apply(|f, a| f.compare_floats(FloatRelation::Oeq, a, limit.get()))
                }

                fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
                    mask.apply(|f, mask| f.select(mask, yes.get(), no.get()))
                }

                fn bits(self) -> Self::Bits {
                    self.apply(|f, a| f.bitcast(a, f.ty(a).as_int()))
                }

                fn from_bits(bits: Self::Bits) -> Self {
                    bits.apply(|f, a| f.cast(a, $scalar))
                }
            }

            impl<'w> BitOps for Lanes<'w, $bits> {
                type Mask = Lanes<'w, bool>;

                fn plus(self, other: Self) -> Self {
                    self.binary(Binary::Add, other)
                }

                fn minus(self, other: Self) -> Self {
                    self.binary(Binary::Sub, other)
                }

                fn flip(self, other: Self) -> Self {
                    self.binary(Binary::Xor, other)
                }

                fn keep(self, constant: u64) -> Self {
                    self.binary(Binary::And, self.integer(constant))
                }

                fn left(self, count: u32) -> Self {
                    self.binary(Binary::Shl, self.integer(u64::from(count)))
                }

                fn right(self, count: u32) -> Self {
                    self.binary(Binary::LShr, self.integer(u64::from(count)))
                }

                fn below(self, limit: u64) -> Self::Mask {
                    let limit = self.integer(limit);
                    self.apply(|f, a| f.compare(Relation::Ult, a, limit.get()))
                }

                fn like(self, constant: u64) -> Self {
                    self.integer(constant)
                }
            }
        )*
    };
}

numbers!(f32 / u32 = Scalar::Float, f64 / u64 = Scalar::Double);

impl<'w> Single for Lanes<'w, f32> {
    type Wide = Lanes<'w, f64>;

    fn widen(self) -> Self::Wide {
        self.apply(|f, a| f.convert(Convert::FPExt, a, Scalar::Double))
    }

    fn fused(self, factor: Self, term: Self) -> Self {
        self.apply(|f, a| f.fma(a, factor.get(), term.get()))
    }

    fn reciprocal(self) -> Self {
        self.like(1.0).binary(Binary::FDiv, self)
    }

    fn root(self) -> Self {
        self.apply(|f, a| f.unary(Unary::Sqrt, a))
    }
}

impl<'w> Double for Lanes<'w, f64> {
    type Narrow = Lanes<'w, f32>;

    fn narrow(self) -> Self::Narrow {
        self.apply(|f, a| f.convert(Convert::FPTrunc, a, Scalar::Float))
    }
}
