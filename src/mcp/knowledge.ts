/** Tools for knowledge: search in what people approved, units, and records that are staged for a decision. */
import { requireStaging } from '../gates/gates.ts'
import { StagedoorError } from '../kernel/errors.ts'
import { UUID } from '../kernel/ids.ts'
import { Type } from '../kernel/schema.ts'
import { LIFECYCLES, SOURCES } from '../search/question.ts'
import { createRecord, requireRecord } from '../staging/records.ts'
import { PAYLOAD_TYPES, STAGING_KINDS } from '../staging/shapes.ts'
import { findUnits, readUnit } from '../units/units.ts'
import { isLong } from './answers.ts'
import { requireSmall } from './datasets.ts'
import type { ToolCall } from './session.ts'
import { limit, type Tool, tool, Workspace } from './tool.ts'

const MAX_HITS = 50
/** Of the text of a unit in one answer. */
const MAX_BODY_CHARACTERS = 50_000
const Word = Type.Optional(Type.String({ minLength: 1, maxLength: 100 }))

const searchTool = tool({
  name: 'search',
  title: 'Search knowledge',
  description:
    'Find units and documents by words and by meaning, with freshness and address. Only what people approved is found, never what is staged.',
  toolsets: ['knowledge'],
  reads: true,
  input: {
    text: Type.String({
      minLength: 1,
      maxLength: 10_000,
      description: 'a question, words, "a phrase", begin*',
    }),
    topic: Word,
    kind: Word,
    status: Type.Optional(Type.Enum([...LIFECYCLES])),
    source: Type.Optional(Type.Enum([...SOURCES])),
    container: Type.Optional(
      Type.String({ maxLength: 400, description: 'address or id: it, and what is in it' }),
    ),
    limit: limit(MAX_HITS, 10),
    workspace: Workspace,
  },
  async handle({ text, workspace, limit = 10, status, ...filters }, call) {
    const workspaceId = await call.transaction((client) => call.workspace(client, workspace))
    const { hits, ...answer } = await call.deps.search.findAs((work) => call.transaction(work), {
      workspaceId,
      text,
      limit,
      filters: { ...filters, ...(status !== undefined && { lifecycle: status }) },
    })
    return {
      summary: `${hits.length} hits.`,
      data: { hits, ...answer },
      next: hits.length === 0 ? [] : ['read_unit has the whole text of a unit.'],
    }
  },
})

const readUnitTool = tool({
  name: 'read_unit',
  title: 'Read a unit',
  description: 'The text of a unit by its address or id, with its status and whether it is up to date.',
  toolsets: ['knowledge'],
  reads: true,
  input: {
    unit: Type.String({ minLength: 1, maxLength: 400 }),
    version: Type.Optional(Type.Integer({ minimum: 1 })),
    from: Type.Optional(Type.Integer({ minimum: 0, description: 'first character; a long text has pages' })),
    workspace: Workspace,
  },
  async handle(args, call) {
    const data = await describeUnit(call, args)
    return {
      summary: `A unit of ${data.characters} characters, version ${data.version}, ${data.status}; search has it as ${data.freshness.search}.`,
      data,
      next: data.next_from === null ? [] : ['The rest of the text: `from` = `next_from`.'],
    }
  },
})

