import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  build: {
    // The server's policy is default-src 'self': an asset inlined as a data: address would be refused.
    assetsInlineLimit: 0,
    // One small file of styles: a page that is loaded later looks the same whichever page came before it.
    cssCodeSplit: false,
    // Every browser that we support preloads modules by itself.
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': 'http://localhost:4680' } },
})
