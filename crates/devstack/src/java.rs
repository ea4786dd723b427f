//! Java files of our own, compiled once for each state of them.
//!
//! By the compiler that a POM brings (`org.eclipse.jdt:ecj`): a Java that runs the dev stack need not have one.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cache::cache_dir;
use crate::error::{DevstackError, OnPath};
use crate::layout::hex_of;
use crate::maven::Jars;
use crate::program::find_java;
use crate::undertaking::Undertaking;

/// The compiler's program, and the Java that it compiles for: the oldest one that `./dev` takes.
const COMPILER: &str = "org.eclipse.jdt.internal.compiler.batch.Main";
const RELEASE: &str = "-17";

/// Compiles one file, unless that was done before, and gives a class path of what came of it and the jars.
///
/// # Errors
/// When it does not compile, or Java or the compiler is missing.
pub fn compile(undertaking: &Undertaking, jars: &Jars, source: &Path) -> Result<String, DevstackError> {
    let content = fs::read(source).on("read", source)?;
    let jar_paths = jars.paths()?.join(":");
    let key = hex_of(&[&content[..], jar_paths.as_bytes()].concat());
    let classes = cache_dir().join(format!("classes-{key}"));
    let class_path = format!("{}:{}", classes.display(), jars.class_path());
    if classes.is_dir() {
        return Ok(class_path);
    }
    // Under a name of this process's own, which is renamed when it is complete: two may be at it at once.
    let partial = classes.with_extension(std::process::id().to_string());
    fs::create_dir_all(&partial).on("make", &partial)?;
    undertaking.remove_when_interrupted(&partial);
    let mut compiler = Command::new(find_java());
    compiler.args(["-cp", &jars.class_path(), COMPILER, RELEASE, "-nowarn", "-proc:none"]);
    // The compiler knows no `*` in a class path.
    compiler.args(["-classpath", &jar_paths, "-d"]).arg(&partial).arg(source);
    undertaking.run(&mut compiler, "java", "install a Java of at least 17")?;
    match fs::rename(&partial, &classes) {
        // Somebody was faster, and has made the same.
        Err(_) if classes.is_dir() => fs::remove_dir_all(&partial).on("remove", &partial)?,
        outcome => outcome.on("complete", &classes)?,
    }
    Ok(class_path)
}
