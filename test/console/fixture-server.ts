import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOMS } from '../../src/app/overview.ts'

const DIST = fileURLToPath(new URL('../../console/dist/', import.meta.url))

/** The policy that the real server sends: whatever breaks it shows as an error in the browser's console. */
const POLICY = "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; object-src 'none'"

const MEDIA: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

export const GOOD_TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJvcGVyYXRvciJ9.c2lnbmF0dXJl'
export const EXPIRED_TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJvbGQifQ.c2lnbmF0dXJl'

const GOOD_COOKIE = 'stagedoor_session=good'
const SESSION = {
  session_id: 's1',
  provider: 'link',
  csrf: 'csrf-of-s1',
  created_at: new Date().toISOString(),
  expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  idle_until: new Date(Date.now() + 3_600_000).toISOString(),
}

export interface FixtureEvent {
  id: string
  event_domain: string
  event_type: string
  event_stream: string | null
  event_subject_ref: string
  actor: string
  workspace_id: string
  created_at: string
  payload: Record<string, unknown>
}

/** What the API answers with. A test changes it, and the page must follow. */
export interface FixtureState {
  checks: { name: string; ok: boolean; detail: string }[]
  gates: {
    gate: string
    open: boolean
    description: string
    changed_at: string | null
    changed_by: string | null
  }[]
  events: FixtureEvent[]
  next: string | null
  /** Uploads by their status; only what the overview and the rail show of them. */
  uploads: FixtureUpload[]
  datasets: FixtureRow[]
  /** The figures of rooms; the gates of the overview are those above. */
  rooms: FixtureRow[]
  openIssues: number
  records: FixtureRow[]
  /** Of the one who is signed in. */
  rights: string[]
  /** Names by id. */
  people: Record<string, string>
  takesTokens: boolean
  /** How many sign-in links are good. */
  codes: number
}

export type FixtureRow = Record<string, unknown>

export interface FixtureUpload {
  upload_id: string
  file_name: string
  status: string
  review_status: string | null
  [field: string]: unknown
}

export interface FixtureServer {
  readonly url: string
  state: FixtureState
  /** Every path under /api that was asked for. */
  readonly asked: string[]
  stop(): Promise<void>
  /** Comes back at the same address. */
  start(): Promise<void>
}

export async function startFixtureServer(): Promise<FixtureServer> {
  if (!existsSync(join(DIST, 'index.html'))) {
    throw new Error('The console is not built. Build it with: npm run build -w console')
  }
  let server: Server | undefined
  let port = 0
  const fixture: FixtureServer = {
    get url() {
      return `http://localhost:${port}`
    },
    state: initialState(),
    asked: [],
    async start() {
      server = createServer((request, response) => {
        respond(fixture, request, response).catch((error: Error) => response.destroy(error))
      })
      await new Promise<void>((listening) => server?.listen(port, '127.0.0.1', listening))
      port = (server.address() as AddressInfo).port
    },
    async stop() {
      const stopping = server
      server = undefined
      if (stopping === undefined) return
      const closed = new Promise((done) => stopping.close(done))
      stopping.closeAllConnections()
      await closed
    },
  }
  await fixture.start()
  return fixture
}

export function initialState(): FixtureState {
  return {
    checks: [
      { name: 'database', ok: true, detail: 'PostgreSQL 18.1, answered in 1 ms' },
      { name: 'migrations', ok: true, detail: '1 applied, 24 routines in force' },
      { name: 'workers', ok: true, detail: 'none are needed yet' },
      { name: 'event_partitions', ok: true, detail: 'created 93 days ahead' },
    ],
    gates: [
      gate(
        'iu_core.no_vector_staging_excluded',
        true,
        'staged data is kept out of search; closed, nothing at all is embedded',
      ),
      gate('iu_core.staging_cleanup_enabled', false, 'ended staging records are expired and cleaned'),
      gate(
        'iu_core.staging_writes_enabled',
        true,
        'anything may be written into the staging zone',
        'operator',
      ),
      gate('queue.consumer_dispatch.enabled', false, 'events are turned into jobs'),
    ],
    events: [
      event(3, 'system.gate_changed', 'iu_core.staging_writes_enabled', 125, { open: true }),
      event(2, 'dot.run.applied', '0199a7c2-5a1e-7c3b-9f60-3b1d8a44e0f1', 400),
      event(1, 'dot.run.failed', '0199a7c1-77aa-7d10-8a02-90ab11ce04d2', 7_300),
    ],
    next: null,
    uploads: [],
    datasets: [
      {
        dataset: 'ads',
        title: 'Ads',
        version: 1,
        approval_required: true,
        undo_window: '30 days',
        workspace_id: null,
        platforms: [{ platform: 'meta', title: 'Meta' }],
        row_types: [],
        takes: 'files',
        has_clients: false,
      },
    ],
    rooms: ROOMS.map((name) => room(name)),
    openIssues: 0,
    records: [],
    rights: ['read', 'stage', 'operate'],
    people: {},
    takesTokens: true,
    codes: 1,
  }
}

