/** --set name=value: what a playbook is given. */
import { readFileSync } from 'node:fs'
import { StagedoorError } from '../../../errors.ts'
import type { Json, JsonObject, Playbook } from '../../../executions/playbook/definition.ts'

/** Collects; the last value of a name counts. */
export function setArgument(given: string, before: JsonObject = {}): JsonObject {
  const at = given.indexOf('=')
  const name = given.slice(0, at)
  if (at < 1 || !/^[A-Za-z_]\w*$/.test(name)) {
    throw invalid(`--set ${given} is not name=value`, 'As in --set n=10000 or --set list=@items.json.')
  }
  return { ...before, [name]: argumentOf(name, given.slice(at + 1)) }
}

/** JSON where it is JSON, else the text itself: 10000 is a number, weekly a text, "10000" in quotes a text. */
function argumentOf(name: string, written: string): Json {
  if (written.startsWith('@')) return fileValue(name, written.slice(1))
  try {
    return JSON.parse(written)
  } catch {
    return written
  }
}

function fileValue(name: string, path: string): Json {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    throw invalid(
      `There is no file ${path} for ${name}`,
      'A text that begins with @ is given as JSON: --set \'name="@text"\'.',
    )
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`${path} is not JSON: ${(error as Error).message}`, 'A file after @ holds one JSON value.')
  }
}

/** Refused here already, because here the names that there are can be said. */
export function requireKnown(playbook: Pick<Playbook, 'name' | 'args'>, args: JsonObject): void {
  const unknown = Object.keys(args).find((name) => !Object.hasOwn(playbook.args, name))
  if (unknown === undefined) return
  const names = Object.keys(playbook.args).join(', ')
  throw invalid(
    `The playbook ${playbook.name} takes no ${unknown}`,
    names === '' ? 'It takes nothing; its `args` say what it takes.' : `It takes ${names}.`,
  )
}

function invalid(reason: string, hint: string): StagedoorError {
  return new StagedoorError('argument_invalid', { reason }, { hint })
}
