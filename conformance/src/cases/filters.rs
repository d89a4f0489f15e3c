//! What each operator finds, by literal ids: the evaluator that filters in core must not be the only
//! judge of itself.

use shelfward_core::Filter;
use shelfward_core::filter::key as field;

use crate::case::Case;
use crate::check::finds;
use crate::context::Context;
use crate::fixture::{self, DECLARED, UNDECLARED, keys, records};
use crate::oracle;
use crate::verdict::Checked;

/// A row: the case, the filter, and the ids that it finds.
type Row = (&'static str, &'static str, &'static str);

pub(super) fn cases() -> Vec<Case> {
    let declared = EQ.iter().chain(&IN).chain(&ALL).chain(&OPERATORS).copied();
    let mut cases: Vec<Case> = declared.map(|row| case(row, false)).collect();
    cases.extend(OPEN.map(|row| case(row, true).needs(|can| can.open_fields)));
    let random = oracle::agrees_with_the_reference;
    cases.extend([
        Case::new("in/thousand-values", thousand),
        Case::new("eq/integer-under-a-float-field", numbers),
        Case::new("operators/random", random),
    ]);
    cases
}

async fn thousand(context: Context) -> Checked {
    let many = (0..1_000).map(|n| format!("value {n}"));
    let filter = field("t")
        .is_in(many.chain(["red hot".to_owned()]))
        .build()?;
    let collection = fixture::declared(&context).await?;
    finds(&collection, &keys(&DECLARED)?, filter, &["c"]).await
}

/// A float field takes an integer where it is exact, and both are one number.
async fn numbers(context: Context) -> Checked {
    let documents = [
        ("integer", r#"{"x":5}"#),
        ("float", r#"{"x":5.0}"#),
        ("other", r#"{"x":5.5}"#),
    ];
    let collection = fixture::holding(&context, &records(&documents)?).await?;
    let keys = keys(&documents)?;
    for filter in [r#"{"x":5}"#, r#"{"x":5.0}"#, r#"{"x":{"$in":[5]}}"#] {
        let filter = Filter::from_json(filter)?;
        finds(&collection, &keys, filter, &["integer", "float"]).await?;
    }
    let others = Filter::from_json(r#"{"x":{"$ne":5}}"#)?;
    finds(&collection, &keys, others, &["other"]).await
}

fn case((id, filter, expected): Row, open: bool) -> Case {
    Case::new(id, move |context| async move {
        let expected: Vec<&str> = expected.split_whitespace().collect();
        let (collection, keys) = if open {
            (fixture::undeclared(&context).await?, keys(&UNDECLARED)?)
        } else {
            (fixture::declared(&context).await?, keys(&DECLARED)?)
        };
        finds(&collection, &keys, Filter::from_json(filter)?, &expected).await
    })
}

#[rustfmt::skip] // a row a line reads as the table that it is
const EQ: [Row; 24] = [
    ("eq/text", r#"{"t":"red"}"#, "a"),
    ("eq/operator-is-plain-value", r#"{"t":{"$eq":"red"}}"#, "a"),
    ("eq/case", r#"{"t":"Red"}"#, "b"),
    ("eq/case-none", r#"{"t":"RED"}"#, ""),
    ("eq/whole", r#"{"t":"red hot"}"#, "c"),
    ("eq/not-contained", r#"{"t":"hot"}"#, ""),
    ("eq/empty-text", r#"{"t":""}"#, "d"),
    ("eq/composed", r#"{"t":"été"}"#, "h"),
    ("eq/decomposed-is-another", "{\"t\":\"e\u{301}te\u{301}\"}", ""),
    ("eq/special-characters", r#"{"t":"O'Hara \"x\" \\ 100%_"}"#, "i"),
    ("eq/integer", r#"{"n":5}"#, "a h"),
    ("eq/integer-as-float", r#"{"n":5.0}"#, "a h"),
    ("eq/fraction-of-an-integer", r#"{"n":5.5}"#, ""),
    ("eq/beyond-2-53", r#"{"n":9007199254740993}"#, "c"),
    ("eq/beside-2-53", r#"{"n":9007199254740992}"#, ""),
    ("eq/minus-zero", r#"{"n":-0.0}"#, "d"),
    ("eq/float", r#"{"x":2.5}"#, "a"),
    ("eq/float-as-integer", r#"{"x":5}"#, "b"),
    ("eq/true", r#"{"b":true}"#, "a h"),
    ("eq/text-is-no-number", r#"{"n":"5"}"#, ""),
    ("eq/number-is-no-text", r#"{"t":"5"}"#, "j"),
    ("eq/member-of-a-list", r#"{"l":"a"}"#, "a h"),
    ("eq/list-as-json-text", r#"{"l":"[\"a\",\"b\"]"}"#, "f"),
    ("eq/two-keys", r#"{"t":"red","n":5}"#, "a"),
];

#[rustfmt::skip] // a row a line reads as the table that it is
const IN: [Row; 15] = [
    ("in/plain", r#"{"t":{"$in":["red","Red"]}}"#, "a b"),
    ("in/list-any", r#"{"l":{"$in":["a","c"]}}"#, "a b c h"),
    ("in/list-one", r#"{"l":{"$in":["org:one"]}}"#, "e"),
    ("in/none", r#"{"l":{"$in":["zz"]}}"#, ""),
    ("in/empty", r#"{"l":{"$in":[]}}"#, ""),
    ("in/odd-characters", r#"{"l":{"$in":["b'c"]}}"#, "i"),
    ("in/mixed-kinds", r#"{"t":{"$in":[5,true,"5"]}}"#, "j"),
    ("in/missing", r#"{"b":{"$in":[true,false]}}"#, "a b h"),
    ("in/duplicates", r#"{"t":{"$in":["red","red"]}}"#, "a"),
    ("in/substring", r#"{"l":{"$in":["acct:an"]}}"#, "f"),
    ("in/part-of-a-plain-text", r#"{"t":{"$in":["acct:an"]}}"#, "f"),
    ("in/substring-of-plain", r#"{"t":{"$in":["acct:ann"]}}"#, "e"),
    ("in/list-as-json-text", r#"{"l":{"$in":["[\"b\",\"c\"]"]}}"#, ""),
    ("in/text-that-looks-like-a-list", r#"{"l":{"$in":["[\"a\",\"b\"]"]}}"#, "f"),
    ("in/numbers", r#"{"n":{"$in":[5,0]}}"#, "a d h"),
];

#[rustfmt::skip] // a row a line reads as the table that it is
const ALL: [Row; 12] = [
    ("all-of/subset", r#"{"l":{"$all":["a"]}}"#, "a h"),
    ("all-of/exact", r#"{"l":{"$all":["a","b"]}}"#, "a"),
    ("all-of/one-missing", r#"{"l":{"$all":["a","zz"]}}"#, ""),
    ("all-of/empty", r#"{"l":{"$all":[]}}"#, "a b c d e f g h i j"),
    ("all-of/part-of-a-member", r#"{"l":{"$all":["acct:an"]}}"#, "f"),
    ("all-of/plain-field", r#"{"t":{"$all":["red"]}}"#, "a"),
    ("all-of/two-of-a-plain-field", r#"{"t":{"$all":["red","Red"]}}"#, ""),
    ("all-of/missing-field", r#"{"b":{"$all":[true]}}"#, "a h"),
    ("all-of/duplicates", r#"{"l":{"$all":["b","b"]}}"#, "a b"),
    ("all-of/order", r#"{"l":{"$all":["b","a"]}}"#, "a"),
    ("all-of/under-not", r#"{"$not":{"l":{"$all":["a","b"]}}}"#, "b c d e f g h i j"),
    ("all-of/another-kind", r#"{"l":{"$all":["a",5]}}"#, ""),
];

#[rustfmt::skip] // a row a line reads as the table that it is
const OPERATORS: [Row; 34] = [
    ("operators/ne", r#"{"t":{"$ne":"red"}}"#, "b c d e f g h i j"),
    ("operators/ne-of-a-list", r#"{"l":{"$ne":"a"}}"#, "b c d e f g i j"),
    ("operators/ne-and-missing", r#"{"b":{"$ne":true}}"#, "b c d e f g i j"),
    ("operators/ne-of-another-kind", r#"{"t":{"$ne":5}}"#, "a b c d e f g h i j"),
    ("operators/nin", r#"{"t":{"$nin":["red","Red"]}}"#, "c d e f g h i j"),
    ("operators/nin-empty", r#"{"t":{"$nin":[]}}"#, "a b c d e f g h i j"),
    ("operators/nin-of-a-list", r#"{"l":{"$nin":["a","c"]}}"#, "d e f g i j"),
    ("operators/gt", r#"{"n":{"$gt":0}}"#, "a c h j"),
    ("operators/gte", r#"{"n":{"$gte":5}}"#, "a c h j"),
    ("operators/lt", r#"{"n":{"$lt":0}}"#, "b"),
    ("operators/lte", r#"{"n":{"$lte":0}}"#, "b d"),
    ("operators/gt-a-fraction", r#"{"n":{"$gt":5.5}}"#, "c j"),
    ("operators/between", r#"{"n":{"$gt":-1,"$lt":6}}"#, "a d h"),
    ("operators/float-range", r#"{"x":{"$gte":0}}"#, "a b d"),
    ("operators/beyond-2-53", r#"{"n":{"$gt":9007199254740992}}"#, "c"),
    ("operators/text-range", r#"{"t":{"$gt":"acct:ann"}}"#, "a c h"),
    ("operators/text-range-below", r#"{"t":{"$lte":"Red"}}"#, "b d i j"),
    ("operators/range-of-a-list", r#"{"l":{"$gt":"c"}}"#, "e h"),
    ("operators/range-of-another-kind", r#"{"t":{"$gt":1}}"#, ""),
    ("operators/exists", r#"{"l":{"$exists":true}}"#, "a b c e f h i j"),
    ("operators/exists-not", r#"{"l":{"$exists":false}}"#, "d g"),
    ("operators/exists-beside-another", r#"{"n":{"$exists":true,"$lt":1}}"#, "b d"),
    ("operators/or", r#"{"$or":[{"t":"red"},{"n":6}]}"#, "a j"),
    ("operators/or-empty", r#"{"$or":[]}"#, ""),
    ("operators/or-beside-another", r#"{"b":true,"$or":[{"t":"red"},{"t":"Red"}]}"#, "a"),
    ("operators/not", r#"{"$not":{"n":5}}"#, "b c d e f g i j"),
    ("operators/not-under-a-key", r#"{"n":{"$not":{"$gte":5}}}"#, "b d e f g i"),
    ("operators/not-in-and-missing", r#"{"$not":{"b":{"$in":[true]}}}"#, "b c d e f g i j"),
    ("operators/not-of-a-range-and-missing", r#"{"$not":{"x":{"$gte":0}}}"#, "c e f g h i j"),
    ("operators/not-of-and", r#"{"$not":{"b":true,"t":"red"}}"#, "b c d e f g h i j"),
    ("operators/not-not-and-missing", r#"{"$not":{"$not":{"b":{"$ne":true}}}}"#, "b c d e f g i j"),
    ("operators/not-not", r#"{"$not":{"$not":{"t":"red"}}}"#, "a"),
    ("operators/nested", r#"{"$and":[{"$or":[{"l":"a"},{"l":"c"}]},{"$not":{"b":true}}]}"#, "b c"),
    ("operators/de-morgan", r#"{"$not":{"$or":[{"t":"red"},{"b":false}]}}"#, "c d e f g h i j"),
];

#[rustfmt::skip] // a row a line reads as the table that it is
const OPEN: [Row; 13] = [
    ("operators/open-number", r#"{"o":5}"#, "p w"),
    ("operators/open-float-as-integer", r#"{"o":5.0}"#, "p w"),
    ("operators/open-in-of-floats", r#"{"o":{"$in":[5.0,6.5]}}"#, "p w"),
    ("operators/open-all-of-both", r#"{"o":{"$all":[5.0,6.5]}}"#, "w"),
    ("operators/open-ne-of-a-float", r#"{"o":{"$ne":5.0}}"#, "q r s u v y z"),
    ("operators/open-text", r#"{"o":"5"}"#, "q v"),
    ("operators/open-true", r#"{"o":true}"#, "s y"),
    ("operators/open-true-as-text", r#"{"o":"true"}"#, "u"),
    ("operators/open-in", r#"{"o":{"$in":[5,"true"]}}"#, "p u w"),
    ("operators/open-range", r#"{"o":{"$gt":5}}"#, "r w"),
    ("operators/open-all", r#"{"o":{"$all":[5,6.5]}}"#, "w"),
    ("operators/open-ne", r#"{"o":{"$ne":5}}"#, "q r s u v y z"),
    ("operators/open-exists-not", r#"{"o":{"$exists":false}}"#, "z"),
];
