/** Whatever people do and however workers die: in the end the store holds exactly what Postgres says. */
// @module-tag property
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { liveCollections } from '../../src/search/collections.ts'
import { useDatabase } from '../support/database.ts'
import { cases } from '../support/length.ts'
import { call, create, edit, sha256, useLife } from '../units/life.ts'
import { bodyOf, Steerable, type Step, step } from './projection-model.ts'
import { activeName, type Hand, useProjecting, vectorOf } from './projection-workplace.ts'

const db = useDatabase()
const life = useLife(db)
const place = useProjecting(db)
const RUNS = cases(10, 60)

interface Known {
  readonly unit_id: string
  version: number
  status: 'draft' | 'deleted' | 'retired'
}

interface Working {
  readonly steering: Steerable
  readonly hand: Hand
  /** Its lease has passed, and it does not know. */
  late: boolean
}

const begin = (): Working => {
  const steering = new Steerable()
  return { steering, hand: place.worker({ hooks: { boundary: steering.boundary } }), late: false }
}

const lapse = (worker: string) =>
  db.owner(
    `update iu_core.vector_outbox set leased_until = clock_timestamp() - interval '1 second'
      where worker_id = $1 and status = 'processing'`,
    [worker],
  )

class Run {
  private readonly units: Known[] = []
  private readonly workers = [begin(), begin()]
  /** They wake up once more at the very end. */
  private readonly sleepers: Working[] = []
  private readonly expected = new Map<string, string | undefined>()

  async step(what: Step): Promise<void> {
    switch (what.do) {
      case 'edit':
      case 'delete':
      case 'restore':
      case 'retire':
        return this.change(what.do, this.units[what.unit], what.words)
      case 'claim':
        return this.claim(this.workers[what.worker]!)
      case 'advance':
        return this.workers[what.worker]!.steering.advance()
      case 'finish':
        return this.workers[what.worker]!.steering.toEnd()
      case 'crash':
        return this.crash(what.worker)
      case 'late': {
        const working = this.workers[what.worker]!
        if (working.steering.ended) return
        working.late = true
        await lapse(working.hand.id)
        return
      }
      case 'embedder':
        place.faults.embedderAway = what.away
        return
      case 'store':
        place.faults.storeAway = what.away
    }
  }

  async create(): Promise<void> {
    const { unit_id } = await create(life, { body: bodyOf(this.units.length) })
    this.units.push({ unit_id, version: 1, status: 'draft' })
    this.expected.set(unit_id, bodyOf(this.units.length - 1))
  }

  private async change(
    what: 'edit' | 'delete' | 'restore' | 'retire',
    unit: Known | undefined,
    words: number,
  ) {
    if (!unit) return
    const { unit_id } = unit
    const body = this.expected.get(unit_id)
    if (what === 'edit' && unit.status === 'draft' && body !== bodyOf(words)) {
      await edit(life.operator, unit_id, unit.version++, { p_body: bodyOf(words) })
      this.expected.set(unit_id, bodyOf(words))
    } else if (what === 'delete' && unit.status === 'draft') {
      await call(life.operator, 'fn_unit_delete', { p_unit_id: unit_id })
      unit.status = 'deleted'
    } else if (what === 'restore' && unit.status === 'deleted') {
      await call(life.operator, 'fn_unit_restore', { p_unit_id: unit_id })
      unit.status = 'draft'
    } else if (what === 'retire' && unit.status === 'draft') {
      await call(life.reviewer, 'fn_unit_retire', { p_unit_id: unit_id })
      unit.status = 'retired'
    }
  }

  private async claim({ steering, hand }: Working): Promise<void> {
    if (!steering.ended) return
    await place.due()
    const rows = await hand.claim(1)
    if (rows.length > 0) await steering.begin(() => hand.work(rows))
  }

  private async crash(which: number): Promise<void> {
    const working = this.workers[which]!
    this.workers[which] = begin()
    await lapse(working.hand.id)
    // Dead for good, or only so slow that everybody thinks so.
    if (working.late) this.sleepers.push(working)
  }

  async end(): Promise<void> {
    Object.assign(place.faults, { embedderAway: false, storeAway: false })
    for (const { steering } of [...this.workers, ...this.sleepers]) await steering.toEnd()
    await db.owner(
      `update iu_core.vector_outbox set leased_until = clock_timestamp() - interval '1 second' where status = 'processing'`,
    )
    await place.settle()
    // Ten minutes later.
    await db.owner(
      `update iu_core.search_point set changed_at = changed_at - interval '11 minutes' where state = 'removed'`,
    )
    const { projection } = place.worker()
    while ((await projection.purge(await liveCollections(place.pool), 50)) > 0);
    await place.settle()
  }

  async check(): Promise<void> {
    const active = await activeName(place.pool)
    const wanted = this.units
      .filter(({ status }) => status === 'draft')
      .map(({ unit_id }) => ({ unit_id, body: this.expected.get(unit_id)! }))
    // What Postgres has is what the model says.
    const chunks = await db.owner<{ unit_id: string; chunk_id: string; text: string; body: string }>(
      `select c.unit_id, c.chunk_id, substr(v.body, c.from_char + 1, c.to_char - c.from_char) as text, v.body
         from iu_core.search_chunk c join iu_core.unit_version v using (unit_version_id)
        where c.unit_id = any ($1) order by c.unit_id, c.position`,
      [this.units.map(({ unit_id }) => unit_id)],
    )
    const bodies = new Map(chunks.map(({ unit_id, body }) => [unit_id, sha256(body)]))
    expect(bodies).toEqual(new Map(wanted.map(({ unit_id, body }) => [unit_id, sha256(body)])))
    // What the store has is what Postgres has.
    const held = [...place.store.of(active).values()].filter(({ payload }) =>
      this.units.some(({ unit_id }) => unit_id === payload.unit_id),
    )
    const sorted = <T extends { id: string }>(all: T[]) => all.sort((a, b) => (a.id < b.id ? -1 : 1))
    expect(sorted(held.map(({ id, vector, payload }) => ({ id, vector, unit: payload.unit_id })))).toEqual(
      sorted(chunks.map((one) => ({ id: one.chunk_id, vector: vectorOf(one.text), unit: one.unit_id }))),
    )
    const states = await db.owner<{ unit_id: string; vector_state: string }>(
      'select unit_id, vector_state from iu_core.v_unit where unit_id = any ($1)',
      [this.units.map(({ unit_id }) => unit_id)],
    )
    for (const { unit_id, vector_state } of states)
      expect(vector_state).toBe(wanted.some((one) => one.unit_id === unit_id) ? 'current' : 'retired')
    expect(
      await db.owner(`select from iu_core.search_point where state <> 'written' and unit_id = any ($1)`, [
        this.units.map(({ unit_id }) => unit_id),
      ]),
    ).toEqual([])
  }
}

it('edits, deletes, restores, deaths at every boundary, outages, late and overtaking workers: the store ends equal to Postgres', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), async (steps) => {
      const run = new Run()
      for (let unit = 0; unit < 3; unit++) await run.create()
      for (const what of steps) await run.step(what)
      await run.end()
      await run.check()
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
})
