/** What an agent proposes over MCP, in the browser of the person who decides: rows, and a statement. */
import { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { clientOf, type McpClient, transportTo } from '../mcp/mcp-api.ts'
import { runCli } from '../support/cli.ts'
import { seen, useRealConsole } from './real-console.ts'

const real = useRealConsole('agent-proposal')
const cli = async (...argv: string[]) => {
  const done = await runCli(argv, { STAGEDOOR_HOME: real.home })
  expect(done, done.stderr).toMatchObject({ code: 0 })
  return done.stdout
}
const client = new Client({ name: 'test', version: '1' })
let agent: McpClient

beforeAll(async () => {
  // A table of the user's own, as `stagedoor sql` creates it: the embedded server grants by itself what is missing.
  await cli(
    'sql',
    `create table public.goods (id integer primary key, name text not null, price integer);
     insert into public.goods values (1, 'Tent', 10), (2, 'Stove', 20)`,
  )
  const file = real.file('goods.csv', 'id,name,price\n1,Tent,10\n')
  await cli('init', 'public.goods', file, '--output', real.file('goods.dataset.json', ''), '--yes', '--force')
  await cli('proposal', 'open', 'public.goods')
  const token = (await cli('token', 'create', 'claude', '--role', 'agent', '--as', 'admin')).match(
    /sdt_\S+/,
  )![0]
  await client.connect(transportTo(new URL(`${real.url}/mcp`), token))
  agent = clientOf(client)
})
afterAll(() => client.close())

const goods = () =>
  cli('sql', 'select id, name, price from public.goods order by id', '--json').then(
    (text) => JSON.parse(text).at(-1).rows,
  )

it.each([
  {
    what: 'rows',
    tool: 'propose_rows',
    request: {
      dataset: 'goods',
      key: 'restock',
      rows: [
        { id: 1, name: 'Tent', price: 12 },
        { id: 3, name: 'Rope', price: 4 },
      ],
    },
    by: /uploaded by claude \(agent\)/,
    changed: ['10', '12'],
    added: /Rope[\s\S]*4/,
    after: ['1 Tent 12', '2 Stove 20', '3 Rope 4'],
  },
  {
    what: 'a statement',
    tool: 'propose_change',
    request: {
      key: 'lamps',
      statement:
        "insert into goods values (1, 'Tent', 15), (4, 'Lamp', 7) on conflict (id) do update set price = excluded.price",
    },
    by: /proposed by claude \(agent\)/,
    changed: ['12', '15'],
    added: /7[\s\S]*Lamp/,
    after: ['1 Tent 15', '2 Stove 20', '3 Rope 4', '4 Lamp 7'],
  },
])('a person sees who proposes $what and why, every row of it, and approves exactly that', async (story) => {
  const before = await goods()
  const { data: proposed } = await agent.call(story.tool, story.request)
  expect(proposed).toMatchObject({ status: 'planned', refusal: null })
  const submitted = await agent.call('submit', {
    change: proposed.upload,
    digest: proposed.digest,
    title: 'Goods of the spring',
    explanation: 'The supplier **raised** a price and has something new.',
  })
  const page = await real.signIn('reviewer')
  await page.goto(submitted.data.url)
  await page.getByRole('heading', { name: /^Goods of the spring/ }).waitFor()
  expect(await page.locator('.change-why strong').innerText()).toBe('raised')
  const head = await seen(page.locator('.change-head'))
  expect(head).toMatch(story.by)
  // The name of its token, not the id of one.
  expect(await seen(page.locator('main'))).not.toMatch(/token:|[0-9a-f]{8}-[0-9a-f]{4}-/)
  if ('statement' in story.request)
    expect(await seen(page.locator('.statement-text'))).toBe(story.request.statement)

  // It opens on everything that would change, not on a part of it.
  await page.getByRole('tab', { name: 'Plan' }).click()
  expect(await seen(page.getByLabel('Action').locator('option:checked'))).toBe('everything that changes (2)')
  await expect.poll(() => page.locator('.grid-row').count()).toBe(2)
  expect([await seen(page.locator('.grid-row del')), await seen(page.locator('.grid-row ins'))]).toEqual(
    story.changed,
  )
  expect(await seen(page.locator('.grid-row').filter({ hasNot: page.locator('del') }))).toMatch(story.added)
  expect(await goods()).toEqual(before)

  for (const item of await page.locator('.decision').getByRole('checkbox').all()) await item.check()
  await page.getByRole('button', { name: 'Approve and promote' }).click()
  await expect.poll(() => seen(page.locator('h1 .chip'))).toBe('promoted')
  expect((await goods()).map((row: object) => Object.values(row).join(' '))).toEqual(story.after)
  const status = await agent.call('get_status', { id: proposed.upload })
  expect(status.data).toMatchObject({ status: 'promoted', digest: proposed.digest })
})

it('a statement that deletes says how many rows', async () => {
  const { data } = await agent.call('propose_change', {
    key: 'no more lamps',
    statement: 'delete from goods where id = 4',
  })
  const page = await real.signIn('reviewer')
  await page.goto(`${real.url}/uploads/${data.upload}?tab=plan`)
  await page.locator('.sums .is-delete').waitFor()
  // A fact that is as usual has no mark beside it: it is read from the left, over the whole card.
  const fact = page.locator('.risk-facts li').first()
  await fact.waitFor()
  const beside = await fact.evaluate((line) => {
    line.querySelector('.chip')?.remove()
    return line.getBoundingClientRect().width - line.firstElementChild!.getBoundingClientRect().width
  })
  expect(beside).toBeLessThan(12)
  expect(await seen(page.locator('.sums .is-delete'))).toMatch(/^1\b/)
})

it('the list of uploads says that an agent brought them', async () => {
  const page = await real.signIn('reviewer')
  await page.goto(`${real.url}/uploads`)
  await page.locator('tbody tr', { hasText: 'claude (agent)' }).first().waitFor()
  // On a phone the list of changes leaves the titles more than the width of a word.
  await page.setViewportSize({ width: 390, height: 900 })
  await page.goto(`${real.url}/changes`)
  const status = '.list-table tbody tr td.is-nowrap:has(.chip)'
  await page.locator(status).first().waitFor()
  expect(
    await page.evaluate<string>(`getComputedStyle(document.querySelector('${status}')).whiteSpace`),
  ).toBe('normal')
})
