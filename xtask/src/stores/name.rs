//! Names of servers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What tells the servers of one store apart. It is a part of a folder's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Name(String);

impl Default for Name {
    fn default() -> Self {
        Self("default".to_owned())
    }
}

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if text.is_empty() || text.len() > 40 || !text.chars().all(allowed) {
            return Err("a name has 1 to 40 of the characters a-z, 0-9 and -".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn a_name_cannot_lead_out_of_its_folder() {
        let forty = "a".repeat(40);
        for good in ["default", "ci-123", "0", &forty] {
            assert_eq!(good.parse::<Name>().unwrap().to_string(), good);
        }
        for bad in ["", "..", "a/b", "A", "a b", "ü", "a\0", &"a".repeat(41)] {
            assert!(bad.parse::<Name>().is_err(), "{bad:?}");
        }
    }
}
