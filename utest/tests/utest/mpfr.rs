//! Exact results, by GNU MPFR. Its library is loaded where it is installed, as with every gcc, whose compiler needs it:
//! as a dependency it would have to be compiled, for minutes, and its licence is not one of `deny.toml`.

use std::ffi::{c_int, c_long, c_ulong, c_void};
use std::sync::OnceLock;

use dlopen2::raw::Library;

use crate::numbers::{Exact, Mode, Type};

/// That of Debian 12; the functions of half turns (`sinpi`) are there since MPFR 4.2.
const LIBRARY: &str = "libmpfr.so.6";

const LIMBS: usize = 2;
const DIGITS: c_long = 64 * LIMBS as c_long;

/// `MPFR_RNDZ` and `MPFR_RNDN`.
const TO_ZERO: c_int = 1;
const TO_NEAREST: c_int = 0;

/// `MPFR_RNDN` and so on.
fn rounding(mode: Mode) -> c_int {
    match mode {
        Mode::Nearest => TO_NEAREST,
        Mode::Zero => TO_ZERO,
        Mode::Up => 2,
        Mode::Down => 3,
    }
}

/// Exponents far beyond those of doubles only take time.
const EXPONENTS: (c_long, c_long) = (-20000, 20000);

/// Exponents of what is no number other than 0 (mpfr.h, `__MPFR_EXP_ZERO` and its neighbours).
const ZERO: c_long = -c_long::MAX;
const NAN: c_long = ZERO + 1;
const INFINITY: c_long = ZERO + 2;

/// A number of 128 binary digits, as `mpfr_t` is. A result that is not exact is rounded to zero, and its last digit
/// set: rounded once more, to fewer digits, it is what the exact one is (Boldo and Melquiond, "Emulation of a FMA and
/// correctly rounded sums", 2008).
#[repr(C)]
pub struct Number {
    precision: c_long,
    sign: c_int,
    /// The significand is below 1, and not below 1/2.
    exponent: c_long,
    limbs: Box<[u64; LIMBS]>,
}

type Mutable = *mut Number;
type Const = *const Number;
pub type One = unsafe extern "C" fn(Mutable, Const, c_int) -> c_int;
pub type Two = unsafe extern "C" fn(Mutable, Const, Const, c_int) -> c_int;
pub type Three = unsafe extern "C" fn(Mutable, Const, Const, Const, c_int) -> c_int;
pub type WithInt = unsafe extern "C" fn(Mutable, Const, c_long, c_int) -> c_int;
type WithSign = unsafe extern "C" fn(Mutable, *mut c_int, Const, c_int) -> c_int;
type Quotient = unsafe extern "C" fn(Mutable, *mut c_long, Const, Const, c_int) -> c_int;
type Set = unsafe extern "C" fn(Mutable, f64, c_int) -> c_int;
type Get = unsafe extern "C" fn(Const, c_int) -> f64;
type Compare = unsafe extern "C" fn(Const, Const) -> c_int;
type SetInt = unsafe extern "C" fn(Mutable, c_long, c_int) -> c_int;
type SetUnsigned = unsafe extern "C" fn(Mutable, c_ulong, c_int) -> c_int;
type GetInt = unsafe extern "C" fn(Const, c_int) -> c_long;
type GetUnsigned = unsafe extern "C" fn(Const, c_int) -> c_ulong;
type Round = unsafe extern "C" fn(Mutable, c_int, c_int) -> c_int;
type Limit = unsafe extern "C" fn(c_long) -> c_int;

macro_rules! functions {
    ($($name:ident: $ty:ty = $symbol:literal,)*) => {
        /// The functions of the library.
        pub struct Mpfr {
            $(pub $name: $ty,)*
        }

        impl Mpfr {
            fn open() -> Result<Mpfr, String> {
                let library = Library::open(LIBRARY).map_err(|error| error.to_string())?;
                // It stays loaded, as its functions do.
                let library = Box::leak(Box::new(library));
                $(
                    // SAFETY: a library of this name has functions of this type, and a function pointer has the size of
                    // an address.
                    let $name: $ty = unsafe {
                        let address: *mut c_void = library.symbol($symbol).map_err(|error| error.to_string())?;
                        std::mem::transmute(address)
                    };
                )*
                Ok(Mpfr { $($name),* })
            }
        }
    };
}

