import { Fragment } from 'react'

/** A dotted name that may break after its dots and underscores, and nowhere else. */
export function Breakable({ name }: { name: string }) {
  const pieces = name.split(/(?<=[._])/)
  return (
    <code>
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one name never change places
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {piece}
        </Fragment>
      ))}
    </code>
  )
}
