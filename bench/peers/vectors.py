"""Vector searches by peers, in a process of their own: a line is read for each round, and answered by
the milliseconds of each query. With an answer's ids asked for, they are answered instead.

Arguments: a file of vectors, a file of queries (float32, one behind another), their width, threads.
"""

import json
import sys
import time
from importlib.metadata import version

import numpy as np

vectors_file, queries_file, width, threads = sys.argv[1:5]
width, threads = int(width), int(threads)
vectors = np.fromfile(vectors_file, dtype=np.float32).reshape(-1, width)
queries = np.fromfile(queries_file, dtype=np.float32).reshape(-1, width)
TOP_K = 10


def faiss_flat():
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatIP(width)
    index.add(vectors)
    return version("faiss-cpu"), lambda query: index.search(query[None, :], TOP_K)[1][0]


def hnswlib():
    import hnswlib as library

    index = library.Index(space="ip", dim=width)
    index.init_index(max_elements=len(vectors), ef_construction=200, M=16)
    index.set_num_threads(threads)
    index.add_items(vectors)
    index.set_num_threads(1)
    index.set_ef(128)
    return version("hnswlib"), lambda query: index.knn_query(query, TOP_K)[0][0]


def usearch():
    from usearch.index import Index

    index = Index(ndim=width, metric="ip", dtype="f32", connectivity=16, expansion_add=200, expansion_search=128)
    index.add(np.arange(len(vectors)), vectors, threads=threads)
    return version("usearch"), lambda query: index.search(query, TOP_K, threads=1).keys


def sqlite_vec():
    import apsw
    import sqlite_vec as extension

    database = apsw.Connection(":memory:")
    database.enable_load_extension(True)
    database.load_extension(extension.loadable_path())
    database.execute(f"CREATE VIRTUAL TABLE v USING vec0(e float[{width}] distance_metric=cosine)")
    rows = ((n, vector.tobytes()) for n, vector in enumerate(vectors))
    with database:
        database.executemany("INSERT INTO v(rowid, e) VALUES (?, ?)", rows)
    select = f"SELECT rowid FROM v WHERE e MATCH ? AND k = {TOP_K} ORDER BY distance"

    def search(query):
        return [row[0] for row in database.execute(select, (query.tobytes(),))]

    return version("sqlite-vec"), search


MAKERS = {
    "faiss flat": faiss_flat,
    "hnswlib": hnswlib,
    "usearch": usearch,
    "sqlite-vec": sqlite_vec,
}
made = {}

for line in sys.stdin:
    what, name = line.strip().split(" ", 1)
    try:
        if name not in made:
            made[name] = MAKERS[name]()
        number, search = made[name]
        if what == "version":
            answer = number
        elif what == "ids":
            answer = [[int(n) for n in search(query)] for query in queries]
        else:
            answer = []
            for query in queries:
                begun = time.perf_counter()
                search(query)
                answer.append((time.perf_counter() - begun) * 1e3)
        print(json.dumps(answer), flush=True)
    except Exception as error:
        print(json.dumps({"failed": f"{type(error).__name__}: {error}"}), flush=True)
