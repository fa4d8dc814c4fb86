/**
 * How a route is written: what it takes, what it answers and what it does, in one object. Everything that all routes share (names in
 * OpenAPI, refusals, unknown properties, status codes, exact numbers) is here.
 */
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  HTTPMethods,
  preValidationAsyncHookHandler,
} from 'fastify'
import {
  nullable,
  type Row,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
  Uuid,
} from '../kernel/schema.ts'
import { problems } from './problem.ts'
import { JSON_TEXT, stringifyRawJson } from './responses.ts'

type Status = Parameters<typeof problems>[number]

interface Route<
  Path extends string,
  P extends TProperties,
  Q extends TProperties,
  B extends TProperties,
  O extends TProperties,
  A extends TSchema,
> {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  /** Default: those of the plugin. */
  readonly tags?: readonly string[]
  /** Default: a UUID for `:id`. */
  readonly params?: P
  readonly query?: Q
  /** Other properties are refused, in the query as well. */
  readonly body?: B
  /** A body that may be left out. */
  readonly optionalBody?: O
  readonly example?: Readonly<Record<string, unknown>>
  /** Without one the answer is 204. */
  readonly answer?: A
  /** Default 200. */
  readonly status?: number
  /** Besides 400 and 401, which every route may answer. */
  readonly problems?: readonly Status[]
  /** JSON columns were read by withRawJson: numbers beyond 2^53 are answered as they are. */
  readonly raw?: boolean
  /** It only reads, and what it reads a replica has as well (DATABASE_READ_URL): not what only counts at this moment, or in this process. */
  readonly replica?: true
  readonly config?: FastifyContextConfig
  readonly bodyLimit?: number
  readonly compress?: false
  readonly preValidation?: preValidationAsyncHookHandler
  /** Parts of the schema that no other property states: several content types, headers. */
  readonly schema?: FastifySchema
  handle(
    request: Request<Path, P, Q, B, O>,
    reply: FastifyReply,
  ): Promise<Row<A> | FastifyReply> | Row<A> | FastifyReply
}

type Request<
  Path extends string,
  P extends TProperties,
  Q extends TProperties,
  B extends TProperties,
  O extends TProperties,
> = FastifyRequest<{
  Params: [P] extends [never] ? IdOf<Path> : Static<TObject<P>>
  Querystring: [Q] extends [never] ? unknown : Static<TObject<Q>>
  Body: [B] extends [never] ? ([O] extends [never] ? unknown : Static<TObject<O>> | null) : Static<TObject<B>>
}>

type IdOf<Path extends string> = Path extends `${string}:id${string}` ? { id: string } : unknown

type Define = <
  const Path extends string,
  P extends TProperties = never,
  Q extends TProperties = never,
  B extends TProperties = never,
  O extends TProperties = never,
  A extends TSchema = TSchema,
>(
  path: Path,
  route: Route<Path, P, Q, B, O, A>,
) => void

export interface Routes {
  readonly get: Define
  readonly post: Define
  readonly put: Define
  readonly patch: Define
  readonly delete: Define
  readonly fastify: FastifyInstance
}

export function routes(tag: string, define: (api: Routes) => void | Promise<void>): FastifyPluginAsync {
  return async (fastify) => {
    const method = (name: HTTPMethods) =>
      ((path, route) => register(fastify, tag, name, path, route as never)) as Define
    await define({
      get: method('GET'),
      post: method('POST'),
      put: method('PUT'),
      patch: method('PATCH'),
      delete: method('DELETE'),
      fastify,
    })
  }
}

type AnyRoute = Route<string, TProperties, TProperties, TProperties, TProperties, TSchema>

