//! Puts the built-in workflows into the binary: every Markdown file and graph below
//! `workflows/`.

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets it")?)
        .join("../../workflows")
        .canonicalize()?;
    println!("cargo::rerun-if-changed={}", root.display());
    let mut paths = Vec::new();
    collect(&root, &root, &mut paths)?;
    paths.sort();
    let mut table = String::from("&[\n");
    for path in paths {
        let file = root.join(&path);
        writeln!(table, "    ({path:?}, include_str!({:?})),", file.display().to_string())?;
    }
    table.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or("cargo sets it")?;
    fs::write(Path::new(&out).join("builtin.rs"), table)?;
    Ok(())
}

fn collect(root: &Path, folder: &Path, paths: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, paths)?;
        } else if is_part(&path) {
            let relative = path.strip_prefix(root)?.to_str().ok_or("a path is not UTF-8")?;
            paths.push(relative.replace('\\', "/"));
        }
    }
    Ok(())
}

fn is_part(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "md" || it == "yaml")
}
