/// The ceilings of one handle: what a request may cost, whatever the store could do.
///
/// Each is settable; a request over one is refused with a typed error, never cut in silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ceilings {
    /// Nodes of a filter. Default 1,024.
    pub filter_nodes: usize,
    /// Values in a filter. Default 10,000.
    pub filter_values: usize,
    /// The `top_k` of a library search. Default 1,000.
    pub request_top_k: usize,
    /// The `top_k` of one leg. Default 10,000; the store's own limit holds too.
    pub leg_top_k: usize,
    /// Characters of a query text. Default 8,192.
    pub query_chars: usize,
    /// Distinct words of a query. Default 256.
    pub query_words: usize,
    /// Passages of one source. Default 100,000.
    pub source_passages: usize,
    /// Rounds of one leg: the first, and asking again for four times as many. Default 3; 1 turns
    /// asking again off.
    pub refill_rounds: u32,
    /// Candidates that one leg looks at in its last round. Default 10,000.
    pub refill_candidates: usize,
}

impl Default for Ceilings {
    fn default() -> Self {
        Self {
            filter_nodes: 1_024,
            filter_values: 10_000,
            request_top_k: 1_000,
            leg_top_k: 10_000,
            query_chars: 8_192,
            query_words: 256,
            source_passages: 100_000,
            refill_rounds: 3,
            refill_candidates: 10_000,
        }
    }
}

impl Ceilings {
    /// Sets the rounds of one leg, at least 1.
    #[must_use]
    pub fn with_refill_rounds(mut self, rounds: u32) -> Self {
        self.refill_rounds = rounds.max(1);
        self
    }

    /// Whether a query's text has more characters than it may.
    pub fn is_long_query(&self, text: &str) -> bool {
        // Bytes bound characters, so a text of megabytes is not counted to its end.
        text.len() > self.query_chars && text.chars().nth(self.query_chars).is_some()
    }

    pub(crate) fn filter_limits(&self) -> crate::filter::FilterLimits {
        crate::filter::FilterLimits {
            max_nodes: self.filter_nodes,
            max_values: self.filter_values,
        }
    }
}
