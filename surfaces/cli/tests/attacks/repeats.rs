//! The same call again: over two processes, after a kill, with and without a request id.
