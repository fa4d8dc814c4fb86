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
    input: inputOf(Type.Object(input, { additionalProperties: false })),
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

/** As the packages check it; a property that there is not is named, with those that there are. */
function inputOf(schema: object): Tool['input'] {
  const checked = fromJsonSchema<Record<string, unknown>>(schema)
  const { validate, ...standard } = checked['~standard']
  return {
    '~standard': {
      ...standard,
      validate: (given, options) => {
        const unknown = unknownProperties(schema, given)
        return unknown.length > 0
          ? { issues: unknown.map((message) => ({ message })) }
          : validate(given, options)
      },
    },
  }
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, ObjectSchema>>
  readonly additionalProperties?: unknown
  readonly items?: ObjectSchema
}

const MAX_UNKNOWN = 5

function unknownProperties(schema: ObjectSchema, given: unknown, place = ''): string[] {
  if (typeof given !== 'object' || given === null) return []
  if (Array.isArray(given)) {
    if (schema.items?.properties === undefined) return []
    return given
      .flatMap((one, at) => unknownProperties(schema.items!, one, `${place}/${at}`))
      .slice(0, MAX_UNKNOWN)
  }
  const { properties, additionalProperties } = schema
  if (properties === undefined || additionalProperties !== false) return []
  const names = Object.keys(properties).join(', ')
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(properties, name))
  return [
    ...unknown.map(
      (name) =>
        `${place || 'the input'} has no property ${JSON.stringify(name.slice(0, 100))}; it has ${names}`,
    ),
    ...Object.entries(properties).flatMap(([name, part]) =>
      unknownProperties(
        part,
        (given as Record<string, unknown>)[name],
        place === '' ? name : `${place}/${name}`,
      ),
    ),
  ].slice(0, MAX_UNKNOWN)
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
