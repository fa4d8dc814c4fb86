/** The types of the Python client, from the description of the API: what its methods answer, and every shape that those name. */

/** Operations whose answers the client returns. */
const OPERATIONS = [
  'requestApproval',
  'getApproval',
  'listApprovals',
  'createApprovalKind',
  'listApprovalKinds',
  'createUpload',
  'getUpload',
  'listUploads',
  'listPlanRows',
  'createProposal',
  'listProposalTables',
  'listUploadLeftOut',
  'createStagingRecord',
  'getStagingRecord',
  'listStagingRecords',
  'search',
  'enqueueJobs',
  'getJob',
  'listJobs',
  'claimJobs',
]

const HEAD = `"""Types of what the API answers. Made by \`npm run generate\`. Do not edit."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

`

export function pythonTypes(api) {
  const { schemas } = api.components
  const answers = Object.values(api.paths)
    .flatMap((path) => Object.values(path))
    .filter(({ operationId }) => OPERATIONS.includes(operationId))
    .flatMap(({ responses }) => Object.entries(responses).filter(([status]) => status.startsWith('2')))
    .map(([, response]) => response)
  const names = new Set()
  for (const name of referencesIn(answers)) collect(name, schemas, names)
  const classes = [...names].sort().map((name) => typeOf(name, schemas[name]))
  return `${HEAD}${classes.join('\n\n')}\n`
}

function collect(name, schemas, names) {
  if (names.has(name)) return
  names.add(name)
  for (const inner of referencesIn(schemas[name])) collect(inner, schemas, names)
}

function referencesIn(value) {
  return [...JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name)
}

function typeOf(name, schema) {
  if (schema.type !== 'object' || schema.properties === undefined)
    return `${name} = ${annotation(schema, true)}\n`
  const fields = Object.entries(schema.properties).map(([key, value]) => [
    key,
    annotation(value),
    (schema.required ?? []).includes(key),
  ])
  // A key that is no Python name needs the other form.
  if (fields.some(([key]) => !/^[A-Za-z_]\w*$/.test(key) || KEYWORDS.has(key))) {
    const entries = fields.map(([key, type]) => `    ${JSON.stringify(key)}: ${JSON.stringify(type)},`)
    return `${name} = TypedDict(\n    "${name}",\n    {\n${entries.map((line) => `    ${line}`).join('\n')}\n    },\n    total=False,\n)\n`
  }
  const lines = (wanted) =>
    fields.filter(([, , required]) => required === wanted).map(([key, type]) => `    ${key}: ${type}`)
  const [required, optional] = [lines(true), lines(false)]
  if (optional.length === 0) return `class ${name}(TypedDict):\n${body(required)}\n`
  if (required.length === 0) return `class ${name}(TypedDict, total=False):\n${body(optional)}\n`
  return `class _${name}(TypedDict):\n${body(required)}\n\n\nclass ${name}(_${name}, total=False):\n${body(optional)}\n`
}

const body = (lines) => (lines.length === 0 ? '    pass' : lines.join('\n'))

const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
)

/** Aliases are evaluated when the module is loaded, and name what may come later: \`quoted\`. */
function annotation(schema, quoted = false) {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1)
    return quoted ? `"${name}"` : name
  }
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`
  if (schema.enum !== undefined) return `Literal[${schema.enum.map(literal).join(', ')}]`
  const union = schema.anyOf ?? schema.oneOf
  if (union !== undefined) return unionOf(union.map((one) => annotation(one, quoted)))
  if (Array.isArray(schema.type))
    return unionOf(schema.type.map((type) => annotation({ ...schema, type }, quoted)))
  switch (schema.type) {
    case 'string':
      return 'str'
    case 'integer':
      return 'int'
    case 'number':
      return 'float'
    case 'boolean':
      return 'bool'
    case 'null':
      return 'None'
    case 'array':
      return `List[${annotation(schema.items ?? {}, quoted)}]`
    case 'object':
      return `Dict[str, ${typeof schema.additionalProperties === 'object' ? annotation(schema.additionalProperties, quoted) : 'Any'}]`
    default:
      return 'Any'
  }
}

function unionOf(types) {
  const all = [...new Set(types)]
  const some = all.filter((type) => type !== 'None')
  const one = some.length === 1 ? some[0] : `Union[${some.join(', ')}]`
  return all.includes('None') ? `Optional[${one}]` : one
}

function literal(value) {
  if (value === true) return 'True'
  if (value === false) return 'False'
  return value === null ? 'None' : JSON.stringify(value)
}
