#[cfg(any(feature = "sqlite", feature = "hnsw"))]
use shelfward_core::adapter::StoreAdapter;
#[cfg(any(feature = "sqlite", feature = "hnsw", feature = "postgres"))]
use shelfward_core::{ErrorKind, Operation};
use shelfward_core::{Store, StoreError};

/// The schemes that there are, with the cargo feature of each.
const KNOWN: &str = "memory: (feature memory), sqlite: (feature sqlite), hnsw: (feature hnsw), \
    postgres: and postgresql: (feature postgres)";

const SCHEMES: [&str; 5] = ["memory", "sqlite", "hnsw", "postgres", "postgresql"];

/// Why no store could be had from a URL. Its `Debug` is its text with what lies under it, on one line.
///
/// The URL itself is in no message: it may hold a password.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The URL has no scheme, as a path alone.
    #[error(
        "the URL has no scheme, which chooses the store; write sqlite:library.db for a file, hnsw:library for a \
         folder, or postgres://user:password@host/database"
    )]
    NoScheme,
    /// The scheme is not written in lower case.
    #[error("a scheme is written in lower case: {scheme}:")]
    SchemeCase {
        /// The scheme that it is in lower case.
        scheme: &'static str,
    },
    /// The scheme is unknown.
    #[error("no store has {}; known are {known}", match .scheme {
        Some(scheme) => format!("the scheme {scheme:?}"),
        None => "a URL that begins so".to_owned(),
    })]
    UnknownScheme {
        /// What is before `://`, at most 32 characters of it. `None` where nothing is: what is before a
        /// colon alone may be the password of a URL whose beginning was lost.
        scheme: Option<String>,
        /// The schemes that there are, with the cargo feature of each.
        known: &'static str,
    },
    /// The scheme is known, but its adapter was not built in.
    #[error(
        "stores of the scheme {scheme:?} need the cargo feature {feature:?} of the crate shelfward"
    )]
    MissingFeature {
        /// The scheme.
        scheme: &'static str,
        /// The feature.
        feature: &'static str,
    },
    /// The part behind the scheme is refused.
    #[error("a URL of the scheme {scheme:?} is written {expected}")]
    Shape {
        /// The scheme.
        scheme: &'static str,
        /// How it is written.
        expected: &'static str,
    },
    /// The adapter refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

shelfward_core::debug_as_chain!(ConnectError);

/// A store from a URL. The scheme chooses the adapter, a cargo feature of this crate brings it.
///
/// | URL | store | feature |
/// |---|---|---|
/// | `memory:` | collections in this process, gone with it | `memory` |
/// | `sqlite:library.db` | collections in a file, for all processes; what stands behind `?` are options | `sqlite` |
/// | `sqlite::memory:` | the same without a file, gone with the store | `sqlite` |
/// | `hnsw:library` | collections in a folder, for one process, with an approximate index | `hnsw` |
/// | `hnsw::memory:` | the same without a folder, gone with the store | `hnsw` |
/// | `postgres://user:password@host/database` | collections in a PostgreSQL database with pgvector, for all processes; what stands behind `?` are options. `postgresql:` is the same | `postgres` |
///
/// A user or a password with one of the characters `: / ? # [ ] @ %` in it is written percent-encoded.
///
/// # Errors
/// [`ConnectError`] for a URL without a scheme or with an unknown one, naming those there are, or one whose
/// feature is off, naming the feature; and those of the adapter.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), shelfward::ConnectError> {
/// let store = shelfward::connect("memory:").await?;
/// assert_eq!(store.kind(), "memory");
/// assert!(shelfward::connect("sqlserver://localhost").await.is_err());
/// # Ok(())
/// # }
/// ```
pub async fn connect(url: &str) -> Result<Store, ConnectError> {
    // Without a colon nothing of the text is known to be a scheme, and it may be a secret. A single letter
    // before one is the drive of a Windows path.
    let (scheme, rest) = match url.split_once(':') {
        Some((scheme, rest)) if scheme.len() > 1 => (scheme, rest),
        _ => return Err(ConnectError::NoScheme),
    };
    match scheme {
        "memory" => memory(rest),
        "sqlite" => sqlite(rest).await,
        "hnsw" => hnsw(rest).await,
        "postgres" | "postgresql" => postgres(url, rest).await,
        other => {
            let mut known = SCHEMES.into_iter();
            if let Some(scheme) = known.find(|known| known.eq_ignore_ascii_case(other)) {
                return Err(ConnectError::SchemeCase { scheme });
            }
            let is_scheme = rest.starts_with("//");
            Err(ConnectError::UnknownScheme {
                scheme: is_scheme.then(|| scheme.chars().take(32).collect()),
                known: KNOWN,
            })
        }
    }
}

