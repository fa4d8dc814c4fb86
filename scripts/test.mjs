/** `npm test [-- paths and options of vitest]`: installs and builds what is missing, then runs the suites. */
import { command } from './notice.mjs'
import { ensureBuilt, ensureInstalled, ROOT } from './setup.mjs'
import { runTests } from './test-run.mjs'

await command(async () => {
  await ensureInstalled()
  await ensureBuilt()
  return await runTests({ root: ROOT, argv: process.argv.slice(2) })
})
