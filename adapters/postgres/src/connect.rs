use std::str::FromStr;
use std::time::Duration;

use shelfward_core::{ErrorKind, Operation, Result, StoreError};
use sqlx::postgres::PgConnectOptions;

use crate::error::{FORM, kind_of};
use crate::identifier::Identifier;
use crate::{PostgresOptions, PostgresStore, VectorIndex};

/// A store from a URL, as `postgres://user:password@host:5432/database?schema=app`.
///
/// What stands behind the question mark is an option of [`PostgresOptions`] under its name, or one of
/// the connection: `sslmode`, `sslrootcert`, `sslcert`, `sslkey`, `application_name`. The README lists
/// them. A password may be left out of the URL; it is then taken from `PGPASSWORD` or the password
/// file.
///
/// # Errors
/// [`ErrorKind::Invalid`] for an option that there is not or a value that it does not take, and
/// those of [`PostgresStore::connect`]. No message holds the URL.
pub async fn connect(url: &str) -> Result<PostgresStore> {
    let (connection, options) = parse(url).map_err(refused)?;
    PostgresStore::connect(connection, options).await
}

fn refused(kind: ErrorKind) -> StoreError {
    StoreError::new(Operation::Connect, kind)
}

/// The options of the connection that a URL may hold.
const OF_THE_CONNECTION: [&str; 5] = [
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "application_name",
];

fn parse(url: &str) -> std::result::Result<(PgConnectOptions, PostgresOptions), ErrorKind> {
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    if !["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| place.starts_with(scheme))
    {
        return Err(invalid(FORM));
    }
    let mut options = PostgresOptions::default();
    let mut of_the_connection = Vec::new();
    let mut seen = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if seen.contains(&name) {
            return Err(invalid("an option is given twice; give each once"));
        }
        seen.push(name);
        if OF_THE_CONNECTION.contains(&name) {
            of_the_connection.push(pair);
        } else {
            set(&mut options, name, value)?;
        }
    }
    options.check()?;
    let url = format!("{place}?{}", of_the_connection.join("&"));
    let connection =
        PgConnectOptions::from_str(&url).map_err(|error| kind_of(error, Duration::ZERO))?;
    Ok((connection, options))
}

fn set(
    options: &mut PostgresOptions,
    name: &str,
    value: &str,
) -> std::result::Result<(), ErrorKind> {
    match name {
        "schema" => options.schema = Identifier::new(value)?,
        "table_prefix" => options.table_prefix = Identifier::new(value)?,
        "manage_schema" => options.manage_schema = truth(value, "manage_schema")?,
        "index" => {
            options.index = match value {
                "none" => VectorIndex::None,
                "hnsw" => VectorIndex::Hnsw,
                "hnsw_half" => VectorIndex::HnswHalf,
                _ => return Err(invalid("index takes hnsw, hnsw_half or none")),
            }
        }
        "m" => options.m = number(value, "m")?,
        "ef_construction" => options.ef_construction = number(value, "ef_construction")?,
        "ef_search" => options.ef_search = number(value, "ef_search")?,
        "text_search" => options.text_search = Some(Identifier::new(value)?),
        "row_level_security" => options.row_level_security = truth(value, "row_level_security")?,
        "max_connections" => options.max_connections = number(value, "max_connections")?,
        "connect_timeout_ms" => {
            options.connect_timeout = Duration::from_millis(number(value, "connect_timeout_ms")?);
        }
        "statement_timeout_ms" => {
            options.statement_timeout =
                Duration::from_millis(number(value, "statement_timeout_ms")?);
        }
        _ => {
            return Err(invalid(
                "there is no such option; there are schema, table_prefix, manage_schema, index, m, \
                 ef_construction, ef_search, text_search, row_level_security, max_connections, \
                 connect_timeout_ms, statement_timeout_ms, sslmode, sslrootcert, sslcert, sslkey and \
                 application_name",
            ));
        }
    }
    Ok(())
}

fn truth(value: &str, name: &str) -> std::result::Result<bool, ErrorKind> {
    (value.parse()).map_err(|_| invalid(&format!("{name} takes true or false")))
}

fn number<N: FromStr>(value: &str, name: &str) -> std::result::Result<N, ErrorKind> {
    (value.parse()).map_err(|_| invalid(&format!("{name} takes a number, and a smaller one")))
}

fn invalid(what: &str) -> ErrorKind {
    ErrorKind::Invalid(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_gives_options() {
        let url = "postgres://u:p@h:1/d?schema=app&index=hnsw_half&sslmode=require&ef_search=40";
        let (connection, options) = parse(url).unwrap();
        assert_eq!(connection.get_host(), "h");
        assert_eq!(options.schema.as_str(), "app");
        assert_eq!(options.index, VectorIndex::HnswHalf);
        assert_eq!(options.ef_search, 40);
    }

    #[test]
    fn what_means_nothing_is_refused_without_the_url() {
        for url in [
            "postgres://u:canary@h/d?schema=App",
            "postgres://u:canary@h/d?nothing=1",
            "postgres://u:canary@h/d?m=1",
            "postgres://u:canary@h/d?m=16&m=16",
            "postgres://u:canary@h/d?ef_search=0",
            "postgres://u:canary@h/d?max_connections=0",
            "postgres://u:canary@h/d?max_connections=4294967295",
            "postgres://u:canary@h/d?statement_timeout_ms=-1",
            "postgres://u:canary@h:port/d",
            "postgres://u:canary@h/d?sslmode=canary",
            "mysql://u:canary@h/d",
            "canary",
        ] {
            let refused = refused(parse(url).unwrap_err());
            let shown = format!("{refused} {refused:?}");
            assert!(
                matches!(refused.kind(), ErrorKind::Invalid(_)),
                "{url}: {shown}"
            );
            assert!(!shown.contains("canary"), "{shown}");
        }
    }
}
