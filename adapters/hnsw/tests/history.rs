//! Random histories of writes, with the store opened anew in between, beside a store in memory.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

use common::*;
use shelfward_core::filter::key as field;
use shelfward_core::{
    Collection, CollectionSpec, Field, FieldKind, Filter, Leg, Match, MetadataKey, MetadataPatch,
    Metric, Store, query_words,
};
use shelfward_hnsw::{HnswOptions, HnswStore};
use shelfward_memory::MemoryStore;

const WIDTH: usize = 4;
const SPEC_WIDTH: u32 = 4;
const WORDS: [&str; 6] = ["rain", "snow", "sun", "wind", "rainbow", "fog"];

struct History {
    dice: Dice,
    spec: CollectionSpec,
    tested: Collection,
    model: Collection,
}

impl History {
    fn id(&mut self) -> String {
        format!("{:03}", self.dice.below(160))
    }

    fn unit(&mut self) -> String {
        format!("u{}", self.dice.below(12))
    }

    fn records(&mut self, unit: Option<&str>, most: usize) -> Vec<shelfward_core::Record> {
        (0..=self.dice.below(most))
            .map(|_| {
                let (id, own) = (self.id(), self.unit());
                let share = i64::try_from(self.dice.below(10)).unwrap();
                let vector = match self.dice.below(6) {
                    0 => vec![0.5; WIDTH],
                    _ => self.dice.vector(WIDTH),
                };
                let mut record = record(&id, &vector, unit.unwrap_or(&own), share);
                record.text = match self.dice.below(4) {
                    0 => None,
                    1 => Some("".into()),
                    _ => {
                        let words: Vec<&str> = (0..self.dice.below(8))
                            .map(|_| WORDS[self.dice.below(6)])
                            .collect();
                        Some(words.join(" ").into())
                    }
                };
                record
            })
            .collect()
    }

    async fn step(&mut self) {
        let unit = self.unit();
        let of_unit = field("unit").eq(unit.as_str()).build().unwrap();
        match self.dice.below(12) {
            0..=4 => {
                let records = self.records(None, 40);
                self.tested.upsert(&records).await.unwrap();
                self.model.upsert(&records).await.unwrap();
            }
            5..=7 => {
                let records = self.records(Some(&unit), 10);
                let selector = of_unit.narrow().unwrap();
                // A batch that names a key twice is cut by nobody on this way.
                let mut seen = std::collections::HashSet::new();
                let records: Vec<_> = records
                    .into_iter()
                    .filter(|r| seen.insert(r.key.clone()))
                    .collect();
                let tested = self.tested.replace(&selector, &records).await.unwrap();
                assert_eq!(
                    tested,
                    self.model.replace(&selector, &records).await.unwrap()
                );
            }
            8 => {
                let keys: Vec<_> = (0..20).map(|_| key(&self.id())).collect();
                let tested = self.tested.delete(&keys).await.unwrap();
                assert_eq!(tested, self.model.delete(&keys).await.unwrap());
            }
            9 => {
                let selector = of_unit.narrow().unwrap();
                let tested = self.tested.delete_matching(&selector).await.unwrap();
                assert_eq!(tested, self.model.delete_matching(&selector).await.unwrap());
            }
            10 => {
                let selector = of_unit.narrow().unwrap();
                let share = MetadataKey::new("share").unwrap();
                let patch = match self.dice.below(2) {
                    0 => MetadataPatch::new().remove(share),
                    _ => MetadataPatch::new().set(share, 99_i64),
                };
                let tested = self
                    .tested
                    .update_metadata(&selector, &patch)
                    .await
                    .unwrap();
                assert_eq!(
                    tested,
                    self.model.update_metadata(&selector, &patch).await.unwrap()
                );
            }
            _ if self.dice.below(8) == 0 => {
                let tested = self.tested.delete_all().await.unwrap();
                assert_eq!(tested, self.model.delete_all().await.unwrap());
            }
            _ => {}
        }
    }

    async fn compare(&mut self, exact: bool) {
        assert_eq!(self.tested.spec(), self.model.spec());
        assert_eq!(all(&self.tested).await, all(&self.model).await);
        let filters = [
            Filter::everything(),
            field("unit").eq(self.unit().as_str()).build().unwrap(),
            field("share").lt(5).build().unwrap(),
            field("share").exists(false).build().unwrap(),
        ];
        for filter in filters {
            let count = self.tested.count(&filter).await.unwrap();
            assert_eq!(count, self.model.count(&filter).await.unwrap());
            let prefix = self.dice.below(2) == 0;
            let words = query_words("rain fog", self.spec.word_rule, prefix).unwrap();
            let lexical = Leg::lexical(words, Match::Any, filter.clone(), 7);
            let query = self.dice.vector(WIDTH);
            let dense = Leg::dense(query, filter, 1 + self.dice.below(20));
            let tested = self.tested.search_both(&dense, &lexical).await.unwrap();
            let model = self.model.search_both(&dense, &lexical).await.unwrap();
            assert_eq!(tested.1, model.1);
            if exact {
                assert_eq!(tested.0, model.0);
            } else {
                assert_eq!(tested.0.hits.len(), model.0.hits.len());
                let every = self.model.search(&dense.with_top_k(1_000)).await.unwrap();
                for hit in &tested.0.hits {
                    assert!(every.hits.contains(hit), "{hit:?} is not as it should be");
                }
            }
        }
    }
}

