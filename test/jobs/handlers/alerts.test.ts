/** Alert rules over production rows: opened when one holds, resolved when it holds no longer. */
import { beforeAll, describe, expect, it } from 'vitest'
import { newWebhookSecret } from '../../../src/jobs/webhooks.ts'
import { useDatabase } from '../../support/database.ts'
import { createWorkspace } from '../../support/factories.ts'
import { createClient, useIngest } from '../../support/ingest.ts'
import { sqlstateOf } from '../../support/sqlstate.ts'
import { HANDLERS, useReacting } from './reacting.ts'

const db = useDatabase()
const ads = useIngest(db)
const reacting = useReacting(db)
const EVALUATE = { alert_evaluate: HANDLERS.alert_evaluate! }

interface Evaluation {
  rules: number
  holding: number
  opened: number
  resolved: number
  unknown_metrics?: string[]
}

const evaluate = async (client: string): Promise<Evaluation> =>
  (
    await db
      .pool('stagedoor_worker')
      .query<{ result: Evaluation }>('select iu_core.fn_alerts_evaluate($1) as result', [client])
  ).rows[0]!.result
const alerts = (client: string) =>
  db.owner<{ value: string; open: boolean }>(
    `select r.name, a.value::float as value, a.resolved_at is null as open
       from public.alerts a join public.alert_rules r on r.id = a.alert_rule_id where a.client_id = $1 order by a.fired_at, r.name`,
    [client],
  )

async function rule(
  client: string,
  metric: string,
  comparison: string,
  threshold: number,
  days = 1,
): Promise<string> {
  const [row] = await db.owner<{ id: string }>(
    `insert into public.alert_rules (client_id, name, metric, comparison, threshold, window_days)
     values ($1, $2, $3, $4, $5, $6) returning id`,
    [client, `${metric} ${comparison} ${threshold}`, metric, comparison, threshold, days],
  )
  return row!.id
}

/** Figures by day, straight into the production table. */
async function figures(
  client: string,
  rows: readonly [date: string, clicks: number, spend: number, currency?: string][],
) {
  const [campaign] = await db.owner<{ id: string }>(
    `insert into public.campaigns (client_id, platform, external_id, name) values ($1, 'meta', gen_random_uuid()::text, 'c') returning id`,
    [client],
  )
  for (const [date, clicks, spend, currency] of rows) {
    await db.owner(
      `insert into public.daily_metrics (client_id, platform, campaign_id, date, clicks, impressions, spend, currency)
       values ($1, 'meta', $2, $3, $4::integer, $4::integer * 100, $5, $6)`,
      [client, campaign!.id, date, clicks, spend, currency ?? 'EUR'],
    )
  }
}

let files = 0
const fresh = () => createClient(db, ads.workspace, `client ${++files}`)

