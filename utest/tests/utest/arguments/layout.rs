//! Types of OpenCL C and their layout in memory, by the rules of the specification (OpenCL C 3.0, 6.3.5 "Alignment of
//! Types", 6.11 "Attribute Qualifiers") and of C for unions.

use std::fmt::Write;

/// A scalar type.
#[derive(Clone, Copy)]
pub struct Scalar {
    pub name: &'static str,
    pub size: usize,
    /// The unsigned type of its size.
    pub bits: &'static str,
}

const fn scalar(name: &'static str, size: usize, bits: &'static str) -> Scalar {
    Scalar { name, size, bits }
}

pub const INT: Scalar = scalar("int", 4, "uint");
pub const DOUBLE: Scalar = scalar("double", 8, "ulong");
pub const SCALARS: [Scalar; 9] = [
    scalar("char", 1, "uchar"),
    scalar("uchar", 1, "uchar"),
    scalar("short", 2, "ushort"),
    scalar("ushort", 2, "ushort"),
    INT,
    scalar("uint", 4, "uint"),
    scalar("long", 8, "ulong"),
    scalar("ulong", 8, "ulong"),
    scalar("float", 4, "uint"),
];

/// The type of an argument or of what is in it.
#[derive(Clone)]
pub enum Type {
    Scalar(Scalar),
    Vector(Scalar, usize),
    Array(Box<Type>, usize),
    Record(Record),
}

/// A structure or union.
#[derive(Clone)]
pub struct Record {
    pub fields: Vec<Field>,
    pub union: bool,
    pub packed: bool,
    /// An alignment attribute.
    pub align: Option<usize>,
}

impl Record {
    /// A structure without attributes.
    pub fn of(fields: Vec<Field>) -> Record {
        Record { fields, union: false, packed: false, align: None }
    }

    fn align_of(&self, field: &Field) -> usize {
        let natural = if self.packed { 1 } else { field.ty.layout().1 };
        natural.max(field.align.unwrap_or(1))
    }

    /// The first byte of each field.
    pub fn offsets(&self) -> impl Iterator<Item = usize> + '_ {
        self.fields.iter().scan(0usize, |end, field| {
            if self.union {
                return Some(0);
            }
            let at = end.next_multiple_of(self.align_of(field));
            *end = at + field.ty.layout().0;
            Some(at)
        })
    }
}

/// A structure without attributes.
pub fn structure(fields: Vec<Field>) -> Type {
    Type::Record(Record::of(fields))
}

/// A field, with an alignment attribute.
#[derive(Clone)]
pub struct Field {
    pub ty: Type,
    pub align: Option<usize>,
}

pub fn plain(ty: Type) -> Field {
    Field { ty, align: None }
}

/// An element of an argument.
pub struct Leaf {
    pub scalar: Scalar,
    /// First byte.
    pub offset: usize,
    /// How to read it at constant offsets.
    pub known: String,
    /// How to read it at computed ones; `z` is zero.
    pub computed: String,
    /// Whether a store to it leaves all other bytes as they are: a vector of three may be stored as one of four, and
    /// what other members of a union are afterwards is not specified.
    pub is_alone: bool,
}

impl Type {
    /// Bytes and alignment.
    pub fn layout(&self) -> (usize, usize) {
        match self {
            Type::Scalar(s) => (s.size, s.size),
            Type::Vector(s, n) => {
                let size = s.size * n.next_power_of_two();
                (size, size)
            }
            Type::Array(element, n) => {
                let (size, align) = element.layout();
                (size * n, align)
            }
            Type::Record(record) => {
                let end = record.offsets().zip(&record.fields).map(|(at, f)| at + f.ty.layout().0).max();
                let align = record.fields.iter().map(|f| record.align_of(f)).max().unwrap_or(1);
                let align = align.max(record.align.unwrap_or(1));
                (end.unwrap_or(0).next_multiple_of(align), align)
            }
        }
    }

    /// Writes its structures and returns the declaration of `name`.
    pub fn declare(&self, name: &str, structures: &mut String, count: &mut usize) -> String {
        match self {
            Type::Scalar(s) => format!("{} {name}", s.name),
            Type::Vector(s, n) => format!("{}{n} {name}", s.name),
            Type::Array(element, n) => element.declare(&format!("{name}[{n}]"), structures, count),
            Type::Record(record) => {
                let aligned = |align: Option<usize>| align.map(|n| format!("__attribute__((aligned({n}))) "));
                let mut text = String::new();
                for (index, field) in record.fields.iter().enumerate() {
                    let declaration = field.ty.declare(&format!("f{index}"), structures, count);
                    let align = aligned(field.align).unwrap_or_default();
                    let _ = writeln!(text, "    {declaration} {align};");
                }
                let word = if record.union { "union" } else { "struct" };
                let packed = if record.packed { "__attribute__((packed)) " } else { "" };
                let align = aligned(record.align).unwrap_or_default();
                let _ = writeln!(structures, "{word} {packed}{align}s{count} {{\n{text}}};");
                *count += 1;
                format!("{word} s{} {name}", *count - 1)
            }
        }
    }

    /// The elements of a variable `name`.
    pub fn leaves(&self, name: &str) -> Vec<Leaf> {
        let mut list = Vec::new();
        self.add_leaves((0, true), name, name, &mut list);
        list
    }

    fn add_leaves(
        &self,
        (offset, is_alone): (usize, bool),
        known: &str,
        computed: &str,
        list: &mut Vec<Leaf>,
    ) {
        match self {
            Type::Scalar(s) => list.push(Leaf {
                scalar: *s,
                offset,
                known: known.into(),
                computed: computed.into(),
                is_alone,
            }),
            Type::Vector(s, n) => list.extend((0..*n).map(|k| Leaf {
                scalar: *s,
                offset: offset + k * s.size,
                known: format!("{known}.s{k:x}"),
                computed: format!("{computed}[z + {k}]"),
                is_alone: is_alone && *n != 3,
            })),
            Type::Array(element, n) => {
                let size = element.layout().0;
                for k in 0..*n {
                    let (known, computed) = (format!("{known}[{k}]"), format!("{computed}[z + {k}]"));
                    element.add_leaves((offset + k * size, is_alone), &known, &computed, list);
                }
            }
            Type::Record(record) => {
                for (index, (at, field)) in record.offsets().zip(&record.fields).enumerate() {
                    let field_of = |base: &str| format!("{base}.f{index}");
                    let place = (offset + at, is_alone && !record.union);
                    field.ty.add_leaves(place, &field_of(known), &field_of(computed), list);
                }
            }
        }
    }

    /// All fields of a variable `name`, those of fields too, and the first byte of each.
    pub fn fields(&self, name: &str) -> Vec<(String, usize)> {
        match self {
            Type::Scalar(_) | Type::Vector(..) => Vec::new(),
            Type::Array(element, n) => {
                let last = n - 1;
                let shift = last * element.layout().0;
                let fields = element.fields(&format!("{name}[{last}]"));
                fields.into_iter().map(|(path, at)| (path, at + shift)).collect()
            }
            Type::Record(record) => {
                let mut list = Vec::new();
                for (index, (at, field)) in record.offsets().zip(&record.fields).enumerate() {
                    let path = format!("{name}.f{index}");
                    list.push((path.clone(), at));
                    list.extend(field.ty.fields(&path).into_iter().map(|(path, own)| (path, at + own)));
                }
                list
            }
        }
    }
}
