//! Denial of service: connections, calls in flight, unread output, memory, time limits.
