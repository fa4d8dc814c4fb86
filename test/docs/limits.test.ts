/** The numbers of the guide on limits are those of the source and of a new database. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { describeConfig, readConfig } from '../../src/kernel/config.ts'
import { useDatabase } from '../support/database.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const GATEWAY = 'src/runtime/remote/gateway.ts'
const db = useDatabase()

const UNITS: Readonly<Record<string, number>> = {
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  s: 1,
  days: 1,
  characters: 1,
}

/** What each row of the guide says, as a number. */
const rows = new Map(
  [
    ...readFileSync(join(ROOT, 'docs/guides/limits.md'), 'utf8').matchAll(
      /^\| ([^|]+) \| ([\d,]+)(?: (\w+))?[^|]*\| ?([^|]*)\|$/gm,
    ),
  ].map(([, what, number, unit, change]) => [
    what!,
    { value: Number(number!.replaceAll(',', '')) * (UNITS[unit ?? ''] ?? 1), change: change!.trim() },
  ]),
)

/** A constant of a source file. Only numbers, products and powers are expected there. */
function constant(file: string, name: string): number {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const given = new RegExp(`\\b${name}\\b\\s*(?:=|:)\\s*([\\d_]+ \\* (?:MEBIBYTE|MIB)|[\\d_ *]+)`).exec(
    text,
  )?.[1]
  if (given === undefined) throw new Error(`${file} has no constant ${name}`)
  const factors = given
    .replace(/MEBIBYTE|MIB/, '1024 ** 2')
    .replaceAll('_', '')
    .trim()
    .replace(/(\d+) *\*\* *(\d+)/g, (_, base, power) => String(Number(base) ** Number(power)))
  return factors.split('*').reduce((product, factor) => product * Number(factor), 1)
}

it('says of every setting what its default is', () => {
  const defaults = new Map(
    describeConfig(readConfig({}, { home: 'HOME' })).map((line) => [line.setting, line.value]),
  )
  const named = [...rows].filter(([, { change }]) => /^`[A-Z_]+`$/.test(change))
  expect(named.length).toBeGreaterThanOrEqual(8)
  for (const [what, { value, change }] of named)
    expect([what, String(value)]).toEqual([what, defaults.get(change.replaceAll('`', ''))])
})

it('names every setting that limits something', () => {
  const page = readFileSync(join(ROOT, 'docs/guides/limits.md'), 'utf8')
  const limiting = describeConfig(readConfig({}, { home: 'HOME' }))
    .filter(({ setting }) => /LIMIT|TIMEOUT|CONCURRENCY|POOL_SIZE|GRACE|LONG_RUNNING/.test(setting))
    .map(({ setting }) => setting)
  expect(limiting.filter((setting) => !page.includes(`\`${setting}\``))).toEqual([])
})

