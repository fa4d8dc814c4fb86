/**
 * What every command works with: the configuration, the output, and on demand the database with transactions as whoever acts.
 * A command acts as the back end (the login itself), or as a member of a workspace with --as or --user.
 */

import pc from 'picocolors'
import {
  type AppRole,
  findMember,
  isReviewerAnywhere,
  listMembers,
  resolveWorkspace,
} from '../access/members.ts'
import type { Stagedoor } from '../app/stagedoor.ts'
import { type Config, readConfig, type SettingName } from '../kernel/config.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { type Client, createPool, type Pool, withClient } from '../kernel/postgres/connection.ts'
import { type Database, openDatabase } from '../kernel/postgres/open.ts'
import { type Caller, inTransaction } from '../kernel/postgres/transaction.ts'
import { API_PREFIX } from '../kernel/version.ts'
import { joinWords } from './format.ts'
import { createOutput, type Output } from './terminal.ts'

export interface GlobalOptions {
  readonly json?: boolean
  readonly home?: string
}

export interface SessionOptions extends GlobalOptions {
  readonly as?: AppRole
  readonly user?: string
}

export interface SessionSettings {
  /** What the back end acts as where no member is named; default: the login, dot_executor. */
  readonly backEndRole?: 'service_role'
  /** False: the database may be empty or of another version. */
  readonly prepare?: boolean
  /** Other processes find the embedded server while this command runs. */
  readonly announce?: boolean
  /** False: the embedded server is this command's own, and its start is shown step by step. */
  readonly share?: boolean
  /** Options that are settings: the name of the setting, and of the option that sets it. */
  readonly settingsFrom?: Partial<Record<SettingName, string>>
  /** What the command is about, for transactions that do not say it themselves. */
  readonly scope?: Scope
}

type Work<T> = (client: Client) => Promise<T>

/** One transaction as whoever acts. */
export type Transaction = <T>(work: Work<T>) => Promise<T>

/** Everything is opened when it is first asked for, and closed with the session. */
export interface Session<Options extends SessionOptions = SessionOptions> {
  readonly options: Options
  readonly output: Output
  readonly config: Config
  /** True with --as or --user. */
  readonly isMember: boolean
  /** A running `npm start` is used if there is one; otherwise the embedded server runs for this command only. */
  database(): Promise<Database>
  /** True on a database of the user's own. */
  isExternal(): Promise<boolean>
  /** One transaction as the member that is named, else as the back end. */
  transaction<T>(work: Work<T>, scope?: Scope): Promise<T>
  /**
   * One transaction as a person who decides, under stagedoor_reviewer. A login decides nothing; nor does an agent, nor anybody in
   * the name of another on a database of the user's own. What belongs to no workspace is decided by the back end in the name of
   * `actor`, who must review in some workspace.
   */
  decide<T>(work: (client: Client, actor: string | undefined) => Promise<T>, scope?: Scope): Promise<T>
  /** One transaction as the back end, whoever is named. */
  backEnd: Transaction
  /** One transaction as the owner of everything of ours (workflow_admin). */
  administrator: Transaction
  /** The same without a transaction around it: for work that commits in parts. */
  administratorClient: Transaction
  /** The back end's connections. */
  pool(): Promise<Pool>
  /** The library over the same database. It loads every room: most commands need one of them. */
  library(): Promise<Stagedoor>
  /** What people call the members, by their ids: of one workspace or of all. */
  memberNames(workspace?: string): Promise<MemberNames>
  close(): Promise<void>
}

export type MemberNames = (actor: string) => string

