/** Playbooks into the catalogue: read, checked with the ones that they call, and kept as a new version if they differ. */
import type { Queryable } from '../db/connection.ts'
import type { Playbook } from './playbook/definition.ts'
import { type CheckOptions, calledPlaybooks, requirePlaybook } from './playbook/parse.ts'

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
  readonly open_to_members?: boolean
}

const COLUMNS =
  'path as name, version, catalog_id, open_to_members, disabled_at is not null as disabled, created_at'

/** YAML or JSON as people write it, or what `definePlaybook()` gives. Throws playbook_invalid with every problem. */
export async function registerPlaybook(
  db: Queryable,
  written: string | Playbook,
  { open_to_members = false, handlers }: RegisterOptions = {},
): Promise<RegisteredPlaybook> {
  const text = typeof written === 'string' ? written : JSON.stringify(written)
  const options = handlers === undefined ? {} : { handlers }
  const first = requirePlaybook(text, options)
  const others = await calledFrom(db, first)
  const playbook = requirePlaybook(text, { ...options, playbooks: (name) => others.get(name) })
  const { rows } = await db.query<RegisteredPlaybook & Record<string, unknown>>(
    `select ${COLUMNS} from noetl.fn_playbook_register($1, $2, $3, $4)`,
    [playbook.name, text, JSON.stringify(playbook), open_to_members],
  )
  return rows[0]!
}

/** The newest versions. */
export async function listPlaybooks(db: Queryable): Promise<RegisteredPlaybook[]> {
  const { rows } = await db.query<RegisteredPlaybook & Record<string, unknown>>(
    `select distinct on (path) ${COLUMNS} from noetl.catalog order by path, version desc`,
  )
  return rows
}

/** As it was written. */
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

/** Everything that it calls, and what that calls: those that call each other in a circle are refused. */
async function calledFrom(db: Queryable, playbook: Playbook): Promise<Map<string, Playbook>> {
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