async fn open(
    folder: &Path,
    options: HnswOptions,
    spec: &CollectionSpec,
) -> (HnswStore, Collection) {
    let store = HnswStore::open(folder, options).unwrap();
    let collection = Store::new(store.clone()).ensure(spec).await.unwrap();
    (store, collection)
}

async fn run(seed: u64) {
    let mut dice = Dice(seed);
    let metric = [Metric::Cosine, Metric::Dot, Metric::Euclidean][dice.below(3)];
    let exact = dice.below(3) == 0;
    let mut options = graph_always()
        .with_lexical(true)
        .with_quantized(dice.below(2) == 0);
    if exact {
        options = options.with_costs(shelfward_hnsw::PlannerCosts::default().with_scan(0.0));
    }
    if dice.below(2) == 0 {
        options = options.with_save_from(2_000);
    }
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(SPEC_WIDTH, metric);
    let (mut store, tested) = open(folder.path(), options, &spec).await;
    let model = Store::new(MemoryStore::new());
    let mut history = History {
        dice,
        model: model.ensure(&spec).await.unwrap(),
        spec,
        tested,
    };
    for n in 0..40 {
        history.step().await;
        if n == 20 {
            let more = Field::new(MetadataKey::new("more").unwrap(), FieldKind::Bool);
            history.spec = history.spec.clone().with_fields([more]);
            history.tested = Store::new(store.clone())
                .ensure(&history.spec)
                .await
                .unwrap();
            history.model = model.ensure(&history.spec).await.unwrap();
        }
        match history.dice.below(8) {
            0 => {
                // Closed, or let go of.
                if history.dice.below(2) == 0 {
                    close(&store).await;
                }
                let nothing = Store::new(MemoryStore::new())
                    .ensure(&history.spec)
                    .await
                    .unwrap();
                history.tested = nothing;
                drop(store);
                (store, history.tested) = open(folder.path(), options, &history.spec).await;
            }
            1 => store.settle().await.unwrap(),
            _ => {}
        }
        history.compare(exact).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn histories_end_as_they_do_in_memory() {
    for seed in 0..24 {
        let ran = tokio::spawn(run(seed)).await;
        assert!(ran.is_ok(), "the history of seed {seed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_answers_alike_before_and_after_a_clean_close() {
    for metric in [Metric::Cosine, Metric::Dot, Metric::Euclidean] {
        let folder = tempfile::tempdir().unwrap();
        let spec = spec(8, metric);
        let mut dice = Dice(5);
        let (store, collection) = open(folder.path(), graph_always(), &spec).await;
        let records: Vec<_> = (0..1_500)
            .map(|n| record(&format!("{n:04}"), &dice.vector(8), "u", n % 10))
            .collect();
        collection.upsert(&records).await.unwrap();
        store.settle().await.unwrap();
        // Some dead nodes, and some records outside the graph.
        let again: Vec<_> = (0..200)
            .map(|n| record(&format!("{:04}", n * 3), &dice.vector(8), "v", n % 10))
            .collect();
        collection.upsert(&again).await.unwrap();
        let queries: Vec<Vec<f32>> = (0..50).map(|_| dice.vector(8)).collect();
        let answers = async |collection: &Collection| {
            let mut answers = Vec::new();
            for query in &queries {
                for filter in [Filter::everything(), field("share").lt(5).build().unwrap()] {
                    let leg = Leg::dense(query.as_slice(), filter, 10);
                    answers.push(collection.search(&leg).await.unwrap());
                }
            }
            answers
        };
        store.settle().await.unwrap();
        let before = answers(&collection).await;
        let report = store.graph(&name()).await.unwrap().unwrap();
        assert!(report.dead > 100 && report.searches == 100, "{report:?}");
        close(&store).await;
        drop((store, collection));
        let (store, collection) = open(folder.path(), graph_always(), &spec).await;
        let loaded = store.graph(&name()).await.unwrap().unwrap();
        assert_eq!((loaded.nodes, loaded.dead), (report.nodes, report.dead));
        assert_eq!(answers(&collection).await, before, "{metric}");
        // Another shape: the saved graph does not fit, and one is built.
        close(&store).await;
        drop((store, collection));
        let (store, _collection) = open(folder.path(), graph_always().with_m(12), &spec).await;
        store.settle().await.unwrap();
        let built = store.graph(&name()).await.unwrap().unwrap();
        assert_eq!((built.dead, built.nodes), (0, 1_500));
    }
}