export function event(
  id: number,
  name: string,
  subject: string,
  secondsAgo: number,
  payload: Record<string, unknown> = {},
): FixtureEvent {
  const [domain = '', ...type] = name.split('.')
  return {
    id: `0199a7c2-0000-7000-8000-${String(id).padStart(12, '0')}`,
    event_domain: domain,
    event_type: type.join('.'),
    event_stream: null,
    event_subject_ref: subject,
    actor: 'operator',
    workspace_id: 'w1',
    created_at: new Date(Date.now() - secondsAgo * 1000).toISOString(),
    payload,
  }
}

/** Planned and handed in, unless told otherwise. */
export function upload(id: number, name: string, changes: Record<string, unknown> = {}): FixtureUpload {
  const at = new Date(Date.now() - 38 * 60_000).toISOString()
  return {
    upload_id: `0199a7c2-0000-7000-8000-1${String(id).padStart(11, '0')}`,
    file_name: name,
    status: 'planned',
    review_status: 'pending',
    own_totals: null,
    outdated: null,
    run_mode: 'SAFE_PROD',
    uploaded_by: 'ada@localhost',
    client_id: 'c1',
    invalid_count: 0,
    line_count: 50,
    left_out: {},
    control: [],
    repeated_keys: null,
    plan_notes: [],
    plan_refusal: null,
    plan_totals: { daily_metric: { insert: 40, update: 10 } },
    promotion_totals: null,
    promoted_at: null,
    undone_at: null,
    ended_at: null,
    undo_until: null,
    created_at: at,
    staged_at: at,
    planned_at: at,
    change: null,
    undo_reason: null,
    promotion_failures: [],
    promotion_failure_count: 0,
    ...changes,
  }
}

function gate(name: string, open: boolean, description: string, by?: string): FixtureState['gates'][number] {
  const changed = by === undefined ? null : new Date(Date.now() - 125_000).toISOString()
  return { gate: name, open, description, changed_at: changed, changed_by: by ?? null }
}

async function respond(
  fixture: FixtureServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', fixture.url)
  response.setHeader('content-security-policy', POLICY)
  response.setHeader('x-content-type-options', 'nosniff')
  if (!pathname.startsWith('/api/')) return await sendFile(response, pathname)
  fixture.asked.push(pathname)
  if (pathname === '/api/v1/live') {
    // Tells nothing, so that the pages read every five seconds of their clock.
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end()
    return
  }
  const text = await readText(request)
  const { status, body, cookie } = answer(fixture.state, {
    method: request.method ?? 'GET',
    path: pathname,
    query: searchParams,
    cookie: request.headers.cookie ?? '',
    csrf: request.headers['x-stagedoor-csrf'] as string | undefined,
    sent: text.startsWith('{') ? JSON.parse(text) : {},
  })
  const problem = typeof body === 'object' && 'title' in body
  response.writeHead(status, {
    'content-type': `application/${problem ? 'problem+' : ''}json; charset=utf-8`,
    ...(cookie !== undefined && { 'set-cookie': `${cookie}; Path=/; HttpOnly; SameSite=Lax` }),
  })
  response.end(status === 204 ? undefined : JSON.stringify(body))
}

interface Answer {
  status: number
  body: object
  /** Set in the browser. */
  cookie?: string
}

interface Asked {
  method: string
  path: string
  query: URLSearchParams
  cookie: string
  csrf: string | undefined
  sent: Record<string, unknown>
}

