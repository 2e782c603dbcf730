//! Names of everything that has one in the text form. The printer, the parser and messages read them here.

use gencl_ir_support::names;
use gencl_program::ImageProperty;

use super::{AtomicOp, Condition, Family, Form, Join, Leave, Rounding, Space, Type, Vote};

names! {
    Family { Bool = "bool", Byte = "byte", Word = "word", Dword = "dword", Qword = "qword" }
    Type {
        Bool = "bool", S8 = "s8", U8 = "u8", S16 = "s16", U16 = "u16", S32 = "s32", U32 = "u32", S64 = "s64",
        U64 = "u64", F16 = "f16", F32 = "f32", F64 = "f64",
    }
    Space { Global = "global", Constant = "constant", Local = "local", Private = "private" }
    Condition {
        Equal = "equal", NotEqual = "not_equal", Less = "less", LessEqual = "less_equal", Greater = "greater",
        GreaterEqual = "greater_equal",
    }
    Rounding { Default = "default", NearestEven = "rte", TowardZero = "rtz", Up = "rtp", Down = "rtn" }
    AtomicOp {
        Add = "add", Sub = "sub", Inc = "inc", Dec = "dec", Xchg = "xchg", CmpXchg = "cmp_xchg", And = "and",
        Or = "or", Xor = "xor", Min = "min", Max = "max",
    }
    Vote { Any = "any", All = "all", None = "none" }
    Leave {
        Goto = "goto", If = "if", Else = "else", Break = "break", Continue = "continue", While = "while",
        Back = "back",
    }
    Join { Goto = "goto", If = "if" }
    Form { PerLane = "per_lane", Linear = "linear", Masked = "masked" }
}

/// Properties of images.
const PROPERTIES: &[(ImageProperty, &str)] = &[
    (ImageProperty::Width, "width"),
    (ImageProperty::Height, "height"),
    (ImageProperty::Depth, "depth"),
    (ImageProperty::ArraySize, "array_size"),
    (ImageProperty::ChannelType, "channel_type"),
    (ImageProperty::ChannelOrder, "channel_order"),
    (ImageProperty::TexelSize, "texel_size"),
    (ImageProperty::RowPitch, "row_pitch"),
    (ImageProperty::SlicePitch, "slice_pitch"),
];

/// The name of a property of images.
pub fn property_name(property: ImageProperty) -> &'static str {
    PROPERTIES.iter().find(|(other, _)| *other == property).map_or("", |(_, name)| name)
}

/// The property of a name.
pub fn property_from_name(name: &str) -> Option<ImageProperty> {
    PROPERTIES.iter().find(|(_, other)| *other == name).map(|(property, _)| *property)
}
