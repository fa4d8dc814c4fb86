/**
 * The reference: says how an execution ends by walking the sketch, with no log, no queue, no time and no failures of processes.
 * Steps of one execution do not see each other, so that it may take them in any order.
 */

import type { Script } from './script.ts'
import { type Condition, type LoopSketch, type Sketch, type StepSketch, saltOf } from './sketch.ts'

export interface Expected {
  readonly status: 'COMPLETED' | 'FAILED'
  /** By node_id. Of one that FAILED: all that could have been, had nothing stopped it. */
  readonly nodes: Map<string, ExpectedNode>
  readonly output?: { readonly first: string; readonly salt: string }
  /** Commands, waits and steps altogether, children included. */
  readonly size: number
}

export interface ExpectedNode {
  readonly status: string
  /** Of a command, or of a step that runs a playbook. */
  readonly attempts?: number
  readonly fanin?: { readonly total: number; readonly done: number; readonly failed: number }
  /** Which items were done when the first one failed depends on the order. */
  readonly anyCounts?: boolean
  readonly v?: number
  readonly n?: number
}

export class TooLarge extends Error {}
const LARGEST = 1_500

export function expected(sketches: readonly Sketch[], name: string, salt: string, script: Script): Expected {
  const sketch = sketches.find((candidate) => candidate.name === name)!
  const nodes = new Map<string, ExpectedNode>()
  const entries = new Map<string, number>()
  const latest = new Map<string, string>()
  const waiting = [sketch.steps[0]!.name]
  let failed = false
  let size = 0

  const child = (playbook: string, childSalt: string) => {
    const run = expected(sketches, playbook, childSalt, script)
    size += run.size
    return run.status === 'COMPLETED'
  }

  for (let at = 0; at < waiting.length; at++) {
    const step = sketch.steps.find((candidate) => candidate.name === waiting[at])!
    const entry = (entries.get(step.name) ?? 0) + 1
    entries.set(step.name, entry)
    const node = walk(step, entry)
    size++
    if (size > LARGEST) throw new TooLarge()
    nodes.set(`${step.name}#${entry}`, node)
    latest.set(step.name, node.status)
    if (node.status === 'failed' && !step.goesOn) {
      failed = true
      continue
    }
    for (const arc of step.arcs) {
      const takes = holds(arc.when, node)
      if (takes === 'error') {
        failed = true
        break
      }
      if (!takes) continue
      waiting.push(arc.to)
      if (!step.inclusive) break
    }
  }

  function walk(step: StepSketch, entry: number): ExpectedNode {
    const { work } = step
    if (work.kind === 'wait') {
      const comes = work.for === 'timer' || script.comes(name, salt, step.name, entry)
      return { status: comes ? 'completed' : 'timed_out' }
    }
    if (work.kind === 'child') {
      if (work.brokenArgs) return { status: 'failed', attempts: 0 }
      let attempts = 1
      while (!child(work.playbook, saltOf(salt, step.name))) {
        if (attempts === step.attempts) return { status: 'failed', attempts }
        attempts++
      }
      return { status: 'completed', attempts }
    }
    if (work.kind === 'loop') return loop(step, work, entry)
    return command(step, entry)
  }

  function command(step: StepSketch, entry: number, index?: number): ExpectedNode {
    for (let attempt = 1; ; attempt++) {
      size++
      const end = script.ends({ playbook: name, salt, step: step.name, entry, index, attempt })
      if (end.status === 'completed')
        return { status: 'completed', attempts: attempt, v: end.value.v, n: end.value.n }
      if (!end.retryable || attempt === step.attempts) return { status: 'failed', attempts: attempt }
    }
  }

  function loop(step: StepSketch, work: LoopSketch, entry: number): ExpectedNode {
    if (work.items === 'not a list') return { status: 'failed' }
    const total = work.items
    let done = 0
    let bad = 0
    for (let index = 0; index < total; index++) {
      const fine =
        work.playbook === undefined
          ? command(step, entry, index).status === 'completed'
          : child(work.playbook, saltOf(salt, step.name, index))
      if (fine) done++
      else bad++
      if (!fine && work.failFast && work.mode === 'sequential') break
    }
    const status = bad === 0 ? 'complete' : done === 0 ? 'failed' : work.allowPartial ? 'partial' : 'failed'
    const fanin = { total, done, failed: bad }
    // The generator lets nothing depend on the counts here: only that one failed is sure.
    if (bad > 0 && work.failFast && work.mode !== 'sequential')
      return { status: 'failed', fanin, anyCounts: true }
    return { status, fanin }
  }

  const output = sketch.linear ? { first: latest.get(sketch.steps[0]!.name)!, salt } : undefined
  return { status: failed ? 'FAILED' : 'COMPLETED', nodes, size, ...(output && { output }) }
}

function holds(when: Condition, node: ExpectedNode): boolean | 'error' {
  if (when === 'always') return true
  if (when === 'never') return false
  if (when === 'failed') return node.status === 'failed'
  if (when === 'fine') return node.status !== 'failed'
  if (when === 'even') return node.v !== undefined && node.v % 2 === 0
  if (when === 'again') return node.n! < 3
  if (when === 'partial') return node.fanin !== undefined && node.fanin.failed > 0 && node.fanin.done > 0
  if (when === 'collected') return node.fanin !== undefined
  return 'error'
}
