/** Playbooks as people see them: a list, one with its text and its steps, what is wrong with one. */
import type { Queryable } from '../db/connection.ts'
import { StagedoorError } from '../errors.ts'
import type { Playbook } from './playbook/definition.ts'
import { calledPlaybooks, type Parsed, parsePlaybook } from './playbook/parse.ts'

export interface PlaybookRecord {
  readonly catalog_id: string
  readonly name: string
  readonly version: number
  readonly description: string | null
  readonly open_to_members: boolean
  readonly disabled_at: Date | null
  readonly registered_by: string
  readonly created_at: Date
}

export interface PlaybookDetail extends PlaybookRecord {
  /** As it was written. */
  readonly content: string
  /** As it is run. */
  readonly playbook: Playbook
}

const COLUMNS = `catalog_id::text, path as name, version, payload ->> 'description' as description, open_to_members, disabled_at,
  registered_by, created_at`

/** The newest version of each, by name, as far as the caller may see. */
export async function listPlaybooks(
  db: Queryable,
  { limit = 200, after = '' }: { limit?: number; after?: string } = {},
): Promise<PlaybookRecord[]> {
  const { rows } = await db.query<PlaybookRecord>(
    `select distinct on (path) ${COLUMNS} from noetl.catalog where path > $2 order by path, version desc limit $1`,
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
    `select ${COLUMNS}, content, payload as playbook from noetl.catalog
      where path = $1 and ($2::integer is null or version = $2) order by version desc limit 1`,
    [name, version ?? null],
  )
  return rows[0]
}

export async function requirePlaybookNamed(
  db: Queryable,
  name: string,
  version?: number,
): Promise<PlaybookDetail> {
  const found = await findPlaybook(db, name, version)
  if (found) return found
  const playbook = version === undefined ? name : `${name} in version ${version}`
  throw new StagedoorError('playbook_unknown', { playbook })
}

/** Every problem, also those that only the registered ones show: calls in a circle, calls to none. */
export async function checkAgainstRegistered(
  db: Queryable,
  text: string,
  handlers?: readonly string[],
): Promise<Parsed> {
  const known = handlers === undefined ? {} : { handlers }
  const { playbook } = parsePlaybook(text, known)
  const called = playbook === undefined ? [] : await calledFrom(db, playbook)
  const byName = new Map(called.map((one) => [one.name, one]))
  return parsePlaybook(text, { ...known, playbooks: (name) => byName.get(name) })
}

async function calledFrom(db: Queryable, playbook: Playbook): Promise<Playbook[]> {
  const asked = new Set([playbook.name])
  const found: Playbook[] = []
  for (let wanted = calledPlaybooks(playbook); wanted.length > 0; ) {
    for (const name of wanted) asked.add(name)
    const { rows } = await db.query<{ payload: Playbook }>(
      'select distinct on (path) payload from noetl.catalog where path = any ($1) order by path, version desc',
      [wanted],
    )
    found.push(...rows.map(({ payload }) => payload))
    wanted = rows.flatMap(({ payload }) => calledPlaybooks(payload)).filter((name) => !asked.has(name))
  }
  return found
}
