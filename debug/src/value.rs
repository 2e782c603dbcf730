//! Values of variables, read from memory when they are wanted, and their text.

use std::fmt::Write as _;

use crate::info::{Info, Kind, Member, Type};

/// Elements of an array, and characters of a string, that are printed.
const PRINTED: u64 = 200;

/// What variables are read from: memory as a work-item sees it.
pub trait Memory {
    /// Bytes from an [address](gencl_program::debug_address) on.
    ///
    /// # Errors
    /// There is no memory at some of them.
    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, String>;
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A variable or a part of one.
    Variable {
        /// Index in [`Info::types`].
        ty: usize,
        /// Where it is.
        address: u64,
    },
    /// A bit field.
    BitField {
        /// Index in [`Info::types`].
        ty: usize,
        /// Where its structure is.
        address: u64,
        /// Its first bit there.
        first: u64,
        /// How many it has.
        bits: u64,
    },
    /// A pointer.
    Pointer {
        /// Index in [`Info::types`] of what it points to.
        to: usize,
        /// The address.
        address: u64,
    },
    /// An integer.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
}

/// A scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// Of up to 64 bits, with or without a sign.
    Integer(i128),
    /// Of any size.
    Float(f64),
}

impl Scalar {
    /// Whether a condition with this result holds.
    #[must_use]
    pub fn is_true(self) -> bool {
        match self {
            Scalar::Integer(number) => number != 0,
            Scalar::Float(number) => number != 0.0,
        }
    }

    /// As a floating-point number.
    #[must_use]
    pub fn float(self) -> f64 {
        match self {
            Scalar::Integer(number) => number as f64,
            Scalar::Float(number) => number,
        }
    }
}

/// Reads a little-endian integer.
fn integer(bytes: &[u8], signed: bool) -> i128 {
    let mut all = [0; 16];
    let used = bytes.len().min(8);
    all[..used].copy_from_slice(&bytes[..used]);
    let number = i128::from_le_bytes(all);
    let unused = 128 - 8 * used as u32;
    if signed && used > 0 { number << unused >> unused } else { number }
}

/// Reads an IEEE-754 number of 2, 4 or 8 bytes.
fn float(bytes: &[u8]) -> f64 {
    match *bytes {
        [a, b] => half(u16::from_le_bytes([a, b])),
        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => f64::NAN,
    }
}

