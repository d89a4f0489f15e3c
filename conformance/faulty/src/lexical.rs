//! A lexical leg of its own, found by scanning, so that it can be wrong in one way at a time.

use std::collections::{BTreeMap, BTreeSet};

use shelfward_core::{
    CollectionSpec, ErrorKind, Hit, MAX_PREFIX_EXPANSIONS, Match, QueryWord, StoredRecord,
    WordRule, adapter::text_words,
};

use super::Fault;
use super::query_parsing::{Asked, read};

/// Of how many stored words the fault of cutting prefixes takes notice.
const A_FEW: usize = 64;

/// Whether a fault is one of this leg.
pub(super) fn of_words(fault: Fault) -> bool {
    matches!(
        fault,
        Fault::NoFault
            | Fault::AllMeansAny
            | Fault::CountsBareRecords
            | Fault::CountsDeletedTexts
            | Fault::CutsIdfAtZero
            | Fault::CutsPrefixes
            | Fault::CutsTextsAsQueries
            | Fault::CutsWordsByOneRule
            | Fault::ExpandsOneLetter
            | Fault::KeepsCaseOfWords
            | Fault::KeepsWidthOfLetters
            | Fault::LeavesOutEmptyTexts
            | Fault::LexicalOutOfOrder
            | Fault::LosesLongWords
            | Fault::LosesTermFrequency
            | Fault::NegativeIdf
            | Fault::OtherConstants
            | Fault::ParsesWords
            | Fault::RepeatedWordsCountOnce
            | Fault::SharesStatistics
            | Fault::SplitsAtSpaces
            | Fault::StatisticsOfTheFiltered
            | Fault::SumsPrefixes
    )
}

/// What the leg is asked over.
pub(super) struct LexicalLeg<'a> {
    pub(super) fault: Fault,
    pub(super) spec: &'a CollectionSpec,
    /// Every record of the collection.
    pub(super) all: &'a [StoredRecord],
    /// What was deleted from it.
    pub(super) gone: &'a [StoredRecord],
}

struct Document<'a> {
    record: &'a StoredRecord,
    words: Vec<String>,
}

struct Statistics {
    documents: f64,
    average: f64,
    /// Of each stored word, how many documents hold it.
    holders: BTreeMap<String, usize>,
}

