//! Ids and texts of every shape.

use shelfward_core::{Record, Text};

use crate::case::Case;
use crate::check::{holds, left, stored};
use crate::context::{Context, bare_records, key, refused};
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("ids/as-given", |context| kept(context, &GIVEN)),
        Case::new("ids/composed-and-decomposed-apart", |context| {
            kept(context, &["\u{e9}", "e\u{301}"])
        }),
        Case::new("ids/case-kept", |context| {
            kept(context, &["id", "ID", "Id"])
        }),
        Case::new("ids/longest", longest),
        Case::new("ids/empty-and-too-long", refused_ids),
        Case::new("ids/text-of-a-mebibyte", long_text),
        Case::new("ids/text-with-nul", nul),
    ]
}

const GIVEN: [&str; 11] = [
    "meeting:17#0",
    "a b",
    "O'Hara",
    "say \"x\"",
    "back\\slash",
    "😀",
    "per%cent_",
    "日本",
    "../x",
    "a/b",
    "-1",
];

async fn kept<S: AsRef<str>>(context: Context, names: &[S]) -> Checked {
    let collection = context.holding(&bare_records(names)?).await?;
    left("ids", &collection, names).await?;
    for id in names.iter().map(AsRef::as_ref) {
        let read = stored(&collection, id).await?.key;
        holds(read.id.as_str() == id, || {
            format!("{id:?} is read as {read}")
        })?;
    }
    Ok(())
}

async fn longest(context: Context) -> Checked {
    kept(context, &["x".repeat(512)]).await
}

async fn refused_ids(context: Context) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    for id in ["", &"x".repeat(513)] {
        let answer = collection.upsert(&bare_records(&[id])?).await;
        refused(answer, "an id that is empty or too long")?;
    }
    Ok(())
}

async fn long_text(context: Context) -> Checked {
    let text = "a line of text\n".repeat(70_000);
    let collection = context.make(&context.spec()?).await?;
    let record = Record::new(key("a")?, [1.0; 4]).with_text(text.as_str());
    match collection.upsert(&[record]).await {
        // A typed limit is as good as holding it.
        Err(error) if error.is_refusal() => return Ok(()),
        answer => answer?,
    }
    let whole = stored(&collection, "a").await?.text.as_deref() == Some(text.as_str());
    holds(whole, || "a long text is not whole".into())
}

async fn nul(context: Context) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    let record = Record::new(key("a")?, [1.0; 4]).with_text("a\0b");
    refused(collection.upsert(&[record]).await, "a text with U+0000")?;
    holds(Text::new("a\0b").is_err(), || {
        "an id with U+0000 can be made".into()
    })
}
