#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// When and how often a session may renew its credentials.
public struct AuthSessionPolicy: Sendable {
    /// How long before its expiry a token is renewed, in seconds.
    ///
    /// For a token from a refresh, at most half its lifetime.
    public var leeway: TimeInterval = 60

    /// The maximum number of refreshes begun within ``refreshWindow``.
    public var refreshLimit = 5

    /// The period over which refreshes are counted, in seconds.
    public var refreshWindow: TimeInterval = 30

    /// How long after a failed refresh a valid token is used without another attempt, in seconds.
    public var delayAfterFailure: TimeInterval = 5

    /// The clock that expiry is compared with.
    public var now: @Sendable () -> Date = { Date() }

    /// A closure that creates the identifiers of sign-ins (see ``SessionCredentials/sessionID``), each new and
    /// impossible to guess.
    public var makeSessionID: @Sendable () -> String = { UUID().uuidString }

    /// A closure that receives the name and the error of each failed clean-up.
    ///
    /// ``AuthSession/signOut()`` also throws; after a denied refresh there is no caller to catch the error.
    public var onCleanUpFailure: @Sendable (_ name: String, _ error: any Error) -> Void = { _, _ in
    }

    /// Creates a policy with the default limits.
    public init() {}
}
