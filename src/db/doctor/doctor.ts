/** `stagedoor doctor`: is this the database that this version expects? It only reads. */
import { VERSION } from '../../version.ts'
import { withClient } from '../connection.ts'
import { isOwnRole } from '../migrate/bootstrap.ts'
import { readSqlFiles } from '../migrate/files.ts'
import { detectPooling, endpointOf } from '../pooler.ts'
import { assertSupported } from '../server-version.ts'
import { OWNER } from './catalogue.ts'
import { examineDatabase } from './database.ts'
import type { Finding } from './finding.ts'
import { examineHistory } from './history.ts'
import { examineApiLogin, identify, refusedLogin } from './login.ts'

export type { Finding, FindingKind } from './finding.ts'
export { makeManifest } from './manifest.ts'

export interface DoctorReport {
  readonly ok: boolean
  readonly findings: readonly Finding[]
  /** What is worth knowing and not wrong. */
  readonly notes: readonly string[]
  /** How many of each kind were compared. */
  readonly checked: Readonly<Record<string, number>>
  readonly server_version: string
  readonly stagedoor_version: string
}

export interface ExamineOptions {
  /** The direct address, as the login that migrates. */
  readonly url: string
  /** The address that the API uses: its login is examined, too. */
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

function poolerFinding(url: string): Finding {
  return {
    kind: 'pooler',
    object: `endpoint ${endpointOf(url)}`,
    problem:
      'is a pooler in transaction mode: migrations, LISTEN and workers need a session that stays the same',
    remedy: 'Set DATABASE_DIRECT_URL to the address of the server itself, or of a pooler in session mode.',
  }
}

/** The API's login is looked at as a role and as a login. */
function withoutDoubles(findings: readonly Finding[]): Finding[] {
  return findings.filter(
    ({ object, problem }, index) =>
      findings.findIndex((other) => other.object === object && other.problem === problem) === index,
  )
}
