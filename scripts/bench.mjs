/** `npm run -s bench -- <name> [--quick] [--json]`: builds and runs the benchmarks. Stdout is theirs alone. */
import { join } from 'node:path'
import { command } from './notice.mjs'
import { become } from './product.mjs'
import { ensureBuilt, ensureInstalled, ROOT } from './setup.mjs'

await command(async () => {
  await ensureInstalled()
  await ensureBuilt({ names: ['dist', 'bench'] })
  await become(join(ROOT, 'bench/dist/main.js'), process.argv.slice(2))
})
