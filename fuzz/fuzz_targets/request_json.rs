//! What a reader asks, as a program reads it from data: it prints as what reads back the same, and
//! nothing in it can say who asks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfward_core::library::SearchRequest;

fuzz_target!(|json: &str| {
    let Ok(request) = serde_json::from_str::<SearchRequest>(json) else {
        return;
    };
    let printed = serde_json::to_string(&request).expect("a request is JSON");
    let again: SearchRequest = serde_json::from_str(&printed).expect("what was printed");
    assert_eq!(again, request);
    assert_eq!(serde_json::to_string(&again).ok().as_ref(), Some(&printed));
    let members = printed.trim_end_matches('}');
    let widened = format!("{members},\"tenantId\":\"t\"}}");
    assert!(serde_json::from_str::<SearchRequest>(&widened).is_err());
});