functions! {
    acos: One = "mpfr_acos",
    acosh: One = "mpfr_acosh",
    acospi: One = "mpfr_acospi",
    asin: One = "mpfr_asin",
    asinh: One = "mpfr_asinh",
    asinpi: One = "mpfr_asinpi",
    atan: One = "mpfr_atan",
    atanh: One = "mpfr_atanh",
    atanpi: One = "mpfr_atanpi",
    cbrt: One = "mpfr_cbrt",
    ceil: One = "mpfr_rint_ceil",
    cos: One = "mpfr_cos",
    cosh: One = "mpfr_cosh",
    cospi: One = "mpfr_cospi",
    erf: One = "mpfr_erf",
    erfc: One = "mpfr_erfc",
    exp: One = "mpfr_exp",
    exp10: One = "mpfr_exp10",
    exp2: One = "mpfr_exp2",
    expm1: One = "mpfr_expm1",
    fabs: One = "mpfr_abs",
    floor: One = "mpfr_rint_floor",
    log: One = "mpfr_log",
    log10: One = "mpfr_log10",
    log1p: One = "mpfr_log1p",
    log2: One = "mpfr_log2",
    rint: One = "mpfr_rint_roundeven",
    round: One = "mpfr_rint_round",
    sin: One = "mpfr_sin",
    sinh: One = "mpfr_sinh",
    sinpi: One = "mpfr_sinpi",
    sqrt: One = "mpfr_sqrt",
    tan: One = "mpfr_tan",
    tanh: One = "mpfr_tanh",
    tanpi: One = "mpfr_tanpi",
    tgamma: One = "mpfr_gamma",
    trunc: One = "mpfr_rint_trunc",
    add: Two = "mpfr_add",
    atan2: Two = "mpfr_atan2",
    atan2pi: Two = "mpfr_atan2pi",
    copysign: Two = "mpfr_copysign",
    div: Two = "mpfr_div",
    fdim: Two = "mpfr_dim",
    fmax: Two = "mpfr_max",
    fmin: Two = "mpfr_min",
    fmod: Two = "mpfr_fmod",
    hypot: Two = "mpfr_hypot",
    mul: Two = "mpfr_mul",
    pow: Two = "mpfr_pow",
    powr: Two = "mpfr_powr",
    remainder: Two = "mpfr_remainder",
    sub: Two = "mpfr_sub",
    fma: Three = "mpfr_fma",
    ldexp: WithInt = "mpfr_mul_2si",
    pown: WithInt = "mpfr_pow_si",
    rootn: WithInt = "mpfr_rootn_si",
    lgamma: WithSign = "mpfr_lgamma",
    remquo: Quotient = "mpfr_remquo",
    copy: One = "mpfr_set",
    set: Set = "mpfr_set_d",
    set_int: SetInt = "mpfr_set_si",
    set_unsigned: SetUnsigned = "mpfr_set_ui",
    get: Get = "mpfr_get_d",
    get_int: GetInt = "mpfr_get_si",
    get_unsigned: GetUnsigned = "mpfr_get_ui",
    check_range: Round = "mpfr_check_range",
    subnormalize: Round = "mpfr_subnormalize",
    compare: Compare = "mpfr_cmp",
    set_least: Limit = "mpfr_set_emin",
    set_most: Limit = "mpfr_set_emax",
}