function answer(state: FixtureState, { method, path, query, cookie, csrf, sent }: Asked): Answer {
  if (path === '/api/health') return { status: 200, body: { status: 'ok', version: '0.1.0' } }
  if (path === '/api/ready') {
    const ready = state.checks.every((check) => check.ok)
    const body = { status: ready ? 'ready' : 'not_ready', checks: state.checks }
    return { status: ready ? 200 : 503, body }
  }
  if (path === '/api/v1/sign-in') {
    if ('token' in sent)
      return sent.token === GOOD_TOKEN
        ? { status: 200, body: { session: SESSION }, cookie: GOOD_COOKIE }
        : refusal(401, 'token_invalid', 'The token is not valid: it expired')
    // A code is good once.
    const isGood = state.codes > 0
    state.codes -= 1
    return isGood
      ? { status: 200, body: { session: SESSION }, cookie: GOOD_COOKIE }
      : refusal(
          401,
          'token_invalid',
          'The token is not valid: the sign-in link was used already, or is too old',
        )
  }
  const isSignedIn = cookie.includes(GOOD_COOKIE) && state.takesTokens
  if (path === '/api/v1/session' && method === 'GET') {
    const sign_in = { oidc: null, link_invitations: true }
    return { status: 200, body: { session: isSignedIn ? SESSION : null, sign_in } }
  }
  if (!isSignedIn) return refusal(401, 'session_invalid', 'You are not signed in any more: the session ended')
  if (method !== 'GET' && csrf !== SESSION.csrf)
    return refusal(403, 'csrf_failed', 'The request was not sent by the console')
  if (path === '/api/v1/session') return { status: 204, body: {}, cookie: 'stagedoor_session=' }
  if (path === '/api/v1/me') {
    const role = state.rights.includes('stage') ? 'operator' : 'viewer'
    const workspaces = [{ id: 'w1', name: 'Acme Media', role, rights: state.rights }]
    return {
      status: 200,
      body: { actor: 'operator@localhost', name: null, role: 'authenticated', workspaces },
    }
  }
  if (path === '/api/v1/gates') return { status: 200, body: { gates: state.gates } }
  if (path === '/api/v1/events')
    return {
      status: 200,
      body: { events: state.events, people: state.people, subjects: {}, next: state.next },
    }
  if (path === '/api/v1/overview') {
    const gates = state.gates.map((one) => ({ ...one, title: one.description, when_closed: 'It waits.' }))
    return { status: 200, body: { rooms: state.rooms, gates, open_issues: state.openIssues } }
  }
  if (path === '/api/v1/find') return { status: 200, body: { found: [] } }
  if (path === '/api/v1/uploads') {
    const wanted = query.get('status')?.split(',')
    const all = state.uploads.filter(
      ({ status, review_status }) =>
        (wanted === undefined || wanted.includes(status)) &&
        (query.get('waiting') !== 'true' || review_status === 'pending'),
    )
    const limit = Number(query.get('limit') ?? 20)
    const uploads = all.slice(0, limit)
    return { status: 200, body: { uploads, people: state.people, next: all.length > limit ? 'next' : null } }
  }
  if (path === '/api/v1/inbox') return { status: 200, body: { matters: [], to_do: 0, unread: 0, people: {} } }
  if (path === '/api/v1/changes') return { status: 200, body: { changes: [], next: null, people: {} } }
  if (path === '/api/v1/staging') return listed('records', state.records, query)
  if (path === '/api/v1/datasets') return { status: 200, body: { datasets: state.datasets } }
  return refusal(404, 'not_found', 'There is no such path')
}

function listed(name: string, rows: FixtureRow[], query: URLSearchParams): Answer {
  const limit = Number(query.get('limit') ?? 50)
  const body = { [name]: rows.slice(0, limit), people: {}, next: rows.length > limit ? 'next' : null }
  return { status: 200, body }
}

/** With nothing in it, unless told otherwise. */
export function room(name: string, changes: FixtureRow = {}): FixtureRow {
  const rate = { count: 0, window_s: 3600, series: [0, 0] }
  const figures = { count: 0, waiting: 0, running: 0, more: false, rate, oldest: null, trouble: [] }
  return { room: name, ...figures, ...changes }
}

/** A marking that waits for approval, unless told otherwise. */
export function record(id: number, purpose: string, changes: FixtureRow = {}): FixtureRow {
  return {
    staging_record_id: `0199a7c2-0000-7000-8000-3${String(id).padStart(11, '0')}`,
    staging_kind: 'mark_manifest',
    payload_type: 'manifest_json',
    purpose,
    lifecycle_status: 'pending',
    owner_actor: 'agent-7',
    source_kind: 'agent',
    source_ref: null,
    part_count: 2,
    approval_required: true,
    four_eyes: true,
    checklist_required: false,
    created_at: new Date(Date.now() - 3_600_000).toISOString(),
    ...changes,
  }
}

function refusal(status: number, code: string, detail: string): Answer {
  const hint = 'Get a new one: on the embedded default with `stagedoor token`.'
  return {
    status,
    body: { type: 'about:blank', title: code, status, code, detail, hint, request_id: 'req-1' },
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

/** A path without an ending is a page of the console; which one it is, the console knows. */
async function sendFile(response: ServerResponse, pathname: string): Promise<void> {
  const path = extname(pathname) === '' ? 'index.html' : normalize(pathname).replace(/^(\.\.[/\\])+/, '')
  const file = join(DIST, path)
  if (!existsSync(file)) {
    response.writeHead(404).end()
    return
  }
  response.writeHead(200, { 'content-type': MEDIA[extname(file)] ?? 'application/octet-stream' })
  response.end(await readFile(file))
}
