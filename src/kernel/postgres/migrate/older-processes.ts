/**
 * Rolling upgrades: which processes on the database are older than this version, and which migrations must wait for them. A migration
 * whose first line says `-- stagedoor: contract` takes away what an older version uses; it is called 0052_contract_its_name.sql, by which
 * older versions know that they cannot work on the database any more.
 */
import type pg from 'pg'
import type { Migration } from './files.ts'

/** A living process of an older version. */
export interface OlderProcess {
  readonly host: string
  readonly pid: number
  readonly version: string
  readonly roles: readonly string[]
}

/** As `iu_core.fn_process_is_alive`, which a database of an earlier version may not have. */
const ALIVE_S = 20

export async function listOlderProcesses(client: pg.Client, version: string): Promise<OlderProcess[]> {
  const { rows: there } = await client.query<{ there: boolean }>(
    `select to_regclass('iu_core.process') is not null as there`,
  )
  if (!there[0]!.there) return []
  const { rows } = await client.query<OlderProcess>(
    `select host, pid, version, roles from iu_core.process
      where seen_at > clock_timestamp() - make_interval(secs => $1) order by host, pid`,
    [ALIVE_S],
  )
  return rows.filter((process) => isOlder(process.version, version))
}

/** Those that may be applied now, and those that wait until the older processes are gone; both in order. */
export function splitMigrations(
  pending: readonly Migration[],
  older: readonly OlderProcess[],
): { readonly now: readonly Migration[]; readonly later: readonly Migration[] } {
  if (older.length === 0) return { now: pending, later: [] }
  return {
    now: pending.filter(({ contracts }) => !contracts),
    later: pending.filter(({ contracts }) => contracts),
  }
}

/** By the rules of semantic versions: 0.2.0-rc.1 is older than 0.2.0. What is no version counts as older. */
export function isOlder(version: string, than: string): boolean {
  const [one, other] = [parse(version), parse(than)]
  if (one === undefined) return true
  if (other === undefined) return false
  return (compareLists(one.numbers, other.numbers) || comparePreviews(one.preview, other.preview)) < 0
}

type Part = number | string

function parse(version: string): { numbers: number[]; preview: Part[] } | undefined {
  const found = /^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/.exec(version.trim())
  if (!found) return undefined
  return {
    numbers: found.slice(1, 4).map(Number),
    preview: (found[4] ?? '')
      .split('.')
      .filter((part) => part !== '')
      .map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  }
}

/** A version without a preview part is the newer one. */
function comparePreviews(one: readonly Part[], other: readonly Part[]): number {
  if (one.length === 0 || other.length === 0) return other.length - one.length
  return compareLists(one, other)
}

/** Numbers are before words, and of two that begin alike the shorter one. */
function compareLists(one: readonly Part[], other: readonly Part[]): number {
  for (const [index, part] of one.entries()) {
    const against = other[index]
    if (against === undefined) return 1
    if (part === against) continue
    if (typeof part === typeof against) return part < against ? -1 : 1
    return typeof part === 'number' ? -1 : 1
  }
  return one.length - other.length
}
