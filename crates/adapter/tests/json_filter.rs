//! A sink for a store whose filters are JSON: `must`, `should` and `must_not` around conditions on one
//! field, with ranges of numbers alone. What it makes is evaluated as such a store would.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../core/tests/common/mod.rs"]
mod common;

use common::{config, filters, metadata};
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use shelfward_adapter::filter::{Comparison, FilterSink, Native, Served, filter_support, render};
use shelfward_core::{
    CollectionName, CollectionSpec, Filter, Metadata, MetadataKey, Metric, Scalar,
};

struct JsonFilter;

impl FilterSink for JsonFilter {
    type Out = Json;

    fn and(&mut self, parts: Vec<Json>) -> Json {
        json!({ "must": parts })
    }

    fn or(&mut self, parts: Vec<Json>) -> Option<Json> {
        Some(json!({ "should": parts }))
    }

    fn not(&mut self, part: Json) -> Option<Json> {
        Some(json!({ "must_not": [part] }))
    }

    fn any_of(&mut self, key: &MetadataKey, values: &[&Scalar]) -> Served<Json> {
        Some(Native::Test(
            json!({ "key": key, "match": { "any": values } }),
        ))
    }

    fn compare(&mut self, key: &MetadataKey, comparison: Comparison, x: &Scalar) -> Served<Json> {
        if !matches!(x, Scalar::Integer(_) | Scalar::Float(_)) {
            return None;
        }
        let bound = match comparison {
            Comparison::Gt => "gt",
            Comparison::Gte => "gte",
            Comparison::Lt => "lt",
            Comparison::Lte => "lte",
        };
        Some(Native::Test(json!({ "key": key, "range": { bound: x } })))
    }

    fn exists(&mut self, key: &MetadataKey) -> Served<Json> {
        let missing = self.is_missing(key)?;
        match missing {
            Native::Test(missing) => self.not(missing).map(Native::Test),
            constant => Some(constant),
        }
    }

    fn is_missing(&mut self, key: &MetadataKey) -> Served<Json> {
        Some(Native::Test(json!({ "is_empty": { "key": key } })))
    }
}

/// Whether a store that reads such filters would find a record.
fn finds(filter: &Json, metadata: &Metadata) -> bool {
    let parts = |name: &str| filter.get(name).and_then(Json::as_array);
    if let Some(parts) = parts("must") {
        return parts.iter().all(|part| finds(part, metadata));
    }
    if let Some(parts) = parts("should") {
        return parts.iter().any(|part| finds(part, metadata));
    }
    if let Some(parts) = parts("must_not") {
        return !parts.iter().any(|part| finds(part, metadata));
    }
    let elements = |key: &Json| {
        let value = metadata.get(key.as_str().unwrap());
        value.map_or(&[][..], |value| value.elements())
    };
    if let Some(missing) = filter.get("is_empty") {
        return elements(&missing["key"]).is_empty();
    }
    let elements = elements(&filter["key"]).iter();
    let scalar = |json: &Json| match json {
        Json::Bool(truth) => Scalar::from(*truth),
        Json::String(text) => Scalar::text(text.as_str()).unwrap(),
        number => match number.as_i64() {
            Some(integer) => Scalar::from(integer),
            None => Scalar::float(number.as_f64().unwrap()).unwrap(),
        },
    };
    if let Some(values) = filter.pointer("/match/any").and_then(Json::as_array) {
        let values: Vec<Scalar> = values.iter().map(scalar).collect();
        return elements.into_iter().any(|element| values.contains(element));
    }
    let (bound, x) = filter["range"].as_object().unwrap().iter().next().unwrap();
    let x = scalar(x);
    elements
        .into_iter()
        .any(|element| match (element.compare(&x), bound.as_str()) {
            (Some(order), "gt") => order.is_gt(),
            (Some(order), "gte") => order.is_ge(),
            (Some(order), "lt") => order.is_lt(),
            (Some(order), _) => order.is_le(),
            (None, _) => false,
        })
}

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn what_is_found_and_what_is_left_are_the_filter(filter in filters(), metadata in metadata()) {
        let rendered = render(&filter, &mut JsonFilter);
        let found = match &rendered.native {
            Native::Always => true,
            Native::Never => false,
            Native::Test(json) => finds(json, &metadata),
        };
        let residual = rendered.residual.is_none_or(|left| left.matches(&metadata));
        prop_assert!(found || !filter.matches(&metadata), "narrower: {}", filter);
        prop_assert_eq!(found && residual, filter.matches(&metadata));
    }
}

#[test]
fn it_claims_what_it_serves() {
    let name = CollectionName::new("c").unwrap();
    let spec = CollectionSpec::new(name, 1, Metric::Dot, "none").with_open_fields(true);
    let support = filter_support(&mut JsonFilter, &spec);
    assert!(!support.text_ranges && support.number_ranges && support.not && support.exists);
}

#[test]
fn a_scope_reads_as_the_store_writes_it() {
    let filter = r#"{"tenantId":"a","aclGroups":{"$in":["g","h"]},"title":{"$gt":"x"}}"#;
    let rendered = render(&Filter::from_json(filter).unwrap(), &mut JsonFilter);
    let Native::Test(native) = rendered.native else {
        unreachable!("a test is native")
    };
    assert_eq!(
        native,
        json!({ "must": [
            { "key": "tenantId", "match": { "any": ["a"] } },
            { "key": "aclGroups", "match": { "any": ["g", "h"] } },
        ] })
    );
    let residual = rendered.residual.unwrap();
    assert_eq!(residual.to_string(), r#"{"title":{"$gt":"x"}}"#);
}
