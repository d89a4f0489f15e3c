//! What the suite must catch.

/// One way to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// Filters are ignored, but for the partition.
    IgnoresFilter,
    /// `$all` is dropped from filters.
    DropsAll,
    /// `$in` compares a list with each value as a whole, so no list matches.
    InComparesListAsOne,
    /// `$eq` on a text matches what begins so.
    EqMatchesPrefix,
    /// Texts are compared without regard to case.
    FoldsCase,
    /// An `$or` matches everything.
    WidensOnOr,
    /// The filter reaches the dense leg only.
    FiltersDenseOnly,
    /// The best are found first and filtered afterwards.
    FiltersAfterTopK,
    /// One hit fewer than asked for.
    OffByOneTopK,
    /// The farthest come first.
    InvertsScores,
    /// The distance is given as the score.
    DistanceAsScore,
    /// Equal scores come in another order each time.
    UnstableTies,
    /// Hits of other collections are among the answers.
    LeaksAcrossCollections,
    /// A delete by filter deletes nothing and answers 0.
    DeleteByFilterDoesNothing,
    /// A delete by filter deletes and answers 0.
    DeleteByFilterAnswersZero,
    /// A delete by filter deletes and does not say how much, where exact counts are declared.
    DeleteByFilterAnswersUnknown,
    /// A delete by keys deletes the first of them.
    DeletesFirstKeyOnly,
    /// Counts are one too high.
    CountsWrong,
    /// An update takes away what it does not set.
    UpdateReplacesMetadata,
    /// An update sets, and removes nothing.
    PatchKeepsRemovedKeys,
    /// An update answers and changes nothing.
    UpdateDoesNothing,
    /// A replace leaves what the new does not overwrite.
    LeavesStaleTail,
    /// A replace deletes first, and readers see it.
    ReplacesInTwoSteps,
    /// A write whose call was given up lands all the same, later.
    LandsLate,
    /// A record under a key that is taken is not written.
    KeepsOldRecord,
    /// The last record of a write is lost without a word.
    LosesLastOfBatch,
    /// What was deleted is still found by its words.
    ForgetsLexicalOnDelete,
    /// Creating a collection that is there empties it.
    CreateEmpties,
    /// Integers are read back as floats.
    RoundsIntegers,
    /// A fetch leaves out what is not there, and answers a repeated key once.
    FetchSkipsMissing,
    /// A fetch brings no vector, though asked for it.
    FetchBringsNoVector,
    /// An update takes the text away.
    UpdateLosesText,
    /// A search never says whether it is complete.
    NeverSaysHowItEnded,
    /// A drop answers that there was a collection when there was none.
    DropAnswersYes,
    /// Opening makes a collection that was not there.
    OpenCreates,
    /// The list of collections lacks the last one.
    ForgetsToList,
    /// A delete by keys answers how many keys it was given.
    DeleteCountsKeys,
    /// A scan goes the other way round every second time.
    ShufflesScans,
    /// Every hit by words has the same score.
    FlatLexicalScores,
    /// A search for any word finds what holds every one.
    AnyMeansAll,
    /// A scan is declared and refused.
    ScanFails,
    /// The store says that it does not serve.
    Unhealthy,
    /// Scores by words depend on what other partitions hold.
    SharesStatistics,
    /// No fault: words are served by the leg that faults of words are made from, left whole. Not one
    /// of [`Fault::ALL`].
    NoFault,
    /// Every word is asked for, and any is enough.
    AllMeansAny,
    /// Records without a text count in the statistics of words.
    CountsBareRecords,
    /// What was deleted goes on counting in the statistics of words.
    CountsDeletedTexts,
    /// A word that half of the texts hold is worth nothing.
    CutsIdfAtZero,
    /// A prefix stands for the first few stored words, and the others are not looked for.
    CutsPrefixes,
    /// Texts are cut into words by one rule, whatever the collection's.
    CutsWordsByOneRule,
    /// A prefix of one letter stands for every word that begins so.
    ExpandsOneLetter,
    /// Words are kept in the case that they were written in.
    KeepsCaseOfWords,
    /// A record that was written over is still found by the words that it had.
    KeepsOldWords,
    /// Texts without words do not count in the statistics of words.
    LeavesOutEmptyTexts,
    /// Hits by words come in the order of their keys, whatever their scores.
    LexicalOutOfOrder,
    /// Words of more than 64 bytes are not indexed.
    LosesLongWords,
    /// How often a text says a word makes no difference.
    LosesTermFrequency,
    /// A word that more than half of the texts hold counts against them.
    NegativeIdf,
    /// BM25 is computed with k1 1.5.
    OtherConstants,
    /// Words are read as a query language: some exclude, some are operators, some are errors.
    ParsesWords,
    /// A word that a query repeats counts once.
    RepeatedWordsCountOnce,
    /// Texts are cut at spaces alone.
    SplitsAtSpaces,
    /// The statistics of words are of what the filter matches.
    StatisticsOfTheFiltered,
    /// A prefix adds up all the words that it stands for.
    SumsPrefixes,
    /// A record whose metadata was changed in place is no longer found by its words.
    UpdateForgetsWords,
    /// Two legs asked for together are answered the wrong way round.
    SwapsLegs,
    /// Two legs asked for together are both answered by what either found.
    FusesLegs,
    /// The filter reaches both legs by themselves, and the dense one alone when both are asked.
    FiltersOneOfBoth,
    /// Conditions on a missing field are unknown, also under a `$not`, as in SQL.
    ThreeValuedLogic,
    /// An integer equals no float.
    IntegerIsNoFloat,
    /// A text matches what contains it.
    MatchesSubstrings,
    /// Writers take no turns, and a replace is made of several steps.
    UnorderedWriters,
    /// The best are found first and filtered afterwards, which is declared, and a search that comes
    /// short is called complete.
    ShortAndComplete,
    /// Keys of metadata are kept in letters, digits and underscores alone.
    RenamesOddKeys,
    /// Of a store that is opened again, the collections are there and the records are not.
    ForgetsAll,
    /// The last write before a store was closed is undone when it is opened again.
    LosesLastWrite,
    /// What was written since a store was opened is lost unless it is closed.
    WritesWhenClosed,
    /// What was deleted or replaced is there again when a store is opened again.
    KeepsDeleted,
    /// Metadata that was changed in place is as it was when a store is opened again.
    UndoesPatches,
    /// A collection that was dropped is there again when a store is opened again.
    RevivesDropped,
    /// Vectors have lost half of their bits when a store is opened again.
    RoundsVectors,
    /// A collection lacks its last declared field when its store is opened again.
    ForgetsFields,
    /// Nothing is found by words when a store is opened again.
    ForgetsWords,
    /// Equal scores come the other way round when a store is opened again.
    TurnsTies,
    /// Replaces, updates and deletes are done in two halves, and a writer can die between them.
    TearsWrites,
    /// A replace that is told what it expects does not look.
    IgnoresExpected,
    /// A handle answers a search that it has answered before as it did, until it writes itself.
    CachesAnswers,
    /// A store that one process may have open is opened by a second.
    LetsAnotherProcessIn,
    /// A store that one process may have open stays locked when that is killed.
    KeepsLockOfTheDead,
    /// A store that was closed cannot be opened while a handle of it is left.
    HoldsOnAfterClose,
    /// Two of five of the nearest vectors are not found.
    MissesNeighbours,
    /// One of the nearest is not found, though all are promised.
    MissesOneNeighbour,
    /// Dense scores are rounded, as those of shortened vectors are.
    ScoresByCode,
    /// A server that is gone is called a failure of the engine.
    CallsGoneAFailure,
    /// A connection that was lost is never made again.
    NeverReconnects,
    /// A server that does not answer is waited for without end.
    WaitsForever,
    /// The answer to a call that was given up is taken for that of the next.
    TakesLateAnswers,
    /// What came first of an answer is taken for the whole.
    ReadsPartOfAnAnswer,
    /// A replace is sent in two parts, of which each is in force by itself.
    TearsReplaceOverTheWire,
    /// A write whose answer was lost is called done.
    CallsLostWritesDone,
    /// What a client holds stays held when its connection is lost.
    KeepsLockOfTheCutOff,
    /// What a client holds stays held while its connection is there, though nothing comes from it.
    KeepsLockOfTheSilent,
    /// An error shows the password that was refused.
    ShowsTheSecret,
    /// A password that was refused is called a failure of the engine.
    CallsDenialAFailure,
    /// Two legs asked for together are answered from two states of the collection.
    LegsOfTwoStates,
    /// The server applies a write after its call was given up, which is not declared.
    AppliesGivenUp,
    /// The same, declared; but it comes behind writes that have returned.
    AppliesGivenUpOutOfOrder,
    /// A client that lost its connection at the commit asks what became of the number of its
    /// transaction, which a server that crashed gives to another one.
    BelievesNumbers,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Self; 107] = [
        Self::IgnoresFilter,
        Self::DropsAll,
        Self::InComparesListAsOne,
        Self::EqMatchesPrefix,
        Self::FoldsCase,
        Self::WidensOnOr,
        Self::FiltersDenseOnly,
        Self::FiltersAfterTopK,
        Self::OffByOneTopK,
        Self::InvertsScores,
        Self::DistanceAsScore,
        Self::UnstableTies,
        Self::LeaksAcrossCollections,
        Self::DeleteByFilterDoesNothing,
        Self::DeleteByFilterAnswersZero,
        Self::DeleteByFilterAnswersUnknown,
        Self::DeletesFirstKeyOnly,
        Self::CountsWrong,
        Self::UpdateReplacesMetadata,
        Self::PatchKeepsRemovedKeys,
        Self::UpdateDoesNothing,
        Self::LeavesStaleTail,
        Self::ReplacesInTwoSteps,
        Self::LandsLate,
        Self::KeepsOldRecord,
        Self::LosesLastOfBatch,
        Self::ForgetsLexicalOnDelete,
        Self::CreateEmpties,
        Self::RoundsIntegers,
        Self::FetchSkipsMissing,
        Self::FetchBringsNoVector,
        Self::UpdateLosesText,
        Self::NeverSaysHowItEnded,
        Self::DropAnswersYes,
        Self::OpenCreates,
        Self::ForgetsToList,
        Self::DeleteCountsKeys,
        Self::ShufflesScans,
        Self::FlatLexicalScores,
        Self::AnyMeansAll,
        Self::ScanFails,
        Self::Unhealthy,
        Self::SharesStatistics,
        Self::AllMeansAny,
        Self::CountsBareRecords,
        Self::CountsDeletedTexts,
        Self::CutsIdfAtZero,
        Self::CutsPrefixes,
        Self::CutsWordsByOneRule,
        Self::ExpandsOneLetter,
        Self::KeepsCaseOfWords,
        Self::KeepsOldWords,
        Self::LeavesOutEmptyTexts,
        Self::LexicalOutOfOrder,
        Self::LosesLongWords,
        Self::LosesTermFrequency,
        Self::NegativeIdf,
        Self::OtherConstants,
        Self::ParsesWords,
        Self::RepeatedWordsCountOnce,
        Self::SplitsAtSpaces,
        Self::StatisticsOfTheFiltered,
        Self::SumsPrefixes,
        Self::UpdateForgetsWords,
        Self::SwapsLegs,
        Self::FusesLegs,
        Self::FiltersOneOfBoth,
        Self::ThreeValuedLogic,
        Self::IntegerIsNoFloat,
        Self::MatchesSubstrings,
        Self::UnorderedWriters,
        Self::RenamesOddKeys,
        Self::ShortAndComplete,
        Self::ForgetsAll,
        Self::LosesLastWrite,
        Self::WritesWhenClosed,
        Self::KeepsDeleted,
        Self::UndoesPatches,
        Self::RevivesDropped,
        Self::RoundsVectors,
        Self::ForgetsFields,
        Self::ForgetsWords,
        Self::TurnsTies,
        Self::TearsWrites,
        Self::IgnoresExpected,
        Self::CachesAnswers,
        Self::LetsAnotherProcessIn,
        Self::KeepsLockOfTheDead,
        Self::HoldsOnAfterClose,
        Self::MissesNeighbours,
        Self::MissesOneNeighbour,
        Self::ScoresByCode,
        Self::CallsGoneAFailure,
        Self::NeverReconnects,
        Self::WaitsForever,
        Self::TakesLateAnswers,
        Self::ReadsPartOfAnAnswer,
        Self::TearsReplaceOverTheWire,
        Self::CallsLostWritesDone,
        Self::KeepsLockOfTheCutOff,
        Self::KeepsLockOfTheSilent,
        Self::ShowsTheSecret,
        Self::CallsDenialAFailure,
        Self::LegsOfTwoStates,
        Self::AppliesGivenUp,
        Self::AppliesGivenUpOutOfOrder,
        Self::BelievesNumbers,
    ];
}
