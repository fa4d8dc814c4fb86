/** Which datasets a file may be of, by its headers and values: for a file that comes without the name of one. */

import type { DatasetMatch, DatasetMatches } from '../mapping-shapes.ts'
import { type ReadOptionsMemory, recallOptions } from '../read-options.ts'
import { normaliseFile } from '../readers/normalise.ts'
import type { SpooledFile } from '../spool.ts'
import type { FileOptions } from '../stage.ts'
import type { Dataset } from './dataset.ts'
import { knownHeaderTest, mapHeaders } from './headers.ts'
import { type ChosenMapping, type MappedHeaders, namedFields } from './mapping.ts'
import { columnsOf, fieldsOf, proposedHeaders, sampleColumns } from './mapping-preview.ts'

interface FitOptions {
  readonly platform?: string | undefined
  /** Of the workspace. */
  readonly remembered?: readonly MappedHeaders[]
  /** For this file: it goes before what is remembered. A dataset without a field that is named here does not fit. */
  readonly chosen?: ChosenMapping
}

/** Names of the datasets that find all they need; where one of them knows more of the file than the others, only that one. */
export function datasetsThatFit(
  datasets: readonly Dataset[],
  headers: readonly string[],
  { platform, remembered = [], chosen = {} }: FitOptions = {},
): string[] {
  const named = namedFields(chosen)
  const rated = datasets.flatMap((dataset) => {
    if (!named.every((field) => Object.hasOwn(dataset.fields, field))) return []
    const platforms = Object.keys(dataset.platforms).filter(
      (name) => platform === undefined || name === platform,
    )
    const known = platforms.map((name) => {
      const before = remembered.find((one) => one.dataset === dataset.name && one.platform === name)
      const { fields, missing, rowTypes } = mapHeaders(dataset, name, [...headers], {
        headers: { ...before?.headers, ...chosen.headers },
      })
      return missing.length === 0 && rowTypes.length > 0 ? Object.keys(fields).length : 0
    })
    const most = Math.max(0, ...known)
    return most > 0 ? [{ name: dataset.name, most }] : []
  })
  const best = Math.max(0, ...rated.map(({ most }) => most))
  return rated.filter(({ most }) => most === best).map(({ name }) => name)
}

interface MatchRequest {
  readonly datasets: readonly Dataset[]
  readonly file: SpooledFile
  readonly remembered: readonly MappedHeaders[]
  /** How the same person had earlier files read. */
  readonly memories?: readonly ReadOptionsMemory[]
  readonly options?: FileOptions | undefined
  /** The file is only the beginning of a longer one: its last line may be cut. */
  readonly head?: boolean | undefined
  readonly maxLines?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** With fewer of its columns in use, that a file has what a dataset needs says little. */
const MIN_USED_SHARE = 0.25

/** How well a file fits each dataset, the best first; `best` only where no other is as near. */
export async function matchDatasets(request: MatchRequest): Promise<DatasetMatches> {
  const { datasets, file, remembered, options = {}, head = false, maxLines, signal } = request
  const memoryOf = (dataset: string, platform: string) =>
    remembered.find((one) => one.dataset === dataset && one.platform === platform)?.headers ?? {}
  const known = datasets.flatMap((dataset) =>
    Object.keys(dataset.platforms).map((platform) =>
      knownHeaderTest(dataset, platform, { headers: memoryOf(dataset.name, platform) }),
    ),
  )
  const knowsHeader = (header: string) => known.some((knows) => knows(header))
  const recalled = await recallOptions(file, request.memories ?? [], options, knowsHeader)
  const normalised = await normaliseFile(file.path, file.folder, {
    ...recalled?.read,
    ...options,
    knowsHeader,
    ...(maxLines !== undefined && { maxLines }),
    ...(signal && { signal }),
  })
  const { headers } = normalised
  const samples = await sampleColumns(normalised, head)

  const matchOf = async (dataset: Dataset, platform: string): Promise<DatasetMatch> => {
    const memory = memoryOf(dataset.name, platform)
    const read = mapHeaders(dataset, platform, headers, { headers: memory })
    const missingIn = (map: typeof read) =>
      fieldsOf(dataset, map, normalised, []).filter(({ missing }) => missing)
    const isWhole = (map: typeof read) => map.rowTypes.length > 0 && missingIn(map).length === 0
    const columns = await columnsOf({
      dataset,
      platform,
      read,
      samples,
      chosen: {},
      remembered: { headers: memory, field_values: {} },
      // Lookups are read for the dataset that is chosen, not for all of them.
      lookups: undefined,
    })
    const confirmed = mapHeaders(dataset, platform, headers, {
      headers: { ...memory, ...proposedHeaders(columns) },
    })
    return {
      dataset: dataset.name,
      title: dataset.title,
      platforms: [platform],
      fit: isWhole(read) ? 'sure' : isWhole(confirmed) ? 'likely' : 'no',
      used: Object.keys(confirmed.fields).length,
      known: Object.keys(read.fields).length,
      missing: missingIn(confirmed).map(({ title }) => title),
    }
  }

  const matches: DatasetMatch[] = []
  for (const dataset of datasets) {
    const ofPlatforms: DatasetMatch[] = []
    for (const platform of Object.keys(dataset.platforms)) ofPlatforms.push(await matchOf(dataset, platform))
    const [first] = ofPlatforms.toSorted(byFit)
    if (!first) continue
    const alike = ofPlatforms.filter((one) => byFit(one, first) === 0)
    matches.push({ ...first, platforms: alike.flatMap(({ platforms }) => platforms) })
  }
  matches.sort(byFit)
  const [first, second] = matches
  const isEvident =
    first !== undefined &&
    first.fit !== 'no' &&
    first.used >= headers.length * MIN_USED_SHARE &&
    (second === undefined || byFit(first, second) < 0)
  return { columns: headers.length, best: isEvident ? first.dataset : null, matches }
}

const FIT_ORDER = { sure: 0, likely: 1, no: 2 }

/**
 * One whose headers are known before one that is found by likeness, before one that lacks something; then by the columns of the file
 * that it knows, as `datasetsThatFit` does, and by those that it uses.
 */
function byFit(left: DatasetMatch, right: DatasetMatch): number {
  const used = right.used - left.used
  const known = right.known - left.known
  return FIT_ORDER[left.fit] - FIT_ORDER[right.fit] || (left.fit === 'sure' ? known || used : used || known)
}
