//! What a collection is: width, metric, embedder, word rule and declared fields.

use std::fmt;

use serde::{Deserialize, Serialize};
use shelfward_text::WordRule;

use crate::metadata::{Kind, Metadata, MetadataError, MetadataKey, MetadataProblem, Scalar, Value};
use crate::names::CollectionName;

/// How two vectors are compared. Scores are higher-is-better for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Metric {
    /// The cosine, in [−1, 1]. Zero vectors are refused.
    Cosine,
    /// The dot product.
    Dot,
    /// Minus the Euclidean distance, so at most 0.
    Euclidean,
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cosine => "cosine",
            Self::Dot => "dot",
            Self::Euclidean => "euclidean",
        })
    }
}

/// The kind that a declared field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum FieldKind {
    /// One text.
    Text,
    /// A list of texts; a plain text is accepted too.
    TextList,
    /// One 64-bit integer; a whole float is accepted too.
    Integer,
    /// One finite float; an integer is accepted where a float holds it exactly.
    Float,
    /// One boolean.
    Bool,
}

impl FieldKind {
    /// The kind's name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "one text",
            Self::TextList => "a list of texts",
            Self::Integer => "one integer",
            Self::Float => "one float",
            Self::Bool => "one boolean",
        }
    }

    fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Text, Value::Scalar(Scalar::Text(_)))
            | (Self::Bool, Value::Scalar(Scalar::Bool(_)))
            | (Self::Float, Value::Scalar(Scalar::Float(_))) => true,
            (Self::TextList, value) => value.elements().iter().all(|e| e.kind() == Kind::Text),
            (Self::Integer, value) => value.as_integer().is_some(),
            (Self::Float, Value::Scalar(Scalar::Integer(i))) => {
                crate::filter::exact_float(*i).is_some()
            }
            _ => false,
        }
    }
}

/// What a field is to the store, beside something to filter by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum FieldRole {
    /// Something to filter by.
    #[default]
    Plain,
    /// What the collection is divided by, as the tenant; at most one field, of kind text.
    /// Lexical statistics are kept, and writers are ordered, for each of its values.
    Partition,
    /// What is written and removed as one, as the source; at most one field, of kind text.
    Unit,
}

/// A metadata key that filters may use, and what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Field {
    /// The metadata key.
    pub key: MetadataKey,
    /// The kind that it holds.
    pub kind: FieldKind,
    /// Its role.
    #[serde(default)]
    pub role: FieldRole,
}

impl Field {
    /// A field to filter by.
    pub fn new(key: MetadataKey, kind: FieldKind) -> Self {
        Self {
            key,
            kind,
            role: FieldRole::Plain,
        }
    }

    /// The same field in a role.
    #[must_use]
    pub fn with_role(mut self, role: FieldRole) -> Self {
        self.role = role;
        self
    }
}

/// What a collection is. Settled when it is created; only fields can be added later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct CollectionSpec {
    /// The name.
    pub name: CollectionName,
    /// How many numbers a vector has; at least 1.
    pub width: u32,
    /// How vectors are compared.
    pub metric: Metric,
    /// The id of the embedder whose vectors it holds.
    pub embedder: String,
    /// How texts are cut into words.
    pub word_rule: WordRule,
    /// The metadata keys that filters may use.
    pub fields: Vec<Field>,
    /// Whether filters may use any other key too. A capability; not every store can.
    #[serde(default)]
    pub open_fields: bool,
}

