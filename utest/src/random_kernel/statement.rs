//! Random statements. Loops end: by a counter that nothing else writes, or by fuel.

use super::types::{SCALARS, Type};
use super::{Generator, ITEM_DWORDS, PRIVATE_ELEMENTS, STORE_DWORDS};

impl Generator {
    /// Some statements, one at least. In a loop there may be `break` and `continue`.
    pub fn statements(&mut self, depth: u32, in_loop: bool) {
        for number in 0..1 + self.below(4) {
            if number > 0 && self.budget == 0 {
                break;
            }
            self.budget = self.budget.saturating_sub(1);
            let depth = if self.budget == 0 { 0 } else { depth };
            self.statement(depth, in_loop);
        }
    }

    fn statement(&mut self, depth: u32, in_loop: bool) {
        match self.below(if depth == 0 { 8 } else { 16 }) {
            0..=3 => self.assignment(),
            4 if self.has_array => {
                let (index, ty) = (self.index(PRIVATE_ELEMENTS, 1), self.pick(&SCALARS));
                let value = self.expression(ty, 2);
                self.line(&format!("array[{index}] = {value};"));
            }
            5 => self.store(),
            6 if in_loop => {
                let what = if self.chance(50) { "break" } else { "continue" };
                let condition = self.condition(1);
                self.line(&format!("if ({condition}) {what};"));
            }
            6 if self.label.is_some() => {
                let (condition, label) = (self.condition(1), self.label.unwrap_or(0));
                self.line(&format!("if ({condition}) goto end{label};"));
            }
            7 if self.may_return => {
                let condition = self.condition(1);
                self.line(&format!("if ({condition}) return;"));
            }
            4 | 6 | 7 => self.assignment(),
            8..=10 => self.branch(depth, in_loop),
            11 | 12 => self.counted_loop(depth),
            13 => self.fueled_loop(depth),
            14 => self.switch(depth, in_loop),
            _ => self.region(depth, in_loop),
        }
    }

    fn assignment(&mut self) {
        let (name, ty) = self.some_variable();
        if ty.count > 1 && self.chance(40) {
            let element = self.below(ty.count);
            let value = self.value(ty.element());
            return self.line(&format!("{name}.s{element} = {value};"));
        }
        let value = self.value(ty);
        self.line(&format!("{name} = {value};"));
    }

    /// An expression of some depth.
    fn value(&mut self, ty: Type) -> String {
        let depth = self.pick(&[1, 2, 2, 3]);
        self.expression(ty, depth)
    }

    /// To the work-item's own part of the output. Each size has four dwords of its own, as a compiler may
    /// take it that what is stored through pointers to different types are different places.
    fn store(&mut self) {
        let ty = self.pick(&SCALARS);
        let (index, value) = (self.index(STORE_DWORDS * 4 / ty.bytes(), 1), self.expression(ty, 2));
        let (n, first) = (ty.name(), ty.bytes().ilog2() * STORE_DWORDS);
        self.line(&format!("((global {n} *)(output + gid * {ITEM_DWORDS}u + {first}u))[{index}] = {value};"));
    }

    fn block(&mut self, depth: u32, in_loop: bool) {
        self.indent += 1;
        self.statements(depth, in_loop);
        self.indent -= 1;
    }

    fn branch(&mut self, depth: u32, in_loop: bool) {
        let condition = self.condition(2);
        self.line(&format!("if ({condition}) {{"));
        self.block(depth - 1, in_loop);
        if self.chance(50) {
            self.line("} else {");
            self.block(depth - 1, in_loop);
        }
        self.line("}");
    }

    fn counted_loop(&mut self, depth: u32) {
        let counter = self.new_counter();
        let most = self.index(8, 1);
        self.line(&format!("for ({counter} = 0; {counter} < {most}; ++{counter}) {{"));
        self.block(depth - 1, true);
        self.line("}");
    }

    fn fueled_loop(&mut self, depth: u32) {
        let condition = self.condition(1);
        if self.chance(50) {
            self.line(&format!("while ({condition} && fuel != 0) {{"));
            self.line("    --fuel;");
            self.block(depth - 1, true);
            self.line("}");
        } else {
            self.line("do {");
            self.line("    fuel -= fuel != 0;");
            self.block(depth - 1, true);
            self.line(&format!("}} while ({condition} && fuel != 0);"));
        }
    }

    fn switch(&mut self, depth: u32, in_loop: bool) {
        let value = self.index(4, 2);
        self.line(&format!("switch ({value}) {{"));
        for case in ["case 0:", "case 2:", "default:"] {
            self.line(case);
            // `continue` in it is the loop's, `break` its own.
            self.block(depth - 1, in_loop);
            if self.chance(60) {
                self.line("    break;");
            }
        }
        self.line("}");
    }

    /// Statements with jumps out of everything in them.
    fn region(&mut self, depth: u32, in_loop: bool) {
        let label = self.new_label();
        let outer = self.label.replace(label);
        self.line("{");
        self.block(depth - 1, in_loop);
        self.line("}");
        self.label = outer;
        self.line(&format!("end{label}:;"));
    }

    /// What the whole work-group does together: writes its shared memory, waits, reads it. Atomic operations
    /// are such whose order does not matter.
    pub fn phase(&mut self) {
        let ty = Type::scalar(32, false);
        let value = self.value(ty);
        self.line(&format!("shared[lid] = {value};"));
        self.line("if (lid < 8) counts[lid] = 0;");
        self.line("barrier(CLK_LOCAL_MEM_FENCE);");
        // pocl 3.1 goes wrong when a loop begins right behind a barrier; Oclgrind and Intel's driver say so
        // too.
        self.line("fuel -= fuel != 0;");
        self.may_read_local = true;
        self.statements(2, false);
        let operation = self.pick(&["add", "xor", "max"]);
        let (index, value) = (self.index(8, 1), self.expression(ty, 2));
        // One operation for all, and all in each phase.
        self.line(&format!("atomic_{operation}(&counts[{index}], {value});"));
        self.may_read_local = false;
        self.line("barrier(CLK_LOCAL_MEM_FENCE);");
        let (name, of) = self.some_variable();
        let index = self.index(8, 0);
        self.line(&format!("{name} ^= ({})(counts[{index}]);", of.name()));
        self.line("barrier(CLK_LOCAL_MEM_FENCE);");
    }
}
