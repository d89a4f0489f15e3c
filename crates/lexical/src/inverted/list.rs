//! The documents that hold one word.

use super::block::{BLOCK, Header, Posting, Unpacked};
use super::bounds::Bounds;
use super::tail::Tail;

/// The postings of one word, in ascending order of documents.
///
/// Most words stand in one document or in few: those take no block, and a lone posting takes no
/// memory of its own.
#[derive(Clone, Debug, Default)]
pub(crate) enum List {
    #[default]
    Empty,
    One(Posting),
    Few(Tail),
    Many(Box<Many>),
}

/// Full blocks, and what does not fill the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Many {
    pub(crate) headers: Vec<Header>,
    pub(crate) data: Vec<u8>,
    pub(crate) tail: Tail,
    pub(crate) len: u32,
}

impl Many {
    /// What block `at` counts from.
    fn base(&self, at: usize) -> Option<u32> {
        let before = self.headers.get(at.checked_sub(1)?)?;
        Some(before.last)
    }

    /// What the tail counts from.
    fn tail_base(&self) -> u32 {
        self.headers.last().map_or(0, |header| header.last)
    }

    fn unpack(&self, at: usize, into: &mut Unpacked) {
        match self.headers.get(at) {
            Some(header) => {
                into.unpack_documents(self.base(at), header, &self.data);
                into.unpack_counts(header, &self.data);
            }
            None => self.tail.unpack(self.tail_base(), into),
        }
    }
}

