public import Foundation
public import KeelAnalytics
public import KeelCache
public import KeelHTTPAuthentication
public import KeelHTTPCaching
public import KeelRepositories
public import KeelSync

extension AuthSession {
    /// Removes the data of a user whenever the session ends or another user signs in.
    ///
    /// ```swift
    /// session.clearAtSignOut(outbox: outbox, caches: caches, memory: memory, analytics: analytics)
    /// try await session.restore()
    /// ```
    ///
    /// Call this method before the session is used, so that a clean-up that did not run earlier runs then: see
    /// `onSignOut`. Add the clean-up of your documents, such as `EntityRepository.removeAll()`, before this one.
    ///
    /// - Parameters:
    ///   - outbox: The outbox, which loses writes without an owner, and the unsent writes of a user who has signed out.
    ///     Those of a user whose session was denied or replaced wait until the user signs in to the same account again
    ///     (see `signIn(as:_:)`).
    ///   - caches: The caches, which lose all values.
    ///   - responses: The HTTP cache, which loses all responses.
    ///   - memory: The memory of repositories, which loses all values.
    ///   - analytics: The service, which forgets the user. While another service stores the user (see
    ///     `AnalyticsService.isDelivering`), or the disk is full, the clean-up fails and is repeated later.
    ///   - process: The name of the program, the same at every launch. The app and its extensions need different names
    ///     if they share a credential store, because each clears its own caches.
    public func clearAtSignOut(
        outbox: Outbox? = nil,
        caches: CacheStore? = nil,
        responses: HTTPCache? = nil,
        memory: ResourceMemory? = nil,
        analytics: AnalyticsService? = nil,
        process: String = ProcessInfo.processInfo.processName
    ) {
        if let outbox {
            onSignOut("keel.outbox") { reason, user in
                if let user, reason == .requested { try await outbox.discardAll(of: user) }
                try await outbox.discardAll(of: nil)
            }
        }
        // The names distinguish processes, so that none marks the clean-up of another one as done.
        if let caches {
            onSignOut("keel.caches.\(process)") { _ in try await caches.removeAll() }
        }
        if let responses {
            onSignOut("keel.responses.\(process)") { _ in try await responses.removeAll() }
        }
        if let memory { onSignOut("keel.memory") { _ in await memory.removeAll() } }
        if let analytics {
            onSignOut("keel.analytics.\(process)") { _ in try analytics.forgetUser() }
        }
    }
}

extension BackgroundWork {
    /// Adds the observation of a session, which notifies other parts when a user has signed in or out.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - loader: The loader whose observers load again for another user.
    ///   - outbox: The outbox that then sends the waiting writes of the user.
    public mutating func add<Credentials>(
        _ session: AuthSession<Credentials>,
        notifying loader: ResourceLoader? = nil,
        retrying outbox: Outbox? = nil
    ) {
        add("users") {
            for await state in session.states {
                loader?.userChanged()
                if case .signedIn = state { outbox?.retryNow() }
            }
        }
    }
}
