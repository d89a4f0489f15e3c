//! Three stores, one history, odd data: equal answers.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may end by a panic"
)]

use shelfward::filter::key as field;
use shelfward::*;
use std::sync::Arc;

struct Dice(u64);
impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.roll() % n as u64) as usize
    }
    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
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

fn spec(rule: WordRule, more: bool) -> CollectionSpec {
    let f = |name: &str, kind| Field::new(MetadataKey::new(name).unwrap(), kind);
    let mut fields = vec![
        f("tenant", FieldKind::Text).with_role(FieldRole::Partition),
        f("source", FieldKind::Text).with_role(FieldRole::Unit),
        f("groups", FieldKind::TextList),
        f("n", FieldKind::Integer),
        f("w", FieldKind::Float),
        f("b", FieldKind::Bool),
    ];
    if more {
        fields.push(f("late", FieldKind::Text));
        fields.push(f("lates", FieldKind::TextList));
    }
    CollectionSpec::new(
        CollectionName::new("c").unwrap(),
        3,
        Metric::Euclidean,
        "none",
    )
    .with_fields(fields)
    .with_word_rule(rule)
    .with_open_fields(true)
}

fn record(dice: &mut Dice, big: bool) -> Record {
    let tenant = dice.of(TENANTS);
    let source = dice.of(&["s", "S", "ß", "é", "e\u{301}"]);
    let id = format!("{source}{}{}", dice.of(IDS), dice.below(3));
    let groups: Vec<String> = (0..dice.below(4))
        .map(|_| dice.of(&["g", "g", "G", "h", "é", "e\u{301}"]).to_owned())
        .collect();
    let mut m = Metadata::new()
        .with("tenant", tenant)
        .and_then(|m| m.with("source", source))
        .unwrap();
    if dice.below(4) > 0 {
        m = m.with("groups", groups).unwrap();
    }
    if dice.below(3) > 0 {
        m = m
            .with(
                "n",
                [i64::MIN, i64::MAX, 0, 5, -5, 1 << 53, (1 << 53) + 1][dice.below(7)],
            )
            .unwrap();
    }
    if dice.below(3) > 0 {
        m = m
            .with(
                "w",
                [
                    0.0,
                    -0.0,
                    0.1,
                    5e-324,
                    1e300,
                    9.223_372_036_854_775_8e18,
                    -1.5,
                    5.0,
                ][dice.below(8)],
            )
            .unwrap();
    }
    if dice.below(3) > 0 {
        m = m.with("b", dice.below(2) == 0).unwrap();
    }
    if dice.below(3) > 0 {
        m = m.with("open", [0.5, 5.0, 1e18][dice.below(3)]).unwrap();
    }
    if dice.below(3) > 0 {
        m = m.with("open2", dice.of(&["x", "", "5", "é"])).unwrap();
    }
    if dice.below(3) > 0 {
        m = m.with("late", dice.of(&["x", "", "5", "é"])).unwrap();
    }
    if dice.below(3) > 0 {
        m = m
            .with("lates", [dice.of(&["x", "y"]), dice.of(&["x", "y"])])
            .unwrap();
    }
    let mut text: String = (0..dice.below(7))
        .map(|_| format!("{} ", dice.of(WORDS)))
        .collect();
    if big {
        match dice.below(3) {
            0 => text.push_str(&"w".repeat(600)),
            1 => text.push_str(&format!("{}é", "w".repeat(511))),
            _ => text.push_str(&"long ".repeat(3_000)),
        }
    }
    let v = || [0.0, -0.0, 1.0, 1e-30, 1e18, -3.0, 0.1];
    let vector: Vec<f32> = (0..3).map(|_| v()[dice.below(7)]).collect();
    let mut r = Record::new(
        Key::within(Text::new(tenant).unwrap(), Text::new(id).unwrap()),
        vector,
    )
    .with_metadata(m);
    if dice.below(6) > 0 {
        r = r.with_text(text);
    }
    r
}

fn filter(dice: &mut Dice, deep: usize) -> Filter {
    built(dice, deep).build().unwrap()
}

