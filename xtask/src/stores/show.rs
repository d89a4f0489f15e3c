//! What is printed of servers.

use std::io::Write as _;

use comfy_table::{Table, presets};

use super::{Name, Server, Store};

/// What tests need to know, on stdout. Nobody may be there to read it.
pub(super) fn up(server: &Server, json: bool) {
    let text = if json {
        serde_json::to_string(server).unwrap_or_default()
    } else {
        format!("{}={}", server.store.variable(), server.running.url)
    };
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// The servers that there are, without their passwords.
pub(super) fn status(servers: &[(Store, Name, Option<Server>)], json: bool) {
    let running = |server: &Option<Server>| server.as_ref().is_some_and(Server::is_running);
    if json {
        let list: Vec<_> = servers
            .iter()
            .map(|(store, name, server)| {
                let known = server.as_ref().map(|server| &server.running);
                serde_json::json!({
                    "store": store,
                    "name": name,
                    "running": running(server),
                    "version": known.map(|s| &s.version),
                    "pid": known.map(|s| s.pid),
                    "port": known.map(|s| s.port),
                    "data": known.map(|s| &s.data),
                })
            })
            .collect();
        println!("{}", serde_json::Value::from(list));
        return;
    }
    if servers.is_empty() {
        eprintln!("no server is there");
        return;
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["store", "name", "state", "version", "port", "pid"]);
    for (store, name, server) in servers {
        let state = if running(server) { "runs" } else { "has ended" };
        let known = server.as_ref().map(|server| &server.running);
        table.add_row([
            store.name().to_owned(),
            name.to_string(),
            state.to_owned(),
            known.map(|s| s.version.clone()).unwrap_or_default(),
            known.map(|s| s.port.to_string()).unwrap_or_default(),
            known.map(|s| s.pid.to_string()).unwrap_or_default(),
        ]);
    }
    println!("{table}");
}
