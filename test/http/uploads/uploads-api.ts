/** Uploads over the real API: one workspace with a client and people, each with a token. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { beforeAll } from 'vitest'
import { type TestApi, useApi } from '../../support/api.ts'
import { type TestDatabase, useDatabase } from '../../support/database.ts'
import { createMember, createWorkspace } from '../../support/factories.ts'
import { createClient, type TestIngest, useIngest } from '../../support/ingest.ts'
import { until } from '../../support/until.ts'

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks into is what it asserts
  body: any
}

export type Person = 'operator' | 'reviewer' | 'agent' | 'viewer' | 'stranger' | 'reader'

export interface UploadsApi {
  readonly db: TestDatabase
  readonly api: TestApi
  readonly ads: TestIngest
  /** Of another workspace, with a client of its own. */
  other: { workspace: string; client: string }
  tokens: Record<Person, string>
  call(method: string, path: string, as: Person, body?: object): Promise<Answer>
  /** As a form, like the console. */
  send(text: string | Buffer, as: Person, fields?: Record<string, string>, fileName?: string): Promise<Answer>
  /** Waits until it is neither read nor planned any more, and gives it. */
  settled(upload: string, as?: Person): Promise<Answer['body']>
  /** Sends a file and waits. */
  upload(text: string | Buffer, as?: Person, fields?: Record<string, string>): Promise<Answer['body']>
  /** Folders in which files are being read or received. */
  spooled(): string[]
  /** Files in the store, those that are being received as well. */
  stored(): string[]
}

export function useUploads(
  settings: { approval?: boolean; reader?: boolean; readerLog?: Logger } = {},
): UploadsApi {
  const db = useDatabase()
  const ads = useIngest(db, settings)
  const { reader = true, readerLog } = settings
  const api = useApi(db, { reader, ...(readerLog && { readerLog }) })
  const uploads: UploadsApi = {
    db,
    api,
    ads,
    other: { workspace: '', client: '' },
    tokens: {} as UploadsApi['tokens'],
    async call(method, path, as, body) {
      const reply = await api.app.inject({
        method: method as 'GET',
        url: `/api/v1${path}`,
        headers: {
          authorization: `Bearer ${uploads.tokens[as]}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { payload: JSON.stringify(body) }),
      })
      return { status: reply.statusCode, body: json(reply.body) }
    },
    async send(text, as, fields = {}, fileName = 'week.csv') {
      const { body, type } = form(
        text,
        { dataset: 'ads', platform: 'meta', client_id: ads.client, ...fields },
        fileName,
      )
      const reply = await api.app.inject({
        method: 'POST',
        url: '/api/v1/uploads',
        headers: { authorization: `Bearer ${uploads.tokens[as]}`, 'content-type': type },
        payload: body,
      })
      return { status: reply.statusCode, body: json(reply.body) }
    },
    settled: (upload, as = 'operator') =>
      until('the upload is read', async () => {
        // The stream ends when its job has done all that it was asked to.
        await api.app.inject({
          url: `/api/v1/uploads/${upload}/progress`,
          headers: { authorization: `Bearer ${uploads.tokens[as]}` },
        })
        return (await uploads.call('GET', `/uploads/${upload}`, as)).body
      }),
    async upload(text, as = 'operator', fields = {}) {
      const { status, body } = await uploads.send(text, as, fields)
      if (status !== 202) throw new Error(`${status}: ${JSON.stringify(body)}`)
      return uploads.settled(body.upload.upload_id, as)
    },
    spooled() {
      try {
        return readdirSync(join(api.home, 'spool'))
      } catch {
        return []
      }
    },
    stored() {
      const found = readdirSync(join(api.home, 'uploads'), { recursive: true, withFileTypes: true })
      return found.filter((entry) => entry.isFile()).map(({ name }) => name)
    },
  }
  beforeAll(async () => {
    uploads.other.workspace = await createWorkspace(db, 'Another agency')
    uploads.other.client = await createClient(db, uploads.other.workspace, 'Contoso')
    const viewer = await createMember(db, ads.workspace, 'viewer')
    const stranger = await createMember(db, uploads.other.workspace, 'admin')
    uploads.tokens = {
      operator: await api.token(ads.operator),
      reviewer: await api.token(ads.reviewer),
      agent: await api.token(ads.agent),
      viewer: await api.token(viewer),
      stranger: await api.token(stranger),
      reader: await api.token(ads.operator, { readOnly: true }),
    }
  })
  return uploads
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function form(text: string | Buffer, fields: Record<string, string>, fileName: string) {
  const boundary = 'the-boundary-of-a-test'
  const head = Object.entries(fields)
    .map(
      ([name, value]) =>
        `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    .join('')
  const file = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${fileName}"\r\ncontent-type: text/csv\r\n\r\n`
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([
      Buffer.from(head + file),
      Buffer.from(text),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  }
}

export const HEADER = 'Campaign name,Ad set name,Ad name,Day,Amount spent (AUD),Impressions,Link clicks'

/** A week of one ad, from the given day on; a fresh campaign makes a fresh file. */
export function week(campaign: string, changes: { spend?: string; days?: number } = {}): string {
  const { spend = '12.50', days = 7 } = changes
  const lines = Array.from(
    { length: days },
    (_, day) =>
      `${campaign},Retarget,Video,2026-11-0${day + 1},${day === 0 ? spend : '10.25'},${1000 + day},${10 + day}`,
  )
  return `${[HEADER, ...lines].join('\n')}\n`
}
