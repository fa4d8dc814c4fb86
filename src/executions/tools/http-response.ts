/** An answer, as JSON that an execution can hold. */
import type { IncomingMessage } from 'node:http'
import type { Json } from '../playbook/definition.ts'
import { ToolError } from '../tool.ts'

export const MOST_RESPONSE_BYTES = 8 * 1024 * 1024

export async function readLimited(response: IncomingMessage, name: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length
    if (bytes > MOST_RESPONSE_BYTES) {
      response.destroy()
      throw new ToolError(
        `${name} answered more than ${MOST_RESPONSE_BYTES} bytes; ask for less, or in pages`,
      )
    }
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

/** Without cookies: they are keys to somebody's session, and results are kept. */
export function headersOf(response: IncomingMessage): Record<string, Json> {
  const { 'set-cookie': _, ...headers } = response.headers
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, text(value)]))
}

/** JSON where it says so, else text; bytes that are no text as base64, with the name of that in `encoding`. */
export function bodyOf(
  response: IncomingMessage,
  bytes: Buffer,
  name: string,
): { readonly body: Json; readonly encoding?: string } {
  if (bytes.length === 0) return { body: null }
  const type = response.headers['content-type'] ?? ''
  if (/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) return { body: parsed(bytes, name) }
  const body = asText(bytes)
  return body === undefined ? { body: bytes.toString('base64'), encoding: 'base64' } : { body }
}

function parsed(bytes: Buffer, name: string): Json {
  try {
    return JSON.parse(bytes.toString('utf8')) as Json
  } catch (error) {
    throw new ToolError(`${name} says that its answer is JSON, and it is not: ${(error as Error).message}`)
  }
}

function asText(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

/** Node reads headers as Latin-1: no half characters in them. */
function text(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(', ') : (value ?? '')
}
