/** The HTTP API over a test database, called in process. */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import pino, { type Logger } from 'pino'
import { afterAll, beforeAll } from 'vitest'
import { createTokenVerifier, signToken } from '../../src/access/tokens.ts'
import { createSearch } from '../../src/app/search.ts'
import { startReader } from '../../src/app/upload-reader.ts'
import { type ApiContext, createServer } from '../../src/http/server.ts'
import type { Worker } from '../../src/jobs/worker.ts'
import { readConfig } from '../../src/kernel/config.ts'
import { inStatement } from '../../src/kernel/postgres/connection.ts'
import { createHealthProbe, type HealthCheck } from '../../src/kernel/postgres/health.ts'
import { inTransaction } from '../../src/kernel/postgres/transaction.ts'
import { mcpRoutes } from '../../src/mcp/http.ts'
import type { BlobStore } from '../../src/runtime/stores/blob-store.ts'
import { createDiskBlobStore } from '../../src/runtime/stores/disk-store.ts'
import { openWakeups, type Wakeups } from '../../src/runtime/wakeups.ts'
import type { Search } from '../../src/search/library.ts'
import type { TestDatabase } from './database.ts'
import type { Member } from './factories.ts'
import { temporaryHome } from './temporary-home.ts'

export const SECRET = randomBytes(32).toString('base64url')

export interface TestApi {
  app: FastifyInstance
  /** Where the spool is. */
  home: string
  get(url: string, token?: string): Promise<{ status: number; body: never; headers: Record<string, unknown> }>
  /** A JSON body, as a value or as its very text. */
  post(
    url: string,
    token: string,
    body?: object | string,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: never; headers: Record<string, unknown> }>
  /** Ends the reader of uploads, as the end of its process does. */
  stopReader(): Promise<void>
  /** Listens on a free port, for what needs a real connection. Returns the address. */
  listen(): Promise<string>
  token(
    member: Pick<Member, 'userId' | 'role'>,
    options?: { expiresIn?: string; readOnly?: boolean },
  ): Promise<string>
}

interface ApiSettings {
  rateLimit?: number
  bodyLimit?: number
  blobs?: BlobStore
  blobLimit?: number
  webhookHosts?: readonly string[]
  stallMs?: number
  totalMs?: number
  workers?: () => HealthCheck
  /** Sign-in and sessions; by default nothing is cached. */
  signIn?: Partial<Pick<ApiContext, 'oidc' | 'linkInvitations' | 'credentialCacheMs'>>
  publicUrl?: string
  trustProxy?: readonly string[]
  /** True: uploads are read in this process, as `stagedoor start` does. */
  reader?: boolean
  /** Its log; default: none. */
  readerLog?: Logger
  /** True: claims that wait are woken, as in `stagedoor start`; else they poll. */
  wakeups?: boolean
  /** False: there is no login for statements, as on a database of one's own without PROPOSAL_DATABASE_URL. */
  proposals?: boolean
  /** Routes that only the test has. */
  routes?: (app: FastifyInstance) => void
}

export function useApi(db: TestDatabase, settings: ApiSettings = {}): TestApi {
  const folder = join(tmpdir(), `stagedoor-test-blobs-${db.name}`)
  const home = temporaryHome('api')
  let search: Search
  let reader: Worker | undefined
  let wakeups: Wakeups | undefined
  const api = {
    home,
    stopReader: async () => reader?.stop(),
    async get(url: string, token?: string) {
      const reply = await api.app.inject({ url, headers: token ? { authorization: `Bearer ${token}` } : {} })
      return { status: reply.statusCode, body: reply.json() as never, headers: reply.headers }
    },
    async post(url: string, token: string, body?: object | string, headers: Record<string, string> = {}) {
      const reply = await api.app.inject({
        method: 'POST',
        url,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      return { status: reply.statusCode, body: reply.json() as never, headers: reply.headers }
    },
    listen: () => api.app.listen({ port: 0, host: '127.0.0.1' }),
    token: (member, { expiresIn = '1h', readOnly = false } = {}) =>
      signToken(SECRET, { subject: member.userId, role: member.role, expiresIn, readOnly }),
  } as TestApi
  beforeAll(async () => {
    const probe = createHealthProbe()
    const workers = db.pool('stagedoor_worker')
    search = createSearch({
      config: readConfig({}),
      database: { workerUrl: db.url('stagedoor_worker') },
      pool: workers,
      statement: (work) => inStatement(workers, work),
    })
    if (settings.wakeups) wakeups = openWakeups(db.url('stagedoor_worker'), pino({ level: 'silent' }))
    api.app = await createServer({
      wakeups,
      config: {
        bodyLimit: settings.bodyLimit ?? 1_048_576,
        rateLimit: settings.rateLimit ?? 0,
        webhookHosts: settings.webhookHosts ?? [],
        ...(settings.publicUrl !== undefined && { publicUrl: settings.publicUrl }),
        ...(settings.trustProxy !== undefined && { trustProxy: settings.trustProxy }),
      },
      pool: db.pool('stagedoor_api'),
      blobs: settings.blobs ?? createDiskBlobStore(folder),
      ingest: {
        pool: workers,
        home,
        proposalPool: settings.proposals === false ? undefined : db.pool('stagedoor_proposer'),
      },
      search,
      mcp: mcpRoutes,
      ...(settings.blobLimit !== undefined && { blobLimit: settings.blobLimit }),
      ...(settings.stallMs !== undefined && { stallMs: settings.stallMs }),
      ...(settings.totalMs !== undefined && { totalMs: settings.totalMs }),
      tokens: createTokenVerifier(
        { jwksUrl: undefined, jwtIssuer: undefined, jwtAudience: undefined },
        SECRET,
      ),
      credentialCacheMs: 0,
      ...settings.signIn,
      signIn: (who) => signToken(SECRET, { ...who, expiresIn: '1h' }),
      health: async () => [
        ...(await inTransaction(workers, probe)),
        settings.workers?.() ?? { name: 'workers', ok: true, detail: 'in the test' },
      ],
    })
    settings.routes?.(api.app)
    if (settings.reader)
      reader = await startReader(
        { pool: workers, home },
        { log: settings.readerLog ?? pino({ level: 'silent' }), listenUrl: db.url('stagedoor_worker') },
      )
  })
  afterAll(async () => {
    await api.app.close()
    await reader?.stop()
    await wakeups?.close()
    await search.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return api
}
