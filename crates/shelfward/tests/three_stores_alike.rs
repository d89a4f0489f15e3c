//! One history on every embedded store, with odd data: equal answers after each step.

#![cfg(all(feature = "memory", feature = "sqlite", feature = "hnsw"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Debug;

use shelfward::filter::{FilterBuilder, key as field, not};
use shelfward::{
    Collection, CollectionName, CollectionSpec, Field, FieldKind, FieldRole, Filter, Include, Key,
    Leg, LegResult, Match, Metadata, MetadataKey, MetadataPatch, Metric, Record, Result, Store,
    Text, WordRule, connect, query_words,
};

#[derive(Clone)]
struct Random(fastrand::Rng);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound)
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

const WORDS: &[&str] = &[
    "rain",
    "Rain",
    "ra",
    "é",
    "e\u{301}",
    "ﬁ",
    "fi",
    "straße",
    "STRASSE",
    "図書館",
    "昨日図書館で本を借りた",
    "don't",
    "GB/s",
    "POL-358",
    "😀",
    "v2",
    "更新v2手順",
    "İ",
    "ı",
    "ǆ",
    "ΑΣ",
    "ας",
    "\u{200b}",
    "x_y",
    "1,000",
    "3.14",
    "NEAR(",
    "*",
    "\"",
    "क्षि",
    "a\u{300}\u{301}",
];
const TENANTS: &[&str] = &["t", "T", "t1", "é", "e\u{301}", "a:b", "-", "1:"];
const SOURCES: &[&str] = &["s", "S", "ß", "é", "e\u{301}"];
const IDS: &[&str] = &[
    "s",
    "s#1",
    "é",
    "e\u{301}",
    "0",
    "😀",
    "\u{fffd}",
    "\u{10ffff}",
    "a/b",
    " ",
    "A",
];
const GROUPS: &[&str] = &["g", "g", "G", "h", "é", "e\u{301}"];

fn name() -> CollectionName {
    CollectionName::new("c").unwrap()
}

fn spec(with_late_fields: bool) -> CollectionSpec {
    let field = |name: &str, kind| Field::new(MetadataKey::new(name).unwrap(), kind);
    let mut fields = vec![
        field("tenant", FieldKind::Text).with_role(FieldRole::Partition),
        field("source", FieldKind::Text).with_role(FieldRole::Unit),
        field("groups", FieldKind::TextList),
        field("n", FieldKind::Integer),
        field("w", FieldKind::Float),
        field("b", FieldKind::Bool),
    ];
    if with_late_fields {
        fields.push(field("late", FieldKind::Text));
        fields.push(field("lates", FieldKind::TextList));
    }
    CollectionSpec::new(name(), 3, Metric::Euclidean, "none")
        .with_fields(fields)
        .with_word_rule(WordRule::default())
        .with_open_fields(true)
}

fn metadata(random: &mut Random, tenant: &str, source: &str) -> Metadata {
    const INTEGERS: [i64; 7] = [i64::MIN, i64::MAX, 0, 5, -5, 1 << 53, (1 << 53) + 1];
    const FLOATS: [f64; 8] = [
        0.0,
        -0.0,
        0.1,
        5e-324,
        1e300,
        9_223_372_036_854_775_808.0,
        -1.5,
        5.0,
    ];
    let mut held = Metadata::new().with("tenant", tenant).unwrap();
    held = held.with("source", source).unwrap();
    if !random.once_in(4) {
        let groups: Vec<String> = (0..random.below(4))
            .map(|_| random.of(GROUPS).to_owned())
            .collect();
        held = held.with("groups", groups).unwrap();
    }
    for key in ["n", "w", "b", "open", "text", "late", "lates"] {
        if random.once_in(3) {
            continue;
        }
        held = match key {
            "n" => held.with(key, random.of(&INTEGERS)),
            "w" => held.with(key, random.of(&FLOATS)),
            "b" => held.with(key, random.once_in(2)),
            "open" => held.with(key, random.of(&[0.5, 5.0, 1e18])),
            "lates" => held.with(key, [random.of(&["x", "y"]), random.of(&["x", "y"])]),
            _ => held.with(key, random.of(&["x", "", "5", "é"])),
        }
        .unwrap();
    }
    held
}

