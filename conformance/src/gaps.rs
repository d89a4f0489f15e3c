use serde::Deserialize;

use crate::verdict::Verdict;

/// A departure of a store from what it declares, known and explained.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct KnownGap {
    /// The case, as `group/name`.
    pub case: String,
    /// What it finds.
    pub verdict: Verdict,
    /// Why that is so, for the reader of the stores page.
    pub reason: String,
}

/// The known gaps of one store, from its `known_gaps.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownGaps {
    #[serde(default)]
    gap: Vec<KnownGap>,
}

/// Why a file of known gaps was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GapsError {
    /// It is not TOML of the right shape.
    #[error("known gaps are a list of [[gap]] with case, verdict and reason: {0}")]
    Toml(#[from] toml::de::Error),
    /// A gap that no store may have.
    #[error(
        "{case}: to widen here is never a known gap, since it shows or deletes what is another's"
    )]
    Widens {
        /// The case.
        case: String,
    },
    /// Two gaps for one case.
    #[error("{case} has two gaps; keep one")]
    Repeated {
        /// The case.
        case: String,
    },
}

/// The groups in which a wider answer would show somebody what they may not read, or delete what
/// they did not name.
const SCOPE_GROUPS: [&str; 12] = [
    "eq",
    "in",
    "all-of",
    "library",
    "listing",
    "races",
    "crash",
    "durability",
    "delete",
    "lexical",
    "injection",
    "collections",
];

impl KnownGaps {
    /// Reads a `known_gaps.toml`.
    ///
    /// # Errors
    /// [`GapsError`].
    ///
    /// ```
    /// use shelfward_conformance::KnownGaps;
    /// let gaps = KnownGaps::parse(r#"
    ///     [[gap]]
    ///     case = "writes/empty-text"
    ///     verdict = "errors"
    ///     reason = "the server holds no empty text"
    /// "#)?;
    /// assert!(gaps.of("writes/empty-text").is_some());
    /// # Ok::<(), shelfward_conformance::GapsError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, GapsError> {
        let gaps: Self = toml::from_str(text)?;
        for (at, gap) in gaps.gap.iter().enumerate() {
            let group = gap.case.split('/').next().unwrap_or_default();
            if gap.verdict == Verdict::Widens && SCOPE_GROUPS.contains(&group) {
                return Err(GapsError::Widens {
                    case: gap.case.clone(),
                });
            }
            if gaps
                .gap
                .iter()
                .take(at)
                .any(|earlier| earlier.case == gap.case)
            {
                return Err(GapsError::Repeated {
                    case: gap.case.clone(),
                });
            }
        }
        Ok(gaps)
    }

    /// The gap of a case.
    pub fn of(&self, case: &str) -> Option<&KnownGap> {
        self.gap.iter().find(|gap| gap.case == case)
    }

    /// All gaps.
    pub fn all(&self) -> &[KnownGap] {
        &self.gap
    }
}
