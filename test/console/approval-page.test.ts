/** A request for approval in the console: what is shown, the form, and the decision for which a program waits. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { until } from '../support/until.ts'
import { useRealConsole } from './real-console.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const real = useRealConsole('approval-page')
const cli = (...argv: string[]) => runCli(argv, { STAGEDOOR_HOME: real.home })

interface Asked {
  approval_id: string
  change: number
}

it('a reviewer reads what is shown, fills in the form and approves; the program learns all of it', async () => {
  const form = real.file(
    'form.json',
    JSON.stringify([
      { name: 'amount', type: 'number', required: true, max: 120, label: 'Amount to refund' },
      { name: 'why', type: 'choice', choices: ['guarantee', 'goodwill'], required: true },
      { name: 'letter', type: 'boolean', label: 'Send a letter' },
    ]),
  )
  const asked = await cli(
    ...[
      'approval',
      'request',
      '--key',
      'console',
      '--title',
      'Refund of order 1871',
      '--as',
      'operator',
      '--json',
    ],
    ...['--show', '**120.00** to Ann <script>window.attacked = true</script>', '--form', form],
  )
  expect(asked.stderr).toBe('')
  const { approval_id: id, change } = JSON.parse(asked.stdout) as Asked
  const waiting = cli('approval', 'wait', id, '--json')

  const page = await real.signIn('reviewer', { viewport: { width: 1280, height: 900 } })
  await page.goto(`${real.url}/changes/${change}`)
  await page.getByRole('heading', { name: 'Refund of order 1871', exact: true }).waitFor()
  expect(await page.locator('.approval-shown strong').innerText()).toBe('120.00')
  expect(await page.evaluate(() => 'attacked' in globalThis)).toBe(false)
  const approve = page.getByRole('button', { name: 'Approve', exact: true })
  expect(await approve.isDisabled()).toBe(true)
  await page.evaluate(AXE)
  const violations = await page.evaluate<{ id: string }[]>(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, html: nodes[0].html })))',
  )
  expect(violations).toEqual([])
  await page.getByLabel('Amount to refund (required, at most 120)').fill('150')
  await page.getByRole('combobox', { name: /^why/ }).selectOption('goodwill')
  // What is outside of the limits is said beside the field, before anything is sent.
  await page.getByText('must be at most 120').waitFor()
  await page.getByText('Correct: Amount to refund').waitFor()
  expect(await approve.isDisabled()).toBe(true)
  await page.getByLabel('Amount to refund').fill('80')
  await expect.poll(() => page.getByText('must be at most 120').count()).toBe(0)
  await page.getByLabel('Send a letter').check()
  await approve.click()
  await page.getByText('Approved by you', { exact: true }).waitFor()

  const waited = await waiting
  expect(waited.code).toBe(0)
  expect(JSON.parse(waited.stdout)).toMatchObject({
    status: 'approved',
    answers: { amount: 80, why: 'goodwill', letter: true },
    decisions: [{ verdict: 'approve' }],
  })
  await cli('approval', 'use', id)
  await cli('approval', 'finish', id)
  await page.reload()
  await page.getByText('done by').waitFor()
})

it('what a program shows as JSON stands open, so that no value is approved unseen', async () => {
  const shown = real.file(
    'refund.json',
    JSON.stringify({ arguments: { order: 7, lines: [{ amount: '19.99' }] } }),
  )
  const asked = await cli(
    ...['approval', 'request', '--key', 'json', '--title', 'Refund of order 7', '--as', 'operator', '--json'],
    ...['--show', `@${shown}`],
  )
  expect(asked.stderr).toBe('')
  const page = await real.signIn('reviewer')
  await page.goto(`${real.url}/changes/${(JSON.parse(asked.stdout) as Asked).change}`)
  await page.getByRole('region', { name: 'What is shown' }).getByText('19.99').waitFor()
})

const api = async <T>(role: 'operator' | 'reviewer', path: string, body?: object): Promise<T> => {
  const answer = await fetch(`${real.url}/api/v1/approvals${path}`, {
    headers: { authorization: `Bearer ${real.token(role)}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  expect(answer.ok, await answer.clone().text()).toBe(true)
  return (await answer.json()) as T
}
interface Request extends Asked {
  digest: string
  expires_at: string
  status: string
}

it('says by when to decide with the time of day, and that an approval was not used in time', async () => {
  const refund = (key: string, timeout: string) =>
    api<Request>('operator', '', { key, title: 'Refund', show: '**1.00** to Ann', timeout })
  const { approval_id, change, expires_at } = await refund('decide by', '2d')
  const time = `${expires_at.slice(0, 16).replace('T', ' ')} UTC`
  expect((await cli('approval', 'show', approval_id, '--as', 'reviewer')).stdout).toContain(
    `decide by ${time}`,
  )
  const page = await real.signIn('reviewer', { timezoneId: 'UTC' })
  await page.goto(`${real.url}/changes/${change}`)
  const decideBy = page.locator('.decision-facts div', { hasText: 'Decide by' }).locator('dd')
  const shown = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  const words = (text: string) => text.replace(/\s/g, ' ')
  expect(words(await decideBy.innerText())).toBe(words(shown.format(new Date(expires_at))))

  const unused = await refund('not used', '4s')
  await api('reviewer', `/${unused.approval_id}/approve`, { digest: unused.digest })
  const silent = await refund('silent', '1s')
  await until('both have expired', async () => {
    const both = await Promise.all(
      [unused, silent].map((one) => api<Request>('operator', `/${one.approval_id}`)),
    )
    return both.every(({ status }) => status === 'expired')
  })
  const told = (await cli('approval', 'show', unused.approval_id, '--as', 'operator')).stdout
  expect(told).toMatch(/It was approved by .*Reviewer.* and not used in time: it expired/i)
  await page.goto(`${real.url}/changes/${unused.change}`)
  await page.getByText(/^Approved, and not used in time: it expired/).waitFor()
  await page.goto(`${real.url}/changes/${silent.change}`)
  await page.getByText(/^Nobody decided in time: it expired/).waitFor()
})

it('what a program of the server asks is not said to come from a person', async () => {
  const asked = await cli(
    ...['approval', 'request', '--key', 'program', '--title', 'Of a program', '--show', 'x', '--json'],
  )
  const { change } = JSON.parse(asked.stdout) as Asked
  const page = await real.signIn('reviewer')
  await page.goto(`${real.url}/changes/${change}`)
  await page.getByText('request for approval from a program · staged by the server').waitFor()
})
