//! Where a scan in the order of the keys goes on.

use shelfward_core::{Cursor, ErrorKind, Key, Text};

/// The cursor behind a key: the length of its partition, or `-`, a colon, and both texts.
pub fn cursor_at(key: &Key) -> Cursor {
    Cursor::new(match &key.partition {
        Some(partition) => format!("{}:{partition}{}", partition.as_str().len(), key.id),
        None => format!("-:{}", key.id),
    })
}

/// The key that a cursor stands behind.
///
/// # Errors
/// [`ErrorKind::Invalid`] for a cursor that [`cursor_at`] did not make.
pub fn key_of(cursor: &Cursor) -> Result<Key, ErrorKind> {
    let read = |cursor: &str| {
        let (length, rest) = cursor.split_once(':')?;
        let text = |part: &str| Text::new(part).ok();
        if length == "-" {
            return Some(Key::new(text(rest)?));
        }
        let length = length.parse().ok()?;
        Some(Key::within(
            text(rest.get(..length)?)?,
            text(rest.get(length..)?)?,
        ))
    };
    read(cursor.as_str())
        .ok_or_else(|| ErrorKind::Invalid("the cursor is not one of this store's".to_owned()))
}
