//! What Milepost costs, beside what it could cost at best, in one run on one machine.
//!
//! ```text
//! cargo run --release -p bench                   every section; the table goes to bench/RESULTS.md
//! cargo run --release -p bench -- latency        only this one
//! cargo run --release -p bench -- --quick        every section, shorter and less exact
//! cargo run --release -p bench -- steady --seconds=60    that long, instead of five minutes
//! ```
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a measurement prints, and needs the real clock"
)]
#![expect(clippy::indexing_slicing, reason = "what is missing in an answer is null, not a panic")]

mod appends;
mod checksums;
mod context;
mod figures;
mod growth;
mod http;
mod latency;
mod listen;
mod long;
mod memory;
mod others;
mod peer;
mod pipeline;
mod raw;
mod rig;
mod scenes;
mod start;
mod steady;
mod table;
mod web;

use std::{error::Error, fs, process::ExitCode, time::Duration};

use others::Look;
use rig::Rig;
use table::Section;

/// What a measurement comes to.
type Measured<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// One thing that is measured.
type Measure = fn(&Rig) -> Measured<Section>;

const SECTIONS: &[(&str, Measure)] = &[
    ("appends", appends::measure),
    ("latency", latency::measure),
    ("start", start::measure),
    ("memory", memory::measure),
    ("growth", growth::measure),
    ("long", long::measure),
    ("scenes", scenes::measure),
    ("pipeline", pipeline::measure),
    ("http", http::measure),
    ("listen", listen::measure),
    ("steady", steady::measure),
    ("checksums", checksums::measure),
    ("context", context::measure),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_quick = words.iter().any(|it| it == "--quick");
    let steady = words.iter().find_map(|it| it.strip_prefix("--seconds=")?.parse().ok());
    let wanted: Vec<&str> =
        words.iter().map(String::as_str).filter(|it| !it.starts_with("--")).collect();
    let is_known = |it: &&str| SECTIONS.iter().any(|(name, _)| name == it);
    if let Some(unknown) = wanted.iter().find(|it| !is_known(it)) {
        let names: Vec<&str> = SECTIONS.iter().map(|(name, _)| *name).collect();
        eprintln!("there is no section `{unknown}`; there are: {}", names.join(", "));
        return ExitCode::from(64);
    }
    match measure(is_quick, steady, &wanted) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the measurement failed: {error}");
            ExitCode::from(2)
        }
    }
}

fn measure(is_quick: bool, steady: Option<u64>, wanted: &[&str]) -> Measured<()> {
    let mut rig = Rig::build(is_quick)?;
    if let Some(seconds) = steady {
        rig.steady = Duration::from_secs(seconds);
    }
    let mut sections = Vec::new();
    for (name, measure) in SECTIONS {
        if wanted.is_empty() || wanted.contains(name) {
            eprintln!("measuring {name}");
            let look = Look::now();
            let mut section = measure(&rig)?;
            section.others = look.others();
            sections.push(section);
        }
    }
    let report = table::report(&rig, &sections);
    println!("{report}");
    if wanted.is_empty() && !is_quick {
        fs::write(rig.repository.join("bench/RESULTS.md"), report)?;
    }
    Ok(())
}
