import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type WaitingClaim, WaitingClaims } from '../../src/jobs/waiting-claims.ts'
import type { Question, Wakeups } from '../../src/runtime/wakeups.ts'

const FOREVER_MS = 1_000_000
/** One for each: many listeners on one signal are warned of. */
const never = (): AbortSignal => new AbortController().signal

/** A bus that a test rings. */
class Bell {
  works = true
  readonly questions: Question[] = []
  private readonly listeners: ((kind: string) => void)[] = []
  private readonly changes: (() => void)[] = []

  readonly wakeups = {
    works: true,
    on: (_topic: string, listener: (kind: string) => void) => this.listeners.push(listener),
    onChange: (listener: () => void) => this.changes.push(listener),
    ask: (question: Question) => this.questions.push(question),
    pollSoon() {},
  } as unknown as { -readonly [Key in keyof Wakeups]: Wakeups[Key] }

  ring(kind: string): void {
    for (const listener of this.listeners) listener(kind)
  }

  change(works: boolean): void {
    this.wakeups.works = works
    for (const listener of this.changes) listener()
  }
}

/** Claims that look whenever they are let; `jobs` is how many there are to be found. */
class Queue {
  jobs = 0
  looks = 0
  readonly got: string[] = []
  private readonly claims: WaitingClaims

  constructor(claims: WaitingClaims) {
    this.claims = claims
  }

  add(
    name: string,
    kinds: string[],
    { executor = 'external_worker', signal = never(), leaseMs = FOREVER_MS } = {},
  ) {
    const claim = this.claims.join({ executor, kinds, leaseMs }, 0)
    void this.run(name, claim, signal)
    return claim
  }

  private async run(name: string, claim: WaitingClaim, signal: AbortSignal): Promise<void> {
    for (;;) {
      await claim.wait(FOREVER_MS, signal)
      if (signal.aborted) break
      this.looks++
      // As a statement to the database: what happens meanwhile, happens during a look.
      await setImmediate()
      const found = this.jobs > 0
      if (found) {
        this.jobs--
        this.got.push(name)
      }
      claim.looked(found)
      if (found) break
    }
    claim.leave()
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await setImmediate()
}

it('one job wakes one claim of its kind, however many wait', async () => {
  const bell = new Bell()
  const queue = new Queue(new WaitingClaims(bell.wakeups))
  for (let n = 0; n < 50; n++) queue.add(`a${n}`, ['report'])
  queue.add('other', ['invoice'])
  queue.jobs = 1
  bell.ring('report')
  await settled()
  expect(queue.got).toEqual(['a0'])
  // The one that found it, and the next one that found nothing.
  expect(queue.looks).toBe(2)
})

it('many jobs of one wake-up go to as many claims', async () => {
  const bell = new Bell()
  const queue = new Queue(new WaitingClaims(bell.wakeups))
  for (let n = 0; n < 5; n++) queue.add(`a${n}`, ['report'])
  queue.jobs = 3
  bell.ring('')
  await settled()
  expect(queue.got).toEqual(['a0', 'a1', 'a2'])
  expect(queue.looks).toBe(4)
})

it('a wake-up during a look is looked after, also where only that claim waits', async () => {
  const bell = new Bell()
  const queue = new Queue(new WaitingClaims(bell.wakeups))
  queue.add('only', ['report'])
  bell.ring('report')
  await Promise.resolve()
  await Promise.resolve()
  bell.ring('report')
  queue.jobs = 0
  await settled()
  queue.jobs = 1
  bell.ring('report')
  await settled()
  expect(queue.got).toEqual(['only'])
})

it('a claim that is woken and gives up passes its turn on', async () => {
  const bell = new Bell()
  const queue = new Queue(new WaitingClaims(bell.wakeups))
  const gone = new AbortController()
  queue.add('gone', ['report'], { signal: gone.signal })
  queue.add('next', ['report'])
  queue.jobs = 1
  bell.ring('report')
  gone.abort()
  await settled()
  expect(queue.got).toEqual(['next'])
})

it('asks when something is due for all that wait for an executor, and nothing when nobody waits', async () => {
  const bell = new Bell()
  const claims = new WaitingClaims(bell.wakeups)
  const one = claims.join({ executor: 'external_worker', kinds: ['report'], leaseMs: 30_000 }, 0)
  const two = claims.join({ executor: 'external_worker', kinds: ['invoice', 'report'], leaseMs: 30_000 }, 0)
  expect(bell.questions).toHaveLength(1)
  const [question] = bell.questions
  expect(question!.values()).toEqual([['report', 'invoice'], 'external_worker'])
  one.leave()
  two.leave()
  expect(question!.values()).toBeUndefined()
})

it('jobs that are due and out of reach are looked for again and again, by one claim at a time', async () => {
  const bell = new Bell()
  const queue = new Queue(new WaitingClaims(bell.wakeups))
  for (let n = 0; n < 3; n++) queue.add(`a${n}`, ['limited'])
  const [question] = bell.questions
  question!.onDue()
  await settled()
  expect(queue.looks).toBe(1)
  // The place of another job has become free, which nobody tells.
  queue.jobs = 1
  await expect.poll(() => queue.got).toHaveLength(1)
  question!.onIdle!()
})

it('keeps a lease: looks after a third of it without a wake-up', async () => {
  const queue = new Queue(new WaitingClaims(new Bell().wakeups))
  queue.add('short', ['report'], { leaseMs: 300 })
  queue.jobs = 1
  await expect.poll(() => queue.got).toEqual(['short'])
})

it('each polls while wake-ups do not work, also one that began to wait before', async () => {
  const bell = new Bell()
  const queue = new Queue(new WaitingClaims(bell.wakeups))
  queue.add('waits', ['report'])
  await settled()
  bell.change(false)
  await settled()
  queue.jobs = 1
  await expect.poll(() => queue.got).toEqual(['waits'])
})