impl Mpfr {
    /// The library, or why there is none.
    pub fn get() -> Result<&'static Mpfr, String> {
        static MPFR: OnceLock<Result<Mpfr, String>> = OnceLock::new();
        let found =
            MPFR.get_or_init(Mpfr::open).as_ref().map_err(|error| format!("MPFR 4.2 is needed: {error}"))?;
        found.limit(EXPONENTS);
        Ok(found)
    }

    /// Sets the limits of exponents, which are those of a thread.
    fn limit(&self, (least, most): (c_long, c_long)) {
        // SAFETY: these are in the range that the library allows.
        unsafe {
            (self.set_least)(least);
            (self.set_most)(most);
        }
    }

    fn result(&self, compute: impl FnOnce(Mutable) -> c_int) -> Number {
        let mut number = Number { precision: DIGITS, sign: 1, exponent: NAN, limbs: Box::new([0; LIMBS]) };
        if compute(&mut number) != 0 {
            if number.exponent == ZERO {
                // Less than any number.
                number.exponent = EXPONENTS.0;
                *number.limbs = [0, 1 << 63];
            }
            number.limbs[0] |= 1;
        }
        number
    }

    pub fn number(&self, value: f64) -> Number {
        // SAFETY: the function writes to a number of `DIGITS` digits.
        self.result(|number| unsafe { (self.set)(number, value, TO_ZERO) })
    }

    pub fn one(&self, function: One, x: &Number) -> Number {
        // SAFETY: all are numbers with their digits, and the function writes to the first only. The same holds below.
        self.result(|number| unsafe { function(number, x, TO_ZERO) })
    }

    pub fn two(&self, function: Two, x: &Number, y: &Number) -> Number {
        // SAFETY: as in `one`.
        self.result(|number| unsafe { function(number, x, y, TO_ZERO) })
    }

    pub fn three(&self, function: Three, x: &Number, y: &Number, z: &Number) -> Number {
        // SAFETY: as in `one`.
        self.result(|number| unsafe { function(number, x, y, z, TO_ZERO) })
    }

    pub fn with_int(&self, function: WithInt, x: &Number, n: i64) -> Number {
        // SAFETY: as in `one`.
        self.result(|number| unsafe { function(number, x, n, TO_ZERO) })
    }

    /// The logarithm, and the sign of the function whose it is.
    pub fn lgamma(&self, x: &Number) -> (Number, i32) {
        let mut sign = 0;
        // SAFETY: as in `one`.
        let number = self.result(|number| unsafe { (self.lgamma)(number, &mut sign, x, TO_ZERO) });
        (number, sign)
    }

    /// The quotient's lowest bits with its sign.
    pub fn quotient(&self, x: &Number, y: &Number) -> i64 {
        let mut quotient = 0;
        // SAFETY: as in `one`.
        self.result(|number| unsafe { (self.remquo)(number, &mut quotient, x, y, TO_ZERO) });
        quotient
    }

    /// A number rounded to a type of floats, as the library's manual has it for IEEE 754's formats (5.13, `mpfr_subnormalize`).
    pub fn rounded(&self, ty: &Type, x: &Number, mode: Mode) -> f64 {
        let (digits, most) = ty.float();
        let mode = rounding(mode);
        let mut number = Number { precision: digits.into(), ..self.number(0.0) };
        // SAFETY: it has room for more digits, and is in the range of exponents whenever a function takes it.
        unsafe {
            let order = (self.copy)(&mut number, x, mode);
            self.limit((i64::from(3 - most - digits), i64::from(most) + 1));
            let order = (self.check_range)(&mut number, order, mode);
            (self.subnormalize)(&mut number, order, mode);
        }
        self.limit(EXPONENTS);
        number.to_f64(self)
    }

    /// Bits of the number that another is converted to, independently of `Type::convert`.
    pub fn convert(&self, value: Exact, to: &Type, mode: Mode) -> u64 {
        let number = match value {
            // SAFETY: the functions write to a number of `DIGITS` digits.
            Exact::Integer(value) => self.result(|number| unsafe {
                match value {
                    ..0 => (self.set_int)(number, value as c_long, TO_ZERO),
                    _ => (self.set_unsigned)(number, value as c_ulong, TO_ZERO),
                }
            }),
            Exact::Float(value) => self.number(value),
        };
        let mode = match to.range {
            None => return to.bits(self.rounded(to, &number, mode)),
            Some(_) => rounding(mode),
        };
        // SAFETY: it is a number. What is too large is the largest, and NaN is 0.
        let whole = unsafe {
            match to.range {
                Some((0, _)) => i128::from((self.get_unsigned)(&number, mode)),
                _ => i128::from((self.get_int)(&number, mode)),
            }
        };
        let (low, high) = to.range.expect("an integer");
        to.cut(whole.clamp(low, high))
    }

    /// How far a result is from the exact one, in units of the last place of a type (OpenCL C 3.0, 7.4). Infinity stands
    /// for the first power of two that is too large, so that overflow by an error within the bounds is none. Half a unit
    /// to the wrong side of a tie is more than half a unit.
    pub fn error(&self, ty: &Type, got: f64, exact: &Number) -> f64 {
        if got.is_nan() || exact.is_nan() {
            return if got.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
        }
        let (digits, most) = ty.float();
        let beyond = self.with_int(self.ldexp, &self.number(1.0), i64::from(most) + 1);
        let limited = |x: &Number| {
            let magnitude = self.one(self.fabs, x);
            // SAFETY: both are numbers.
            let larger = unsafe { (self.compare)(&magnitude, &beyond) } > 0;
            self.two(self.copysign, if larger { &beyond } else { &magnitude }, x)
        };
        let (value, exact) = (limited(&self.number(got)), limited(exact));
        let exponent =
            if exact.exponent == ZERO { 1 - most } else { (exact.exponent as i32 - 1).clamp(1 - most, most) };
        let distance = self.one(self.fabs, &self.two(self.sub, &value, &exact));
        let units = self.with_int(self.ldexp, &distance, i64::from(digits - 1 - exponent));
        let rounded = units.to_f64(self);
        if rounded != 0.5 {
            return rounded;
        }
        // SAFETY: both are numbers.
        match unsafe { (self.compare)(&units, &self.number(0.5)) } {
            0 if ty.bits(got) & 1 == 0 => 0.5,
            ..0 => 0.5f64.next_down(),
            _ => 0.5f64.next_up(),
        }
    }
}

impl Number {
    pub fn is_nan(&self) -> bool {
        self.exponent == NAN
    }

    pub fn is_infinite(&self) -> bool {
        self.exponent == INFINITY
    }

    pub fn is_zero(&self) -> bool {
        self.exponent == ZERO
    }

    pub fn is_negative(&self) -> bool {
        self.sign < 0
    }

    /// The nearest double.
    pub fn to_f64(&self, mpfr: &Mpfr) -> f64 {
        // SAFETY: it is a number.
        unsafe { (mpfr.get)(self, TO_NEAREST) }
    }
}
