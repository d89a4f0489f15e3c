//! What was written is there when a store is opened again, however it was let go of.

mod answers;
mod damaged;
mod killed;
mod reopened;

use shelfward_core::Filter;

use crate::case::Case;
use crate::check::{atomic, counted, left, number, updates};
use crate::context::{Context, key, record};
use crate::process::Stream;
use crate::verdict::Checked;

pub(super) fn cases() -> Vec<Case> {
    let killed = |id, stream| Case::new(id, move |context| killed::case(context, stream));
    let added = "durability/fields-are-added-where-nothing-is";
    vec![
        Case::new("durability/another-handle-sees-each-write", each_write),
        Case::new("durability/records-come-back-whole", reopened::whole).reopens(),
        Case::new("durability/spec-comes-back", reopened::spec).reopens(),
        Case::new(added, reopened::fields_where_nothing_is).reopens(),
        Case::new("durability/answers-are-the-same", answers::answers).reopens(),
        Case::new("durability/deletes-stay-done", reopened::deletes).reopens(),
        Case::new("durability/replaces-stay-done", reopened::replaces).reopens(),
        Case::new("durability/patches-stay-done", reopened::patches)
            .needs(updates)
            .reopens(),
        Case::new("durability/drops-stay-done", reopened::drops).reopens(),
        Case::new("durability/without-a-close", reopened::without_a_close).reopens(),
        Case::new("durability/close-lets-go", reopened::close_lets_go).reopens(),
        Case::new("durability/opened-many-times", reopened::many_times).reopens(),
        Case::new("durability/damage-is-called-so", damaged::case).damages(),
        killed("durability/killed-during-replace", Stream::Replaces)
            .only_where(atomic, NOT_ATOMIC)
            .second_process(),
        killed("durability/killed-during-patches", Stream::Patches)
            .needs(updates)
            .second_process(),
        killed("durability/killed-during-bulk-upsert", Stream::Bulk).second_process(),
        killed("durability/killed-during-deletes", Stream::Deletes)
            .needs(|can| can.scan || can.delete_matching.is_some())
            .second_process(),
    ]
}

const NOT_ATOMIC: &str = "its replace is not atomic, so a writer that dies may leave part of it";

/// A second handle, opened before anything is written, sees each write when it returned.
async fn each_write(context: Context) -> Checked {
    let collection = context.holding(&[record("a", 0, "{}")?]).await?;
    let other = context.again(&collection.spec().name).await?;
    let sees = async |what: &str, expected: &[&str]| {
        left(what, &other, expected).await?;
        counted(what, &other, &Filter::everything(), number(expected.len())).await
    };
    sees("what was there", &["a"]).await?;
    collection.upsert(&[record("b", 1, "{}")?]).await?;
    sees("an upsert", &["a", "b"]).await?;
    collection.delete(&[key("a")?]).await?;
    sees("a delete", &["b"]).await?;
    collection.upsert(&[record("c", 2, "{}")?]).await?;
    sees("another upsert", &["b", "c"]).await
}