#[cfg(feature = "memory")]
fn memory(rest: &str) -> Result<Store, ConnectError> {
    if rest.is_empty() {
        Ok(Store::new(shelfward_memory::MemoryStore::new()))
    } else {
        Err(ConnectError::Shape {
            scheme: "memory",
            expected: "memory: and nothing behind it",
        })
    }
}

#[cfg(not(feature = "memory"))]
fn memory(_: &str) -> Result<Store, ConnectError> {
    Err(ConnectError::MissingFeature {
        scheme: "memory",
        feature: "memory",
    })
}

#[cfg(feature = "sqlite")]
async fn sqlite(rest: &str) -> Result<Store, ConnectError> {
    opened(rest, shelfward_sqlite::connect).await
}

#[cfg(not(feature = "sqlite"))]
async fn sqlite(_: &str) -> Result<Store, ConnectError> {
    Err(ConnectError::MissingFeature {
        scheme: "sqlite",
        feature: "sqlite",
    })
}

#[cfg(feature = "hnsw")]
async fn hnsw(rest: &str) -> Result<Store, ConnectError> {
    opened(rest, shelfward_hnsw::connect).await
}

#[cfg(not(feature = "hnsw"))]
async fn hnsw(_: &str) -> Result<Store, ConnectError> {
    Err(ConnectError::MissingFeature {
        scheme: "hnsw",
        feature: "hnsw",
    })
}

#[cfg(feature = "postgres")]
async fn postgres(url: &str, rest: &str) -> Result<Store, ConnectError> {
    // Without the slashes the driver would take a host from elsewhere.
    if !rest.starts_with("//") {
        return Err(ConnectError::Shape {
            scheme: "postgres",
            expected: "postgres://user:password@host:port/database?option=value",
        });
    }
    in_a_runtime()?;
    Ok(Store::new(shelfward_postgres::connect(url).await?))
}

#[cfg(not(feature = "postgres"))]
async fn postgres(_: &str, _: &str) -> Result<Store, ConnectError> {
    Err(ConnectError::MissingFeature {
        scheme: "postgres",
        feature: "postgres",
    })
}

/// What the adapters' own calls need: they would panic without it.
#[cfg(any(feature = "sqlite", feature = "hnsw", feature = "postgres"))]
fn in_a_runtime() -> Result<(), ConnectError> {
    if tokio::runtime::Handle::try_current().is_ok() {
        return Ok(());
    }
    let right =
        "this store works in a Tokio runtime; call from a task of one, as under #[tokio::main]";
    let invalid = ErrorKind::Invalid(right.to_owned());
    Err(StoreError::new(Operation::Connect, invalid).into())
}

