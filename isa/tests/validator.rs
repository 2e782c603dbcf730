use gencl_isa::{Generation, decode, validate};
use std::path::Path;
#[test]
fn vectors() {
    for generation in Generation::ALL {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../shared/oracle/mesa-asm")
            .join(generation.capabilities().name);
        let mut n = std::collections::BTreeMap::<&str, (usize, String)>::new();
        for e in std::fs::read_dir(folder).unwrap() {
            let p = e.unwrap().path();
            if p.extension().unwrap() != "expected" {
                continue;
            }
            for line in std::fs::read_to_string(&p).unwrap().lines() {
                let b: Vec<u8> =
                    line.split_whitespace().map(|b| u8::from_str_radix(b, 16).unwrap()).collect();
                let i = decode(generation, &b.try_into().unwrap()).unwrap();
                for v in validate(generation, &i) {
                    let x = n.entry(v.rule.id).or_default();
                    x.0 += 1;
                    x.1 = format!("{}  {:?}", i.display(generation), v.place);
                }
            }
        }
        println!("{generation:?} {n:#?}");
    }
}
