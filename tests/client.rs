//! A client of the server: lines in, lines out, and how the process ended.

use crate::process::Ended;
use crate::world::World;
use serde_json::{Value as Json, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long an answer may take before the server counts as silent.
const PATIENCE: Duration = Duration::from_secs(60);

/// The metadata of a modern request by the client `test-agent`.
pub(crate) fn meta() -> Json {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test-agent", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A modern request.
pub(crate) fn request(id: impl Into<Json>, method: &str, mut params: Json) -> Json {
    params["_meta"] = meta();
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// A modern call of a tool.
pub(crate) fn tool_call(id: impl Into<Json>, name: &str, arguments: &Json) -> Json {
    request(id, "tools/call", json!({"name": name, "arguments": arguments}))
}

/// A running server.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: std::thread::JoinHandle<Vec<u8>>,
}

impl Client {
    /// `workfile-mcp` in a world, with these arguments.
    pub(crate) fn start(world: &World, args: &[&str]) -> Self {
        let mut command = world.process(env!("CARGO_BIN_EXE_workfile-mcp"));
        command.args(args);
        Self::spawn(&mut command)
    }

    /// Any process that speaks the protocol.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        let (send, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.split(b'\n') {
                let line = String::from_utf8(line.unwrap()).expect("the output is UTF-8");
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let mut error = child.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = error.read_to_end(&mut bytes);
            bytes
        });
        Self { input: child.stdin.take(), child, lines, stderr }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// Sends one message.
    pub(crate) fn send(&mut self, message: &Json) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Sends messages in one write.
    pub(crate) fn send_all(&mut self, messages: &[Json]) {
        let lines: Vec<String> = messages.iter().map(Json::to_string).chain([String::new()]).collect();
        self.send_bytes(lines.join("\n").as_bytes());
    }

    /// The next line, as it was written.
    #[track_caller]
    pub(crate) fn line(&mut self) -> String {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing"),
            Err(RecvTimeoutError::Disconnected) => panic!("the server has ended"),
        }
    }

    /// The next message.
    #[track_caller]
    pub(crate) fn receive(&mut self) -> Json {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Sends a request and returns its answer, which is the next message.
    #[track_caller]
    pub(crate) fn ask(&mut self, message: &Json) -> Json {
        self.send(message);
        let answer = self.receive();
        assert_eq!(answer["id"], message["id"], "{answer}");
        answer
    }

    /// Sends a request and returns its answer, whatever is answered before.
    #[track_caller]
    pub(crate) fn ask_later(&mut self, message: &Json) -> Json {
        self.send(message);
        loop {
            let answer = self.receive();
            if answer["id"] == message["id"] {
                return answer;
            }
        }
    }

    /// Calls a tool and returns what it answers with, failed or not.
    #[track_caller]
    pub(crate) fn tool(&mut self, name: &str, arguments: &Json) -> Json {
        self.ask(&tool_call(1, name, arguments))["result"]["structuredContent"].take()
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Sends a signal.
    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for the end of the process while the input stays open; what it still says is nobody's business.
    #[track_caller]
    pub(crate) fn wait(mut self) -> Ended {
        while self.lines.recv_timeout(PATIENCE).is_ok() {}
        let status = self.child.wait().unwrap();
        drop(self.input);
        let stderr = self.stderr.join().unwrap();
        Ended { code: status.code(), stdout: Vec::new(), stderr }
    }

    /// Closes the input and waits: what was still said, and how the process ended.
    #[track_caller]
    pub(crate) fn end(mut self) -> (Vec<String>, Ended) {
        self.close_input();
        let mut rest = Vec::new();
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => rest.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let _ = self.child.kill();
                    panic!("the server does not end; it said {rest:?}");
                }
            }
        }
        let status = self.child.wait().unwrap();
        let stderr = self.stderr.join().unwrap();
        (rest, Ended { code: status.code(), stdout: Vec::new(), stderr })
    }

    /// [`Client::end`], with nothing left to say, exit 0 and an empty stderr.
    #[track_caller]
    pub(crate) fn ends_well(self) {
        let (rest, ended) = self.end();
        assert_eq!((rest, ended.code, crate::process::text(&ended.stderr)), (Vec::new(), Some(0), ""));
    }
}
