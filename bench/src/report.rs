//! What a run of a benchmark found.

use std::fmt::Write as _;

use comfy_table::{Table, presets};
use serde::{Deserialize, Serialize};

use crate::rounds::Times;

/// What a run of a benchmark found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Which benchmark.
    pub benchmark: String,
    /// What the documents were made from.
    pub material: String,
    /// The processor, and how many of it.
    pub machine: String,
    /// In how many rounds each query was timed.
    pub rounds: usize,
    /// How many answers were compared with the plain formula's, all of them equal.
    pub checked: usize,
    /// What was measured beside a peer.
    pub rows: Vec<Row>,
    /// How ours grows with its documents.
    pub growth: Vec<Growth>,
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Time.
    Seconds,
    /// Memory.
    Bytes,
    /// A part of a whole, from 0 to 1.
    Share,
}

/// A figure in the middle and at the 95th percentile, where there are many.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Figures {
    /// The middle one.
    pub p50: f64,
    /// 95 of 100 are no greater. `None` for a single figure.
    pub p95: Option<f64>,
}

impl Figures {
    /// Of many times.
    pub fn many(times: &Times) -> Self {
        Self {
            p50: times.p50.as_secs_f64(),
            p95: Some(times.p95.as_secs_f64()),
        }
    }

    /// Of one.
    pub fn one(figure: f64) -> Self {
        Self {
            p50: figure,
            p95: None,
        }
    }
}

/// What was measured beside a peer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// What was measured.
    pub what: String,
    /// How many documents there were.
    pub documents: usize,
    /// The peer, with its version.
    pub beside: String,
    /// What the figures count.
    pub unit: Unit,
    /// Ours; `None` where nothing was run.
    pub ours: Option<Figures>,
    /// The peer's.
    pub theirs: Option<Figures>,
    /// Why there are no figures.
    pub not_run: Option<String>,
    /// What the ratio in the middle should not be above.
    pub goal: Option<f64>,
    /// What that at the 95th percentile should not be above.
    pub goal_p95: Option<f64>,
}

impl Row {
    /// A row of times.
    pub fn times(what: &str, documents: usize, beside: &str) -> Self {
        Self {
            what: what.to_owned(),
            documents,
            beside: beside.to_owned(),
            unit: Unit::Seconds,
            ours: None,
            theirs: None,
            not_run: None,
            goal: None,
            goal_p95: None,
        }
    }

    /// A row of two sizes.
    pub fn bytes(what: &str, documents: usize, beside: &str, ours: f64, theirs: f64) -> Self {
        Self {
            unit: Unit::Bytes,
            ..Self::times(what, documents, beside)
                .measured([Some(Figures::one(ours)), Some(Figures::one(theirs))])
        }
    }

    /// A row of two shares, of which the smaller is better.
    pub fn shares(what: &str, documents: usize, beside: &str, ours: f64, theirs: f64) -> Self {
        Self {
            unit: Unit::Share,
            ..Self::bytes(what, documents, beside, ours, theirs)
        }
    }

    /// The row with its figures: ours, then the peer's.
    #[must_use]
    pub fn measured(self, [ours, theirs]: [Option<Figures>; 2]) -> Self {
        Self {
            ours,
            theirs,
            ..self
        }
    }

    /// The row with what its ratio should not be above.
    #[must_use]
    pub fn goal(self, goal: f64) -> Self {
        Self {
            goal: Some(goal),
            ..self
        }
    }

    /// The row with what its ratio at the 95th percentile should not be above.
    #[must_use]
    pub fn goal_p95(self, goal: f64) -> Self {
        Self {
            goal_p95: Some(goal),
            ..self
        }
    }

    fn ratio(&self) -> Option<f64> {
        Some(self.ours?.p50 / self.theirs?.p50)
    }

    fn ratio_p95(&self) -> Option<f64> {
        Some(self.ours?.p95? / self.theirs?.p95?)
    }

    /// Whether all goals are met; `None` where there are none, or no figures.
    pub fn met(&self) -> Option<bool> {
        let pairs = [(self.goal, self.ratio()), (self.goal_p95, self.ratio_p95())];
        let met = |(goal, ratio): &(Option<f64>, Option<f64>)| Some((*ratio)? <= (*goal)?);
        pairs.iter().filter_map(met).reduce(|a, b| a && b)
    }

