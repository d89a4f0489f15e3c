//! The settings of an index.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// What an index is made with: its fields with their weights, and sizes.
///
/// ```
/// use shelfward_lexical::fuzzy::{FuzzyIndex, FuzzySettings};
///
/// let settings = FuzzySettings::new([("title", 10.0), ("body", 1.0)]).passage_width(80);
/// assert!(FuzzyIndex::new(settings).is_ok());
///
/// let refused = FuzzyIndex::new(FuzzySettings::new([("title", 0.0)])).unwrap_err();
/// assert_eq!(refused.to_string(), "fields.title is 0; it must be a finite number above 0");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FuzzySettings {
    pub(super) fields: Vec<(String, f64)>,
    pub(super) passage_fields: Option<Vec<String>>,
    pub(super) edit_min_length: usize,
    pub(super) passages: usize,
    pub(super) passage_width: usize,
}

impl FuzzySettings {
    /// The fields of the documents, each with what a match in it weighs: a finite number above 0.
    pub fn new<N: Into<String>>(fields: impl IntoIterator<Item = (N, f64)>) -> Self {
        let named = |(name, weight): (N, f64)| (name.into(), weight);
        Self {
            fields: fields.into_iter().map(named).collect(),
            passage_fields: None,
            edit_min_length: 4,
            passages: 3,
            passage_width: 160,
        }
    }

    /// The fields that passages are taken from, instead of those of the lowest weight. None at all
    /// means that no hit has passages.
    #[must_use]
    pub fn passage_fields<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.passage_fields = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// How many letters two words must have, each of them, to match with one edit between them: 4
    /// unless given, and at least 1. A letter is a Unicode scalar value of the folded word.
    #[must_use]
    pub fn edit_min_length(mut self, letters: usize) -> Self {
        self.edit_min_length = letters;
        self
    }

    /// How many passages a hit has at most: 3 unless given.
    #[must_use]
    pub fn passages(mut self, most: usize) -> Self {
        self.passages = most;
        self
    }

    /// About how many characters a passage has at most: 160 unless given, and at least 1.
    #[must_use]
    pub fn passage_width(mut self, characters: usize) -> Self {
        self.passage_width = characters;
        self
    }
}

/// A setting that was refused.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{setting} is {given}; it must be {right}")]
pub struct FuzzySettingsError {
    setting: String,
    given: String,
    right: &'static str,
}

shelfward_core::debug_as_chain!(FuzzySettingsError);

impl FuzzySettingsError {
    pub(super) fn new(
        setting: impl Into<String>,
        given: impl fmt::Display,
        right: &'static str,
    ) -> Self {
        Self {
            setting: setting.into(),
            given: given.to_string(),
            right,
        }
    }

    /// Which was refused, by its name in JSON: `fields`, `fields.` with a field's name,
    /// `passageFields`, `editMinLength` or `passageWidth`.
    pub fn setting(&self) -> &str {
        &self.setting
    }

    /// What was given.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// What would be right.
    pub fn right(&self) -> &'static str {
        self.right
    }
}

/// The widest that passages may be, in characters.
const MAX_PASSAGE_WIDTH: usize = 10_000;

/// The most passages that a hit may have.
const MAX_PASSAGES: usize = 1_000;

/// The most fields that an index has.
const MAX_FIELDS: usize = 10_000;

/// Settings that hold, as the index uses them. A field is told by its place among the settings.
#[derive(Clone)]
pub(super) struct Checked {
    pub(super) given: FuzzySettings,
    /// The fields from the highest weight to the lowest.
    pub(super) by_weight: Vec<u16>,
    /// The fields that passages are taken from, in the order of the settings.
    pub(super) passage_fields: Vec<u16>,
    names: Vec<Arc<str>>,
    places: HashMap<Arc<str>, u16>,
}

