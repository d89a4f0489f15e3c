//! Setters of options.

/// Makes a `with_…` for each named field of the options struct in whose `impl` it stands.
///
/// ```
/// #[derive(Default)]
/// struct Options {
///     readers: usize,
/// }
/// impl Options {
///     shelfward_adapter::setters! {
///         /// Sets how many reads run at a time.
///         with_readers: readers usize;
///     }
/// }
/// assert_eq!(Options::default().with_readers(3).readers, 3);
/// ```
#[macro_export]
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $field:ident $kind:ty;)+) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $field: $kind) -> Self {
            self.$field = $field;
            self
        }
    )+};
}
