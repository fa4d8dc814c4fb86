/**
 * `npm run docs:pictures [-- NAME…]`: the pictures of the documentation, or those that are named. Starts the product on an embedded server
 * in a temporary home, with what `npm start` loads, lets two people act, and writes screenshots of the console to docs/images.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { run } from './child.mjs'
import { command, EXIT_BAD_INPUT, EXIT_ENVIRONMENT, notice, SetupError, step } from './notice.mjs'
import { ensureBuilt, ensureInstalled, ROOT } from './setup.mjs'
import { smallPng } from './small-png.mjs'
import { preparePrograms } from './system-programs.mjs'

const MAIN = join(ROOT, 'dist/cli/main.js')
const MAX_BYTES = 150_000
const WIDE = { width: 1280, height: 800 }
const NARROW = { width: 390, height: 844 }
const START_MS = 180_000

/** In the order of the story: each is taken after `before` has been done. `ready` is a text that the page shows when it is complete. */
const PICTURES = [
  {
    name: 'upload',
    who: 'operator',
    before: ({ cli }) =>
      // It ends with 5: three lines are wrong.
      cli('ingest examples/ads/meta-week-45.csv --dataset ads --platform meta --as operator', 5),
    path: ({ upload }) => `/uploads/${upload}`,
    ready: 'There is no such day.',
  },
  {
    name: 'upload-narrow',
    who: 'operator',
    size: NARROW,
    path: ({ upload }) => `/uploads/${upload}`,
    ready: 'There is no such day.',
  },
  {
    name: 'diff',
    who: 'reviewer',
    before: async ({ cli }) => {
      await cli('upload repair last --file examples/ads/corrections.csv --as operator')
      await cli('upload submit last --as operator')
      const { plan_digest: digest } = await cli('upload show last --json')
      await cli(`upload approve last --as reviewer --digest ${digest} --tick changes`)
      await cli('upload promote last --as operator')
      await cli(
        'ingest examples/ads/meta-week-45-corrected.csv --dataset ads --platform meta --as operator',
        5,
      )
      const why = 'Meta has corrected the spend of three ads of last week, with invoice 4418.'
      await cli('change edit 2 --as operator --title', 0, 'Spend of week 45, corrected', '--description', why)
    },
    // As high as the changed rows need.
    size: { width: 1280, height: 960 },
    path: ({ upload }) => `/uploads/${upload}?tab=plan`,
    ready: '105.15',
  },
  { name: 'overview', who: 'reviewer', path: () => '/', ready: 'meta-week-45-corrected.csv' },
  {
    name: 'overview-dark',
    who: 'reviewer',
    dark: true,
    path: () => '/',
    ready: 'meta-week-45-corrected.csv',
  },
]

await command(async () => {
  const wanted = chosen(process.argv.slice(2))
  await ensureInstalled()
  await ensureBuilt()
  const executablePath = await findChromium()
  const home = mkdtempSync(join(tmpdir(), 'stagedoor-pictures-'))
  // As root the embedded server runs as somebody else, who must be able to enter it.
  chmodSync(home, 0o755)
  const server = startServer(home)
  let browser
  try {
    const links = await step('Starting Stagedoor on a new home…', server.links)
    browser = await chromium.launch({
      executablePath,
      // Chromium refuses to run as root with its sandbox; it opens pages of ours only.
      args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-gpu', '--hide-scrollbars'],
    })
    await take({ browser, links, home, wanted })
  } finally {
    await browser?.close()
    await server.stop()
    rmSync(home, { recursive: true, force: true })
  }
})

function chosen(argv) {
  const names = PICTURES.map(({ name }) => name)
  const unknown = argv.find((name) => !names.includes(name))
  if (unknown === undefined) return new Set(argv.length > 0 ? argv : names)
  throw new SetupError(`${unknown} is not a picture of the documentation.`, {
    remedy: `The pictures are: ${names.join(', ')}.`,
    exitCode: EXIT_BAD_INPUT,
  })
}

async function findChromium() {
  const { found } = await preparePrograms({ testFiles: ['test/console/pictures'] })
  if (found.CHROMIUM_PATH !== undefined) return found.CHROMIUM_PATH
  throw new SetupError('Pictures are taken with Chromium, and none was found.', {
    remedy: 'apt-get install chromium, or name one with CHROMIUM_PATH.',
    exitCode: EXIT_ENVIRONMENT,
  })
}

/** Nothing of the developer's own settings. */
function environment(home) {
  const { PATH, HOME, TMPDIR } = process.env
  return {
    PATH,
    HOME,
    ...(TMPDIR && { TMPDIR }),
    STAGEDOOR_HOME: home,
    // The pictures show the tutorial alone.
    STAGEDOOR_DEMO: 'off',
    PORT: '0',
    NO_COLOR: '1',
    LOG_LEVEL: 'warn',
  }
}

function startServer(home) {
  const child = spawn(process.execPath, [MAIN, 'start', '--json'], { cwd: ROOT, env: environment(home) })
  const closed = once(child, 'close')
  let output = ''
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  return {
    /** The links to sign in, by role. */
    links: () =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new SetupError('Stagedoor did not start.', { output: errors })),
          START_MS,
        )
        child.on('close', () =>
          reject(new SetupError('Stagedoor ended while it started.', { output: errors })),
        )
        child.stdout.on('data', (chunk) => {
          output += chunk
          const started = parsed(output)
          if (started === undefined) return
          clearTimeout(timer)
          resolve(started.sign_in)
        })
      }),
    async stop() {
      child.kill('SIGINT')
      await closed
    },
  }
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function take({ browser, links, home, wanted }) {
  const pages = new Map()
  const signedIn = async (role) => {
    if (!pages.has(role)) {
      const context = await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce' })
      context.setDefaultTimeout(START_MS)
      const page = await context.newPage()
      await page.goto(links[role])
      await page.getByText('How data flows').waitFor()
      pages.set(role, page)
    }
    return pages.get(role)
  }
  const story = {
    cli: (words, expected = 0, ...more) => cli(home, [...words.split(' '), ...more], expected),
    upload: undefined,
  }
  for (const { name, who, before, path, ready, size = WIDE, dark = false } of PICTURES) {
    await before?.(story)
    // Newest first.
    if (before) story.upload = (await story.cli('upload list --json'))[0].upload_id
    if (!wanted.has(name)) continue
    const page = await signedIn(who)
    await page.setViewportSize(size)
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' })
    await page.goto(new URL(path(story), links[who]).href)
    await page.getByText(ready).first().waitFor()
    const bytes = smallPng(await stillPicture(page))
    if (bytes.length > MAX_BYTES)
      notice(`${name}.png has ${bytes.length} bytes: make its part of the page smaller`)
    writeFileSync(join(ROOT, 'docs/images', `${name}.png`), bytes)
    notice(`written: docs/images/${name}.png, ${Math.round(bytes.length / 1024)} KB`)
  }
}

/** When two pictures in a row are the same, everything has been loaded. */
async function stillPicture(page) {
  let last = await page.screenshot()
  for (let tries = 0; tries < 20; tries++) {
    await page.waitForTimeout(300)
    const next = await page.screenshot()
    if (next.equals(last)) break
    last = next
  }
  return last
}

async function cli(home, args, expected) {
  const { code, output } = await run(process.execPath, [MAIN, ...args], { cwd: ROOT, env: environment(home) })
  if (code !== expected) throw new SetupError(`stagedoor ${args.join(' ')} ended with ${code}.`, { output })
  return args.includes('--json') ? parsed(output) : output
}
