#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// When a session renews its credentials, and how often it may.
public struct AuthSessionPolicy: Sendable {
    /// How many seconds before its end a token is renewed.
    ///
    /// Of a token that a refresh gave, at most half its life.
    public var leeway: TimeInterval = 60

    /// How many refreshes may begin within ``refreshWindow``.
    public var refreshLimit = 5

    /// The time over which refreshes are counted, in seconds.
    public var refreshWindow: TimeInterval = 30

    /// For how many seconds after a failed refresh a token that is still good is used without
    /// trying again.
    public var pauseAfterFailure: TimeInterval = 5

    /// Tells the time that expiry is compared with.
    public var now: @Sendable () -> Date = { Date() }

    /// Makes the names of sign-ins, see ``SessionCredentials/sessionID``: each one a new one, which
    /// nobody can guess.
    public var makeSessionID: @Sendable () -> String = { UUID().uuidString }

    /// Is told of a clean-up that failed: its name and its error.
    ///
    /// ``AuthSession/signOut()`` throws too; after a denied refresh nobody is there to catch.
    public var onCleanUpFailure: @Sendable (_ name: String, _ error: any Error) -> Void = { _, _ in
    }

    /// Creates a policy with the usual limits.
    public init() {}
}
