/**
 * `npm test [-- paths and options of vitest]`: installs and builds what is missing, then runs the suites. With `--long`
 * (npm run test:long) it runs what npm test leaves out.
 */
import { command } from './notice.mjs'
import { ensureBuilt, ensureInstalled, ROOT } from './setup.mjs'
import { runTests } from './test-run.mjs'

await command(async () => {
  await ensureInstalled()
  await ensureBuilt()
  const [first, ...rest] = process.argv.slice(2)
  const long = first === '--long'
  const argv = long ? rest : process.argv.slice(2)
  return await runTests({ root: ROOT, argv, length: long ? 'long' : 'short' })
})
