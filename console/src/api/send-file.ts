import { NoAnswer } from './failure.ts'
import { AFTER_HEADER, addressOf, authorization, keepLastWrite, readAnswer } from './request.ts'
import type { Upload } from './upload-types.ts'

export interface SentFile {
  readonly file: File
  /** In the order of the form; they go before the file. */
  readonly fields: Readonly<Record<string, string>>
  sent(bytes: number): void
}

export interface SentUpload {
  readonly upload: Upload
  /** False: the same bytes were there already. */
  readonly created: boolean
}

/** By XMLHttpRequest, because fetch does not report how many bytes were sent. */
export function sendFile(
  { file, fields, sent }: SentFile,
  token: string | undefined,
): { readonly done: Promise<SentUpload>; stop(): void } {
  const request = new XMLHttpRequest()
  const done = new Promise<SentUpload>((resolve, reject) => {
    request.upload.onprogress = (event) => sent(Math.min(event.loaded, file.size))
    request.onload = () => {
      keepLastWrite(request.getResponseHeader(AFTER_HEADER))
      try {
        resolve(readAnswer(request.status, request.getResponseHeader('content-type'), request.responseText))
      } catch (failure) {
        reject(failure)
      }
    }
    request.onerror = () => reject(new NoAnswer('The connection broke before the file had arrived.'))
    request.onabort = () => reject(new NoAnswer('The upload was stopped. Nothing of it was kept.'))
  })
  request.open('POST', addressOf('/uploads'))
  for (const [name, value] of Object.entries(authorization(token))) request.setRequestHeader(name, value)
  request.setRequestHeader('accept', 'application/json')
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', file, file.name)
  request.send(form)
  return { done, stop: () => request.abort() }
}
