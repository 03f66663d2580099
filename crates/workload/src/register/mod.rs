//! Registers: values that clients write and read by keys, whose history tells what a database did that no register does.

pub mod history;
