//! Has the addresses that the program corrects when it starts packed tightly, where the system's C
//! library can read that. It saves a megabyte of memory in every process.

use std::{env, process::Command};

/// The first C library that can read packed addresses.
const GLIBC_MIN: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var_os(name).is_some_and(|it| it == value);
    let is_native = env::var_os("HOST") == env::var_os("TARGET");
    let is_gnu = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is_native && is_gnu && glibc().is_some_and(|it| GLIBC_MIN <= it) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Returns the version of this system's C library: `glibc 2.36`.
fn glibc() -> Option<(u32, u32)> {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?.stdout;
    let said = String::from_utf8(said).ok()?;
    let (major, minor) = said.split_whitespace().nth(1)?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
