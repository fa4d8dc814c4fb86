import { NoAnswer } from './failure.ts'
import { addressOf, authorization, readAnswer } from './request.ts'
import type { DatasetMatches, MappingPreview } from './upload-types.ts'

export interface PreviewAsked {
  readonly file: File
  readonly dataset: string
  readonly fields: Readonly<Record<string, string>>
}

/** Of a longer text file this much is sent: enough for the examples and the proposals. */
const HEAD_BYTES = 1024 ** 2
const TEXT_FILE = /\.(csv|tsv|txt|jsonl|ndjson)$/i

/** True: only the beginning of the file is looked at. */
export function sendsHead({ name, size }: File): boolean {
  return size > HEAD_BYTES && TEXT_FILE.test(name)
}

export function previewMapping(
  { file, dataset, fields }: PreviewAsked,
  token: string | undefined,
  signal: AbortSignal,
): Promise<MappingPreview> {
  return sendBeginning(
    `/datasets/${encodeURIComponent(dataset)}/mapping/preview`,
    file,
    fields,
    token,
    signal,
  )
}

export function matchDatasets(
  file: File,
  fields: Readonly<Record<string, string>>,
  token: string | undefined,
  signal: AbortSignal,
): Promise<DatasetMatches> {
  return sendBeginning('/datasets/match', file, fields, token, signal)
}

/** The file is looked at and not kept; of a long text only its beginning is sent. */
async function sendBeginning<Answer>(
  path: string,
  file: File,
  fields: Readonly<Record<string, string>>,
  token: string | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  if (!sendsHead(file)) return sendForm(path, file, fields, token, signal)
  const beginning = new File([file.slice(0, HEAD_BYTES)], file.name)
  return sendForm(path, beginning, { ...fields, head: 'true' }, token, signal)
}

/** A file as a form, its fields before it. */
export async function sendForm<Answer>(
  path: string,
  file: File,
  fields: Readonly<Record<string, string>>,
  token: string | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', file, file.name)
  const response = await fetch(addressOf(path), {
    method: 'POST',
    headers: { accept: 'application/json', ...authorization(token) },
    body: form,
    signal,
    credentials: 'same-origin',
  }).catch((cause) => {
    throw new NoAnswer('No answer from the server.', cause)
  })
  return readAnswer(response.status, response.headers.get('content-type'), await response.text())
}
