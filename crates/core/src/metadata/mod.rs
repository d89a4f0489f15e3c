//! Metadata: what a passage carries beside its text, and what filters read.
//!
//! A value is a boolean, an integer, a float, a text, or a list of one of those kinds. Whatever
//! could not be held alike by every store is refused here, at the door, so that no adapter has to
//! decide for itself what a null or a nested object means.

mod convert;
mod error;
mod json;
mod key;
mod map;
mod number;
mod stored;
mod value;

pub use convert::IntoValue;
pub(crate) use error::shown;
pub use error::{MetadataError, MetadataProblem};
pub use key::{MetadataKey, RESERVED_PREFIX};
pub use map::Metadata;
pub use number::Float;
pub use value::{Kind, List, Scalar, Text, Value};

pub(crate) use json::first_integer_out_of_range;
pub(crate) use number::compare_numbers;
