//! The extension pgvector, as the server has it.

use shelfward_adapter::error::invalid;
use shelfward_core::{ErrorKind, Metric};
use sqlx_core::row::Row as _;
use sqlx_postgres::PgRow;

use crate::error::{Error, Result};
use crate::identifier::Identifier;
use crate::params::Statement;

/// pgvector on a server.
#[derive(Clone, Debug)]
pub(crate) struct Extension {
    schema: Identifier,
    version: (u32, u32),
}

/// The oldest that is of use: graphs came with it.
const OLDEST: (u32, u32) = (0, 5);
/// Brought 16-bit floats.
const HALF: (u32, u32) = (0, 7);
/// Brought scans that go on until enough rows passed the filter.
const ITERATIVE: (u32, u32) = (0, 8);

/// What is asked of a server before it is used: its version, its encoding, the extension's schema and
/// version, and whether there is one to install.
const ASK: &str = "SELECT current_setting('server_version_num')::bigint, \
    current_setting('server_encoding'), \
    (SELECT n.nspname::text FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
     WHERE e.extname = 'vector'), \
    (SELECT extversion FROM pg_extension WHERE extname = 'vector'), \
    EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')";

/// What a server said of itself.
pub(crate) struct ServerInfo {
    pub(crate) server: i64,
    pub(crate) encoding: String,
    pub(crate) schema: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) can_be_installed: bool,
}

impl ServerInfo {
    pub(crate) fn ask() -> Statement {
        Statement::new(ASK, [])
    }

    /// What was answered.
    pub(crate) fn answered(rows: &[PgRow]) -> Result<Self> {
        let row = rows.first().ok_or(Error::Kind(ErrorKind::Engine))?;
        Ok(Self {
            server: row.try_get(0)?,
            encoding: row.try_get(1)?,
            schema: row.try_get(2)?,
            version: row.try_get(3)?,
            can_be_installed: row.try_get(4)?,
        })
    }

    /// The extension, if it is installed.
    pub(crate) fn extension(&self) -> Result<Option<Extension>, ErrorKind> {
        if self.server < OLDEST_SERVER {
            return Err(invalid(format!(
                "the server is PostgreSQL {}; at least 15 is needed",
                self.server / 10_000
            )));
        }
        if self.encoding != "UTF8" {
            return Err(invalid(
                "the database is not encoded as UTF8; create one with ENCODING 'UTF8'",
            ));
        }
        let (Some(schema), Some(version)) = (&self.schema, &self.version) else {
            return Ok(None);
        };
        let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0));
        let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if found < OLDEST {
            let plain = version.chars().filter(|c| c.is_ascii_digit() || *c == '.');
            let plain: String = plain.take(16).collect();
            return Err(invalid(format!(
                "the extension vector is version {plain}; at least 0.5 is needed, 0.8 is best: \
                 install a newer pgvector, then ALTER EXTENSION vector UPDATE"
            )));
        }
        let schema = Identifier::new(schema).map_err(|_| {
            invalid(
                "the extension vector lies in a schema whose name is not plain; ALTER EXTENSION vector \
                 SET SCHEMA moves it",
            )
        })?;
        Ok(Some(Extension {
            schema,
            version: found,
        }))
    }

    /// Why the extension is needed and how it comes.
    pub(crate) fn missing(&self) -> &'static str {
        if self.can_be_installed {
            "the database lacks the extension vector; CREATE EXTENSION vector makes it, by a role that \
             may"
        } else {
            "the server does not have pgvector; install its package beside the server, then CREATE \
             EXTENSION vector"
        }
    }
}

const OLDEST_SERVER: i64 = 150_000;

impl Extension {
    /// One of the extension's names, with its schema: it need not be on the search path.
    pub(crate) fn name(&self, name: &str) -> String {
        format!("{}.{name}", self.schema)
    }

    pub(crate) fn schema(&self) -> &Identifier {
        &self.schema
    }

    /// The type of vectors.
    pub(crate) fn vector(&self) -> String {
        self.name("vector")
    }

    /// The type of vectors of 16-bit floats.
    pub(crate) fn half(&self) -> String {
        self.name("halfvec")
    }

    /// The operator of a metric's distance.
    pub(crate) fn distance(&self, metric: Metric) -> String {
        let operator = match metric {
            Metric::Dot => "<#>",
            Metric::Euclidean => "<->",
            _ => "<=>",
        };
        format!("OPERATOR({}.{operator})", self.schema)
    }

    pub(crate) fn has_half(&self) -> bool {
        self.version >= HALF
    }

    pub(crate) fn scans_on(&self) -> bool {
        self.version >= ITERATIVE
    }

    /// As the server would tell it, for what people read.
    pub(crate) fn assumed(schema: &Identifier) -> Self {
        Self {
            schema: schema.clone(),
            version: ITERATIVE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(version: Option<&str>) -> ServerInfo {
        ServerInfo {
            server: 180_000,
            encoding: "UTF8".to_owned(),
            schema: version.map(|_| "public".to_owned()),
            version: version.map(str::to_owned),
            can_be_installed: true,
        }
    }

    fn refused(facts: &ServerInfo) -> String {
        facts.extension().unwrap_err().to_string()
    }

    #[test]
    fn a_server_that_is_too_old_says_what_it_needs() {
        assert!(facts(None).extension().unwrap().is_none());
        assert!(refused(&facts(Some("0.4.4"))).contains("at least 0.5"));
        let new = facts(Some("0.8.1")).extension().unwrap().unwrap();
        assert!(new.scans_on() && new.has_half());
        let older = facts(Some("0.7.4")).extension().unwrap().unwrap();
        assert!(!older.scans_on() && older.has_half());
        let old = ServerInfo {
            server: 140_011,
            ..facts(None)
        };
        assert!(refused(&old).contains("at least 15"));
        let latin = ServerInfo {
            encoding: "LATIN1".to_owned(),
            ..facts(None)
        };
        assert!(refused(&latin).contains("UTF8"));
    }
}
