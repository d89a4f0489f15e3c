//! How errors show themselves together with their causes.

use std::error::Error;
use std::fmt;

/// Writes an error and, behind it, each cause: `failed to connect: the store is unavailable: …`.
#[doc(hidden)]
pub fn write_chain(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{error}")?;
    let mut cause = error.source();
    while let Some(error) = cause {
        write!(f, ": {error}")?;
        cause = error.source();
    }
    Ok(())
}

/// Makes `Debug` of an error what a person reads: its text and that of each cause, on one line. It is
/// what `main` prints of the error that it returns, and what `unwrap` panics with.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_chain {
    ($($error:ty),+ $(,)?) => {$(
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                $crate::write_chain(self, f)
            }
        }
    )+};
}
