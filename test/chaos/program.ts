/** Programs to be killed: compiled once, since Node 20 runs no TypeScript, and started with a line of orders each. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

const ROOT = resolve(import.meta.dirname, '../..')

/** Returns where the compiled form of a source of this folder is. */
export function compile(folder: string, sources: readonly string[]): (source: string) => string {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  const flags = '--ignoreConfig --module nodenext --target es2023 --rewriteRelativeImportExtensions'
  const output = ['--noCheck', '--types', 'node', '--rootDir', ROOT, '--outDir', folder]
  const files = sources.map((source) => join(ROOT, 'test/chaos', source))
  execFileSync(process.execPath, [compiler, ...flags.split(' '), ...output, ...files], { cwd: ROOT })
  writeFileSync(join(folder, 'package.json'), '{"type":"module","version":"0.0.0"}')
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return (source) => join(folder, 'test/chaos', source.replace(/\.ts$/, '.js'))
}

export interface Program {
  readonly child: ChildProcess
  readonly pid: number
  /** It has said that it is at work. */
  ready: boolean
  /** Ended by us; otherwise its end is a failure of the test. */
  doomed: boolean
  readonly ended: Promise<unknown>
}

/** It loads everything and waits for a line on standard input: so that its start costs no time when it is needed. */
export function standBy(
  file: string,
  orders: object,
  failed: (why: string) => void,
): Program & { go(): void } {
  const child = spawn(process.execPath, [file, JSON.stringify(orders)], { stdio: ['pipe', 'pipe', 'pipe'] })
  const errors: string[] = []
  child.stderr.on('data', (data) => errors.push(String(data)))
  child.stdin.on('error', () => {})
  const program = {
    child,
    pid: child.pid!,
    ready: false,
    doomed: false,
    ended: once(child, 'exit'),
    go: () => void child.stdin.write('go\n'),
  }
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'ready') program.ready = true
  })
  child.on('exit', (code, signal) => {
    program.ready = false
    if (!program.doomed) failed(`${file} ended by itself (${code ?? signal}): ${errors.join('')}`)
  })
  return program
}
