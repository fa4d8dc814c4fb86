/** What each tool takes: the same names as the tools themselves read, so that a misspelt one is found before it runs. */
import { STAGING_ACTIONS, STAGING_DECISIONS } from '../tools/staging-actions.ts'
import { UNIT_ACTIONS, UNIT_DECISIONS } from '../tools/unit-actions.ts'
import type { ToolName } from './definition.ts'

export type ArgumentKind = 'text' | 'list' | 'map' | 'number' | 'boolean' | 'any'

export interface ToolArgument {
  readonly kind: ArgumentKind
  readonly required?: boolean
  readonly about: string
  readonly choices?: readonly string[]
  /** A whole number from 1 to this. */
  readonly most?: number
  /** Why one that seems a choice is none. */
  readonly refused?: ReadonlyMap<string, string>
  /** It goes with these values of `action` only. */
  readonly actions?: readonly string[]
}

export interface ToolForm {
  readonly about: string
  /** What `call` names; absent: the tool has no call. */
  readonly call?: string
  /** Absent: any, handed on as they are. */
  readonly args?: Readonly<Record<string, ToolArgument>>
}

const CREATE = ['create']
const OF_RECORD = ['read', 'consume', 'withdraw']
const OF_UNIT = ['edit', 'profile', 'edge', 'read']
const WRITES_TEXT = ['create', 'edit']

export const TOOL_FORMS: Readonly<Record<ToolName, ToolForm>> = {
  sql: {
    about: 'One SQL statement in a transaction of its own, as the login stagedoor_playbook.',
    args: {
      query: { kind: 'text', required: true, about: 'The statement, with $1, $2 … for params.' },
      params: { kind: 'list', about: 'Values for $1, $2 …; never put data into the text.' },
      rows: {
        kind: 'text',
        about: 'What is given back: all rows unless said, exactly one, or their number.',
        choices: ['all', 'one', 'none'],
      },
      limit: { kind: 'number', most: 10_000, about: 'More rows than this are an error; at most 10000.' },
    },
  },
  http: {
    about: 'One request to a host that STAGEDOOR_HTTP_HOSTS allows.',
    args: {
      url: { kind: 'text', required: true, about: 'Where to.' },
      method: {
        kind: 'text',
        about: 'GET unless said.',
        choices: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      },
      headers: { kind: 'map', about: `Headers; secrets as \${secret.NAME}.` },
      query: { kind: 'map', about: 'Appended to the url.' },
      body: { kind: 'any', about: 'Text as it is, anything else as JSON.' },
      expect: { kind: 'list', about: 'Statuses that are no failure; 200 to 299 unless said.' },
    },
  },
  handler: {
    about: 'A TypeScript function that the process has registered.',
    call: 'The name of the handler.',
  },
  staging: {
    about: 'A staging record: made for people to decide on, read, consumed or withdrawn.',
    args: {
      action: {
        kind: 'text',
        required: true,
        about: 'What to do.',
        choices: STAGING_ACTIONS,
        refused: STAGING_DECISIONS,
      },
      record: { kind: 'text', required: true, about: 'The id of the record.', actions: OF_RECORD },
      digest: { kind: 'text', about: 'Consumed only with this digest.', actions: ['consume'] },
      staging_kind: { kind: 'text', required: true, about: 'Which kind of record.', actions: CREATE },
      payload_type: { kind: 'text', required: true, about: 'What its parts are.', actions: CREATE },
      purpose: { kind: 'text', required: true, about: 'What it is for.', actions: CREATE },
      parts: { kind: 'list', required: true, about: 'What it holds.', actions: CREATE },
      source_kind: { kind: 'text', about: 'system unless said.', actions: CREATE },
      source_ref: { kind: 'text', about: 'The execution unless said.', actions: CREATE },
      expires_at: { kind: 'text', about: 'When it is no longer decided on.', actions: CREATE },
      metadata: { kind: 'map', about: 'Anything else about it.', actions: CREATE },
      referenced_iu_ids: { kind: 'list', about: 'Units that it is about.', actions: CREATE },
      workspace_id: { kind: 'text', about: 'That of the execution unless said.', actions: CREATE },
      idempotency_key: { kind: 'text', about: 'The command unless said.', actions: CREATE },
    },
  },
  ingest: {
    about: 'A file into a dataset, as far as `until` says.',
    args: {
      file: { kind: 'text', required: true, about: 'A path below STAGEDOOR_FILES.' },
      dataset: { kind: 'text', required: true, about: 'Which dataset.' },
      platform: { kind: 'text', about: 'Where the file is from, if the dataset has several.' },
      client: { kind: 'text', about: 'Whose it is.' },
      until: {
        kind: 'text',
        about: 'How far: planned unless said.',
        choices: ['staged', 'planned', 'submitted', 'promoted'],
      },
      on_invalid: {
        kind: 'text',
        about: 'What becomes of lines that are wrong.',
        choices: ['refuse', 'skip'],
      },
      threshold: { kind: 'number', about: 'Which share of the lines may be wrong, from 0 to 1.' },
      workspace_id: { kind: 'text', about: 'That of the execution unless said.' },
    },
  },
  duckdb: {
    about: 'One SELECT of DuckDB over files.',
    args: {
      query: { kind: 'text', required: true, about: 'The query.' },
      files: { kind: 'map', about: 'Paths below STAGEDOOR_FILES, by the name that the query gives them.' },
      params: { kind: 'list', about: 'Values for $1, $2 …' },
      limit: { kind: 'number', most: 10_000, about: 'More rows than this are an error; at most 10000.' },
    },
  },
  playbook: { about: 'Another playbook, as an execution of its own.', call: 'The name of the playbook.' },
  unit: {
    about:
      'An information unit: made, edited, described, connected or read; or units cut from an approved manifest.',
    args: {
      action: {
        kind: 'text',
        required: true,
        about: 'What to do.',
        choices: UNIT_ACTIONS,
        refused: UNIT_DECISIONS,
      },
      unit: { kind: 'text', required: true, about: 'Its id or its address.', actions: OF_UNIT },
      address: { kind: 'text', required: true, about: 'Its address, for good.', actions: CREATE },
      body: { kind: 'text', about: 'Its text; a new unit needs one.', actions: WRITES_TEXT },
      title: { kind: 'text', about: 'The first line of the text unless said.', actions: WRITES_TEXT },
      language: { kind: 'text', about: 'en unless said.', actions: WRITES_TEXT },
      unit_kind: { kind: 'text', about: 'note unless said.', actions: CREATE },
      container: { kind: 'text', about: 'The id or the address of what holds it.', actions: CREATE },
      source_ref: { kind: 'text', about: 'The execution unless said.', actions: CREATE },
      profile: { kind: 'map', about: 'What is known of it, topic_labels among it.', actions: CREATE },
      expected_version: {
        kind: 'number',
        required: true,
        about: 'The version that the edit is made from; if it is no longer current, nothing is written.',
        actions: ['edit'],
      },
      patch: { kind: 'map', required: true, about: 'Merged; null takes a key out.', actions: ['profile'] },
      edge_type: { kind: 'text', required: true, about: 'A word such as refers_to.', actions: ['edge'] },
      target: { kind: 'text', required: true, about: 'A unit, or any reference.', actions: ['edge'] },
      version: { kind: 'number', about: 'An earlier one; the current one unless said.', actions: ['read'] },
      record: { kind: 'text', required: true, about: 'The approved mark_manifest.', actions: ['cut'] },
      digest: { kind: 'text', required: true, about: 'The digest that was approved.', actions: ['cut'] },
      workspace_id: { kind: 'text', about: 'That of the execution unless said.' },
    },
  },
}
