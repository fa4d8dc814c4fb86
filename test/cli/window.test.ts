/** Sentences of ours in a window of 80 columns. */
import { expect, it } from 'vitest'
import { prose, textWidth } from '../../src/cli/text.ts'
import { runCli, runOnTerminal } from '../support/cli.ts'

const REFUSED = ['token', '--role', 'service_role', '--user', 'somebody@example.com']

it('an error and its hint are wrapped, with the lines behind the first indented', async () => {
  const { code, screen } = await runOnTerminal(REFUSED)
  expect(code).toBe(2)
  const lines = screen.trimEnd().split('\n')
  expect(lines.length).toBeGreaterThan(2)
  expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(80)
  expect(lines[0]).toMatch(/^✖ --role service_role is of a program/)
  for (const line of lines.slice(1)) expect(line).toMatch(/^ {2}\S/)
})

it('piped, they are one line each', async () => {
  const { stderr } = await runCli(REFUSED)
  expect(stderr.trimEnd().split('\n')).toHaveLength(2)
})

it('a command stays whole, on a line of its own where it does not fit behind the words', () => {
  const command = '`stagedoor staging tick --as reviewer 01a1e6bc-ea6d 1 names`'
  expect(prose(`Tick each required item first: ${command}.`, { window: 70, indent: 2 })).toBe(
    `Tick each required item first:\n  ${command}.`,
  )
  expect(prose(`Run ${command}`, { window: 30 })).toBe(`Run\n${command}`)
})

it('an address or a digest is not cut, and what others wrote is made visible', () => {
  expect(prose(`digest ${'a'.repeat(64)}`, { window: 40 })).toBe(`digest\n${'a'.repeat(64)}`)
  expect(prose('one\u001b[2J\ntwo', { window: 40, indent: 2 })).toBe('one␛[2J\n  two')
})
