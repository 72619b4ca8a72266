//! Puts what a hook runs side by side in the program (`hot.ld`), where the linker can.
//!
//! The linker itself is asked, with an empty program: linkers differ, they are chosen far from here, and with one that does not
//! understand the layout a program only takes more pages.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

/// Only the linker that the layout was made for knows this option, and has nothing to warn of here.
const ITS_OWN: &str = "-Wl,--no-warn-symbol-ordering";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=hot.ld");
    let layout = Path::new(&value("CARGO_MANIFEST_DIR")).join("hot.ld");
    let args = [ITS_OWN.to_owned(), format!("-Wl,--script={}", layout.display())];
    let wanted = value("PROFILE") == "release" && value("CARGO_CFG_TARGET_OS") == "linux";
    if wanted && links(&args) {
        for arg in args {
            println!("cargo::rustc-link-arg-bins={arg}");
        }
    }
}

fn value(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// Whether an empty program can be linked with these arguments, in the way that the real one will be.
fn links(args: &[String]) -> bool {
    let folder = value("OUT_DIR");
    let source = Path::new(&folder).join("empty.rs");
    if std::fs::write(&source, "fn main() {}\n").is_err() {
        return false;
    }
    let mut rustc = Command::new(value("RUSTC"));
    rustc.arg(&source).args(["--edition=2024", "--crate-name=empty", "--target"]).arg(value("TARGET"));
    rustc.arg("-o").arg(Path::new(&folder).join("empty"));
    let flags = value("CARGO_ENCODED_RUSTFLAGS");
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut flag = std::ffi::OsString::from("-Clinker=");
        flag.push(linker);
        rustc.arg(flag);
    }
    rustc.args(args.iter().map(|arg| format!("-Clink-arg={arg}")));
    rustc.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
