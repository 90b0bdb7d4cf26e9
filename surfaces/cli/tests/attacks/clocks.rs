//! Clocks that jump or differ between processes.
