internal import Crypto
package import Foundation
package import KeelStorage

/// Copies documents from one store to another, so that it can be continued, and compares both.
///
/// A source with a change log is read through it, which brings every document of every collection
/// and, at the end, what changed while the copy ran. Another source is read collection by
/// collection. Where the target takes `replicate` writes, times and revisions stay those of the
/// source; elsewhere documents are set and get times of the target. A document that cannot be read
/// keeps no other one from being copied: the report names it, and what the target has of it stays.
package struct DocumentCopy: Sendable {
    /// The most bytes of bodies in one batch, below what servers take in a request.
    static let longestBatch = 4 << 20

    let source: any StorageAdapter
    let target: any StorageAdapter
    let collections: [CollectionPath]
    let pageSize: Int

    /// Creates a copy.
    ///
    /// - Parameters:
    ///   - source: Where documents come from.
    ///   - target: Where they go to.
    ///   - collections: Which to copy, without the collections below their documents; none copies
    ///     everything.
    ///   - pageSize: How many documents are copied at a time, 1 to 500.
    package init(
        from source: any StorageAdapter,
        to target: any StorageAdapter,
        collections: [CollectionPath] = [],
        pageSize: Int = 500
    ) {
        self.source = source
        self.target = target
        self.collections = collections
        self.pageSize = pageSize
    }

    /// Where the checkpoint of a copy is when nothing is said: in a folder, named after the copy.
    package static func checkpointFile(for subject: String, in folder: URL) -> URL {
        folder.appending(path: "keel-copy-\(name(of: subject)).checkpoint")
    }

    /// A short name for what is copied where.
    static func name(of subject: String) -> String {
        SHA256.hash(data: Array(subject.utf8)).hexadecimal(bytes: 6)
    }

    /// Copies, or goes on, and compares.
    ///
    /// - Parameters:
    ///   - start: Where to begin.
    ///   - file: Where the checkpoint is kept until the copy is verified.
    ///   - onProgress: Is told how many documents were copied, after each page.
    /// - Returns: What was done and found.
    /// - Throws: `StorageError`, or what writing the checkpoint throws; it then stays.
    package func run(
        from start: CopyCheckpoint,
        checkpoint file: URL,
        onProgress: (Int) -> Void = { _ in }
    ) async throws -> CopyReport {
        for collection in collections {
            // The client refuses a bad path; the adapter below would not.
            _ = try await StorageClient(source).page(DocumentQuery(collection), size: 1)
        }
        var state = start
        while !state.isRead {
            if source.capabilities.contains(.changeLog) {
                try await copyChanges(&state)
            } else {
                try await copyCollection(&state)
            }
            try state.write(to: file)
            onProgress(state.copied)
            try Task.checkCancellation()
        }
        // What happens to the log from here on is of no importance to the copy.
        if state.cursor != nil { try? await leave(state) }
        let report = try await compare(state)
        try? FileManager.default.removeItem(at: file)
        return report
    }

    /// How many documents there are to copy; nil where no collections are named, because then those
    /// below documents are copied too.
    package var documentCount: Int? {
        get async throws(StorageError) {
            guard !collections.isEmpty else { return nil }
            var count = 0
            for collection in collections {
                count += try await StorageClient(source).count(DocumentQuery(collection))
            }
            return count
        }
    }

    var keepsTimes: Bool { target.capabilities.contains(.replication) }

    private func compare(_ state: CopyCheckpoint) async throws(StorageError) -> CopyReport {
        let scopes: [DocumentScope] =
            collections.isEmpty
            ? state.names.sorted().map { .group($0) } : collections.map { .collection($0) }
        let (from, to) = (StorageClient(source), StorageClient(target))
        var report = CopyReport(
            copied: state.copied,
            unreadable: state.unreadable,
            keepsTimes: keepsTimes
        )
        // What could not be copied is not compared; the report names it.
        func digest(_ scope: DocumentScope, _ client: StorageClient) async throws(StorageError)
            -> ScopeDigest
        {
            try await ScopeDigest(
                of: scope,
                in: client,
                includesTimes: keepsTimes,
                without: Set(state.unreadable.keys)
            )
        }
        for scope in scopes {
            let comparison = CopyReport.Comparison(
                scope: scope,
                source: try await digest(scope, from),
                target: try await digest(scope, to)
            )
            report.comparisons.append(comparison)
        }
        return report
    }
}