/// Opens files away from the tasks of the runtime, which they would hold up.
#[cfg(any(feature = "sqlite", feature = "hnsw"))]
async fn opened<S: StoreAdapter + 'static>(
    rest: &str,
    open: fn(&str) -> shelfward_core::Result<S>,
) -> Result<Store, ConnectError> {
    in_a_runtime()?;
    let rest = rest.to_owned();
    match tokio::task::spawn_blocking(move || open(&rest)).await {
        Ok(opened) => Ok(Store::new(opened?)),
        // It panicked, and its words may hold the path.
        Err(_) => Err(StoreError::new(Operation::Connect, ErrorKind::Engine).into()),
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[tokio::test]
    async fn a_url_that_is_refused_is_not_repeated() {
        for secret in [
            "postgres:hunter2",
            "postgres://ann:hunter2@localhost:port/db",
            "postgres://ann:hunter2@localhost/db?nosuch=1",
            "postgresql://localhost/db?schema=Hunter2&nosuch=hunter2",
            // A password that looks like options.
            "postgres://ann:pass?hunter2=1&hunter2=2@localhost/db",
            "postgres://ann:hunter2@localhost/db?sslmode=hunter2",
            "sqlserver://ann:hunter2@host/db",
            "hunter2:x@host",
            "hunter2:5432/db",
            "hunter2",
            "memory:hunter2",
            "sqlite:/no-such-folder/hunter2/library.db",
            "sqlite:library.db?nosuch=hunter2",
            "sqlite:library.db?hunter2",
            "sqlite:library.db?synchronous=hunter2",
            "hnsw::hunter2",
            // Below what is a file, so that no folder can be made there.
            "hnsw:Cargo.toml/hunter2",
        ] {
            let error = connect(secret).await.unwrap_err();
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
            let mut shown: Option<&dyn Error> = Some(&error);
            while let Some(error) = shown {
                assert!(!error.to_string().contains("hunter2"), "{error}");
                shown = error.source();
            }
        }
    }

    #[test]
    fn outside_a_runtime_it_says_what_it_needs() {
        let urls = [
            #[cfg(feature = "sqlite")]
            "sqlite::memory:",
            #[cfg(feature = "hnsw")]
            "hnsw::memory:",
            #[cfg(feature = "postgres")]
            "postgres://localhost/db",
            "memory:",
        ];
        for url in urls {
            let connected = std::pin::pin!(connect(url));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            match connected.poll(&mut context) {
                std::task::Poll::Ready(Err(error)) => {
                    assert!(error.to_string().contains("Tokio"), "{url}: {error}");
                }
                std::task::Poll::Ready(Ok(store)) => assert_eq!(store.kind(), "memory"),
                std::task::Poll::Pending => panic!("{url} waits"),
            }
        }
    }

    #[tokio::test]
    async fn an_unknown_scheme_names_those_there_are_with_their_features() {
        let error = connect("nosuch://there").await.unwrap_err().to_string();
        for known in [
            "the scheme \"nosuch\"",
            "memory: (feature memory)",
            "sqlite: (feature sqlite)",
            "hnsw: (feature hnsw)",
            "postgres: and postgresql: (feature postgres)",
        ] {
            assert!(error.contains(known), "{error}");
        }
    }

    #[tokio::test]
    async fn a_path_is_told_the_scheme_that_it_lacks() {
        for path in [
            "library.db",
            "",
            "./a/library.db",
            r"C:\library.db",
            ":memory:",
        ] {
            let error = connect(path).await.unwrap_err();
            assert!(matches!(error, ConnectError::NoScheme), "{path}: {error}");
            let told = error.to_string();
            assert!(told.contains("write sqlite:library.db"), "{told}");
        }
        for (url, scheme) in [
            ("SQLITE:library.db", "sqlite:"),
            ("Postgres://host/db", "postgres:"),
            ("MEMORY:", "memory:"),
        ] {
            let told = connect(url).await.unwrap_err().to_string();
            assert_eq!(told, format!("a scheme is written in lower case: {scheme}"));
        }
    }

    #[cfg(all(feature = "sqlite", feature = "hnsw"))]
    #[tokio::test]
    async fn a_store_without_a_file_has_its_collections_to_itself() {
        for url in ["sqlite::memory:", "hnsw::memory:"] {
            let scheme = url.split(':').next().unwrap();
            let store = connect(url).await.unwrap();
            assert_eq!(store.kind(), scheme);
            assert!(store.list().await.unwrap().is_empty());
        }
    }

    #[cfg(feature = "postgres")]
    #[tokio::test]
    async fn a_server_that_is_not_there_is_unavailable_and_its_password_untold() {
        // Free when it was asked for, and closed again.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        for scheme in ["postgres", "postgresql"] {
            let url = format!("{scheme}://ann:hunter2@127.0.0.1:{port}/db?connect_timeout_ms=2000");
            let error = connect(&url).await.unwrap_err();
            let ConnectError::Store(store) = &error else {
                unreachable!("{error:?}");
            };
            assert!(
                matches!(store.kind(), shelfward_core::ErrorKind::Unavailable),
                "{error:?}"
            );
            let mut shown: Option<&dyn Error> = Some(&error);
            while let Some(error) = shown {
                let text = format!("{error} {error:?}");
                assert!(!text.contains("hunter2"), "{text}");
                shown = error.source();
            }
        }
    }

    #[cfg(feature = "postgres")]
    #[tokio::test]
    async fn an_option_that_a_server_does_not_have_is_refused_before_it_is_asked() {
        for query in ["nosuch=1", "m=1", "schema=App", "ef_search=9&ef_search=9"] {
            // Nobody could answer at this address.
            let url = format!("postgres://ann:hunter2@127.0.0.1:1/db?{query}");
            let error = connect(&url).await.unwrap_err();
            let ConnectError::Store(store) = &error else {
                unreachable!("{error:?}");
            };
            assert!(
                matches!(store.kind(), shelfward_core::ErrorKind::Invalid(_)),
                "{query}: {error:?}"
            );
        }
    }

    #[cfg(feature = "postgres")]
    #[tokio::test]
    async fn a_postgres_url_without_a_host_part_is_refused() {
        for url in ["postgres:", "postgresql:db", "postgres:/db"] {
            let error = connect(url).await.unwrap_err();
            assert!(
                matches!(error, ConnectError::Shape { .. }),
                "{url}: {error:?}"
            );
        }
    }

    #[cfg(not(all(
        feature = "memory",
        feature = "sqlite",
        feature = "hnsw",
        feature = "postgres"
    )))]
    #[tokio::test]
    async fn a_scheme_whose_adapter_is_not_built_in_names_the_feature() {
        let missing: &[&str] = &[
            #[cfg(not(feature = "memory"))]
            "memory",
            #[cfg(not(feature = "sqlite"))]
            "sqlite",
            #[cfg(not(feature = "hnsw"))]
            "hnsw",
            #[cfg(not(feature = "postgres"))]
            "postgres",
        ];
        for scheme in missing {
            let error = connect(&format!("{scheme}:")).await.unwrap_err();
            let ConnectError::MissingFeature { feature, .. } = error else {
                unreachable!("{scheme}: {error}");
            };
            assert_eq!(feature, *scheme);
        }
    }
}