    fn cells(&self) -> [String; 8] {
        let cell = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        let ratio = |ratio: Option<f64>| cell(ratio.map(significant));
        let goal = match (self.goal, self.goal_p95) {
            (Some(goal), Some(p95)) => format!("≤ {goal}, p95 ≤ {p95}"),
            (Some(goal), None) => format!("≤ {goal}"),
            _ => "–".to_owned(),
        };
        let met = match self.met() {
            Some(true) => "yes",
            Some(false) => "**no**",
            None => "–",
        };
        let figures = |figures: Option<Figures>| cell(figures.map(|f| shown(f, self.unit)));
        let middle = match &self.not_run {
            Some(why) => format!("not run: {why}"),
            None => ratio(self.ratio()),
        };
        [
            format!("{}, of {}", self.what, thousands(self.documents)),
            self.beside.clone(),
            middle,
            ratio(self.ratio_p95()),
            goal,
            met.to_owned(),
            figures(self.ours),
            figures(self.theirs),
        ]
    }
}

/// How something of ours grows with its documents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Growth {
    /// What was measured.
    pub what: String,
    /// By number of documents.
    pub figures: Vec<(usize, f64)>,
}

impl Growth {
    /// By which power of the number of documents it grows, between each two sizes.
    fn exponents(&self) -> impl Iterator<Item = String> {
        self.figures.windows(2).filter_map(|pair| {
            let [(few, from), (many, to)] = pair else {
                return None;
            };
            let factor = to / from;
            #[expect(clippy::cast_precision_loss, reason = "numbers of documents are small")]
            let more = *many as f64 / *few as f64;
            let exponent = factor.ln() / more.ln();
            Some(format!("× {}, power {exponent:.2}", significant(factor)))
        })
    }

    fn cells(&self) -> Vec<String> {
        [self.what.clone()]
            .into_iter()
            .chain(self.exponents())
            .collect()
    }
}

impl Report {
    /// The report as tables of Markdown.
    pub fn tables(&self) -> String {
        let mut text = String::new();
        let rounds = self.rounds;
        let _ = writeln!(
            text,
            "{}, {}, {rounds} rounds, {} answers compared with the plain formula's.\n",
            self.machine, self.material, self.checked
        );
        let header = [
            "what", "beside", "ratio", "at p95", "goal", "met", "ours", "peer",
        ];
        table(&mut text, &header, self.rows.iter().map(Row::cells));
        let Some(first) = self.growth.first() else {
            return text;
        };
        let steps = first.figures.windows(2).filter_map(|pair| match pair {
            [(few, _), (many, _)] => Some(format!("{} to {}", thousands(*few), thousands(*many))),
            _ => None,
        });
        let header: Vec<String> = ["growth of ours".to_owned()]
            .into_iter()
            .chain(steps)
            .collect();
        text.push('\n');
        table(&mut text, &header, self.growth.iter().map(Growth::cells));
        text
    }
}

fn table<R>(into: &mut String, header: &[impl ToString], rows: impl Iterator<Item = R>)
where
    R: IntoIterator<Item = String>,
{
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header.iter().map(ToString::to_string));
    for row in rows {
        table.add_row(row);
    }
    let _ = writeln!(into, "{table}");
}

fn shown(figures: Figures, unit: Unit) -> String {
    let (factor, name) = match unit {
        Unit::Bytes => (1e-6, "MB"),
        Unit::Share => (1e2, "%"),
        Unit::Seconds if figures.p50 < 1e-3 => (1e6, "µs"),
        Unit::Seconds if figures.p50 < 1.0 => (1e3, "ms"),
        Unit::Seconds => (1.0, "s"),
    };
    let number = |figure: f64| significant(figure * factor);
    match figures.p95 {
        Some(p95) => format!("{} / {} {name}", number(figures.p50), number(p95)),
        None => format!("{} {name}", number(figures.p50)),
    }
}

/// A number with as many digits as say something here.
fn significant(number: f64) -> String {
    match number {
        n if n >= 100.0 => format!("{n:.0}"),
        n if n >= 10.0 => format!("{n:.1}"),
        n if n >= 0.1 => format!("{n:.2}"),
        n => format!("{n:.4}"),
    }
}

fn thousands(number: usize) -> String {
    match (number / 1000, number % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
}

/// The processor, and how many of it, as far as the system says.
pub fn machine() -> String {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(": "));
    let model = model.map_or("a processor without a name", |(_, model)| model);
    format!("{count} × {model}")
}
