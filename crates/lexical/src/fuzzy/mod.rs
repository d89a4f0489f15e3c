//! A search box's index: words typed with a typo, or only begun.
