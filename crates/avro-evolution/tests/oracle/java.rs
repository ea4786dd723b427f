//! Avro's Java library in a process of its own, asked in batches over its standard input.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::thread;

use serde_json::Value;
use waybill_devstack::{Undertaking, compile, fetch, find_java};

/// How many questions one line holds.
const BATCH: usize = 500;

/// How many lines may be on the way before their answers were read.
const LINES_AHEAD: usize = 4;

/// One process that answers.
pub(crate) struct Java {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Java {
    pub(crate) fn start() -> Self {
        let class_path = class_path();
        let mut command = Command::new(find_java());
        command.args(["-XX:+UseSerialGC", "-Xmx512m", "-Xss4m", "-cp", class_path, "Oracle"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("Java starts");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("its output"));
        Self { child, input, output: BufReader::new(output) }
    }

    /// The answer to each question, in order.
    pub(crate) fn ask(&mut self, questions: &[Value]) -> Vec<Value> {
        let lines: Vec<String> =
            questions.chunks(BATCH).map(|batch| Value::from(batch.to_vec()).to_string()).collect();
        let mut answers = Vec::with_capacity(questions.len());
        let mut input = self.input.take().expect("its input");
        // Written beside the reading: a pipe holds less than a batch.
        thread::scope(|scope| {
            let (written, may_write) = std::sync::mpsc::sync_channel::<()>(LINES_AHEAD);
            let lines = &lines;
            let input = &mut input;
            scope.spawn(move || {
                for line in lines {
                    if written.send(()).is_err() {
                        return;
                    }
                    writeln!(input, "{line}").and_then(|()| input.flush()).expect("Java takes questions");
                }
            });
            for _ in lines {
                let mut answer = String::new();
                self.output.read_line(&mut answer).expect("Java answers");
                let _ = may_write.recv();
                let Ok(Value::Array(batch)) = serde_json::from_str(&answer) else {
                    panic!("no answers: {answer}")
                };
                answers.extend(batch);
            }
        });
        self.input = Some(input);
        answers
    }

    pub(crate) fn ask_one(&mut self, question: Value) -> Value {
        self.ask(&[question]).remove(0)
    }
}

/// It ends when its input does.
impl Drop for Java {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

/// The jars and what is compiled from `Oracle.java`.
fn class_path() -> &'static str {
    static CLASS_PATH: OnceLock<String> = OnceLock::new();
    CLASS_PATH.get_or_init(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let undertaking = Undertaking::default();
        let (jars, _) =
            fetch(&undertaking, "avro", &here.join("../../ops/dev/avro/pom.xml")).expect("Avro's jars");
        let source = here.join("tests/oracle/Oracle.java");
        compile(&undertaking, &jars, &source).expect("Oracle.java compiles")
    })
}