const stageRecordTool = tool({
  name: 'stage_record',
  title: 'Stage a record for a decision',
  description:
    'Stage texts or JSON for a person to decide on. Nothing of it is used, cut or found by search before a person approves exactly these bytes. The same `key` finds the record that is there.',
  toolsets: ['knowledge'],
  right: 'stage',
  reads: false,
  idempotent: true,
  input: {
    purpose: Type.String({ minLength: 1, maxLength: 2000, description: 'a few words for whoever decides' }),
    key: Type.String({ minLength: 1, maxLength: 200 }),
    parts: Type.Array(
      Type.Object(
        {
          name: Type.String({ minLength: 1, maxLength: 200 }),
          text: Type.Optional(Type.String()),
          json: Type.Optional(Type.Unknown({ description: 'instead of text' })),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 20 },
    ),
    checklist: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
        maxItems: 50,
        description: 'what the person ticks who approves; a review_package needs it',
      }),
    ),
    staging_kind: Type.Optional(Type.Enum([...STAGING_KINDS], { description: 'default review_package' })),
    payload_type: Type.Optional(Type.Enum([...PAYLOAD_TYPES], { description: 'default review_bundle' })),
    source_ref: Type.Optional(Type.String({ maxLength: 2000, description: 'where it comes from' })),
    workspace: Workspace,
  },
  async handle({ purpose, key, parts, checklist, staging_kind, payload_type, source_ref, workspace }, call) {
    requireSmall(JSON.stringify([parts, checklist]))
    const { id, created, record } = await call.transaction(async (client) => {
      const workspaceId = await call.workspace(client, workspace)
      await requireStaging(client, workspaceId)
      const request = {
        workspace_id: workspaceId,
        staging_kind: staging_kind ?? 'review_package',
        payload_type: payload_type ?? 'review_bundle',
        purpose,
        source_ref,
        parts: [...parts, ...(checklist ? [{ name: 'checklist', json: checklist }] : [])].map(partOf),
      }
      const { staging_record_id: id, created } = await createRecord(client, JSON.stringify(request), key)
      return { id, created, record: await requireRecord(client, id) }
    })
    const { change, lifecycle_status, content_hash, expires_at } = record
    return {
      summary: created
        ? 'The record is staged and waits for a person. Nothing else has changed.'
        : 'This record was there already.',
      data: {
        record: id,
        created,
        change,
        url: call.changeUrl(change),
        status: lifecycle_status,
        digest: content_hash,
        expires_at,
      },
      next: ['submit gives it a title, an explanation and reviewers; get_status says what they decided.'],
    }
  },
})

export const KNOWLEDGE_TOOLS = {
  search: searchTool,
  read: readUnitTool,
  stage: stageRecordTool,
} satisfies Record<string, Tool>

function partOf({
  name: part_name,
  text,
  json,
}: {
  name: string
  text?: string | undefined
  json?: unknown
}) {
  if ((text === undefined) === (json === undefined))
    throw new StagedoorError('request_invalid', { reason: 'each part has either text or json' })
  if (text !== undefined) return { part_name, payload_kind: 'text', payload_text: text }
  requireExact(json)
  return { part_name, payload_kind: 'json', payload_json: json }
}

/** The digest is of these bytes: a number that was rounded on its way would be approved as another one. */
function requireExact(value: unknown): void {
  if (typeof value === 'number' && (isLong(String(value)) || Math.abs(value) > Number.MAX_SAFE_INTEGER))
    throw new StagedoorError('request_invalid', {
      reason: 'a number in json has more than 15 digits; send it as text',
    })
  if (value !== null && typeof value === 'object') for (const part of Object.values(value)) requireExact(part)
}

/** A unit that the caller may see, with as much of its text as one answer has. */
export async function describeUnit(
  call: ToolCall,
  {
    unit: named,
    version,
    from = 0,
    workspace,
  }: {
    unit: string
    version?: number | undefined
    from?: number | undefined
    workspace?: string | undefined
  },
) {
  const unit = await call.transaction(async (client) => {
    const workspaceId = workspace === undefined ? undefined : await call.workspace(client, workspace)
    const found = await findUnits(client, named, workspaceId)
    if (found.length > 1)
      throw new StagedoorError('request_invalid', {
        reason: 'several workspaces have a unit of this address: name the workspace',
      })
    if (found.length === 0 && !UUID.test(named)) throw new StagedoorError('unit_unknown', { unit: named })
    return readUnit(client, { unit_id: found[0]?.unit_id ?? named }, { version })
  })
  const { body } = unit.version
  const shown = body.slice(from, from + MAX_BODY_CHARACTERS)
  const end = from + shown.length
  return {
    unit: unit.unit_id,
    address: unit.canonical_address,
    title: unit.version.title,
    kind: unit.unit_kind,
    status: unit.lifecycle_status,
    version: unit.version.version_no,
    current_version: unit.version_no,
    language: unit.version.language,
    topics: unit.topics,
    freshness: {
      /** Whether search has this text. */
      search: unit.vector_state,
      /** Whether its document says something else by now. */
      drift: unit.drift,
      checked_at: unit.checked_at,
      edited_at: unit.version.edited_at,
      superseded_by: unit.superseded_by,
    },
    url: `${call.session.consoleUrl}/units/${unit.unit_id}`,
    characters: body.length,
    from,
    next_from: end < body.length ? end : null,
    text: shown,
  }
}