function register(
  fastify: FastifyInstance,
  tag: string,
  method: HTTPMethods,
  url: string,
  route: AnyRoute,
): void {
  const { config, replica, bodyLimit, compress, preValidation, answer, raw } = route
  const status = route.status ?? (answer ? 200 : (firstStatus(route.schema) ?? 204))
  fastify.route({
    method,
    url,
    schema: schemaOf(url, tag, status, route),
    ...((config || replica) && { config: { ...config, ...(replica && { replica }) } }),
    ...(bodyLimit !== undefined && { bodyLimit }),
    ...(compress !== undefined && { compress }),
    ...(preValidation && { preValidation }),
    handler: async (request, reply) => {
      reply.status(status)
      const answered = await route.handle(request as never, reply)
      return raw && answered !== reply ? reply.type(JSON_TEXT).send(stringifyRawJson(answered)) : answered
    },
  })
}

/** Of an answer that is no JSON: text, bytes, events. */
function firstStatus(schema: FastifySchema | undefined): number | undefined {
  const [first] = Object.keys((schema?.response as object | undefined) ?? {})
  return first === undefined ? undefined : Number(first)
}

function schemaOf(url: string, tag: string, status: number, route: AnyRoute): FastifySchema {
  const { operationId, summary, description, tags = [tag], query, body, optionalBody, example } = route
  const params = route.params ?? (/:id\b/.test(url) ? { id: Uuid } : undefined)
  const examples = example && { examples: [example] }
  const given = body ?? optionalBody
  const bodySchema = given && Type.Object(given, { additionalProperties: false, ...examples })
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    tags,
    ...(route.config?.public && { security: [] }),
    ...(params && { params: Type.Object(params) }),
    ...(query && { querystring: Type.Object(query, { additionalProperties: false }) }),
    // A union: without a body Fastify validates null.
    ...(bodySchema && { body: optionalBody ? Type.Union([bodySchema, Type.Null()]) : bodySchema }),
    ...route.schema,
    response: {
      [status]: route.answer ?? Type.Null(),
      ...problems(400, ...(route.config?.public ? [] : ([401] as const)), ...(route.problems ?? [])),
      ...(route.schema?.response as object),
    },
  } as FastifySchema
}

// What many routes take.

export const After = Type.Optional(
  Type.String({ format: 'uuid', description: 'the `next` of the page before' }),
)
export const Limit = limit(200, 50)
/** May be left out by whoever is a member of exactly one. */
export const Workspace = Type.Optional(
  Type.String({ format: 'uuid', description: 'may be left out by whoever has exactly one' }),
)
export const DatasetName = { dataset: Type.String({ maxLength: 63, examples: ['ads'] }) }
export const Reason = Type.Optional(Type.String({ maxLength: 2000 }))

export function limit(maximum: number, usual: number) {
  return Type.Integer({ minimum: 1, maximum, default: usual })
}

// Lists are answered page by page: one row more than a page has is asked for.

const Next = nullable(Type.String({ description: '`after` of the next page; null: this is the last' }))

/** `{ <name>: […], next }`, and whatever else comes with the list. */
export function page<N extends string, T extends TSchema, M extends TProperties = Record<never, never>>(
  name: N,
  row: T,
  more?: M,
) {
  const properties = { [name]: Type.Array(row), ...more, next: Next }
  return Type.Object(
    properties as unknown as Record<N, ReturnType<typeof Type.Array<T>>> & M & { next: typeof Next },
  )
}

/** `place` names the last row of a page: a column, or what is made of several. */
export async function listPage<Q extends { readonly limit: number }, T, N extends string>(
  query: Q,
  name: N,
  place: (keyof T & string) | ((last: T) => string),
  list: (filter: Q) => Promise<readonly T[]>,
): Promise<{ [K in N]: readonly NoInfer<T>[] } & { next: string | null }> {
  const rows = await list({ ...query, limit: query.limit + 1 })
  const shown = rows.slice(0, query.limit)
  const next =
    rows.length <= query.limit
      ? null
      : String(typeof place === 'function' ? place(shown.at(-1)!) : shown.at(-1)![place])
  return { [name]: shown, next } as { [K in N]: readonly T[] } & { next: string | null }
}
