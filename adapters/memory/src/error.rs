use shelfward_core::{ErrorKind, Operation, StoreError};

/// The error of a call on a handle that was closed.
pub(crate) fn closed(operation: Operation) -> StoreError {
    let invalid = "this handle of the store was closed".to_owned();
    StoreError::new(operation, ErrorKind::Invalid(invalid))
}
