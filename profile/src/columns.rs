//! Tables of text.

use std::fmt::Write;

/// A table with right-aligned columns but for the last `left` ones. Its first row is the head.
pub struct Table {
    left: usize,
    /// Rows of cells.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(left: usize, head: Vec<String>) -> Table {
        Table { left, rows: vec![head] }
    }

    /// Its text, with aligned columns.
    pub fn text(&self) -> String {
        let columns = self.rows[0].len();
        let width =
            |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let _ = match columns - column > self.left {
                    true => write!(line, "{cell:>width$}  ", width = widths[column]),
                    false => write!(line, "{cell:<width$}  ", width = widths[column]),
                };
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }
}

/// A part of 1 as text.
pub fn percent(part: f64) -> String {
    format!("{:.1}%", 100.0 * part)
}