impl List {
    /// How many documents hold the word.
    pub(crate) fn len(&self) -> u32 {
        match self {
            Self::Empty => 0,
            Self::One(_) => 1,
            Self::Few(tail) => u32::try_from(tail.len()).unwrap_or(u32::MAX),
            Self::Many(many) => many.len,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many blocks there are, the tail counted as one.
    pub(crate) fn blocks(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::One(_) | Self::Few(_) => 1,
            Self::Many(many) => many.headers.len() + usize::from(many.tail.len() > 0),
        }
    }

    /// The header of block `at`, where it is a packed one.
    pub(crate) fn header(&self, at: usize) -> Option<&Header> {
        match self {
            Self::Many(many) => many.headers.get(at),
            _ => None,
        }
    }

    /// No document of block `at` lies above.
    pub(crate) fn last_of(&self, at: usize) -> u32 {
        match self {
            Self::Empty => 0,
            Self::One(posting) => posting.document,
            Self::Few(tail) => tail.last(),
            Self::Many(many) => match many.headers.get(at) {
                Some(header) => header.last,
                None => many.tail.last(),
            },
        }
    }

    /// No document of block `at` lies below.
    pub(crate) fn start_of(&self, at: usize) -> u32 {
        match self {
            Self::One(posting) => posting.document,
            Self::Many(many) => many.base(at).unwrap_or(0),
            Self::Empty | Self::Few(_) => 0,
        }
    }

    /// Unpacks the documents of block `at`, and its counts where they cost nothing more. Answers
    /// whether the counts are there.
    pub(crate) fn unpack_documents(&self, at: usize, into: &mut Unpacked) -> bool {
        if let Self::Many(many) = self
            && let Some(header) = many.headers.get(at)
        {
            into.unpack_documents(many.base(at), header, &many.data);
            return false;
        }
        self.unpack(at, into);
        true
    }

    /// Unpacks the counts of block `at`, whose documents are unpacked.
    pub(crate) fn unpack_counts(&self, at: usize, into: &mut Unpacked) {
        if let Self::Many(many) = self
            && let Some(header) = many.headers.get(at)
        {
            into.unpack_counts(header, &many.data);
        }
    }

    pub(crate) fn unpack(&self, at: usize, into: &mut Unpacked) {
        match self {
            Self::Empty => into.len = 0,
            Self::One(posting) => {
                into.len = 0;
                into.push(*posting);
            }
            Self::Few(tail) => tail.unpack(0, into),
            Self::Many(many) => many.unpack(at, into),
        }
    }

    /// Calls `each` with every posting.
    pub(crate) fn for_each(&self, mut each: impl FnMut(Posting)) {
        let mut block = Unpacked::new();
        for at in 0..self.blocks() {
            self.unpack(at, &mut block);
            block.postings().for_each(&mut each);
        }
    }

    /// Whether `is` holds of one of the documents.
    pub(crate) fn any(&self, is: impl Fn(u32) -> bool) -> bool {
        let mut block = Unpacked::new();
        (0..self.blocks()).any(|at| {
            self.unpack_documents(at, &mut block);
            block.documents().iter().any(|document| is(*document))
        })
    }

    /// Adds a posting of a document above all that are there.
    pub(crate) fn push(&mut self, posting: Posting, bounds: &Bounds<'_>) {
        match self {
            Self::Empty => *self = Self::One(posting),
            Self::One(first) => {
                let mut tail = Tail::default();
                tail.push(*first);
                tail.push(posting);
                *self = Self::Few(tail);
            }
            Self::Few(tail) => {
                tail.push(posting);
                if tail.is_full() {
                    let mut many = Many {
                        tail: std::mem::take(tail),
                        len: u32::try_from(BLOCK).unwrap_or(u32::MAX),
                        ..Many::default()
                    };
                    many.pack_tail(bounds);
                    *self = Self::Many(Box::new(many));
                }
            }
            Self::Many(many) => {
                many.tail.push(posting);
                many.len += 1;
                if many.tail.is_full() {
                    many.pack_tail(bounds);
                }
            }
        }
    }

    /// Keeps of every posting what `keep` answers: its document under another number, or nothing.
    /// The order of documents must stay. Blocks in which `touches` sees nothing to change, by their
    /// lowest and highest document, stay as they are.
    pub(crate) fn rewrite(
        &mut self,
        keep: impl Fn(u32) -> Option<u32>,
        touches: impl Fn(u32, u32) -> bool,
        bounds: &Bounds<'_>,
    ) {
        let untouched = match self {
            Self::Empty => true,
            Self::Many(many) => {
                let blocks = 0..many.headers.len() + 1;
                blocks.into_iter().all(|at| {
                    let last = many.headers.get(at).map_or(many.tail.last(), |h| h.last);
                    !touches(many.base(at).unwrap_or(0), last)
                })
            }
            _ => !touches(0, self.last_of(0)),
        };
        if untouched {
            return;
        }
        let mut kept = Vec::with_capacity(self.len() as usize);
        self.for_each(|posting| {
            if let Some(document) = keep(posting.document) {
                kept.push(Posting {
                    document,
                    ..posting
                });
            }
        });
        *self = Self::of(&kept, bounds);
    }

    /// A list of postings in ascending order of documents.
    pub(crate) fn of(postings: &[Posting], bounds: &Bounds<'_>) -> Self {
        let (full, rest) = postings.as_chunks::<BLOCK>();
        let mut many = Many {
            len: u32::try_from(postings.len()).unwrap_or(u32::MAX),
            ..Many::default()
        };
        for block in full {
            let mut unpacked = Unpacked::new();
            block.iter().for_each(|posting| unpacked.push(*posting));
            many.pack(&unpacked, bounds);
        }
        many.tail = Tail::from(many.tail_base());
        rest.iter().for_each(|posting| many.tail.push(*posting));
        many.tail.shrink();
        match postings {
            [] => Self::Empty,
            [one] => Self::One(*one),
            _ if full.is_empty() => Self::Few(many.tail),
            _ => Self::Many(Box::new(many)),
        }
    }

    /// How many of `documents`, which ascend, are in the list.
    pub(crate) fn count_among(&self, documents: &[u32]) -> u32 {
        let (mut block, mut found, mut rest) = (Unpacked::new(), 0, documents);
        for at in 0..self.blocks() {
            let end = rest.partition_point(|document| *document <= self.last_of(at));
            let (within, behind) = rest.split_at(end);
            rest = behind;
            if within.is_empty() {
                continue;
            }
            self.unpack_documents(at, &mut block);
            let held = |document: &&u32| block.documents().binary_search(document).is_ok();
            found += u32::try_from(within.iter().filter(held).count()).unwrap_or(u32::MAX);
        }
        found
    }

    /// Counts the bounds of all blocks anew.
    pub(crate) fn rebound(&mut self, bounds: &Bounds<'_>) {
        let Self::Many(many) = self else { return };
        let mut block = Unpacked::new();
        for at in 0..many.headers.len() {
            many.unpack(at, &mut block);
            let least = bounds.least(&block);
            if let Some(header) = many.headers.get_mut(at) {
                header.least = least;
            }
        }
    }

    /// The bytes that it holds beside itself.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Self::Empty | Self::One(_) => 0,
            Self::Few(tail) => tail.heap_bytes(),
            Self::Many(many) => {
                size_of::<Many>()
                    + many.headers.capacity() * size_of::<Header>()
                    + many.data.capacity()
                    + many.tail.heap_bytes()
            }
        }
    }

    /// Gives back memory that was set aside for more.
    pub(crate) fn shrink(&mut self) {
        match self {
            Self::Empty | Self::One(_) => {}
            Self::Few(tail) => tail.shrink(),
            Self::Many(many) => {
                many.headers.shrink_to_fit();
                many.data.shrink_to_fit();
                many.tail.shrink();
            }
        }
    }
}

impl Many {
    fn pack_tail(&mut self, bounds: &Bounds<'_>) {
        let mut block = Unpacked::new();
        self.tail.unpack(self.tail_base(), &mut block);
        let header = self.pack(&block, bounds);
        self.tail.restart(header.last);
    }

    fn pack(&mut self, block: &Unpacked, bounds: &Bounds<'_>) -> Header {
        let base = self.base(self.headers.len());
        let header = block.pack(base, bounds.least(block), &mut self.data);
        self.headers.push(header);
        header
    }
}
