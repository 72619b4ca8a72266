//! The server as a process: how it starts, what it stands, how it ends.

use crate::client::{Client, meta, request, tool_call};
use crate::golden_mcp::{snapshot, strays};
use crate::process::{call, text};
use crate::world::{World, actor, session_id};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};

/// A page of cards over which calls differ.
fn cards(count: usize) -> World {
    (1..=count).fold(World::new(), |world, number| {
        world.card(&format!("T-{number:04}"), |card| {
            let status = ["backlog", "next", "review"][number % 3];
            card.status(status)
                .title(&format!("Card number {number}"))
                .body(&"Words and words. ".repeat(number))
        })
    })
}

fn cancel(id: &Json) -> Json {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

/// Runs the server with these words; it is expected not to start.
fn refused(world: &World, program: &str, words: &[&str], exit: i32, code: &str) {
    let ended = crate::process::run_process(world.process(program).args(words), b"");
    let stderr = text(&ended.stderr);
    assert_eq!((ended.code, text(&ended.stdout)), (Some(exit), ""), "{words:?}: {stderr}");
    assert!(stderr.starts_with(&format!("{code}: ")) && stderr.lines().count() == 1, "{words:?}: {stderr}");
}

const SERVER: &str = env!("CARGO_BIN_EXE_workfile-mcp");
const PROGRAM: &str = env!("CARGO_BIN_EXE_workfile");

#[test]
fn a_start_that_fails_says_why_in_one_line() {
    let world = World::new();
    for words in [&["--rot", "x"][..], &["--root"], &["--read-only=yes"], &["extra"], &["-r"], &["--json"]] {
        refused(&world, SERVER, words, 1, "CLI_ARGUMENT_UNKNOWN");
    }
    refused(&world, PROGRAM, &["mcp", "serv"], 1, "CLI_ARGUMENT_UNKNOWN");
    refused(&world, PROGRAM, &["mcp", "config", "--max-result-bytes", "2000"], 1, "CLI_ARGUMENT_UNKNOWN");
    for bytes in ["1023", "16777217", "x", "-1"] {
        refused(&world, SERVER, &["--max-result-bytes", bytes], 2, "CONFIG_MCP_LIMIT_INVALID");
    }
    refused(&World::bare(), SERVER, &[], 2, "WORKSPACE_NOT_FOUND");
    refused(&world, SERVER, &["--root", "missing"], 2, "WORKSPACE_NOT_FOUND");
    let configured = |section: &str| {
        World::new()
            .file("project.config.mjs", format!("export default {{ schemaVersion: 2, mcp: {section} }};"))
    };
    refused(&configured("{ enabled: false }"), SERVER, &[], 2, "MCP_DISABLED");
    refused(&configured("{ maxMessageBytes: 10 }"), SERVER, &[], 2, "CONFIG_MCP_LIMIT_INVALID");
    refused(&configured("{ transport: 'http' }"), SERVER, &[], 2, "CONFIG_MCP_TRANSPORT_INVALID");
}

#[test]
fn the_workspace_is_where_the_client_was_started() {
    let world = World::new().file("sub/folder/x", "");
    let root = |command: &mut std::process::Command| {
        let mut client = Client::spawn(command);
        let root = client.tool("project_workspace", &json!({}))["root"].take();
        client.ends_well();
        root
    };
    let here = Json::from(world.root.display().to_string());
    let sub = world.root.join("sub/folder");
    assert_eq!(root(world.process(SERVER).current_dir(&sub)), here);
    assert_eq!(root(world.process(SERVER).current_dir("/").env("CLAUDE_PROJECT_DIR", &sub)), here);
    let plugin = &mut world.process(SERVER);
    assert_eq!(root(plugin.arg("--root").arg(&sub).env("CLAUDE_PROJECT_DIR", &sub)), here);
    assert_eq!(root(world.process(SERVER).current_dir(&sub).args(["--root", "../.."])), here);
    refused(&world, SERVER, &["--root", "sub/folder"], 2, "WORKSPACE_NOT_FOUND");
    for words in [&["mcp"][..], &["mcp", "serve"], &["mcp", "stdio", "--read-only"], &["mcp", "--read-only"]]
    {
        assert_eq!(root(world.process(PROGRAM).args(words)), here);
    }
    // A host may give no environment at all.
    let bare = &mut world.process(SERVER);
    assert_eq!(root(bare.env_clear()), here);
}

#[test]
fn an_actor_is_the_client_of_the_very_request() {
    let world =
        World::new().card("T-0001", |card| card.status("next")).card("T-0002", |card| card.status("next"));
    let world = world.env("CLAUDE_CODE_SESSION_ID", &session_id("ann"));
    let mut client = Client::start(&world, &[]);
    let claimed = client.tool("project_card_claim", &json!({"id": "T-0001", "scope": ["src"]}));
    assert_eq!(claimed["record"]["claimed_by"], format!("mcp:test-agent#{}", &session_id("ann")[..8]));
    let mut nameless = tool_call(2, "project_card_claim", &json!({"id": "T-0002"}));
    nameless["params"]["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientInfo");
    let refused = client.ask(&nameless)["result"]["structuredContent"]["error"].take();
    assert_eq!(refused["code"], "CARD_CLAIM_ACTOR_REQUIRED");
    let named = client.tool("project_card_claim", &json!({"id": "T-0002", "actor": "a · b"}));
    assert_eq!(named["error"]["code"], "CARD_ACTOR_INVALID");
    client.ends_well();
}

#[test]
fn a_claim_made_over_the_server_guards_its_scope() {
    let world = World::new().card("T-0001", |card| card.status("next"));
    let mut client = Client::start(&world, &[]);
    client.tool("project_card_claim", &json!({"id": "T-0001", "scope": ["src"], "actor": actor("ben")}));
    client.ends_well();
    world.hook(crate::payload::pre_edit("src/a.rs").by("ann")).asks("T-0001", "ben");
}

#[test]
fn what_somebody_else_wrote_is_seen_by_the_next_call() {
    let world = World::new();
    let mut client = Client::start(&world, &[]);
    let total = |client: &mut Client| client.tool("project_card_list", &json!({}))["total"].take();
    assert_eq!(total(&mut client), 0);
    world.run(call(["card", "create", "--title", "From outside"]).by("ben")).text();
    assert_eq!(total(&mut client), 1);
    world.write("project.config.mjs", "export default { schemaVersion: 2, cards: { areas: ['new'] } };");
    let made = client.tool("project_card_create", &json!({"title": "In a new area"}));
    assert_eq!(made["record"]["area"], "new");
    world.write("project.config.mjs", "export default { schemaVersion: 2, cards: { areas: [] } };");
    let failed = client.tool("project_card_list", &json!({}));
    assert_eq!(failed["error"]["code"], "CONFIG_CARDS_AREAS_REQUIRED");
    client.ends_well();
}

#[test]
fn a_failure_tells_nothing_of_the_machine() {
    let world = World::new().card("T-0001", |card| card.status("next"));
    let mut client = Client::start(&world, &[]);
    std::fs::remove_dir_all(world.root.join(".project/cards")).unwrap();
    world.write(".project/cards", "a file where a folder belongs");
    let answer = client.ask(&tool_call(1, "project_card_create", &json!({"title": "x"})));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(!answer.to_string().contains(world.base().to_str().unwrap()), "{answer}");
    client.ends_well();
}

/// Reads and writes of every kind, one for each id.
fn mixed(count: usize) -> Vec<Json> {
    let tool = |id: usize| match id % 8 {
        0 => ("project_card_create", json!({"title": format!("Made by {id}"), "body": "New."})),
        1 => ("project_card_list", json!({"status": ["next"], "limit": 7})),
        2 => ("project_get_record", json!({"id": format!("T-{:04}", id % 20 + 1)})),
        3 => ("project_next", json!({"limit": 20})),
        4 => ("project_card_note", json!({"id": "T-0003", "text": format!("Seen by {id}.")})),
        5 => ("project_card_list", json!({"offset": id % 9})),
        6 => (
            "project_card_patch",
            json!({"id": "T-0004", "changes": {"priority": "high", "source": format!("{id}")}}),
        ),
        _ => ("project_get_record", json!({"id": "T-9999"})),
    };
    (0..count).map(tool).enumerate().map(|(id, (name, arguments))| tool_call(id, name, &arguments)).collect()
}

#[test]
fn sixty_four_requests_in_flight_are_answered_as_one_by_one() {
    let world = || cards(20).clock("2026-12-01T10:00:00.000Z");
    let requests = mixed(64);
    let slow = world();
    let mut client = Client::start(&slow, &[]);
    let one_by_one: Vec<Json> = requests.iter().map(|request| client.ask(request)).collect();
    client.ends_well();

    let fast = world();
    let mut client = Client::start(&fast, &[]);
    client.send_all(&requests);
    // A slow answer may be overtaken, so that they are put in order first.
    let mut at_once: Vec<Json> = requests.iter().map(|_| client.receive()).collect();
    at_once.sort_by_key(|answer| answer["id"].as_u64());
    client.ends_well();
    for (one, other) in one_by_one.iter().zip(&at_once) {
        assert_eq!(one, other);
    }
    assert_eq!(at_once.len(), one_by_one.len());
}

#[test]
fn two_servers_and_a_command_line_lose_no_write_and_make_no_id_twice() {
    let world = World::new().card("T-0001", |card| card.status("next"));
    let mut servers = [Client::start(&world, &[]), Client::start(&world, &[])];
    for round in 0..12 {
        for (number, server) in servers.iter_mut().enumerate() {
            let id = format!("{number}-{round}");
            server.send(&tool_call(
                id.clone(),
                "project_card_create",
                &json!({"title": format!("Card {id}")}),
            ));
            server.send(&tool_call(
                format!("n{id}"),
                "project_card_note",
                &json!({"id": "T-0001", "text": id}),
            ));
        }
    }
    let outside: Vec<_> =
        (0..12).map(|n| call(["card", "create", "--title"]).words(&[&format!("Outside {n}")])).collect();
    for run in world.run_together(outside) {
        run.text();
    }
    for mut server in servers {
        for _ in 0..24 {
            let answer = server.receive();
            assert!(answer["result"].get("isError").is_none(), "{answer}");
        }
        server.ends_well();
    }
    let listed = world.run(["card", "list", "--json", "--limit", "1000"]).json();
    let mut ids: Vec<&str> =
        listed["records"].as_array().unwrap().iter().map(|card| card["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 1 + 24 + 12);
    assert_eq!(world.read(".project/cards/T-0001-card.md").matches(" — ").count(), 24);
}

#[test]
fn after_an_hour_of_hostility_the_last_request_is_answered_and_memory_is_back() {
    let world = cards(5);
    let mut client = Client::start(&world, &[]);
    let expected = client.tool("project_get_record", &json!({"id": "T-0003"}));
    client.tool("project_card_list", &json!({}));
    let before = memory(client.id());
    let mut random = fastrand::Rng::with_seed(7);
    let huge = "9".repeat(100_000);
    let mut answers = 0;
    let mut sent = Vec::new();
    for number in 0..10_000usize {
        let id = match number % 50 {
            0 => json!(huge),
            1 => json!("x\u{2028}\u{0}"),
            _ => json!(number),
        };
        let (name, arguments) = match random.u8(0..5) {
            0 => ("project_next", json!({})),
            1 => ("project_card_list", json!({"limit": random.i32(-3..300)})),
            2 => ("project_workspace", json!({"x": [[[]]]})),
            3 => ("project_get_record", json!({"id": "../../x\u{0}"})),
            _ => ("project_get_record", json!({"id": "T-0001"})),
        };
        sent.extend_from_slice(format!("{}\n", tool_call(id.clone(), name, &arguments)).as_bytes());
        answers += 1;
        if random.bool() {
            let meant = if random.bool() { id } else { json!(random.usize(0..10_000)) };
            sent.extend_from_slice(format!("{}\n", cancel(&meant)).as_bytes());
        }
        match random.u8(0..40) {
            0 => sent.extend((0..random.usize(1..400)).map(|_| random.u8(..)).chain([b'\n'])),
            1 => sent.extend("[".repeat(5_000).bytes().chain([b'\n'])),
            2 => sent.extend(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth\n"),
            3 => sent.extend(vec![b'x'; 1_100_000].into_iter().chain([b'\n'])),
            4 => sent.extend(format!("{{\"jsonrpc\":\"2.0\",\"id\":{huge},\"method\":\"ping\"}}\n").bytes()),
            _ => {}
        }
        if sent.len() > 200_000 {
            client.send_bytes(&std::mem::take(&mut sent));
        }
    }
    client.send_bytes(&sent);
    let last = json!("the last one");
    client.send(&tool_call(last.clone(), "project_get_record", &json!({"id": "T-0003"})));
    let mut heard = 0;
    let answer = loop {
        // Ids with a hundred thousand digits are no numbers to this test.
        let line = client.line();
        heard += 1;
        assert!(heard <= answers * 2, "more answers than questions");
        if line.contains("\"id\":\"the last one\"") {
            break serde_json::from_str::<Json>(&line).unwrap();
        }
    };
    assert_eq!(answer["result"]["structuredContent"], expected);
    // One that is answered before it, because it was slow, is not unasked for.
    let (before, after) = (before, memory(client.id()));
    let (_, ended) = client.end();
    assert_eq!((ended.code, text(&ended.stderr)), (Some(0), ""));
    assert!(after < before + 64 * 1024, "{before} KiB before, {after} KiB after");
}

/// Resident memory of a process, in KiB; 0 where nobody says.
fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or(0)
}

#[test]
fn a_line_without_an_end_costs_no_memory() {
    let world = World::new()
        .file("project.config.mjs", "export default { schemaVersion: 2, mcp: { maxMessageBytes: 2048 } };");
    let mut client = Client::start(&world, &[]);
    client.ask(&request(1, "server/discover", json!({})));
    let before = memory(client.id());
    for _ in 0..256 {
        client.send_bytes(&vec![b'x'; 256 * 1024]);
    }
    assert!(memory(client.id()) < before + 4096);
    client.send_bytes(b"\n");
    let refused = client.receive();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&Json::Null, &json!(-32600)));
    client.ask(&request(2, "server/discover", json!({})));
    client.ends_well();
}

#[test]
fn what_is_cancelled_before_it_began_is_not_done() {
    let world = cards(40);
    let mut client = Client::start(&world, &[]);
    let create = |id| tool_call(id, "project_card_create", &json!({"title": format!("Card {id}")}));
    let lines: Vec<Json> = (1..=30).map(create).chain((2..=30).map(|id| cancel(&json!(id)))).collect();
    client.send_all(&lines);
    let total = client.ask_later(&tool_call("end", "project_card_list", &json!({})));
    let made = total["result"]["structuredContent"]["total"].as_u64().unwrap() - 40;
    assert!((1..30).contains(&made), "{made}");
    // The pipe is in step, whatever was answered before.
    client.ends_well();
}

#[test]
fn at_the_end_of_the_input_everything_received_is_answered() {
    let world = cards(10);
    let mut client = Client::start(&world, &[]);
    let lines: Vec<String> = mixed(16).iter().map(Json::to_string).collect();
    // The last line has no line feed.
    client.send_bytes(lines.join("\n").as_bytes());
    let (answers, ended) = client.end();
    assert_eq!((answers.len(), ended.code, text(&ended.stderr)), (16, Some(0), ""));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_process_with_its_number() {
    use rustix::process::Signal;
    for (signal, exit) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let world = cards(30);
        let mut client = Client::start(&world, &[]);
        client.ask(&request(1, "server/discover", json!({})));
        for request in mixed(32) {
            client.send(&request);
        }
        client.signal(signal);
        let ended = client.wait();
        assert_eq!((ended.code, text(&ended.stderr)), (Some(exit), ""), "{signal:?}");
        // Whatever was written is whole, and no lock is left behind.
        let listed = world.run(["card", "list", "--json", "--limit", "1000"]).json();
        assert!(listed["total"].as_u64().unwrap() >= 30);
        world.run(call(["card", "note", "T-0003", "--text", "still open"]).by("ben")).text();
    }
}

#[test]
fn a_client_that_reads_no_more_ends_the_process() {
    let world = cards(3);
    let mut command = world.process(SERVER);
    let piped = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = piped.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    let ask = format!("{}\n", tool_call(1, "project_next", &json!({})));
    input.write_all(ask.as_bytes()).unwrap();
    output.read_line(&mut String::new()).unwrap();
    drop(output);
    // The input stays open: only the missing reader can end it. A process that is being started elsewhere may hold the
    // reading end for a moment, so one request more may be answered into nowhere.
    while child.try_wait().unwrap().is_none() && input.write_all(ask.as_bytes()).is_ok() {
        std::thread::yield_now();
    }
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), text(&ended.stderr)), (Some(0), ""));
    drop(input);
}

