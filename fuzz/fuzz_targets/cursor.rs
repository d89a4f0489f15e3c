//! Where a scan goes on: every key comes back from its cursor, and any text is one or is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfward_core::{Cursor, Key, Text};

fuzz_target!(|input: (&str, Option<&str>)| {
    let (text, partition) = input;
    if let Ok(key) = Cursor::new(text).key() {
        assert_eq!(Cursor::after(&key).key().ok(), Some(key));
    }
    let Ok(id) = Text::new(text) else { return };
    let key = match partition.map(Text::new) {
        None => Key::new(id),
        Some(Ok(partition)) => Key::within(partition, id),
        Some(Err(_)) => return,
    };
    assert_eq!(Cursor::after(&key).key().ok(), Some(key));
});
