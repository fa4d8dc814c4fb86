/** Resources: what an application puts before its model by address, without a tool. The rights are those of the tools. */
import {
  type McpServer,
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { listDatasets } from '../ingest/datasets/registry.ts'
import { CATALOGUE, type ErrorSpec } from '../kernel/catalogue.ts'
import type { ErrorCode } from '../kernel/errors.ts'
import { UUID } from '../kernel/ids.ts'
import { asData, errorOf, jsonOf, withExactNumbers } from './answers.ts'
import { describeDataset, takesRows } from './datasets.ts'
import { toolHintOf } from './hints.ts'
import { describeUnit } from './knowledge.ts'
import { type McpSession, ToolCall, type Toolset } from './session.ts'
import { readPlan, uploadIdOf } from './uploads.ts'

const PLAN_ROWS = 100
const MAX_LISTED = 100

export function registerResources(
  server: McpServer,
  session: McpSession,
  toolsets: ReadonlySet<Toolset>,
): void {
  const callOf = (context: ServerContext) => new ToolCall(session, context, false)

  if (toolsets.has('data')) {
    server.registerResource(
      'dataset',
      new ResourceTemplate('stagedoor://dataset/{dataset}', {
        list: (context) => listedDatasets(callOf(context)),
      }),
      {
        title: 'Dataset',
        description: 'Fields, rules, tables and clients of a dataset',
        mimeType: 'text/plain',
      },
      (uri, { dataset }, context) =>
        read(session, uri, async () => describeDataset(callOf(context), text(dataset), undefined)),
    )
    server.registerResource(
      'plan',
      new ResourceTemplate('stagedoor://upload/{upload}/plan', { list: undefined }),
      {
        title: 'Plan of an upload',
        description: 'What it would change in production: totals, what is unusual, the first rows',
        mimeType: 'text/plain',
      },
      (uri, { upload }, context) =>
        read(session, uri, async () => {
          const call = callOf(context)
          const id = await uploadIdOf(call, text(upload))
          return session.transaction((client) =>
            readPlan(withExactNumbers(client), call, id, { limit: PLAN_ROWS }),
          )
        }),
    )
  }
  if (toolsets.has('knowledge'))
    server.registerResource(
      'unit',
      new ResourceTemplate('stagedoor://unit/{+unit}', { list: undefined }),
      {
        title: 'Unit',
        description: 'Its text by address or id, with its status and freshness',
        mimeType: 'text/plain',
      },
      (uri, { unit }, context) =>
        read(session, uri, () => describeUnit(callOf(context), { unit: text(unit) })),
    )
  server.registerResource(
    'error',
    new ResourceTemplate('stagedoor://error/{code}', { list: undefined }),
    { title: 'Error', description: 'What a code of an error means and what to do', mimeType: 'text/plain' },
    (uri, { code }) => describeError(uri, text(code)),
  )
}

async function listedDatasets(call: ToolCall) {
  const datasets = (await call.transaction(listDatasets)).filter(takesRows)
  return {
    resources: datasets.slice(0, MAX_LISTED).map(({ dataset }) => ({
      uri: `stagedoor://dataset/${encodeURIComponent(dataset)}`,
      name: dataset,
      mimeType: 'text/plain',
    })),
  }
}

async function read(
  session: McpSession,
  uri: URL,
  load: () => Promise<unknown>,
): Promise<ReadResourceResult> {
  try {
    session.admit?.()
    return contents(uri, asData(jsonOf(await load())))
  } catch (thrown) {
    const error = errorOf(thrown)
    if (error.status === 404) throw new ResourceNotFoundError(uri.href)
    if (error.code === 'internal') session.deps.onInternalError(thrown)
    throw new Error(
      `${error.code}: the tools say more about it, and stagedoor://error/${error.code} what to do`,
    )
  }
}

function describeError(uri: URL, code: string): ReadResourceResult {
  if (!Object.hasOwn(CATALOGUE, code)) throw new ResourceNotFoundError(uri.href)
  const { message, retryable }: ErrorSpec = CATALOGUE[code as ErrorCode]
  const again = retryable ? 'The same call may succeed later without a change.' : 'The same call fails again.'
  return contents(uri, `${code}\n${message}\n${toolHintOf(code as ErrorCode)}\n${again}`)
}

function contents(uri: URL, text: string): ReadResourceResult {
  return { contents: [{ uri: uri.href, mimeType: 'text/plain', text }] }
}

/** A variable of an address: escaped there, so that an address of a unit may have a slash. */
function text(variable: string | readonly string[] | undefined): string {
  const given = Array.isArray(variable) ? variable.join('/') : String(variable ?? '')
  if (UUID.test(given)) return given
  try {
    return decodeURIComponent(given)
  } catch {
    return given
  }
}
