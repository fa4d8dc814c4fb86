/** `stagedoor doctor`: compares a database with what this version expects, and names a remedy for each difference. Read-only. */

import pg from 'pg'
import { StagedoorError } from '../../errors.ts'
import { VERSION } from '../../version.ts'
import { assertSupported, withClient } from '../connection.ts'
import { HISTORY_EXISTS, isOwnRole } from '../migrate/bootstrap.ts'
import { readSqlFiles, type SqlFiles } from '../migrate/files.ts'
import { planMigration } from '../migrate/migrate.ts'
import { compareRoutines } from '../migrate/routines.ts'
import { detectPooling, endpointOf } from '../open.ts'
import { OWNER } from './compare.ts'
import { examineApiRole, examineDatabase } from './database.ts'

export { makeManifest } from './compare.ts'

interface DoctorReport {
  readonly ok: boolean
  readonly findings: readonly Finding[]
  /** Worth knowing, but no problem. */
  readonly notes: readonly string[]
  /** How many of each kind were compared. */
  readonly checked: Readonly<Record<string, number>>
  readonly server_version: string
  readonly stagedoor_version: string
}

interface ExamineOptions {
  /** The direct address, as the login that migrates. */
  readonly url: string
  /** The URL that the API uses: its login is examined, too. */
  readonly apiUrl?: string
}

const PURPOSE = { purpose: 'doctor' }

export async function examine({ url, apiUrl }: ExamineOptions): Promise<DoctorReport> {
  const files = readSqlFiles()
  const identified = withClient(
    url,
    async (client) => identify(client, await assertSupported(client, url)),
    PURPOSE,
  )
  const session = await identified
  const pooling = await detectPooling(url)
  const history = await examineHistory(url, files)
  const unfit = session.owner === 'refused' || isOwnRole(session.login)
  const database = history.current
    ? await withClient(url, (client) => examineDatabase(client, session, files), PURPOSE)
    : { findings: [], notes: ['The objects are compared when the migrations are applied.'], checked: {} }
  const findings = withoutDoubles([
    ...(pooling === 'transaction' ? [poolerFinding(url)] : []),
    ...(unfit ? [refusedLogin(session)] : []),
    ...(session.owner === 'refused' && history.current ? [] : history.findings),
    ...database.findings,
    ...(apiUrl === undefined ? [] : await examineApiLogin(apiUrl, session)),
  ])
  const notes = [
    ...(session.superuser
      ? []
      : [`Event triggers are unavailable: they need a superuser, and ${session.login} is none.`]),
    ...(pooling === 'session' ? ['The direct address is a pooler in session mode, which is fine.'] : []),
    ...(pooling === 'unknown'
      ? ['Whether the direct address is a pooler is unknown: it gave no second session.']
      : []),
    ...database.notes,
    ...(await withClient(url, replicationNotes, PURPOSE)),
    // Where the tables are as they should be: otherwise there is more to do first.
    ...(history.current && session.owner === 'allowed' && findings.length === 0
      ? await withClient(url, bulkReferenceNotes, { ...PURPOSE, role: OWNER })
      : []),
    ...(findings.some(({ remedy }) => remedy.includes(';'))
      ? [`Run statements as ${OWNER} (set role ${OWNER}); those about owners and roles as an administrator.`]
      : []),
  ]
  return {
    ok: findings.length === 0,
    findings,
    notes,
    checked: database.checked,
    server_version: session.server_version,
    stagedoor_version: VERSION,
  }
}

/**
 * Every login may count the standbys; their names are for those who may read statistics. A backup that is being taken is no standby.
 */
async function replicationNotes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ standbys: number; names: string | null }>(
    `select count(*)::integer as standbys, string_agg(nullif(application_name, ''), ', ' order by application_name) as names
       from pg_stat_replication
      where coalesce(state, 'streaming') in ('streaming', 'catchup') and current_setting('synchronous_standby_names') = ''`,
  )
  const { standbys, names } = rows[0]!
  if (standbys === 0) return []
  const which = names === null ? '' : ` (${names})`
  return [
    `${standbys === 1 ? 'A standby follows' : `${standbys} standbys follow`} this server${which}, and synchronous_standby_names is empty: a failover can lose the last commits, and what they completed runs again. A synchronous standby prevents it.`,
  ]
}

/** The gate alone changes nothing: promotion then checks row by row, which is right, but not what an administrator wanted. */
async function bulkReferenceNotes(client: pg.Client): Promise<string[]> {
  const gate = 'iu_core.bulk_reference_checks_enabled'
  const { rows } = await client.query<{ missing: boolean }>(
    `select exists (select from iu_core.dot_config where key = $1 and value = 'true')
            and not has_parameter_privilege('session_replication_role', 'set') as missing`,
    [gate],
  )
  if (!rows[0]!.missing) return []
  return [
    `The gate ${gate} is open, but ${OWNER} may not set session_replication_role, so promotion checks foreign keys row by row. A superuser grants it: \`grant set on parameter session_replication_role to ${OWNER}\`.`,
  ]
}

function poolerFinding(url: string): Finding {
  return {
    kind: 'pooler',
    object: `endpoint ${endpointOf(url)}`,
    problem:
      'is a pooler in transaction mode: migrations, LISTEN and workers need a session that stays the same',
    remedy: 'Set DATABASE_DIRECT_URL to the address of the server itself, or of a pooler in session mode.',
  }
}

/** The API's login is examined as a role and as a login. */
function withoutDoubles(findings: readonly Finding[]): Finding[] {
  return findings.filter(
    ({ object, problem }, index) =>
      findings.findIndex((other) => other.object === object && other.problem === problem) === index,
  )
}

