//! Ways around a gate, a guard or the end of a run.
