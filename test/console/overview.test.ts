import { existsSync } from 'node:fs'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { launchBrowser } from './browser.ts'
import {
  EXPIRED_TOKEN,
  event,
  type FixtureServer,
  GOOD_TOKEN,
  initialState,
  record,
  room,
  startFixtureServer,
  upload,
} from './fixture-server.ts'

let server: FixtureServer
let browser: Browser
let page: Page
/** What the browser complained of: exceptions, refused resources, React's warnings. */
let complaints: string[]
/** How many requests have no answer yet. */
let underWay: number

beforeAll(async () => {
  server = await startFixtureServer()
  browser = await launchBrowser()
})

afterAll(async () => {
  await browser?.close()
  await server?.stop()
})

beforeEach(() => {
  server.state = initialState()
})

afterEach(async () => {
  await page.context().close()
})

describe('the console', () => {
  test('a sign-in link signs in, its code leaves the address, and no script can read the session', async () => {
    await openSignedIn()
    expect(page.url()).toBe(`${server.url}/`)
    await page.getByText('operator@localhost').waitFor()
    expect(
      await page.evaluate('document.cookie + JSON.stringify({ ...sessionStorage, ...localStorage })'),
    ).toBe('{}')
    expect(complaints).toEqual([])
  })

  test('the session outlives a reload, is there in every tab, and ends with signing out in all of them', async () => {
    await openSignedIn()
    await page.reload()
    await heading('How data flows').waitFor()
    const second = await page.context().newPage()
    await second.goto(server.url)
    await second.getByRole('heading', { name: 'How data flows' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await heading('Sign in').waitFor()
    await second.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    await page.reload()
    await heading('Sign in').waitFor()
  })

  test('the picture shows every room in the order of the data: what waits, what runs, its rate, the oldest and its trouble', async () => {
    const day = (count: number) => ({ count, window_s: 86_400, series: [0, 1, count] })
    putRooms(
      room('changes', {
        count: 4,
        waiting: 3,
        rate: day(7),
        oldest: { id: '12', name: 'week 45', at: new Date(Date.now() - 38 * 60_000).toISOString() },
        trouble: [{ what: 'changes_requested', count: 1, words: 'change to rework' }],
      }),
      room('jobs', {
        count: 2000,
        waiting: 1999,
        running: 1,
        more: true,
        rate: { count: 1234567, window_s: 3600, series: [1, 3] },
        trouble: [{ what: 'dead_letters', count: 4, words: 'dead letters' }],
      }),
      room('executions', {
        count: 2,
        running: 2,
        trouble: [{ what: 'failed_executions', count: 1, words: 'failed execution' }],
      }),
      room('search', {
        count: 12,
        waiting: 12,
        trouble: [{ what: 'late_texts', count: 2, words: 'texts wait too long' }],
      }),
    )
    server.state.openIssues = 2
    await openSignedIn({ viewport: { width: 1440, height: 900 } })
    const picture = page.getByRole('list', { name: 'Stages and gates in the order in which data passes' })
    expect(await picture.getByRole('heading').allInnerTexts()).toEqual([
      ...['Held', 'Changes', 'Uploads', 'Records'],
      ...['Production', 'Promotions', 'Units'],
      ...['Signals', 'Events', 'Consumers', 'Jobs'],
      ...['Work', 'Executions', 'Playbooks'],
      ...['Projections', 'Search'],
    ])
    await expectText(
      roomOf('Changes'),
      /3 await review\s*7 opened in 24 h\s*oldest 38 min ago\s*week 45\s*1 change to rework/,
    )
    await expectText(roomOf('Jobs'), /1,999\+ due\s*1\+ running\s*1,234,567 ended in 1 h\s*4 dead letters/)
    await expectText(roomOf('Executions'), /0 paused\s*2 running[\s\S]*1 failed execution/)
    await expectText(roomOf('Search'), /12 to be indexed[\s\S]*2 texts wait too long/)
    // Every figure leads to the list that it counts.
    const hrefs = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.room a')].map((link) => link.getAttribute('href'))`,
    )
    for (const href of [
      '/changes?show=waiting',
      '/changes/12',
      '/changes?status=changes_requested',
      '/jobs?status=waiting',
      '/jobs?status=running',
      '/dead-letters',
      '/executions?status=FAILED&time=day',
    ])
      expect(hrefs).toContain(href)
    // What failed needs somebody, with what to do about it; a change to rework is its author's.
    await expectText(
      '#needs',
      /2 open issues[\s\S]*4 dead letters\s*Fix the cause, then replay them\.[\s\S]*1 failed execution/,
    )
    expect(await page.locator('.stage-head').allInnerTexts()).toEqual([
      expect.stringMatching(/Held\s+3 waiting/),
      expect.stringMatching(/Production\s+in order/),
      expect.stringMatching(/Signals\s+1 problem/),
      expect.stringMatching(/Work\s+1 problem/),
      expect.stringMatching(/Projections\s+12 waiting/),
    ])
  })

  test('a room with nothing in it says how it is filled, and one that may not be seen says so', async () => {
    for (const gate of server.state.gates) gate.open = true
    server.state.rooms = server.state.rooms.filter((one) => one.room !== 'jobs')
    await openSignedIn()
    await expectText(roomOf('Changes'), /A second person reviews it/)
    await expectText(roomOf('Playbooks'), /Register one/)
    await expectText(roomOf('Jobs'), /Your role does not see this room/)
    await expectText('#needs', /Nothing else is open\./)
  })

  test('the review list says how much is lost of how much, and nothing of lines that sum up others', async () => {
    const total = {
      measure: 'spend',
      title: 'Spend',
      column: 'spend',
      unread: 0,
      reasons: {},
      valid: '3389.19',
    }
    const nothing = { left_out: '0', refused: '0' }
    server.state.uploads = [
      upload(2, 'totals.csv', {
        control: [{ ...total, ...nothing, currency: 'EUR', read: '3389.19', totals_lines: '3389.19' }],
      }),
      upload(1, 'lost.csv', {
        control: [
          { ...total, ...nothing, currency: 'EUR', read: '5678', left_out: '1234', totals_lines: '0' },
          { ...total, currency: 'USD', read: '5678', left_out: '1234', refused: '25.5', totals_lines: '0' },
        ],
      }),
    ]
    await openSignedIn()
    await page
      .getByRole('navigation')
      .getByRole('link', { name: /^Changes/ })
      .click()
    await expectText(
      'main',
      /lost\.csv[\s\S]*10 changed, Spend EUR: skipped 1,234 of 5,678, Spend USD: skipped 1,234 and invalid 25\.50 of 5,678/,
    )
    expect((await seen('main')).match(/skipped 1,234/g)).toHaveLength(2)
  })

  test('without a dataset the page says how to make one', async () => {
    server.state.datasets = []
    await openSignedIn()
    await page.getByRole('navigation').getByRole('link', { name: 'Uploads' }).click()
    await expectText('section[aria-label="Upload a file"]', /No dataset yet[\s\S]*stagedoor -- init/)
  })

  test('the command that an empty list of uploads suggests names a file that is there', async () => {
    await openSignedIn()
    await page.getByRole('navigation').getByRole('link', { name: 'Uploads' }).click()
    await expectText('.is-teaching', /stagedoor -- ingest/)
    const [, file] = /ingest (\S+)/.exec(await seen('.is-teaching'))!
    expect(existsSync(file!), file).toBe(true)
  })

  test('on a phone what is said of an upload stands one after another, with what it is', async () => {
    server.state.uploads = [
      upload(2, 'meta-week-45.csv', { warning_count: 0, byte_len: '2300', dataset: 'ads', platform: 'meta' }),
      upload(1, 'with-problems.csv', {
        warning_count: 2,
        invalid_count: 3,
        byte_len: '2300',
        dataset: 'ads',
        platform: 'meta',
        line_count: 12_345,
      }),
    ]
    await openSignedIn({ viewport: { width: 390, height: 844 } })
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('navigation').getByRole('link', { name: 'Uploads' }).click()
    await expectText(
      '.upload-table',
      /50 lines\s*problems: none[\s\S]*12,345 lines\s*problems: 3 invalid\s*2 warnings/,
    )
    for (const row of await page.locator('.upload-table tbody tr').all()) {
      const boxes = await Promise.all((await row.locator('td').all()).map((cell) => cell.boundingBox()))
      // The state beside the name.
      expect(boxes[1]!.y).toBeLessThan(boxes[0]!.y + boxes[0]!.height)
      expect(boxes[1]!.x).toBeGreaterThan(boxes[0]!.x)
      const rest = boxes.slice(2).filter((box) => box !== null)
      expect(rest[0]!.x).toBe(boxes[0]!.x)
      for (const [index, box] of rest.entries()) {
        const before = rest[index - 1]
        if (before === undefined) continue
        const follows = box.y < before.y + before.height && box.x - before.x - before.width <= 12.5
        expect(follows || box.x === rest[0]!.x, `cell ${index + 3}`).toBe(true)
      }
    }
  })

  test('records of every kind that need a person are counted and listed, not only review packages', async () => {
    server.state.records = [
      record(3, 'Marking of the handbook'),
      record(2, 'Preview of a cut', { staging_kind: 'cut_preview', payload_type: 'import_preview' }),
      record(1, 'Commentary on week 45', {
        staging_kind: 'review_package',
        payload_type: 'review_bundle',
        checklist_required: true,
      }),
    ]
    await openSignedIn()
    await expectText(
      '#needs',
      /review\s*Marking of the handbook\s*marking of a document from an agent, 2 parts/,
    )
    await page
      .getByRole('navigation')
      .getByRole('link', { name: /^Changes\W+3$/ })
      .click()
    for (const purpose of ['Marking of the handbook', 'Preview of a cut', 'Commentary on week 45'])
      await page.getByRole('link', { name: purpose }).waitFor()
    await expectText('#waiting-records', /3 records/)
  })

  test('a viewer is told that they only look, and gets no form; a closed gate is said before sending', async () => {
    server.state.rights = ['read']
    await openSignedIn()
    await page.getByRole('navigation').getByRole('link', { name: 'Uploads' }).click()
    await page.getByText('You can view uploads, but not create them.').waitFor()
    await expectText('main', /You are viewer in Acme Media\. Uploading needs the role operator/)
    expect(await page.getByRole('button', { name: 'Choose a file…' }).count()).toBe(0)

    server.state.rights = ['read', 'stage']
    for (const gate of server.state.gates) gate.open = false
    await page.reload()
    await page.getByText('Uploads are paused: their gate is closed.').waitFor()
    await page.getByLabel('The file to upload').setInputFiles({
      name: 'a.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('a,b\n1,2\n'),
    })
    expect(await page.getByRole('button', { name: 'Upload', exact: true }).isEnabled()).toBe(false)
  })

  test('the name of every link and button has the words that stand on it', async () => {
    await openSignedIn()
    const named = await page.evaluate<{ name: string; text: string }[]>(
      `[...document.querySelectorAll('a[aria-label], button[aria-label]')].map((control) => ({
         name: control.getAttribute('aria-label'), text: control.innerText.replace(/\\s+/g, ' ').trim() }))`,
    )
    for (const { name, text } of named) expect(name).toContain(text)
  })

  test('what waits for a person is listed, and the rail counts it', async () => {
    server.state.uploads = [
      upload(4, 'promoted.csv', {
        status: 'promoted',
        review_status: null,
        promotion_totals: {
          campaign: { insert: 2 },
          daily_metric: { insert: 1000, update: 500, unchanged: 9 },
        },
        promoted_at: new Date(Date.now() - 12 * 60_000).toISOString(),
        undo_until: new Date(Date.now() + 86_400_000).toISOString(),
      }),
      upload(3, 'wrong.csv', {
        invalid_count: 3,
        plan_refusal: '3 of 50 lines are wrong',
        review_status: null,
      }),
      upload(2, 'waits.csv', { title: 'Week 45' }),
      upload(1, 'being-read.csv', { status: 'reading', review_status: null, plan_totals: null }),
    ]
    await openSignedIn()
    await expectText(
      '#needs',
      /repair\s*wrong\.csv\s*3 invalid lines.*review\s*Week 45\s*waits\.csv · 40 new, 10 changed/s,
    )
    const rail = page.getByRole('navigation')
    await rail.getByRole('link', { name: /^Uploads\W+3$/ }).waitFor()
    await rail.getByRole('link', { name: /^Changes\W+1$/ }).waitFor()
  })

  test('a dry run is nobody’s work, and one’s own upload waits for others', async () => {
    server.state.uploads = [
      upload(3, 'dry.csv', { run_mode: 'FULL_DRY_RUN', invalid_count: 7, review_status: null }),
      upload(2, 'mine.csv', { uploaded_by: 'operator@localhost' }),
      upload(1, 'theirs.csv', { invalid_count: 1 }),
    ]
    await openSignedIn()
    await page
      .getByRole('navigation')
      .getByRole('link', { name: /^Uploads\W+2$/ })
      .waitFor()
    await expectText('#needs', /theirs\.csv[\s\S]*1 change of yours waits for another person/)
    expect(await seen('#needs')).not.toMatch(/mine\.csv|dry\.csv/)
  })

  test('an outdated plan asks to plan again, its author too, in one line', async () => {
    server.state.uploads = [
      upload(1, 'mine.csv', { uploaded_by: 'operator@localhost', outdated: 'outdated' }),
    ]
    const promotions = server.state.rooms.find(({ room }) => room === 'promotions')!
    promotions.trouble = [{ what: 'stale_plans', count: 1, words: 'outdated plan' }]
    await openSignedIn()
    await expectText('#needs', /plan again\s*mine\.csv\s*Production changed since the plan\./)
    expect(await seen('#needs')).not.toMatch(/1 outdated plan|waits for another person/)
  })

  test('a file whose own totals disagree with its lines is not without problems', async () => {
    server.state.uploads = [upload(1, 'week.csv', { own_totals: { disagree: 1 } })]
    await openSignedIn()
    await page.getByRole('navigation').getByRole('link', { name: 'Uploads' }).click()
    await expectText('.upload-table', /week\.csv[\s\S]*totals disagree/)
  })

  test('what waits for approval is found behind any number of newer uploads', async () => {
    const staged = { status: 'staged', review_status: null, plan_totals: null }
    server.state.uploads = [
      ...Array.from({ length: 60 }, (_, id) => upload(200 - id, `newer-${id}.csv`, staged)),
      upload(1, 'waits.csv'),
    ]
    await openSignedIn()
    await page
      .getByRole('navigation')
      .getByRole('link', { name: /^Changes\W+1$/ })
      .click()
    await page.getByRole('link', { name: 'waits.csv' }).waitFor()

    server.state.uploads = Array.from({ length: 51 }, (_, id) => upload(200 - id, `waits-${id}.csv`))
    await page.getByText('50 uploads or more').waitFor()
  })

  test('people and files are called by their names', async () => {
    const ada = '0199a7c2-5a1e-7c3b-9f60-3b1d8a44e0f2'
    server.state.people = { [ada]: 'Ada' }
    server.state.uploads = [upload(7, 'week-45.csv', { uploaded_by: ada })]
    const subject = server.state.uploads[0]!.upload_id
    server.state.events = [{ ...event(1, 'staging.ingestion_staged', subject, 5), actor: ada }]
    await openSignedIn({ viewport: { width: 1280, height: 800 } })
    await expectText('#events tbody tr', /week-45\.csv[\s\S]*Ada/)
    await expectText('#needs', /Ada/)
    await page.locator('#events').getByRole('link', { name: 'week-45.csv' }).waitFor()
  })

  test.each([1200, 1280, 1440, 1700])('%i pixels wide: no figure runs out of its stage', async (width) => {
    const oldest = { id: '1', name: 'a-very-long-name-of-a-file_'.repeat(5), at: new Date().toISOString() }
    putRooms(
      room('uploads', {
        waiting: 9999,
        more: true,
        oldest,
        trouble: [{ what: 'invalid_uploads', count: 1234, words: 'uploads to repair' }],
      }),
    )
    await openSignedIn({ viewport: { width, height: 800 } })
    await expectText(roomOf('Uploads'), /9,999\+ not promoted[\s\S]*1,234 uploads to repair/)
    const wide = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.stage')].filter((stage) => stage.scrollWidth > stage.clientWidth).map((stage) => stage.innerText)`,
    )
    expect(wide).toEqual([])
  })

  test('long ids are shortened and digests left out, so that the events keep their lines', async () => {
    server.state.events = [
      {
        ...event(1, 'staging.record_created', '0199a7c2-5a1e-7c3b-9f60-3b1d8a44e0f1', 5, {
          digest: 'a'.repeat(64),
          run_id: '0199a7c2-5a1e-7c3b-9f60-3b1d8a44e0f3',
          part_count: 3,
        }),
        actor: '0199a7c2-5a1e-7c3b-9f60-3b1d8a44e0f2',
      },
    ]
    await openSignedIn({ viewport: { width: 1200, height: 800 } })
    await expectText('#events tbody tr', /…44e0f1.*part count 3.*…44e0f2/s)
    expect(await seen('#events tbody tr')).not.toMatch(/aaaa|44e0f3/)
    const row = await page.locator('#events tbody tr').boundingBox()
    expect(row?.height).toBeLessThan(70)
  })

  test('every gate shows its name and its state, and follows a change', async () => {
    await openSignedIn()
    const gate = (name: string) => page.getByRole('link', { name })
    await gate('Gate: Uploads and staging open').waitFor()
    await gate('Gate: Events start jobs closed').waitFor()
    await gate('Gate: Search indexing open').waitFor()
    await expectText('#needs', /gate closed/)

    for (const row of server.state.gates) row.open = !row.open
    await nextBeat()
    await gate('Gate: Uploads and staging closed').waitFor()
    await gate('Gate: Events start jobs open').waitFor()
  })

  test('the bar at the top says whether the server is ready', async () => {
    await openSignedIn()
    await expectText('header.top', /ready/)
    server.state.checks[2] = { name: 'workers', ok: false, detail: 'no worker has reported for 3 min' }
    await nextBeat()
    await expectText('header.top', /not ready: 1 check failing/)
  })

  test('events stand newest first with when, what and who; none at all is explained', async () => {
    await openSignedIn()
    const rows = page.getByRole('table').getByRole('row')
    await expectText(
      '#events tbody tr:first-child',
      /2 min ago\s*Gate changed\s*Uploads and staging.*open true\s*operator/s,
    )
    expect(await rows.count()).toBe(4)

    server.state.events = []
    await nextBeat()
    await expectText('#events', /There are no events yet.*events of Acme Media/s)
  })

  test('a server that goes away is told without moving the page, and one that comes back is found', async () => {
    await openSignedIn()
    const before = await page.locator('.flow').boundingBox()
    await server.stop()
    try {
      await nextBeat()
      await expectText('.page-head', /The server does not answer\. This page is from/)
      await expectText('header.top', /connection lost/)
      expect(await page.locator('.flow').boundingBox()).toEqual(before)
    } finally {
      await server.start()
    }
    await page.getByRole('button', { name: 'Retry now' }).click()
    await expectText('.page-head', /Updates every 5 s/)
    expect(complaints.filter((complaint) => !complaint.includes('ERR_CONNECTION_REFUSED'))).toEqual([])
  })

  test('a tab that nobody sees asks for nothing, and asks at once when it is seen again', async () => {
    await openSignedIn()
    await setHidden(true)
    // What was asked before may still be on its way.
    await expect.poll(() => underWay).toBe(0)
    server.asked.length = 0
    await page.clock.runFor(60_000)
    expect(server.asked).toEqual([])
    const asked = page.waitForResponse('**/api/ready')
    await setHidden(false)
    await asked
  })

  test('what is not a token is refused on the page, and a whole link may be pasted', async () => {
    await open()
    await signInWith('hello')
    await expectText('[role=alert]', /That is not a token/)
    expect(server.asked.filter((path) => path === '/api/v1/sign-in')).toEqual([])

    await signInWith(EXPIRED_TOKEN)
    await expectText('[role=alert]', /The token is not valid: it expired\. Get a new one/)

    await signInWith(`http://localhost:4680/#token=${GOOD_TOKEN}`)
    await heading('How data flows').waitFor()
  })

  test('the link that start prints may be pasted, and one that was used is refused with the reason', async () => {
    server.state.codes = 1
    await open()
    await signInWith('http://localhost:4680/#code=good-for-one_time')
    await heading('How data flows').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signInWith('http://localhost:4680/#code=good-for-one_time')
    await expectText('[role=alert]', /the sign-in link was used already/)
  })

  test('an expired sign-in link says so and teaches how to get a token', async () => {
    server.state.codes = 0
    await open('/#code=used')
    await expectText('[role=alert]', /the sign-in link was used already/)
    await expectText('main', /npm run -s stagedoor -- token --as operator/)
    expect(page.url()).not.toContain('used')
  })

  test('a token in the address signs nobody in', async () => {
    await open(`/#token=${GOOD_TOKEN}`)
    await heading('Sign in').waitFor()
    expect(page.url()).not.toContain('token')
  })

  test('a link does not act on the session of somebody who is signed in, unless they say so', async () => {
    await openSignedIn()
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.message())
      void dialog.dismiss()
    })
    server.asked.length = 0
    await page.evaluate(`location.hash = '#code=another'`)
    await page.waitForFunction(`location.hash === ''`)
    expect(asked).toEqual([expect.stringContaining('You are already signed in')])
    expect(server.asked).not.toContain('/api/v1/sign-in')
  })

  test('a session that ends while one looks leads back to the sign-in page with the reason', async () => {
    await openSignedIn()
    server.state.takesTokens = false
    await nextBeat()
    await heading('Sign in').waitFor()
    await expectText('[role=alert]', /You are not signed in any more/)
  })

  test('a server that does not answer at sign-in keeps the session and is asked again', async () => {
    await openSignedIn()
    await page.route('**/api/v1/me', (route) => route.abort())
    await page.reload()
    await expectText('main', /The server does not answer.*You stay signed in/s)
    await page.unroute('**/api/v1/me')
    await nextBeat()
    await heading('How data flows').waitFor()
  })

  test('an address that is no page says so', async () => {
    await openSignedIn()
    for (const path of ['/nowhere', '/events/nowhere', '/jobs/1']) {
      await page.goto(`${server.url}${path}`)
      await heading('Page not found').waitFor()
      await expectText('main', `${path} is not a page of this console`)
    }
  })
})

