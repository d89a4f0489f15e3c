//! Random searches, and which passages they may answer.

use std::collections::BTreeSet;

use shelfward::filter::key;
use shelfward::library::{Mode, PassageFilter, SearchRequest};
use shelfward::{Match, Scope};

use crate::Failure;
use crate::source::{
    self, FOLDERS, SOURCES, Slot, State, TENANTS, YEAR, folder_name, names, words, year,
};

/// A reader and what he asks.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) tenant: usize,
    pub(crate) groups: u8,
    pub(crate) mode: Mode,
    pub(crate) query: String,
    pub(crate) every_word: bool,
    pub(crate) prefix: bool,
    pub(crate) top_k: usize,
    /// 0 narrows nothing.
    folder: u8,
    tags: u8,
    from_year: Option<i64>,
    /// In the folder, or with the tags, in the place of both.
    either: bool,
}

impl Asked {
    /// A search by somebody for something.
    pub(crate) fn random(random: &mut fastrand::Rng) -> Self {
        let tenant = random.usize(..TENANTS);
        let mode = random
            .choice([Mode::Dense, Mode::Lexical, Mode::Hybrid])
            .unwrap_or_default();
        let prefix = mode != Mode::Dense && random.u8(..4) == 0;
        let said = (0..random.usize(1..4)).map(|_| match random.u8(..6) {
            0 => "common".to_owned(),
            1 => format!("s{}", random.usize(..SOURCES)),
            _ => source::word(random).to_owned(),
        });
        // A word of two letters and more is looked for by its beginning.
        let cut = |word: String| word.chars().take(if prefix { 4 } else { 99 }).collect();
        let said: Vec<String> = said.map(cut).collect();
        let sometimes = |random: &mut fastrand::Rng, bits: u8| {
            if random.u8(..4) == 0 { bits } else { 0 }
        };
        let (folder, tag) = (random.u8(1..=FOLDERS), random.u32(..source::TAGS));
        Self {
            tenant,
            groups: random_groups(random),
            mode,
            query: said.join(" "),
            every_word: random.u8(..4) == 0,
            prefix,
            top_k: random.choice([1, 3, 10, 10, 50, 200]).unwrap_or(10),
            folder: sometimes(random, folder),
            tags: sometimes(random, 1 << tag),
            from_year: (random.u8(..4) == 0).then(|| 2000 + random.i64(..10)),
            either: random.bool(),
        }
    }

    /// A reader of all groups who narrows nothing.
    pub(crate) fn everything(tenant: usize) -> Self {
        Self {
            tenant,
            groups: u8::MAX,
            mode: Mode::Dense,
            query: "common".to_owned(),
            every_word: false,
            prefix: false,
            top_k: 10,
            folder: 0,
            tags: 0,
            from_year: None,
            either: false,
        }
    }

    /// The same in another mode, for as many.
    pub(crate) fn with(mut self, mode: Mode, top_k: usize) -> Self {
        (self.mode, self.top_k) = (mode, top_k);
        self
    }

    pub(crate) fn scope(&self) -> Result<Scope, Failure> {
        Ok(source::scope(self.tenant, self.groups)?)
    }

    pub(crate) fn request(&self) -> Result<SearchRequest, Failure> {
        let matching = if self.every_word {
            Match::All
        } else {
            Match::Any
        };
        let mut request = SearchRequest::new(self.query.as_str())
            .mode(self.mode)
            .matching(matching)
            .prefix(self.prefix)
            .top_k(self.top_k);
        if self.is_either() {
            let tagged = PassageFilter::new().tags(names('t', self.tags));
            let in_folder = PassageFilter::new().folder(folder_name(self.folder));
            request = request.any_of([in_folder, tagged]);
        } else {
            if self.folder != 0 {
                request = request.folder(folder_name(self.folder));
            }
            if self.tags != 0 {
                request = request.tags(names('t', self.tags));
            }
        }
        if let Some(year) = self.from_year {
            request = request.filter(key(YEAR).gte(year).build()?);
        }
        Ok(request)
    }

    fn is_either(&self) -> bool {
        self.either && self.folder != 0 && self.tags != 0
    }

    /// Whether the reader may read a source in this state.
    pub(crate) fn may_read(&self, state: State) -> bool {
        state.place.groups & self.groups != 0
    }

    /// Whether he may, and the search's narrowing keeps it.
    pub(crate) fn admits(&self, state: State) -> bool {
        let place = state.place;
        let in_folder = self.folder == 0 || place.folder == self.folder;
        let tagged = place.tags & self.tags == self.tags;
        let narrowed = if self.is_either() {
            in_folder || tagged
        } else {
            in_folder && tagged
        };
        let in_years = self
            .from_year
            .is_none_or(|from| year(state.content) >= from);
        self.may_read(state) && narrowed && in_years
    }

    /// Whether the search's words find a text.
    pub(crate) fn finds(&self, text: &str) -> bool {
        let held = words(text);
        let is_held = |word: &String| {
            let begins = |held: &String| held.starts_with(word.as_str());
            held.contains(word)
                || self.prefix && word.chars().count() > 1 && held.iter().any(begins)
        };
        let asked: BTreeSet<String> = words(&self.query);
        if self.every_word {
            asked.iter().all(is_held)
        } else {
            asked.iter().any(is_held)
        }
    }

    /// The passages of a source in a state that the search can answer, by their numbers.
    pub(crate) fn answerable(
        &self,
        slot: Slot,
        state: State,
    ) -> impl Iterator<Item = (u32, String)> {
        let upto = if self.admits(state) {
            source::passages(state.content)
        } else {
            0
        };
        let texts = (0..upto).map(move |i| (i, source::text(slot, state.content, i)));
        texts.filter(|(_, text)| self.mode != Mode::Lexical || self.finds(text))
    }
}

/// Some groups, at least one.
pub(crate) fn random_groups(random: &mut fastrand::Rng) -> u8 {
    (random.u8(..) & random.u8(..)) | 1 << random.u32(..source::GROUPS)
}
