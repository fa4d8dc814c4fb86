/** `npm start`: installs and builds what is missing, then becomes `stagedoor start`. */
import { join } from 'node:path'
import { command } from './notice.mjs'
import { become } from './product.mjs'
import { ensureBuilt, ensureInstalled, ROOT } from './setup.mjs'

await command(async () => {
  await ensureInstalled()
  await ensureBuilt()
  await become(join(ROOT, 'dist/cli/main.js'), ['start', ...process.argv.slice(2)])
})
