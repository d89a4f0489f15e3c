//! Laws of rendering, for sinks that serve the whole algebra and for those that serve parts of it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../core/tests/common/mod.rs"]
mod common;

use common::{config, filters, metadata};
use proptest::prelude::*;
use shelfward_adapter::filter::{Comparison, FilterSink, Native, Served, filter_support, render};
use shelfward_core::filter::{FilterBuilder, FilterSupport, all_of, any_of, key, not};
use shelfward_core::{
    CollectionName, CollectionSpec, Filter, Kind, Metadata, MetadataKey, Metric, Scalar,
};

/// An engine whose language is the algebra itself, or a part of it.
struct Part(FilterSupport);

fn test(served: bool, filter: FilterBuilder) -> Served<FilterBuilder> {
    served.then_some(Native::Test(filter))
}

impl FilterSink for Part {
    type Out = FilterBuilder;

    fn and(&mut self, parts: Vec<FilterBuilder>) -> FilterBuilder {
        assert!(parts.len() > 1);
        all_of(parts)
    }

    fn or(&mut self, parts: Vec<FilterBuilder>) -> Option<FilterBuilder> {
        assert!(parts.len() > 1);
        self.0.or.then(|| any_of(parts))
    }

    fn not(&mut self, part: FilterBuilder) -> Option<FilterBuilder> {
        self.0.not.then(|| not(part))
    }

    fn any_of(&mut self, k: &MetadataKey, values: &[&Scalar]) -> Served<FilterBuilder> {
        assert!(!values.is_empty());
        test(true, key(k.as_str()).is_in(values.iter().copied().cloned()))
    }

    fn none_of(&mut self, k: &MetadataKey, values: &[&Scalar]) -> Served<FilterBuilder> {
        let served = if values.len() == 1 {
            self.0.ne && self.0.nin
        } else {
            self.0.nin
        };
        test(
            served,
            key(k.as_str()).not_in(values.iter().copied().cloned()),
        )
    }

    fn compare(
        &mut self,
        k: &MetadataKey,
        comparison: Comparison,
        x: &Scalar,
    ) -> Served<FilterBuilder> {
        let (field, operand) = (key(k.as_str()), x.clone());
        let served = match x.kind() {
            Kind::Text => self.0.text_ranges,
            Kind::Number | Kind::Bool => self.0.number_ranges,
        };
        test(
            served,
            match comparison {
                Comparison::Gt => field.gt(operand),
                Comparison::Gte => field.gte(operand),
                Comparison::Lt => field.lt(operand),
                Comparison::Lte => field.lte(operand),
            },
        )
    }

    fn exists(&mut self, k: &MetadataKey) -> Served<FilterBuilder> {
        test(self.0.exists, key(k.as_str()).exists(true))
    }

    fn is_missing(&mut self, k: &MetadataKey) -> Served<FilterBuilder> {
        test(self.0.exists, key(k.as_str()).exists(false))
    }
}

fn holds(native: &Native<FilterBuilder>, metadata: &Metadata) -> bool {
    match native {
        Native::Always => true,
        Native::Never => false,
        Native::Test(filter) => filter.clone().build().unwrap().matches(metadata),
    }
}

fn supports() -> BoxedStrategy<FilterSupport> {
    let flags = any::<(bool, bool, bool, bool, bool, bool)>();
    let made = flags.prop_map(|(negations, numbers, texts, exists, or, not)| {
        let mut support = FilterSupport::kernel();
        (support.ne, support.nin) = (negations, negations);
        (support.number_ranges, support.text_ranges) = (numbers, texts);
        (support.exists, support.or, support.not) = (exists, or, not);
        support
    });
    made.boxed()
}

fn open() -> CollectionSpec {
    let name = CollectionName::new("c").unwrap();
    CollectionSpec::new(name, 1, Metric::Dot, "none").with_open_fields(true)
}

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn native_and_residual_together_are_the_filter(
        support in supports(),
        filter in filters(),
        metadata in metadata(),
    ) {
        let rendered = render(&filter, &mut Part(support));
        let native = holds(&rendered.native, &metadata);
        let residual = rendered.residual.is_none_or(|left| left.matches(&metadata));
        prop_assert!(native || !filter.matches(&metadata), "narrower: {}", filter);
        prop_assert_eq!(native && residual, filter.matches(&metadata));
    }

    #[test]
    fn what_a_sink_serves_whole_leaves_nothing(filter in filters(), metadata in metadata()) {
        let rendered = render(&filter, &mut Part(FilterSupport::full()));
        prop_assert_eq!(rendered.residual, None);
        prop_assert_eq!(holds(&rendered.native, &metadata), filter.matches(&metadata));
    }

    #[test]
    fn what_the_capabilities_take_for_native_is_rendered_whole(
        support in supports(),
        filter in filters(),
    ) {
        let native = support.split(&filter).native;
        prop_assert_eq!(render(&native, &mut Part(support)).residual, None);
    }

    #[test]
    fn the_capabilities_are_what_the_sink_serves(support in supports()) {
        prop_assert_eq!(filter_support(&mut Part(support), &open()), support);
    }
}

#[test]
fn constants_need_no_engine() {
    let mut nothing = Part(FilterSupport::kernel());
    for (filter, native) in [
        ("{}", true),
        (r#"{"$or":[]}"#, false),
        (r#"{"$not":{}}"#, false),
        (r#"{"a":{"$in":[]}}"#, false),
        (r#"{"a":{"$nin":[]}}"#, true),
        (r#"{"$or":[{"a":{"$exists":true}},{}]}"#, true),
        (r#"{"a":{"$exists":true},"$or":[]}"#, false),
    ] {
        let rendered = render(&Filter::from_json(filter).unwrap(), &mut nothing);
        let is_constant = match rendered.native {
            Native::Always => native,
            Native::Never => !native,
            Native::Test(_) => false,
        };
        let exact = rendered.residual.is_none() || native;
        assert!(is_constant && exact, "{filter}");
    }
}
