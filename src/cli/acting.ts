/** As whom a command acts: as the back end (the login itself), or as a member of a workspace with --as. */
import { Option } from 'commander'
import { APP_ROLES, type AppRole, findMember, listWorkspaces } from '../access/members.ts'
import { type Client, createPool, withClient } from '../db/connection.ts'
import type { Database } from '../db/open.ts'
import { type Caller, inTransaction } from '../db/transaction.ts'
import { StagedoorError } from '../errors.ts'
import { requireUpload } from '../ingest/uploads.ts'
import { findRecord } from '../staging/records.ts'
import type { Transaction } from '../units/conflicts.ts'
import { type GlobalOptions, withDatabase } from './context.ts'

export interface ActingOptions extends GlobalOptions {
  readonly as?: AppRole
  readonly user?: string
}

export function asOption(): Option {
  return new Option('--as <role>', 'act as the member with this role, not as the back end').choices(APP_ROLES)
}

export function userOption(): Option {
  return new Option('--user <id>', 'act as this member; on the embedded server only')
}

/** What a command is about, which says in which workspace the member is looked for. */
export interface Scope {
  readonly record?: string
  readonly upload?: string
  /** Id or name. */
  readonly workspace?: string
  /** A person's decision: nobody but that person makes it, except where the whole server is theirs. */
  readonly decides?: boolean
  /** The call with which that person makes it, where it is not theirs. */
  readonly call?: string
}

/** One transaction, like a request of that member over HTTP. */
export async function acting<T>(
  options: ActingOptions,
  work: (client: Client, database: Database) => Promise<T>,
  scope: Scope = {},
): Promise<T> {
  return actingApart(
    options,
    (transaction, database) => transaction((client) => work(client, database)),
    scope,
  )
}

/** The same in several transactions, for work between them. */
export async function actingApart<T>(
  options: ActingOptions,
  work: (transaction: Transaction, database: Database) => Promise<T>,
  scope: Scope = {},
): Promise<T> {
  return withDatabase(options, async (database) => {
    const caller = await callerFor(database, options, scope)
    const url = caller ? database.apiUrl : database.workerUrl
    const pool = createPool(url, { max: 1, purpose: 'cli', ...(!caller && { role: 'dot_executor' }) })
    try {
      return await work((task) => inTransaction(pool, task, caller), database)
    } finally {
      await pool.end()
    }
  })
}

/** The member that --as or --user names; undefined: the back end itself. */
export async function callerFor(
  database: Database,
  options: ActingOptions,
  scope: Scope,
): Promise<Caller | undefined> {
  if (isNamed(options)) return memberOf(database, options, scope)
  if (scope.decides) throw nobodyNamed(database, scope)
  return undefined
}

export function isNamed({ as, user }: ActingOptions): boolean {
  return as !== undefined || user !== undefined
}

/** People decide under stagedoor_reviewer, where their membership is checked; agents stay agents. */
async function memberOf(database: Database, options: ActingOptions, scope: Scope): Promise<Caller> {
  if (database.kind === 'external' && (scope.decides || options.user !== undefined))
    throw notTheirs(database, scope)
  const member = await withClient(
    database.workerUrl,
    async (client) => {
      const workspace = await workspaceIn(client, scope)
      return findMember(client, {
        ...(options.user !== undefined && { user: options.user }),
        ...(options.as !== undefined && { role: options.as }),
        ...(workspace !== undefined && { workspace }),
      })
    },
    { role: 'dot_executor' },
  )
  if (!member) throw noSuchMember(options, scope)
  if (scope.decides && member.database_role === 'stagedoor_agent') throw agentDecidesNothing()
  const person = member.database_role === 'authenticated'
  const databaseRole = scope.decides && person ? 'stagedoor_reviewer' : member.database_role
  return { role: databaseRole, claims: { sub: member.user_id, role: databaseRole } }
}

