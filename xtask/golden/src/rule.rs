//! How a case is judged, and the rules by which it may deviate.

use serde_json::Value;

use crate::compare::cut;
use crate::file::{Case, Expected};

/// What ours answered: a value, or why it refused or failed.
pub(crate) type Answer = Result<Value, String>;

/// A golden function that ours has too.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// Runs ours on an input.
    pub(crate) run: fn(&Value) -> Answer,
    /// Where ours differs from the output that a case has, both being answers.
    pub(crate) differences: fn(&Value, ours: &Value, expected: &Value) -> Vec<Difference>,
    pub(crate) deviations: &'static [Deviation],
}

/// Why ours answers otherwise than the original, on purpose.
///
/// Always a rule about inputs, never a list of cases: it must hold for inputs that nobody has
/// written down yet.
pub(crate) struct Deviation {
    pub(crate) name: &'static str,
    /// What was decided.
    pub(crate) why: &'static str,
    /// Whether ours must then refuse, or must answer.
    pub(crate) ours: Ours,
    /// Whether the rule speaks of this input, at this place of its output: a step's number where
    /// there are steps, and 0 elsewhere.
    pub(crate) applies: fn(input: &Value, at: usize) -> bool,
}

/// What ours does where a rule applies. A rule that refuses excuses no wrong answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ours {
    Refuses,
    Answers,
    Either,
}

/// One place where ours and the original part.
pub(crate) struct Difference {
    pub(crate) at: usize,
    /// Whether ours refused there.
    pub(crate) refused: bool,
    pub(crate) what: String,
}

impl Difference {
    /// An answer that is another than the original's.
    pub(crate) fn answered(at: usize, what: impl Into<String>) -> Self {
        Self {
            at,
            refused: false,
            what: what.into(),
        }
    }

    /// A refusal where the original answers.
    pub(crate) fn refused(at: usize, why: impl Into<String>) -> Self {
        Self {
            at,
            refused: true,
            what: why.into(),
        }
    }
}

/// What came of one case.
pub(crate) enum Outcome {
    Passed,
    /// Every difference is by a rule; these are the rules.
    Deviating(Vec<&'static str>),
    Failed(String),
}

impl Function {
    /// Runs a case and judges it.
    pub(crate) fn judge(&self, case: &Case) -> Outcome {
        let differences = match ((self.run)(&case.input), &case.expected) {
            (Err(_), Expected::Error) => Vec::new(),
            (Err(why), Expected::Output(expected)) => vec![Difference::refused(
                0,
                format!("expected {}, failed: {why}", cut(expected)),
            )],
            (Ok(ours), Expected::Error) => {
                vec![Difference::answered(
                    0,
                    format!("expected a failure, got {}", cut(&ours)),
                )]
            }
            (Ok(ours), Expected::Output(expected)) => {
                (self.differences)(&case.input, &ours, expected)
            }
        };
        let mut rules = Vec::new();
        for difference in &differences {
            match self.excused(&case.input, difference) {
                Some(rule) if rules.contains(&rule) => {}
                Some(rule) => rules.push(rule),
                None => return Outcome::Failed(difference.what.clone()),
            }
        }
        if rules.is_empty() {
            Outcome::Passed
        } else {
            Outcome::Deviating(rules)
        }
    }

    fn excused(&self, input: &Value, difference: &Difference) -> Option<&'static str> {
        let fits = |rule: &&Deviation| match rule.ours {
            Ours::Refuses => difference.refused,
            Ours::Answers => !difference.refused,
            Ours::Either => true,
        };
        let mut rules = self.deviations.iter().filter(fits);
        rules
            .find(|rule| (rule.applies)(input, difference.at))
            .map(|rule| rule.name)
    }
}
