import { useEffect, useState } from 'react'

/** What is being done, and for how long: a number that counts says that it goes on. */
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
        <p className="tiny">{seconds} s. You may leave this page: the server goes on.</p>
      )}
    </>
  )
}