/** A global record has no workspace and so no members: whoever it is, the database refuses them. */
async function workspaceIn(
  client: Client,
  { record, upload, workspace }: Scope,
): Promise<string | undefined> {
  if (workspace !== undefined) return workspaceOf(client, workspace)
  if (upload !== undefined) return (await requireUpload(client, upload)).workspace_id
  if (record === undefined) return undefined
  const found = await findRecord(client, record)
  if (!found) throw new StagedoorError('staging_not_found', { record })
  return found.workspace_id ?? undefined
}

function overTheApi({ upload, call }: Scope): string {
  if (call !== undefined) return `The person does it over the API, with their own token: ${call}.`
  return upload === undefined
    ? 'The person does it over the API, with their own token: POST /api/staging/{id}/approve, reject or tick.'
    : `The person does it in the console or over the API, with their own token: POST /api/uploads/${upload}/approve, reject or undo.`
}

/** Whoever holds the database's password could otherwise decide in anybody's name, and the audit would not show it. */
function notTheirs(database: Database, scope: Scope): StagedoorError {
  const reason = scope.decides
    ? 'on your own database nobody decides in the name of another with --as or --user'
    : 'on your own database --user does not choose a person'
  return new StagedoorError(
    'permission_denied',
    { reason },
    { message: `Refused: ${reason}`, hint: overTheApi(scope) + perhapsEmbedded(database) },
  )
}

/** `eval "$(stagedoor login)"` makes the embedded server look like one's own database to whatever runs in that terminal. */
function perhapsEmbedded({ directUrl }: Database): string {
  const isHere = URL.canParse(directUrl) && ['127.0.0.1', 'localhost'].includes(new URL(directUrl).hostname)
  return isHere
    ? ' If it is the embedded server, whose addresses `stagedoor login` gave to this terminal: unset DATABASE_URL DATABASE_DIRECT_URL PLAYBOOK_DATABASE_URL.'
    : ''
}

/** A login is nobody: that it decided would say nothing about who had looked. */
function nobodyNamed(database: Database, scope: Scope): StagedoorError {
  const reason = 'a person decides, not a login'
  return new StagedoorError(
    'permission_denied',
    { reason },
    {
      message: `Refused: ${reason}`,
      hint:
        database.kind === 'external'
          ? overTheApi(scope) + perhapsEmbedded(database)
          : 'Say who: --as reviewer, or --user <id> with an id of `stagedoor member list`.',
    },
  )
}

/** As over HTTP. The database refuses it as well, in words about a function. */
function agentDecidesNothing(): StagedoorError {
  const reason = 'an agent decides nothing'
  const hint = 'A person who may review does: --as reviewer.'
  return new StagedoorError('permission_denied', { reason }, { message: `Refused: ${reason}`, hint })
}

function noSuchMember({ as, user }: ActingOptions, { record, upload, workspace }: Scope): StagedoorError {
  const who = [user, as && `with the role ${as}`].filter(Boolean).join(' ')
  const held = record !== undefined ? 'record' : upload !== undefined ? 'upload' : undefined
  const where = held ? ` in the workspace of the ${held}` : workspace ? ` in ${workspace}` : ''
  return new StagedoorError(
    'not_found',
    { what: `member ${who}${where}` },
    { hint: '`stagedoor member list` shows who there is; `stagedoor member add` adds one.' },
  )
}

/** The workspace that was named by id or name, else the only one there is. */
export async function workspaceOf(client: Client, named: string | undefined): Promise<string> {
  const rows = await listWorkspaces(client)
  const found = named === undefined ? rows : rows.filter((row) => row.id === named || row.name === named)
  if (found.length === 1) return found[0]!.id
  const names = rows.map((row) => row.name ?? row.id).join(', ') || 'none that you can see'
  throw new StagedoorError('argument_invalid', {
    reason:
      named === undefined
        ? `Say which workspace with --workspace: ${names}`
        : `There is no workspace ${named}; there are ${names}`,
  })
}
