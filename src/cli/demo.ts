/**
 * The demo of `stagedoor start`: the story of examples/weekly-report, loaded in the background once the server listens. The story is
 * told through the public API; this file decides whether, gives it the tokens of the people in it, and says where to look.
 */
import { fileURLToPath } from 'node:url'
import pc from 'picocolors'
import type { Logger } from 'pino'
import { findMember } from '../access/members.ts'
import type { Stagedoor } from '../app/stagedoor.ts'
import type { JobHandlers } from '../jobs/handlers.ts'
import type { Config } from '../kernel/config.ts'
import { type Client, withClient } from '../kernel/postgres/connection.ts'
import type { Database } from '../kernel/postgres/open.ts'
import type { Output } from './terminal.ts'

/** In a clone and in the published package the same folder: two above this file. */
const STORY = new URL('../../examples/weekly-report/', import.meta.url)
const PEOPLE = ['operator', 'reviewer', 'agent'] as const
const TOKEN_LIFETIME = '1h'

interface Demo {
  /** The jobs of the story can be replayed as long as it is there. */
  readonly handlers: JobHandlers
  /** False: the story is complete, and nobody asked to see where things are. */
  readonly loads: boolean
}

interface DemoChoice {
  readonly wanted: Config['demo']
  /** The embedded server was new. */
  readonly isFirstStart: boolean
}

/**
 * Undefined: no demo. By itself it is loaded on the first start of the embedded server, and continued where that was interrupted;
 * a story that was loaded is never loaded again. A database of the user's own gets it only on request.
 */
export async function chooseDemo(
  database: Database,
  { wanted, isFirstStart }: DemoChoice,
): Promise<Demo | undefined> {
  if (wanted === 'off' || (wanted === 'auto' && database.kind === 'external')) return undefined
  const { storyState } = await importStory()
  // A login that does not administer cannot load it, which is said in the background: the server starts all the same.
  const state = await withClient(database.directUrl, storyState, { role: 'workflow_admin' }).catch(
    () => 'absent',
  )
  if (wanted === 'auto' && !isFirstStart && state === 'absent') return undefined
  const { loadHandlers } = await import('../jobs/handlers.ts')
  const handlers = await loadHandlers(fileURLToPath(new URL('handlers.mjs', STORY)))
  return { handlers, loads: wanted === 'on' || state !== 'complete' }
}

interface LoadDeps {
  readonly config: Config
  readonly database: Database
  readonly url: string
  readonly output: Output
  readonly log: Logger
}

/** Loads the story in the background. An error is logged and never ends the server. `stop` resolves when nothing of it runs any more. */
export function startDemo(deps: LoadDeps): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { output, log } = deps
  output.note(
    pc.dim(
      '\n  demo: loading a week at Northwind in the background, about ten seconds; one job of it fails on purpose…',
    ),
  )
  const loading = load(deps, stopping.signal).then(
    (places) => printPlaces(deps, places),
    (error: Error) => {
      if (stopping.signal.aborted) return
      // In the log, which is written with --json, too.
      log.error(
        { err: error },
        'the demo is not complete; the next start continues it, --no-demo goes without',
      )
    },
  )
  return {
    stop() {
      stopping.abort()
      return loading
    },
  }
}

async function load({ config, database, url }: LoadDeps, signal: AbortSignal): Promise<Place[]> {
  const { loadStory } = await importStory()
  const { assemble } = await import('../app/stagedoor.ts')
  // The database is closed by the command that opened it.
  const stagedoor = assemble({ ...database, close: async () => {} }, config)
  try {
    return await withClient(
      database.directUrl,
      async (owner) => {
        const tokens = await tokensOf(owner, database, config)
        return loadStory({ url, tokens, stagedoor, owner, signal })
      },
      { role: 'workflow_admin' },
    )
  } finally {
    await stagedoor.close()
  }
}

async function tokensOf(
  owner: Client,
  { jwtSecret }: Database,
  config: Config,
): Promise<Record<string, string>> {
  if (jwtSecret === undefined)
    throw new Error(
      'only your identity provider signs tokens here, so the people of the story cannot act; run examples/weekly-report/run.mjs with their tokens instead',
    )
  // Loaded here: most starts sign nothing.
  const { signToken } = await import('../access/tokens.ts')
  const tokens: Record<string, string> = {}
  for (const role of PEOPLE) {
    const member = await findMember(owner, { role })
    if (!member)
      throw new Error(`there is no ${role} in any workspace; add one: stagedoor member add --role ${role}`)
    const who = { subject: member.user_id, role: member.database_role, expiresIn: TOKEN_LIFETIME }
    tokens[role] = await signToken(jwtSecret, who, config)
  }
  return tokens
}

function printPlaces({ output, url, database }: LoadDeps, places: readonly Place[]): void {
  output.note(`\n  ${pc.green('✔')} The demo is loaded: a week at Northwind, with`)
  const width = Math.max(...places.map(({ what }) => what.length))
  for (const { what, path } of places) output.note(`    ${what.padEnd(width)}  ${url}${path}`)
  if (database.kind === 'embedded')
    output.note(pc.dim('  To go without it: stop, delete the data folder, start with --no-demo.'))
}

interface Place {
  readonly what: string
  /** In the console. */
  readonly path: string
}

interface Story {
  storyState(owner: Client): Promise<'absent' | 'begun' | 'complete'>
  loadStory(deps: {
    readonly url: string
    readonly tokens: Readonly<Record<string, string>>
    readonly stagedoor: Stagedoor
    readonly owner: Client
    readonly signal: AbortSignal
  }): Promise<Place[]>
}

function importStory(): Promise<Story> {
  return import(new URL('story.mjs', STORY).href)
}
