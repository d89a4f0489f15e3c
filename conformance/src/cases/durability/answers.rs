//! What a collection answers before its store was let go of and afterwards, to the bit.

use proptest::prelude::*;
use shelfward_core::{Collection, Filter, Key, Leg, Match, Metadata, Record, query_words};

use crate::cases::open_store::OpenStore;
use crate::cases::store_state::{Answer, answer};
use crate::check::{holds, same_ids};
use crate::context::{Context, key};
use crate::fixture;
use crate::oracle::{self, Random};
use crate::verdict::{Checked, Finding, Verdict};

const WORDS: [&str; 6] = ["berth", "crane", "ferry", "tide", "quay", "pilot"];

/// Two hundred records, some with equal vectors, written over and deleted in part.
async fn lively(collection: &Collection, random: &mut Random) -> Checked {
    let vectors = prop::array::uniform4(-4_i8..=4)
        .prop_filter("no direction", |v| v.iter().any(|x| *x != 0))
        .prop_map(|v| v.map(|x| f32::from(x) / 3.0));
    let texts = prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..9);
    for round in 0..3 {
        let mut records = Vec::new();
        for n in (0..200).skip(round * 37).step_by(round + 1) {
            let metadata = Metadata::from_json(&random.draw(&oracle::metadata())?.to_string())?;
            let record = Record::new(key(&format!("r{n:03}"))?, random.draw(&vectors)?);
            let text = random.draw(&texts)?.join(" ");
            records.push(record.with_text(text).with_metadata(metadata));
        }
        collection.upsert(&records).await?;
        let gone: Vec<Key> = (0..200)
            .skip(round)
            .step_by(17)
            .map(|n| key(&format!("r{n:03}")))
            .collect::<Checked<_>>()?;
        collection.delete(&gone).await?;
    }
    Ok(())
}

/// What the collection answers to many questions.
async fn asked(collection: &Collection, seed: u64) -> Checked<Vec<(String, Answer)>> {
    let mut random = Random::new(seed ^ 1);
    let mut answers = Vec::new();
    let everything = Filter::everything();
    for n in 0_u8..24 {
        let filter = if n % 3 == 0 {
            everything.clone()
        } else {
            Filter::from_json(&random.draw(&oracle::filters())?.to_string())?
        };
        let query = [1.0, f32::from(n) / 4.0 - 2.0, 0.25, -0.5];
        let leg = Leg::dense(query, filter.clone(), 25);
        let found = collection.search(&leg).await?;
        answers.push((format!("dense {n}"), answer(&found)));
        if let Some(lexical) = collection.capabilities().lexical {
            let query = random.draw(&prop::sample::subsequence(WORDS.to_vec(), 1..3))?;
            let prefix = lexical.prefix && n % 4 == 0;
            let words = query_words(&query.join(" "), collection.spec().word_rule, prefix)?;
            let found = collection
                .search(&Leg::lexical(words, Match::Any, filter, 25))
                .await?;
            answers.push((format!("lexical {n}"), answer(&found)));
        }
    }
    Ok(answers)
}

pub(super) async fn answers(context: Context) -> Checked {
    let spec = context.spec()?.with_fields(fixture::fields()?);
    let opened = OpenStore::new(&context, &spec).await?;
    lively(&opened.collection, &mut Random::new(context.seed())).await?;
    let before = asked(&opened.collection, context.seed()).await?;
    let opened = opened.again().await?;
    let after = asked(&opened.collection, context.seed()).await?;
    for ((what, before), (_, after)) in before.iter().zip(&after) {
        let named =
            |answer: &Answer| -> Vec<String> { answer.iter().map(|(id, _)| id.clone()).collect() };
        same_ids(what, &named(after), &named(before))?;
        if before != after {
            let message = format!("{what}: another order or other scores than before");
            return Err(Finding::new(Verdict::Misorders, message));
        }
    }
    let hits: usize = before.iter().map(|(_, answer)| answer.len()).sum();
    holds(hits > 100, || "the questions find too little".into())?;
    opened.end().await
}
