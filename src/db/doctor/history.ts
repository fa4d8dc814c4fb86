/** What this version would still apply, and what it applied and somebody changed since. */
import pg from 'pg'
import { StagedoorError } from '../../errors.ts'
import { withClient } from '../connection.ts'
import { HISTORY_EXISTS } from '../migrate/bootstrap.ts'
import type { SqlFiles } from '../migrate/files.ts'
import { planMigration } from '../migrate/migrate.ts'
import { compareRoutines } from '../migrate/routines.ts'
import { OWNER } from './catalogue.ts'
import type { Finding } from './finding.ts'

export interface History {
  readonly findings: readonly Finding[]
  /** False where migrations are to be applied, or unknown ones were: then the manifest is not what to expect. */
  readonly current: boolean
}

const MIGRATE = 'stagedoor migrate'

export async function examineHistory(url: string, files: SqlFiles): Promise<History> {
  try {
    const plan = await planMigration({ url, files })
    if (plan.migrations.length === 0) return { findings: rightsFindings(plan.bootstrap), current: true }
    return { findings: plan.migrations.map((name) => pending(`migration ${name}`)), current: false }
  } catch (error) {
    // The report has a finding for that login already; the objects can be compared all the same.
    if (isCode(error, 'direct_login_wrong')) return { findings: [], current: await isMigrated(url) }
    return { findings: failureFindings(error), current: !isCode(error, 'migration_unknown') }
  }
}

async function isMigrated(url: string): Promise<boolean> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ there: boolean }>(`select ${HISTORY_EXISTS} as there`),
  )
  return rows[0]!.there
}

function failureFindings(error: unknown): Finding[] {
  // A schema of ours with another owner: the comparison says so, with the remedy.
  if (isCode(error, 'foreign_object')) return []
  if (isCode(error, 'migration_unknown') || isCode(error, 'migration_edited')) {
    const problem =
      error.code === 'migration_unknown'
        ? 'was applied, and this version of Stagedoor does not know it'
        : 'was applied with another text than this version has'
    const object = `migration ${String(error.details.migration)}`
    return [{ kind: 'migrations', object, problem, remedy: error.hint }]
  }
  // The owner may not read its own history, or a table of it is gone.
  const unreadable =
    isCode(error, 'roles_missing') ||
    isCode(error, 'permission_denied') ||
    isCode(error, 'migrations_pending') ||
    error instanceof pg.DatabaseError
  if (!unreadable) throw error
  const { message } = error.cause instanceof Error ? error.cause : error
  return [
    {
      kind: 'migrations',
      object: 'history of migrations',
      problem: `cannot be read: ${message}`,
      remedy: 'Mend what is said of iu_core.schema_migration and iu_core.schema_routine, then look again.',
    },
  ]
}

/** Roles are looked at on their own; what remains is what the login that migrates and the owner may do. */
function rightsFindings(statements: readonly string[]): Finding[] {
  return statements.flatMap((statement): Finding[] => {
    const remedy = `${statement};`
    if (statement.startsWith('grant usage, create on schema public')) {
      return [{ kind: 'grant', object: 'schema public', problem: `cannot be used by ${OWNER}`, remedy }]
    }
    const [, becomes, login] = /^grant (\w+) to (.+?)(?: with .*)?$/.exec(statement) ?? []
    if (login === undefined || /^"stagedoor_(api|worker)"$/.test(login)) return []
    return [{ kind: 'login', object: `login ${login}`, problem: `cannot become ${becomes}`, remedy }]
  })
}

/** Inside a transaction, as the owner. */
export async function examineRoutines(client: pg.Client, files: SqlFiles): Promise<Finding[]> {
  const { changed, drifted, removed } = await compareRoutines(client, files.routines)
  return [
    ...changed
      .filter((routine) => !drifted.includes(routine))
      .map((routine) => pending(`${routine.kind} ${routine.schema}.${routine.name}`)),
    ...removed.map(
      ({ kind, schema_name, object_name }): Finding => ({
        kind: 'migrations',
        object: `${kind} ${schema_name}.${object_name}`,
        problem: 'belongs to another version of Stagedoor',
        remedy: MIGRATE,
      }),
    ),
    ...drifted.map(
      (routine): Finding => ({
        kind: 'drifted',
        object: `${routine.kind} ${routine.schema}.${routine.name}`,
        problem: 'was changed in the database after it had been applied',
        remedy: `${MIGRATE} (it applies sql/${routine.file} again)`,
      }),
    ),
  ]
}

function pending(object: string): Finding {
  return { kind: 'migrations', object, problem: 'is not applied as this version has it', remedy: MIGRATE }
}

function isCode(error: unknown, code: StagedoorError['code']): error is StagedoorError {
  return error instanceof StagedoorError && error.code === code
}
