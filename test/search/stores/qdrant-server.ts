/**
 * A server of the part of Qdrant's REST interface that we use, in the process of the test. No Qdrant can be installed where
 * this is built: with QDRANT_URL the same suite runs against a real one.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface StoredPoint {
  readonly vector: number[]
  readonly payload: Record<string, unknown>
}

interface StoredCollection {
  readonly size: number
  readonly points: Map<string, StoredPoint>
  readonly indexed: Set<string>
}

interface Condition {
  key?: string
  match?: { value: unknown }
  has_id?: string[]
}

export interface QdrantServer {
  readonly url: string
  readonly collections: Map<string, StoredCollection>
  /** Requests that came, as `PUT /collections/x/points?wait=true`. */
  readonly requests: string[]
  /** Of the last request. */
  headers: IncomingMessage['headers']
  /** Answers everything with this status, or with nothing at all. */
  fail(how: number | 'hang' | undefined): void
  close(): Promise<void>
}

/** The fields of every request that is played; each has its own of them. */
interface Body {
  readonly vectors: { size: number; distance: string }
  readonly field_name: string
  readonly points: readonly (string & { id: string; vector: number[]; payload?: Record<string, unknown> })[]
  readonly query: number[]
  readonly filter?: { must?: Condition[] }
  readonly limit: number
  readonly with_payload?: boolean | readonly string[]
  readonly ids: string[]
  readonly offset?: string
}

class Refusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export async function startQdrant(): Promise<QdrantServer> {
  const collections = new Map<string, StoredCollection>()
  let failing: number | 'hang' | undefined
  const server = createServer((request, response) => {
    qdrant.requests.push(`${request.method} ${request.url}`)
    qdrant.headers = request.headers
    if (failing === 'hang') return
    if (failing !== undefined) return send(response, failing, { status: { error: 'planned' } })
    answer(request, collections)
      .then((result) => send(response, 200, { result, status: 'ok', time: 0 }))
      .catch((error) => send(response, error.status ?? 500, { status: { error: String(error.message) } }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const qdrant: QdrantServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    collections,
    requests: [],
    headers: {},
    fail(how) {
      failing = how
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return qdrant
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function answer(
  request: IncomingMessage,
  collections: Map<string, StoredCollection>,
): Promise<unknown> {
  const { pathname, searchParams } = new URL(request.url!, 'http://qdrant')
  const [, , name = '', ...rest] = pathname.split('/').map(decodeURIComponent)
  const body = await bodyOf(request)
  const route = `${request.method} ${['', ...rest].join('/')}`
  if (route === 'PUT ') return create(collections, name, body)
  const collection = collections.get(name)
  if (collection === undefined) {
    if (route === 'DELETE ') return false
    throw new Refusal(404, `Not found: Collection \`${name}\` doesn't exist!`)
  }
  if (route === 'PUT /points' || route === 'POST /points/delete') {
    // Without it the server answers before it has written.
    if (searchParams.get('wait') !== 'true') throw new Refusal(400, 'this server only writes with wait=true')
  }
  const handler = HANDLERS[route]
  if (route === 'DELETE ') return collections.delete(name)
  if (!handler) throw new Refusal(404, `${route} is not played here`)
  return handler(collection, body)
}

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  return pieces.length === 0 ? ({} as Body) : JSON.parse(Buffer.concat(pieces).toString())
}

function create(collections: Map<string, StoredCollection>, name: string, { vectors }: Body): boolean {
  const { size, distance } = vectors
  if (collections.has(name)) throw new Refusal(409, `Collection \`${name}\` already exists!`)
  if (distance !== 'Cosine') throw new Refusal(400, 'only Cosine is played here')
  collections.set(name, { size, points: new Map(), indexed: new Set() })
  return true
}

const HANDLERS: Record<string, (collection: StoredCollection, body: Body) => unknown> = {
  'GET ': ({ size, points }) => ({
    status: 'green',
    points_count: points.size,
    config: { params: { vectors: { size, distance: 'Cosine' } } },
  }),
  'PUT /index': ({ indexed }, { field_name }) => {
    indexed.add(field_name)
    return { operation_id: 0, status: 'completed' }
  },
  'PUT /points': ({ points, size }, body) => {
    const given = body.points
    if (given.length > 1_000) throw new Refusal(413, 'Payload reached size limit')
    for (const { vector } of given) {
      if (vector.length !== size)
        throw new Refusal(400, `Wrong input: Vector dimension error: expected dim: ${size}`)
    }
    for (const { id, vector, payload } of given)
      points.set(id, { vector: unit(vector), payload: payload ?? {} })
    return { operation_id: 0, status: 'completed' }
  },
  'POST /points/delete': ({ points }, body) => {
    if (!Array.isArray(body.points)) throw new Refusal(400, 'only by id')
    for (const id of body.points) points.delete(id)
    return { operation_id: 0, status: 'completed' }
  },
  'POST /points/query': ({ points, size }, { query, filter, limit, with_payload }) => {
    const vector = unit(query)
    if (vector.length !== size)
      throw new Refusal(400, `Wrong input: Vector dimension error: expected dim: ${size}`)
    const found = [...points]
      .filter(([id, { payload }]) => passes(id, payload, filter))
      .map(([id, point]) => ({
        id,
        version: 0,
        score: point.vector.reduce((sum, value, at) => sum + value * vector[at]!, 0),
        ...(with_payload && { payload: asked(point.payload, with_payload) }),
      }))
      .sort((a, b) => b.score - a.score)
    return { points: found.slice(0, limit) }
  },
  'POST /points': ({ points }, { ids }) =>
    ids.flatMap((id) => {
      const point = points.get(id)
      return point ? [{ id, vector: point.vector }] : []
    }),
  'POST /points/count': ({ points }, { filter }) => ({
    count: [...points].filter(([id, { payload }]) => passes(id, payload, filter)).length,
  }),
  'POST /points/scroll': ({ points }, { limit, offset, filter }) => {
    const all = [...points.keys()]
      .sort()
      .filter((id) => (offset === undefined || id >= offset) && passes(id, points.get(id)!.payload, filter))
    return {
      points: all.slice(0, limit).map((id) => ({ id, payload: points.get(id)!.payload })),
      next_page_offset: all[limit] ?? null,
    }
  },
}

function asked(payload: Record<string, unknown>, keys: true | readonly string[]): Record<string, unknown> {
  if (keys === true) return payload
  return Object.fromEntries(Object.entries(payload).filter(([key]) => keys.includes(key)))
}

function passes(id: string, payload: Record<string, unknown>, filter?: { must?: Condition[] }): boolean {
  return (filter?.must ?? []).every(({ key, match, has_id }) =>
    has_id ? has_id.includes(id) : payload[key!] === match!.value,
  )
}

function unit(vector: number[]): number[] {
  const length = Math.hypot(...vector)
  return vector.map((value) => Math.fround(value / length))
}
