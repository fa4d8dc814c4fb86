/** The MCP server over a test database: listening, with the people of a workspace and clients of both generations. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientBefore } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportBefore } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, beforeAll } from 'vitest'
import { type UploadsApi, useUploads } from '../http/uploads/uploads-api.ts'

export interface ToolAnswer {
  readonly isError: boolean
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks into is what it asserts
  readonly structured: any
  // biome-ignore lint/suspicious/noExplicitAny: the same
  readonly data: any
}

export interface McpClient {
  readonly client: Client
  call(tool: string, args?: object): Promise<ToolAnswer>
  tools(): Promise<string[]>
}

interface ConnectOptions {
  /** Default: the newest specification. */
  readonly era?: 'auto' | 'legacy'
  readonly query?: string
  /** It opens addresses for the person, and this is what the person says. */
  readonly opens?: (url: string) => 'accept' | 'decline'
}

export interface McpApi extends UploadsApi {
  url: string
  connect(token: string, options?: ConnectOptions): Promise<McpClient>
  /** The client of the generation before. */
  connectBefore(token: string): Promise<ClientBefore>
}

export function useMcp(): McpApi {
  const uploads = useUploads({ approval: true })
  const open: { close(): Promise<void> }[] = []
  const mcp = uploads as McpApi
  beforeAll(async () => {
    mcp.url = await uploads.api.listen()
  })
  afterEach(async () => {
    for (const client of open.splice(0)) await client.close()
  })
  mcp.connect = async (token, { era = 'auto', query = '', opens } = {}) => {
    const client = new Client(
      { name: 'test', version: '1' },
      {
        versionNegotiation: { mode: era },
        ...(opens && { capabilities: { elicitation: { url: {} } } }),
      },
    )
    if (opens)
      client.setRequestHandler('elicitation/create', async ({ params }) => ({
        action: opens((params as { url: string }).url),
      }))
    await client.connect(transportTo(new URL(`${mcp.url}/mcp${query}`), token))
    open.push(client)
    return clientOf(client)
  }
  mcp.connectBefore = async (token) => {
    const client = new ClientBefore({ name: 'test', version: '1' })
    const headers = { authorization: `Bearer ${token}` }
    await client.connect(
      new TransportBefore(new URL(`${mcp.url}/mcp`), { requestInit: { headers } }) as never,
    )
    open.push(client)
    return client
  }
  return mcp
}

export function transportTo(url: URL, token: string): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(url, {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  })
}

export function clientOf(client: Client): McpClient {
  return {
    client,
    call: async (name, args = {}) => answerOf(await client.callTool({ name, arguments: { ...args } })),
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
  }
}

export function answerOf(result: object): ToolAnswer {
  const { content, structuredContent, isError } = result as {
    content: { text?: string }[]
    structuredContent?: { data?: unknown }
    isError?: boolean
  }
  return {
    isError: isError === true,
    text: content.map(({ text }) => text ?? '').join('\n'),
    structured: structuredContent,
    data: structuredContent?.data,
  }
}

/** Rows of the dataset ads, as an agent sends them. */
export function rowsOf(campaign: string, days = 3): Record<string, unknown>[] {
  return Array.from({ length: days }, (_, day) => ({
    'Campaign name': campaign,
    'Ad set name': 'Retarget',
    'Ad name': 'Video',
    Day: `2026-11-0${day + 1}`,
    'Amount spent (AUD)': 10 + day,
    Impressions: 1000 + day,
    'Link clicks': 10 + day,
  }))
}
