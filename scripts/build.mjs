/** `npm run build [-- --force]`: the product and the console, where they are not up to date. Also before a pack. */
import { command, EXIT_BAD_INPUT, SetupError } from './notice.mjs'
import { ensureBuilt, ensureInstalled } from './setup.mjs'

await command(async () => {
  const argv = process.argv.slice(2)
  const unknown = argv.find((argument) => argument !== '--force')
  if (unknown !== undefined) {
    throw new SetupError(`${unknown} is not an option of build.`, {
      remedy: 'npm run build [-- --force]',
      exitCode: EXIT_BAD_INPUT,
    })
  }
  await ensureInstalled()
  await ensureBuilt({ force: argv.includes('--force') })
})
