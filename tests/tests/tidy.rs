//! The house style, as far as a machine can see it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, process};

use syn::visit::Visit;

const FILE_LINES_MAX: usize = 700;
const FUNCTION_LINES_MAX: usize = 70;
const COMMENT_CHARACTERS_MAX: usize = 130;
const NAMELESS_MODULES: [&str; 7] = ["util", "utils", "common", "helpers", "manager", "types", "misc"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the workspace's folder")
}

/// The files that git knows or would take, below the root.
fn files() -> Vec<PathBuf> {
    let listed = process::Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git lists the files");
    assert!(listed.status.success(), "git ls-files failed");
    let names = String::from_utf8(listed.stdout).expect("names in UTF-8");
    names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .filter(|name| root().join(name).is_file())
        .collect()
}

fn with_ending(ending: &str) -> Vec<(PathBuf, String)> {
    let wanted = files().into_iter().filter(|path| path.extension().is_some_and(|found| found == ending));
    wanted.map(|path| (path.clone(), fs::read_to_string(root().join(&path)).expect("a text file"))).collect()
}

fn fail_with(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

#[test]
fn no_file_is_longer_than_the_house_allows() {
    let long = with_ending("rs").into_iter().filter(|(_, text)| text.lines().count() > FILE_LINES_MAX);
    fail_with(
        &long
            .map(|(path, text)| format!("{} has {} lines", path.display(), text.lines().count()))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn no_function_is_longer_than_the_house_allows() {
    struct Lengths<'a> {
        path: &'a Path,
        complaints: Vec<String>,
    }
    impl Lengths<'_> {
        fn check(&mut self, name: &syn::Ident, block: &syn::Block) {
            let braces = block.brace_token.span;
            let lines = braces.close().start().line - braces.open().start().line + 1;
            if lines > FUNCTION_LINES_MAX {
                self.complaints.push(format!("{}: fn {name} has {lines} lines", self.path.display()));
            }
        }
    }
    impl<'ast> Visit<'ast> for Lengths<'_> {
        fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
            self.check(&item.sig.ident, &item.block);
            syn::visit::visit_item_fn(self, item);
        }
        fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
            self.check(&item.sig.ident, &item.block);
            syn::visit::visit_impl_item_fn(self, item);
        }
    }
    let mut complaints = Vec::new();
    for (path, text) in with_ending("rs") {
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut lengths = Lengths { path: &path, complaints: Vec::new() };
        lengths.visit_file(&parsed);
        complaints.append(&mut lengths.complaints);
    }
    fail_with(&complaints);
}

#[test]
fn every_module_has_a_name_that_says_what_is_in_it() {
    let nameless = files().into_iter().filter(|path| {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let is_code = path.extension().is_some_and(|ending| ending == "rs");
        is_code && NAMELESS_MODULES.contains(&stem)
    });
    fail_with(
        &nameless.map(|path| format!("{} has a name that says nothing", path.display())).collect::<Vec<_>>(),
    );
}

fn is_query(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "sql") && !path.starts_with("migrations")
}

/// The statement without its comments and its quoted texts.
fn statement(text: &str) -> String {
    let uncommented = text.lines().map(|line| line.split("--").next().unwrap_or_default());
    let unquoted: Vec<String> =
        uncommented.collect::<Vec<_>>().join("\n").split('\'').step_by(2).map(str::to_owned).collect();
    unquoted.concat().trim().to_owned()
}

