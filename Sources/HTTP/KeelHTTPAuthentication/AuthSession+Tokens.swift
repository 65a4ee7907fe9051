public import KeelCore
public import KeelHTTP
import Synchronization

extension AuthSession {
    /// Returns the token for the next request, renewing it first if it is about to expire.
    ///
    /// If the identity server fails without a denial while the old token is still valid, the old token is returned. If
    /// new credentials cannot be saved, the error is thrown.
    ///
    /// - Throws: `AuthenticationError` with the code `signedOut`, `denied` or `expired` if the user has to sign in;
    ///   `refreshFailed`, `tooManyRefreshes` or `storeFailed` if a later call may succeed; `superseded` if another user
    ///   has signed in meanwhile, or in a clean-up; `insideRefresh` in the refresh itself; or `cancelled`.
    public func token() async throws(AuthenticationError) -> AccessToken {
        try await token(for: .use)
    }

    /// Returns the token to use after a server has refused `refused`.
    ///
    /// If `refused` has been replaced in the meantime, the current token is returned without a refresh. The error of a
    /// refresh that has failed since `refused` was handed out is thrown again.
    ///
    /// - Throws: The errors of ``token()``; `superseded` also if `refused` is of an earlier session.
    public func token(
        after refused: AccessToken
    ) async throws(AuthenticationError) -> AccessToken {
        try await token(for: .refused(refused.origin))
    }

    /// Renews the credentials now, joins the refresh in progress, or adopts those that another session has renewed.
    ///
    /// - Throws: The errors of ``token()``.
    public func refresh() async throws(AuthenticationError) {
        _ = try await token(for: .renewal)
    }

    private func token(
        for need: AuthLedger<Credentials>.Need
    ) async throws(AuthenticationError) -> AccessToken {
        guard !SessionScope.isRefresh(of: self) else {
            throw AuthenticationError(.insideRefresh)
        }
        if SessionScope.isCleanUp(of: self) {
            guard case .signedOut = state else {
                throw AuthenticationError(.superseded, "A clean-up gets no token of its session.")
            }
        }
        let now = policy.now()
        var answer = change { $0.answer(to: need, at: now) }
        while true {
            switch answer {
            case .token(let token): return token
            case .failure(let error): throw error
            case .restore:
                try await restore()
                let now = policy.now()
                answer = change { $0.answer(to: need, at: now) }
            case .wait(let flight, let session, let isNew):
                if isNew { flight.attach(Task { await self.carryOut(flight) }) }
                do throws(AuthenticationError) {
                    try await flight.outcome().get()
                } catch {
                    // Renewing ahead of time is a convenience: a valid token still serves.
                    guard case .use = need, error.isTransient, let token = stillGood(in: session)
                    else { throw error }
                    return token
                }
                let now = policy.now()
                answer = change { $0.answer(afterRefreshOf: session, at: now) }
            }
        }
    }

    private func stillGood(in session: Int) -> AccessToken? {
        let now = policy.now()
        return ledger.withLock { $0.tokenStillGood(ofSession: session, at: now) }
    }
}

extension AuthSession {
    /// Asks the identity server for credentials and saves them.
    ///
    /// Runs in an unstructured task: others may wait after the first caller is canceled, and a refresh that is cut off
    /// loses the new refresh token.
    private func carryOut(_ flight: RefreshFlight) async {
        if ledger.withLock({ $0.held(for: flight)?.isSaved }) == true {
            switch await lookIntoStore(for: flight) {
            case .ended: return
            case .signedOut: return await followSignOut(flight)
            // A store that cannot be read now may still accept the new credentials.
            case .unchanged, .renewed, .unreadable: break
            }
        }
        guard let held = ledger.withLock({ $0.held(for: flight) }) else { return }
        if held.isSaved {
            do {
                let renewed = try await renewed(held.credentials)
                let now = policy.now()
                guard change({ $0.keepUnsaved(renewed, from: flight, at: now) }) else { return }
            } catch {
                await settle(flight, AuthenticationError(refreshing: error))
                return
            }
        }
        if await save(flight) == false { await followSignOut(flight) }
    }

    /// Asks the identity server for credentials; its own requests do not wait for the refresh.
    private func renewed(_ credentials: Credentials) async throws -> Credentials {
        let scope = SessionScope(of: self)
        defer { scope.end() }
        return try await SessionScope.$refreshes.withValue(SessionScope.refreshes + [scope]) {
            try await server.refresh(credentials)
        }
    }

