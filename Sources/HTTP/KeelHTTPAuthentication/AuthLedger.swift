import KeelCore
import KeelHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The state and the decisions of a session, without input or output.
///
/// Three counters keep late answers from doing harm. A *session* is one sign-in; a *version* is one set of credentials,
/// counted across sessions; *renewals* counts the refreshes that have ended. A refused token of an older version never
/// causes a refresh, one of an older session never gets a token, and one that was handed out before a refresh failed
/// shares that failure.
struct AuthLedger<Credentials: SessionCredentials>: Sendable {
    struct Held: Sendable {
        var credentials: Credentials
        var version: Int
        var session: Int
        /// The identifier of the sign-in, stable across restarts.
        var name: String
        /// When a refresh returned the credentials; nil if they come from a sign-in or the store.
        var obtainedAt: Date?
        /// Whether the store has the credentials; unsaved ones sign no request.
        var isSaved = true
        /// Whether the credentials have expired, or were refused, and cannot be renewed.
        var isExhausted = false
        /// Whether a server refused the credentials.
        ///
        /// Otherwise only the clock, which can be ahead, says that they have expired.
        var isRefused = false
    }

    enum Phase: Sendable {
        case unknown
        case signedOut(SignOutReason, AuthenticationError)
        case signedIn(Held)
    }

    enum Need {
        /// For a request that is about to be sent.
        case use
        case refused(AccessToken.Origin?)
        case renewal
    }

    enum Answer {
        case token(AccessToken)
        /// Wait for this refresh of this session; the caller must start it if it is new.
        case wait(RefreshFlight, session: Int, isNew: Bool)
        case failure(AuthenticationError)
        case restore
    }

    private(set) var phase = Phase.unknown
    private(set) var flight: RefreshFlight?

    /// The number of sign-ins begun and sign-outs; the latest one reflects what the app wants.
    private(set) var order = 0
    private(set) var endings = 0

    private let policy: AuthSessionPolicy
    private var lastVersion = 0
    private var lastSession = 0
    private var renewals = 0
    private var lastFailure: (renewal: Int, version: Int, date: Date, error: AuthenticationError)?
    private var recentRefreshes: [Date] = []

    init(policy: AuthSessionPolicy) {
        self.policy = policy
    }

    var held: Held? {
        guard case .signedIn(let held) = phase else { return nil }
        return held
    }

    var state: AuthState {
        switch phase {
        case .unknown: .unknown
        case .signedOut(let reason, _): .signedOut(reason)
        case .signedIn(let held) where held.isExhausted: .expired
        case .signedIn(let held): .signedIn(version: held.version)
        }
    }

    var identity: String? {
        switch phase {
        case .unknown: nil
        // All requests without a user are sent without credentials, so they share one identity.
        case .signedOut: "nobody"
        case .signedIn(let held): held.name
        }
    }

    // MARK: Tokens

    mutating func answer(to need: Need, at now: Date) -> Answer {
        let held: Held
        switch phase {
        case .unknown: return .restore
        case .signedOut(_, let error): return .failure(error)
        case .signedIn(let current): held = current
        }
        if case .refused(let origin?) = need, origin.session != held.session {
            // The request belongs to another user and must not be sent on behalf of this one.
            return .failure(
                AuthenticationError(.superseded, "The session of the request has ended.")
            )
        }
        if let flight { return .wait(flight, session: held.session, isNew: false) }
        guard held.isSaved else { return start(held) }
        let isPast = held.credentials.expiresAt.map { $0 <= now } ?? false
        if case .use = need, !isDue(held, now) { return .token(token(held)) }
        if case .refused(let origin) = need, origin?.version != held.version {
            return answer(to: .use, at: now)
        }
        if case .refused(let origin?) = need, let lastFailure,
            lastFailure.renewal > origin.renewals, lastFailure.version == held.version
        {
            return .failure(lastFailure.error)
        }
        guard held.credentials.isRenewable else { return lastAnswer(to: need, held, isPast) }
        if case .use = need, !isPast, mustPause(now) { return .token(token(held)) }
        guard isRefreshAllowed(at: now) else {
            if case .use = need, !isPast { return .token(token(held)) }
            return .failure(AuthenticationError(.tooManyRefreshes))
        }
        recentRefreshes.append(now)
        return start(held)
    }

    private mutating func lastAnswer(to need: Need, _ held: Held, _ isPast: Bool) -> Answer {
        var held = held
        switch need {
        case .use: held.isExhausted = isPast || held.isRefused
        case .refused: (held.isExhausted, held.isRefused) = (true, true)
        case .renewal: return .failure(AuthenticationError(.expired))
        }
        phase = .signedIn(held)
        return held.isExhausted ? .failure(AuthenticationError(.expired)) : .token(token(held))
    }