fn built(dice: &mut Dice, deep: usize) -> shelfward::filter::FilterBuilder {
    if deep > 0 && dice.below(3) > 0 {
        let a = built(dice, deep - 1);
        let b = built(dice, deep - 1);
        return match dice.below(3) {
            0 => a.and(b),
            1 => a.or(b),
            _ => shelfward::filter::not(a),
        };
    }
    match dice.below(16) {
        0 => field("tenant").eq(dice.of(TENANTS)),
        1 => field("source").is_in([dice.of(&["s", "é"]), dice.of(&["S", "e\u{301}"])]),
        2 => field("groups").is_in([dice.of(&["g", "h"]), dice.of(&["é", "G"])]),
        3 => field("groups").all([dice.of(&["g", "h"]), dice.of(&["g", "G"])]),
        4 => field("groups").exists(dice.below(2) == 0),
        5 => field("n").gt([0_i64, 5, (1 << 53), i64::MAX - 1][dice.below(4)]),
        6 => field("n").lte(
            [
                0.5_f64,
                9_007_199_254_740_992.0,
                9.223_372_036_854_775_8e18,
                -1e300,
            ][dice.below(4)],
        ),
        7 => field("w").gte([0.0_f64, 0.1, 5e-324][dice.below(3)]),
        8 => field("w").eq([0_i64, 5, i64::MAX][dice.below(3)]),
        9 => field("b").ne(true),
        10 => field("open").eq([5_i64, 1_000_000_000_000_000_000][dice.below(2)]),
        11 => field("open2").lt(dice.of(&["x", "5", "é", "z"])),
        12 => field("late").gte(dice.of(&["", "5", "é"])),
        13 => field("lates").all([dice.of(&["x", "y"]), dice.of(&["x", "y"])]),
        14 => field("groups").gt(dice.of(&["g", "h", "e"])),
        _ => field("source").lt(dice.of(&["s", "ß", "e"])),
    }
}

type Stores = Vec<(Store, Arc<dyn Collection>)>;

async fn same<T: PartialEq + std::fmt::Debug>(what: &str, seed: u64, all: Vec<T>) {
    for other in &all[1..] {
        assert!(
            &all[0] == other,
            "seed {seed} {what}:\n{:?}\n{other:?}",
            all[0]
        );
    }
}

fn err<T>(r: Result<T>) -> std::result::Result<T, String> {
    r.map_err(|e| e.to_string())
}

