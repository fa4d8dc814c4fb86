/**
 * A fan-out through two gateways and three remote workers, while at random moments workers die or fall silent, gateways are cut off or lose
 * their lease, reports are lost and late ones come: no item is lost, each ends once, and the log has no gap.
 */
// @module-tag property
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import { type GatewayEngine, startGatewayEngine } from '../../../src/executions/engine/engine.ts'
import { projectionDifferences } from '../../../src/executions/engine/projection.ts'
import { createResultStore } from '../../../src/executions/results.ts'
import { cases } from '../../support/length.ts'
import { SEED } from '../../support/seed.ts'
import { until } from '../../support/until.ts'
import { playbook, useEngines } from './engines.ts'
import { FakeGateway, FakeWorker } from './fake-remote.ts'

const CASES = cases(6, 60)
const ITEMS = 120
const WORKERS = 3
const WITHIN_MS = 30_000

const engines = useEngines()
const worker = () => engines.db.pool('stagedoor_worker')
const gateways: Gateway[] = []
afterEach(async () => {
  await Promise.all(gateways.splice(0).map(({ engine }) => engine.stop()))
})

interface Gateway {
  readonly calls: FakeGateway
  readonly engine: GatewayEngine
}

type Fault =
  | 'killed'
  | 'silent'
  | 'moved'
  | 'moved late'
  | 'lease lost'
  | 'report lost'
  | 'repeated'
  | 'sessions pass'
interface Story {
  readonly faults: readonly { readonly fault: Fault; readonly worker: number; readonly afterMs: number }[]
}
const stories: fc.Arbitrary<Story> = fc.record({
  faults: fc.array(
    fc.record({
      fault: fc.constantFrom<Fault>(
        ...([
          'killed',
          'silent',
          'moved',
          'moved',
          'moved late',
          'lease lost',
          'report lost',
          'repeated',
          'sessions pass',
        ] as const),
      ),
      worker: fc.nat(WORKERS - 1),
      afterMs: fc.nat(25),
    }),
    { minLength: 1, maxLength: 14 },
  ),
})

it(`nothing is lost and nothing ends twice, whatever happens to workers and gateways (${CASES} cases, seed ${SEED})`, async () => {
  await engines.start({}, { runs: false })
  for (let n = 0; n < 2; n += 1) gateways.push(await startGateway())
  await engines.register(
    playbook('faults', [
      {
        step: 'each',
        args: { item: '${item}' },
        loop: { in: Array.from({ length: ITEMS }, (_, index) => index), mode: 'fanout', max_in_flight: 60 },
      },
    ]),
  )
  await fc.assert(fc.asyncProperty(stories, checkStory), { numRuns: CASES, seed: SEED, endOnFailure: true })
  const differences: unknown[] = []
  for await (const one of projectionDifferences(worker())) differences.push(one)
  expect(differences).toEqual([])
  expect(await engines.db.owner('select command_id from noetl.command')).toEqual([])
}, 240_000)

async function checkStory({ faults }: Story): Promise<void> {
  const fleet = new Fleet()
  const id = await engines.run('faults')
  for (const { fault, worker: n, afterMs } of faults) {
    await pause(afterMs)
    await fleet.disturb(fault, n)
  }
  fleet.passSessions()
  await until(
    'the execution has ended',
    async () => {
      // What a worker that is not answered does.
      fleet.report()
      return (await engines.status(id)) === 'COMPLETED'
    },
    WITHIN_MS,
  ).catch(async (error) => {
    error.message += `\n${JSON.stringify(faults)}\n${await fleet.state()}`
    throw error
  })
  await engines.ended(id)
  const log = await engines.log(id)
  const ends = log.filter(({ event_type }) => event_type.startsWith('loop.shard.d'))
  expect(ends.map(({ current_index }) => current_index).sort((a, b) => a! - b!)).toEqual(
    Array.from({ length: ITEMS }, (_, index) => index),
  )
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
  expect(log.filter(({ event_type }) => event_type === 'loop.shard.failed')).toEqual([])
  fleet.close()
}

async function startGateway(): Promise<Gateway> {
  const calls = new FakeGateway()
  const engine = await startGatewayEngine({
    pool: worker(),
    listenUrl: engines.db.url('stagedoor_worker'),
    results: createResultStore({ pool: worker() }),
    tools: {},
    handlers: ['each'],
    remote: calls,
    leaseMs: 1000,
    shutdownMs: 0,
  })
  return { calls, engine }
}

/** The workers of one story. */
class Fleet {
  private readonly workers: { remote: FakeWorker; gateway: Gateway }[] = []
  /** Gateways think that these are gone; they are not. */
  private readonly zombies: FakeWorker[] = []
  /** Sessions that will pass. */
  private silent: (() => void)[] = []
  private named = 0

  constructor() {
    for (let n = 0; n < WORKERS; n += 1) this.spawn(n)
  }

  async disturb(fault: Fault, n: number): Promise<void> {
    const { remote, gateway } = this.workers[n]!
    const other = gateways[1 - gateways.indexOf(gateway)]!
    switch (fault) {
      case 'killed':
        remote.kill()
        this.spawn(n)
        return
      case 'silent':
        gateway.calls.workerIsSilent(remote)
        this.zombies.push(remote)
        this.spawn(n)
        return
      case 'moved':
      case 'moved late': {
        const from = gateway.engine.id
        const passes = remote.leave()
        // Its former gateway notices before the adoption, or later.
        if (fault === 'moved late') passes()
        else this.silent.push(passes)
        // Refused while that has no lease: the worker asks again.
        await until('the adoption is answered', () =>
          other.calls.adoptFrom(remote, from, other.engine).then(
            () => true,
            () => false,
          ),
        )
        this.workers[n] = { remote, gateway: other }
        return
      }
      case 'lease lost':
        await engines.endLease(gateway.engine.id)
        return
      case 'report lost':
        remote.losesReports += 3
        return
      case 'sessions pass':
        this.passSessions()
        return
      case 'repeated':
        this.report()
        return
    }
  }

  passSessions(): void {
    for (const passes of this.silent.splice(0)) passes()
  }

  report(): void {
    for (const { remote } of this.workers) remote.report()
    // Late ends: to whoever it was attached to.
    for (const zombie of this.zombies) zombie.report()
  }

  async state(): Promise<string> {
    const commands = await engines.db.owner(
      'select command_id, leased_by, lease_epoch, crashes from noetl.command',
    )
    const lines = gateways.map(({ calls, engine }) => {
      const workers = [...calls.attached].map(({ name, held }) => `${name} ${[...held.keys()].join()}`)
      return `gateway ${engine.id}: ${calls.slots} slots, ${calls.pending}; ${workers.join('; ')}`
    })
    return [...lines, ...commands.map((command) => JSON.stringify(command))].join('\n')
  }

  close(): void {
    for (const { remote } of this.workers) remote.leave()
  }

  private spawn(n: number): void {
    const gateway = gateways[n % 2]!
    this.named += 1
    const remote = new FakeWorker(`w${this.named}`, 5, {
      each: async ({ item }: { item: number }) => {
        await pause(item % 7)
        return item
      },
    })
    remote.attach(gateway.calls)
    this.workers[n] = { remote, gateway }
  }
}
