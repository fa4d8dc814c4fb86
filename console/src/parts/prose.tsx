import { Fragment } from 'react'

/** A sentence of the server; what stands between backticks in it is something to type. */
export function Prose({ text }: { text: string }) {
  return text.split('`').map((piece, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one sentence never change places
    <Fragment key={index}>{index % 2 === 1 ? <code>{piece}</code> : piece}</Fragment>
  ))
}