fn half(bits: u16) -> f64 {
    let (sign, exponent, fraction) = (bits >> 15, i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if sign == 0 { size } else { -size }
}

impl Value {
    /// The value's type without names; none where it is no variable.
    fn plain<'i>(&self, info: &'i Info) -> Option<&'i Type> {
        match self {
            Value::Variable { ty, .. } | Value::BitField { ty, .. } => {
                info.plain(*ty).map(|ty| &info.types[ty])
            }
            _ => None,
        }
    }

    /// The address of a variable.
    ///
    /// # Errors
    /// It is none.
    pub fn address(&self) -> Result<u64, String> {
        match self {
            Value::Variable { address, .. } => Ok(*address),
            _ => Err("the value is not in memory".into()),
        }
    }

    /// The number of bytes of a variable.
    #[must_use]
    pub fn size(&self, info: &Info) -> u64 {
        match self {
            Value::Variable { ty, .. } | Value::BitField { ty, .. } => info.size(*ty),
            _ => 8,
        }
    }

    /// The name of its type.
    #[must_use]
    pub fn type_name(&self, info: &Info) -> String {
        match self {
            Value::Variable { ty, .. } | Value::BitField { ty, .. } => info.type_name(Some(*ty)),
            Value::Pointer { to, .. } => format!("{} *", info.type_name(Some(*to))),
            Value::Integer(_) => "long".into(),
            Value::Float(_) => "double".into(),
        }
    }

    /// The scalar that it is, a pointer as its address.
    ///
    /// # Errors
    /// It is a structure or an array, or cannot be read.
    pub fn scalar(&self, info: &Info, memory: &dyn Memory) -> Result<Scalar, String> {
        match *self {
            Value::Integer(number) => return Ok(Scalar::Integer(number)),
            Value::Float(number) => return Ok(Scalar::Float(number)),
            Value::Pointer { address, .. } => return Ok(Scalar::Integer(address.into())),
            Value::BitField { ty, address, first, bits } => {
                let bytes = memory.read(address + first / 8, (first % 8 + bits).div_ceil(8) as usize)?;
                let mut all = [0; 16];
                all[..bytes.len()].copy_from_slice(&bytes);
                let number = i128::from_le_bytes(all) >> (first % 8);
                let unused = 128 - bits as u32;
                let signed = matches!(
                    info.plain(ty).map(|ty| &info.types[ty]),
                    Some(Type::Base { kind: Kind::Signed | Kind::Character, .. })
                );
                let number = number << unused;
                let unsigned = (number as u128 >> unused) as i128;
                return Ok(Scalar::Integer(if signed { number >> unused } else { unsigned }));
            }
            Value::Variable { .. } => {}
        }
        let Value::Variable { address, .. } = *self else { return Err("no variable".into()) };
        let read = |bytes: u64| memory.read(address, bytes as usize);
        match self.plain(info) {
            Some(Type::Base { bytes, kind: Kind::Float, .. }) => Ok(Scalar::Float(float(&read(*bytes)?))),
            Some(Type::Base { bytes, kind, .. }) => {
                let signed = matches!(kind, Kind::Signed | Kind::Character);
                Ok(Scalar::Integer(integer(&read(*bytes)?, signed)))
            }
            Some(Type::Enumeration { bytes, .. }) => Ok(Scalar::Integer(integer(&read(*bytes)?, true))),
            Some(Type::Pointer { bytes, .. }) => Ok(Scalar::Integer(integer(&read(*bytes)?, false))),
            // An array is a pointer to its first element.
            Some(Type::Array { is_vector: false, .. }) => Ok(Scalar::Integer(address.into())),
            _ => Err(format!("{} is no scalar", self.type_name(info))),
        }
    }

    /// What a pointer or an array points to.
    ///
    /// # Errors
    /// It is neither, or cannot be read.
    pub fn target(&self, info: &Info, memory: &dyn Memory, index: i128) -> Result<Value, String> {
        let (to, space, bits) = match (self, self.plain(info)) {
            (Value::Pointer { to, address }, _) => (Some(*to), None, *address),
            (_, Some(Type::Pointer { to, space, .. })) => match self.scalar(info, memory)? {
                Scalar::Integer(bits) => (*to, *space, bits as u64),
                Scalar::Float(_) => return Err("no pointer".into()),
            },
            (Value::Variable { address, .. }, Some(Type::Array { of, count, is_vector })) => {
                if *is_vector && !(0..i128::from(*count)).contains(&index) {
                    return Err(format!("the vector has {count} elements"));
                }
                let address = (i128::from(*address) + index * i128::from(info.size(*of))) as u64;
                return Ok(Value::Variable { ty: *of, address });
            }
            _ => return Err(format!("{} is no pointer", self.type_name(info))),
        };
        let ty = to.ok_or("it points to no type")?;
        let address = space.map_or(bits, |space| space.address(bits));
        let address = (i128::from(address) + index * i128::from(info.size(ty))) as u64;
        Ok(Value::Variable { ty, address })
    }

    /// A member of a structure, or elements of a vector by their letters or number.
    ///
    /// # Errors
    /// There is none with this name.
    pub fn member(&self, info: &Info, name: &str) -> Result<Value, String> {
        let none = || format!("{} has no member {name}", self.type_name(info));
        match (self, self.plain(info)) {
            (Value::Variable { address, .. }, Some(Type::Structure { members, .. })) => {
                let member = members.iter().find(|member| member.name == name).ok_or_else(none)?;
                Ok(part(*address, member))
            }
            (Value::Variable { address, .. }, Some(Type::Array { of, count, is_vector: true })) => {
                let index = element(name).filter(|index| index < count).ok_or_else(none)?;
                Ok(Value::Variable { ty: *of, address: address + index * info.size(*of) })
            }
            _ => Err(none()),
        }
    }

    /// Its parts with their names: members and elements. Empty for scalars.
    #[must_use]
    pub fn parts(&self, info: &Info) -> Vec<(String, Value)> {
        match (self, self.plain(info)) {
            (Value::Variable { address, .. }, Some(Type::Structure { members, .. })) => {
                members.iter().map(|member| (member.name.clone(), part(*address, member))).collect()
            }
            (Value::Variable { address, .. }, Some(Type::Array { of, count, .. })) => {
                let size = info.size(*of);
                let element = |index| Value::Variable { ty: *of, address: address + index * size };
                (0..(*count).min(PRINTED)).map(|index| (format!("[{index}]"), element(index))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Its text, as C writes values; `<...>` says what cannot be read.
    #[must_use]
    pub fn text(&self, info: &Info, memory: &dyn Memory) -> String {
        let mut text = String::new();
        if let Err(error) = self.write(info, memory, &mut text) {
            let _ = write!(text, "<{error}>");
        }
        text
    }

    fn write(&self, info: &Info, memory: &dyn Memory, text: &mut String) -> Result<(), String> {
        let plain = self.plain(info);
        match plain {
            Some(Type::Structure { .. } | Type::Array { .. }) => {
                let named = matches!(plain, Some(Type::Structure { .. }));
                let parts = self.parts(info);
                text.push('{');
                for (index, (name, part)) in parts.iter().enumerate() {
                    let separator = if index > 0 { ", " } else { "" };
                    let _ = if named {
                        write!(text, "{separator}{name} = ")
                    } else {
                        write!(text, "{separator}")
                    };
                    part.write(info, memory, text)?;
                }
                let cut = matches!(plain, Some(Type::Array { count, .. }) if *count > PRINTED);
                text.push_str(if cut { ", ...}" } else { "}" });
                return Ok(());
            }
            Some(Type::Pointer { .. }) => {
                let Scalar::Integer(bits) = self.scalar(info, memory)? else { return Ok(()) };
                let _ = write!(text, "({}) {bits:#x}", self.type_name(info));
                return Ok(());
            }
            _ => {}
        }
        let scalar = self.scalar(info, memory)?;
        let _ = match (scalar, self, plain) {
            (Scalar::Integer(number), _, Some(Type::Enumeration { values, .. })) => {
                match values.iter().find(|(_, value)| i128::from(*value) == number) {
                    Some((name, _)) => write!(text, "{name}"),
                    None => write!(text, "{number}"),
                }
            }
            (Scalar::Integer(number), _, Some(Type::Base { kind: Kind::Boolean, .. })) => {
                write!(text, "{}", number != 0)
            }
            (Scalar::Integer(number), Value::Pointer { .. }, _) => write!(text, "{number:#x}"),
            (Scalar::Integer(number), ..) => write!(text, "{number}"),
            // As few digits as tell it from others of its type.
            (Scalar::Float(number), _, Some(Type::Base { bytes: 8, .. }) | None) => {
                write!(text, "{number:?}")
            }
            (Scalar::Float(number), ..) => write!(text, "{:?}", number as f32),
        };
        Ok(())
    }
}

/// A member of a structure at an address.
fn part(address: u64, member: &Member) -> Value {
    match member.bits {
        Some((first, bits)) => Value::BitField { ty: member.ty, address, first, bits },
        None => Value::Variable { ty: member.ty, address: address + member.offset },
    }
}

/// The number of a vector's element: `x` to `w`, or `s` and a digit.
fn element(name: &str) -> Option<u64> {
    let letter = "xyzw".find(name).filter(|_| name.len() == 1);
    let digit = name.strip_prefix(['s', 'S']).filter(|digit| digit.len() == 1);
    letter.map(|index| index as u64).or_else(|| u64::from_str_radix(digit?, 16).ok())
}
