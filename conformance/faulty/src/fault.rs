//! Every fault, and the cases that must catch it.

macro_rules! faults {
    ($($(#[$doc:meta])+ $fault:ident => $($case:literal)+;)+) => {
        /// One way to be wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Fault {
            /// None: words are served by the leg that faults of words are made from, left whole. Not one
            /// of [`Fault::ALL`].
            NoFault,
            $($(#[$doc])+ $fault,)+
        }

        impl Fault {
            /// Every fault.
            pub const ALL: &[Self] = &[$(Self::$fault,)+];

            /// The ids of the cases that must catch it.
            pub fn caught_by(self) -> &'static [&'static str] {
                match self {
                    Self::NoFault => &[],
                    $(Self::$fault => &[$($case,)+],)+
                }
            }
        }
    };
}

/// Cases of rules that `Collection` keeps, whatever a store does: no faulty store shows them.
pub const KEPT_BY_THE_HANDLE: &[&str] = &[
    "collections/zero-width",
    "writes/reserved-key",
    "reads/key-with-a-partition",
    "ids/empty-and-too-long",
    "ids/text-with-nul",
    "refusals/undeclared-field",
    "refusals/open-fields-where-there-are-none",
    "refusals/lexical-where-there-is-none",
    "refusals/filter-over-the-values",
    "refusals/top-k-over-the-ceiling",
    "refusals/page-of-nothing",
    "refusals/malformed-filters",
    "injection/collection-name",
    "search/top-k-0",
    "search/query-of-another-width",
    "metrics/undeclared-is-refused",
    "lexical/no-words",
    "lexical/partition-must-be-pinned",
    "lexical/ties-by-source-and-number",
    "lexical/last-of-a-batch-wins",
    "lexical/a-leg-that-is-refused",
    "lexical/hidden-hits-take-no-rank",
    "lexical/hybrid-without-a-lexical-leg-is-dense",
    "delete/same-key-twice",
    "delete/tautologies",
    "update/empty-patch",
    "update/wrong-kind",
    "update/never-the-partition",
    "faults/errors-name-the-operation",
];

faults! {
    /// Filters are ignored, but for the partition.
    IgnoresFilter => "reads/within-a-filter" "eq/text" "eq/operator-is-plain-value" "eq/whole"
        "eq/not-contained" "eq/composed" "eq/decomposed-is-another" "eq/special-characters" "eq/integer"
        "eq/integer-as-float" "eq/fraction-of-an-integer" "eq/beyond-2-53" "eq/beside-2-53" "eq/minus-zero"
        "eq/float" "eq/float-as-integer" "eq/true" "eq/text-is-no-number" "eq/number-is-no-text"
        "eq/member-of-a-list" "eq/list-as-json-text" "eq/two-keys" "in/plain" "in/none" "in/empty"
        "in/mixed-kinds" "in/missing" "in/duplicates" "in/substring-of-plain" "in/list-as-json-text"
        "in/numbers" "all-of/another-kind" "operators/ne" "operators/ne-of-a-list" "operators/ne-and-missing"
        "operators/nin" "operators/nin-of-a-list" "operators/gt" "operators/gte" "operators/lt"
        "operators/lte" "operators/gt-a-fraction" "operators/between" "operators/float-range"
        "operators/beyond-2-53" "operators/range-of-a-list" "operators/range-of-another-kind"
        "operators/exists" "operators/exists-not" "operators/exists-beside-another" "operators/not"
        "operators/not-under-a-key" "operators/not-not" "operators/open-number" "operators/open-text"
        "operators/open-true" "operators/open-true-as-text" "operators/open-range" "operators/open-ne"
        "operators/open-exists-not" "in/thousand-values" "operators/random"
        "refusals/no-condition-is-dropped" "injection/value" "injection/key" "search/full-under-a-filter"
        "search/one-in-a-thousand" "search/text-and-metadata-come-along" "search/recall-under-filters"
        "lexical/prefix-under-a-filter" "lexical/filter" "lexical/filter-that-nothing-passes"
        "lexical/both-legs" "delete/exactly-what-matches" "update/counts" "library/tenants-apart"
        "library/kinds" "library/folder" "library/folders" "library/tags" "library/source-ids"
        "library/any-of" "library/own-filter" "listing/of-a-scope" "listing/narrowed" "listing/one-source"
        "paging/under-a-filter";
    /// `$all` is dropped from filters.
    DropsAll => "all-of/subset" "all-of/exact" "all-of/one-missing" "all-of/plain-field" "all-of/two-of-a-plain-field"
        "all-of/missing-field" "all-of/duplicates" "all-of/order" "all-of/under-not" "operators/open-all"
        "operators/random" "refusals/no-condition-is-dropped" "delete/exactly-what-matches";
    /// `$in` compares a list with each value as a whole, so no list matches.
    InComparesListAsOne => "in/list-any" "in/list-one" "in/odd-characters" "in/substring"
        "in/text-that-looks-like-a-list" "operators/open-in" "operators/random" "injection/list-value"
        "lexical/filter-on-a-list" "delete/by-list-member" "library/search" "library/groups-apart"
        "library/own-keys" "library/failed-embedding-leaves-the-old" "library/lexical-embeds-nothing"
        "library/canaries";
    /// `$eq` on a text matches what begins so.
    EqMatchesPrefix => "eq/text" "eq/empty-text" "operators/random" "delete/exactly-what-matches"
        "library/remove-what-is-not-there";
    /// Texts are compared without regard to case.
    FoldsCase => "eq/case" "eq/case-none" "operators/text-range" "operators/text-range-below"
        "operators/random" "delete/exactly-what-matches";
    /// An `$or` matches everything.
    WidensOnOr => "operators/or" "operators/or-empty" "operators/or-beside-another" "operators/nested"
        "operators/de-morgan" "operators/random" "refusals/filter-over-the-nodes"
        "refusals/no-condition-is-dropped";
    /// The filter reaches the dense leg only.
    FiltersDenseOnly => "lexical/any-word" "lexical/all-words" "lexical/prefix-under-a-filter"
        "lexical/filter" "lexical/filter-that-nothing-passes" "lexical/filter-on-a-list"
        "lexical/full-under-a-filter" "lexical/both-legs";
    /// The best are found first and filtered afterwards.
    FiltersAfterTopK => "search/full-under-a-filter" "search/one-in-a-thousand"
        "lexical/full-under-a-filter" "library/hybrid" "library/full-under-a-scope";
    /// One hit fewer than asked for.
    OffByOneTopK => "all-of/empty" "operators/ne-of-another-kind" "operators/nin-empty" "search/top-k"
        "search/top-k-over-what-is-there" "search/ties-at-the-cut" "lexical/prefix"
        "lexical/prefix-of-one-letter" "lexical/top-k" "lexical/top-k-keeps-the-best"
        "lexical/a-leg-without-words" "faults/given-up-search";
    /// The farthest come first.
    InvertsScores => "search/nearest-first" "search/ties-at-the-cut" "metrics/cosine"
        "metrics/cosine-random" "metrics/dot" "metrics/dot-random" "metrics/euclidean"
        "metrics/euclidean-random" "lexical/hybrid-without-words-is-dense";
    /// The distance is given as the score.
    DistanceAsScore => "metrics/cosine" "metrics/cosine-random" "metrics/dot" "metrics/dot-random"
        "metrics/euclidean" "metrics/euclidean-random" "metrics/cosine-ignores-length";
    /// Equal scores come in another order each time.
    UnstableTies => "search/ties-are-stable" "lexical/tie-of-equal-texts";
    /// Hits of other collections are among the answers.
    LeaksAcrossCollections => "collections/apart" "search/empty-collection";
    /// A delete by filter deletes nothing and answers 0.
    DeleteByFilterDoesNothing => "lexical/statistics-follow-deletes-by-filter"
        "lexical/after-delete-by-filter" "lexical/hybrid-after-a-removal" "delete/by-filter"
        "delete/by-list-member" "delete/and-write-again" "library/same-source-id-in-two-tenants"
        "library/remove-tenant" "races/replace-remove" "races/narrow-remove" "races/remove-remove"
        "races/replace-remove-two-processes" "races/narrow-remove-two-processes"
        "races/remove-remove-two-processes";
    /// A delete by filter deletes and answers 0.
    DeleteByFilterAnswersZero => "delete/by-filter";
    /// A delete by filter deletes and does not say how much, where exact counts are declared.
    DeleteByFilterAnswersUnknown => "delete/by-filter";
    /// A delete by keys deletes the first of them.
    DeletesFirstKeyOnly => "injection/id" "search/recall-after-changes" "lexical/statistics-follow-deletes"
        "lexical/after-delete" "lexical/both-legs-after-a-delete" "delete/by-key";
    /// Counts are one too high.
    CountsWrong => "collections/drop" "collections/stale-handle" "writes/another-width" "writes/not-finite"
        "writes/zero-vector" "reads/count" "operators/random" "injection/scan-cursor" "delete/by-filter"
        "delete/nothing-matches" "update/nothing-matches" "library/replace-whole" "library/remove-source";
    /// An update takes away what it does not set.
    UpdateReplacesMetadata => "update/merges" "listing/follows-writes";
    /// An update sets, and removes nothing.
    PatchKeepsRemovedKeys => "update/removes" "library/re-scope-folder-tags-title";
    /// An update answers and changes nothing.
    UpdateDoesNothing => "lexical/after-an-update" "lexical/hybrid-after-a-narrowing" "update/merges"
        "update/removes" "update/filters-see-it" "library/re-scope" "library/re-scope-folder-tags-title"
        "races/replace-narrow" "races/narrow-narrow" "races/narrowing-is-in-force"
        "races/replace-narrow-two-processes" "races/narrow-narrow-two-processes"
        "races/narrowing-is-in-force-two-processes" "races/indexing-gives-way-to-another-process"
        "listing/follows-writes";
    /// A replace leaves what the new does not overwrite.
    LeavesStaleTail => "lexical/statistics-follow-replaces" "lexical/after-replace"
        "lexical/hybrid-after-a-replace" "delete/replace" "delete/replace-with-nothing"
        "library/replace-whole" "library/empty-source" "listing/export";
    /// A replace deletes first, and readers see it.
    ReplacesInTwoSteps => "races/reads-during-replace" "listing/beside-writers";
    /// A write whose call was given up lands all the same, later.
    LandsLate => "races/dropped-replace-never-lands-later";
    /// A record under a key that is taken is not written.
    KeepsOldRecord => "writes/overwrite" "writes/overwrite-changes-the-vector" "writes/mixed-batch"
        "lexical/statistics-follow-overwrites" "lexical/overwritten-text" "lexical/overwritten-without-text";
    /// The last record of a write is lost without a word.
    LosesLastOfBatch => "writes/insert" "writes/mixed-batch" "writes/same-key-twice" "writes/empty-batch"
        "writes/thousand" "writes/over-the-batch-limit" "writes/no-metadata-no-text" "writes/round-trip"
        "writes/declared-kind" "writes/refused-batch-writes-nothing" "reads/present-and-missing"
        "reads/in-the-order-asked" "ids/as-given" "ids/composed-and-decomposed-apart" "ids/case-kept"
        "ids/longest" "ids/text-of-a-mebibyte" "refusals/replace-with-a-stray-record"
        "injection/query-words" "lexical/no-text-no-match" "lexical/whole-words"
        "lexical/without-partitions" "lexical/scripts" "lexical/unspaced-runs-are-one-word"
        "lexical/long-text" "lexical/prefix-of-too-many-words" "lexical/partition-pinned-in-other-words"
        "lexical/tenants-apart" "lexical/after-delete-all" "delete/no-keys" "delete/all" "delete/replace"
        "library/replace-whole" "races/replace-replace" "races/parallel-upserts" "races/same-key"
        "races/sources-side-by-side" "races/writes-are-seen-by-another-process" "faults/closed-handle"
        "faults/another-handle-sees-writes" "paging/every-record-once" "paging/through-deletes";
    /// What was deleted is still found by its words.
    ForgetsLexicalOnDelete => "lexical/after-delete" "lexical/after-delete-by-filter"
        "lexical/after-replace" "lexical/both-legs-after-a-delete" "lexical/hybrid-after-a-removal"
        "lexical/hybrid-after-a-replace";
    /// Creating a collection that is there empties it.
    CreateEmpties => "collections/create-twice-keeps-rows" "collections/another-width"
        "collections/another-metric" "collections/another-embedder" "collections/adds-fields";
    /// Integers are read back as floats.
    RoundsIntegers => "reads/beyond-2-53";
    /// A fetch leaves out what is not there, and answers a repeated key once.
    FetchSkipsMissing => "reads/none" "reads/same-key-twice";
    /// A fetch brings no vector, though asked for it.
    FetchBringsNoVector => "reads/vector-and-text-when-asked";
    /// An update takes the text away.
    UpdateLosesText => "lexical/statistics-after-an-update" "lexical/after-an-update"
        "update/keeps-vector-and-text";
    /// A search never says whether it is complete.
    NeverSaysHowItEnded => "search/says-how-it-ended";
    /// A drop answers that there was a collection when there was none.
    DropAnswersYes => "collections/drop-missing";
    /// Opening makes a collection that was not there.
    OpenCreates => "collections/open-missing";
    /// The list of collections lacks the last one.
    ForgetsToList => "collections/create-and-list";
    /// A delete by keys answers how many keys it was given.
    DeleteCountsKeys => "delete/missing-key";
    /// A scan goes the other way round every second time.
    ShufflesScans => "paging/stable-order";
    /// Every hit by words has the same score.
    FlatLexicalScores => "lexical/rare-words-weigh-more" "lexical/short-texts-weigh-more"
        "lexical/bm25-by-known-values" "lexical/bm25-by-the-formula" "lexical/scores-do-not-depend-on-top-k"
        "lexical/all-scores-as-any" "lexical/fused-by-weight";
    /// A search for any word finds what holds every one.
    AnyMeansAll => "lexical/any-word" "lexical/many-words" "lexical/operators-are-words"
        "lexical/bm25-random";
    /// A handle answers a scan that it has answered before as it did.
    CachesScans => "listing/follows-writes";
    /// A scan answers records of every partition.
    ScanForgetsPartition => "listing/of-a-tenant" "listing/of-a-scope" "listing/narrowed" "listing/export"
        "listing/beside-writers";
    /// A scan takes a page first and filters it afterwards, so that pages tell how much is left out.
    ScanFiltersAfterPage => "listing/of-a-scope";
    /// A page of a scan lacks its first record, but for the first page.
    ScanSkipsBetweenPages => "listing/pages" "listing/export" "listing/beside-writers"
        "paging/every-record-once" "paging/under-a-filter";
    /// A page of a scan begins with the last record of the page before.
    ScanRepeatsBetweenPages => "listing/pages" "listing/export" "listing/beside-writers"
        "paging/every-record-once" "paging/under-a-filter";
    /// A scan begins anew where the last record of the page before is gone.
    ScanLosesItsPlace => "listing/through-removals";
    /// A scan answers lists of metadata as their first value.
    ScanFlattensLists => "listing/of-a-tenant";
    /// A scan fails while somebody writes.
    ScanFailsBesideWriters => "listing/beside-writers";
    /// A scan is declared and refused.
    ScanFails => "faults/claims-are-served";
    /// The store says that it does not serve.
    Unhealthy => "faults/health";
    /// Scores by words depend on what other partitions hold.
    SharesStatistics => "lexical/other-tenants-do-not-show" "lexical/other-tenants-change-no-score";
    /// Every word is asked for, and any is enough.
    AllMeansAny => "lexical/all-words" "lexical/all-of-a-repeated-word" "lexical/prefix-of-every-word"
        "lexical/bm25-random" "lexical/all-scores-as-any";
    /// Records without a text count in the statistics of words.
    CountsBareRecords => "lexical/no-text-no-match" "lexical/bm25-random"
        "lexical/records-without-text-do-not-count";
    /// What was deleted goes on counting in the statistics of words.
    CountsDeletedTexts => "lexical/statistics-follow-deletes" "lexical/statistics-follow-deletes-by-filter"
        "lexical/statistics-follow-replaces";
    /// A word that half of the texts hold is worth nothing.
    CutsIdfAtZero => "lexical/rare-words-weigh-more" "lexical/bm25-by-known-values" "lexical/bm25-random";
    /// A prefix stands for the first few stored words, and the others are not looked for.
    CutsPrefixes => "lexical/prefix-of-too-many-words" "lexical/prefix-of-as-many-as-allowed";
    /// Texts are cut into words by one rule, whatever the collection's.
    CutsWordsByOneRule => "lexical/pairs-of-unspaced-letters" "lexical/rule-of-the-collection"
        "lexical/words-of-one-letter" "lexical/folding-of-the-rule";
    /// A text holds the words alone that a query of the same text would ask for.
    CutsTextsAsQueries => "lexical/words-of-one-letter";
    /// Full-width and half-width letters stay what they are.
    KeepsWidthOfLetters => "lexical/width-forms";
    /// A prefix of one letter stands for every word that begins so.
    ExpandsOneLetter => "lexical/prefix-of-one-letter";
    /// Words are kept in the case that they were written in.
    KeepsCaseOfWords => "lexical/case" "lexical/scripts";
    /// A record that was written over is still found by the words that it had.
    KeepsOldWords => "lexical/after-replace" "lexical/overwritten-text" "lexical/overwritten-without-text";
    /// Texts without words do not count in the statistics of words.
    LeavesOutEmptyTexts => "lexical/bm25-random" "lexical/texts-without-words-count";
    /// Hits by words come in the order of their keys, whatever their scores.
    LexicalOutOfOrder => "lexical/scores-fall" "lexical/rare-words-weigh-more"
        "lexical/short-texts-weigh-more" "lexical/top-k-keeps-the-best";
    /// Words of more than 64 bytes are not indexed.
    LosesLongWords => "lexical/long-words";
    /// How often a text says a word makes no difference.
    LosesTermFrequency => "lexical/bm25-by-the-formula" "lexical/bm25-random"
        "lexical/fused-evenly-in-the-library";
    /// A word that more than half of the texts hold counts against them.
    NegativeIdf => "lexical/bm25-by-known-values" "lexical/bm25-by-the-formula" "lexical/bm25-random";
    /// BM25 is computed with k1 1.5.
    OtherConstants => "lexical/bm25-by-the-formula" "lexical/bm25-random";
    /// Words are read as a query language: some exclude, some are operators, some are errors.
    ParsesWords => "lexical/operators-are-words" "lexical/words-that-are-operators-elsewhere"
        "lexical/what-is-no-word-finds-nothing";
    /// A word that a query repeats counts once.
    RepeatedWordsCountOnce => "lexical/bm25-random" "lexical/repeated-words-add";
    /// Texts are cut at spaces alone.
    SplitsAtSpaces => "lexical/punctuation-parts-words";
    /// The statistics of words are of what the filter matches.
    StatisticsOfTheFiltered => "lexical/bm25-random" "lexical/scores-do-not-depend-on-the-filter";
    /// A prefix adds up all the words that it stands for.
    SumsPrefixes => "lexical/prefix-counts-by-the-best-word" "lexical/bm25-random";
    /// A record whose metadata was changed in place is no longer found by its words.
    UpdateForgetsWords => "lexical/statistics-after-an-update" "lexical/after-an-update"
        "lexical/hybrid-after-a-narrowing";
    /// Two legs asked for together are answered the wrong way round.
    SwapsLegs => "lexical/both-legs-as-each-alone" "lexical/a-leg-that-finds-nothing"
        "lexical/fused-by-weight" "lexical/fused-evenly-in-the-library"
        "lexical/hybrid-with-an-empty-leg-is-the-dense-order";
    /// Two legs asked for together are both answered by what either found.
    FusesLegs => "lexical/both-legs-as-each-alone" "lexical/both-legs-with-filters-of-their-own"
        "lexical/a-leg-that-finds-nothing" "lexical/fused-by-weight" "lexical/fused-evenly-in-the-library"
        "lexical/hybrid-finds-what-one-leg-finds" "lexical/hybrid-with-an-empty-leg-is-the-dense-order";
    /// The filter reaches both legs by themselves, and the dense one alone when both are asked.
    FiltersOneOfBoth => "lexical/both-legs" "lexical/both-legs-with-filters-of-their-own";
    /// Conditions on a missing field are unknown, also under a `$not`, as in SQL.
    ThreeValuedLogic => "all-of/under-not" "operators/ne" "operators/ne-of-a-list" "operators/ne-and-missing"
        "operators/nin" "operators/nin-of-a-list" "operators/not" "operators/not-under-a-key"
        "operators/not-in-and-missing" "operators/not-of-a-range-and-missing" "operators/not-of-and"
        "operators/not-not-and-missing" "operators/de-morgan" "operators/open-ne" "operators/random";
    /// An integer equals no float.
    IntegerIsNoFloat => "operators/open-float-as-integer" "operators/open-in-of-floats"
        "operators/open-all-of-both" "operators/open-ne-of-a-float" "eq/integer-under-a-float-field";
    /// A text matches what contains it.
    MatchesSubstrings => "eq/text" "eq/not-contained" "eq/empty-text" "in/substring"
        "in/part-of-a-plain-text" "all-of/part-of-a-member" "operators/random" "delete/exactly-what-matches";
    /// What a write locks stays locked when it has returned.
    KeepsLockOfTheReturned => "races/a-write-that-returned-holds-nobody";
    /// Writers take no turns, and a replace is made of several steps.
    UnorderedWriters => "races/replace-replace" "races/replace-narrow" "races/replace-remove"
        "races/handles-share-the-locks";
    /// The best are found first and filtered afterwards, which is declared, and a search that comes
    /// short is called complete.
    ShortAndComplete => "library/short-answers-say-so";
    /// Keys of metadata are kept in letters, digits and underscores alone.
    RenamesOddKeys => "injection/key-is-kept";
    /// Of a store that is opened again, the collections are there and the records are not.
    ForgetsAll => "durability/records-come-back-whole" "durability/fields-are-added-where-nothing-is"
        "durability/answers-are-the-same" "durability/without-a-close";
    /// The last write before a store was closed is undone when it is opened again.
    LosesLastWrite => "durability/records-come-back-whole" "durability/deletes-stay-done"
        "durability/replaces-stay-done" "durability/patches-stay-done" "durability/opened-many-times";
    /// What was written since a store was opened is lost unless it is closed.
    WritesWhenClosed => "durability/without-a-close" "durability/killed-during-replace"
        "durability/killed-during-patches" "durability/killed-during-bulk-upsert"
        "durability/killed-during-deletes";
    /// What was deleted or replaced is there again when a store is opened again.
    KeepsDeleted => "durability/deletes-stay-done" "durability/replaces-stay-done"
        "durability/opened-many-times";
    /// Metadata that was changed in place is as it was when a store is opened again.
    UndoesPatches => "durability/patches-stay-done";
    /// A collection that was dropped is there again when a store is opened again.
    RevivesDropped => "durability/drops-stay-done";
    /// Vectors have lost half of their bits when a store is opened again.
    RoundsVectors => "durability/records-come-back-whole" "durability/answers-are-the-same";
    /// A collection lacks its last declared field when its store is opened again.
    ForgetsFields => "durability/spec-comes-back" "durability/fields-are-added-where-nothing-is";
    /// Nothing is found by words when a store is opened again.
    ForgetsWords => "durability/answers-are-the-same";
    /// Equal scores come the other way round when a store is opened again.
    TurnsTies => "durability/answers-are-the-same";
    /// Replaces, updates and deletes are done in two halves, and a writer can die between them.
    TearsWrites => "races/replace-replace-two-processes" "durability/killed-during-replace"
        "durability/killed-during-patches" "durability/killed-during-deletes";
    /// A replace that is told what it expects does not look.
    IgnoresExpected => "races/replace-looks-at-what-it-expects"
        "races/replace-does-not-undo-a-narrowing-two-processes";
    /// A handle answers a search that it has answered before as it did, until it writes itself.
    CachesAnswers => "races/narrowing-is-in-force-two-processes" "races/writes-are-seen-by-another-process"
        "durability/another-handle-sees-each-write";
    /// A store that one process may have open is opened by a second.
    LetsAnotherProcessIn => "races/another-process-is-refused";
    /// A store that one process may have open stays locked when that is killed or drops it.
    KeepsLockOfTheDead => "races/a-killed-process-locks-nobody-out"
        "races/dropped-handles-lock-nobody-out";
    /// A store that one process may have open stays locked when it is closed.
    KeepsLockWhenClosed => "races/another-process-is-refused";
    /// A store that was closed cannot be opened while a handle of it is left.
    HoldsOnAfterClose => "durability/close-lets-go";
    /// A record that is damaged is called a failure of the engine.
    CallsDamageAFailure => "durability/damage-is-called-so";
    /// A record that is damaged is answered as it is.
    ServesDamaged => "durability/damage-is-called-so";
    /// Two of five of the nearest vectors are not found.
    MissesNeighbours => "search/recall-cosine" "search/recall-dot" "search/recall-euclidean"
        "search/recall-under-filters" "search/recall-after-changes";
    /// One of the nearest is not found, though all are promised.
    MissesOneNeighbour => "search/recall-cosine" "search/recall-dot" "search/recall-euclidean"
        "search/recall-under-filters";
    /// Dense scores are rounded, as those of shortened vectors are.
    ScoresByCode => "search/recall-cosine" "search/recall-dot" "search/recall-euclidean";
    /// A server that is gone is called a failure of the engine.
    CallsGoneAFailure => "faults/server-gone" "faults/opened-without-its-server"
        "faults/server-gone-during-a-search" "faults/server-gone-during-a-replace"
        "crash/handles-work-again";
    /// A connection that was lost is never made again.
    NeverReconnects => "faults/server-comes-back" "faults/server-gone-during-a-search"
        "crash/handles-work-again";
    /// A server that does not answer is waited for without end.
    WaitsForever => "faults/opened-without-its-server" "faults/server-does-not-answer";
    /// The answer to a call that was given up is taken for that of the next.
    TakesLateAnswers => "faults/late-answer-is-nobodys";
    /// What came first of an answer is taken for the whole.
    ReadsPartOfAnAnswer => "faults/slow-server";
    /// A replace is sent in two parts, of which each is in force by itself.
    TearsReplaceOverTheWire => "faults/server-gone-during-a-replace" "crash/library-writes-are-in-force";
    /// A write whose answer was lost is called done.
    CallsLostWritesDone => "faults/server-gone-during-a-replace" "crash/library-writes-are-in-force"
        "crash/records-are-in-force";
    /// What a client holds stays held when its connection is lost.
    KeepsLockOfTheCutOff => "faults/client-cut-off-holds-nobody";
    /// What a client holds stays held while its connection is there, though nothing comes from it.
    KeepsLockOfTheSilent => "faults/client-fallen-silent-lets-go";
    /// An error shows the password that was refused.
    ShowsTheSecret => "faults/wrong-credentials";
    /// A password that was refused is called a failure of the engine.
    CallsDenialAFailure => "faults/wrong-credentials";
    /// Two legs asked for together are answered from two states of the collection.
    LegsOfTwoStates => "races/one-state-in-one-answer";
    /// The server applies a write after its call was given up, which is not declared.
    AppliesGivenUp => "races/dropped-replace-never-lands-later";
    /// The same, declared; but it comes behind writes that have returned.
    AppliesGivenUpOutOfOrder => "races/dropped-replace-never-lands-later";
    /// A client that lost its connection at the commit asks what became of the number of its
    /// transaction, which a server that crashed gives to another one.
    BelievesNumbers => "crash/library-writes-are-in-force";
}
