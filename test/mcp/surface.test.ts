/** What clients see: tools in a fixed order and a small budget, resources, prompts; through clients of both generations and the conformance suite. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { answerOf, rowsOf, useMcp } from './mcp-api.ts'

const mcp = useMcp()

const TOOLS = [
  'list_datasets',
  'describe_dataset',
  'profile_file',
  'propose_rows',
  'repair_rows',
  'propose_change',
  'get_plan',
  'submit',
  'get_status',
  'lineage',
  'search',
  'read_unit',
  'stage_record',
  'start_playbook',
  'list_issues',
]
const READING = [
  'list_datasets',
  'describe_dataset',
  'profile_file',
  'get_plan',
  'get_status',
  'lineage',
  'search',
  'read_unit',
  'list_issues',
]

/** An upper bound: tokenizers make a token of about four characters of English and JSON, and never so many that three do not do. */
const tokensAtMost = (text: string) => Math.ceil(text.length / 3)

it('lists at most 15 tools, always in the same order, within 5,000 tokens', async () => {
  const agent = await mcp.connect(mcp.tokens.agent)
  const { tools } = await agent.client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(TOOLS)
  expect(tools.length).toBeLessThanOrEqual(15)
  const tokens = tokensAtMost(JSON.stringify(tools))
  console.log(`${tools.length} tools: at most ${tokens} tokens of names, descriptions and schemas`)
  expect(tokens).toBeLessThanOrEqual(5000)
  for (const { name, annotations } of tools)
    expect(annotations, name).toMatchObject({
      readOnlyHint: READING.includes(name),
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    })
  for (const word of ['approve', 'promote', 'undo', 'gate', 'sql'])
    expect(tools.map(({ name }) => name).filter((name) => name.includes(word))).toEqual([])
})

it('gives a caller that can only read the tools that read, and the database refuses the rest', async () => {
  expect(await (await mcp.connect(mcp.tokens.reader)).tools()).toEqual(READING)
  const agent = await mcp.connect(mcp.tokens.agent)
  const { data } = await agent.call('propose_rows', {
    dataset: 'ads',
    platform: 'meta',
    key: 'read-only',
    rows: rowsOf('Read only'),
  })
  const reader = await mcp.connect(mcp.tokens.reader)
  for (const [tool, args] of Object.entries({
    get_plan: { upload: data.upload },
    get_status: { id: data.upload, details: true },
    lineage: { upload: data.upload },
    describe_dataset: { dataset: 'ads' },
    list_issues: {},
  })) {
    const { isError, text } = await reader.call(tool, args)
    expect(isError, `${tool}: ${text}`).toBe(false)
  }
  const asked = await mcp.connect(mcp.tokens.agent, { query: '?read_only=true&toolsets=data,knowledge' })
  expect(await asked.tools()).toEqual(READING.filter((name) => name !== 'list_issues'))
  await expect(asked.call('propose_rows', { dataset: 'ads', key: 'x', rows: rowsOf('X') })).rejects.toThrow()
  const knowledge = await mcp.connect(mcp.tokens.agent, { query: '?toolsets=knowledge' })
  expect(await knowledge.tools()).toEqual(['submit', 'get_status', 'search', 'read_unit', 'stage_record'])
})

