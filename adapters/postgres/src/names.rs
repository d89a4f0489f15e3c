//! The names of everything that a store makes in a database.

use shelfward_core::CollectionName;

use crate::PostgresOptions;
use crate::identifier::Identifier;

/// The names of everything that a store makes.
#[derive(Clone, Debug)]
pub(crate) struct TableNames {
    schema: Identifier,
    prefix: String,
}

impl TableNames {
    pub(crate) fn of(options: &PostgresOptions) -> Self {
        Self {
            schema: options.schema.clone(),
            prefix: options.table_prefix.as_str().to_owned(),
        }
    }

    pub(crate) fn schema(&self) -> &Identifier {
        &self.schema
    }

    /// What the names of tables begin with.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The table of the collections. No collection's table has its name: theirs begin with a letter.
    pub(crate) fn registry(&self) -> String {
        self.within("_collections")
    }

    /// The table of commits.
    pub(crate) fn commits(&self) -> String {
        self.within("_commits")
    }

    /// The registry's primary key: like the index of a collection without a name, which none is.
    pub(crate) fn registry_key(&self) -> String {
        format!("\"{}__pkey\"", self.prefix)
    }

    /// The function that makes an array of a list in metadata.
    pub(crate) fn texts(&self) -> String {
        self.within("_texts")
    }

    pub(crate) fn table(&self, name: &CollectionName) -> String {
        self.within(name.as_str())
    }

    /// The table's name without its schema and without quotes.
    pub(crate) fn bare_table(&self, name: &CollectionName) -> String {
        format!("{}{name}", self.prefix)
    }

    fn within(&self, name: &str) -> String {
        format!("{}.\"{}{name}\"", self.schema, self.prefix)
    }

    /// The name of an index. Tables and indexes share their names, and a collection's begins with a
    /// letter, so none has the name of another one's index; suffixes hold no `_`.
    pub(crate) fn index(&self, name: &CollectionName, suffix: &str) -> String {
        format!("\"{}_{name}_{suffix}\"", self.prefix)
    }
}
