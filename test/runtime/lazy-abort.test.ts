import { describe, expect, it, vi } from 'vitest'
import { abortSourceOf, LazyAbortController } from '../../src/runtime/lazy-abort.ts'

describe('a lazy abort controller', () => {
  it('makes no AbortController as long as nobody asks for its signal', () => {
    const made = vi.spyOn(globalThis, 'AbortController')
    const controller = new LazyAbortController()
    controller.onAbort(() => {})()
    controller.abort(new Error('over'))
    expect(controller).toMatchObject({ aborted: true, reason: new Error('over') })
    expect(made).not.toHaveBeenCalled()
  })

  it('has one signal, which is aborted with the reason, before or after somebody asked for it', () => {
    const reason = new Error('over')
    const asked = new LazyAbortController()
    const { signal } = asked
    expect(asked.signal).toBe(signal)
    expect(signal.aborted).toBe(false)
    asked.abort(reason)
    const late = new LazyAbortController()
    late.abort(reason)
    for (const one of [signal, late.signal]) {
      expect(one.aborted).toBe(true)
      expect(one.reason).toBe(reason)
    }
  })

  it.each([
    ['itself', () => new LazyAbortController()],
    ['a signal of another', () => new AbortController()],
  ])('tells its listeners once, and not those that were taken off: %s', (_, make) => {
    const controller = make()
    const aborts = controller instanceof AbortController ? abortSourceOf(controller.signal) : controller
    const stays = vi.fn()
    const goes = vi.fn()
    aborts.onAbort(stays)
    aborts.onAbort(goes)()
    expect(aborts.aborted).toBe(false)
    controller.abort(new Error('first'))
    controller.abort(new Error('second'))
    const late = vi.fn()
    aborts.onAbort(late)
    expect(stays).toHaveBeenCalledTimes(1)
    expect(goes).not.toHaveBeenCalled()
    expect(late).toHaveBeenCalledTimes(1)
    expect(aborts.reason).toEqual(new Error('first'))
  })
})
