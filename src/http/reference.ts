/**
 * The reference page of the API: one page of HTML, made from the OpenAPI description when it is first asked for. It runs no
 * script and loads nothing, so it works without a network and under the strictest content security policy.
 */
import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'

/** The parts of an OpenAPI 3.1 document that the page shows. */
interface Description {
  readonly info: { title: string; version: string; description?: string }
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: { schemas?: Readonly<Record<string, Schema>> }
}

interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly {
    name: string
    in: string
    required?: boolean
    description?: string
    schema?: Schema
  }[]
  readonly requestBody?: { required?: boolean; content?: Content }
  readonly responses?: Readonly<Record<string, { description?: string; content?: Content }>>
}

type Content = Readonly<Record<string, { schema?: Schema }>>

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly description?: string
  readonly format?: string
  readonly default?: unknown
}

interface ReferenceAddresses {
  readonly at: string
  readonly descriptionUrl: string
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete', 'head', 'options'])

/** Serves the page at `at`, with and without a slash. The description is complete only when all routes are registered. */
export function referencePage(app: FastifyInstance, { at, descriptionUrl }: ReferenceAddresses): void {
  let page: string | undefined
  for (const url of [at, `${at}/`]) {
    app.get(url, { config: { public: true }, schema: { hide: true } }, async (_request, reply) => {
      page ??= renderReference(app.swagger() as unknown as Description, descriptionUrl)
      return reply
        .header('content-security-policy', CONTENT_SECURITY)
        .type('text/html; charset=utf-8')
        .send(page)
    })
  }
}

/** Operations in the order of the document, grouped by their first tag. */
export function renderReference(
  { info, paths = {}, components = {} }: Description,
  descriptionUrl: string,
): string {
  const groups = new Map<string, string[]>()
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (!METHODS.has(method)) continue
      const tag = operation.tags?.[0] ?? 'other'
      const group = groups.get(tag) ?? []
      group.push(operationSection(method, path, operation))
      groups.set(tag, group)
    }
  }
  const schemas = Object.entries(components.schemas ?? {}).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  )
  const sections = [...groups].map(
    ([tag, operations]) => `<section><h2 id="${slug(tag)}">${text(tag)}</h2>${operations.join('')}</section>`,
  )
  const shapes = schemas.map(
    ([name, schema]) =>
      `<article id="schema-${slug(name)}"><h3>${text(name)}</h3>${paragraph(schema.description)}<pre>${typeText(schema)}</pre></article>`,
  )
  const contents = [...[...groups.keys()].map((tag) => [slug(tag), tag]), ['schemas', 'Schemas']]
    .map(([id, title]) => `<a href="#${id}">${text(title!)}</a>`)
    .join('')
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(info.title)} API reference</title><link rel="icon" href="/favicon.svg"><style>${STYLE}</style></head>
<body><header><h1>${text(info.title)} API ${text(info.version)}</h1>${paragraph(info.description)}
<p>Description for programs: <a href="${text(descriptionUrl)}">openapi.json</a> (OpenAPI 3.1).</p></header>
<nav aria-label="Contents">${contents}</nav>
<main>${sections.join('\n')}
<section><h2 id="schemas">Schemas</h2>${shapes.join('\n')}</section></main></body></html>
`
}

function operationSection(method: string, path: string, operation: Operation): string {
  const id = slug(operation.operationId ?? `${method}-${path}`)
  return `<article id="${id}"><h3><a href="#${id}"><span class="method">${method.toUpperCase()}</span> <code>${text(path)}</code></a></h3>
