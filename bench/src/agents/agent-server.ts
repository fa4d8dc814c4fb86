/** `stagedoor start` in a process of its own with its embedded server, and an agent that is connected to it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { freePort } from '../processes.ts'

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))

export interface AgentServer {
  /** The id of the upload that it became. */
  propose(statement: string): Promise<string>
  overMcp(upload: string): Promise<unknown>
  overHttp(upload: string): Promise<unknown>
  stop(): Promise<void>
}

/** With the tables that `sql` makes; `table` is open to proposals. */
export async function startServer(sql: string, table: string): Promise<AgentServer> {
  const home = await mkdtemp(join(tmpdir(), 'stagedoor-bench-agents-'))
  const { DATABASE_URL: _, DATABASE_DIRECT_URL: __, ...environment } = process.env
  const env = { ...environment, STAGEDOOR_HOME: home, STAGEDOOR_DEMO: 'off', STAGEDOOR_RATE_LIMIT: '1000000' }
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [MAIN, 'start', '--no-demo', '--port', String(port)], {
    cwd: home,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const stop = async () => {
    await end(child)
    await rm(home, { recursive: true, force: true })
  }
  const cli = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [MAIN, ...args], { cwd: home, env })).stdout.trim()
  try {
    await ready(url, child)
    await cli('gate', 'open', 'iu_core.staging_writes_enabled', '--reason', 'benchmark')
    await cli('sql', sql)
    await cli('proposal', 'open', table)
    const token = await cli('token', '--as', 'agent')
    const headers = { authorization: `Bearer ${token}` }
    const client = new Client({ name: 'bench', version: '1' })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
    )
    const call = async (name: string, args: Record<string, unknown>) => {
      const answer = (await client.callTool({ name, arguments: args })) as {
        isError?: boolean
        structuredContent?: { data: { upload: string } }
      }
      if (answer.isError) throw new Error(JSON.stringify(answer))
      return answer.structuredContent!.data
    }
    return {
      propose: async (statement) => (await call('propose_change', { statement, key: 'bench' })).upload,
      overMcp: (upload) => call('get_status', { id: upload }),
      async overHttp(upload) {
        const reply = await fetch(`${url}/api/v1/uploads/${upload}`, { headers })
        if (!reply.ok) throw new Error(`GET /uploads: ${reply.status}`)
        return reply.json()
      },
      async stop() {
        await client.close()
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const LOOK_MS = 100

async function ready(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`stagedoor start ended with ${child.exitCode}`)
    const reply = await fetch(`${url}/api/ready`).catch(() => undefined)
    if (reply?.ok) return
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
