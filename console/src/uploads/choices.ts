import type { Dataset, UploadClient } from '../api/upload-types.ts'

/** What the form asks, besides the file. Remembered in this browser, since most people upload the same kind of file. */
export interface Choices {
  readonly workspace: string
  readonly dataset: string
  readonly platform: string
  readonly client: string
  readonly onInvalid: 'refuse' | 'skip'
}

const KEY = 'stagedoor.upload'

export function rememberedChoices(): Partial<Choices> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}')
  } catch {
    return {}
  }
}

export function rememberChoices(choices: Choices): void {
  localStorage.setItem(KEY, JSON.stringify(choices))
}

/** The only one, or the one that the file's columns show. Nobody guesses among several. */
export function datasetFor(
  datasets: readonly Dataset[],
  wanted: string | undefined,
  evident: string | null | undefined,
): Dataset | undefined {
  const named = wanted ?? evident ?? undefined
  return datasets.length === 1 ? datasets[0] : datasets.find(({ dataset }) => dataset === named)
}

/** The one that the columns show, else the one that the file's name says, else the one before. */
export function platformFor(
  dataset: Dataset,
  wanted: string | undefined,
  fileName: string | undefined,
  evident: readonly string[] | undefined,
): string {
  const name = fileName?.toLowerCase() ?? ''
  const fitting = dataset.platforms.filter(({ platform }) => evident?.includes(platform) ?? true)
  const named = fitting.find(({ platform }) => name.includes(platform.toLowerCase()))
  const known = fitting.find(({ platform }) => platform === wanted)
  return (named ?? known ?? fitting[0] ?? dataset.platforms[0])?.platform ?? ''
}

/** Whose data it is must not be guessed among several: only the one before, or the only one. */
export function clientFor(clients: readonly UploadClient[], wanted: string | undefined): string {
  const known = clients.find(({ id }) => id === wanted)
  return (known ?? (clients.length === 1 ? clients[0] : undefined))?.id ?? ''
}
