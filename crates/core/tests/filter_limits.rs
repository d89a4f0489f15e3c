//! How large a filter may be: exactly at each limit it passes, one over it is refused.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::*;
use shelfward_core::filter::{
    FilterBuilder, FilterLimits, FilterProblem, all_of, any_of, key, not,
};
use shelfward_core::{Filter, Metadata};

/// The same nesting in every form: `levels` nodes above the innermost one, which is one deep.
fn nested(levels: usize) -> Vec<String> {
    let around = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
    };
    let mut forms = Vec::new();
    for leaf in [
        "{}",
        r#"{"k":1}"#,
        r#"{"k":{"$in":[1,2]}}"#,
        r#"{"$or":[]}"#,
    ] {
        forms.push(around(r#"{"$and":["#, leaf, "]}"));
        forms.push(around(r#"{"$or":["#, leaf, "]}"));
        forms.push(around(r#"{"$not":"#, leaf, "}"));
    }
    for leaf in ["1", r#"{"$eq":1}"#, r#"{"$in":[1,2]}"#] {
        forms.push(format!(r#"{{"k":{}}}"#, around(r#"{"$not":"#, leaf, "}")));
    }
    forms
}

/// Nesting by objects of two members, which are an "and" without being written as one.
fn nested_implicitly(levels: usize, leaf: &str) -> String {
    let (open, close) = (r#"{"k":1,"$not":"#, "}");
    format!("{}{leaf}{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn a_depth_of_64_passes_in_every_form_and_65_is_refused() {
    for json in nested(63) {
        let filter = read(&json);
        assert_eq!(read(&filter.to_string()), filter);
        // Whatever walks a filter is safe at the deepest.
        filter.matches(&Metadata::new());
        assert_eq!(filter.clone(), filter);
    }
    for json in nested(64) {
        let error = refused(&json);
        assert_eq!(
            error.problem(),
            &FilterProblem::TooDeep { max: 64 },
            "{json}"
        );
        assert!(error.to_string().contains("64"), "{error}");
    }
    // Each level of these is an "and" and a "not".
    read(&nested_implicitly(31, r#"{"k":1,"l":2}"#));
    for json in [
        nested_implicitly(32, r#"{"k":1}"#),
        nested_implicitly(40, "{}"),
    ] {
        assert_eq!(
            refused(&json).problem(),
            &FilterProblem::TooDeep { max: 64 },
            "{json}"
        );
    }
}

#[test]
fn a_depth_of_64_passes_in_code_and_65_is_refused() {
    let wraps: [fn(FilterBuilder) -> FilterBuilder; 3] =
        [not, |inner| all_of([inner]), |inner| any_of([inner])];
    for wrap in wraps {
        let deep = |levels| (0..levels).fold(key("k").eq(1), |inner, _| wrap(inner));
        let filter = built(deep(63));
        assert_eq!(read(&filter.to_string()), filter);
        for levels in [64, 100_000] {
            let error = deep(levels).build().unwrap_err();
            assert_eq!(error.problem(), &FilterProblem::TooDeep { max: 64 });
        }
    }
}

#[test]
fn at_1024_nodes_a_filter_passes_and_one_more_is_refused() {
    let list = |item: &str, count: usize| vec![item; count].join(",");
    // The first number is how many items make 1,024 nodes in all.
    let forms: Vec<(usize, Box<dyn Fn(usize) -> String>)> = vec![
        (
            1023,
            Box::new(|n| format!(r#"{{"$or":[{}]}}"#, list(r#"{"k":1}"#, n))),
        ),
        (
            1023,
            Box::new(|n| format!(r#"{{"$and":[{}]}}"#, list("{}", n))),
        ),
        (
            1023,
            Box::new(|n| format!(r#"{{"$or":[{}]}}"#, list(r#"{"$or":[]}"#, n))),
        ),
        (
            1023,
            Box::new(|n| format!(r#"{{"$or":[{}]}}"#, list(r#"{"k":{"$exists":true}}"#, n))),
        ),
        // Two nodes for each item, and one of an odd count beside them.
        (
            511,
            Box::new(|n| format!(r#"{{"$or":[{{}},{}]}}"#, list(r#"{"$not":{"k":1}}"#, n))),
        ),
        (
            511,
            Box::new(|n| format!(r#"{{"$or":[{{}},{}]}}"#, list(r#"{"k":{"$not":1}}"#, n))),
        ),
        // Three nodes for each: an "and" that is not written as one, and its tests.
        (
            341,
            Box::new(|n| format!(r#"{{"$or":[{}]}}"#, list(r#"{"k":1,"l":1}"#, n))),
        ),
        (
            341,
            Box::new(|n| format!(r#"{{"$or":[{}]}}"#, list(r#"{"k":{"$gt":1,"$lt":1}}"#, n))),
        ),
        // Many keys of one object.
        (
            1023,
            Box::new(|n| {
                let members: Vec<_> = (0..n).map(|at| format!(r#""k{at}":1"#)).collect();
                format!("{{{}}}", members.join(","))
            }),
        ),
    ];
    for (most, form) in forms {
        let json = form(most);
        let filter = read(&json);
        assert_eq!(read(&filter.to_string()), filter);
        FilterLimits::default().check(&filter).unwrap();
        let error = refused(&form(most + 1));
        let FilterProblem::TooManyNodes { nodes, max: 1024 } = error.problem() else {
            panic!("{error}");
        };
        assert!(*nodes > 1024, "{error}");
        assert!(error.to_string().contains("1024"), "{error}");
    }
}

#[test]
fn at_10000_values_a_filter_passes_and_one_more_is_refused() {
    let list = |count: usize| vec!["1"; count].join(",");
    let forms: [&dyn Fn(usize) -> String; 6] = [
        &|n| format!(r#"{{"k":{{"$in":[{}]}}}}"#, list(n)),
        &|n| format!(r#"{{"k":{{"$nin":[{}]}}}}"#, list(n)),
        &|n| format!(r#"{{"k":{{"$all":[{}]}}}}"#, list(n)),
        &|n| format!(r#"{{"k":{{"$in":[{}],"$ne":1}},"l":1}}"#, list(n - 2)),
        &|n| {
            format!(
                r#"{{"$or":[{{"k":{{"$in":[{0}]}}}},{{"l":{{"$in":[{0}]}}}},{{"m":{{"$in":[{1}]}}}}]}}"#,
                list(4000),
                list(n - 8000)
            )
        },
        &|n| {
            format!(
                r#"{{"k":{{"$exists":true,"$not":{{"$gte":1,"$in":[{}]}}}}}}"#,
                list(n - 1)
            )
        },
    ];
    for form in forms {
        let filter = read(&form(10_000));
        assert_eq!(read(&filter.to_string()), filter);
        let error = refused(&form(10_001));
        let problem = FilterProblem::TooManyValues {
            values: 10_001,
            max: 10_000,
        };
        assert_eq!(error.problem(), &problem);
        assert!(error.to_string().contains("10001") && error.to_string().contains("10000"));
    }
}

#[test]
fn builders_keep_the_same_limits() {
    let tests = |count: i64| (0..count).map(|at| key("k").eq(at));
    built(any_of(tests(1023)));
    built(tests(1023).reduce(FilterBuilder::and).unwrap());
    for over in [
        any_of(tests(1024)),
        all_of(tests(1024)),
        tests(1024).reduce(FilterBuilder::or).unwrap(),
    ] {
        let problem = FilterProblem::TooManyNodes {
            nodes: 1025,
            max: 1024,
        };
        assert_eq!(over.build().unwrap_err().problem(), &problem);
    }
    built(key("k").is_in(0..10_000_i64));
    let problem = FilterProblem::TooManyValues {
        values: 10_001,
        max: 10_000,
    };
    assert_eq!(
        key("k").is_in(0..10_001_i64).build().unwrap_err().problem(),
        &problem
    );
    let halves = key("k").is_in(0..5000_i64).and(key("l").all(0..5000_i64));
    built(halves.clone());
    assert_eq!(
        halves.or(key("k").eq(1)).build().unwrap_err().problem(),
        &problem
    );
}

#[test]
fn limits_of_ones_own_are_kept() {
    let mut limits = FilterLimits::default();
    limits.max_nodes = 3;
    limits.max_values = 2;
    let within = |json| Filter::from_json_within(json, &limits);
    within(r#"{"k":1,"l":2}"#).unwrap();
    let error = within(r#"{"k":1,"l":1,"$or":[]}"#).unwrap_err();
    assert_eq!(
        error.problem(),
        &FilterProblem::TooManyNodes { nodes: 4, max: 3 }
    );
    let error = within(r#"{"k":{"$in":[1,2,3]}}"#).unwrap_err();
    assert_eq!(
        error.problem(),
        &FilterProblem::TooManyValues { values: 3, max: 2 }
    );
    assert_eq!(error.path(), "k.$in[2]");
    let error = limits.check(&read(r#"{"k":{"$in":[1,2,3]}}"#)).unwrap_err();
    assert_eq!(
        error.problem(),
        &FilterProblem::TooManyValues { values: 3, max: 2 }
    );
}

#[test]
fn higher_limits_of_ones_own_hold_for_builders_too() {
    let chain = (0..2000).map(|at| key("k").eq(at));
    let chain = chain.reduce(FilterBuilder::or).unwrap();
    chain.clone().build().unwrap_err();
    let filter = chain.build_within(&FilterLimits::new(2001, 2000)).unwrap();
    let limits = FilterLimits::new(2000, 2000);
    let problem = FilterProblem::TooManyNodes {
        nodes: 2001,
        max: 2000,
    };
    assert_eq!(limits.check(&filter).unwrap_err().problem(), &problem);
    let read = Filter::from_json_within(&filter.to_string(), &FilterLimits::new(2001, 2000));
    assert_eq!(read.unwrap(), filter);
}

#[test]
fn a_filter_is_refused_before_all_of_it_is_read() {
    // What follows the limit is not JSON; whoever reads on would say so.
    for (json, nodes) in [
        (format!(r#"{{"$or":[{}???"#, "{},".repeat(2000)), true),
        (
            format!(r#"{{"$or":[{}???"#, r#"{"k":1},"#.repeat(2000)),
            true,
        ),
        (
            format!(r#"{{"$or":[{}???"#, r#"{"$and":[]},"#.repeat(2000)),
            true,
        ),
        (
            format!(
                r#"{{"$or":[{}???"#,
                r#"{"k":{"$exists":true}},"#.repeat(2000)
            ),
            true,
        ),
        (
            format!(r#"{{"k":{{"$in":[{}???"#, "1,".repeat(20_000)),
            false,
        ),
    ] {
        match (refused(&json).problem(), nodes) {
            (FilterProblem::TooManyNodes { .. }, true) => {}
            (FilterProblem::TooManyValues { .. }, false) => {}
            (problem, _) => panic!("{problem}"),
        }
    }
}
