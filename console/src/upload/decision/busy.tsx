import { useEffect, useState } from 'react'

/** The running action and its duration, which counts up to show that it still works. */
export function Busy({ words }: { words: string | undefined }) {
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    setSeconds(0)
    if (words === undefined) return
    const begun = Date.now()
    const timer = setInterval(() => setSeconds(Math.floor((Date.now() - begun) / 1000)), 1_000)
    return () => clearInterval(timer)
  }, [words])
  return (
    <>
      <p className="doing" role="status">
        {words && `${words}…`}
      </p>
      {words && seconds >= 2 && (
        <p className="tiny">{seconds} s. You can leave this page; the server continues.</p>
      )}
    </>
  )
}
