/**
 * JSON Schema for the shapes of records: TypeBox's own names and types without TypeBox at run time. Every CLI command loads the shapes of
 * its room for their column lists, and importing TypeBox takes 150 ms. A `title` names a shape in the OpenAPI document.
 */
import type { Static, TNull, TObject, TProperties, TSchema, TUnion, Type as TypeBox } from 'typebox'

export type { Static, TObject, TProperties, TSchema }

type Builders = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>

type Schema = Record<string, unknown>

/** The key that TypeBox uses; not enumerable, so that it does not appear in JSON. */
const OPTIONAL = '~optional'

const simple = (type: string) => (options?: Schema) => ({ type, ...options })

export const Type = {
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  Boolean: simple('boolean'),
  Enum: (values: readonly unknown[], options?: Schema) => ({ enum: [...values], ...options }),
  Integer: simple('integer'),
  Literal: (value: unknown, options?: Schema) => ({ type: typeof value, const: value, ...options }),
  Null: simple('null'),
  Number: simple('number'),
  Object: (properties: Record<string, Schema>, options?: Schema) => {
    const required = Object.keys(properties).filter((name) => !(OPTIONAL in properties[name]!))
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
  },
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  Record: (_key: Schema, additionalProperties: Schema, options?: Schema) => ({
    type: 'object',
    additionalProperties,
    ...options,
  }),
  String: simple('string'),
  Union: (anyOf: readonly Schema[], options?: Schema) => ({ anyOf: [...anyOf], ...options }),
  Unknown: (options?: Schema) => ({ ...options }),
  Unsafe: (schema: Schema) => ({ ...schema }),
} as unknown as Builders

/** `null` as a further type where one type is named, which reads better than a union. */
export function nullable<T extends TSchema>(schema: T): TUnion<[T, TNull]> {
  const { type, title, enum: values } = schema as { type?: unknown; title?: unknown; enum?: unknown }
  const both =
    typeof type === 'string' && title === undefined && values === undefined
      ? { ...schema, type: [type, 'null'] }
      : { anyOf: [schema, { type: 'null' }] }
  return both as unknown as TUnion<[T, TNull]>
}

/** A record: an object with a name in the OpenAPI document. */
export function shape<P extends TProperties>(title: string, properties: P, options: Schema = {}): TObject<P> {
  return Type.Object(properties, { title, ...options })
}

/** The type of a row of this shape: as `Static`, and readonly. */
export type Row<T extends TSchema> = ReadonlyDeep<Static<T>>

type ReadonlyDeep<T> = unknown extends T
  ? unknown
  : T extends Date | string | number | boolean | null | undefined
    ? T
    : T extends Opaque<infer O>
      ? O
      : T extends readonly (infer E)[]
        ? readonly ReadonlyDeep<E>[]
        : { readonly [K in keyof T]: ReadonlyDeep<T[K]> }

declare const OPAQUE: unique symbol
export interface Opaque<T> {
  readonly [OPAQUE]: T
}

/** JSON whose TypeScript type is declared elsewhere, such as a playbook. */
export function typed<T>(schema: object): ReturnType<typeof Type.Unsafe<Opaque<T>>> {
  return Type.Unsafe<Opaque<T>>(schema as TSchema)
}

/** The columns that a shape names, for a select list; `as` has those that are expressions, `from` the alias of their table. */
export function columnsOf(
  { properties }: { readonly properties: TProperties },
  { from, as = {} }: { from?: string; as?: Readonly<Record<string, string>> } = {},
): string {
  const column = (name: string) => (from === undefined ? name : `${from}.${name}`)
  return Object.keys(properties)
    .map((name) => (as[name] === undefined ? column(name) : `${as[name]} as ${name}`))
    .join(', ')
}

export const Uuid = Type.String({ format: 'uuid' })
/** A column of type timestamptz: a Date here, ISO 8601 in JSON. */
export const Timestamp = Type.Unsafe<Date>({ type: 'string', format: 'date-time' })
/** A bigint: a string in JSON. */
export const BigCount = Type.String({ pattern: '^[0-9]+$', examples: ['2048'] })
export const Digest = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'SHA-256, in hex',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
})
export const Text = Type.String()
export const TextOrNull = nullable(Text)
export const IntegerOrNull = nullable(Type.Integer())
export const TimestampOrNull = nullable(Timestamp)
export const UuidOrNull = nullable(Uuid)
/** Any object. */
export const JsonObject = Type.Record(Type.String(), Type.Unknown())

/** Everybody who approved: uploads, records, changes and promotions name them in the same way (`fn_change_approvers`). */
export const Approver = shape('Approver', {
  reviewer: Text,
  at: Type.String({ format: 'date-time' }),
})
export type Approver = Row<typeof Approver>
export const Approvers = Type.Array(Approver, {
  description: 'everybody who approved it as it stands, the first one first',
})
