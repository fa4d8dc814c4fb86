/** Handlers from a user's file. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StagedoorError } from '../errors.ts'
import type { JobHandlers } from './handlers.ts'

const KIND = /^[a-z][a-z0-9_.:-]{0,62}$/

/** The default export, or else every exported function (or batch handler) under its own name. */
export async function loadHandlers(path: string): Promise<JobHandlers> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) throw invalid(found ? `${path} is not a file` : `There is no file ${path}`)
  const module = await import(pathToFileURL(resolve(path)).href).catch((error) => {
    throw unloadable(path, error)
  })
  // Handlers of playbooks may stand beside those of jobs, or alone.
  const { playbookHandlers, ...others } = { ...module }
  if (playbookHandlers !== undefined && Object.keys(others).length === 0) return {}
  return checkHandlers(module.default ?? others, path)
}

function checkHandlers(given: unknown, path: string): JobHandlers {
  if (typeof given !== 'object' || given === null || Object.keys(given).length === 0) {
    throw invalid(
      `${path} exports no handlers; export defineJobs({ your_kind: async (job) => … }) as the default`,
    )
  }
  for (const [kind, handler] of Object.entries(given)) {
    if (!KIND.test(kind)) {
      throw invalid(`${path} has a handler for ${kind}, which is not a job kind: lowercase, digits, _ . : -`)
    }
    if (typeof handler !== 'function' && !isBatch(handler)) {
      throw invalid(`The handler of ${kind} in ${path} is neither a function nor { batch, run }`)
    }
  }
  return given as JobHandlers
}

function isBatch(handler: unknown): boolean {
  const { batch, run } = (handler ?? {}) as { batch?: unknown; run?: unknown }
  return Number.isInteger(batch) && (batch as number) > 0 && typeof run === 'function'
}

function unloadable(path: string, error: unknown): unknown {
  if (error instanceof StagedoorError) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (code !== 'ERR_UNKNOWN_FILE_EXTENSION') {
    return new StagedoorError(
      'argument_invalid',
      { reason: `${path} cannot be loaded: ${message}` },
      { cause: error },
    )
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
