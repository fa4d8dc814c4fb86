/**
 * Messages between processes of different versions. messages-of-version-1.json is what processes of protocol 1 say: it is never edited. Who
 * changes what messages mean raises PROTOCOL and adds a file, and this version still reads the one before.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  isProblem,
  PROTOCOL,
  pack,
  readAlive,
  readAnswer,
  readRequest,
  VERBS,
} from '../../../src/runtime/remote/protocol.ts'

const said = JSON.parse(readFileSync(new URL('messages-of-version-1.json', import.meta.url), 'utf8')) as {
  alive: object
  requests: Record<string, object>
  answers: Record<string, object>
  problems: { problem: string }[]
}

/** Without each of its members in turn: so a member that this version began to need is noticed. */
function* withoutOne(message: object): Generator<[string, object]> {
  for (const name of Object.keys(message)) {
    const { [name]: _, ...rest } = message as Record<string, unknown>
    yield [name, rest]
  }
}

describe('a message of protocol 1', () => {
  it.each(VERBS)('%s is understood, asked and answered', (verb) => {
    expect(readRequest(verb, said.requests[verb])).toEqual(said.requests[verb])
    expect(readAnswer(verb, said.answers[verb])).toEqual(said.answers[verb])
  })

  it('says that a gateway is alive', () => {
    expect(readAlive(said.alive)).toEqual(said.alive)
  })

  it('says why a request cannot be done, whatever was asked', () => {
    for (const problem of said.problems)
      for (const verb of VERBS) {
        const answer = readAnswer(verb, problem)
        expect(typeof answer === 'object' && isProblem(answer) && answer.problem).toBe(problem.problem)
      }
  })

  it('may say more than this version knows', () => {
    for (const verb of VERBS)
      expect(readRequest(verb, { ...said.requests[verb], later: { more: [1] } })).toMatchObject({
        ...said.requests[verb],
      })
  })

  it('is garbage without a member that it needs', () => {
    const optional = new Set(['leaving'])
    for (const verb of VERBS)
      for (const [name, rest] of withoutOne(said.requests[verb]!))
        if (!(verb === 'attach' && optional.has(name)))
          expect([verb, name, readRequest(verb, rest)]).toEqual([verb, name, 'garbage'])
  })
})

it('a message of a later protocol is told apart from garbage', () => {
  const later = { ...said.requests.pull, v: PROTOCOL + 1 }
  expect(readRequest('pull', later)).toBe('newer')
  expect(readAlive({ v: PROTOCOL + 1 })).toBe('newer')
  expect(readRequest('pull', { ...said.requests.pull, v: 0 })).toBe('garbage')
  expect(readRequest('pull', { ...said.requests.pull, v: '1' })).toBe('garbage')
})

it('this version says which protocol it speaks', () => {
  expect(pack({ session: 's' })).toEqual({ v: PROTOCOL, session: 's' })
})
