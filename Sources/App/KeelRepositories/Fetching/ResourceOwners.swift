internal import Synchronization

/// The signed-in user, and the owners of kept values.
final class ResourceOwners: Sendable {
    private struct State {
        var last: String?
        var changeCount = 0
        /// The owner of the values in each home.
        var settled: [String: String] = [:]
    }

    private let identity: (@Sendable () async -> String?)?
    private let state = Mutex(State())

    init(_ identity: (@Sendable () async -> String?)?) { self.identity = identity }

    /// Returns the signed-in user; nil if users are not separated.
    func current() async throws(DataSourceError) -> String? {
        guard let identity else { return nil }
        guard let owner = await identity() else {
            throw DataSourceError(.unavailable, "The signed-in user is unknown.")
        }
        return owner
    }

    /// Whether the user differs from that of the previous call.
    func isNew(_ owner: String) -> Bool {
        state.withLock { state in
            let isNew = state.last.map { $0 != owner } ?? false
            if isNew { state.changeCount += 1 }
            state.last = owner
            return isNew
        }
    }

    var changeCount: Int { state.withLock { $0.changeCount } }

    func isSettled(_ owner: String, in home: ResourceHome) -> Bool {
        state.withLock { $0.settled[home.name] == owner }
    }

    func settle(_ owner: String, in home: ResourceHome) {
        state.withLock { $0.settled[home.name] = owner }
    }

    func unsettle(_ home: ResourceHome) { state.withLock { $0.settled[home.name] = nil } }

    /// Checks that a user is still signed in, and that the home still holds the user's values.
    func confirm(_ owner: String?, in home: ResourceHome?) async throws(DataSourceError) {
        guard let owner else { return }
        guard try await current() == owner else { throw .somebodyElse }
        if let home, !isSettled(owner, in: home) { throw .somebodyElse }
    }

    static func mark(of owner: String, in home: ResourceHome) -> String {
        "\(home.name) of \(owner)"
    }

    static func tag(of home: ResourceHome) -> String { "owner of \(home.name)" }
}

extension Resource {
    /// The ledger's key for the owner of the home; nil if users are not separated or share no home.
    var ownerMark: String? {
        guard let owner, let home else { return nil }
        return ResourceOwners.mark(of: owner, in: home)
    }

    /// The ledger's entry that a resource was once kept, until its home is emptied.
    var keepingMark: (key: String, tags: Set<String>)? {
        guard outlastsInvalidation else { return nil }
        return ("kept \(place)", home.map { [ResourceOwners.tag(of: $0)] } ?? [])
    }
}

extension DataSourceError {
    /// The user of the call is no longer signed in.
    static let somebodyElse = DataSourceError(
        .unauthenticated,
        "The signed-in user changed during the call."
    )
}
