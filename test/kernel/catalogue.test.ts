import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { CATALOGUE, type ErrorSpec } from '../../src/kernel/catalogue.ts'
import { StagedoorError } from '../../src/kernel/errors.ts'

const SQL = fileURLToPath(new URL('../../sql', import.meta.url))
const specs = Object.entries(CATALOGUE) as [string, ErrorSpec][]
const raised = new Set(
  readdirSync(SQL, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sql'))
    .flatMap((file) => [...readFileSync(join(SQL, file), 'utf8').matchAll(/errcode = '(SD\d{3})'/g)])
    .map((match) => match[1]!),
)
const listed = specs.flatMap(([, spec]) => spec.sqlstates ?? [])

it('every SQLSTATE of ours that SQL raises is in the catalogue, and the other way round', () => {
  const ours = listed.filter((state) => state.startsWith('SD'))
  expect([...raised].sort()).toEqual(ours.sort())
})

it('a SQLSTATE means one error only', () => {
  expect(new Set(listed).size).toBe(listed.length)
})

it('every error says what to do, with an exit code and a status that fit', () => {
  for (const [code, spec] of specs) {
    expect({ code, hint: spec.hint.length > 10 }).toEqual({ code, hint: true })
    expect(spec.exit).toBeGreaterThanOrEqual(1)
    expect(spec.exit).toBeLessThanOrEqual(9)
    expect(spec.status).toBeGreaterThanOrEqual(400)
  }
})

it('the words in braces are filled from the details', () => {
  const error = new StagedoorError('port_in_use', { port: 4680, host: '127.0.0.1' })
  expect(error.message).toBe('Port 4680 on 127.0.0.1 is in use by another program')
})
