/// The limits of one handle: what a request may cost, whatever the store could do.
///
/// A request over one is refused with a typed error, never cut in silence. Each is set by
/// [`Limits::builder`], which takes no 0 and no two that contradict each other.
///
/// ```
/// use shelfward_core::{LimitsError, Limits};
/// let limits = Limits::builder().query_words(64).build()?;
/// assert_eq!((limits.query_words(), limits.query_chars()), (64, 8_192));
/// assert!(Limits::builder().query_words(0).build().is_err());
/// // A request may ask for 1,000 hits, which a leg of at most 10 could never answer.
/// assert!(Limits::builder().leg_top_k(10).build().is_err());
/// # Ok::<(), LimitsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub(crate) filter_nodes: usize,
    pub(crate) filter_values: usize,
    pub(crate) request_top_k: usize,
    pub(crate) leg_top_k: usize,
    pub(crate) query_chars: usize,
    pub(crate) query_words: usize,
    pub(crate) source_passages: usize,
    pub(crate) fetch_ids: usize,
    pub(crate) page_sources: usize,
    pub(crate) refill_rounds: u32,
    pub(crate) refill_candidates: usize,
}

/// Why limits were refused.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// One of 0, which no request could keep.
    #[error("the ceiling {0} is 0; it must be at least 1")]
    Zero(&'static str),
    /// A request may ask for more than a leg may answer.
    #[error(
        "request_top_k is {request_top_k} and leg_top_k {leg_top_k}; a leg must be allowed as many \
         hits as a request"
    )]
    RequestOverLeg {
        /// The `top_k` of a request.
        request_top_k: usize,
        /// The `top_k` of a leg.
        leg_top_k: usize,
    },
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            filter_nodes: 1_024,
            filter_values: 10_000,
            request_top_k: 1_000,
            leg_top_k: 10_000,
            query_chars: 8_192,
            query_words: 256,
            source_passages: 100_000,
            fetch_ids: 10_000,
            page_sources: 1_000,
            refill_rounds: 3,
            refill_candidates: 10_000,
        }
    }
}

/// Sets limits, checked together by [`build`](Self::build).
#[derive(Clone, Copy, Debug, Default)]
pub struct LimitsBuilder(Limits);

macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)+) => {
        crate::debug_as_chain!(LimitsError);

impl Limits {
            $($(#[$doc])* pub fn $name(&self) -> $kind {
                self.$name
            })+
        }

        impl LimitsBuilder {
            $($(#[$doc])* #[must_use] pub fn $name(mut self, most: $kind) -> Self {
                self.0.$name = most;
                self
            })+

            /// The limits.
            ///
            /// # Errors
            /// [`LimitsError`] that names the ceiling.
            pub fn build(self) -> Result<Limits, LimitsError> {
                let limits = self.0;
                $(if limits.$name == 0 {
                    return Err(LimitsError::Zero(stringify!($name)));
                })+
                let Limits { request_top_k, leg_top_k, .. } = limits;
                if request_top_k > leg_top_k {
                    return Err(LimitsError::RequestOverLeg { request_top_k, leg_top_k });
                }
                Ok(limits)
            }
        }
    };
}

limits! {
    /// Nodes of a filter. Default 1,024.
    filter_nodes: usize,
    /// Values in a filter. Default 10,000.
    filter_values: usize,
    /// The `top_k` of a library search. Default 1,000; at most that of a leg.
    request_top_k: usize,
    /// The `top_k` of one leg. Default 10,000; the store's own limit holds too.
    leg_top_k: usize,
    /// Characters of a query text. Default 8,192.
    query_chars: usize,
    /// Distinct words of a query. Default 256.
    query_words: usize,
    /// Passages of one source. Default 100,000.
    source_passages: usize,
    /// Passages read by id in one call. Default 10,000.
    fetch_ids: usize,
    /// Sources on one page of a listing. Default 1,000.
    page_sources: usize,
    /// Rounds of one leg: the first, and asking again for four times as many. Default 3; 1 turns
    /// asking again off.
    refill_rounds: u32,
    /// Candidates that one leg looks at in its last round. Default 10,000; a leg of a larger `top_k`
    /// looks at as many as it was asked for.
    refill_candidates: usize,
}

impl Limits {
    /// Limits to set, from the defaults.
    pub fn builder() -> LimitsBuilder {
        LimitsBuilder::default()
    }

    /// These limits, to set others of them.
    pub fn to_builder(self) -> LimitsBuilder {
        LimitsBuilder(self)
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
