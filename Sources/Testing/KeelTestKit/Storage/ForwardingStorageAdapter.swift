package import KeelStorageAdapting
internal import Synchronization

/// An adapter that forwards to another adapter the requirements it does not implement.
package protocol ForwardingStorageAdapter: StorageAdapter {
    var upstream: any StorageAdapter { get }
}

extension ForwardingStorageAdapter {
    package var capabilities: StorageCapabilities { upstream.capabilities }

    package var sharedRecords: (any SharedRecords)? { upstream.sharedRecords }

    package func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await upstream.prepare(schema)
    }

    package func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await upstream.read(request)
    }

    package func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try await upstream.commit(batches)
    }

    package func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await upstream.changes(request)
    }
}

/// An adapter that hides the change log of another one, so that listeners poll, or follow their queries.
package struct PolledStorageAdapter: ForwardingStorageAdapter {
    package let upstream: any StorageAdapter
    /// Whether queries and single documents can still be followed.
    private let followsQueries: Bool

    package init(upstream: any StorageAdapter, followsQueries: Bool = false) {
        self.upstream = upstream
        self.followsQueries = followsQueries
    }

    package var capabilities: StorageCapabilities {
        let hidden: StorageCapabilities = followsQueries ? .changeLog : [.changeLog, .queryChanges]
        return upstream.capabilities.subtracting(hidden)
    }

    package func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let isNarrow = request.query != nil || request.scope == .documents(request.scope.documents)
        guard followsQueries, isNarrow else {
            throw StorageError(.unsupported, "this adapter shows no change log")
        }
        return try await upstream.changes(request)
    }
}

/// An adapter that runs a closure after each read and another before each commit, with the number of the call from 1.
///
/// It hides some of the store's capabilities, and refuses calls that need a hidden one.
package final class MeddledStorageAdapter: ForwardingStorageAdapter {
    package typealias Meddler = @Sendable (_ number: Int64) async throws -> Void

    package let upstream: any StorageAdapter
    private let hidden: StorageCapabilities
    private let afterReads: Meddler
    private let beforeCommits: Meddler
    private let reads = Atomic<Int64>(0)
    private let commits = Atomic<Int64>(0)

    package init(
        _ upstream: any StorageAdapter,
        without hidden: StorageCapabilities = [],
        afterReads: @escaping Meddler = { _ in },
        beforeCommits: @escaping Meddler = { _ in }
    ) {
        self.upstream = upstream
        self.hidden = hidden
        self.afterReads = afterReads
        self.beforeCommits = beforeCommits
    }

    package var capabilities: StorageCapabilities { upstream.capabilities.subtracting(hidden) }
    package var readCount: Int64 { reads.load(ordering: .relaxed) }

    package func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        guard request.reads == nil || !hidden.contains(.checkedReads) else {
            throw StorageError(.unsupported, "reads are not checked here")
        }
        let result = try await upstream.read(request)
        try await run(afterReads, reads.add(1, ordering: .relaxed).newValue)
        return result
    }

    package func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try await run(beforeCommits, commits.add(1, ordering: .relaxed).newValue)
        return try await upstream.commit(batches)
    }

    private func run(_ meddler: Meddler, _ number: Int64) async throws(StorageError) {
        do {
            try await meddler(number)
        } catch {
            throw error as? StorageError
                ?? StorageError(.unknown, "the call in between failed", cause: error)
        }
    }
}
