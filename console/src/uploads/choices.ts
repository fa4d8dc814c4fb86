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

/** What is there and was chosen before, else what the file's name says, else the first. */
export function datasetFor(datasets: readonly Dataset[], wanted: string | undefined): Dataset | undefined {
  return datasets.find(({ dataset }) => dataset === wanted) ?? datasets[0]
}

export function platformFor(
  dataset: Dataset,
  wanted: string | undefined,
  fileName: string | undefined,
): string {
  const name = fileName?.toLowerCase() ?? ''
  const named = dataset.platforms.find(({ platform }) => name.includes(platform.toLowerCase()))
  const known = dataset.platforms.find(({ platform }) => platform === wanted)
  return (named ?? known ?? dataset.platforms[0])?.platform ?? ''
}

/** Whose data it is must not be guessed among several: only the one before, or the only one. */
export function clientFor(clients: readonly UploadClient[], wanted: string | undefined): string {
  const known = clients.find(({ id }) => id === wanted)
  return (known ?? (clients.length === 1 ? clients[0] : undefined))?.id ?? ''
}
