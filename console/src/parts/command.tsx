import { useState } from 'react'

/** A command to type, with a button that copies it where the browser allows that. */
export function Command({ text }: { text: string }) {
  const [copied, setCopied] = useState(false)
  // Absent where the console is not served over https or from localhost.
  const clipboard: Clipboard | undefined = navigator.clipboard

  async function copy() {
    try {
      await clipboard?.writeText(text)
      setCopied(true)
    } catch {
      // Refused by the person or the browser: the text stands there to be selected.
    }
  }

  return (
    <div className="command">
      <code>{text}</code>
      {clipboard && (
        <button type="button" className="button is-small" onClick={copy} onBlur={() => setCopied(false)}>
          {copied ? 'Copied' : 'Copy'}
          <span className="unseen"> the command {text}</span>
        </button>
      )}
    </div>
  )
}
