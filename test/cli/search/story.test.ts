/** The user's story of search, command by command, as the guide tells it. */
// @module-tag long
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort, type RunningCli, runCli, startCli } from '../../support/cli.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const home = temporaryHome('cli-search')
const env = { STAGEDOOR_HOME: home }
const HANDBOOK = fileURLToPath(new URL('../../../examples/handbook/handbook.md', import.meta.url))
let server: RunningCli

beforeAll(async () => {
  server = startCli(['start'], { ...env, PORT: String(await freePort()) })
  await server.says(/Ctrl-C stops everything/)
})
afterAll(async () => {
  await server.end()
})

const cli = (...args: string[]) => runCli(args, env, '')
const said = async (...args: string[]) => {
  const { code, stdout, stderr } = await cli(...args)
  expect({ args, code, stderr }).toMatchObject({ code: 0 })
  return stdout
}
const json = async (...args: string[]) => JSON.parse(await said(...args, '--json'))

describe('search on the command line', () => {
  it('says what to do where there is nothing yet', async () => {
    expect(await said('search', 'leave')).toMatch(
      /There is nothing to search yet\.[\s\S]*stagedoor mark handbook\.md/,
    )
    expect(await said('search', 'status')).toMatch(/pending +nothing/)
    expect(await said('search', 'document', 'list')).toMatch(/There are no documents/)
  })

  it('a cut with --now is found at once, an edit is pending with a warning, then current', async () => {
    const marked = await said('mark', HANDBOOK, '--source-ref', 'handbook.md', '--as', 'operator')
    const record = /mark show (\S+)/.exec(marked)![1]!
    const shown = await said('mark', 'show', record, '--as', 'reviewer')
    const digest = /--digest ([0-9a-f]{64})/.exec(shown)![1]!
    await said('staging', 'approve', '--as', 'reviewer', record, '--digest', digest)
    expect(await said('cut', record, '--as', 'operator', '--now')).toMatch(/✔ 4\d texts are in search, /)
    const question = ['how', 'much', 'annual', 'leave', 'do', 'I', 'get']
    expect(await said('search', ...question)).toMatch(
      /^ ?1 {2}Annual leave {2}handbook\/leave\/annual-leave · draft · version 1 · current\n +You have 28 days/m,
    )
    await said(
      'unit',
      'edit',
      'handbook/leave/annual-leave',
      '--find',
      '28 days',
      '--replace',
      '29 days',
      '--as',
      'operator',
    )
    expect(await said('search', ...question, '--as', 'viewer')).toMatch(
      /version 2 · pending\n +You have 29 days[\s\S]*?! Shows its newest text; it is being indexed/,
    )
    expect(await said('search', 'flush', '--as', 'operator')).toMatch(/1 text is in search/)
    const { hits } = await json('search', ...question)
    expect(hits[0]).toMatchObject({ freshness: 'current', version_no: 2, warnings: [] })
    expect(await said('search', 'flush')).toMatch(/Nothing was pending/)
  })

  it('filters, and refuses what is none in words', async () => {
    expect(await said('search', '"annual leave"', '--container', 'handbook/leave', '--limit', '1')).toMatch(
      /One hit/,
    )
    expect(await said('search', 'leave', '--status', 'enacted')).toMatch(/Nothing matches with these filters/)
    expect(await cli('search', 'leave', '--container', 'handbook/nowhere')).toMatchObject({ code: 8 })
    expect(await cli('search', 'leave', '--edge', '=')).toMatchObject({ code: 2 })
    expect(await cli('search', 'leave', '--edge', 'cites=')).toMatchObject({ code: 2 })
    expect(await said('search', 'leave', '--edge', '=https://example.com')).toMatch(
      /Nothing matches with these/,
    )
    expect(await said('search', 'leave', '--limit', '2')).toMatch(
      /2 hits .*; there are more\n[\s\S]*The next page[^\n]*\n +--after \S+\n$/,
    )
    expect(await said('search', '&', '|')).toMatch(/^! The question has no searchable word[^\n]*\n$/)
    expect(await cli('search')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/The question is empty/),
    })
    expect(await said('search', 'the', 'of')).toMatch(/The question has only common words/)
    expect(await said('search', 'leave', '--without', 'leave')).toMatch(
      /^Only texts with leave match, which the question excludes/,
    )
  })

  it('the old knowledge base answers beside units, and leaves', async () => {
    const file = join(home, 'parking.md')
    writeFileSync(file, '# Parking\n\nCars stand behind the house.\n')
    await said('search', 'document', 'set', file)
    await said('search', 'flush')
    expect(await said('search', 'cars')).toMatch(
      /Parking {2}parking\.md · old knowledge base · current[\s\S]*! The old knowledge base is searched by keywords only/,
    )
    expect(await said('search', 'document', 'list')).toMatch(/^parking\.md +current +0 +\d+ B .* Parking$/m)
    const next = /stagedoor (search document show \S+)/.exec(await said('search', 'cars'))![1]!
    expect(await said(...next.split(' '))).toBe(
      'Parking  parking.md\n\n# Parking\n\nCars stand behind the house.\n\n',
    )
    expect(await cli('search', 'document', 'show', 'nowhere.md')).toMatchObject({ code: 8 })
    await said('search', 'document', 'delete', 'parking.md')
    expect(await said('search', 'cars')).toMatch(/Nothing matches/)
    expect(await cli('search', 'document', 'delete', 'parking.md')).toMatchObject({ code: 8 })
  })

  it('a document says its title and language itself, between lines at its beginning', async () => {
    const file = join(home, 'canteen.md')
    writeFileSync(file, '---\ntitle: Căng tin\nlanguage: vi\n---\n\nBữa trưa từ 11 giờ.\n')
    expect(await json('search', 'document', 'set', file)).toMatchObject({ title: 'Căng tin' })
    await said('search', 'flush')
    const { hits } = await json('search', 'bua trua', '--language', 'vi')
    expect(hits).toMatchObject([{ title: 'Căng tin', snippet: 'Bữa trưa từ 11 giờ.' }])
    await said('search', 'document', 'delete', 'canteen.md')
  })

  it('another embedder is one command; what is not set up is refused with what it needs', async () => {
    expect(await said('search', 'switch', '--embedder', 'lsa')).toMatch(
      /✔ Search answers from units_2 \(lsa, 200 numbers, in postgres\)[^\n]*\n! 4\d chunks are too few to learn from/,
    )
    expect(await json('search', 'annual', 'leave')).toMatchObject({ legs: { dense: expect.any(Number) } })
    expect(await cli('search', 'switch', '--embedder', 'openai')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/EMBEDDINGS_URL is not set/),
    })
    expect(await cli('search', 'switch')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /Choose another embedder, model or store. The current ones are lsa and postgres/,
      ),
    })
    expect(await cli('search', 'switch', '--embedder', 'lsa', '--dimension', '3')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/Only openai takes a model and a dimension/),
    })
    expect(await said('search', 'switch', '--cancel')).toMatch(/No collection is being built/)
  })

  it('the audit finds nothing wrong, phases keep their order, and nothing is dead', async () => {
    await said('search', 'flush')
    expect(await said('search', 'audit')).toMatch(/units_2 +active +postgres +4\d points[\s\S]*✔/)
    expect(await cli('search', 'phase', '1', 'close')).toMatchObject({ code: 6 })
    expect(await cli('search', 'phase', '0', 'open')).toMatchObject({ code: 2 })
    expect(await said('search', 'phase', '3', 'close')).toMatch(
      /Phase 3 is closed\n.*chunked again: they are pending/,
    )
    expect(await said('search', 'phase', '3', 'open')).toMatch(/Phase 3 is open/)
    expect(await said('search', 'dead-letters')).toMatch(/^No dead letters/)
    expect(await said('search', 'replay')).toMatch(/nothing to replay/)
    expect(await said('search', 'status')).toMatch(/^units_2 +active +lsa 200 +postgres +4\d$/m)
  })
})
