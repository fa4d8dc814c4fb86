/** The history of a unit: its versions, the changes of its lifecycle, and the diff of two versions. */

import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { StagedoorError } from '../kernel/errors.ts'
import type { Queryable } from '../kernel/postgres/connection.ts'
import { columnsOf } from '../kernel/schema.ts'
import { LifecycleChange, type UnitDiff, type UnitHistory, VersionRecord } from './shapes.ts'

export type { LifecycleChange, UnitDiff, UnitHistory, VersionRecord } from './shapes.ts'

export interface HistoryPage {
  /** Maximal number of versions, and of lifecycle changes; default 100. */
  readonly limit?: number
  /** Versions before this one. */
  readonly before?: number
  /** Lifecycle changes before the one with this log_id. */
  readonly lifecycleBefore?: string
}

/** Newest first. */
export async function unitHistory(
  db: Queryable,
  unit: string,
  { limit = 100, before, lifecycleBefore }: HistoryPage = {},
): Promise<UnitHistory> {
  const { rows: versions } = await db.query<VersionRecord>(
    `select ${columnsOf(VersionRecord)}
       from iu_core.v_unit_history where unit_id = $1 and ($3::int is null or version_no < $3) order by version_no desc limit $2`,
    [unit, limit, before ?? null],
  )
  if (versions.length === 0 && before === undefined) throw new StagedoorError('unit_unknown', { unit })
  const { rows: lifecycle } = await db.query<LifecycleChange>(
    `select ${columnsOf(LifecycleChange)}
       from public.iu_lifecycle_log l
      where l.unit_id = $1
        and ($3::uuid is null or (l.changed_at, l.log_id) <
             (select a.changed_at, a.log_id from public.iu_lifecycle_log a where a.log_id = $3))
      order by l.changed_at desc, l.log_id desc limit $2`,
    [unit, limit, lifecycleBefore ?? null],
  )
  return { versions, lifecycle }
}

/** From one version to another. Without `to`: the current one; without both: what the current one changed. */
export async function diffUnit(
  db: Queryable,
  unit: string,
  versions: { from?: number | undefined; to?: number | undefined } = {},
): Promise<UnitDiff> {
  const { rows } = await db.query<{
    canonical_address: string
    version_no: number
    title: string
    content_hash: string
    body: string
    current: number
  }>(
    `select u.canonical_address, c.version_no, c.title, c.content_hash, c.body, u.version_no as current
       from iu_core.information_unit u join iu_core.unit_version c on c.unit_id = u.unit_id
      where u.unit_id = $1
        and c.version_no in (coalesce($2, greatest(coalesce($3, u.version_no) - 1, 1)), coalesce($3, u.version_no), u.version_no)`,
    [unit, versions.from ?? null, versions.to ?? null],
  )
  if (rows.length === 0) throw new StagedoorError('unit_unknown', { unit })
  const { canonical_address, current } = rows[0]!
  const to = versions.to ?? current
  const from = versions.from ?? Math.max(to - 1, 1)
  const version = (wanted: number) => {
    const found = rows.find(({ version_no }) => version_no === wanted)
    if (found) return found
    const message = `The unit ${canonical_address} has no version ${wanted}: it has ${current}`
    const hint = `Its versions are 1 to ${current}; its history shows their times.`
    throw new StagedoorError('unit_unknown', { unit }, { message, hint })
  }
  const before = version(from)
  const after = version(to)
  return {
    unit_id: unit,
    from_version: from,
    from_hash: before.content_hash,
    from_title: before.title,
    to_version: to,
    to_hash: after.content_hash,
    to_title: after.title,
    diff: unifiedDiff(
      { name: `${canonical_address} version ${from}`, text: before.body },
      { name: `${canonical_address} version ${to}`, text: after.body },
    ),
  }
}

interface Side {
  readonly name: string
  readonly text: string
}

/** Beyond these limits a diff only names the sizes of the texts: computing it would block the server, and nobody reads it. */
const MAX_CHANGES = 20_000
const MAX_DIFF_MS = 250

/** As `diff -u` prints it; empty where nothing differs. */
export function unifiedDiff(before: Side, after: Side): string {
  if (before.text === after.text) return ''
  // Pieces of documents end without a newline. If neither text has one, the diff must not report it.
  const end = before.text.endsWith('\n') || after.text.endsWith('\n') ? '' : '\n'
  const texts = [before.text + end, after.text + end] as const
  const patch = createTwoFilesPatch(before.name, after.name, ...texts, undefined, undefined, {
    context: 3,
    maxEditLength: MAX_CHANGES,
    timeout: MAX_DIFF_MS,
    headerOptions: FILE_HEADERS_ONLY,
  })
  return (
    patch ??
    `--- ${before.name}\n+++ ${after.name}\n(almost everything differs: ${before.text.length} and ${after.text.length} characters)\n`
  )
}
