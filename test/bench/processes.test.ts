import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { machineBusyMs, processCpuMs, sessionCpuMs } from '../../bench/src/cpu.ts'
import { askAll, startProcess, startProcesses, stopAll } from '../../bench/src/processes.ts'

const folder = mkdtempSync(join(tmpdir(), 'stagedoor-bench-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A child without the helper: the protocol is what counts. */
const CHILD = pathToFileURL(join(folder, 'child.mjs'))
writeFileSync(
  CHILD,
  `const input = JSON.parse(process.argv[2])
   process.on('message', ({ id, name, argument }) => {
     if (name === 'stop') process.send({ id }, () => process.exit(0))
     else if (name === 'add') process.send({ id, result: input.n + argument })
     else if (name === 'die') process.exit(3)
     else process.send({ id, error: 'no such question' })
   })
   process.send('ready')`,
)

it('asks a process, gets its answers and its errors, and stops it', async () => {
  const child = await startProcess(CHILD, { n: 2 })
  expect(await child.ask('add', 3)).toBe(5)
  await expect(child.ask('subtract')).rejects.toThrow('subtract: no such question')
  await child.stop()
  await child.stop()
})

it('says that a process ended instead of waiting for its answer', async () => {
  const child = await startProcess(CHILD, { n: 0 })
  await expect(child.ask('die')).rejects.toThrow('the process ended (3)')
  await child.stop()
})

it('starts many and asks all', async () => {
  const children = await startProcesses(3, (n) => startProcess(CHILD, { n }))
  expect((await askAll<number>(children, 'add', 10)).sort()).toEqual([10, 11, 12])
  await stopAll(children)
})

it.runIf(process.platform === 'linux')('reads CPU times of processes and of the machine', () => {
  const before = machineBusyMs()
  const began = performance.now()
  while (performance.now() - began < 50) Math.sqrt(began)
  expect(processCpuMs(process.pid)).toBeGreaterThan(0)
  expect(sessionCpuMs(process.pid)).toBeGreaterThan(0)
  expect(machineBusyMs()).toBeGreaterThanOrEqual(before)
  expect(processCpuMs(2 ** 30)).toBeUndefined()
})