/// Why a collection's spec was refused.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The width is 0.
    #[error("a vector has at least 1 dimension; the width given is 0")]
    ZeroWidth,
    /// The embedder id is empty.
    #[error("the embedder needs an id, so that vectors of another model can be told apart")]
    NoEmbedder,
    /// A field is declared twice.
    #[error("the field {0} is declared twice")]
    RepeatedField(MetadataKey),
    /// A role is given to a field of another kind than text.
    #[error("the field {0} has a role, so it must hold one text")]
    RoleKind(MetadataKey),
    /// Two fields have one role.
    #[error("the fields {0} and {1} have the same role; at most one may")]
    RepeatedRole(MetadataKey, MetadataKey),
    /// An existing collection holds vectors of another embedder.
    #[error(
        "the collection {name} holds vectors of the embedder {existing:?}, not of {asked:?}; use the embedder \
         that it was created with, or index into another collection"
    )]
    OtherEmbedder {
        /// The collection.
        name: CollectionName,
        /// The id of the embedder that it was created with.
        existing: String,
        /// The id that was asked for.
        asked: String,
    },
    /// An existing collection holds vectors of another width.
    #[error(
        "the collection {name} holds vectors of {existing} dimensions, and the embedder {embedder:?} answers \
         {asked}; use the embedder that it was created with, or index into another collection"
    )]
    OtherWidth {
        /// The collection.
        name: CollectionName,
        /// The width of the collection.
        existing: u32,
        /// The width of the embedder.
        asked: u32,
        /// The embedder's id.
        embedder: String,
    },
    /// An existing collection differs otherwise.
    #[error(
        "the collection {name} has {what} {existing}, not {asked}; use another collection, or drop this one and \
         create it again"
    )]
    Differs {
        /// The collection.
        name: CollectionName,
        /// What differs: metric, word rule or a field's kind.
        what: String,
        /// What the collection has.
        existing: String,
        /// What was asked for.
        asked: String,
    },
}

crate::debug_as_chain!(SpecError);

impl CollectionSpec {
    /// A collection without declared fields, under the default word rule.
    pub fn new(
        name: CollectionName,
        width: u32,
        metric: Metric,
        embedder: impl Into<String>,
    ) -> Self {
        Self {
            name,
            width,
            metric,
            embedder: embedder.into(),
            word_rule: WordRule::default(),
            fields: Vec::new(),
            open_fields: false,
        }
    }

    /// Adds declared fields.
    #[must_use]
    pub fn with_fields(mut self, fields: impl IntoIterator<Item = Field>) -> Self {
        self.fields.extend(fields);
        self
    }

    /// Sets how texts are cut into words.
    #[must_use]
    pub fn with_word_rule(mut self, rule: WordRule) -> Self {
        self.word_rule = rule;
        self
    }

    /// Lets filters use undeclared keys too.
    #[must_use]
    pub fn with_open_fields(mut self, open: bool) -> Self {
        self.open_fields = open;
        self
    }

