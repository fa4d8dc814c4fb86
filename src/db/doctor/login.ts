/** Who logs in: the one that migrates and looks, and the one of the API, which by itself must be nobody. */
import type pg from 'pg'
import { StagedoorError } from '../../errors.ts'
import { withClient } from '../connection.ts'
import { isOwnRole } from '../migrate/bootstrap.ts'
import { OWNER } from './catalogue.ts'
import type { Finding } from './finding.ts'
import { examineApiRole } from './roles.ts'

export interface Session {
  readonly login: string
  readonly superuser: boolean
  readonly version: number
  readonly server_version: string
  /** May the login become the owner of ours? Absent: there is no such role yet. */
  readonly owner: 'allowed' | 'refused' | 'absent'
  /** Tells one database on one running server from every other. */
  readonly database: string
}

const API_LOGIN = 'stagedoor_api'

const WHICH_DATABASE = `(select d.oid || '@' || extract(epoch from pg_postmaster_start_time())
   from pg_database d where d.datname = current_database())`

export async function identify(client: pg.Client, version: number): Promise<Session> {
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

export function refusedLogin({ login, version }: Session): Finding {
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

/** An address that does not work is a finding: the rest of the report is still worth reading. */
export async function examineApiLogin(apiUrl: string, direct: Session): Promise<Finding[]> {
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
