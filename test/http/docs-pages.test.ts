/** The documentation over HTTP, as the console shows it. */
import { beforeAll, expect, it } from 'vitest'
import { useApi } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'
import { createMember, createWorkspace } from '../support/factories.ts'

const db = useDatabase()
const api = useApi(db)
let token: string
let workspace: string

beforeAll(async () => {
  workspace = await createWorkspace(db)
  token = await api.token(await createMember(db, workspace, 'viewer'))
})

const get = async <T>(path: string) => (await api.get(`/api/v1${path}`, token)) as { status: number; body: T }

interface Hit {
  readonly page: string
  readonly heading: string
  readonly anchor: string
  readonly snippet: string
  readonly highlights: readonly (readonly [number, number])[]
}
const search = async (q: string, limit = 5) =>
  (await get<{ hits: Hit[] }>(`/docs-search?limit=${limit}&q=${encodeURIComponent(q)}`)).body.hits

it('lists the pages in the order and the groups of the contents', async () => {
  const { body } = await get<{ pages: { page: string; title: string; group: string; about: string }[] }>(
    '/docs-pages',
  )
  expect(body.pages[0]).toMatchObject({ page: 'tutorial', group: 'Start here' })
  expect(body.pages.map(({ page }) => page)).toEqual(
    expect.arrayContaining(['ingest', 'errors', 'cli', 'configuration', 'limits']),
  )
  expect(body.pages.every(({ title }) => title.length > 2)).toBe(true)
})

it('gives a page as Markdown, with the anchor of each heading and its line', async () => {
  const { body } = await get<{
    markdown: string
    path: string
    headings: { title: string; anchor: string; line: number }[]
  }>('/docs-pages/ingest')
  expect(body.path).toBe('docs/guides/ingest.md')
  const plan = body.headings.find(({ title }) => title === 'The plan')!
  expect(plan.anchor).toBe('the-plan')
  expect(body.markdown.split('\n')[plan.line - 1]).toBe('## The plan')
})

it('gives pictures without a token, and nothing else of the disk', async () => {
  const picture = await api.app.inject({ url: '/api/v1/docs-images/upload.png' })
  expect(picture).toMatchObject({ statusCode: 200, headers: { 'content-type': 'image/png' } })
  const plot = await api.app.inject({ url: '/api/v1/docs-images/benchmark-peers.svg' })
  expect(plot).toMatchObject({ statusCode: 200, headers: { 'content-type': 'image/svg+xml' } })
  for (const name of ['..%2F..%2Fpackage.json', 'none.png', '..%2Fimages%2Fupload.png'])
    expect((await api.app.inject({ url: `/api/v1/docs-images/${name}` })).statusCode).toBe(404)
  for (const page of ['..%2Fmap', 'map', 'constructor'])
    expect((await get(`/docs-pages/${page}`)).status).toBe(404)
  for (const path of ['/docs-pages', '/docs-pages/ingest', '/docs-search?q=plan'])
    expect((await api.get(`/api/v1${path}`)).status).toBe(401)
})

it('finds a section by its words, with the heading it belongs to and the words that were found', async () => {
  const found = await search('undo a promotion')
  const hit = found.find(({ page, heading }) => page === 'ingest' && heading === 'Undo')!
  expect(hit).toMatchObject({ anchor: 'undo' })
  const shown = [...hit.snippet]
  expect(hit.highlights.map(([from, to]) => shown.slice(from, to).join('').toLowerCase())).toContain('undo')
})

it('stems, takes the beginning of the last word, phrases and names of errors', async () => {
  const pages = async (q: string) => (await search(q)).map(({ page }) => page)
  expect(await pages('repairing lines')).toContain('ingest')
  expect(await pages('dead lett')).toContain('jobs')
  const [rule] = await search('"four-eyes rule"')
  expect(rule).toMatchObject({ page: 'security', heading: 'Four-eyes rule' })
  expect(await search('"rule of eyes four"')).toEqual([])
  expect(await pages('plan_stale')).toContain('troubleshooting')
  expect(await pages('STAGEDOOR_BLOB_LIMIT')).toContain('limits')
  expect(await search('xyzzyplugh')).toEqual([])
  expect(await search('the')).toEqual(expect.any(Array))
  expect(await search('\u0000"')).toEqual([])
})

it('is never among the hits of a workspace, and adds nothing to its database', async () => {
  await search('undo')
  const { body } = await get<{ hits: unknown[] }>(`/search?q=undo&workspace_id=${workspace}`)
  expect(body.hits).toEqual([])
  expect(await db.owner('select from iu_core.kb_document')).toEqual([])
})
