#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The state before a fetch, by which a change during the fetch is noticed.
struct FetchStart: Sendable {
    /// Grows with the invalidations by this loader.
    let epoch: Int
    /// The time of the mark in the ledger, which an invalidation by any process removes; nil if there is none.
    let mark: Date?
    let userCount: Int
}

extension ResourceCore {
    /// Returns the state before a fetch, and marks the home of the resource in the ledger if it is not marked.
    ///
    /// The response may be older than a change by another process, which the outbox no longer shows.
    func start<Value>(of resource: Resource<Value>) async throws(DataSourceError) -> FetchStart {
        let userCount = owners.changeCount
        let mark = try await mark(of: resource.home)
        return FetchStart(epoch: epoch(of: resource.tags), mark: mark, userCount: userCount)
    }

    private func mark(of home: ResourceHome?) async throws(DataSourceError) -> Date? {
        guard let home else { return nil }
        let key = Self.markKey(of: home)
        if let time = try await ledger.time(of: key) { return time }
        // In a turn, so that concurrent fetches share one mark.
        return try await write { () async throws(DataSourceError) -> Date? in
            if let time = try await ledger.time(of: key) { return time }
            try await ledger.record(key, at: now(), tags: [home.name])
            return try await ledger.time(of: key)
        }
    }

    /// Returns whether nothing has invalidated a resource since a fetch began, and the loader has seen no other user.
    ///
    /// A closure of the app may have loaded another user's data, even if the user of the fetch is signed in again.
    ///
    /// Called in a turn. Throws if all callers have left the fetch: a later one may have kept a newer response.
    func isUnchanged<Value>(
        _ resource: Resource<Value>,
        since start: FetchStart
    ) async throws(DataSourceError) -> Bool {
        if Task.isCancelled { throw DataSourceError(.cancelled, source: .remote) }
        guard start.epoch == epoch(of: resource.tags), start.userCount == owners.changeCount
        else { return false }
        guard let home = resource.home, let mark = start.mark else { return true }
        // Another time is that of a later fetch, which has marked the home again.
        return try await ledger.time(of: Self.markKey(of: home)) == mark
    }

    /// Returns whether nothing has invalidated a resource since ``isUnchanged(_:since:)``; false if that is unknown.
    func isValid<Value>(_ resource: Resource<Value>, since start: FetchStart) async -> Bool {
        guard start.epoch == epoch(of: resource.tags) else { return false }
        guard let home = resource.home, let mark = start.mark else { return true }
        return (try? await ledger.time(of: Self.markKey(of: home))) == mark
    }

    private static func markKey(of home: ResourceHome) -> String { "unchanged \(home.name)" }
}
