/** Handlers of playbooks from a user's file: its export `playbookHandlers`. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StagedoorError } from '../errors.ts'
import type { PlaybookHandlers } from './tool.ts'

export const EXPORTED = 'playbookHandlers'

/** Undefined where the file exports none: it may be there for jobs alone. */
export async function loadPlaybookHandlers(path: string): Promise<PlaybookHandlers | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) throw invalid(found ? `${path} is not a file` : `There is no file ${path}`)
  const module = await import(pathToFileURL(resolve(path)).href).catch((error) => {
    throw unloadable(path, error)
  })
  return module[EXPORTED] === undefined ? undefined : checked(module[EXPORTED], path)
}

function checked(given: unknown, path: string): PlaybookHandlers {
  if (typeof given !== 'object' || given === null) {
    throw invalid(`${EXPORTED} in ${path} is not an object of functions by name`)
  }
  const wrong = Object.entries(given).find(([, handler]) => typeof handler !== 'function')
  if (wrong) throw invalid(`The handler ${wrong[0]} in ${path} is not a function`)
  return given as PlaybookHandlers
}

function unloadable(path: string, error: unknown): unknown {
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

function invalid(reason: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason })
}
