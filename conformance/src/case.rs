use std::future::Future;
use std::pin::Pin;

use shelfward_core::Capabilities;

use crate::context::{Context, Environment};
use crate::verdict::Checked;

type Run = dyn Fn(Context) -> Pin<Box<dyn Future<Output = Checked> + Send>> + Send + Sync;

/// One check of one rule.
pub struct Case {
    pub(crate) info: CaseInfo,
    pub(crate) run: Box<Run>,
}

/// What a case is, apart from running it.
#[derive(Clone)]
pub struct CaseInfo {
    /// `group/name`.
    pub id: String,
    /// Whether a store of these capabilities can do what the case asks. One that cannot must refuse.
    pub needs: fn(&Capabilities) -> bool,
    /// To stores of which capabilities the case applies, and why not to others: they have no promise to
    /// keep, nor one to refuse. To all stores where there is none.
    applies: Option<(fn(&Capabilities) -> bool, &'static str)>,
    /// Whether the store has to be let go of and opened again.
    pub reopens: bool,
    /// Whether a second process has to open the store.
    pub second_process: bool,
    /// Whether what the store keeps has to be damaged.
    pub(crate) damages: bool,
    /// What the store has to be a client of.
    pub(crate) server: Wanted,
}

/// What a case wants of the store's server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Nothing; there need not be one.
    Nothing,
    /// That something can be put before it.
    Address,
    /// That it denies what it does not know.
    Denial,
    /// That another one may be crashed.
    Crash,
}

impl CaseInfo {
    /// Why the case has nothing to ask of such a store, if it has not.
    pub(crate) fn not_run(
        &self,
        can: &Capabilities,
        environment: Environment,
    ) -> Option<&'static str> {
        match self.applies {
            _ if self.reopens && !can.durable => Some("what it holds is gone with the process"),
            _ if self.is_of_a_server() && !environment.server => {
                Some("it is no client of a server, or its StoreUnderTest names none")
            }
            Some((applies, otherwise)) if !applies(can) => Some(otherwise),
            _ if self.reopens && !environment.places => {
                Some("its StoreUnderTest names no place where it could be opened again")
            }
            _ if self.second_process && !environment.processes => {
                Some("a second process is to be had where run_tests is the main of the program")
            }
            _ if self.server == Wanted::Denial && !environment.denies => {
                Some("its server asks for no credentials")
            }
            _ if self.server == Wanted::Crash => environment.crashes.err(),
            _ if self.damages => environment.damages.err(),
            _ => None,
        }
    }

    /// Whether the store has to be the client of a server.
    pub fn is_of_a_server(&self) -> bool {
        self.server != Wanted::Nothing
    }

    /// The group.
    pub fn group(&self) -> &str {
        self.id.split_once('/').map_or(&self.id, |(group, _)| group)
    }
}

impl Case {
    pub(crate) fn new<F, R>(id: impl Into<String>, run: F) -> Self
    where
        F: Fn(Context) -> R + Send + Sync + 'static,
        R: Future<Output = Checked> + Send + 'static,
    {
        let info = CaseInfo {
            id: id.into(),
            needs: |_| true,
            applies: None,
            reopens: false,
            second_process: false,
            damages: false,
            server: Wanted::Nothing,
        };
        Self {
            info,
            run: Box::new(move |context| Box::pin(run(context))),
        }
    }

    /// Says what a store must be capable of; one that is not must refuse.
    pub(crate) fn needs(mut self, needs: fn(&Capabilities) -> bool) -> Self {
        self.info.needs = needs;
        self
    }

    /// Says to which stores the case applies, and of the others why not.
    pub(crate) fn only_where(
        mut self,
        applies: fn(&Capabilities) -> bool,
        otherwise: &'static str,
    ) -> Self {
        self.info.applies = Some((applies, otherwise));
        self
    }

    /// Says that the store is let go of and opened again, so that only a durable one is asked.
    pub(crate) fn reopens(mut self) -> Self {
        self.info.reopens = true;
        self
    }

    /// Says that a second process opens the store, so that only a durable one is asked.
    pub(crate) fn second_process(mut self) -> Self {
        self.info.second_process = true;
        self.reopens()
    }

    /// Says that what the store keeps is damaged, so that only a durable one is asked.
    pub(crate) fn damages(mut self) -> Self {
        self.info.damages = true;
        self.reopens()
    }

    /// Says what the store's server is wanted for, so that only stores that have one are asked.
    pub(crate) fn server(mut self, wanted: Wanted) -> Self {
        self.info.server = wanted;
        self
    }

    /// What the case is.
    pub fn info(&self) -> &CaseInfo {
        &self.info
    }
}
