/** `stagedoor mcp`: the MCP server over stdin and stdout, for an agent on this machine. Over the network `stagedoor start` serves it at /mcp. */
import { StagedoorError } from '../kernel/errors.ts'
import { createPool, inStatement } from '../kernel/postgres/connection.ts'
import { parseToolsets } from '../mcp/session.ts'
import { command } from './command.ts'
import { untilStopped, untilStoppedOrLost } from './process.ts'

/** A call that reads a file needs two, the others one for a moment. */
const SESSIONS = 4
/** The statements of one caller are worked out one after the other. */
const PROPOSAL_SESSIONS = 1

export const mcpCommand = () =>
  command(
    'mcp',
    'serve an AI agent over stdin and stdout (Model Context Protocol): it proposes, people decide',
  )
    .option('--read-only', 'only tools that read')
    .option(
      '--toolsets <names>',
      'only these, separated by commas: data (datasets, proposals, plans), knowledge (search, units, records), work (playbooks, issues); default: all',
      parseToolsets,
    )
    .option('--files <folder>', 'calls may name files of this folder; default: none')
    .examples(
      `The agent acts with the token in STAGEDOOR_TOKEN: that of a machine (\`stagedoor token create NAME --role agent\`) or a JWT. No server has to run:
with DATABASE_URL it works on that database, else on the embedded one. Nothing approves, promotes, undoes or opens a gate here.

Examples:
  $ export STAGEDOOR_TOKEN=$(stagedoor token create claude --role agent)
  $ claude mcp add stagedoor --env STAGEDOOR_TOKEN=$STAGEDOOR_TOKEN -- stagedoor mcp --home ~/.stagedoor    # Claude Code
  $ claude mcp add --transport http stagedoor http://localhost:4680/mcp --header "Authorization: Bearer $STAGEDOOR_TOKEN"    # a server that runs
  $ stagedoor mcp --read-only --toolsets knowledge
Other clients: docs/guides/agents.md.`,
    )
    .run(
      async ({ options, output, config, database: open }) => {
        const { token } = config
        if (token === undefined)
          throw new StagedoorError(
            'unauthenticated',
            {},
            {
              message: 'STAGEDOOR_TOKEN is not set',
              hint: 'Create a token for the agent: `stagedoor token create NAME --role agent`, and give it in STAGEDOOR_TOKEN.',
            },
          )
        // Loaded here, because the other commands need none of it.
        const { serveMcp } = await import('../mcp/stdio.ts')
        const { createSlots } = await import('../mcp/session.ts')
        const { createSearch } = await import('../app/search.ts')
        const { openStores } = await import('../app/stores.ts')
        const { createLog } = await import('../app/log.ts')
        const { createTokenVerifier } = await import('../access/tokens.ts')
        const log = createLog(config)
        const database = await open()
        const closers: (() => Promise<unknown> | unknown)[] = []
        try {
          const stores = openStores(config)
          closers.push(() => stores.close())
          const requests = createPool(database.apiUrl, { max: SESSIONS, purpose: 'mcp' })
          closers.push(() => requests.end())
          const workers = createPool(database.workerUrl, {
            role: 'dot_executor',
            max: SESSIONS,
            purpose: 'mcp',
          })
          closers.push(() => workers.end())
          const proposals =
            database.proposalUrl === undefined
              ? undefined
              : createPool(database.proposalUrl, { purpose: 'proposals', max: PROPOSAL_SESSIONS })
          closers.push(() => proposals?.end())
          const search = createSearch({
            config,
            database,
            pool: workers,
            statement: (work) => inStatement(workers, work),
          })
          closers.push(() => search.close())
          const stopped = untilStopped()
          const serving = await serveMcp({
            pool: requests,
            tokens: createTokenVerifier(config, database.jwtSecret, config.jwtSecretOther),
            token,
            deps: {
              ingest: { pool: workers, home: config.home, files: stores.uploads, proposalPool: proposals },
              search,
              slots: createSlots(),
              onInternalError: (error) => log.error({ err: error }, 'unexpected error of a tool'),
            },
            consoleUrl: config.publicUrl ?? `http://localhost:${config.port}`,
            options: { toolsets: options.toolsets, files: options.files },
            readOnly: options.readOnly === true,
            rateLimit: config.rateLimit,
            onError: (error) => log.debug({ err: error }, 'mcp'),
          })
          closers.push(() => serving.close())
          output.note(`Stagedoor serves ${serving.principal.subject} over stdin and stdout.`)
          await untilStoppedOrLost(Promise.race([stopped, serving.closed]), database)
        } finally {
          for (const close of closers.reverse()) await close()
        }
      },
      { announce: true },
    )
