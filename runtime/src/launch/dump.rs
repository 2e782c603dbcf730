//! Batches as text, for `GENCL_DEBUG=batch`.

use std::fmt::Write;

use super::commands::CommandSet;
use super::field::{CommandLayout, Field};

/// The commands with their non-zero fields, one per line.
pub(crate) fn batch(set: &CommandSet, dwords: &[u32]) -> String {
    let commands = set.commands();
    let mut text = format!("batch of {} dwords\n", dwords.len());
    let mut at = 0;
    while at < dwords.len() {
        let header = dwords[at];
        let known = commands.iter().find(|(layout, _)| layout.header >> 16 == header >> 16);
        let Some((layout, fields)) = known.filter(|(layout, _)| at + layout.length <= dwords.len()) else {
            // Writing to a String does not fail.
            let _ = writeln!(text, "  {:#06x}: {header:#010x}", 4 * at);
            at += 1;
            continue;
        };
        let _ = write!(text, "  {:#06x}: ", 4 * at);
        line(&mut text, layout, fields, &dwords[at..at + layout.length]);
        at += layout.length;
    }
    text
}

/// A state structure in the same form.
pub(crate) fn structure((layout, fields): &(CommandLayout, Vec<Field>), dwords: &[u32]) -> String {
    let mut text = String::from("  ");
    line(&mut text, layout, fields, dwords);
    text
}

fn line(text: &mut String, layout: &CommandLayout, fields: &[Field], dwords: &[u32]) {
    text.push_str(layout.name);
    for field in fields {
        let value = field.get(dwords);
        if value != 0 {
            let _ = write!(text, ", {} {value:#x}", field.name);
        }
    }
    text.push('\n');
}