/** What doctor reports. */
export type FindingKind =
  | 'missing'
  | 'unexpected'
  | 'drifted'
  | 'owner'
  | 'grant'
  | 'rls'
  | 'index'
  | 'role'
  | 'login'
  | 'pooler'
  | 'partitions'
  | 'workspaces'
  | 'review policy'
  | 'migrations'

export interface Finding {
  readonly kind: FindingKind
  /** `table iu_core.event_outbox`, `role stagedoor_api` … */
  readonly object: string
  /** What is wrong with it, as the end of a sentence that begins with the object. */
  readonly problem: string
  /** A statement, which ends with a semicolon, or a command. */
  readonly remedy: string
}

// The two logins: the one that migrates and runs doctor, and the one of the API, which must have no privileges of its own.

export interface Session {
  readonly login: string
  readonly superuser: boolean
  readonly version: number
  readonly server_version: string
  /** Whether the login may SET ROLE to workflow_admin. Absent: there is no such role yet. */
  readonly owner: 'allowed' | 'refused' | 'absent'
  /** Identifies one database on one running server. */
  readonly database: string
}

const API_LOGIN = 'stagedoor_api'

const WHICH_DATABASE = `(select d.oid || '@' || extract(epoch from pg_postmaster_start_time())
   from pg_database d where d.datname = current_database())`

async function identify(client: pg.Client, version: number): Promise<Session> {
  const become = version >= 160000 ? 'SET' : 'MEMBER'
  const { rows } = await client.query<Session>(
    `select session_user as login, me.rolsuper as superuser, current_setting('server_version') as "server_version",
            case when o.oid is null then 'absent' when pg_has_role(me.oid, o.oid, '${become}') then 'allowed'
                 else 'refused' end as owner,
            ${WHICH_DATABASE} as database
       from pg_roles me left join pg_roles o on o.rolname = $1
      where me.rolname = session_user`,
    [OWNER],
  )
  return { ...rows[0]!, version }
}

function refusedLogin({ login, version }: Session): Finding {
  if (isOwnRole(login)) {
    return {
      kind: 'login',
      object: `login ${login}`,
      problem: 'is a role of ours, and none of those migrates or administers',
      remedy: 'Set DATABASE_DIRECT_URL to the login that migrates.',
    }
  }
  return {
    kind: 'login',
    object: `login ${login}`,
    problem: `cannot become ${OWNER}, so that it can neither migrate nor read the history of migrations`,
    remedy: `grant ${OWNER} to "${login}"${version >= 160000 ? ' with inherit false, set true' : ''};`,
  }
}

/** A URL that does not work is a finding, not an error: the rest of the report is still useful. */
async function examineApiLogin(apiUrl: string, direct: Session): Promise<Finding[]> {
  try {
    return await withClient(apiUrl, (client) => examineApiSession(client, direct), { purpose: 'doctor' })
  } catch (error) {
    if (!(error instanceof StagedoorError)) throw error
    return [
      {
        kind: 'login',
        object: 'DATABASE_URL',
        problem: `does not work: ${error.message}`,
        remedy: error.hint,
      },
    ]
  }
}

async function examineApiSession(client: pg.Client, direct: Session): Promise<Finding[]> {
  const { rows } = await client.query<{ login: string; acts: string; database: string }>(
    `select session_user as login, current_user as acts, ${WHICH_DATABASE} as database`,
  )
  const { login, acts, database } = rows[0]!
  const findings: Finding[] = []
  const add = (problem: string, remedy: string) =>
    findings.push({ kind: 'login', object: `login ${login}`, problem, remedy })
  if (database !== direct.database) {
    add(
      'reaches another database than the direct address does',
      'Let DATABASE_URL and DATABASE_DIRECT_URL name the same database.',
    )
  }
  if (login !== API_LOGIN) {
    add(
      `is not ${API_LOGIN}, and the database believes the claims of no other`,
      `Let DATABASE_URL log in as ${API_LOGIN}.`,
    )
  }
  if (acts !== login) {
    add(
      `acts as ${acts} from the start, and must have no right by itself`,
      `alter role "${login}" reset role;`,
    )
  }
  return [...findings, ...(await examineApiRole(client, login))]
}

// Migrations and routines: what is still to be applied, and what somebody changed after it was applied.

interface History {
  readonly findings: readonly Finding[]
  /** False if migrations are pending or unknown ones were applied: then the manifest does not describe this database. */
  readonly current: boolean
}

const MIGRATE = 'stagedoor migrate'

async function examineHistory(url: string, files: SqlFiles): Promise<History> {
  try {
    const plan = await planMigration({ url, files })
    const pending = [...plan.migrations, ...plan.waiting_migrations]
    if (pending.length === 0) return { findings: rightsFindings(plan.bootstrap), current: true }
    return { findings: pending.map((name) => pendingFinding(`migration ${name}`)), current: false }
  } catch (error) {
    // The report already has a finding about that login. The objects can still be compared.
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
  // workflow_admin may not read the migration history, or one of its tables is missing.
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

/** Roles are compared separately. This covers the privileges of the migrator's login and of workflow_admin. */
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

/** Must run in a transaction, as workflow_admin. */
export async function examineRoutines(client: pg.Client, files: SqlFiles): Promise<Finding[]> {
  const { changed, drifted, removed } = await compareRoutines(client, files.routines)
  return [
    ...changed
      .filter((routine) => !drifted.includes(routine))
      .map((routine) => pendingFinding(`${routine.kind} ${routine.schema}.${routine.name}`)),
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

function pendingFinding(object: string): Finding {
  return { kind: 'migrations', object, problem: 'is not applied as this version has it', remedy: MIGRATE }
}

function isCode(error: unknown, code: StagedoorError['code']): error is StagedoorError {
  return error instanceof StagedoorError && error.code === code
}
