import { Component, type ReactNode } from 'react'

interface Props {
  readonly children: ReactNode
}

interface State {
  readonly bug?: Error
}

/** A bug in one page leaves the frame standing, and says so instead of showing nothing. */
export class PageBoundary extends Component<Props, State> {
  override state: State = {}

  static getDerivedStateFromError(bug: Error): State {
    return { bug }
  }

  override render(): ReactNode {
    const { bug } = this.state
    if (bug === undefined) return this.props.children
    return (
      <div className="card empty" role="alert">
        <h1>This page has a bug</h1>
        <p>
          It stopped with <code>{bug.message}</code>. Nothing was changed by that. The command line shows the
          same data.
        </p>
        <p>
          <button type="button" className="button" onClick={() => location.reload()}>
            Load the page again
          </button>
        </p>
      </div>
    )
  }
}
