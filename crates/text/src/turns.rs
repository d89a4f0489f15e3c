//! Transcripts cut into passages of whole turns.

use crate::span::Span;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// One thing that somebody said, as it stands in a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// The caller's number of the turn. It is handed on, never compared: the order of the slice
    /// is the order of the transcript.
    pub seq: i64,
    /// The caller's id of the transcript item. It need not be unique.
    pub item_id: String,
    /// What was said. Never trimmed, cut or otherwise changed.
    pub text: String,
    /// When the turn began, in milliseconds from whatever the caller counts from, if known.
    pub start_ms: Option<i64>,
    /// When the turn ended, in milliseconds, if known.
    pub end_ms: Option<i64>,
}

impl Turn {
    /// Whether nothing is said: no characters but white space and byte order marks.
    fn is_blank(&self) -> bool {
        is_blank(&self.text)
    }
}

/// Whether a text is blank: no characters but white space and byte order marks.
///
/// ```
/// assert!(shelfward_text::is_blank(" \u{FEFF}\n"));
/// assert!(!shelfward_text::is_blank("?"));
/// ```
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|character| character.is_whitespace() || character == '\u{FEFF}')
}

/// How long the passages of a transcript are, and how much neighbours share.
///
/// ```
/// use shelfward_text::ChunkTurns;
///
/// let options = ChunkTurns::default().max_chars(800).overlap_turns(2);
/// assert_eq!(options, ChunkTurns { max_chars: 800, overlap_turns: 2 });
/// ```
///
/// In JSON a missing key keeps its default and an unknown one is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ChunkTurns {
    /// The most characters (Unicode scalar values) in a passage, line feeds between turns
    /// included: 1,200 unless set. Only a turn that is longer by itself goes beyond. With 0,
    /// every turn is a passage.
    pub max_chars: usize,
    /// The most turns that a passage repeats from the end of the one before: 1 unless set.
    pub overlap_turns: usize,
}

impl ChunkTurns {
    /// Sets the most characters in a passage.
    #[must_use]
    pub fn max_chars(self, max_chars: usize) -> Self {
        Self { max_chars, ..self }
    }

    /// Sets the most turns that a passage repeats.
    #[must_use]
    pub fn overlap_turns(self, overlap_turns: usize) -> Self {
        Self {
            overlap_turns,
            ..self
        }
    }
}

impl Default for ChunkTurns {
    fn default() -> Self {
        Self {
            max_chars: 1_200,
            overlap_turns: 1,
        }
    }
}

/// Consecutive turns of a transcript, joined by line feeds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnPassage {
    /// The passage's place among the passages, from 0.
    pub index: usize,
    /// The turns' texts, each as given, with one line feed between two.
    pub text: String,
    /// The first turn's number.
    pub first_seq: i64,
    /// The last turn's number.
    pub last_seq: i64,
    /// The turns' item ids, one for each turn: an id that two turns share is there twice.
    pub item_ids: Vec<String>,
    /// When the first turn began, in milliseconds; `None` if that turn does not say.
    pub start_ms: Option<i64>,
    /// When the last turn ended, in milliseconds; `None` if that turn does not say.
    pub end_ms: Option<i64>,
    /// Where each turn stands in `text`, in order.
    pub turns: Vec<TurnPlace>,
}

/// Where a turn stands in its passage.
///
/// In JSON the offsets stand beside the other members:
/// `{"seq": 4, "itemId": "i4", "start": 0, "end": 12}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnPlace {
    /// The turn's number.
    pub seq: i64,
    /// The turn's item id.
    pub item_id: String,
    /// The place of the turn's text in the passage's text. Sliced by it, the passage gives the
    /// turn word for word, so a quote from inside it is a quote of that turn alone.
    #[serde(flatten)]
    pub span: Span,
}