    /// The declared field of a key.
    pub fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key.as_str() == key)
    }

    /// The key that divides the collection, if one does.
    pub fn partition_key(&self) -> Option<&MetadataKey> {
        self.with_role(FieldRole::Partition)
    }

    /// The key of what is written and removed as one, if there is one.
    pub fn unit_key(&self) -> Option<&MetadataKey> {
        self.with_role(FieldRole::Unit)
    }

    fn with_role(&self, role: FieldRole) -> Option<&MetadataKey> {
        self.fields
            .iter()
            .find(|field| field.role == role)
            .map(|field| &field.key)
    }

    /// Refuses a spec that contradicts itself.
    ///
    /// # Errors
    /// [`SpecError`] that names the field or setting.
    pub fn check(&self) -> Result<(), SpecError> {
        if self.width == 0 {
            return Err(SpecError::ZeroWidth);
        }
        if self.embedder.is_empty() {
            return Err(SpecError::NoEmbedder);
        }
        for (at, field) in self.fields.iter().enumerate() {
            let earlier = self.fields.iter().take(at);
            for other in earlier {
                if other.key == field.key {
                    return Err(SpecError::RepeatedField(field.key.clone()));
                }
                if field.role != FieldRole::Plain && other.role == field.role {
                    return Err(SpecError::RepeatedRole(
                        other.key.clone(),
                        field.key.clone(),
                    ));
                }
            }
            if field.role != FieldRole::Plain && field.kind != FieldKind::Text {
                return Err(SpecError::RoleKind(field.key.clone()));
            }
        }
        Ok(())
    }

    /// Refuses to use this existing collection for what `asked` asks: everything but the fields
    /// must be equal, and a field that both declare must be declared alike.
    ///
    /// # Errors
    /// [`SpecError::OtherEmbedder`], [`SpecError::OtherWidth`] or [`SpecError::Differs`], with both values.
    pub fn check_compatible(&self, asked: &Self) -> Result<(), SpecError> {
        let differs = |what: &str, existing: String, asked: String| {
            let name = self.name.clone();
            Err(SpecError::Differs {
                name,
                what: what.to_owned(),
                existing,
                asked,
            })
        };
        if self.embedder != asked.embedder {
            return Err(SpecError::OtherEmbedder {
                name: self.name.clone(),
                existing: self.embedder.clone(),
                asked: asked.embedder.clone(),
            });
        }
        if self.width != asked.width {
            return Err(SpecError::OtherWidth {
                name: self.name.clone(),
                existing: self.width,
                asked: asked.width,
                embedder: asked.embedder.clone(),
            });
        }
        if self.metric != asked.metric {
            return differs("metric", self.metric.to_string(), asked.metric.to_string());
        }
        if self.word_rule != asked.word_rule {
            let shown = |rule: WordRule| format!("{rule:?}");
            return differs("word rule", shown(self.word_rule), shown(asked.word_rule));
        }
        if self.open_fields != asked.open_fields {
            return differs(
                "open fields",
                self.open_fields.to_string(),
                asked.open_fields.to_string(),
            );
        }
        let roles = [
            (FieldRole::Partition, "partition field"),
            (FieldRole::Unit, "unit field"),
        ];
        for (role, what) in roles {
            let (existing, wanted) = (self.with_role(role), asked.with_role(role));
            if wanted.is_some() && existing != wanted {
                let shown =
                    |key: Option<&MetadataKey>| key.map_or("none".to_owned(), ToString::to_string);
                return differs(what, shown(existing), shown(wanted));
            }
        }
        for field in &asked.fields {
            if let Some(existing) = self.field(field.key.as_str())
                && existing != field
            {
                let role = |f: &Field| match f.role {
                    FieldRole::Plain => "",
                    FieldRole::Partition => ", the partition",
                    FieldRole::Unit => ", the unit",
                };
                let shown = |f: &Field| format!("{}{}", f.kind.name(), role(f));
                let what = format!("for the field {}", field.key);
                return differs(&what, shown(existing), shown(field));
            }
        }
        Ok(())
    }

    /// Whether a collection of this spec is all that `asked` wants: nothing differs, no field is
    /// missing. Creating it again then changes nothing, and need wait for no writer.
    pub fn covers(&self, asked: &Self) -> bool {
        self.check_compatible(asked).is_ok() && self.missing_fields(asked).is_empty()
    }

    /// The fields that `asked` declares and this collection lacks.
    pub fn missing_fields<'a>(&self, asked: &'a Self) -> Vec<&'a Field> {
        asked
            .fields
            .iter()
            .filter(|field| self.field(field.key.as_str()).is_none())
            .collect()
    }

    /// Refuses metadata that holds a value of another kind than the one declared for its key.
    ///
    /// # Errors
    /// As [`check_value`](Self::check_value), for the first such value.
    pub fn check_metadata(&self, metadata: &Metadata) -> Result<(), MetadataError> {
        let mut values = metadata.iter();
        values.try_for_each(|(key, value)| self.check_value(key, value))
    }

    /// Refuses a value of another kind than the one declared for its key.
    ///
    /// # Errors
    /// [`MetadataError`] with the key and both kinds.
    pub fn check_value(&self, key: &MetadataKey, value: &Value) -> Result<(), MetadataError> {
        match self.field(key.as_str()) {
            Some(field) if !field.kind.accepts(value) => {
                let given = match value {
                    Value::Scalar(scalar) => scalar.kind().name(),
                    Value::List(_) => "a list",
                };
                let declared = field.kind.name();
                Err(MetadataError::new(
                    key,
                    MetadataProblem::DeclaredKind { declared, given },
                ))
            }
            _ => Ok(()),
        }
    }
}