    /// Saves the renewed credentials, then puts them into use.
    ///
    /// - Returns: False if the store no longer has a user; it is left empty.
    private func save(_ flight: RefreshFlight) async -> Bool {
        let turn = turns.reserve()
        await turns.begin(turn)
        defer { turns.end() }
        // The session may have ended during the wait for the turn, and its clean-up with it.
        guard let held = ledger.withLock({ $0.held(for: flight) }) else { return true }
        do {
            repeat {
                guard let stored = try await store.load() else { return false }
                if await takeOver(stored, from: flight, held) { return true }
                // Otherwise another process has changed the store since: it is read again.
                if try await store.replace(stored, with: held.credentials) { break }
            } while ledger.withLock({ $0.held(for: flight) }) != nil
            change { $0.land(flight) }
            flight.end(.success(()))
        } catch {
            await settle(flight, AuthenticationError(.storeFailed, cause: error))
        }
        return true
    }

    /// Ends a failed refresh, and the session with it if the server denied the renewal.
    private func settle(_ flight: RefreshFlight, _ error: AuthenticationError) async {
        guard error.code == .denied else {
            let now = policy.now()
            change { $0.fail(flight, error, at: now) }
            flight.end(.failure(error))
            return
        }
        switch await lookIntoStore(for: flight) {
        case .ended: return
        case .signedOut: return await followSignOut(flight)
        case .renewed, .unreadable:
            // Another session may have renewed; the next call uses what the store has by then.
            return await settle(flight, AuthenticationError(.refreshFailed, cause: error))
        case .unchanged: await end(flight, .denied, error, clearsStore: true)
        }
    }

    private func end(
        _ flight: RefreshFlight,
        _ reason: SignOutReason,
        _ error: AuthenticationError,
        clearsStore: Bool
    ) async {
        let ended = change { ledger -> (held: AuthLedger<Credentials>.Held, turn: Int)? in
            guard let held = ledger.held(for: flight) else { return nil }
            _ = ledger.end(reason, error)
            return (held, turns.reserve())
        }
        flight.end(.failure(error))
        guard let (held, turn) = ended else { return }
        _ = await cleanUp(
            reason,
            of: held.name,
            in: turn,
            clearing: clearsStore ? .only(held.credentials) : .nothing
        )
    }

    /// Signs out because another session has signed out on the same store.
    ///
    /// The store is left alone: another user may have signed in since.
    private func followSignOut(_ flight: RefreshFlight) async {
        await end(flight, .requested, AuthenticationError(.signedOut), clearsStore: false)
    }
}

// MARK: Other sessions on the same store

extension AuthSession {
    /// The state of the store, compared with that of a refresh.
    private enum StoreFinding {
        case unchanged
        /// Another session has renewed the sign-in; its credentials are now in use but are due for renewal.
        case renewed
        case ended
        /// The store is empty: another session has signed out.
        case signedOut
        case unreadable
    }

    /// Checks whether another session on the same store has renewed the credentials, or whether another user has signed
    /// in.
    ///
    /// In that case the refresh token of this session is spent. Using it a second time can revoke the grant for all its
    /// holders (RFC 9700 section 4.14.2), and a refusal says nothing about the token in the store.
    private func lookIntoStore(for flight: RefreshFlight) async -> StoreFinding {
        let turn = turns.reserve()
        await turns.begin(turn)
        defer { turns.end() }
        let stored: Credentials?
        do {
            stored = try await store.load()
        } catch {
            return .unreadable
        }
        guard let held = ledger.withLock({ $0.held(for: flight) }) else { return .ended }
        guard let stored else { return .signedOut }
        if await takeOver(stored, from: flight, held) { return .ended }
        guard stored.sessionID == held.name, held.isSaved,
            stored.accessToken != held.credentials.accessToken
                || stored.refreshToken != held.credentials.refreshToken
        else { return .unchanged }
        let now = policy.now()
        guard change({ $0.adopt(stored, from: flight, at: now) }) else { return .renewed }
        flight.end(.success(()))
        return .ended
    }

    /// Continues as the user whom another session has signed in on the same store, if there is one.
    private func takeOver(
        _ stored: Credentials,
        from flight: RefreshFlight,
        _ held: AuthLedger<Credentials>.Held
    ) async -> Bool {
        guard let name = stored.sessionID, name != held.name else { return false }
        guard ledger.withLock({ $0.held(for: flight) }) != nil else { return true }
        _ = await runCleanUps(.replaced, of: held.name, next: .user(name))
        let void = change { ledger in
            ledger.held(for: flight) == nil ? nil : ledger.begin(stored, named: name)
        }
        void?.abandon(AuthenticationError(.superseded))
        return true
    }
}