fn record(random: &mut Random, may_be_long: bool) -> Record {
    let (tenant, source) = (random.of(TENANTS), random.of(SOURCES));
    let id = format!("{source}{}{}", random.of(IDS), random.below(3));
    let metadata = metadata(random, tenant, source);
    let words: Vec<&str> = (0..random.below(7)).map(|_| random.of(WORDS)).collect();
    let mut text = words.join(" ");
    if may_be_long && random.once_in(4) {
        // At the bounds of what a word may be.
        text.push_str(&match random.below(3) {
            0 => "w".repeat(600),
            1 => format!("{}é", "w".repeat(511)),
            _ => " long".repeat(3_000),
        });
    }
    let vector: Vec<f32> = (0..3)
        .map(|_| random.of(&[0.0, -0.0, 1.0, 1e-30, 1e18, -3.0, 0.1]))
        .collect();
    let key = Key::within(Text::new(tenant).unwrap(), Text::new(id).unwrap());
    let record = Record::new(key, vector).with_metadata(metadata);
    if random.once_in(6) {
        record
    } else {
        record.with_text(text)
    }
}

fn filter(random: &mut Random, depth: usize) -> FilterBuilder {
    if depth > 0 && !random.once_in(3) {
        let (a, b) = (filter(random, depth - 1), filter(random, depth - 1));
        return match random.below(3) {
            0 => a.and(b),
            1 => a.or(b),
            _ => not(a),
        };
    }
    match random.below(16) {
        0 => field("tenant").eq(random.of(TENANTS)),
        1 => field("source").is_in([random.of(SOURCES), random.of(SOURCES)]),
        2 => field("groups").is_in([random.of(GROUPS), random.of(GROUPS)]),
        3 => field("groups").all([random.of(GROUPS), random.of(GROUPS)]),
        4 => field("groups").exists(random.once_in(2)),
        5 => field("n").gt(random.of(&[0_i64, 5, 1 << 53, i64::MAX - 1])),
        6 => field("n").lte(random.of(&[
            0.5,
            9_007_199_254_740_992.0,
            9_223_372_036_854_775_808.0,
            -1e300,
        ])),
        7 => field("w").gte(random.of(&[0.0, 0.1, 5e-324])),
        8 => field("w").eq(random.of(&[0, 5, i64::MAX])),
        9 => field("b").ne(true),
        10 => field("open").eq(random.of(&[5_i64, 1_000_000_000_000_000_000])),
        11 => field("text").lt(random.of(&["x", "5", "é", "z"])),
        12 => field("late").gte(random.of(&["", "5", "é"])),
        13 => field("lates").all([random.of(&["x", "y"]), random.of(&["x", "y"])]),
        14 => field("groups").gt(random.of(&["g", "h", "e"])),
        _ => field("source").lt(random.of(&["s", "ß", "e"])),
    }
}

/// What an answer or a refusal says. Values are compared as they are shown, for 5 equals 5.0.
fn said<T: Debug>(answer: Result<T>) -> String {
    match answer {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => error.to_string(),
    }
}

/// One write of a kind; all that it needs is drawn by random.
async fn write(c: &Collection, kind: usize, random: &mut Random) -> String {
    match kind {
        0..=4 => {
            let count = 1 + random.below(6);
            let records: Vec<_> = (0..count).map(|_| record(random, true)).collect();
            said(c.upsert(&records).await)
        }
        5 => said(c.delete(&[record(random, false).key]).await),
        6 => match filter(random, 1).build().unwrap().narrow() {
            Ok(selector) => said(c.delete_matching(&selector).await),
            Err(error) => error.to_string(),
        },
        7 | 8 => {
            let new = record(random, false);
            let held = |key| new.metadata.text(key).unwrap();
            let of_source = field("source").eq(held("source"));
            let selector = field("tenant").eq(held("tenant")).and(of_source);
            let selector = selector.build().unwrap().narrow().unwrap();
            said(c.replace(&selector, std::slice::from_ref(&new)).await)
        }
        9 | 10 => {
            let mut patch = MetadataPatch::new();
            for (key, value) in record(random, false).metadata.iter() {
                if !["tenant", "source"].contains(&key.as_str()) {
                    patch = if random.once_in(3) {
                        patch.remove(key.clone())
                    } else {
                        patch.set(key.clone(), value.clone())
                    };
                }
            }
            match filter(random, 1).build().unwrap().narrow() {
                Ok(selector) => said(c.update_metadata(&selector, &patch).await),
                Err(error) => error.to_string(),
            }
        }
        11 if random.once_in(6) => said(c.delete_all().await),
        _ => String::new(),
    }
}

