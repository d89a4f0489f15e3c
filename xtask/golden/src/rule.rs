//! How a case is judged, and the rules by which it may deviate.

use serde_json::Value;

pub(crate) use crate::compare::Difference;

/// What ours answered: a value, or why it refused or failed.
pub(crate) type Answer = Result<Value, String>;

/// A golden function that ours has too.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// Runs ours on an input.
    pub(crate) run: fn(&Value) -> Answer,
    /// Where ours differs from the output that a case has, both being answers.
    pub(crate) differences: fn(&Value, ours: &Value, expected: &Value) -> Vec<Difference>,
}

/// Why ours answers otherwise than the original, on purpose.
///
/// Always a rule about inputs, never a list of cases: it must hold for inputs that nobody has
/// written down yet.
pub(crate) struct Deviation {
    /// The functions that it is about.
    pub(crate) of: &'static [&'static str],
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
