/** `npm run -s stagedoor -- …`: the CLI of this clone. Stdout is the CLI's alone. */
import { join } from 'node:path'
import { command } from './notice.mjs'
import { become } from './product.mjs'
import { ensureBuilt, ensureInstalled, ROOT } from './setup.mjs'

await command(async () => {
  await ensureInstalled()
  await ensureBuilt()
  await become(join(ROOT, 'dist/cli/main.js'), process.argv.slice(2))
})