it('says what the source says', () => {
  const expected: Record<string, number> = {
    'columns of a file': constant('src/ingest/readers/format.ts', 'MAX_COLUMNS'),
    'one record of a CSV file': constant('src/ingest/readers/csv-record.ts', 'MAX_RECORD_BYTES'),
    'an unpacked zip or gzip file': constant('src/ingest/readers/normalise.ts', 'MAX_UNPACKED'),
    'cells corrected in one call': constant('src/ingest/repair.ts', 'MAX_CELLS'),
    'progress streams open at once, for each process': constant('src/http/upload-progress.ts', 'MAX_STREAMS'),
    'parts of a record': constant('src/staging/records.ts', 'MAX_PARTS'),
    'a JSON or text part': constant('src/staging/records.ts', 'MAX_PART_BYTES'),
    'all JSON and text parts of a record': constant('src/staging/records.ts', 'MAX_TOTAL_BYTES'),
    'values in one JSON body': constant('src/staging/json-limits.ts', 'MAX_VALUES'),
    'time for the headers': constant('src/http/request-limits.ts', 'headersTimeout') / 1000,
    'a body that sends nothing': constant('src/http/request-limits.ts', 'STALL_MS') / 1000,
    'subject of a token': constant('src/access/members.ts', 'MAX_SUBJECT_CHARACTERS'),
    'rows, a CSV or parts in one call of a tool': constant('src/mcp/datasets.ts', 'MAX_CONTENT_BYTES'),
    'files of agents that are read at once in a process; one for each caller': constant(
      'src/mcp/session.ts',
      'FILES_AT_ONCE',
    ),
    'rows of one page of an answer': constant('src/mcp/answers.ts', 'MAX_PAGE_CHARACTERS'),
    'a text in a row, before it is cut': constant('src/mcp/answers.ts', 'MAX_TEXT_CHARACTERS'),
    'a whole answer': constant('src/mcp/answers.ts', 'MAX_ANSWER_CHARACTERS'),
    'text of an error that is kept': constant('src/jobs/executor.ts', 'MAX_ERROR_LENGTH'),
    'jobs of one call together, and their results; arguments or result of a step': constant(
      'src/runtime/remote/calls.ts',
      'MAX_CALL_BYTES',
    ),
    'handlers of a worker': constant(GATEWAY, 'MAX_HANDLERS'),
    'names of the handlers of a worker together, in bytes': constant(GATEWAY, 'MAX_HANDLERS_BYTES'),
    'different sets of handlers behind a gateway': constant(GATEWAY, 'MAX_POOLS'),
    'remote workers attached to a gateway': constant(GATEWAY, 'MAX_SESSIONS'),
    'silence of a remote worker until its calls go elsewhere':
      constant('src/runtime/remote/protocol.ts', 'SESSION_MS') / 1000,
    "deaths of a host's workers within a minute until it waits": constant(GATEWAY, 'MAX_DEATHS'),
    'steps of a playbook': constant('src/executions/playbook/parse.ts', 'MAX_PLAYBOOK_STEPS'),
    'items of a loop': constant('src/executions/machine/loops.ts', 'MAX_ITEMS'),
    'steps of an expression': constant('src/executions/playbook/budget.ts', 'MAX_STEPS'),
    'a result': constant('src/executions/results.ts', 'MAX_RESULT_BYTES'),
    'a result that is stored in the event itself': constant('src/executions/event.ts', 'MAX_INLINE_BYTES'),
    'rows that a `duckdb` or `sql` step gives': constant('src/executions/tools/tool.ts', 'MAX_ROWS'),
    'pieces of a document': constant('src/units/manifest.ts', 'MAX_PIECES'),
    'a document': constant('src/units/marking/mark.ts', 'MAX_DOCUMENT_BYTES'),
    'text of a unit': constant('src/units/manifest.ts', 'MAX_PIECE_BYTES'),
    'characters of a question': constant('src/search/question.ts', 'MAX_QUESTION_CHARACTERS'),
    'words of a question that count': constant('src/search/query.ts', 'MAX_QUERY_WORDS'),
    'hits of a question': constant('src/search/question.ts', 'MAX_HITS'),
  }
  expect(Object.fromEntries(Object.keys(expected).map((what) => [what, rows.get(what)?.value]))).toEqual(
    expected,
  )
})

it('says what a new database says', async () => {
  const [found] = await db.owner<Record<string, number>>(
    `select l.max_bytes::integer as "a file", l.max_lines as "lines of a file", l.max_at_once as "files read at once, for each workspace",
            extract(day from p.time_to_live)::integer as "until a \`review_package\` expires",
            extract(day from p.retention)::integer as "until its payload is deleted after its end",
            extract(epoch from v.quiet_window)::integer as "seconds between an edit and its indexing",
            extract(epoch from v.delete_delay)::integer as "seconds between a deletion and its removal"
       from iu_core.ingest_limit l, iu_core.iu_staging_kind_policy p, iu_core.vector_policy v
      where l.workspace_id is null and p.staging_kind = 'review_package'`,
  )
  expect(Object.fromEntries(Object.keys(found!).map((what) => [what, rows.get(what)?.value]))).toEqual(found)
})
