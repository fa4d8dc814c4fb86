import { expect, it } from 'vitest'
import { API_PREFIX } from '../../src/kernel/version.ts'
import { useApi } from '../support/api.ts'
import { useDatabase } from '../support/database.ts'

const db = useDatabase()
const api = useApi(db)

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; responses: Record<string, object> }
}
interface Operation {
  operationId?: string
  summary?: string
  requestBody?: object
  responses: Record<string, object>
}

const read = async (): Promise<Document> => (await api.app.inject(`${API_PREFIX}/openapi.json`)).json()

it('the description is small, because every shape is stated once, under a name', async () => {
  const document = await read()
  expect(JSON.stringify(document).length).toBeLessThan(510_000)
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const found = [
    ...operations.flatMap((operation) => anonymous([operation.requestBody, operation.responses])),
    ...Object.values(document.components.schemas).flatMap((schema) => anonymous(Object.values(schema))),
  ]
  expect(found).toEqual([])
})

it('every operation has an id of its own and a summary', async () => {
  const { paths } = await read()
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  expect(operations.length).toBeGreaterThan(120)
  const ids = operations.map(({ operationId }) => operationId)
  expect(ids.filter((id) => !id)).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
  expect(operations.filter(({ summary }) => !summary)).toEqual([])
})

it('every refusal is the one response Problem', async () => {
  const { paths, components } = await read()
  expect(Object.keys(components.responses)).toEqual(['Problem'])
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    const refusals = Object.entries(operation.responses).filter(([status]) => /^4/.test(status))
    for (const [, refusal] of refusals) expect(refusal).toEqual({ $ref: '#/components/responses/Problem' })
  }
})

it('every path has the version, except the two probes', async () => {
  const { paths } = await read()
  const others = Object.keys(paths).filter((path) => !path.startsWith(`${API_PREFIX}/`))
  expect(others.sort()).toEqual(['/api/health', '/api/ready'])
})

it('every name that is referred to exists', async () => {
  const document = await read()
  const names = new Set(JSON.stringify(document).match(/#\/components\/schemas\/[^"]+/g))
  for (const name of names) expect(document.components.schemas).toHaveProperty(name.split('/').at(-1)!)
})

/** The objects with properties inside of it. */
function anonymous(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  const inside = Object.entries(value)
    .filter(([key]) => key !== 'examples')
    .flatMap(([, one]) => anonymous(one))
  const isShape = 'properties' in value && (value as { type?: unknown }).type === 'object'
  return isShape ? [value, ...inside] : inside
}
