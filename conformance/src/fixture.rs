//! The documents that the filter tables speak of.

use shelfward_core::{Collection, CollectionSpec, Field, FieldKind, Key, Record};

use crate::context::{Context, key, name, record};
use crate::verdict::Checked;

/// Under declared fields: `t` a text, `l` a list of texts, `n` an integer, `x` a float, `b` a boolean.
pub(crate) const DECLARED: [(&str, &str); 10] = [
    ("a", r#"{"t":"red","l":["a","b"],"n":5,"x":2.5,"b":true}"#),
    ("b", r#"{"t":"Red","l":["b","c"],"n":-3,"x":5.0,"b":false}"#),
    ("c", r#"{"t":"red hot","l":["c"],"n":9007199254740993}"#),
    ("d", r#"{"t":"","l":[],"n":0,"x":0.0}"#),
    ("e", r#"{"t":"acct:ann","l":["acct:ann","org:one"]}"#),
    ("f", r#"{"t":"acct:an","l":["acct:an","[\"a\",\"b\"]"]}"#),
    ("g", "{}"),
    (
        "h",
        r#"{"t":"été","l":["été","a"],"n":5,"x":-1.5,"b":true}"#,
    ),
    ("i", r#"{"t":"O'Hara \"x\" \\ 100%_","l":["b'c"]}"#),
    ("j", r#"{"t":"5","l":["5"],"n":6}"#),
];

/// Under one undeclared field of every kind.
pub(crate) const UNDECLARED: [(&str, &str); 9] = [
    ("p", r#"{"o":5}"#),
    ("q", r#"{"o":"5"}"#),
    ("r", r#"{"o":5.5}"#),
    ("s", r#"{"o":true}"#),
    ("u", r#"{"o":"true"}"#),
    ("v", r#"{"o":["5"]}"#),
    ("w", r#"{"o":[5,6.5]}"#),
    ("y", r#"{"o":[true]}"#),
    ("z", "{}"),
];

/// The declared fields.
pub(crate) fn fields() -> Checked<Vec<Field>> {
    let kinds = [
        ("t", FieldKind::Text),
        ("l", FieldKind::TextList),
        ("n", FieldKind::Integer),
        ("x", FieldKind::Float),
        ("b", FieldKind::Bool),
    ];
    let kinds = kinds.into_iter();
    kinds
        .map(|(key, kind)| Ok(Field::new(name(key)?, kind)))
        .collect()
}

pub(crate) fn records(documents: &[(&str, &str)]) -> Checked<Vec<Record>> {
    let documents = (0..).zip(documents);
    documents
        .map(|(n, (id, metadata))| record(id, n, metadata))
        .collect()
}

pub(crate) fn keys(documents: &[(&str, &str)]) -> Checked<Vec<Key>> {
    documents.iter().map(|(id, _)| key(id)).collect()
}

/// A spec of one's own with the declared fields.
pub(crate) fn spec(context: &Context) -> Checked<CollectionSpec> {
    Ok(context.spec()?.with_fields(fields()?))
}

/// A collection of one's own of these records under declared fields.
pub(crate) async fn holding(context: &Context, records: &[Record]) -> Checked<Collection> {
    let collection = context.make(&spec(context)?).await?;
    collection.upsert(records).await?;
    Ok(collection)
}

/// A collection of one's own of the documents under declared fields.
pub(crate) async fn own(context: &Context) -> Checked<Collection> {
    holding(context, &records(&DECLARED)?).await
}

/// The same, which cases share and do not change.
pub(crate) async fn declared(context: &Context) -> Checked<Collection> {
    context.shared("declared", own(context)).await
}

/// The same of the documents under an undeclared field.
pub(crate) async fn undeclared(context: &Context) -> Checked<Collection> {
    let make = async {
        let spec = context.spec()?.with_open_fields(true);
        let collection = context.make(&spec).await?;
        collection.upsert(&records(&UNDECLARED)?).await?;
        Ok(collection)
    };
    context.shared("undeclared", make).await
}