describe('the console for everyone', () => {
  test('landmarks, one first heading, no level left out, everything named, a way past the rail', async () => {
    await openSignedIn()
    for (const landmark of ['navigation', 'banner', 'main'] as const) {
      expect(await page.getByRole(landmark).count(), landmark).toBe(1)
    }
    const levels = await page.evaluate<number[]>(
      `[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((heading) => Number(heading.tagName[1]))`,
    )
    expect(levels[0]).toBe(1)
    expect(levels.filter((level) => level === 1)).toHaveLength(1)
    for (const [index, level] of levels.entries()) {
      expect(level - (levels[index - 1] ?? 0), `heading ${index}`).toBeLessThanOrEqual(1)
    }
    for (const control of await page.locator('a:visible, button:visible, input:visible').all()) {
      expect(await control.ariaSnapshot(), await control.evaluate('(node) => node.outerHTML')).toMatch(/"\S/)
    }
    await page.keyboard.press('Tab')
    expect(await seen(':focus')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('document.activeElement.id')).toBe('main')
  })

  test('nothing moves when the answers come', async () => {
    let answer = () => {}
    for (const gate of server.state.gates) gate.open = true
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    await open('/')
    await page.route(/\/api\/(ready|v1\/(overview|events))/, async (route) => {
      await answered
      await route.continue()
    })
    await signInWith(GOOD_TOKEN)
    await expectText('.flow', /loading…/)
    await expectText('#needs', /Nothing else is open/)
    const before = await placeOf('.flow')
    answer()
    await expectText('#events', /Gate changed/)
    await expectText('.flow', /in order/)
    expect(await placeOf('.flow')).toEqual(before)
  })

  test.each(['light', 'dark'] as const)(
    '%s: words can be read on every ground they stand on',
    async (scheme) => {
      await openSignedIn({ colorScheme: scheme })
      const dark = await page.evaluate<boolean>(`matchMedia('(prefers-color-scheme: dark)').matches`)
      expect(dark).toBe(scheme === 'dark')
      const luminance = relativeLuminance(await token('--paper'))
      expect(luminance < 0.5).toBe(scheme === 'dark')
      const pairs = [
        ...['--ink', '--ink-2', '--ink-3'].flatMap((ink) =>
          ['--paper', '--panel', '--sunken'].map((ground) => [ink, ground] as const),
        ),
        ...['held', 'ok', 'bad', 'work', 'stale'].map((tone) => [`--${tone}`, `--${tone}-soft`] as const),
        ...['--held', '--ok', '--bad', '--stale'].map((tone) => [tone, '--paper'] as const),
        ['--accent-ink', '--accent'] as const,
      ]
      for (const [ink, ground] of pairs) {
        expect(contrast(await token(ink), await token(ground)), `${ink} on ${ground}`).toBeGreaterThanOrEqual(
          4.5,
        )
      }
      expect(complaints).toEqual([])
    },
  )

  test.each([1280, 1000, 390, 320])('%i pixels wide: nothing stands outside of the window', async (width) => {
    await openSignedIn({ viewport: { width, height: 800 } })
    await expectText('#events', /Gate changed/)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await heading('Sign in').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
  })

  test('in a narrow window the rail is a menu', async () => {
    await openSignedIn({ viewport: { width: 390, height: 844 } })
    const health = page.getByRole('navigation').getByRole('link', { name: 'Health' })
    expect(await health.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Menu' }).click()
    await health.click()
    await expect.poll(() => health.isVisible()).toBe(false)
    await expect.poll(() => page.url()).toBe(`${server.url}/health`)
  })
})

async function open(path = '/', options: BrowserContextOptions = {}): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  page = await context.newPage()
  complaints = []
  server.asked.length = 0
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  underWay = 0
  page.on('request', () => underWay++)
  page.on('requestfinished', () => underWay--)
  page.on('requestfailed', () => underWay--)
  await page.clock.install()
  await page.goto(server.url + path)
}

async function openSignedIn(options: BrowserContextOptions = {}): Promise<void> {
  server.state.codes = 1
  await open('/#code=good', options)
  await page.getByRole('link', { name: 'Gate: Uploads and staging open' }).waitFor()
  await page.locator('header.top .chip.is-ok').waitFor()
  await page.locator('#events table').waitFor()
}

/** In the place of the rooms of these names. */
function putRooms(...rooms: ReturnType<typeof room>[]): void {
  server.state.rooms = server.state.rooms.map(
    (before) => rooms.find((after) => after.room === before.room) ?? before,
  )
}

/** The section of the picture. */
function roomOf(name: string): string {
  return `.room[aria-label="${name}"]`
}

/** The console reads every 5 s; the page's clock is moved on instead of waiting. */
function nextBeat(): Promise<void> {
  return page.clock.runFor(5_100)
}

async function placeOf(selector: string) {
  const box = await page.locator(selector).boundingBox()
  return { selector, x: Math.round(box?.x ?? -1), y: Math.round(box?.y ?? -1) }
}

async function signInWith(text: string): Promise<void> {
  await page.getByLabel('Your token').fill(text)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

async function setHidden(hidden: boolean): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
     document.dispatchEvent(new Event('visibilitychange'))`,
  )
}

function heading(name: string) {
  return page.getByRole('heading', { level: 1, name, exact: true })
}

function seen(selector: string): Promise<string> {
  // innerText: what a person sees, not what is in the tree
  return page.locator(selector).innerText()
}

async function expectText(selector: string, text: string | RegExp): Promise<void> {
  await expect.poll(() => seen(selector)).toMatch(text)
}

function token(name: string): Promise<string> {
  return page.evaluate<string>(
    `getComputedStyle(document.documentElement).getPropertyValue('${name}').trim()`,
  )
}

/** The two formulas of WCAG 2. */
function contrast(a: string, b: string): number {
  const [dark, light] = [relativeLuminance(a), relativeLuminance(b)].sort((x, y) => x - y) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

function relativeLuminance(colour: string): number {
  const hex = colour.length === 4 ? colour.replace(/[^#]/g, '$&$&') : colour
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
