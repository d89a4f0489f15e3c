//! A filter that is read from any text prints as what reads back the same, keeps its limits, and is
//! refused where they are narrower exactly when it is over them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfward_core::filter::{FilterLimits, Matcher};
use shelfward_core::{Filter, Metadata};

fuzz_target!(|json: &str| {
    let limits = FilterLimits::new(6, 8);
    let within = Filter::from_json_within(json, &limits);
    let filter = match Filter::from_json(json) {
        Ok(filter) => filter,
        Err(refused) => {
            assert!(
                within.is_err(),
                "narrower limits take what wider ones refuse"
            );
            assert!(!refused.to_string().is_empty());
            return;
        }
    };
    FilterLimits::default()
        .check(&filter)
        .expect("it was read within them");
    assert_eq!(within.is_ok(), limits.check(&filter).is_ok());
    let printed = filter.to_string();
    let again = Filter::from_json(&printed).expect("what was printed");
    assert_eq!(again, filter);
    assert_eq!(again.to_string(), printed);
    // Inside a larger document, whose reader limits the nesting itself.
    if let Ok(part) = serde_json::from_str::<Filter>(&printed) {
        assert_eq!(part, filter);
    }
    let metadata = Metadata::from_json(r#"{"a":1,"b":"b","c":["b","c"],"d":true,"e":0.5}"#);
    let metadata = metadata.expect("plain metadata");
    assert_eq!(
        Matcher::new(&filter).matches(&metadata),
        filter.matches(&metadata)
    );
});
