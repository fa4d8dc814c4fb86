/**
 * Playbooks in the catalogue. Registering one checks it with the playbooks that it calls, and stores a new version if it differs. Then
 * playbooks as people see them: a list, one with its text and its steps, the problems of one.
 */
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import type { CheckOptions } from './playbook/check.ts'
import type { Playbook } from './playbook/definition.ts'
import type { ParsedPlaybook } from './playbook/parse.ts'
import { type PlaybookDiff, PlaybookRecord } from './shapes.ts'

export type { PlaybookDiff, PlaybookRecord } from './shapes.ts'

export interface RegisteredPlaybook {
  readonly name: string
  readonly version: number
  readonly catalog_id: string
  readonly open_to_members: boolean
  readonly disabled: boolean
  readonly created_at: Date
}

export interface RegisterOptions extends Pick<CheckOptions, 'handlers'> {
  /** Members of a workspace may start it there; otherwise only the back end may. */
  readonly openToMembers?: boolean
}

const REGISTERED_COLUMNS =
  'path as name, version, catalog_id, open_to_members, disabled_at is not null as disabled, created_at'

/** YAML or JSON as people write it, or what `definePlaybook()` gives. Throws playbook_invalid with every problem. */
export async function registerPlaybook(
  db: Queryable,
  written: string | Playbook,
  { openToMembers = false, handlers }: RegisterOptions = {},
): Promise<RegisteredPlaybook> {
  // Loaded here: the parser and CEL take a tenth of a second, and most commands only list or read playbooks.
  const { requirePlaybook } = await import('./playbook/parse.ts')
  const text = typeof written === 'string' ? written : JSON.stringify(written)
  const options = handlers === undefined ? {} : { handlers }
  const first = requirePlaybook(text, options)
  const others = await loadCalledPlaybooks(db, first)
  const playbook = requirePlaybook(text, { ...options, playbooks: (name) => others.get(name) })
  const { rows } = await db.query<RegisteredPlaybook & Record<string, unknown>>(
    `select ${REGISTERED_COLUMNS} from noetl.fn_playbook_register($1, $2, $3, $4)`,
    [playbook.name, text, JSON.stringify(playbook), openToMembers],
  )
  return rows[0]!
}

/** The newest versions. */
export async function listRegisteredPlaybooks(db: Queryable): Promise<RegisteredPlaybook[]> {
  const { rows } = await db.query<RegisteredPlaybook & Record<string, unknown>>(
    `select distinct on (path) ${REGISTERED_COLUMNS} from noetl.catalog order by path, version desc`,
  )
  return rows
}

/** The text as it was written. */
export async function playbookText(
  db: Queryable,
  name: string,
  version?: number,
): Promise<string | undefined> {
  const { rows } = await db.query<{ content: string }>(
    `select content from noetl.catalog where path = $1 and ($2::integer is null or version = $2)
      order by version desc limit 1`,
    [name, version ?? null],
  )
  return rows[0]?.content
}

export async function disablePlaybook(db: Queryable, name: string): Promise<void> {
  await db.query('select noetl.fn_playbook_disable($1)', [name])
}

export async function enablePlaybook(db: Queryable, name: string): Promise<void> {
  await db.query('select noetl.fn_playbook_enable($1)', [name])
}

/** The playbooks that it calls, directly or not, by name. */
async function loadCalledPlaybooks(db: Queryable, playbook: Playbook): Promise<Map<string, Playbook>> {
  const { calledPlaybooks } = await import('./playbook/check.ts')
  const found = new Map<string, Playbook>()
  const asked = new Set([playbook.name])
  for (let names = calledPlaybooks(playbook); names.length > 0; ) {
    const unread = [...new Set(names)].filter((name) => !asked.has(name))
    for (const name of unread) asked.add(name)
    const { rows } = await db.query<{ payload: Playbook }>(
      'select distinct on (path) payload from noetl.catalog where path = any ($1) order by path, version desc',
      [unread],
    )
    for (const { payload } of rows) found.set(payload.name, payload)
    names = rows.flatMap(({ payload }) => calledPlaybooks(payload))
  }
  return found
}