impl LexicalLeg<'_> {
    /// The hits for words within the filter, best first, all of them.
    pub(super) fn search(
        &self,
        words: &[QueryWord],
        matching: Match,
        filter: &shelfward_core::Filter,
    ) -> Result<Vec<Hit>, ErrorKind> {
        let partition = self
            .spec
            .partition_key()
            .and_then(|key| filter.pinned(key.as_str())?.into_iter().next())
            .and_then(|value| value.as_text().map(str::to_owned));
        let here = |record: &StoredRecord| {
            record.key.partition.as_ref().map(|p| p.as_str()) == partition.as_deref()
        };
        let own = self.documents(self.all.iter().filter(|r| here(r)));
        let counted = match self.fault {
            Fault::SharesStatistics => self.documents(self.all.iter()),
            Fault::CountsDeletedTexts => {
                let gone = self.gone.iter();
                self.documents(self.all.iter().chain(gone).filter(|r| here(r)))
            }
            Fault::StatisticsOfTheFiltered => {
                self.documents(self.all.iter().filter(|r| filter.matches(&r.metadata)))
            }
            _ => self.documents(self.all.iter().filter(|r| here(r))),
        };
        let statistics = self.statistics(&counted);
        let asked = self.asked(words)?;
        let expansions = asked
            .iter()
            .map(|word| self.expansions(word, &statistics))
            .collect::<Result<Vec<_>, _>>()?;
        let matching = match self.fault {
            Fault::AllMeansAny => Match::Any,
            _ => matching,
        };
        let mut hits = Vec::new();
        for document in &own {
            if document.record.text.is_none() || !filter.matches(&document.record.metadata) {
                continue;
            }
            let wanted = expansions.iter().filter(|(word, _)| !word.excluded);
            let scores: Vec<_> = wanted
                .map(|(_, stored)| self.of_word(stored, document, &statistics))
                .collect();
            let excluded = expansions
                .iter()
                .filter(|(word, _)| word.excluded)
                .any(|(_, stored)| stored.iter().any(|w| document.words.contains(w)));
            let matches = match matching {
                Match::Any => scores.iter().any(Option::is_some),
                Match::All => !scores.is_empty() && scores.iter().all(Option::is_some),
            };
            if matches && !excluded {
                let record = document.record;
                let score = scores.into_iter().flatten().sum();
                let (text, metadata) = (record.text.clone(), record.metadata.clone());
                hits.push(Hit::new(record.key.clone(), score, text, metadata));
            }
        }
        hits.sort_by(|a, b| a.key.cmp(&b.key));
        if self.fault != Fault::LexicalOutOfOrder {
            hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        }
        Ok(hits)
    }

    fn documents<'r>(&self, records: impl Iterator<Item = &'r StoredRecord>) -> Vec<Document<'r>> {
        let with_a_text = records
            .filter(|record| record.text.is_some() || self.fault == Fault::CountsBareRecords);
        let documents = with_a_text.map(|record| Document {
            record,
            words: self.cut(record.text.as_deref().unwrap_or_default()),
        });
        documents
            .filter(|d| !d.words.is_empty() || self.fault != Fault::LeavesOutEmptyTexts)
            .collect()
    }

    fn cut(&self, text: &str) -> Vec<String> {
        let owned = |word: &str| word.to_owned();
        let by_rule = |rule: WordRule| -> Vec<String> {
            let words = text_words(text, rule);
            words.iter().map(ToString::to_string).collect()
        };
        match self.fault {
            Fault::KeepsCaseOfWords => text
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(owned)
                .collect(),
            Fault::SplitsAtSpaces => text
                .to_lowercase()
                .split_whitespace()
                .map(|word| owned(word.trim_end_matches(['.', ','])))
                .filter(|word| !word.is_empty())
                .collect(),
            Fault::CutsWordsByOneRule => by_rule(WordRule::Unicode),
            Fault::CutsTextsAsQueries => self.spec.word_rule.query_words(text),
            Fault::KeepsWidthOfLetters
                if text.contains(|c| ('\u{FF01}'..='\u{FFDC}').contains(&c)) =>
            {
                by_rule(WordRule::Seed)
            }
            Fault::LosesLongWords => {
                let mut words = by_rule(self.spec.word_rule);
                words.retain(|word| word.len() <= 64);
                words
            }
            _ => by_rule(self.spec.word_rule),
        }
    }

    fn statistics(&self, counted: &[Document<'_>]) -> Statistics {
        let mut holders = BTreeMap::new();
        for document in counted {
            for word in document.words.iter().collect::<BTreeSet<_>>() {
                *holders.entry(word.clone()).or_insert(0) += 1;
            }
        }
        let documents = number(counted.len());
        let total: f64 = counted.iter().map(|d| number(d.words.len())).sum();
        Statistics {
            documents,
            average: if total > 0.0 { total / documents } else { 1.0 },
            holders,
        }
    }

    /// The query, as the fault reads it.
    fn asked(&self, words: &[QueryWord]) -> Result<Vec<Asked>, ErrorKind> {
        let plain = |word: &QueryWord| Asked {
            text: word.text.to_string(),
            prefix: word.prefix,
            excluded: false,
        };
        match self.fault {
            Fault::ParsesWords => read(words),
            Fault::RepeatedWordsCountOnce => {
                let mut seen = BTreeSet::new();
                let words = words.iter().filter(|word| seen.insert(word.text.clone()));
                Ok(words.map(plain).collect())
            }
            Fault::ExpandsOneLetter => Ok(words
                .iter()
                .map(|word| Asked {
                    // The handle takes the prefix away; this one knows that others had it.
                    prefix: word.prefix || word.text.as_str().chars().nth(1).is_none(),
                    ..plain(word)
                })
                .collect()),
            _ => Ok(words.iter().map(plain).collect()),
        }
    }

    /// The stored words that a word of the query stands for.
    fn expansions(
        &self,
        word: &Asked,
        statistics: &Statistics,
    ) -> Result<(Asked, Vec<String>), ErrorKind> {
        if !word.prefix {
            return Ok((word.clone(), vec![word.text.clone()]));
        }
        let begins = statistics.holders.keys();
        let mut stored: Vec<String> = begins
            .filter(|stored| stored.starts_with(&word.text))
            .cloned()
            .collect();
        if self.fault == Fault::CutsPrefixes {
            stored.truncate(A_FEW);
        }
        if stored.len() > MAX_PREFIX_EXPANSIONS {
            return Err(ErrorKind::Limit {
                what: "stored words that begin so",
                given: u64::try_from(stored.len()).unwrap_or(u64::MAX),
                max: u64::try_from(MAX_PREFIX_EXPANSIONS).unwrap_or(u64::MAX),
            });
        }
        Ok((word.clone(), stored))
    }

    /// What one word of the query adds to a document; `None` where the document does not hold it.
    fn of_word(
        &self,
        stored: &[String],
        document: &Document<'_>,
        statistics: &Statistics,
    ) -> Option<f64> {
        let scores = stored.iter().filter_map(|word| {
            let times = document.words.iter().filter(|held| *held == word).count();
            (times > 0).then(|| self.term(word, times, document, statistics))
        });
        scores.reduce(|a, b| match self.fault {
            Fault::SumsPrefixes => a + b,
            _ => a.max(b),
        })
    }

    fn term(
        &self,
        word: &str,
        times: usize,
        document: &Document<'_>,
        statistics: &Statistics,
    ) -> f64 {
        let holders = number(statistics.holders.get(word).copied().unwrap_or_default());
        let odds = (statistics.documents - holders + 0.5) / (holders + 0.5);
        let idf = match self.fault {
            Fault::NegativeIdf => odds.ln(),
            Fault::CutsIdfAtZero => odds.ln().max(0.0),
            _ => odds.ln_1p(),
        };
        let times = match self.fault {
            Fault::LosesTermFrequency => 1.0,
            _ => number(times),
        };
        let k1 = match self.fault {
            Fault::OtherConstants => 1.5,
            _ => 1.2,
        };
        let length = number(document.words.len()) / statistics.average;
        idf * times * (k1 + 1.0) / (times + k1 * (0.25 + 0.75 * length))
    }
}

fn number(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::INFINITY, f64::from)
}
