import type { ReactNode } from 'react'
import { Command } from './command.tsx'

interface Props {
  readonly title: string
  /** What would stand here, and how it comes about. */
  readonly children?: ReactNode
  /** The command that fills it. */
  readonly command?: string
}

/** Stands where a list has nothing, and says how to fill it. */
export function EmptyState({ title, children, command }: Props) {
  return (
    <div className="empty">
      <b>{title}</b>
      {children && <div>{children}</div>}
      {command && <Command text={command} />}
    </div>
  )
}