export function createSession<Options extends SessionOptions>(
  options: Options,
  { backEndRole, scope: ownScope = {}, settingsFrom = {}, share = true, ...opening }: SessionSettings = {},
): Session<Options> {
  const output = createOutput(options.json === true)
  const closers: (() => Promise<unknown>)[] = []
  const config = once(() => {
    const given = options as Readonly<Record<string, unknown>>
    const flags = Object.entries(settingsFrom).flatMap(([setting, option]) =>
      given[option] === undefined ? [] : [[setting, String(given[option])]],
    )
    return configOf(options, Object.fromEntries(flags))
  })
  const database = once(async () => {
    const opened = await openDatabase(config(), {
      share,
      notice: output.note,
      ...(!share && { progress: (step) => output.note(pc.dim(`  ${step}`)) }),
      ...opening,
    })
    closers.push(() => opened.close())
    return opened
  })
  const openPool = async (...given: Parameters<typeof createPool>): Promise<Pool> => {
    const pool = createPool(...given)
    closers.push(() => pool.end())
    return pool
  }
  const pool = once(async () =>
    openPool((await database()).workerUrl, { role: 'dot_executor', max: 4, purpose: 'cli' }),
  )
  const requests = once(async () => openPool((await database()).apiUrl, { max: 1, purpose: 'cli' }))
  const admin = once(async () =>
    openPool((await database()).directUrl, { role: 'workflow_admin', max: 1, purpose: 'cli' }),
  )
  const library = once(async () => {
    const { assemble } = await import('../app/stagedoor.ts')
    const opened = assemble(await database(), config())
    closers.push(() => opened.close())
    return opened
  })
  const isMember = options.as !== undefined || options.user !== undefined
  const callers = new Map<string, Promise<Caller>>()
  /** The member that --as or --user names; undefined: the back end itself. Looked up once, however many transactions a command has. */
  const findCaller = async (scope: Scope): Promise<Caller | undefined> => {
    if (!isMember && scope.decides) throw nobodyNamed(await database(), scope)
    if (!isMember) return undefined
    const key = JSON.stringify(scope)
    const caller = callers.get(key) ?? memberOf(await database(), options, scope)
    callers.set(key, caller)
    return caller
  }
  const backEnd = async <T>(work: Work<T>): Promise<T> =>
    inTransaction(await pool(), work, backEndRole && { role: backEndRole })

  return {
    options,
    output,
    get config() {
      return config()
    },
    isMember,
    database,
    isExternal: async () => (await database()).kind === 'external',
    async transaction(work, scope = ownScope) {
      const caller = await findCaller(scope)
      return caller ? inTransaction(await requests(), work, caller) : backEnd(work)
    },
    async decide(work, { find, ...scope } = ownScope) {
      const workspace = find && (await inTransaction(await pool(), find))
      const caller = await findCaller({ ...scope, ...(workspace != null && { workspace }), decides: true })
      if (workspace !== null)
        return inTransaction(await requests(), (client) => work(client, undefined), caller)
      const actor = caller?.claims?.sub as string | undefined
      await requireReviewer(await database(), actor)
      return inTransaction(await pool(), (client) => work(client, actor), { role: 'service_role' })
    },
    backEnd,
    administrator: async (work) => inTransaction(await admin(), work),
    administratorClient: async (work) =>
      withClient((await database()).directUrl, work, { role: 'workflow_admin' }),
    pool,
    library,
    memberNames: async (workspace) => memberNames(await database(), workspace),
    async close() {
      for (const close of closers.splice(0).reverse()) await close()
    },
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Of commands that stay. */
export const LOG_OPTION = [
  '--log <format>',
  'the log as lines for people or as JSON; default: JSON outside of a terminal',
  ['pretty', 'json'],
] as const

const warned = new Set<string>()

/** Warns of unknown settings once a process: a command may read its configuration several times. */
export function configOf(
  { home, json }: GlobalOptions,
  flags: Partial<Record<SettingName, string>> = {},
): Config {
  const config = readConfig(process.env, { ...(home !== undefined && { home }), ...flags })
  const { note } = createOutput(json === true)
  for (const { setting, suggestion } of config.unknown) {
    if (warned.has(setting)) continue
    warned.add(setting)
    note(`Warning: ${setting} is not a setting of Stagedoor and has no effect${suggestion}`)
  }
  return config
}

/** What a command is about, which says in which workspace the member is looked for. */
export interface Scope {
  readonly record?: string | undefined
  readonly upload?: string | undefined
  /** A change by its id or that of its subject. */
  readonly change?: string | undefined
  /** On a change. */
  readonly comment?: string | undefined
  /** Id or name. */
  readonly workspace?: string | undefined
  /** As the back end, what is decided about says where it belongs; null: to no workspace, so that no member could have the right to. */
  readonly find?: (client: Client) => Promise<string | null>
  /** A person's decision: nobody but that person makes it, except where the whole server is theirs. */
  readonly decides?: boolean
  /** The call with which that person makes it, where it is not theirs. */
  readonly call?: string | undefined
}

/** People decide under stagedoor_reviewer, where their membership is checked; agents stay agents. */
async function memberOf(database: Database, options: SessionOptions, scope: Scope): Promise<Caller> {
  if (database.kind === 'external' && (scope.decides || options.user !== undefined))
    throw notTheirs(database, scope)
  const member = await withClient(
    database.workerUrl,
    async (client) => {
      const workspace = await workspaceIn(client, scope)
      return findMember(client, { user: options.user, role: options.as, workspace })
    },
    { role: 'dot_executor' },
  )
  if (!member) throw noSuchMember(options, scope)
  // As over HTTP. The database refuses it as well, in words about a function.
  if (scope.decides && member.database_role === 'stagedoor_agent')
    throw refused('an agent decides nothing', 'A person who may review does: --as reviewer.')
  const person = member.database_role === 'authenticated'
  const databaseRole = scope.decides && person ? 'stagedoor_reviewer' : member.database_role
  return { role: databaseRole, claims: { sub: member.user_id, role: databaseRole } }
}

/** A global record has no workspace and so no members: whoever it is, the database refuses them. */
async function workspaceIn(
  client: Client,
  { record, upload, change, comment, workspace }: Scope,
): Promise<string | undefined> {
  if (workspace !== undefined) return workspaceOf(client, workspace)
  if (change !== undefined || comment !== undefined) {
    const { requireChange } = await import('../changes/changes.ts')
    const { requireComment } = await import('../changes/comments.ts')
    const id = change ?? (await requireComment(client, comment!)).change_id
    return (await requireChange(client, id)).workspace_id
  }
  if (upload !== undefined) {
    const { requireUpload } = await import('../ingest/uploads.ts')
    return (await requireUpload(client, upload)).workspace_id
  }
  if (record === undefined) return undefined
  const { requireRecord } = await import('../staging/records.ts')
  return (await requireRecord(client, record)).workspace_id ?? undefined
}

function overTheApi({ upload, call }: Scope): string {
  if (upload !== undefined && call === undefined)
    return `The person does it in the console or over the API, with their own token: POST ${API_PREFIX}/uploads/${upload}/approve, reject or undo.`
  const calls = call ?? `POST ${API_PREFIX}/staging/{id}/approve, reject or tick`
  return `The person does it over the API, with their own token: ${calls}.`
}

/** How a reviewer approves a staging record; on a database of the user's own over the API, with their own token. */
export function approveRecordCommand(
  { staging_record_id: id, content_hash: digest }: { staging_record_id: string; content_hash: string },
  external: boolean,
): string {
  return external
    ? `POST ${API_PREFIX}/staging/${id}/approve with the reviewer’s token and {"digest": "${digest}"}`
    : `stagedoor staging approve --as reviewer ${id} --digest ${digest}`
}

/** Whoever holds the database's password could otherwise decide in anybody's name, and the audit would not show it. */
function notTheirs(database: Database, scope: Scope): StagedoorError {
  const reason = scope.decides
    ? 'on your own database nobody decides in the name of another with --as or --user'
    : 'on your own database --user does not choose a person'
  return refused(reason, overTheApi(scope) + perhapsEmbedded(database))
}

function refused(reason: string, hint: string): StagedoorError {
  return new StagedoorError('permission_denied', { reason }, { message: `Refused: ${reason}`, hint })
}

/** `eval "$(stagedoor login)"` makes the embedded server look like one's own database to whatever runs in that terminal. */
function perhapsEmbedded({ directUrl }: Database): string {
  const isHere = URL.canParse(directUrl) && ['127.0.0.1', 'localhost'].includes(new URL(directUrl).hostname)
  return isHere
    ? ' If it is the embedded server, whose addresses `stagedoor login` gave to this terminal: unset DATABASE_URL DATABASE_DIRECT_URL PLAYBOOK_DATABASE_URL PROPOSAL_DATABASE_URL.'
    : ''
}

/** A login is nobody: that it decided would say nothing about who had looked. */
function nobodyNamed(database: Database, scope: Scope): StagedoorError {
  return refused(
    'a person decides, not a login',
    database.kind === 'external'
      ? overTheApi(scope) + perhapsEmbedded(database)
      : 'Say who: --as reviewer, or --user <id> with an id of `stagedoor member list`.',
  )
}

function noSuchMember({ as, user }: SessionOptions, { workspace, ...scope }: Scope): StagedoorError {
  const who = joinWords([user, as && `with the role ${as}`], ' ')
  const subject = (['record', 'upload', 'change', 'comment'] as const).find(
    (kind) => scope[kind] !== undefined,
  )
  const where = subject ? ` in the workspace of the ${subject}` : workspace ? ` in ${workspace}` : ''
  return new StagedoorError(
    'not_found',
    { what: `member ${who}${where}` },
    { hint: '`stagedoor member list` shows who there is; `stagedoor member add` adds one.' },
  )
}

/** The workspace that was named by id or name, else the only one there is. */
export function workspaceOf(client: Client, named: string | undefined): Promise<string> {
  return withFlag(resolveWorkspace(client, named))
}

/** An error about an argument names the option of the command line. */
export async function withFlag<T>(resolved: Promise<T>): Promise<T> {
  return resolved.catch((error) => {
    if (!(error instanceof StagedoorError) || error.code !== 'argument_invalid') throw error
    const { code, message, details } = error
    if (details.argument === undefined) throw error
    const hint = `The option is --${details.argument}.`
    throw new StagedoorError(code, details, { message, hint, cause: error })
  })
}

/** Undefined where none was named: then of all. */
export async function workspaceIfNamed(
  client: Client,
  named: string | undefined,
): Promise<string | undefined> {
  return named === undefined ? undefined : workspaceOf(client, named)
}

async function requireReviewer(database: Database, user: string | undefined): Promise<void> {
  const may =
    user !== undefined &&
    (await withClient(database.directUrl, (client) => isReviewerAnywhere(client, user), {
      role: 'workflow_admin',
    }))
  if (!may) throw refused('they review in no workspace', 'Somebody who may review does: --as reviewer.')
}

/** Of one workspace or of all. A courtesy: where the login may not look at the members, their ids are shown. */
async function memberNames(database: Database, workspace?: string): Promise<MemberNames> {
  const named = await withClient(
    database.directUrl,
    async (client) => {
      const members = await listMembers(client, workspace)
      const tokens = await client.query<{ subject: string; name: string }>(
        `select subject, name from iu_core.machine_token where $1::uuid is null or workspace_id = $1`,
        [workspace],
      )
      return [
        ...members.map(({ user_id, display_name }) => [user_id, display_name] as const),
        ...tokens.rows.map(({ subject, name }) => [subject, name] as const),
      ]
    },
    { role: 'workflow_admin' },
  ).catch(() => [])
  const names = new Map(named)
  return (actor) => names.get(actor) ?? actor
}
