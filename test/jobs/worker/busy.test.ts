/** What a worker asks of the database while more jobs wait than it has places: few claims, and few reports that jobs begin. */
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { useJobs } from './support.ts'

const db = useDatabase()
const jobs = useJobs(db)
const PLACES = 10

beforeAll(async () => {
  // A claim and a report that jobs begin are the statements that write `begun` and leave the job leased.
  await db.owner('create table public.written (statement bigserial)')
  await db.owner(`create function public.count_written() returns trigger language plpgsql security definer as $$
    begin insert into public.written default values; return null; end $$`)
  await db.owner(`create trigger count_written after update of begun on iu_core.job_queue
    for each statement execute function public.count_written()`)
})

/** Handlers that end when the test says so; the first calls last long enough for none to be reported ahead. */
async function startBusy(kind: string, count: number) {
  const running: (() => void)[] = []
  let begun = 0
  let claims = 0
  let isOver = false
  await jobs.start(
    {
      [kind]: () =>
        new Promise<void>((resolve) => {
          begun++
          if (isOver) resolve()
          else running.push(resolve)
        }),
    },
    { concurrency: PLACES, hooks: { onClaim: () => claims++ } },
  )
  await jobs.enqueue(...Array.from({ length: count }, () => ({ job_kind: kind })))
  await until('all places are taken', () => begun === PLACES)
  const since = performance.now()
  await until('they have run for a while', () => performance.now() - since > 50)
  return {
    begun: () => begun,
    claims: () => claims,
    end(calls: number) {
      for (const resolve of running.splice(0, calls)) resolve()
    },
    endAll() {
      isOver = true
      for (const resolve of running) resolve()
    },
    async reports() {
      const [row] = await db.owner<{ n: number }>('select count(*)::int as n from public.written')
      return row!.n - claims
    },
  }
}

it('places that become free one after the other do not cost a claim each', async () => {
  const busy = await startBusy('one_by_one', 300)
  const before = busy.claims()
  for (let n = 1; n <= 80; n++) {
    busy.end(1)
    await until('the next one runs', () => busy.begun() === PLACES + n)
  }
  // One for each half of the prefetch.
  expect(busy.claims() - before).toBeLessThan(30)
  busy.endAll()
})

it('places that become free together are filled by one report', async () => {
  const busy = await startBusy('together', 60)
  const [claims, reports] = [busy.claims(), await busy.reports()]
  for (let n = 1; n <= 3; n++) {
    busy.end(PLACES)
    await until('as many run', () => busy.begun() === PLACES * (n + 1))
  }
  // Some begin with a claim that was on its way, and then the rest by a report of its own.
  expect((await busy.reports()) - reports).toBeLessThanOrEqual(5)
  expect(busy.claims() - claims).toBeLessThanOrEqual(9)
  busy.endAll()
})