#[test]
fn a_printed_configuration_starts_a_server_and_nothing_but_its_own() {
    let world = cards(1);
    for (program, words) in
        [(PROGRAM, &["mcp", "config", "--json"][..]), (PROGRAM, &["mcp", "config", "--read-only"])]
    {
        let printed = crate::process::run_process(world.process(program).args(words), b"");
        let config: Json = serde_json::from_slice(&printed.stdout).unwrap();
        assert_eq!((&config["transport"], &config["env"]), (&json!("stdio"), &json!({})));
        let args: Vec<&str> =
            config["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
        let mut command = std::process::Command::new(config["command"].as_str().unwrap());
        let mut client = Client::spawn(command.args(args).env_clear().current_dir("/"));
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
        let answer = client.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}));
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
        let found = client.ask(&request(2, "server/discover", json!({})));
        assert!(
            found["result"]["supportedVersions"].as_array().unwrap().contains(&config["protocolVersion"])
        );
        let workspace = client.tool("project_workspace", &json!({}));
        assert_eq!(workspace["root"], world.root.display().to_string());
        assert_eq!(workspace["readOnly"], words.contains(&"--read-only"));
        client.ends_well();
    }
}

#[test]
fn the_inventory_says_what_is_offered() {
    let world = World::new();
    let shown = world.run(["mcp", "inspect", "--json"]).json();
    assert_eq!(shown, world.run(["mcp", "inspect"]).json());
    let mut client = Client::start(&world, &[]);
    let listed = client.ask(&request(1, "tools/list", json!({})));
    client.ends_well();
    let by_name = |tools: &Json| -> BTreeMap<String, Json> {
        let tools = tools.as_array().unwrap().iter();
        tools.map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool["annotations"].clone())).collect()
    };
    assert_eq!(by_name(&shown["tools"]), by_name(&listed["result"]["tools"]));
    let reading = world.run(["mcp", "inspect", "--read-only"]).json();
    assert_eq!(reading["readOnly"], true);
    assert!(reading["tools"].as_array().unwrap().iter().all(|tool| tool["mutating"] == false));
}

