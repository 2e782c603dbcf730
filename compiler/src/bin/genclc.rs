//! `genclc`: the command-line compiler and the compile server.

fn main() {}
