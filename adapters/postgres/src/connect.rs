use std::str::FromStr;
use std::time::Duration;

use shelfward_adapter::error::invalid;
use shelfward_adapter::url::UrlOptions;
use shelfward_core::{ErrorKind, Operation, Result, StoreError};
use sqlx_postgres::PgConnectOptions;

use crate::error::{FORM, kind_of};
use crate::{PostgresOptions, PostgresStore};

/// A store from a URL, as `postgres://user:password@host:5432/database?schema=app`.
///
/// What stands behind the question mark is an option of [`PostgresOptions`] under its name, or one of
/// the connection: `sslmode`, `sslrootcert`, `sslcert`, `sslkey`, `application_name`. The README lists
/// them. A password may be left out of the URL; it is then taken from `PGPASSWORD` or the password
/// file.
///
/// # Errors
/// [`ErrorKind::Invalid`] for an unknown option or an invalid value, and
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

/// What `sslmode` takes.
const SSL_MODES: [&str; 6] = [
    "disable",
    "allow",
    "prefer",
    "require",
    "verify-ca",
    "verify-full",
];

fn parse(url: &str) -> std::result::Result<(PgConnectOptions, PostgresOptions), ErrorKind> {
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    if !["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| place.starts_with(scheme))
    {
        return Err(invalid(FORM));
    }
    if url.contains('#') {
        // What stands behind it would be dropped, sslmode with it.
        return Err(invalid(
            "a URL holds no #; write %23 in a user, a password or a value",
        ));
    }
    // What other programs leave behind an option that they took out.
    let query: Vec<_> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    let query = query.join("&");
    let mut given = UrlOptions::parse(Some(&*query).filter(|query| !query.is_empty()))?;
    let of_the_connection = given.take(&OF_THE_CONNECTION);
    let options: PostgresOptions = given.read(&OF_THE_CONNECTION)?;
    options.check()?;
    let value = |name: &str| of_the_connection.iter().find(|pair| pair.0 == name);
    if value("sslcert").is_some() != value("sslkey").is_some() {
        return Err(invalid("sslcert and sslkey are given together"));
    }
    match value("sslmode") {
        Some((name, mode)) => check_mode(name, mode)?,
        // The driver would take one that it does not know for none.
        None => {
            if let Ok(mode) = std::env::var("PGSSLMODE") {
                check_mode("PGSSLMODE", &mode)?;
            }
        }
    }
    let pairs = of_the_connection.iter();
    let pairs: Vec<_> = pairs
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let url = format!("{place}?{}", pairs.join("&"));
    let mut connection =
        PgConnectOptions::from_str(&url).map_err(|error| kind_of(error, Duration::ZERO))?;
    // The driver takes the brackets of an address for a part of a name.
    let bare = connection.get_host().strip_prefix('[');
    if let Some(address) = bare.and_then(|host| host.strip_suffix(']')) {
        let address = address.to_owned();
        connection = connection.host(&address);
    }
    Ok((connection, options))
}

fn check_mode(name: &str, mode: &str) -> std::result::Result<(), ErrorKind> {
    if SSL_MODES.contains(&mode) {
        return Ok(());
    }
    let modes = SSL_MODES.join(", ");
    Err(invalid(format!("{name} takes one of {modes}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VectorIndex;

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
    fn a_value_that_an_option_does_not_take_is_told_with_the_options_name_and_what_it_takes() {
        for (option, told) in [
            (
                "schema=App",
                "schema: a name in the database is 1 to 63 lower-case",
            ),
            (
                "table_prefix=9",
                "table_prefix: a name in the database is 1 to 63 lower-case",
            ),
            (
                "sslmode=foo",
                "sslmode takes one of disable, allow, prefer, require",
            ),
            ("sslcert=a.pem", "sslcert and sslkey are given together"),
            ("ef_search=100000", "ef_search is 1 to 1000"),
            (
                "ef_search=99999999999999999999999",
                "ef_search is 1 to 1000",
            ),
            (
                "max_connections=4294967296",
                "max_connections is 1 to 10000",
            ),
            (
                "statement_timeout_ms=99999999999999999999",
                "statement_timeout_ms is at most",
            ),
        ] {
            let refused = parse(&format!("postgres://u@h/d?{option}")).unwrap_err();
            let shown = refused.to_string();
            assert!(shown.contains(told), "{option}: {shown}");
        }
    }

    #[test]
    fn an_address_of_version_six_is_one() {
        let (connection, _) = parse("postgres://u:p@[::1]:5433/d").unwrap();
        assert_eq!(connection.get_host(), "::1");
        assert_eq!(connection.get_port(), 5433);
    }

    #[test]
    fn what_means_nothing_is_refused_without_the_url() {
        for url in [
            "postgres://u:canary@h/d?schema=App",
            "postgres://u:canary@h/d?m=1",
            "postgres://u:canary@h/d?ef_search=0",
            "postgres://u:canary@h/d?max_connections=0",
            "postgres://u:canary@h/d?max_connections=4294967295",
            "postgres://u:canary@h:port/d",
            "postgres://u:canary@h/d?sslmode=canary",
            "postgres://u:canary@h/d#?sslmode=verify-full",
            "postgres://u:12#canary@h/d",
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
