import { NoAnswer } from './failure.ts'
import { addressOf, authorization, readAnswer } from './request.ts'
import type { MappingPreview } from './upload-types.ts'

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

export async function previewMapping(
  { file, dataset, fields }: PreviewAsked,
  token: string | undefined,
  signal: AbortSignal,
): Promise<MappingPreview> {
  const isHead = sendsHead(file)
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  if (isHead) form.append('head', 'true')
  form.append('file', isHead ? file.slice(0, HEAD_BYTES) : file, file.name)
  const response = await fetch(addressOf(`/datasets/${encodeURIComponent(dataset)}/mapping/preview`), {
    method: 'POST',
    headers: { accept: 'application/json', ...authorization(token) },
    body: form,
    signal,
    credentials: 'omit',
  }).catch((cause) => {
    throw new NoAnswer('No answer from the server.', cause)
  })
  return readAnswer(response.status, response.headers.get('content-type'), await response.text())
}