describe('an evaluation', () => {
  it('opens an alert where a rule holds, once, and resolves it when it holds no longer', async () => {
    const client = await fresh()
    await figures(client, [
      ['2026-11-01', 10, 5],
      ['2026-11-02', 20, 30],
    ])
    await rule(client, 'spend', '>', 20)
    await rule(client, 'spend', '>', 34, 2)
    await rule(client, 'clicks', '<', 20)
    expect(await evaluate(client)).toEqual({ rules: 3, holding: 2, opened: 2, resolved: 0 })
    expect(await evaluate(client)).toEqual({ rules: 3, holding: 2, opened: 0, resolved: 0 })
    await db.owner(
      `update public.daily_metrics set spend = 25 where client_id = $1 and date = '2026-11-02'`,
      [client],
    )
    expect(await evaluate(client)).toEqual({ rules: 3, holding: 1, opened: 0, resolved: 1 })
    expect(await alerts(client)).toEqual([
      { name: 'spend > 20', value: 25, open: true },
      { name: 'spend > 34', value: 35, open: false },
    ])
  })

  it('opens a second alert when a rule holds again after it was resolved', async () => {
    const client = await fresh()
    await figures(client, [['2026-11-01', 10, 5]])
    const id = await rule(client, 'clicks', '>=', 10)
    await evaluate(client)
    await db.owner('update public.alert_rules set enabled = false where id = $1', [id])
    expect(await evaluate(client)).toMatchObject({ opened: 0, resolved: 1 })
    await db.owner('update public.alert_rules set enabled = true where id = $1', [id])
    expect(await evaluate(client)).toMatchObject({ opened: 1, resolved: 0 })
    expect((await alerts(client)).map((one) => one.open)).toEqual([false, true])
  })

  it.each([
    ['ctr', 0.01],
    ['cpc', 2],
    ['cpm', 20],
    ['impressions', 1000],
  ])('knows %s', async (metric, value) => {
    const client = await fresh()
    await figures(client, [['2026-11-01', 10, 20]])
    await rule(client, metric, '=', value)
    expect(await evaluate(client)).toMatchObject({ holding: 1 })
  })

  it('takes no value from no rows, from money in two currencies, or from a metric that it does not know', async () => {
    const client = await fresh()
    await rule(client, 'spend', '<', 1000)
    expect(await evaluate(client)).toMatchObject({ holding: 0 })
    await figures(client, [['2026-11-01', 1, 1, 'EUR']])
    await figures(client, [['2026-11-01', 1, 1, 'USD']])
    await rule(client, 'clicks', '=', 2)
    await rule(client, 'happiness', '<', 1000)
    expect(await evaluate(client)).toEqual({
      rules: 3,
      holding: 1,
      opened: 1,
      resolved: 0,
      unknown_metrics: ['happiness'],
    })
  })

  it('opens one alert when two of them meet', async () => {
    const client = await fresh()
    await figures(client, [['2026-11-01', 10, 5]])
    await rule(client, 'clicks', '>', 1)
    const all = await Promise.all([1, 2, 3, 4].map(() => evaluate(client)))
    expect(all.map((one) => one.opened).sort()).toEqual([0, 0, 0, 1])
  })

  it('notifies the alert targets of an alert that was opened, and of no other', async () => {
    const client = await fresh()
    await ads.service('select iu_core.fn_webhook_target_set($1, $2)', [
      'on_call',
      JSON.stringify({
        url: 'https://hooks.example.com/',
        secret: newWebhookSecret(),
        purpose: 'alert',
        workspace_id: ads.workspace,
      }),
    ])
    await figures(client, [['2026-11-01', 10, 5]])
    await rule(client, 'clicks', '>', 1)
    await evaluate(client)
    await evaluate(client)
    const sent = await db.owner<{ safe_payload: unknown }>(
      `select safe_payload from iu_core.job_queue where job_kind = 'webhook_deliver'`,
    )
    expect(sent).toEqual([
      { safe_payload: expect.objectContaining({ type: 'alert.opened', client_id: client }) },
    ])
    await ads.service('select iu_core.fn_webhook_target_delete($1)', ['on_call'])
  })

  it('is for back-end code only', async () => {
    const tried = db.as(ads.reviewer, (client) =>
      client.query('select iu_core.fn_alerts_evaluate($1)', [ads.client]),
    )
    expect(await sqlstateOf(tried)).toBe('42501')
  })
})

describe('after a promotion', () => {
  const EXPORT = (spend: number) =>
    `Campaign ID,Campaign name,Day,Amount spent (EUR),Impressions,Clicks (all)\n1,Autumn,2026-11-01,${spend},1000,10\n`

  beforeAll(() => reacting.activate('alerts_after_promotion', 'alerts_after_undo'))

  it('the rules of its client are judged, on what was promoted alone; an undo resolves what it had opened', async () => {
    await rule(ads.client, 'spend', '>', 100)
    const upload = await ads.file(EXPORT(250))
    expect(await reacting.dispatch()).toEqual([])
    expect(await evaluate(ads.client)).toMatchObject({ holding: 0 })

    const plan = await ads.plan(upload.upload_id)
    await ads.service('select iu_core.fn_ingest_promote($1, $2)', [upload.upload_id, plan.digest])
    const [job] = await reacting.react(EVALUATE)
    expect(job).toMatchObject({
      source_ref: `client:${ads.client}`,
      idempotency_key: `alerts_after_promotion:client:${ads.client}`,
      result: { opened: 1 },
    })
    expect(await alerts(ads.client)).toEqual([{ name: 'spend > 100', value: 250, open: true }])

    await ads.service('select iu_core.fn_ingest_undo($1)', [upload.upload_id])
    const [undone] = await reacting.react(EVALUATE)
    expect(undone!.result).toMatchObject({ opened: 0, resolved: 1 })
    expect(await alerts(ads.client)).toEqual([{ name: 'spend > 100', value: 250, open: false }])
  })

  it('many promotions of one client in a row are judged once, those of another on their own', async () => {
    await db.owner(`update iu_core.job_kind set debounce = '1 minute' where job_kind = 'alert_evaluate'`)
    const other = await fresh()
    for (const [client, spend] of [
      [ads.client, 1],
      [ads.client, 2],
      [other, 3],
      [ads.client, 4],
    ] as const) {
      const upload = await ads.file(EXPORT(spend), { clientId: client })
      const plan = await ads.plan(upload.upload_id)
      await ads.service('select iu_core.fn_ingest_promote($1, $2)', [upload.upload_id, plan.digest])
    }
    const jobs = await reacting.dispatch()
    expect(jobs.map((job) => job.source_ref).sort()).toEqual(
      [`client:${ads.client}`, `client:${other}`].sort(),
    )
  })
})

it('is skipped where the tables of alerts are not there', async () => {
  await db.owner('drop table public.alerts, public.alert_rules')
  const other = await createWorkspace(db, 'without')
  expect(await evaluate(other)).toEqual({ skipped: 'there is no table alert_rules, alerts' })
})
