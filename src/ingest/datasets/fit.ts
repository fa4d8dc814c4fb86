/** Which datasets a file may be of, by its headers: for a file that comes without the name of one. */
import type { Dataset } from './dataset.ts'
import { mapHeaders } from './headers.ts'
import { type ChosenMapping, type MappedHeaders, namedFields } from './mapping.ts'

export interface FitOptions {
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
