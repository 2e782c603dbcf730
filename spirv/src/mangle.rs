//! Names of OpenCL's built-in functions: Itanium C++ ABI, 5.1 "External Names (a.k.a. Mangling)", and clang's names of
//! OpenCL's types and address spaces.

/// A parameter's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// A scalar by its code (`f`, `i`, `j`, `Dh`) or a type by its name (`14ocl_image2d_ro`).
    Named(String),
    /// A vector of scalars.
    Vector(u32, String),
    /// A pointer: address space, qualifiers (`K` for `const`, `V` for `volatile`), what it points to.
    Pointer(u32, &'static str, Box<Parameter>),
}

/// The mangled name of a function.
pub(crate) fn mangle(name: &str, parameters: &[Parameter]) -> String {
    let mut mangler = Mangler { text: format!("_Z{}{name}", name.len()), seen: Vec::new() };
    if parameters.is_empty() {
        mangler.text.push('v');
    }
    for parameter in parameters {
        mangler.parameter(parameter);
    }
    mangler.text
}

struct Mangler {
    text: String,
    /// What later parameters refer to, in the order of its first appearance.
    seen: Vec<Component>,
}

/// A part of a type that a substitution can stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Component {
    Whole(Parameter),
    /// What a pointer points to with its qualifiers.
    Qualified(u32, &'static str, Parameter),
}

impl Mangler {
    fn parameter(&mut self, parameter: &Parameter) {
        let component = Component::Whole(parameter.clone());
        match parameter {
            // Built-in types are as short as a substitution.
            Parameter::Named(name) if !name.starts_with(|c: char| c.is_ascii_digit()) => {
                self.text.push_str(name);
                return;
            }
            _ if self.substitute(&component) => return,
            Parameter::Named(name) => self.text.push_str(name),
            Parameter::Vector(count, scalar) => self.text.push_str(&format!("Dv{count}_{scalar}")),
            Parameter::Pointer(space, qualifiers, pointee) => {
                self.text.push('P');
                self.pointee(*space, qualifiers, pointee);
            }
        }
        self.seen.push(component);
    }

    fn pointee(&mut self, space: u32, qualifiers: &'static str, pointee: &Parameter) {
        if space == 0 && qualifiers.is_empty() {
            return self.parameter(pointee);
        }
        let component = Component::Qualified(space, qualifiers, pointee.clone());
        if self.substitute(&component) {
            return;
        }
        if space != 0 {
            self.text.push_str(&format!("U3AS{space}"));
        }
        self.text.push_str(qualifiers);
        self.parameter(pointee);
        self.seen.push(component);
    }

    /// Writes a substitution if there is one.
    fn substitute(&mut self, component: &Component) -> bool {
        let Some(number) = self.seen.iter().position(|seen| seen == component) else { return false };
        match number {
            0 => self.text.push_str("S_"),
            // Base 36.
            number => {
                let digit = char::from_digit(number as u32 - 1, 36).expect("there are few parameters");
                self.text.push_str(&format!("S{}_", digit.to_ascii_uppercase()));
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(code: &str) -> Parameter {
        Parameter::Named(code.into())
    }

    #[test]
    fn names_are_those_of_clang() {
        let float4 = Parameter::Vector(4, "f".into());
        assert_eq!(mangle("exp", &[named("f")]), "_Z3expf");
        assert_eq!(mangle("fmax", &[float4.clone(), float4.clone()]), "_Z4fmaxDv4_fS_");
        let global = |qualifiers, to: &Parameter| Parameter::Pointer(1, qualifiers, Box::new(to.clone()));
        assert_eq!(mangle("fract", &[float4.clone(), global("", &float4)]), "_Z5fractDv4_fPU3AS1S_");
        assert_eq!(mangle("vload4", &[named("m"), global("K", &named("i"))]), "_Z6vload4mPU3AS1Ki");
        let sampled = [named("14ocl_image2d_ro"), named("11ocl_sampler"), Parameter::Vector(2, "f".into())];
        assert_eq!(mangle("read_imagef", &sampled), "_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_f");
        assert_eq!(mangle("get_work_dim", &[]), "_Z12get_work_dimv");
    }
}
