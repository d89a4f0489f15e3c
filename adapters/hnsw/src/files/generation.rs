//! What binds the files of a collection to each other.

use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

use super::codec::{Decoder, Encode};
use crate::error::FileResult;

/// Which snapshot a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation {
    /// Drawn when the collection is made. One that is dropped and made anew counts from 1 again, and
    /// the files of the two do not belong together.
    collection: u64,
    /// How many times everything was written.
    pub(crate) number: u64,
}

impl Generation {
    /// The first of a collection that is made now.
    pub(crate) fn first() -> Self {
        let moment = (std::process::id(), SystemTime::now());
        Self {
            collection: RandomState::new().hash_one(moment),
            number: 1,
        }
    }

    pub(crate) fn next(self) -> Self {
        Self {
            number: self.number.saturating_add(1),
            ..self
        }
    }

    pub(crate) fn put(self, bytes: &mut Vec<u8>) {
        bytes.put_u64(self.collection);
        bytes.put_u64(self.number);
    }

    pub(crate) fn take(from: &mut Decoder<'_>) -> FileResult<Self> {
        Ok(Self {
            collection: from.u64()?,
            number: from.u64()?,
        })
    }
}
