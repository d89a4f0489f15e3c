//! A saved graph: the two files of `hnsw_rs`, and one of ours that says what must be in them and
//! which records of the snapshot the nodes stand for.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use shelfward_core::Metric;

use super::graph::{Graph, GraphParams};
use super::metric_transform::MetricTransform;
use crate::error::{FileError, FileResult};
use crate::files::codec::{Decoder, Encode};
use crate::files::frame::{FrameKind, FrameReader, Next, encode_frame};
use crate::files::generation::Generation;
use crate::files::layout::{Layout, encode_file_header, read_file_header};

const WHAT: &str = "graph";

/// A graph, and for each of its nodes the places in the snapshot of the records it stands for.
pub(crate) struct SavedGraph {
    pub(crate) graph: Graph,
    pub(crate) transform: MetricTransform,
    pub(crate) nodes: Vec<Vec<u32>>,
}

/// Saves a graph beside the snapshot of a generation.
pub(crate) fn save<'a>(
    layout: &Layout,
    generation: Generation,
    graph: &Graph,
    transform: &MetricTransform,
    nodes: impl ExactSizeIterator<Item = Vec<u32>> + 'a,
) -> FileResult<()> {
    let parts = layout.graph_parts(generation);
    let [links, points] = &parts;
    graph.save(
        layout.folder(),
        &layout.graph_base(generation),
        [links, points],
    )?;

    let params = graph.params();
    let mut head = encode_file_header(WHAT);
    generation.put(&mut head);
    head.put_length(params.m);
    head.put_length(params.ef_construction);
    head.put_length(params.dimensions);
    head.put_u64(transform.bound().to_bits());
    for part in &parts {
        let (length, checksum) = sum_of(part)?;
        head.put_u64(length);
        head.put_u32(checksum);
    }
    let mut table = Vec::new();
    table.put_length(nodes.len());
    for places in nodes {
        table.put_length(places.len());
        for place in places {
            table.put_u32(place);
        }
    }
    let mut file = File::create(layout.graph(generation))?;
    for (number, (kind, payload)) in
        (0..).zip([(FrameKind::Head, &head), (FrameKind::Part, &table)])
    {
        let bytes = encode_frame(kind, number, 0, payload)
            .ok_or(FileError::Io(std::io::ErrorKind::FileTooLarge))?;
        file.write_all(&bytes)?;
    }
    Ok(file.sync_all()?)
}

const UNLIKE: FileError = FileError::Corrupt("the saved graph is not the one described");

/// Loads the graph of a generation, if it is whole and made as one would be made now.
///
/// On any error the caller rebuilds the graph from the vectors.
pub(crate) fn load(
    layout: &Layout,
    generation: Generation,
    metric: Metric,
    width: usize,
    params: impl FnOnce(usize) -> GraphParams,
) -> FileResult<SavedGraph> {
    let mut frames = FrameReader::of(File::open(layout.graph(generation))?)?;
    let head = frames.expect(FrameKind::Head, "the saved graph does not begin as one")?;
    let mut from = Decoder::new(&head.payload);
    read_file_header(&mut from, WHAT)?;
    if Generation::take(&mut from)? != generation {
        return Err(UNLIKE);
    }
    let mut number = || from.length(0);
    let saved_params = GraphParams {
        m: number()?,
        ef_construction: number()?,
        dimensions: number()?,
    };
    let transform = MetricTransform::saved(metric, f64::from_bits(from.u64()?)).ok_or(UNLIKE)?;
    if saved_params != params(transform.dimensions(width)) {
        return Err(UNLIKE);
    }
    for part in layout.graph_parts(generation) {
        if sum_of(&part)? != (from.u64()?, from.u32()?) {
            return Err(UNLIKE);
        }
    }
    let table = frames.expect(FrameKind::Part, "the saved graph has no nodes")?;
    let mut from = Decoder::new(&table.payload);
    let nodes = (0..from.length(1)?)
        .map(|_| {
            let holders = from.length(4)?;
            (0..holders).map(|_| from.u32()).collect()
        })
        .collect::<FileResult<Vec<Vec<u32>>>>()?;
    if !from.is_empty() || !matches!(frames.next()?, Next::Nothing) {
        return Err(UNLIKE);
    }
    let graph = Graph::load(
        layout.folder(),
        &layout.graph_base(generation),
        saved_params,
    )?;
    if graph.len() == nodes.len() {
        Ok(SavedGraph {
            graph,
            transform,
            nodes,
        })
    } else {
        Err(UNLIKE)
    }
}

/// A file's length and checksum.
fn sum_of(path: &Path) -> FileResult<(u64, u32)> {
    let mut file = File::open(path)?;
    let mut hasher = crc32fast::Hasher::new();
    let mut length: u64 = 0;
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((length, hasher.finalize())),
            read => {
                hasher.update(buffer.get(..read).unwrap_or_default());
                length += read as u64;
            }
        }
    }
}
