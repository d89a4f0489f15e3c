//! The adapters that run the suite.

use serde::Deserialize;
use shelfward_conformance::report::NotRun;

use crate::run::root;

/// An adapter of this workspace.
pub(super) struct Adapter {
    /// The store's name, as in `shelfward-NAME`.
    pub(super) name: String,
    /// The variable that names the server which its suite runs on, if it needs one.
    server: Option<String>,
}

/// Of an adapter's manifest, the table `package.metadata.conformance`.
#[derive(Default, Deserialize)]
struct Manifest {
    package: Package,
}

#[derive(Default, Deserialize)]
struct Package {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    conformance: Conformance,
}

#[derive(Default, Deserialize)]
struct Conformance {
    server: Option<String>,
}

/// The one that is built soonest: a first answer should not wait for a database engine.
const FIRST: &str = "memory";

/// Every adapter, or those of them that were asked for.
pub(super) fn chosen(asked: &[String]) -> Result<Vec<Adapter>, String> {
    let mut adapters = all()?;
    let known = |name: &&String| adapters.iter().any(|adapter| adapter.name == **name);
    if let Some(unknown) = asked.iter().find(|name| !known(name)) {
        let names: Vec<&str> = adapters
            .iter()
            .map(|adapter| adapter.name.as_str())
            .collect();
        return Err(format!(
            "no store {unknown:?}; there are {}",
            names.join(", ")
        ));
    }
    adapters.retain(|adapter| asked.is_empty() || asked.contains(&adapter.name));
    Ok(adapters)
}

fn all() -> Result<Vec<Adapter>, String> {
    let folder = root().join("adapters");
    let entries = std::fs::read_dir(&folder).map_err(|e| e.to_string())?;
    let mut adapters = Vec::new();
    for entry in entries.filter_map(Result::ok) {
        if !entry.path().join("tests/conformance.rs").is_file() {
            continue;
        }
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let manifest = std::fs::read_to_string(entry.path().join("Cargo.toml"));
        let manifest = manifest.map_err(|e| format!("{name}: its manifest cannot be read: {e}"))?;
        let manifest: Manifest =
            toml::from_str(&manifest).map_err(|e| format!("{name}: its manifest: {e}"))?;
        let server = manifest.package.metadata.conformance.server;
        adapters.push(Adapter { name, server });
    }
    adapters.sort_by_key(|adapter| (adapter.name != FIRST, adapter.name.clone()));
    Ok(adapters)
}

impl Adapter {
    /// Why the adapter need not be built, if its server is not named.
    pub(super) fn not_run(&self) -> Option<NotRun> {
        let variable = self.server.as_ref()?;
        let named = std::env::var_os(variable).is_some_and(|value| !value.is_empty());
        (!named).then(|| NotRun::new(self.name.as_str(), format!("{variable} is not set")))
    }
}
