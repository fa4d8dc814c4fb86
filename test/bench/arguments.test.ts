import { expect, it } from 'vitest'
import { readArguments, usage } from '../../bench/src/arguments.ts'
import { BenchError } from '../../bench/src/errors.ts'
import { nodeFor } from '../../bench/src/node-version.ts'
import { outbox } from '../../bench/src/outbox/outbox.ts'

const read = (...argv: string[]) => readArguments(argv, [outbox])

it('takes a name and flags in any order', () => {
  const json = {
    benchmark: outbox,
    quick: true,
    json: true,
    record: false,
    data: undefined,
    language: undefined,
    rounds: undefined,
  }
  expect(read('--quick', 'outbox', '--json')).toEqual(json)
  expect(read('outbox', '--rounds', '2').rounds).toBe(2)
  expect(read('outbox').quick).toBe(false)
})

it('takes a folder where a collection is measured, and asks for it', () => {
  const collected = { ...outbox, name: 'quality', takesData: true } as const
  expect(readArguments(['quality', '--data', 'here'], [collected]).data).toBe('here')
  expect(() => readArguments(['quality'], [collected])).toThrow('--data DIR says where it is')
  expect(() => read('outbox', '--data', 'here')).toThrow('outbox makes its own data')
  expect(readArguments(['quality', '--data', 'here', '--language', 'pt-BR'], [collected]).language).toBe(
    'pt-BR',
  )
  expect(() => readArguments(['quality', '--data', 'here', '--language', 'Deutsch'], [collected])).toThrow(
    'Deutsch is not a language',
  )
  expect(() => read('outbox', '--language', 'de')).toThrow('--language is of the collection of --data')
})

it('lists the benchmarks when none is named', () => {
  expect(read().benchmark).toBeUndefined()
  expect(read('--help').benchmark).toBeUndefined()
  expect(usage([outbox])).toMatch(/^ {2}outbox {2}100,000 events/m)
})

it.each([
  [['nothing'], 'There is no benchmark called nothing.'],
  [['outbox', 'jobs'], 'One benchmark at a time, not also jobs.'],
  [['outbox', '--fast'], "Unknown option '--fast'."],
  [['outbox', '--quick=yes'], "Option '--quick' does not take an argument."],
  [['outbox', '--rounds', '0'], '--rounds is a whole number from 1 to 100.'],
  [['outbox', '--rounds', 'many'], '--rounds is a whole number from 1 to 100.'],
  [['outbox', '--quick', '--record'], '--record keeps full runs only: leave --quick out, or --record.'],
])('refuses %j with the way to call it and exit code 2', (argv, message) => {
  let thrown: unknown
  try {
    read(...argv)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(BenchError)
  expect(thrown).toMatchObject({ message, exitCode: 2 })
  expect((thrown as BenchError).remedy).toContain('npm run -s bench -- <name>')
})

it('runs a peer under this Node when it is new enough, else under the one that npm installed', () => {
  const running = { version: '20.20.2', path: '/here/node' }
  const installed = { version: '26.1.0', path: '/newer/node' }
  expect(nodeFor(20, { running, installed })).toBe('/here/node')
  expect(nodeFor(22, { running, installed })).toBe('/newer/node')
  expect(nodeFor(1)).toBe(process.execPath)
})

it('says how to get a newer Node', () => {
  const running = { version: '20.20.2', path: '/here/node' }
  const old = { version: '21.0.0', path: '/old/node' }
  expect(() => nodeFor(22, { running, installed: undefined })).toThrow(/needs Node 22 .* is not installed\.$/)
  expect(() => nodeFor(22, { running, installed: old })).toThrow(/is 21\.0\.0\.$/)
  try {
    nodeFor(22, { running, installed: undefined })
  } catch (error) {
    expect((error as BenchError).remedy).toContain('npm install --no-save')
  }
})
