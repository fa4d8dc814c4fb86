/** The inside of one database, all from one snapshot. */
import pg from 'pg'
import { ROLES } from '../migrate/bootstrap.ts'
import type { SqlFiles } from '../migrate/files.ts'
import { type Entry, OWNER, readCatalogue } from './catalogue.ts'
import { compareCatalogues } from './compare.ts'
import type { Finding } from './finding.ts'
import { examineRoutines } from './history.ts'
import type { Session } from './login.ts'
import { readManifest } from './manifest.ts'
import { examineRoles } from './roles.ts'
import { invalidIndexes, partitionRights, partitionsAhead } from './storage.ts'
import { forServer } from './variants.ts'
import { examineForeignTable, type ForeignTable, foreignWorkspaceTables } from './workspaces.ts'

export interface Examination {
  readonly findings: readonly Finding[]
  readonly notes: readonly string[]
  readonly checked: Readonly<Record<string, number>>
}

export async function examineDatabase(
  client: pg.Client,
  session: Session,
  files: SqlFiles,
): Promise<Examination> {
  await client.query('begin isolation level repeatable read read only')
  try {
    const manifest = forServer(readManifest(), session.version)
    const foreign = await foreignWorkspaceTables(client)
    const expected = without(foreign, manifest)
    const live = without(foreign, await readCatalogue(client, publicNames(expected)))
    const outside = [
      ...(await examineRoles(client, session.version)),
      ...foreign.flatMap(examineForeignTable),
      ...(await invalidIndexes(client)),
      ...(await partitionRights(client)),
    ]
    const compared = compareCatalogues({ expected, live, files })
    const { findings: inside, unread } =
      session.owner === 'allowed' ? await examineAsOwner(client, files) : { findings: [], unread: [] }
    const findings = [...merge(compared, inside), ...outside]
    // Something could not be asked, and nothing explains why: that is not "all is as expected".
    if (findings.length === 0 && unread.length > 0) throw unread[0]
    return {
      findings,
      notes: foreign.map(
        ({ name, owner }) => `${name} belongs to ${owner}: only what Stagedoor needs of it was examined.`,
      ),
      checked: { ...count(expected), role: ROLES.length },
    }
  } finally {
    await client.query('rollback')
  }
}

/** No such table, column, function or schema, or no right to it. Anything else (a timeout) is no difference. */
const EXPLAINED = new Set(['42P01', '42703', '42883', '3F000', '42501'])

interface Inside {
  readonly findings: Finding[]
  /** What could not be read because something that it needs is not as expected. */
  readonly unread: pg.DatabaseError[]
}

/** Tables that only the owner reads. What they need may itself be missing: then the comparison has said so. */
async function examineAsOwner(client: pg.Client, files: SqlFiles): Promise<Inside> {
  const findings: Finding[] = []
  const unread: pg.DatabaseError[] = []
  for (const part of [() => examineRoutines(client, files), () => partitionsAhead(client)]) {
    await client.query(`savepoint part; set local role ${OWNER}`)
    try {
      findings.push(...(await part()))
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || !EXPLAINED.has(error.code ?? '')) throw error
      unread.push(error)
    }
    await client.query('rollback to savepoint part')
  }
  return { findings, unread }
}

/** One thing is said once: a routine that is to be applied explains itself, one that drifted is told in detail. */
function merge(compared: readonly Finding[], inside: readonly Finding[]): Finding[] {
  const pending = new Set(inside.filter(({ kind }) => kind === 'migrations').map(({ object }) => object))
  const told = new Set(compared.filter(({ kind }) => kind !== 'grant' && kind !== 'owner').map(nameOf))
  return [
    ...compared.filter((finding) => !pending.has(nameOf(finding))),
    ...inside.filter((finding) => finding.kind !== 'drifted' || !told.has(finding.object)),
  ]
}

/** function iu_core.f(text) → function iu_core.f */
function nameOf({ object }: Finding): string {
  return object.replace(/\(.*$/s, '')
}

function without(foreign: readonly ForeignTable[], entries: readonly Entry[]): Entry[] {
  const labels = new Set(foreign.map(({ name }) => `table ${name}`))
  return entries.filter((entry) => !labels.has(entry.of ?? `${entry.kind} ${entry.name}`))
}

function publicNames(entries: readonly Entry[]): string[] {
  return entries.map(({ name }) => name).filter((name) => name.startsWith('public.'))
}

function count(entries: readonly Entry[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { kind } of entries) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
