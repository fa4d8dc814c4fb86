import { useState } from 'react'

/** A link or token that is shown once, with a button that copies it where the browser allows that. */
export function Secret({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false)
  // Absent where the console is not served over https or from localhost.
  const clipboard: Clipboard | undefined = navigator.clipboard
  const copy = () =>
    clipboard?.writeText(text).then(
      () => setCopied(true),
      // Refused by the person or the browser: the text stands there to be selected.
      () => undefined,
    )
  return (
    <div className="command">
      <code>{text}</code>
      {clipboard && (
        <button type="button" className="button is-small" onClick={copy} onBlur={() => setCopied(false)}>
          {copied ? 'Copied' : 'Copy'}
          <span className="unseen"> the {what}</span>
        </button>
      )}
    </div>
  )
}
