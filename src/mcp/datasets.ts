/** Tools that look at what can be proposed: datasets with their fields, and a file that nobody has uploaded. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireRightAnywhere } from '../access/members.ts'
import { type Field, isExpressionRule, STATEMENT_MODE } from '../ingest/datasets/dataset.ts'
import {
  listClients,
  listDatasets,
  type RegisteredDataset,
  unknownDataset,
} from '../ingest/datasets/registry.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { Type } from '../kernel/schema.ts'
import { counted, shorten } from './answers.ts'
import type { ToolCall } from './session.ts'
import { type Tool, tool, Workspace } from './tool.ts'

/** Rows, a CSV or a file of one call, in bytes. A larger file is uploaded by the CLI or over HTTP. */
export const MAX_CONTENT_BYTES = 4 * 1024 ** 2
const MAX_CLIENTS = 200

const Dataset = Type.String({ minLength: 1, maxLength: 63 })

const listDatasetsTool = tool({
  name: 'list_datasets',
  title: 'List datasets',
  description: 'What rows can be proposed for: each dataset with its platforms and target tables.',
  toolsets: ['data'],
  reads: true,
  input: { workspace: Workspace },
  async handle({ workspace: named }, call) {
    const datasets = await call.transaction(async (client) =>
      listDatasets(client, await call.workspace(client, named)),
    )
    const taking = datasets.filter(takesRows)
    return {
      summary: `${counted(taking.length, 'dataset')}.`,
      data: { datasets: taking.map(summaryOf) },
      next: [
        'describe_dataset has the fields of one.',
        ...(taking.length < datasets.length
          ? ['Tables that are open to statements are listed by propose_change without a statement.']
          : []),
      ],
    }
  },
})

const describeDatasetTool = tool({
  name: 'describe_dataset',
  title: 'Describe a dataset',
  description:
    'Fields with types, accepted headers, allowed values and rules, the tables that rows are written to, and the clients. Read it before propose_rows.',
  toolsets: ['data'],
  reads: true,
  input: { dataset: Dataset, workspace: Workspace },
  async handle({ dataset, workspace: named }, call) {
    const data = await describeDataset(call, dataset, named)
    return {
      summary: `A dataset with ${counted(data.fields.length, 'field')} and ${counted(data.rows.length, 'row type')}.`,
      data,
      next: ['propose_rows takes rows whose keys are headers of these fields.'],
    }
  },
})

const profileFileTool = tool({
  name: 'profile_file',
  title: 'Profile a file',
  description:
    'What is in a file: columns with types, gaps, ranges and examples, possible keys, encoding, number and date styles. Nothing is stored.',
  toolsets: ['data'],
  right: 'stage',
  reads: true,
  input: {
    text: Type.Optional(
      Type.String({ minLength: 1, maxLength: MAX_CONTENT_BYTES, description: 'CSV or JSON lines' }),
    ),
    file: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description: 'instead, where the server was given --files',
      }),
    ),
  },
  async handle({ text, file }, call) {
    if ((text === undefined) === (file === undefined))
      throw new StagedoorError('request_invalid', { reason: 'give either text or file' })
    await call.transaction((client) =>
      requireRightAnywhere(client, 'stage', undefined, call.session.principal.role),
    )
    const profile = await call.inSlot(() =>
      text === undefined ? profileAt(call, file!) : profileText(call, text),
    )
    const { value, cut } = shorten(profile)
    return {
      summary: `${profile.lines} lines, ${profile.columns.length} columns, ${profile.keys.length} possible keys.`,
      data: { ...value, cut_texts: cut },
      next: ['describe_dataset says which fields a dataset takes; propose_rows proposes the rows.'],
    }
  },
})

export const DATASET_TOOLS: readonly Tool[] = [listDatasetsTool, describeDatasetTool, profileFileTool]

/** A table that is open to statements is a dataset, too, and takes no rows. */
export function takesRows({ definition }: RegisteredDataset): boolean {
  return definition.rows.some(({ mode }) => mode !== STATEMENT_MODE)
}

function summaryOf({ definition, registered_by, registered_at, ...dataset }: RegisteredDataset) {
  return {
    ...dataset,
    platforms: Object.keys(definition.platforms),
    row_types: definition.rows.map(({ name, target, key }) => ({ row_type: name, target, key })),
    has_clients: definition.client !== undefined && definition.client !== null,
  }
}

/** One dataset that the workspace may use, as whoever proposes rows needs to know it. */
export function describeDataset(call: ToolCall, dataset: string, named: string | undefined) {
  return call.transaction(async (client) => {
    const workspace = await call.workspace(client, named)
    const registered = await listDatasets(client, workspace)
    const found = registered.find((one) => one.dataset === dataset)
    if (!found) throw unknownDataset(dataset, registered)
    const { definition, approval_required, undo_window, version } = found
    const clients = await listClients(client, definition, workspace)
    return {
      dataset,
      title: found.title,
      version,
      approval_required,
      undo_window,
      platforms: Object.entries(definition.platforms).map(([platform, { title }]) => ({ platform, title })),
      fields: Object.entries(definition.fields).map(fieldOf),
      rules: (definition.rules ?? []).map((rule) => ({
        name: rule.name,
        severity: rule.severity,
        holds: isExpressionRule(rule) ? rule.check : rule.compare.join(' '),
        message: rule.message,
      })),
      rows: definition.rows.map(({ name, target, key, columns, mode }) => ({
        row_type: name,
        target,
        key,
        mode,
        columns,
      })),
      clients: clients.slice(0, MAX_CLIENTS).map(({ id, name }) => ({ id, name: name ?? id })),
      more_clients: Math.max(0, clients.length - MAX_CLIENTS),
    }
  })
}

function fieldOf([name, field]: [string, Field]) {
  const { type, title, required, expected, aliases, values, min, max, maxLength, pattern } = field
  const headers = Object.entries(aliases).map(
    ([platform, some]) =>
      [platform, some.map((alias) => (typeof alias === 'string' ? alias : alias.header))] as const,
  )
  return {
    field: name,
    type,
    title,
    required,
    expected,
    headers: Object.fromEntries(headers),
    ...(values && { values: Object.keys(values) }),
    min,
    max,
    max_length: maxLength,
    pattern,
  }
}

async function profileAt(call: ToolCall, file: string) {
  const { profileFile } = await import('../ingest/profile-file.ts')
  return profileFile(await call.fileIn(file), { signal: call.signal })
}

async function profileText(call: ToolCall, text: string) {
  requireSmall(text)
  const folder = await mkdtemp(join(tmpdir(), 'stagedoor-mcp-'))
  try {
    const path = join(folder, /^\s*[[{]/.test(text) ? 'file.jsonl' : 'file.csv')
    await writeFile(path, text)
    const { profileFile } = await import('../ingest/profile-file.ts')
    return await profileFile(path, { signal: call.signal })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export function requireSmall(text: string): void {
  if (Buffer.byteLength(text) <= MAX_CONTENT_BYTES) return
  throw new StagedoorError(
    'body_too_large',
    { limit: MAX_CONTENT_BYTES },
    { hint: 'Upload a larger file with `stagedoor ingest FILE` or POST /api/v1/uploads.' },
  )
}
