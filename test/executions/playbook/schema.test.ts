import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { parsePlaybook } from '../../../src/executions/playbook/parse.ts'
import { playbookJsonSchema } from '../../../src/executions/playbook/schema.ts'
import { RIGHT } from './written-playbooks.ts'

const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url))
const validate = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false }).compile(
  playbookJsonSchema(),
)

function examples(): string[] {
  if (!existsSync(EXAMPLES)) return []
  return readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.ya?ml$/.test(file) && !file.includes('node_modules'))
    .map((file) => readFileSync(`${EXAMPLES}/${file}`, 'utf8'))
    .filter((text) => /^steps:/m.test(text))
}

describe('the schema for editors', () => {
  it('is JSON Schema 2020-12 and describes every key', () => {
    const schema = playbookJsonSchema() as {
      $schema: string
      properties: Record<string, { description?: string }>
    }
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema')
    for (const [key, { description }] of Object.entries(schema.properties))
      expect(description, key).toBeTruthy()
  })

  it('takes what the parser takes', () => {
    for (const text of [...RIGHT, ...examples()]) {
      expect(parsePlaybook(text).problems).toEqual([])
      expect(validate(parse(text)), JSON.stringify(validate.errors)).toBe(true)
    }
  })

  it.each([
    ['steps: [{ step: a, tool: handler, call: b }]'],
    ['name: x\nsteps: []'],
    ['name: x\nsteps: [{ step: a }]'],
    ['name: x\nsteps: [{ step: a, tol: sql }]'],
    ['name: x\nsteps: [{ step: a, tool: htpp }]'],
    ['name: x\nsteps: [{ step: a, tool: unit }]'],
    ['name: x\nsteps: [{ step: a, tool: sql }]'],
    ['name: x\nsteps: [{ step: a, tool: sql, args: { qurey: select 1 } }]'],
    ['name: x\nsteps: [{ step: a, tools: [{ tool: http, args: {} }] }]'],
    ['name: x\nsteps: [{ step: a, tool: handler }]'],
    ['name: x\nsteps: [{ step: a, tool: handler, call: b, wait: { for: 1d } }]'],
    ['name: x\nsteps: [{ step: a, wait: { for: soon } }]'],
    ['name: x\nsteps: [{ step: a, tool: handler, call: b, retry: 0 }]'],
    ['name: x\nsteps: [{ step: a, tool: handler, call: b, loop: { in: steps.a.result } }]'],
    ['name: x\nsteps: [{ step: a, tool: handler, call: b, next: [{ when: "true" }] }]'],
  ])('refuses what the parser refuses: %j', (text) => {
    expect(parsePlaybook(text).playbook).toBeUndefined()
    expect(validate(parse(text))).toBe(false)
  })
})
