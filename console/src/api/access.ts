import { learnNames } from '../people.ts'
import { query } from './query.ts'
import type { Request } from './request.ts'
import type { components, operations } from './types.generated.ts'

type Schemas = components['schemas']
export type Member = Schemas['Member']
export type Role = Member['role']
export type Invitation = Schemas['Invitation']
export type MachineToken = Schemas['MachineToken']
export type OwnSession = Schemas['OwnSession']
type SignedInSession = Schemas['Session']
export type SignInWays = Schemas['SignInWays']
export type OfferedInvitation = Schemas['OfferedInvitation']
type NewToken = operations['createToken']['requestBody']['content']['application/json']

interface SignedIn {
  readonly session: SignedInSession
}

/** What somebody signs in with. */
export type SignInWith =
  | { readonly code: string }
  | { readonly token: string }
  | { readonly invitation: string; readonly name: string }

/** Members, invitations, machine tokens and sessions. */
export interface AccessApi {
  session(): Promise<{ session: SignedInSession | null; sign_in: SignInWays }>
  signIn(credential: SignInWith): Promise<SignedIn>
  /** Where the browser goes to sign in with the identity provider. */
  beginOidc(asked: { return_to: string; invitation?: string }): Promise<{ location: string }>
  signOut(): Promise<void>
  signOutEverywhere(): Promise<{ ended: number }>
  sessions(): Promise<{ sessions: OwnSession[] }>
  endSession(id: string): Promise<void>
  members(workspace: string): Promise<{ members: Member[]; managed: boolean }>
  setRole(workspace: string, user: string, role: Role): Promise<Member>
  removeMember(workspace: string, user: string): Promise<{ tokens: number }>
  invitations(workspace: string): Promise<{ invitations: Invitation[] }>
  invite(
    workspace: string,
    asked: { invitee: string; role: Role; days: number },
  ): Promise<{ invitation: Invitation; link: string }>
  revokeInvitation(workspace: string, id: string): Promise<unknown>
  showInvitation(code: string): Promise<OfferedInvitation>
  acceptInvitation(code: string): Promise<unknown>
  tokens(workspace: string): Promise<{ tokens: MachineToken[] }>
  createToken(asked: NewToken): Promise<{ secret: string; token: MachineToken }>
  revokeToken(workspace: string, id: string): Promise<unknown>
}

export function createAccessApi(request: Request): AccessApi {
  const post = <T>(path: string, body: object = {}) => request<T>(path, { method: 'POST', body })
  return {
    session: () => request('/session'),
    signIn: (credential) => post('/sign-in', credential),
    beginOidc: (asked) => post('/sign-in/oidc', asked),
    signOut: () => request('/session', { method: 'DELETE' }),
    signOutEverywhere: () => request('/sessions', { method: 'DELETE' }),
    sessions: () => request('/sessions'),
    endSession: (id) => request(`/sessions/${id}`, { method: 'DELETE' }),
    members: async (workspace) => {
      const list = await request<{ members: Member[]; managed: boolean }>(
        `/members?${query({ workspace_id: workspace })}`,
      )
      learnNames(Object.fromEntries(list.members.map(({ user_id, display_name }) => [user_id, display_name])))
      return list
    },
    setRole: (workspace, user, role) =>
      request(`/members/${encodeURIComponent(user)}`, {
        method: 'PUT',
        body: { workspace_id: workspace, role },
      }),
    removeMember: (workspace, user) =>
      request(`/members/${encodeURIComponent(user)}?${query({ workspace_id: workspace })}`, {
        method: 'DELETE',
      }),
    invitations: (workspace) => request(`/invitations?${query({ workspace_id: workspace })}`),
    invite: (workspace, asked) => post('/invitations', { workspace_id: workspace, ...asked }),
    revokeInvitation: (workspace, id) => post(`/invitations/${id}/revoke`, { workspace_id: workspace }),
    showInvitation: (code) => post('/invitations/show', { code }),
    acceptInvitation: (code) => post('/invitations/accept', { code }),
    tokens: (workspace) => request(`/tokens?${query({ workspace_id: workspace })}`),
    createToken: (asked) => post('/tokens', asked),
    revokeToken: (workspace, id) => post(`/tokens/${id}/revoke`, { workspace_id: workspace }),
  }
}
