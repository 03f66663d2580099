//! `prony compare`: results directories side by side.
