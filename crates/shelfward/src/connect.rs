use shelfward_core::{Store, StoreError};

/// The schemes that there are, with the cargo feature of each.
const KNOWN: &str = "memory: (feature memory)";

/// Why no store could be had from a URL.
///
/// The URL itself is in no message: it may hold a password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The scheme is unknown.
    #[error("no store has the scheme {scheme:?}; known are {known}")]
    UnknownScheme {
        /// What stands before the first colon, at most 32 characters of it.
        scheme: String,
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

/// A store from a URL. The scheme chooses the adapter, a cargo feature of this crate brings it.
///
/// | URL | store | feature |
/// |---|---|---|
/// | `memory:` | collections in this process, gone with it | `memory` |
///
/// # Errors
/// [`ConnectError`] for an unknown scheme, naming those there are, or one whose feature is off,
/// naming the feature; and those of the adapter.
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
    // Without a colon nothing of the text is known to be a scheme, and it may be a secret.
    let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
    match scheme {
        "memory" => memory(rest),
        _ => {
            let scheme = scheme.chars().take(32).collect();
            Err(ConnectError::UnknownScheme {
                scheme,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_url_that_is_refused_is_not_repeated() {
        for secret in [
            "postgres://ann:hunter2@host/db",
            "hunter2",
            "memory:hunter2",
        ] {
            let error = connect(secret).await.unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[cfg(not(feature = "memory"))]
    #[tokio::test]
    async fn a_scheme_whose_adapter_is_not_built_in_names_the_feature() {
        let error = connect("memory:").await.unwrap_err();
        assert!(matches!(
            error,
            ConnectError::MissingFeature {
                feature: "memory",
                ..
            }
        ));
    }
}
