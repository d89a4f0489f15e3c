//! Removing what runs left that did not come to it themselves.

use shelfward_core::Result;

use crate::store::{PREFIX, StoreUnderTest};

/// What a sweep did.
pub(crate) struct Swept {
    /// What it removed.
    pub(crate) removed: Vec<String>,
    /// What it could not.
    pub(crate) left: Vec<String>,
}

/// Removes every collection and everything else whose name says that the suite made it, and nothing
/// but that.
pub(crate) async fn sweep(store: &dyn StoreUnderTest) -> Result<Swept> {
    let mut swept = Swept {
        removed: Vec::new(),
        left: Vec::new(),
    };
    let adapter = store.open().await?;
    for name in adapter.list().await? {
        if name.as_str().starts_with(PREFIX) {
            let dropped = adapter.drop_collection(&name).await.is_ok();
            swept.note(name.to_string(), dropped);
        }
    }
    for name in store.leftovers().await? {
        if name.starts_with(PREFIX) {
            let removed = store.remove(&name).await.is_ok();
            swept.note(name, removed);
        }
    }
    store.tear_down().await?;
    Ok(swept)
}

impl Swept {
    fn note(&mut self, name: String, removed: bool) {
        let list = if removed {
            &mut self.removed
        } else {
            &mut self.left
        };
        list.push(name);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use shelfward_core::adapter::StoreAdapter;
    use shelfward_core::{CollectionName, CollectionSpec, Metric, async_trait};
    use shelfward_memory::MemoryStore;

    use super::*;

    struct Littered {
        memory: MemoryStore,
        schemas: Mutex<Vec<String>>,
    }

    #[async_trait]
    impl StoreUnderTest for Littered {
        fn name(&self) -> &'static str {
            "littered"
        }

        async fn open(&self) -> Result<Arc<dyn StoreAdapter>> {
            Ok(Arc::new(self.memory.clone()))
        }

        async fn leftovers(&self) -> Result<Vec<String>> {
            Ok(self.schemas.lock().unwrap().clone())
        }

        async fn remove(&self, leftover: &str) -> Result<()> {
            self.schemas.lock().unwrap().retain(|name| name != leftover);
            Ok(())
        }
    }

    #[tokio::test]
    async fn what_the_suite_made_goes_and_nothing_else() {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let store = Littered {
            memory: MemoryStore::new(),
            schemas: Mutex::new(names(&["public", "sfwt_2_schema", "my_sfwt_1"])),
        };
        for name in ["library", "sfwt_1_3", "sfwt", "my_sfwt_1"] {
            let name = CollectionName::new(name).unwrap();
            let spec = CollectionSpec::new(name, 4, Metric::Cosine, "suite");
            store.memory.create(&spec).await.unwrap();
        }
        let swept = sweep(&store).await.unwrap();
        assert_eq!(swept.removed, ["sfwt_1_3", "sfwt_2_schema"]);
        assert!(swept.left.is_empty());
        let there = store.memory.list().await.unwrap();
        let there: Vec<String> = there.iter().map(ToString::to_string).collect();
        assert_eq!(there, ["library", "my_sfwt_1", "sfwt"]);
        assert_eq!(*store.schemas.lock().unwrap(), ["public", "my_sfwt_1"]);
    }
}
