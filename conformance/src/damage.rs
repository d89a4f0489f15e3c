//! What the suite has damaged beneath a store.

use std::io;
use std::path::Path;

use shelfward_core::{CollectionName, Result, async_trait};

/// Damages what a store keeps, beneath it and while nobody has it open, as a failing disk does.
#[async_trait]
pub trait Damage: Send + Sync {
    /// Damages the record whose text this is, which no other holds, in a collection at a
    /// [`place`](crate::StoreUnderTest::place). A store in files calls [`damage_files`].
    ///
    /// # Errors
    /// Where there is nothing to damage.
    async fn damage_record(
        &self,
        place: &str,
        collection: &CollectionName,
        text: &str,
    ) -> Result<()>;
}

/// Changes one byte of this text wherever it stands in a file, or in the files of a folder.
///
/// # Errors
/// Those of the file system, and [`NotFound`](io::ErrorKind::NotFound) where the text stands nowhere.
pub fn damage_files(path: &Path, text: &str) -> io::Result<()> {
    if damaged(path, text.as_bytes())? {
        return Ok(());
    }
    Err(io::ErrorKind::NotFound.into())
}

fn damaged(path: &Path, text: &[u8]) -> io::Result<bool> {
    let mut any = false;
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            any |= damaged(&entry?.path(), text)?;
        }
        return Ok(any);
    }
    let mut bytes = std::fs::read(path)?;
    let places: Vec<_> = (0..bytes.len())
        .filter(|at| bytes.get(*at..).is_some_and(|rest| rest.starts_with(text)))
        .collect();
    for place in places {
        if let Some(byte) = bytes.get_mut(place) {
            *byte ^= 1;
            any = true;
        }
    }
    if any {
        std::fs::write(path, bytes)?;
    }
    Ok(any)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_byte_of_the_text_changes_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("under")).unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("under/other"));
        std::fs::write(&one, "before text of r1 and text of r2").unwrap();
        std::fs::write(&other, "text of r1text of r1").unwrap();
        damage_files(folder.path(), "text of r1").unwrap();
        let damaged = std::fs::read_to_string(&one).unwrap();
        assert_eq!(damaged, "before uext of r1 and text of r2");
        let damaged = std::fs::read_to_string(&other).unwrap();
        assert_eq!(damaged, "uext of r1uext of r1");
        let nowhere = damage_files(folder.path(), "text of r1").unwrap_err();
        assert_eq!(nowhere.kind(), io::ErrorKind::NotFound);
    }
}
