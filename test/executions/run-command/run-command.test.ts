import { describe, expect, it, vi } from 'vitest'
import { secretFromEnvironment } from '../../../src/executions/engine/commands.ts'
import { ToolError } from '../../../src/executions/tools/tool.ts'
import { StagedoorError } from '../../../src/kernel/errors.ts'
import type { JsonObject } from '../../../src/kernel/json.ts'
import { createMemoryResultStore } from '../memory-results.ts'
import { contextOf, run } from './command.ts'

const echo = async (_: string | undefined, args: JsonObject) => args
const forever = () => new Promise<never>(() => {})

describe('arguments', () => {
  it('are rendered with what the step refers to', async () => {
    expect(
      await run(echo, { n: '${args.n + 1}', text: 'n is ${args.n}' }, { scope: { args: { n: 3 } } }),
    ).toEqual({
      status: 'completed',
      result: { value: { n: 4, text: 'n is 3' } },
    })
  })

  it('see the item under its name, and its place', async () => {
    const loop = {
      in: '${args.list}',
      as: 'campaign',
      mode: 'parallel',
      max_in_flight: 2,
      fail_fast: false,
      allow_partial: false,
    } as const
    const outcome = await run(
      echo,
      { who: '${campaign.name}', at: '${index}' },
      { options: { loop }, item: { name: 'spring' }, index: 7 },
    )
    expect(outcome).toMatchObject({ result: { value: { who: 'spring', at: 7 } } })
  })

  it('see what the tool before gave back, and null before the first', async () => {
    const seen: JsonObject[] = []
    const outcome = await run(
      async (_, args) => {
        seen.push(args)
        return seen.length * 10
      },
      [{ was: '${prev}' }, { was: '${prev}' }],
    )
    expect(seen).toEqual([{ was: null }, { was: 10 }])
    expect(outcome).toEqual({ status: 'completed', result: { value: 20 } })
  })

  it('that cannot be computed fail the command for good, and name the expression', async () => {
    const tool = vi.fn(echo)
    const outcome = await run(tool, { n: '${args.nothing.here}' }, { scope: { args: {} } })
    expect(outcome).toMatchObject({ status: 'failed', retryable: false })
    expect((outcome as { error: string }).error).toContain('args.nothing.here')
    expect(tool).not.toHaveBeenCalled()
  })
})

describe('secrets', () => {
  const secret = (name: string) => (name === 'KEY' ? 'hunter2/"quoted"' : undefined)

  it('reach the tool and nothing that is kept', async () => {
    let given: JsonObject = {}
    const outcome = await run(
      async (_, args) => {
        given = args
        return 'done'
      },
      { header: 'Bearer ${secret.KEY}' },
      { secret },
    )
    expect(given).toEqual({ header: 'Bearer hunter2/"quoted"' })
    expect(JSON.stringify(outcome)).not.toContain('hunter2')
  })

  it('come from the environment of the process that runs the step', async () => {
    vi.stubEnv('STAGEDOOR_SECRET_FROM_ENV', 'of the environment')
    const outcome = await run(
      async (_, { key }) => (key as string).length,
      { key: '${secret.FROM_ENV}' },
      { secret: secretFromEnvironment },
    )
    vi.unstubAllEnvs()
    expect(outcome).toMatchObject({ result: { value: 'of the environment'.length } })
  })

  it('are not in the result of a tool that gives back what it was given', async () => {
    const outcome = await run(
      async (_, { key }) => ({ headers: [`Bearer ${key}`, 7, null], [`by ${key}`]: 'kept' }),
      { key: '${secret.KEY}' },
      { secret },
    )
    expect(outcome).toEqual({
      status: 'completed',
      result: { value: { headers: ['Bearer ***', 7, null], 'by ***': 'kept' } },
    })
  })

  it('are still there for the next tool of the same step', async () => {
    const seen: unknown[] = []
    await run(
      async (_, args) => {
        seen.push(args)
        return args
      },
      [{ key: '${secret.KEY}' }, { before: '${prev.key}' }],
      { secret },
    )
    expect(seen[1]).toEqual({ before: 'hunter2/"quoted"' })
  })

  it('that are not set fail the command for good, and the error says what to set', async () => {
    const outcome = await run(echo, { key: '${secret.OTHER}' }, { secret })
    expect(outcome).toMatchObject({
      status: 'failed',
      retryable: false,
      error: expect.stringContaining('STAGEDOOR_SECRET_OTHER'),
    })
  })

  it.each([
    ['as they are', (value: string) => value],
    ['in JSON', (value: string) => JSON.stringify({ value })],
    ['in an address', (value: string) => `https://host/?key=${encodeURIComponent(value)}`],
    ['as base64', (value: string) => Buffer.from(value).toString('base64')],
    ['at the cut of a long text', (value: string) => `${'x'.repeat(1990)}${value}`],
  ])('are not in an error: %s', async (_, form) => {
    const outcome = await run(
      async (_call, args) => {
        throw new Error(`said ${form(args.key as string)} aloud`)
      },
      { key: '${secret.KEY}' },
      { secret },
    )
    const { error } = outcome as { error: string }
    expect(error).not.toMatch(/hunter|quoted|aHVudGVy/)
    expect(error).toContain('***')
  })
})

