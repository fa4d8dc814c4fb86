/** What a tool is. Each is stated once: its name, its input, whether it writes, and which right of the caller it needs. */
import {
  type CallToolResult,
  fromJsonSchema,
  type InputRequiredResult,
  type StandardSchemaWithJSON,
  type ToolAnnotations,
} from '@modelcontextprotocol/server'
import type { Right } from '../access/members.ts'
import { type Static, type TObject, type TProperties, Type } from '../kernel/schema.ts'
import type { Answer } from './answers.ts'
import type { ToolCall, Toolset } from './session.ts'

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly toolsets: readonly Toolset[]
  /** Of the caller, in the workspace. The database asks for it; where it is missing, the refusal names it. */
  readonly right: Right
  /** It changes nothing, so a caller that can only read has it. */
  readonly reads: boolean
  readonly input: StandardSchemaWithJSON<Record<string, unknown>>
  readonly annotations: ToolAnnotations
  handle(
    args: Record<string, unknown>,
    call: ToolCall,
  ): Promise<Answer | CallToolResult | InputRequiredResult>
}

interface ToolSpec<P extends TProperties> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly toolsets: readonly Toolset[]
  readonly right?: Right
  readonly reads: boolean
  /** The same call again changes nothing more. */
  readonly idempotent?: boolean
  readonly input: P
  handle(args: Static<TObject<P>>, call: ToolCall): Promise<Answer | InputRequiredResult>
}

export function tool<P extends TProperties>({
  input,
  right = 'read',
  idempotent,
  ...spec
}: ToolSpec<P>): Tool {
  return {
    ...spec,
    right,
    input: fromJsonSchema(Type.Object(input, { additionalProperties: false }) as object),
    annotations: {
      title: spec.title,
      readOnlyHint: spec.reads,
      // What a tool writes is a proposal: nothing of production changes by it.
      destructiveHint: false,
      idempotentHint: spec.reads || idempotent === true,
      openWorldHint: false,
    },
  } as unknown as Tool
}

// Parts of inputs that several tools have. Descriptions are short: every client pays for them in each conversation.

export const Workspace = Type.Optional(
  Type.String({ maxLength: 200, description: 'id or name; needed only where you are in several' }),
)
export const Id = Type.String({ minLength: 1, maxLength: 100 })
export const After = Type.Optional(Type.String({ maxLength: 200, description: '`next` of the page before' }))

export function limit(maximum: number, usual: number) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum, description: `default ${usual}` }))
}

/** A cell as it would stand in a file; null: empty. */
export const Cell = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 100_000 })
