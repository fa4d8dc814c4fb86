import { type ReactNode, useEffect } from 'react'
import { useSystem } from '../live/system.tsx'
import { Rail } from './rail.tsx'
import { TopBar } from './top-bar.tsx'
import './frame.css'

export function Frame({ title, children }: { title: string; children: ReactNode }) {
  const { lost } = useSystem()
  useEffect(() => {
    document.title = `${title} · Stagedoor`
  }, [title])

  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <Rail />
      <div className="frame-body">
        <TopBar />
        {/* What is on the page while nothing answers is from before, and turns grey. */}
        <main id="main" tabIndex={-1} className={lost ? 'main is-stale-page' : 'main'}>
          {children}
        </main>
      </div>
    </div>
  )
}
