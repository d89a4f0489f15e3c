//! What can be given as a metadata value in code.

use super::{List, MetadataProblem, Scalar, Text, Value};

/// What can stand as a metadata value: booleans, integers, floats, texts, and lists of one of them.
pub trait IntoValue {
    /// The value, or why it is refused.
    ///
    /// # Errors
    /// [`MetadataProblem`] for NaN, an integer outside 64 bits, a text with U+0000 or a mixed list.
    fn into_value(self) -> Result<Value, MetadataProblem>;
}

macro_rules! scalar_values {
    ($($given:ty),+) => {$(
        impl IntoValue for $given {
            fn into_value(self) -> Result<Value, MetadataProblem> {
                Ok(Value::Scalar(Scalar::try_from(self)?))
            }
        }

        impl IntoValue for Vec<$given> {
            fn into_value(self) -> Result<Value, MetadataProblem> {
                list(self)
            }
        }

        impl<const N: usize> IntoValue for [$given; N] {
            fn into_value(self) -> Result<Value, MetadataProblem> {
                list(self)
            }
        }
    )+};
}

scalar_values!(
    bool, i64, i32, i16, u64, u32, u16, u8, f64, &str, &String, String, Text, Scalar
);

impl IntoValue for List {
    fn into_value(self) -> Result<Value, MetadataProblem> {
        Ok(Value::List(self))
    }
}

impl IntoValue for Value {
    fn into_value(self) -> Result<Value, MetadataProblem> {
        Ok(self)
    }
}

fn list<T>(members: impl IntoIterator<Item = T>) -> Result<Value, MetadataProblem>
where
    T: TryInto<Scalar>,
    MetadataProblem: From<T::Error>,
{
    let members = members
        .into_iter()
        .map(TryInto::try_into)
        .collect::<Result<Vec<_>, _>>()?;
    List::new(members).map(Value::List)
}
