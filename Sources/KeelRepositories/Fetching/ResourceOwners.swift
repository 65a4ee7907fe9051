internal import Synchronization

/// Who is signed in, and whose things are kept where.
final class ResourceOwners: Sendable {
    private struct State {
        var last: String?
        /// Whose things are in a home.
        var settled: [String: String] = [:]
    }

    private let identity: (@Sendable () async -> String?)?
    private let state = Mutex(State())

    init(_ identity: (@Sendable () async -> String?)?) { self.identity = identity }

    /// Who is signed in; nil where users are not kept apart.
    func current() async throws(DataSourceError) -> String? {
        guard let identity else { return nil }
        guard let owner = await identity() else {
            throw DataSourceError(.unavailable, "It cannot be told who is signed in.")
        }
        return owner
    }

    /// Whether somebody else was signed in when this was asked last.
    func isNew(_ owner: String) -> Bool {
        state.withLock { state in
            defer { state.last = owner }
            return state.last.map { $0 != owner } ?? false
        }
    }

    func isSettled(_ owner: String, in home: ResourceHome) -> Bool {
        state.withLock { $0.settled[home.name] == owner }
    }

    func settle(_ owner: String, in home: ResourceHome) {
        state.withLock { $0.settled[home.name] = owner }
    }

    func unsettle(_ home: ResourceHome) { state.withLock { $0.settled[home.name] = nil } }

    /// Refuses to go on for a user whose things have been removed meanwhile.
    func check(_ owner: String?, in home: ResourceHome?) throws(DataSourceError) {
        guard let owner, let home, !isSettled(owner, in: home) else { return }
        throw .somebodyElse
    }

    /// Refuses to go on for a user who is not signed in any more.
    func confirm(_ owner: String?, in home: ResourceHome?) async throws(DataSourceError) {
        guard let owner else { return }
        guard try await current() == owner else { throw .somebodyElse }
        try check(owner, in: home)
    }

    /// The key under which a ledger notes whose things are in a home.
    static func mark(of owner: String, in home: ResourceHome) -> String {
        "\(home.name) of \(owner)"
    }

    /// The tag of what a ledger notes of a home.
    static func tag(of home: ResourceHome) -> String { "owner of \(home.name)" }
}

extension Resource {
    /// What a ledger notes for good once the resource was kept, until its home is emptied.
    var keepingMark: (key: String, tags: Set<String>)? {
        guard outlastsInvalidation else { return nil }
        return ("kept \(place)", home.map { [ResourceOwners.tag(of: $0)] } ?? [])
    }
}

extension DataSourceError {
    /// The user of the call is not the one who is signed in.
    static let somebodyElse = DataSourceError(
        .unauthenticated,
        "Somebody else has signed in, or signed out, while the call was under way."
    )
}