async fn scanned(c: &Collection, filter: &Filter) -> Vec<String> {
    let mut all = Vec::new();
    let mut after = None;
    loop {
        match c.scan(filter, after.as_ref(), 7, Include::ALL).await {
            Ok(page) => {
                all.extend(page.records.iter().map(|record| format!("{record:?}")));
                after = page.next;
                if after.is_none() {
                    return all;
                }
            }
            Err(error) => return vec![error.to_string()],
        }
    }
}

fn hits(found: &LegResult) -> Vec<String> {
    let hits = found.hits.iter();
    hits.map(|hit| format!("{:x} {hit:?}", hit.score.to_bits()))
        .collect()
}

/// All reads of one draw.
async fn read(c: &Collection, random: &mut Random) -> Vec<(&'static str, Vec<String>)> {
    let such = filter(random, 3);
    let pinned = field("tenant").eq(random.of(TENANTS)).and(such.clone());
    let (such, pinned) = (such.build().unwrap(), pinned.build().unwrap());
    let query: Vec<f32> = (0..3).map(|_| random.of(&[0.0, 1.0, -1e18, 0.1])).collect();
    let more = random.of(&["", "rain", "www", "long", "wwwwwwwwwwwwwwwwwwwwwwww"]);
    let text = format!("{} {more}", random.of(WORDS));
    let words = query_words(&text, WordRule::default(), random.once_in(2)).unwrap();
    let how = random.of(&[Match::Any, Match::All]);
    let top_k = random.of(&[1, 3, 10_000]);
    let keys: Vec<Key> = (0..20).map(|_| record(random, false).key).collect();

    let near = Leg::dense(query.clone(), such.clone(), top_k);
    let mut answers = vec![
        ("scan", scanned(c, &such).await),
        ("count", vec![said(c.count(&such).await)]),
        (
            "near",
            vec![said(c.search(&near).await.map(|found| hits(&found)))],
        ),
        (
            "fetch",
            vec![said(c.fetch(&keys, &such, Include::ALL).await)],
        ),
    ];
    if !words.is_empty() {
        let near = Leg::dense(query, pinned.clone(), top_k);
        let worded = Leg::lexical(words, how, pinned, top_k);
        let found = c.search(&worded).await.map(|found| hits(&found));
        answers.push(("worded", vec![said(found)]));
        let both = c.search_both(&near, &worded).await;
        let both = both.map(|(near, worded)| (hits(&near), hits(&worded)));
        answers.push(("both", vec![said(both)]));
    }
    answers
}

fn same<T: PartialEq + Debug>(what: &str, answers: &[T]) {
    for other in &answers[1..] {
        assert!(&answers[0] == other, "{what}:\n{:?}\n{other:?}", answers[0]);
    }
}

/// A history that is drawn by random, on all stores.
async fn history(seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let urls = [
        "memory:".to_owned(),
        format!("sqlite:{}", folder.path().join("x.db").display()),
        format!("hnsw:{}", folder.path().join("h").display()),
    ];
    let mut stores: Vec<(Store, Collection)> = Vec::new();
    for url in &urls {
        let store = connect(url).await.unwrap();
        let collection = store.ensure(&spec(false)).await.unwrap();
        stores.push((store, collection));
    }
    let mut random = Random(fastrand::Rng::with_seed(seed));
    for step in 0..60 {
        let kind = random.below(14);
        // Each store is given the same draws.
        let before = random.clone();
        let mut answers = Vec::new();
        for (_, collection) in &stores {
            random = before.clone();
            answers.push(write(collection, kind, &mut random).await);
        }
        same(
            &format!("seed {seed}, step {step}, a write of kind {kind}"),
            &answers,
        );
        if step == 30 {
            for (store, collection) in &mut stores {
                *collection = store.ensure(&spec(true)).await.unwrap();
            }
        }
        if step == 20 || step == 45 {
            for (url, opened) in urls.iter().zip(&mut stores).skip(1) {
                opened.0.close().await.unwrap();
                let store = connect(url).await.unwrap();
                let collection = store.open(&name()).await.unwrap();
                *opened = (store, collection);
            }
        }
        if step % 4 != 3 {
            continue;
        }
        for _ in 0..6 {
            let before = random.clone();
            let mut answers = Vec::new();
            for (_, collection) in &stores {
                random = before.clone();
                answers.push(read(collection, &mut random).await);
            }
            same(&format!("seed {seed}, step {step}, reads"), &answers);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn three_stores_answer_alike() {
    for seed in 1..=HISTORIES {
        history(seed).await;
    }
}

const HISTORIES: u64 = 3;
