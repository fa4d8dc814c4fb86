import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { storeToken, takeTokenFromAddress } from './session/token.ts'
import './styles/tokens.css'
import './styles/base.css'

// Before anything is drawn, so that the token is in the address for as short as can be.
const linked = takeTokenFromAddress()
if (linked !== undefined) storeToken(linked)

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