export interface PlaybookDetail extends PlaybookRecord {
  /** As it was written. */
  readonly content: string
  /** As it is run. */
  readonly playbook: Playbook
}

const PLAYBOOK_COLUMNS = columnsOf(PlaybookRecord, {
  as: { catalog_id: 'catalog_id::text', name: 'path', description: "payload ->> 'description'" },
})

/** The newest version of each, by name, as far as the caller may see. */
export async function listPlaybooks(
  db: Queryable,
  { limit = 200, after = '' }: { limit?: number; after?: string } = {},
): Promise<PlaybookRecord[]> {
  const { rows } = await db.query<PlaybookRecord>(
    `select distinct on (path) ${PLAYBOOK_COLUMNS} from noetl.catalog where path > $2 order by path, version desc limit $1`,
    [limit, after],
  )
  return rows
}

/** The newest version, or the one that is asked for. */
export async function findPlaybook(
  db: Queryable,
  name: string,
  version?: number,
): Promise<PlaybookDetail | undefined> {
  const { rows } = await db.query<PlaybookDetail>(
    `select ${PLAYBOOK_COLUMNS}, content, payload as playbook from noetl.catalog
      where path = $1 and ($2::integer is null or version = $2) order by version desc limit 1`,
    [name, version ?? null],
  )
  return rows[0]
}

export async function getPlaybook(db: Queryable, name: string, version?: number): Promise<PlaybookDetail> {
  const found = await findPlaybook(db, name, version)
  if (found) return found
  const playbook = version === undefined ? name : `${name} in version ${version}`
  throw new StagedoorError('playbook_unknown', { playbook })
}

/** Every version of one, newest first. Throws playbook_unknown. */
export async function listPlaybookVersions(
  db: Queryable,
  name: string,
  { limit = 50, before }: { limit?: number; before?: number | undefined } = {},
): Promise<PlaybookRecord[]> {
  const { rows } = await db.query<PlaybookRecord>(
    `select ${PLAYBOOK_COLUMNS} from noetl.catalog
      where path = $1 and ($3::int is null or version < $3) order by version desc limit $2`,
    [name, limit, before ?? null],
  )
  if (rows.length === 0 && before === undefined)
    throw new StagedoorError('playbook_unknown', { playbook: name })
  return rows
}

/** Unrelated texts are not compared line by line to the end: their diff is everything old and everything new. */
const DIFF_TIMEOUT_MS = 500

/** From one version to another, as it was written. Without `to`: the newest; without `from`: the one before `to`. */
export async function diffPlaybook(
  db: Queryable,
  name: string,
  versions: { from?: number | undefined; to?: number | undefined } = {},
): Promise<PlaybookDiff> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff')
  const to = await getPlaybook(db, name, versions.to)
  const from = await getPlaybook(db, name, versions.from ?? Math.max(1, to.version - 1))
  const label = ({ version }: PlaybookDetail) => `${name} version ${version}`
  const patch =
    from.content === to.content
      ? ''
      : (createTwoFilesPatch(label(from), label(to), from.content, to.content, undefined, undefined, {
          context: 3,
          timeout: DIFF_TIMEOUT_MS,
          headerOptions: FILE_HEADERS_ONLY,
        }) ?? wholePatch(from, to))
  return { name, from: from.version, to: to.version, patch }
}

function wholePatch(from: PlaybookDetail, to: PlaybookDetail): string {
  const lines = (sign: string, text: string) => text.split('\n').map((line) => `${sign}${line}`)
  const [old, now] = [lines('-', from.content), lines('+', to.content)]
  return [`@@ -1,${old.length} +1,${now.length} @@`, ...old, ...now].join('\n')
}

/** Every problem, also those that only the registered ones show: calls in a circle, calls to none. */
export async function checkWithCatalog(
  db: Queryable,
  text: string,
  handlers?: readonly string[],
): Promise<ParsedPlaybook> {
  const { parsePlaybook } = await import('./playbook/parse.ts')
  const known = handlers === undefined ? {} : { handlers }
  const { playbook } = parsePlaybook(text, known)
  const called = playbook === undefined ? undefined : await loadCalledPlaybooks(db, playbook)
  return parsePlaybook(text, { ...known, playbooks: (name) => called?.get(name) })
}
