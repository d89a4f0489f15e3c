//! Where a scan in the order of the keys goes on.

use crate::error::ErrorKind;
use crate::metadata::Text;
use crate::record::Key;
use crate::search::Cursor;

impl Cursor {
    /// The cursor behind a key, for a store that scans in the order of its keys: the length of the
    /// key's partition, or `-`, a colon, and both texts.
    pub fn after(key: &Key) -> Self {
        Self::new(match &key.partition {
            Some(partition) => format!("{}:{partition}{}", partition.as_str().len(), key.id),
            None => format!("-:{}", key.id),
        })
    }

    /// The key that a cursor comes [after](Self::after).
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for one that was not made so.
    pub fn key(&self) -> Result<Key, ErrorKind> {
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
        read(self.as_str())
            .ok_or_else(|| ErrorKind::Invalid("the cursor is not one of this store's".to_owned()))
    }
}