/// Cuts a transcript into passages of whole turns, in order.
///
/// Blank turns (white space and byte order marks alone) are left out. A passage takes turns as
/// long as they fit within [`ChunkTurns::max_chars`]; it never takes part of one. The next
/// passage then begins with the last few turns of this one, at most
/// [`ChunkTurns::overlap_turns`], never this one's first, and no more than leave room for the
/// next new turn. So each passage has a turn that no earlier one has, and the last turn said is
/// in the last passage and in no other.
///
/// The work is in proportion to the turns given and the passages answered. Mind the latter with
/// a large overlap: passages may then differ by a single turn, and each repeats nearly
/// `max_chars` characters.
///
/// ```
/// use shelfward_text::{ChunkTurns, Turn, chunk_turns};
///
/// let turn = |seq, text: &str| Turn {
///     seq,
///     item_id: format!("item_{seq}"),
///     text: text.to_owned(),
///     start_ms: None,
///     end_ms: None,
/// };
/// let turns = [turn(1, "Shall we ship?"), turn(2, "Yes."), turn(3, "On Monday, then.")];
/// let passages = chunk_turns(&turns, &ChunkTurns::default().max_chars(21));
///
/// let texts: Vec<&str> = passages.iter().map(|passage| passage.text.as_str()).collect();
/// assert_eq!(texts, ["Shall we ship?\nYes.", "Yes.\nOn Monday, then."]);
/// ```
#[must_use]
pub fn chunk_turns(turns: &[Turn], options: &ChunkTurns) -> Vec<TurnPassage> {
    let mut passages = Vec::new();
    let mut window = Window::default();
    for turn in turns.iter().filter(|turn| !turn.is_blank()) {
        let chars = turn.text.chars().count();
        if !window.turns.is_empty() && !window.fits(chars, options.max_chars) {
            passages.extend(window.passage(passages.len()));
            // Once unasked: a passage never opens with the first turn of the one before.
            window.drop_first();
            while window.turns.len() > options.overlap_turns
                || !(window.turns.is_empty() || window.fits(chars, options.max_chars))
            {
                window.drop_first();
            }
        }
        window.push(turn, chars);
    }
    passages.extend(window.passage(passages.len()));
    passages
}

/// The turns of the passage being filled.
///
/// A turn enters once and leaves once, whatever the overlap: that is why no amount of it makes
/// the cutting quadratic.
#[derive(Default)]
struct Window<'a> {
    turns: VecDeque<(&'a Turn, usize)>,
    /// The turns' characters and a line feed behind each.
    chars: usize,
}

impl<'a> Window<'a> {
    /// Whether a turn of so many characters can be added to the turns there are.
    fn fits(&self, chars: usize, max_chars: usize) -> bool {
        self.chars + chars <= max_chars
    }

    fn push(&mut self, turn: &'a Turn, chars: usize) {
        self.turns.push_back((turn, chars));
        self.chars += chars + 1;
    }

    fn drop_first(&mut self) {
        if let Some((_, chars)) = self.turns.pop_front() {
            self.chars -= chars + 1;
        }
    }

    /// The turns as a passage; `None` if there are none.
    fn passage(&self, index: usize) -> Option<TurnPassage> {
        let (first, _) = self.turns.front()?;
        let (last, _) = self.turns.back()?;
        let mut text = String::new();
        let mut places = Vec::with_capacity(self.turns.len());
        for (turn, _) in &self.turns {
            if !places.is_empty() {
                text.push('\n');
            }
            let start = text.len();
            text.push_str(&turn.text);
            places.push(TurnPlace {
                seq: turn.seq,
                item_id: turn.item_id.clone(),
                span: Span {
                    start,
                    end: text.len(),
                },
            });
        }
        Some(TurnPassage {
            index,
            text,
            first_seq: first.seq,
            last_seq: last.seq,
            item_ids: self
                .turns
                .iter()
                .map(|(turn, _)| turn.item_id.clone())
                .collect(),
            start_ms: first.start_ms,
            end_ms: last.end_ms,
            turns: places,
        })
    }
}