<p><strong>${text(operation.summary ?? '')}</strong></p>${paragraph(operation.description)}${parameterTable(operation)}${bodies(operation)}</article>`
}

function parameterTable({ parameters = [] }: Operation): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(
    ({ name, in: place, required, schema = {}, description }) =>
      `<tr><td><code>${text(name)}</code></td><td>${text(place)}${required ? ', required' : ''}</td>` +
      `<td><code>${typeText(schema)}</code>${schema.default === undefined ? '' : ` default ${text(JSON.stringify(schema.default))}`}</td>` +
      `<td>${text(description ?? schema.description ?? '')}</td></tr>`,
  )
  return `<table><thead><tr><th>Parameter</th><th>In</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function bodies({ requestBody, responses = {} }: Operation): string {
  const request = requestBody?.content
    ? contentDetails(`Body${requestBody.required ? ', required' : ''}`, requestBody.content)
    : ''
  const answers = Object.entries(responses).map(([status, { description = '', content = {} }]) =>
    contentDetails(`${status} ${description === 'Default Response' ? '' : description}`, content),
  )
  return request + answers.join('')
}

function contentDetails(title: string, content: Content): string {
  const types = Object.entries(content)
  if (types.length === 0) return `<p>${text(title)}</p>`
  const shapes = types.map(([type, { schema = {} }]) => `<p>${text(type)}</p><pre>${typeText(schema)}</pre>`)
  return `<details><summary>${text(title)}</summary>${shapes.join('')}</details>`
}

/** The schema as a type of TypeScript, as HTML; named schemas are links. */
function typeText(schema: Schema, indent = ''): string {
  const name = schema.$ref?.split('/').at(-1)
  if (name !== undefined) return `<a href="#schema-${slug(name)}">${text(name)}</a>`
  if (schema.const !== undefined) return text(JSON.stringify(schema.const))
  if (schema.enum) return schema.enum.map((value) => text(JSON.stringify(value))).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.map((one) => typeText(one, indent)).join(' | ')
  if (schema.allOf) return schema.allOf.map((one) => typeText(one, indent)).join(' &amp; ')
  if (schema.properties) return objectText(schema, indent)
  if (schema.type === 'array') return `Array&lt;${typeText(schema.items ?? {}, indent)}&gt;`
  if (schema.type === 'object') {
    const { additionalProperties: values } = schema
    return `Record&lt;string, ${typeof values === 'object' ? typeText(values, indent) : 'unknown'}&gt;`
  }
  const type = typeof schema.type === 'string' ? schema.type : (schema.type?.join(' | ') ?? 'unknown')
  return text(schema.format === undefined ? type : `${type} (${schema.format})`)
}

function objectText({ properties = {}, required = [] }: Schema, indent: string): string {
  const inner = `${indent}  `
  const lines = Object.entries(properties).map(([name, schema]) => {
    const note = schema.description === undefined ? '' : ` <i>// ${text(schema.description)}</i>`
    return `${inner}${text(name)}${required.includes(name) ? '' : '?'}: ${typeText(schema, inner)}${note}\n`
  })
  return `{\n${lines.join('')}${indent}}`
}

const paragraph = (words: string | undefined): string => (words ? `<p>${text(words)}</p>` : '')
const slug = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
export const text = (words: string): string => words.replaceAll(/[&<>"]/g, (letter) => ENTITIES[letter]!)

const STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1d1b19, #f1eeea); --muted: light-dark(#5c5751, #b6b0a7);
  --line: light-dark(#e3dfd8, #322f2b); --paper: light-dark(#fbfaf8, #151412); --accent: light-dark(#7a1f3d, #e58aa6) }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem; color: var(--ink); background: var(--paper);
  font: 15px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 12rem minmax(0, 1fr); gap: 0 2rem }
header { grid-column: 1 / -1 }
nav { position: sticky; top: 1rem; align-self: start; display: flex; flex-direction: column; gap: .25rem }
a { color: var(--accent) }
h3 a { color: inherit; text-decoration: none }
article { border-top: 1px solid var(--line); padding: .5rem 0 1rem; scroll-margin-top: 1rem }
.method { color: var(--accent); font-size: .85em }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line) }
pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--line) }
pre i { color: var(--muted) }
summary { cursor: pointer }
@media (max-width: 50rem) { body { display: block } nav { position: static; flex-flow: row wrap } }
`

/** The page is on the origin of the console: nothing runs in it, and its one style sheet is allowed by its digest. */
const CONTENT_SECURITY = [
  "default-src 'none'",
  "img-src 'self'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