impl Checked {
    pub(super) fn new(given: FuzzySettings) -> Result<Self, FuzzySettingsError> {
        check_fields(&given.fields)?;
        for (setting, size) in [
            ("editMinLength", given.edit_min_length),
            ("passageWidth", given.passage_width),
        ] {
            if size == 0 {
                return Err(FuzzySettingsError::new(setting, size, "at least 1"));
            }
        }
        // A passage is read a few times its width, and as often as there are passages.
        if given.passage_width > MAX_PASSAGE_WIDTH {
            let width = given.passage_width;
            return Err(FuzzySettingsError::new(
                "passageWidth",
                width,
                "at most 10,000",
            ));
        }
        if given.passages > MAX_PASSAGES {
            let passages = given.passages;
            return Err(FuzzySettingsError::new(
                "passages",
                passages,
                "at most 1,000",
            ));
        }
        let names: Vec<Arc<str>> = given
            .fields
            .iter()
            .map(|(name, _)| Arc::from(&**name))
            .collect();
        let mut checked = Self {
            by_weight: (0..).take(names.len()).collect(),
            passage_fields: Vec::new(),
            places: names.iter().cloned().zip(0..).collect(),
            names,
            given,
        };
        checked.sort_by_weight();
        checked.choose_passage_fields()?;
        Ok(checked)
    }

    pub(super) fn place(&self, name: &str) -> Option<u16> {
        self.places.get(name).copied()
    }

    pub(super) fn name(&self, field: u16) -> Option<&Arc<str>> {
        self.names.get(usize::from(field))
    }

    pub(super) fn weight(&self, field: u16) -> f64 {
        let field = self.given.fields.get(usize::from(field));
        field.map_or(0.0, |(_, weight)| *weight)
    }

    fn sort_by_weight(&mut self) {
        let mut fields = std::mem::take(&mut self.by_weight);
        fields.sort_by(|a, b| self.weight(*b).total_cmp(&self.weight(*a)));
        self.by_weight = fields;
    }

    fn choose_passage_fields(&mut self) -> Result<(), FuzzySettingsError> {
        let chosen: HashSet<u16> = match &self.given.passage_fields {
            Some(names) => self.named(names)?,
            None => {
                let lowest = self.by_weight.last().map(|field| self.weight(*field));
                let fields = self.by_weight.iter().copied();
                fields
                    .filter(|field| Some(self.weight(*field)) == lowest)
                    .collect()
            }
        };
        self.passage_fields = chosen.into_iter().collect();
        self.passage_fields.sort_unstable();
        Ok(())
    }

    fn named(&self, names: &[String]) -> Result<HashSet<u16>, FuzzySettingsError> {
        let mut fields = HashSet::new();
        for name in names {
            let wrong = match self.place(name).map(|field| fields.insert(field)) {
                Some(true) => continue,
                Some(false) => "a list that names each field once",
                None => "a list of fields of the index",
            };
            let given = format!("a list with {name:?}");
            return Err(FuzzySettingsError::new("passageFields", given, wrong));
        }
        Ok(fields)
    }
}

fn check_fields(fields: &[(String, f64)]) -> Result<(), FuzzySettingsError> {
    if fields.is_empty() {
        return Err(FuzzySettingsError::new(
            "fields",
            "empty",
            "at least one field",
        ));
    }
    if fields.len() > MAX_FIELDS {
        let given = format!("a list of {}", fields.len());
        return Err(FuzzySettingsError::new(
            "fields",
            given,
            "at most 10000 fields",
        ));
    }
    let mut seen = HashSet::new();
    for (name, weight) in fields {
        let refused = |given: &dyn fmt::Display, right| {
            Err(FuzzySettingsError::new(
                format!("fields.{name}"),
                given,
                right,
            ))
        };
        if !weight.is_finite() || *weight <= 0.0 {
            return refused(weight, "a finite number above 0");
        }
        if !seen.insert(name) {
            return refused(&"given twice", "given once");
        }
    }
    Ok(())
}
