import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const USUAL_PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** CHROMIUM_PATH, or the first browser in the usual places; undefined where there is none. */
export function findChromium(): string | undefined {
  const named = process.env.CHROMIUM_PATH
  if (named) {
    if (!existsSync(named)) throw new Error(`CHROMIUM_PATH is ${named}, but there is no such file`)
    return named
  }
  return USUAL_PLACES.find((place) => existsSync(place))
}

export function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) {
    throw new Error(
      'No Chromium was found. Install it (Debian: apt-get install -y chromium) or name one with CHROMIUM_PATH.',
    )
  }
  return chromium.launch({
    executablePath,
    args: [
      // Chromium refuses to run as root with its sandbox; the tests open pages of ours only.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