    mutating func answer(afterRefreshOf session: Int, at now: Date) -> Answer {
        guard let held, held.session == session else {
            return .failure(
                AuthenticationError(.signedOut, "The session ended in the meantime.")
            )
        }
        // By now another refresh may have obtained credentials that are not in the store yet.
        return held.isSaved ? .token(token(held)) : answer(to: .use, at: now)
    }

    /// Returns the token that is usable despite a failed refresh of this session; nil if there is none.
    func tokenStillGood(ofSession session: Int, at now: Date) -> AccessToken? {
        guard let held, held.session == session, held.isSaved, !held.isExhausted,
            let end = held.credentials.expiresAt, end > now
        else { return nil }
        return token(held)
    }

    private func token(_ held: Held) -> AccessToken {
        AccessToken(
            held.credentials.accessToken,
            origin: .init(
                session: held.session,
                version: held.version,
                renewals: renewals,
                identity: held.name
            )
        )
    }

    private func isDue(_ held: Held, _ now: Date) -> Bool {
        if held.isExhausted { return true }
        guard let end = held.credentials.expiresAt else { return false }
        var leeway = policy.leeway
        if let start = held.obtainedAt {
            // Tokens with a lifetime below the leeway would otherwise be renewed for each call.
            leeway = min(leeway, end.timeIntervalSince(start) / 2)
        }
        return end.timeIntervalSince(now) <= leeway
    }

    /// Whether to use a valid token for a while after a failed refresh, without another attempt.
    private func mustPause(_ now: Date) -> Bool {
        guard let lastFailure, lastFailure.version == held?.version else { return false }
        return abs(now.timeIntervalSince(lastFailure.date)) < policy.delayAfterFailure
    }

    private mutating func isRefreshAllowed(at now: Date) -> Bool {
        // A clock that was set back must not lock the session for longer than the window.
        let window = policy.refreshWindow
        recentRefreshes.removeAll { abs(now.timeIntervalSince($0)) >= window }
        return recentRefreshes.count < policy.refreshLimit
    }

    // MARK: Refreshes

    private mutating func start(_ held: Held) -> Answer {
        let flight = RefreshFlight()
        self.flight = flight
        return .wait(flight, session: held.session, isNew: true)
    }

    func held(for flight: RefreshFlight) -> Held? {
        self.flight === flight ? held : nil
    }

    /// Keeps credentials that the server returned and that the store does not have yet.
    ///
    /// - Returns: Whether the session still needs them.
    mutating func keepUnsaved(
        _ credentials: Credentials,
        from flight: RefreshFlight,
        at now: Date
    ) -> Bool {
        guard var held = held(for: flight) else { return false }
        held.credentials = credentials
        // A renewal belongs to the same user, whatever the identity server derived its answer from.
        held.credentials.sessionID = held.name
        held.obtainedAt = now
        held.isSaved = false
        phase = .signedIn(held)
        return true
    }

    /// Takes over credentials of this sign-in that another session has renewed and saved.
    ///
    /// - Returns: False if they are already due for renewal.
    mutating func adopt(
        _ credentials: Credentials,
        from flight: RefreshFlight,
        at now: Date
    ) -> Bool {
        guard var held = held(for: flight) else { return true }
        lastVersion += 1
        held.credentials = credentials
        held.version = lastVersion
        held.obtainedAt = nil
        held.isExhausted = false
        phase = .signedIn(held)
        guard !isDue(held, now) else { return false }
        renewals += 1
        self.flight = nil
        return true
    }

    mutating func land(_ flight: RefreshFlight) {
        guard var held = held(for: flight) else { return }
        lastVersion += 1
        held.version = lastVersion
        held.isSaved = true
        held.isExhausted = false
        phase = .signedIn(held)
        renewals += 1
        self.flight = nil
    }

    mutating func fail(_ flight: RefreshFlight, _ error: AuthenticationError, at now: Date) {
        guard let held = held(for: flight) else { return }
        renewals += 1
        lastFailure = (renewals, held.version, now, error)
        self.flight = nil
    }

    // MARK: Sign-in and sign-out

    /// Records that the app begins a sign-in or signs out, which supersedes earlier ones.
    mutating func nextOrder() -> Int {
        order += 1
        return order
    }

    mutating func restore(_ credentials: Credentials?, named name: String) {
        guard case .unknown = phase else { return }
        if let credentials {
            begin(credentials, named: name)
        } else {
            phase = .signedOut(.notSignedIn, AuthenticationError(.signedOut))
        }
    }

    @discardableResult
    mutating func begin(_ credentials: Credentials, named name: String) -> RefreshFlight? {
        lastSession += 1
        lastVersion += 1
        phase = .signedIn(
            Held(credentials: credentials, version: lastVersion, session: lastSession, name: name)
        )
        recentRefreshes = []
        return flight.take()
    }

    mutating func end(_ reason: SignOutReason, _ error: AuthenticationError) -> RefreshFlight? {
        endings += 1
        phase = .signedOut(reason, error)
        return flight.take()
    }
}
