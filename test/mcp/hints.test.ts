/** What an agent is advised names tools and their arguments: it has no command line, and no API of its own. */
import { expect, it } from 'vitest'
import { CATALOGUE } from '../../src/kernel/catalogue.ts'
import type { ErrorCode } from '../../src/kernel/errors.ts'
import { inTools, toolAdvice, toolHintOf } from '../../src/mcp/hints.ts'
import { TOOLS } from '../../src/mcp/server.ts'
import { rowsOf, useMcp } from './mcp-api.ts'

const mcp = useMcp()
const OTHER_SURFACE = /stagedoor [a-z]|(?:^|[\s`(])--[a-z]|\/api\/v1|\b(?:GET|POST|PUT|DELETE) \//
const FOR_PEOPLE = /^This is for a person, and no tool does it: /
const target = () => ({ dataset: 'ads', platform: 'meta' })

it('of every error is about tools, or says that it is for a person', () => {
  const codes = Object.keys(CATALOGUE) as ErrorCode[]
  const told = codes.map((code) => [code, toolHintOf(code)] as const)
  expect(told.filter(([, hint]) => OTHER_SURFACE.test(hint) && !FOR_PEOPLE.test(hint))).toEqual([])
  // Every tool and argument that a hint names is one.
  const names = new Set(TOOLS.map(({ name }) => name))
  const tools = told.flatMap(([, hint]) =>
    FOR_PEOPLE.test(hint) ? [] : (hint.match(/\b[a-z]+_[a-z]+\b/g) ?? []),
  )
  const others = ['leave_out', 'problem_lines', 'workspace_id', 'user_id']
  const unknown = [...new Set(tools)].filter((word) => !names.has(word) && !others.includes(word))
  expect(
    unknown.filter((word) => /^(list|describe|propose|repair|get|submit|stage|start|read)_/.test(word)),
  ).toEqual([])
})

it('of what an agent does wrong names the tool and the argument', async () => {
  const agent = await mcp.connect(mcp.tokens.agent)
  const rows = rowsOf('Hints')
  const none = '018f0000-0000-7000-8000-000000000000'
  const cases: [string, object, string, RegExp][] = [
    [
      'propose_rows',
      { dataset: 'adz', platform: 'meta', key: 'a', rows },
      'dataset_unknown',
      /list_datasets/,
    ],
    [
      'propose_rows',
      { ...target(), client: 'Nobody', key: 'b', rows },
      'client_unknown',
      /describe_dataset .*`client`/,
    ],
    [
      'propose_rows',
      { ...target(), key: 'c', rows: [{ Nothing: 1 }] },
      'upload_columns_missing',
      /describe_dataset/,
    ],
    ['propose_rows', { ...target(), key: 'd', csv: '1,2\n3,4\n5,6\n' }, 'file_has_no_header', /`csv`/],
    ['propose_rows', { ...target(), key: 'e', file: 'week-45.csv' }, 'request_invalid', /`csv` or `rows`/],
    [
      'repair_rows',
      { upload: none, lines: [{ line: 2, leave_out: true }] },
      'upload_not_found',
      /propose_rows/,
    ],
    ['get_status', { id: '#4711' }, 'change_not_found', /`change`/],
    ['read_unit', { unit: 'no/unit' }, 'unit_unknown', /search/],
    ['propose_change', { statement: 'update nowhere set x = 1', key: 'f' }, 'proposal_fails', /./],
  ]
  for (const [tool, args, code, expected] of cases) {
    const { structured, data } = await agent.call(tool, args)
    expect([tool, structured.error?.code]).toEqual([tool, code])
    expect(data.hint, `${tool}: ${code}`).toMatch(expected)
    expect(data.hint, `${tool}: ${code}`).not.toMatch(OTHER_SURFACE)
  }
  const taken = { key: 'taken', parts: [{ name: 'x', text: '1' }], checklist: ['x'] }
  await agent.call('stage_record', { purpose: 'x', ...taken })
  const other = await agent.call('stage_record', {
    purpose: 'y',
    ...taken,
    parts: [{ name: 'x', text: '2' }],
  })
  expect(other.data.hint).toMatch(/stage_record with another `key`/)
})

it('beside problems of lines and in a refusal is about repair_rows', async () => {
  const agent = await mcp.connect(mcp.tokens.agent)
  const rows = rowsOf('Ambiguous', 3).map((row, at) => ({ ...row, Day: `0${at + 1}/02/2026` }))
  const { data } = await agent.call('propose_rows', { ...target(), key: 'ambiguous', rows })
  const suggestions: string[] = data.problem_lines.flatMap(
    ({ problems }: { problems: { suggestion: string }[] }) => problems.map(({ suggestion }) => suggestion),
  )
  expect(suggestions.length).toBeGreaterThan(0)
  expect(suggestions.filter((text) => OTHER_SURFACE.test(text))).toEqual([])
  expect(suggestions.join()).toContain('repair_rows')
  expect(inTools('Fill it in and upload again, or repair the line.')).toBe(
    'Fill it in: repair_rows with `values`.',
  )
  const early = await agent.call('submit', {
    change: String(data.change),
    digest: data.digest,
    title: 'Early',
    explanation: 'x',
  })
  expect(early.structured.error.code).toBe('plan_refused')
  expect(early.data.hint).toMatch(/repair_rows with `values`/)
  // Of a dataset that takes statements: sql/ingest/uploads.sql says it for the command line.
  const ofStatements =
    'Propose a statement (`stagedoor propose`), or make a dataset for files: `stagedoor init TABLE FILE`.'
  expect(toolAdvice(ofStatements)).toMatch(/^Propose a statement with propose_change/)
  expect(inTools('it is complete, plan it with --allow-short-file')).toBe(
    'it is complete, a person plans it with --allow-short-file',
  )
})