#[test]
fn a_server_that_only_reads_refuses_every_change_and_writes_nothing() {
    let closed = "export default { schemaVersion: 2, mcp: { allowMutations: false } };";
    for (world, args) in
        [(World::new(), &["--read-only"][..]), (World::new().file("project.config.mjs", closed), &[])]
    {
        let before = crate::compare::tree(&world.root);
        let mut client = Client::start(&world, args);
        let failed = client.tool("project_card_create", &json!({"nonsense": 1}));
        assert_eq!(failed["error"]["code"], "MCP_SERVER_READ_ONLY");
        assert_eq!(client.tool("project_workspace", &json!({}))["readOnly"], true);
        client.tool("project_next", &json!({}));
        client.ends_well();
        assert_eq!(crate::compare::tree(&world.root), before);
    }
}

#[test]
fn no_result_is_longer_than_its_ceiling_and_no_write_becomes_a_failure() {
    let world = cards(40);
    for number in 0..30 {
        world.write(
            &format!(".project/changelog/unreleased/CHG-{number:04}-x.md"),
            format!(
                "---\nid: CHG-{number:04}\ntitle: Change\ntype: fixed\n---\n\n{}\n",
                "Words. ".repeat(number)
            ),
        );
        let name = format!(".project/memory/learnings/LRN-{number:04}-x.md");
        world.write(
            &name,
            format!("---\nid: LRN-{number:04}\ntitle: Learnt about T-0040\n---\n\nSee T-0040.\n"),
        );
    }
    for bytes in (1024..16_000).step_by(1499) {
        let limit = bytes.to_string();
        let mut client = Client::start(&world, &["--max-result-bytes", &limit]);
        for (name, arguments) in [
            ("project_card_list", json!({})),
            ("project_changelog_list", json!({"limit": 200})),
            ("project_changelog_preview", json!({})),
            ("project_memory_list", json!({})),
            ("project_doc_list", json!({})),
            ("project_next", json!({"limit": 20})),
            ("project_search", json!({"query": "card", "view": "full", "limit": 50})),
            ("project_agent_context", json!({"cardId": "T-0040"})),
            ("project_doctor", json!({})),
            ("project_get_record", json!({"id": "T-0040"})),
            ("project_workspace", json!({})),
            (
                "project_card_patch",
                json!({"id": "T-0040", "changes": {"tags": [limit]}, "expectedRevision": "x"}),
            ),
            ("project_card_note", json!({"id": "T-0040", "text": "é\u{2028}".repeat(bytes)})),
            ("project_card_create", json!({"title": "A long story", "body": "Words. ".repeat(bytes)})),
        ] {
            let at = format!("{name} at {bytes}");
            let answer = client.ask(&tool_call(1, name, &arguments));
            let result = &answer["result"];
            let (data, size) = (&result["structuredContent"], result.to_string().len());
            assert!(size <= bytes, "{at}: {size}");
            assert_eq!(strays(&snapshot(name)["outputSchema"], data), None, "{at}");
            match data["error"]["code"].as_str() {
                None => assert_ne!(name, "project_card_patch"),
                Some("CARD_WRITE_CONFLICT") => assert_eq!(name, "project_card_patch"),
                Some(code) => {
                    assert_eq!(code, "MCP_TOOL_RESULT_TOO_LARGE", "{at}");
                    assert!(!name.starts_with("project_card_"), "{at}");
                    continue;
                }
            }
            let dropped = data["resultTruncated"]["records"].as_u64().unwrap_or(0);
            if let Some(rows) = data["records"].as_array().filter(|_| name.ends_with("_list")) {
                let page = data["total"].as_u64().unwrap().min(data["limit"].as_u64().unwrap());
                assert_eq!(rows.len() as u64 + dropped, page, "{at}");
            }
            if let Some(records) = data["records"].as_array().filter(|_| name == "project_agent_context") {
                let told = data["markdown"].as_str().unwrap();
                let titled =
                    told.lines().filter(|line| line.starts_with("## T-") || line.starts_with("## LRN-"));
                assert!(titled.count() <= records.len(), "{at}: the text has records that the data has not");
            }
        }
        client.ends_well();
    }
}

#[test]
fn a_request_of_either_era_is_served_by_one_process() {
    let world = cards(1);
    let mut client = Client::start(&world, &[]);
    let hello = json!({"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}});
    client.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}));
    let old = client.ask(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "project_card_claim", "arguments": {"id": "T-0001"}}}));
    let told: Json = serde_json::from_str(old["result"]["content"][1]["text"].as_str().unwrap()).unwrap();
    assert_eq!(told["record"]["claimed_by"], "mcp:old");
    let modern = client.ask(&tool_call(3, "project_next", &json!({})));
    assert_eq!(modern["result"]["resultType"], "complete");
    assert_eq!(modern["result"]["structuredContent"]["total"], 0, "the card is held by the other client");
    assert_eq!(meta()["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    client.ends_well();
}
