/// What a [`MemoryStore`](crate::MemoryStore) does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryOptions {
    /// Whether there is a lexical leg. Default `true`.
    pub lexical: bool,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self { lexical: true }
    }
}

impl MemoryOptions {
    /// Switches the lexical leg on or off.
    #[must_use]
    pub fn with_lexical(mut self, lexical: bool) -> Self {
        self.lexical = lexical;
        self
    }
}