it('serves the newest specification, the one before, and the client of the generation before', async () => {
  const modern = await mcp.connect(mcp.tokens.agent)
  expect(modern.client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
  const legacy = await mcp.connect(mcp.tokens.agent, { era: 'legacy' })
  expect(legacy.client.getNegotiatedProtocolVersion()).toMatch(/^2025-/)
  const before = await mcp.connectBefore(mcp.tokens.agent)
  const answers = [
    await modern.call('list_datasets'),
    await legacy.call('list_datasets'),
    answerOf(await before.callTool({ name: 'list_datasets', arguments: {} })),
  ]
  for (const { isError, data } of answers) {
    expect(isError).toBe(false)
    expect(data).toEqual(answers[0]!.data)
  }
  expect((await before.listTools()).tools.map(({ name }) => name)).toEqual(TOOLS)
  const rows = rowsOf('Before')
  const proposed = answerOf(
    await before.callTool({
      name: 'propose_rows',
      arguments: { dataset: 'ads', platform: 'meta', key: 'before', rows },
    }),
  )
  expect(proposed.data).toMatchObject({ status: 'planned' })
})

it('has resources by address, and prompts', async () => {
  const { client, call } = await mcp.connect(mcp.tokens.agent)
  const { data } = await call('propose_rows', {
    dataset: 'ads',
    platform: 'meta',
    key: 'resources',
    rows: rowsOf('Resources'),
  })
  const templates = (await client.listResourceTemplates()).resourceTemplates.map(
    ({ uriTemplate }) => uriTemplate,
  )
  expect(templates.sort()).toEqual([
    'stagedoor://dataset/{dataset}',
    'stagedoor://error/{code}',
    'stagedoor://unit/{+unit}',
    'stagedoor://upload/{upload}/plan',
  ])
  expect((await client.listResources()).resources).toMatchObject([{ uri: 'stagedoor://dataset/ads' }])
  const read = async (uri: string) => {
    const [content] = (await client.readResource({ uri })).contents
    return (content as { text: string }).text
  }
  expect(await read('stagedoor://dataset/ads')).toContain('"field":"spend"')
  expect(await read(`stagedoor://upload/${data.upload}/plan`)).toContain('Resources')
  expect(await read('stagedoor://error/plan_refused')).toContain('plan_refused')
  for (const uri of [
    'stagedoor://error/none',
    'stagedoor://dataset/none',
    'stagedoor://unit/no/such/address',
  ])
    await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602 })

  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual([
    'import_file',
    'explain_plan',
    'why_refused',
  ])
  const { messages } = await client.getPrompt({
    name: 'why_refused',
    arguments: { upload: data.upload, line: '2' },
  })
  expect((messages[0]!.content as { text: string }).text).toContain('Only people approve and promote')
})

/** The suite imports `globSync` of node:fs, which Node 20 lacks and these scenarios do not call. */
const OLDER_NODE = `data:text/javascript,${encodeURIComponent(`
  import { register } from 'node:module'
  register('data:text/javascript,' + encodeURIComponent(\`
    export async function load(url, context, next) {
      const loaded = await next(url, context)
      if (!url.endsWith('/conformance/dist/index.js')) return loaded
      return { ...loaded, source: String(loaded.source).replace('globSync as o,', '') }
    }
  \`))
`)}`

it('passes what the conformance suite asks of any server', { tags: 'long' }, async () => {
  // The suite sends no token, so a proxy adds it.
  const proxy = createServer((asked, answer) => {
    const { host: _, ...headers } = asked.headers
    const to = httpRequest(
      new URL(asked.url!, mcp.url),
      { method: asked.method, headers: { ...headers, authorization: `Bearer ${mcp.tokens.agent}` } },
      (from) => {
        answer.writeHead(from.statusCode!, from.headers)
        from.pipe(answer)
      },
    )
    asked.pipe(to)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const folder = mkdtempSync(join(tmpdir(), 'stagedoor-conformance-'))
  const program = fileURLToPath(
    new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
  )
  try {
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`
    for (const scenario of ['server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list']) {
      const run = spawn(
        process.execPath,
        ['--import', OLDER_NODE, program, 'server', '--url', url, '--scenario', scenario],
        { cwd: folder },
      )
      let output = ''
      run.stdout.on('data', (chunk) => {
        output += chunk
      })
      run.stderr.on('data', (chunk) => {
        output += chunk
      })
      const [code] = await once(run, 'close')
      expect(code, `${scenario}:\n${output.slice(-3000)}`).toBe(0)
    }
  } finally {
    proxy.closeAllConnections()
    proxy.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