describe('a failure', () => {
  it.each([
    ['an error of any kind is tried again', new Error('refused'), true],
    ['a ToolError is not, unless it says so', new ToolError('wrong'), false],
    ['a ToolError that says so is', new ToolError('busy', { retryable: true }), true],
    [
      'an error of the catalogue says it itself',
      new StagedoorError('staging_not_found', { record: 'x' }),
      false,
    ],
  ])('%s', async (_, thrown, retryable) => {
    const outcome = await run(async () => {
      throw thrown
    })
    expect(outcome).toEqual({ status: 'failed', error: thrown.message, retryable })
  })

  it('of a tool keeps the ones after it from running', async () => {
    const tool = vi.fn(async () => {
      throw new Error('no')
    })
    await run(tool, [{}, {}])
    expect(tool).toHaveBeenCalledTimes(1)
  })

  it('is reported whatever was thrown, also a value without any text', async () => {
    const unreadable = Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('no message')
      },
    })
    for (const thrown of [Object.create(null), unreadable, new Proxy({}, { getPrototypeOf: () => fail() })]) {
      const outcome = await run(async () => {
        throw thrown
      })
      expect(outcome).toEqual({
        status: 'failed',
        error: 'a thrown value of type object that cannot be shown as text',
        retryable: true,
      })
    }
    function fail(): never {
      throw new Error('no prototype')
    }
  })

  it('is reported in 2,000 characters that PostgreSQL can hold', async () => {
    const outcome = (await run(async () => {
      throw new Error(`\0\ud800${'🎈'.repeat(3000)}`)
    })) as { error: string }
    expect(outcome.error.length).toBe(2000)
    expect(outcome.error).not.toMatch(/[\0\p{Surrogate}]/u)
  })

  it('to name a tool that this process has not says which there are', async () => {
    const outcome = await run(echo, {}, { tools: { sql: echo } })
    expect(outcome).toEqual({
      status: 'failed',
      error: 'This process has no tool handler; it has sql',
      retryable: false,
    })
  })

  it('comes when the result cannot be kept', async () => {
    const results = {
      ...createMemoryResultStore(),
      store: async () => {
        throw new ToolError('over the limit')
      },
    }
    expect(await run(echo, {}, { results })).toEqual({
      status: 'failed',
      error: 'over the limit',
      retryable: false,
    })
  })
})

describe('time', () => {
  it('that is up ends the attempt, even of a tool that does not listen', async () => {
    const outcome = await run(forever, {}, { options: { timeout_ms: 20 } })
    expect(outcome).toEqual({ status: 'failed', error: 'timed out after 0.02 s', retryable: true })
  })

  it('is given to the tool, as a signal and as a time', async () => {
    const outcome = await run(
      (_call, _args, { signal, deadline }) =>
        new Promise((_, reject) => {
          expect(deadline!.getTime() - Date.now()).toBeLessThanOrEqual(30)
          signal.addEventListener('abort', () => reject(new Error('was aborted')))
        }),
      {},
      { options: { timeout_ms: 30 } },
    )
    expect(outcome).toMatchObject({ error: 'timed out after 0.03 s', retryable: true })
  })

  it('is that of all tools together', async () => {
    let calls = 0
    const slow = () => new Promise<number>((resolve) => setTimeout(() => resolve(++calls), 30))
    const outcome = await run(slow, [{}, {}, {}, {}], { options: { timeout_ms: 45 } })
    expect(outcome).toMatchObject({ status: 'failed', error: 'timed out after 0.045 s' })
    expect(calls).toBeLessThan(4)
  })

  it('ends early when the engine says so', async () => {
    const controller = new AbortController()
    const running = run(forever, {}, { context: contextOf({ signal: controller.signal }) })
    controller.abort(new Error('the execution was cancelled'))
    expect(await running).toEqual({
      status: 'failed',
      error: 'stopped: the execution was cancelled',
      retryable: true,
    })
  })

  it('that never began runs no tool', async () => {
    const tool = vi.fn(echo)
    await run(tool, {}, { context: contextOf({ signal: AbortSignal.abort(new Error('over')) }) })
    expect(tool).not.toHaveBeenCalled()
  })
})
