// Times minisearch: `node minisearch.mjs MODULE INPUT`, where MODULE is its module and INPUT a JSON
// file `{ documents, queries }`. Each line on stdin runs all queries once and prints how many
// milliseconds each took, as a JSON list.

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [module, input] = process.argv.slice(2)
const { default: MiniSearch } = await import(pathToFileURL(module).href)
const { documents, queries } = JSON.parse(readFileSync(input, 'utf8'))

const index = new MiniSearch({ fields: ['text'] })
index.addAll(documents.map((text, id) => ({ id, text })))

const options = { fuzzy: 1, prefix: true, combineWith: 'AND' }
let found = 0
for await (const _ of createInterface({ input: process.stdin })) {
  const millis = queries.map((query) => {
    const begun = performance.now()
    found += index.search(query, options).slice(0, 10).length
    return performance.now() - begun
  })
  console.log(JSON.stringify(millis))
}
