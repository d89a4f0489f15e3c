//! Ids and texts of every shape.

use shelfward_core::{Filter, Include, Leg, Record, Text};

use crate::case::Case;
use crate::check::{holds, ids, same_ids};
use crate::context::{Context, key, refused};
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("ids/as-given", as_given),
        Case::new("ids/composed-and-decomposed-apart", normal_forms),
        Case::new("ids/case-kept", case_kept),
        Case::new("ids/longest", longest),
        Case::new("ids/empty-and-too-long", refused_ids),
        Case::new("ids/text-of-a-mebibyte", long_text),
        Case::new("ids/text-with-nul", nul),
    ]
}

async fn kept(context: &Context, names: &[&str]) -> Checked {
    let records = names
        .iter()
        .map(|id| Ok(Record::new(key(id)?, [1.0; 4])))
        .collect::<Checked<Vec<_>>>()?;
    let collection = context.holding(&records).await?;
    let found = collection
        .search(&Leg::dense([1.0; 4], Filter::everything(), 100))
        .await?;
    same_ids("ids", &ids(&found), names)?;
    for id in names {
        let fetched = collection
            .fetch(&[key(id)?], &Filter::everything(), Include::METADATA)
            .await?;
        holds(
            fetched.iter().flatten().any(|r| r.key.id.as_str() == *id),
            || format!("{id:?} is not read by its id"),
        )?;
    }
    Ok(())
}

async fn as_given(context: Context) -> Checked {
    let names = [
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
    kept(&context, &names).await
}

async fn normal_forms(context: Context) -> Checked {
    kept(&context, &["\u{e9}", "e\u{301}"]).await
}

async fn case_kept(context: Context) -> Checked {
    kept(&context, &["id", "ID", "Id"]).await
}

async fn longest(context: Context) -> Checked {
    kept(&context, &["x".repeat(512).as_str()]).await
}

async fn refused_ids(context: Context) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    for id in ["", "x".repeat(513).as_str()] {
        refused(
            collection.upsert(&[Record::new(key(id)?, [1.0; 4])]).await,
            "an id that is empty or too long",
        )?;
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
    let fetched = collection
        .fetch(&[key("a")?], &Filter::everything(), Include::TEXT)
        .await?;
    holds(
        fetched
            .iter()
            .flatten()
            .any(|r| r.text.as_deref() == Some(text.as_str())),
        || "a long text is not whole".into(),
    )
}

async fn nul(context: Context) -> Checked {
    let collection = context.make(&context.spec()?).await?;
    let record = Record::new(key("a")?, [1.0; 4]).with_text("a\0b");
    refused(collection.upsert(&[record]).await, "a text with U+0000")?;
    holds(Text::new("a\0b").is_err(), || {
        "an id with U+0000 can be made".into()
    })
}
