import { Component, type ReactNode } from 'react'

interface Props {
  readonly children: ReactNode
}

interface State {
  readonly bug?: Error
}

/** Shows an error instead of a page that has a bug; the frame stays usable. */
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
        <h1>This page could not be displayed</h1>
        <p>
          It stopped with <code>{bug.message}</code>. No data was changed. The command line shows the same
          data.
        </p>
        <p>
          <button type="button" className="button" onClick={() => location.reload()}>
            Reload the page
          </button>
        </p>
      </div>
    )
  }
}