async fn round(seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut dice = Dice(seed);
    let rule = [
        WordRule::default(),
        spec(WordRule::default(), false).word_rule,
    ][dice.below(2)];
    let urls = [
        "memory:".to_owned(),
        format!("sqlite:{}", folder.path().join("x.db").display()),
        format!("hnsw:{}", folder.path().join("h").display()),
    ];
    let mut stores: Stores = Vec::new();
    for url in &urls {
        let store = connect(url).await.unwrap();
        let c = store.ensure(&spec(rule, false)).await.unwrap();
        stores.push((store, c));
    }
    for step in 0..60 {
        let what = dice.below(14);
        let at = dice.0;
        let mut answers = Vec::new();
        for (_, c) in &stores {
            let mut d = Dice(at);
            answers.push(match what {
                0..=4 => {
                    let big = d.below(4) == 0;
                    let rs: Vec<_> = (0..1 + d.below(6)).map(|_| record(&mut d, big)).collect();
                    format!("upsert {:?}", err(c.upsert(&rs).await))
                }
                5 => {
                    let r = record(&mut d, false);
                    format!("{:?}", err(c.delete(&[r.key]).await))
                }
                6 => {
                    let f = filter(&mut d, 1);
                    match f.narrow() {
                        Ok(s) => format!("{:?}", err(c.delete_matching(&s).await)),
                        Err(e) => format!("{e}"),
                    }
                }
                7 | 8 => {
                    let r = record(&mut d, false);
                    let (t, s) = (
                        r.metadata.text("tenant").unwrap(),
                        r.metadata.text("source").unwrap(),
                    );
                    let sel = field("tenant")
                        .eq(t)
                        .and(field("source").eq(s))
                        .build()
                        .unwrap()
                        .narrow()
                        .unwrap();
                    format!("{:?}", err(c.replace(&sel, std::slice::from_ref(&r)).await))
                }
                9 | 10 => {
                    let r = record(&mut d, false);
                    let mut p = MetadataPatch::new();
                    for (k, v) in r.metadata.iter() {
                        if k.as_str() != "tenant" && k.as_str() != "source" {
                            p = if d.below(3) == 0 {
                                p.remove(k.clone())
                            } else {
                                p.set(k.clone(), v.clone())
                            };
                        }
                    }
                    match filter(&mut d, 1).narrow() {
                        Ok(s) => format!("{:?}", err(c.update_metadata(&s, &p).await)),
                        Err(e) => format!("{e}"),
                    }
                }
                11 if d.below(6) == 0 => format!("{:?}", err(c.delete_all().await)),
                _ => String::new(),
            });
            dice.0 = d.0;
        }
        same(&format!("step {step} what {what}"), seed, answers).await;
        if step == 30 {
            for (store, c) in &mut stores {
                *c = store.ensure(&spec(rule, true)).await.unwrap();
            }
        }
        if step == 20 || step == 45 {
            for (at, url) in urls.iter().enumerate().skip(1) {
                let (store, _) = &stores[at];
                store.close().await.unwrap();
                let store = connect(url).await.unwrap();
                let c = store
                    .open(&CollectionName::new("c").unwrap())
                    .await
                    .unwrap();
                stores[at] = (store, c);
            }
        }
        if step % 4 != 3 {
            continue;
        }
        for _ in 0..6 {
            let b = built(&mut dice, 3);
            let f = b.clone().build().unwrap();
            let tenant = dice.of(TENANTS);
            let pinned = field("tenant").eq(tenant).and(b).build().unwrap();
            let q: Vec<f32> = (0..3)
                .map(|_| [0.0, 1.0, -1e18, 0.1][dice.below(4)])
                .collect();
            let text = format!(
                "{} {}",
                dice.of(WORDS),
                dice.of(&["", "rain", "www", "long", "wwwwwwwwwwwwwwwwwwwwwwww"])
            );
            let words = query_words(&text, rule, dice.below(2) == 0).unwrap();
            let how = [Match::Any, Match::All][dice.below(2)];
            let k = [1, 3, 10_000][dice.below(3)];
            let (mut scans, mut counts, mut legs, mut lex, mut both, mut fetched) =
                (vec![], vec![], vec![], vec![], vec![], vec![]);
            for (_, c) in &stores {
                let hits = |f: Found| {
                    f.hits
                        .iter()
                        .map(|h| {
                            format!(
                                "{:?} {:x} {:?} {:?}",
                                h.key,
                                h.score.to_bits(),
                                h.text,
                                h.metadata
                            )
                        })
                        .collect::<Vec<_>>()
                };
                let mut scanned = Vec::new();
                let mut after = None;
                loop {
                    match c.scan(&f, after.as_ref(), 7, Include::ALL).await {
                        Ok(page) => {
                            scanned.extend(page.records.iter().map(|r| {
                                format!(
                                    "{:?} {:?} {:?} {:?}",
                                    r.key,
                                    r.text,
                                    r.metadata,
                                    r.vector
                                        .as_ref()
                                        .map(|v| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
                                )
                            }));
                            after = page.next;
                            if after.is_none() {
                                break;
                            }
                        }
                        Err(e) => {
                            scanned.push(e.to_string());
                            break;
                        }
                    }
                }
                scans.push(scanned);
                counts.push(format!("{:?}", err(c.count(&f).await)));
                legs.push(err(c.search(&Leg::dense(q.clone(), f.clone(), k)).await).map(hits));
                if !words.is_empty() {
                    lex.push(
                        err(c
                            .search(&Leg::lexical(words.clone(), how, pinned.clone(), k))
                            .await)
                        .map(hits),
                    );
                    both.push(
                        err(c
                            .search_both(
                                &Leg::dense(q.clone(), pinned.clone(), k),
                                &Leg::lexical(words.clone(), how, pinned.clone(), k),
                            )
                            .await)
                        .map(|(a, b)| (hits(a), hits(b))),
                    );
                }
                let keys: Vec<Key> = {
                    let mut d = Dice(seed * 7 + step as u64);
                    (0..20).map(|_| record(&mut d, false).key).collect()
                };
                fetched.push(format!("{:?}", err(c.fetch(&keys, &f, Include::ALL).await)));
            }
            same(&format!("scan {f:?}"), seed, scans).await;
            same(&format!("count {f:?}"), seed, counts).await;
            same(&format!("dense {f:?} {q:?}"), seed, legs).await;
            if !lex.is_empty() {
                same(&format!("lexical {f:?} {text}"), seed, lex).await;
                same("both", seed, both).await;
            }
            same("fetch", seed, fetched).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn three_stores_answer_alike() {
    let secs: u64 = std::env::var("SECS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(15);
    let first: u64 = std::env::var("SEED")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(1);
    let begun = std::time::Instant::now();
    let mut seed = first;
    while begun.elapsed().as_secs() < secs {
        round(seed).await;
        seed += 1;
    }
    eprintln!("{} rounds", seed - first);
}
