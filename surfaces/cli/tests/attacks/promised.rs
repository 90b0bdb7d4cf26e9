//! Promised files that are torn, cut, emptied, replaced or contradictory.
