/** `stagedoor process`: who works on this database, on which host, with which version. */
import pc from 'picocolors'
import { listProcesses, type Process } from '../app/processes.ts'
import { command, commandGroup } from './command.ts'
import { formatAge, joinWords } from './format.ts'
import type { Column } from './terminal.ts'
import { printableLine } from './text.ts'

export const processCommand = () =>
  commandGroup('process', 'the processes that work on this database', [
    command('list', 'each process: host, version, what it does, its last heartbeat')
      .actor()
      .examples(
        '  $ stagedoor process list',
        '',
        'A process that stopped is gone at once; one that was killed is shown as silent for ten minutes. What each worker runs:',
        '`stagedoor job workers`; all workers, and who leads what: `stagedoor worker list`.',
      )
      .run(async ({ output, transaction }) => {
        output.list(
          await transaction(listProcesses),
          COLUMNS,
          'No process runs on this database. `stagedoor start` and `stagedoor worker` start one.',
        )
      }),
  ])

const COLUMNS: Column<Process>[] = [
  {
    value: (one) => STATES[stateOf(one)].text,
    paint: (cell, one) => STATES[stateOf(one)].paint(cell),
  },
  { title: 'host', value: ({ host }) => printableLine(host) },
  { title: 'process', value: ({ pid }) => pid },
  { title: 'version', value: ({ version }) => printableLine(version) },
  { title: 'runs', value: ({ roles }) => joinWords(roles, ', '), shrinkTo: 20 },
  { title: 'since', value: ({ started_at }) => `${formatAge(started_at)} ago` },
  { title: 'heartbeat', value: ({ seen_at }) => `${formatAge(seen_at)} ago`, dim: true },
]

const STATES = {
  alive: { text: '● alive', paint: pc.green },
  draining: { text: '◌ draining', paint: pc.yellow },
  silent: { text: '✖ silent', paint: pc.red },
}

function stateOf({ is_alive, draining_at }: Process): keyof typeof STATES {
  if (!is_alive) return 'silent'
  return draining_at === null ? 'alive' : 'draining'
}
