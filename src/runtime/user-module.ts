/** Imports a file of the user's: handlers of jobs or of playbooks. Every failure says what to do about it. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StagedoorError } from '../kernel/errors.ts'

/** Its exports by name. Throws argument_invalid when there is no such file or it cannot be loaded. */
export async function importUserModule(path: string): Promise<Readonly<Record<string, unknown>>> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) {
    throw new StagedoorError('argument_invalid', {
      reason: found ? `${path} is not a file` : `There is no file ${path}`,
    })
  }
  try {
    return await import(pathToFileURL(resolve(path)).href)
  } catch (error) {
    throw loadError(path, error)
  }
}

function loadError(path: string, error: unknown): unknown {
  if (error instanceof StagedoorError) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (code !== 'ERR_UNKNOWN_FILE_EXTENSION') {
    const reason = `${path} cannot be loaded: ${message}`
    return new StagedoorError('argument_invalid', { reason }, { cause: error })
  }
  return new StagedoorError(
    'argument_invalid',
    { reason: `Node ${process.versions.node} does not read TypeScript, so ${path} cannot be loaded` },
    {
      hint: 'Use Node 22.18 or newer, start with a loader of yours (NODE_OPTIONS="--import tsx"), or write the handlers as .mjs.',
    },
  )
}
