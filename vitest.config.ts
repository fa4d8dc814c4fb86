import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { SQL_SUITES, SQL_SUITES_SHORT } from './test/support/suites.ts'

const TAGS = [
  { name: 'long', description: 'Only in npm run test:long.' },
  {
    name: 'property',
    description: 'In both runs, with more cases in npm run test:long (test/support/length.ts).',
  },
]
const LONG = process.env.TEST_LENGTH === 'long'

/** In CI nothing else runs beside npm test, and what hangs must be named before the run is cut off. */
const LIMIT_MS = process.env.CI === 'true' && !LONG ? 120_000 : 300_000

/** A tag is read from the text: the long run must not load a file of which it runs nothing. */
const tagged = (pattern: RegExp) =>
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((file) => `test/${file}`)
    .filter((file) => file.endsWith('.test.ts') && pattern.test(readFileSync(file, 'utf8')))

/** Vitest begins with the longest files of the last run, and without one, as in CI, with the largest. These are long: begun last, they run alone. */
const BEGIN_WITH = /\/test\/(console|cli|chaos|kernel\/postgres)\//

class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project))]
    return projects.flatMap((project) => {
      const own = sorted.filter((file) => file.project === project)
      const isLong = (file: TestSpecification) => BEGIN_WITH.test(file.moduleId)
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))]
    })
  }
}

/** In the projects, not for all of them together: there it would start a server that no test uses. */
const globalSetup = 'test/support/servers.ts'

const SHORT_PROJECTS = [
  {
    extends: true as const,
    test: {
      name: 'pg18',
      globalSetup,
      include: ['test/**/*.test.ts'],
      exclude: tagged(/^\/\/ @module-tag long\b/m),
      tagsFilter: ['!long'],
    },
  },
  {
    extends: true as const,
    test: { name: 'pg15', globalSetup, include: [...SQL_SUITES_SHORT], tagsFilter: ['!long'] },
  },
]

const LONG_PROJECTS = [
  {
    extends: true as const,
    test: {
      name: 'pg18',
      globalSetup,
      include: tagged(/^\/\/ @module-tag (long|property)\b|tags: '(long|property)'/m),
      tagsFilter: ['long || property'],
    },
  },
  { extends: true as const, test: { name: 'pg15', globalSetup, include: [...SQL_SUITES] } },
]

export default defineConfig({
  test: {
    // Where CI is set, colours are on even without a terminal; what tests compare is the text.
    env: { NO_COLOR: '1' },
    // Only against tests that hang: on a busy machine everything takes ten times as long. What waits has a limit of its own (until), and says for what.
    testTimeout: LIMIT_MS,
    hookTimeout: LIMIT_MS,
    // expect.poll would give up after a second.
    expect: { poll: { timeout: 60_000, interval: 50 } },
    sequence: { sequencer: LongFilesFirst },
    // On two cores: about half of a file's time is waiting for processes, leases and polls, so two workers a core keep them busy.
    maxWorkers: Number(process.env.TEST_WORKERS || 4),
    // The files of a worker share its process and what it imported: starting a process and importing src again for each of 440 files
    // was a third of the run. A test puts back what it changed of the process; these two do it for vi.spyOn and vi.stubEnv.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    // Gives fast-check the seed of the run.
    setupFiles: ['test/support/seed.ts'],
    tags: TAGS,
    projects: LONG ? LONG_PROJECTS : SHORT_PROJECTS,
  },
})
