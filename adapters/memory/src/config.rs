/// What a [`MemoryStore`](crate::MemoryStore) does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryOptions {
    /// Whether there is a lexical leg. Default `true`.
    pub lexical: bool,
    /// Whether vectors of 64 to 8,192 numbers are stored a second time in one byte a number. A search
    /// reads those first: it finds the same in about a third of the time, for a quarter more memory.
    /// Default `true`.
    pub quantized: bool,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self {
            lexical: true,
            quantized: true,
        }
    }
}

impl MemoryOptions {
    shelfward_adapter::setters! {
        /// Switches the lexical leg on or off.
        with_lexical: lexical bool;
        /// Switches the second form of the vectors on or off.
        with_quantized: quantized bool;
    }
}
