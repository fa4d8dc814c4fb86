/** The description of the API: OpenAPI 3.1 from the schemas of the routes, every shape under its name, and a page to read it. */
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { CSRF_HEADER, SESSION_COOKIE } from '../access/sessions.ts'
import { AFTER_HEADER } from '../app/replica.ts'
import { API_PREFIX, VERSION } from '../kernel/version.ts'
import { Problem } from './problem.ts'
import { referencePage } from './reference.ts'

const DOCS = `${API_PREFIX}/docs`
const DOCUMENT = `${API_PREFIX}/openapi.json`

export async function describeApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Stagedoor',
        version: VERSION,
        description: `Pull requests for production data. Errors are application/problem+json with a code and a hint. Where a replica answers reads (DATABASE_READ_URL), the answer to a change has the header ${AFTER_HEADER}: send the last one with your next requests, and they see that change.`,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'a JWT, or a machine token (sdt_…)' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: SESSION_COOKIE,
            description: `of the console; other methods than GET also need the header ${CSRF_HEADER}`,
          },
        },
      },
      security: [{ token: [] }, { session: [] }],
    },
    transformObject: (document) =>
      'openapiObject' in document ? nameShapes(document.openapiObject) : document.swaggerObject,
  })
  app.get(DOCUMENT, { config: { public: true }, schema: { hide: true } }, () => app.swagger())
  referencePage(app, { at: DOCS, descriptionUrl: DOCUMENT })
}

type Json = Record<string, unknown>

/**
 * Routes state their shapes in place, which keeps their types and validates fast. In the document a shape is a component: under its
 * `title`, or under the name of the operation or property where it occurs.
 */
function nameShapes<T extends object>(document: T): T {
  const shapes = new Shapes()
  const named = structuredClone(document) as unknown as {
    paths: Record<string, Record<string, Operation>>
    components: Json
  }
  // A collection is registered as `/` below its prefix; it answers without the slash, too.
  named.paths = Object.fromEntries(
    Object.entries(named.paths).map(([path, operations]) => [path.replace(/(.)\/$/, '$1'), operations]),
  )
  for (const operation of Object.values(named.paths).flatMap((path) => Object.values(path))) {
    const name = capitalized(operation.operationId)
    shapes.hoist(operation.requestBody, `${name}Request`)
    for (const [status, response] of Object.entries(operation.responses)) {
      if (response.content?.['application/problem+json']) operation.responses[status] = PROBLEM
      else shapes.hoist(response, `${name}Response`)
    }
  }
  named.components = {
    ...named.components,
    responses: { Problem: { description: 'refused; `hint` says what to do', content: PROBLEM_CONTENT } },
    schemas: shapes.sorted(),
  }
  return named as unknown as T
}

interface Operation {
  readonly operationId: string
  readonly requestBody?: Body
  readonly responses: Record<string, Body>
}

interface Body {
  readonly content?: Record<string, { schema?: Json }>
}

const PROBLEM = { $ref: '#/components/responses/Problem' } as Body
const PROBLEM_CONTENT = {
  'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
}

class Shapes {
  private readonly found = new Map<string, Json>([['Problem', nameless(Problem as unknown as Json)]])

  hoist(body: Body | undefined, name: string): void {
    for (const content of Object.values(body?.content ?? {})) {
      if (content.schema) content.schema = this.named(content.schema, name)
    }
  }

  sorted(): Json {
    return Object.fromEntries([...this.found].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** With every shape inside replaced by its name, and itself, if it is one. */
  private named(schema: Json, name: string): Json {
    const { title = name, ...rest } = schema as Json & { title?: string }
    const inside = (value: unknown, place = title): unknown =>
      typeof value === 'object' && value !== null ? this.named(value as Json, place) : value
    const own = { ...rest }
    for (const key of ['items', 'additionalProperties']) if (key in own) own[key] = inside(own[key])
    for (const key of ['anyOf', 'allOf', 'oneOf'])
      if (key in own) own[key] = (own[key] as Json[]).map((one) => inside(one))
    if (own.properties) {
      const members = Object.entries(own.properties as Json)
      own.properties = Object.fromEntries(
        members.map(([member, value]) => [member, inside(value, `${title}${capitalized(member)}`)]),
      )
    }
    return own.properties || 'title' in schema ? this.component(title, own) : own
  }

  private component(name: string, schema: Json): Json {
    const known = this.found.get(name)
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`Two shapes of the API are called ${name}: give one of them another title`)
    this.found.set(name, schema)
    return { $ref: `#/components/schemas/${name}` }
  }
}

function nameless({ title: _, ...schema }: Json): Json {
  return schema
}

/** `row_type` is `RowType`. */
function capitalized(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
