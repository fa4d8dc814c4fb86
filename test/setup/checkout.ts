/** A small checkout in a temporary folder: our real scripts, with stand-ins for npm and the compilers. */
import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const REPO = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Compiles by copying main.ts, and writes a line into the journal for each run. While the file `hold` exists it
 * stays in the middle of its work with half an output; a file `broken` makes it fail.
 */
const COMPILER = `
const fs = require('node:fs'), path = require('node:path')
const name = process.argv[1].includes('vite') ? 'console' : process.argv.includes('bench/tsconfig.json') ? 'bench' : 'dist'
const root = name === 'console' ? '..' : '.'
const out = process.argv[process.argv.indexOf('--outDir') + 1]
const target = path.join(out, { console: 'index.html', bench: 'main.js', dist: 'cli/main.js' }[name])
fs.mkdirSync(path.dirname(target), { recursive: true })
fs.writeFileSync(target, 'half an output')
fs.appendFileSync(root + '/journal', name + '\\n')
const finish = () => {
  if (fs.existsSync(root + '/broken')) { console.log('main.ts(1,1): error TS1: broken'); process.exit(2) }
  const source = { console: 'index.html', bench: 'bench/src/main.ts', dist: 'src/cli/main.ts' }[name]
  fs.copyFileSync(source, target)
}
const parent = process.ppid
const timer = setInterval(() => {
  if (process.ppid !== parent) process.exit(1)
  if (fs.existsSync(root + '/hold')) return
  clearInterval(timer)
  finish()
}, 10)
`

/** Writes down its arguments and makes an empty node_modules, or fails when the file `npm-broken` exists. */
const NPM = `
const fs = require('node:fs')
fs.appendFileSync('journal', 'npm ' + process.argv.slice(2).join(' ') + '\\n')
if (fs.existsSync('npm-broken')) { console.error('npm error network unreachable'); process.exit(1) }
fs.mkdirSync('node_modules', { recursive: true })
`

const MAIN = `#!/usr/bin/env node
console.log(JSON.stringify(process.argv.slice(2)))
`

export interface Run {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export class Checkout {
  readonly root = mkdtempSync(join(tmpdir(), 'stagedoor-setup-test-'))

  constructor({ installed = true } = {}) {
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }))
    cpSync(join(REPO, 'scripts'), join(this.root, 'scripts'), { recursive: true })
    const manifest = { name: 'stagedoor', version: '1.0.0', engines: { node: '>=20.19' } }
    this.write('package.json', JSON.stringify({ ...manifest, workspaces: ['console', 'bench'] }))
    this.write('package-lock.json', JSON.stringify({ packages: { '': {}, console: {}, bench: {} } }))
    for (const workspace of ['console', 'bench']) this.write(`${workspace}/package.json`, '{}')
    this.write('src/cli/main.ts', MAIN)
    this.write('tsconfig.json', '{}')
    this.write('console/index.html', '<p>console</p>')
    this.write('bench/src/main.ts', MAIN)
    this.write('npm/npm-cli.js', NPM)
    if (installed) {
      this.write('node_modules/typescript/bin/tsc', COMPILER)
      this.write('node_modules/vite/bin/vite.js', COMPILER)
    }
  }

  linkVitest(): void {
    symlinkSync(join(REPO, 'node_modules/vitest'), join(this.root, 'node_modules/vitest'))
  }

  write(path: string, text: string): void {
    const file = join(this.root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8')
  }

  has(path: string): boolean {
    return existsSync(join(this.root, path))
  }

  remove(path: string): void {
    rmSync(join(this.root, path), { recursive: true, force: true })
  }

  /** The steps that really ran, in order. */
  journal(): string[] {
    return this.has('journal') ? this.read('journal').split('\n').filter(Boolean) : []
  }

  start(script: string, args: readonly string[] = [], env: Record<string, string> = {}) {
    const child = spawn(process.execPath, [script, ...args], {
      cwd: this.root,
      env: { ...plainEnvironment(), npm_execpath: join(this.root, 'npm/npm-cli.js'), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const output = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text
    })
    const ended = new Promise<Run>((resolve) => {
      child.on('close', (code, signal) => resolve({ code, signal, ...output }))
    })
    return { child, ended, output }
  }

  run(script: string, args?: readonly string[], env?: Record<string, string>): Promise<Run> {
    return this.start(script, args, env).ended
  }
}

/** Only what a program needs to run: neither vitest's nor npm's own variables, nor the caller's settings. */
function plainEnvironment(): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG']
  return Object.fromEntries(kept.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])))
}
