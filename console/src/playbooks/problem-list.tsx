import type { PlaybookCheck } from '../api/types.ts'
import { Chip } from '../parts/chip.tsx'

/** Problems of a playbook, each with the line that it is about. */
export function ProblemList({ problems, text }: { problems: PlaybookCheck['problems']; text: string }) {
  if (problems.length === 0) return null
  const lines = text.split(/\r?\n/)
  return (
    <ul className="problem-list">
      {problems.map(({ severity, line, column, path, message, remedy }) => (
        <li key={`${line} ${column} ${path} ${message}`}>
          <p>
            <Chip tone={severity === 'error' ? 'bad' : 'held'}>{severity}</Chip>{' '}
            {line !== undefined && <b>Line {line}: </b>}
            {message}
            {remedy !== undefined && `. ${remedy}`}
          </p>
          {line !== undefined && <code className="problem-line">{lines[line - 1]}</code>}
        </li>
      ))}
    </ul>
  )
}
