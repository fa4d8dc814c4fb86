/** What the console remembers between requests when several servers, or a replica, answer them. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

// Their types need a browser's library, which the tests of the product do not have.
const REQUEST = '../../console/src/api/request.ts'
const LIVE = '../../console/src/api/live.ts'

let sent: Record<string, string>[]
let answers: { headers?: Record<string, string>; body: string }[]

beforeEach(() => {
  sent = []
  answers = []
  const kept = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  })
  vi.stubGlobal('fetch', async (_path: string, { headers }: { headers: Record<string, string> }) => {
    sent.push(headers)
    const { headers: own = {}, body } = answers.shift()!
    return new Response(body, { headers: { 'content-type': 'application/json', ...own } })
  })
})
afterEach(() => {
  vi.unstubAllGlobals()
})

it('sends how far the database was after the last write, and never an earlier place', async () => {
  const { createRequest } = await import(REQUEST)
  const request = createRequest('a-token')
  const place = async (after: string | undefined) => {
    answers.push({ ...(after && { headers: { 'stagedoor-after': after } }), body: '{}' }, { body: '{}' })
    await request('/jobs', { method: 'POST', body: {} })
    await request('/jobs')
    return sent.at(-1)!['stagedoor-after']
  }
  expect(await place(undefined)).toBeUndefined()
  expect(await place('00000001/0/FF')).toBe('00000001/0/FF')
  expect(await place('00000001/0/1000')).toBe('00000001/0/1000')
  expect(await place('00000001/0/FFF')).toBe('00000001/0/1000')
  expect(await place('00000001/1/0')).toBe('00000001/1/0')
  // After a failover the log of the new primary may be shorter.
  expect(await place('00000002/0/2000')).toBe('00000002/0/2000')
})

it('follows changes from where the stream before ended, and connects again when the server says', async () => {
  const { readLive } = await import(LIVE)
  const { createRequest } = await import(REQUEST)
  const body = [
    'id: 00000001-5:9:\nevent: begun\ndata: {"resumed":true}\n\n',
    'id: 00000001-6:9:\nevent: changed\ndata: {"rooms":["jobs"],"after":"00000001/0/AA"}\n\n',
    'retry: 700\n\n',
  ].join('')
  answers.push({ headers: { 'content-type': 'text/event-stream' }, body }, { body: '{}' })
  const told: unknown[] = []
  const listener = {
    lastEventId: '00000001-4:4:',
    begun: (resumed: boolean) => told.push({ resumed }),
    changed: (rooms: string[]) => told.push({ rooms }),
    seen: (id: string) => told.push({ id }),
    retryIn: (ms: number) => told.push({ ms }),
  }
  await readLive('a-token', listener, new AbortController().signal)
  expect(sent[0]).toMatchObject({ 'last-event-id': '00000001-4:4:' })
  expect(told).toEqual([
    { resumed: true },
    { id: '00000001-5:9:' },
    { rooms: ['jobs'] },
    { id: '00000001-6:9:' },
    { ms: 700 },
  ])
  // What changed is read where it is visible.
  await createRequest('a-token')('/jobs')
  expect(sent[1]).toMatchObject({ 'stagedoor-after': '00000001/0/AA' })
})