#[test]
fn a_sql_file_holds_one_statement_under_a_header_and_in_upper_case_keywords() {
    let mut complaints = Vec::new();
    for (path, text) in with_ending("sql").into_iter().filter(|(path, _)| is_query(path)) {
        let statement = statement(&text);
        let mut complain = |what: &str| complaints.push(format!("{}: {what}", path.display()));
        if !text.trim_start().starts_with("--") {
            complain("no header that says lock, idempotency key and index");
        }
        if statement.trim_end_matches(';').contains(';') {
            complain("more than one statement");
        }
        if !["SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "SET", "COPY", "LOCK", "NOTIFY", "LISTEN"]
            .iter()
            .any(|keyword| statement.starts_with(keyword))
        {
            complain("does not begin with an upper-case keyword");
        }
        for keyword in
            [" from ", " where ", " set ", " values ", " order by ", " and ", " returning ", " on conflict "]
        {
            if statement.contains(keyword) {
                complain(&format!("writes{keyword}in lower case"));
            }
        }
    }
    fail_with(&complaints);
}

#[test]
fn no_comment_is_wider_than_the_house_allows() {
    let mut complaints = Vec::new();
    for (path, text) in with_ending("rs").into_iter().chain(with_ending("sql")) {
        let comments = text
            .lines()
            .zip(1..)
            .filter(|(line, _)| ["//", "--"].iter().any(|mark| line.trim_start().starts_with(mark)));
        let wide = comments.filter(|(line, _)| line.chars().count() > COMMENT_CHARACTERS_MAX);
        complaints.extend(wide.map(|(_, number)| format!("{}:{number}: a wide comment", path.display())));
    }
    fail_with(&complaints);
}

#[test]
fn no_statement_is_written_inside_of_the_code_of_the_store() {
    let mut complaints = Vec::new();
    for (path, text) in with_ending("rs") {
        let shipped = path.starts_with("crates/store/src") || path.starts_with("services");
        if shipped && path.components().all(|part| part.as_os_str() != "tests") {
            for (number, line) in text.lines().enumerate() {
                if ["\"SELECT ", "\"INSERT INTO", "\"UPDATE ", "\"DELETE FROM"]
                    .iter()
                    .any(|start| line.contains(start))
                {
                    complaints.push(format!(
                        "{}:{}: a statement belongs into a .sql file",
                        path.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    fail_with(&complaints);
}

/// The slugs of every `codes.rs`.
fn codes() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for (path, text) in with_ending("rs") {
        if path.file_name().is_some_and(|name| name == "codes.rs") {
            let slugs = text
                .lines()
                .filter(|line| line.contains("&str = \""))
                .filter_map(|line| line.split('"').nth(1));
            codes.extend(slugs.map(str::to_owned));
        }
    }
    assert!(codes.len() > 10, "found only {codes:?}: is there no codes.rs any more?");
    codes
}

#[test]
fn every_code_has_its_page_and_every_page_its_code() {
    let pages: BTreeSet<String> = files()
        .into_iter()
        .filter(|path| path.starts_with("docs/errors"))
        .filter_map(|path| path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned))
        .filter(|stem| stem != "README")
        .collect();
    let codes = codes();
    let missing = codes.difference(&pages).map(|code| format!("docs/errors/{code}.md is missing"));
    let stale = pages
        .difference(&codes)
        .map(|page| format!("docs/errors/{page}.md explains a code that nothing gives"));
    fail_with(&missing.chain(stale).collect::<Vec<_>>());
}

#[test]
fn every_error_page_says_what_it_means_and_what_to_do() {
    let mut complaints = Vec::new();
    for (path, text) in with_ending("md").into_iter().filter(|(path, _)| path.starts_with("docs/errors")) {
        let slug = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if slug != "README" && !text.starts_with(&format!("# {slug}\n")) {
            complaints.push(format!("{} does not begin with its code", path.display()));
        }
        if slug != "README" && text.lines().count() < 8 {
            complaints.push(format!("{} is too short to help anybody", path.display()));
        }
    }
    fail_with(&complaints);
}

#[test]
fn the_domain_reads_no_clock_and_no_chance() {
    let forbidden = [
        "Timestamp::now",
        "SystemTime",
        "Instant::now",
        "Zoned::now",
        "now_v7",
        "new_v4",
        "thread_rng",
        "rand::",
    ];
    let mut complaints = Vec::new();
    for (path, text) in
        with_ending("rs").into_iter().filter(|(path, _)| path.starts_with("crates/domain/src"))
    {
        complaints.extend(
            forbidden
                .iter()
                .filter(|call| text.contains(*call))
                .map(|call| format!("{} calls {call}", path.display())),
        );
    }
    fail_with(&complaints);
}

#[test]
fn no_test_waits_by_sleeping() {
    let mut complaints = Vec::new();
    for (path, text) in with_ending("rs")
        .into_iter()
        .filter(|(path, _)| path.components().any(|part| part.as_os_str() == "tests"))
    {
        if path.file_name().is_some_and(|name| name == "tidy.rs") {
            continue;
        }
        for call in ["thread::sleep(", "time::sleep("] {
            if text.contains(call) {
                complaints.push(format!("{} calls {call}…): wait on a signal", path.display()));
            }
        }
    }
    fail_with(&complaints);
}

#[test]
fn nothing_unfinished_and_no_bare_allow_is_left_in_the_code() {
    let words = [
        concat!("to", "do!("),
        concat!("unimpl", "emented!("),
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("#[al", "low("),
    ];
    let mut complaints = Vec::new();
    for (path, text) in with_ending("rs").into_iter().chain(with_ending("sql")).chain(with_ending("sh")) {
        complaints.extend(
            words
                .iter()
                .filter(|word| text.contains(*word))
                .map(|word| format!("{} has {word}", path.display())),
        );
    }
    fail_with(&complaints);
}

#[test]
fn every_fault_point_is_one_at_which_a_test_stops_a_process() {
    let tests: String = with_ending("rs")
        .into_iter()
        .filter(|(path, _)| path.starts_with("tests/tests/faults"))
        .map(|(_, text)| text)
        .collect();
    let points = fs::read_to_string(root().join("crates/fault-points/src/point.rs")).expect("the points");
    let names: Vec<&str> = points.split("=> \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(names.len() >= 5, "found only {names:?}");
    let unreached = names.iter().filter(|name| !tests.contains(&format!("\"{name}\"")));
    fail_with(&unreached.map(|name| format!("no test stops a process at {name}")).collect::<Vec<_>>());
}

#[test]
fn every_file_that_the_documents_name_is_there() {
    let mut complaints = Vec::new();
    for (path, text) in with_ending("md").into_iter().filter(|(path, _)| !path.starts_with("docs/errors")) {
        for name in text.split('`').skip(1).step_by(2).filter(|name| !name.contains(char::is_whitespace)) {
            let is_ours =
                ["crates/", "services/", "tests/", "docs/", "schemas/", "migrations/", "ops/", "xtask/"]
                    .iter()
                    .any(|folder| name.starts_with(folder));
            if is_ours && !name.contains(['*', '<', '{', '…']) && !root().join(name).exists() {
                complaints.push(format!("{} names {name}, which is not there", path.display()));
            }
        }
    }
    fail_with(&complaints);
}
