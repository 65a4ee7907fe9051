internal import Crypto
package import Foundation
package import KeelStorage
internal import KeelStorageAdapting

/// Copies documents from one store to another, and compares both; an interrupted copy can be resumed.
///
/// A source with a change log is read through the log, which has every document and the changes made during the copy.
/// Another source is read collection by collection, without those below missing documents. If the target supports
/// replication, the documents keep their times and revisions; otherwise the target assigns new ones.
///
/// Another program, such as a mirror, may write newer states to the target during the copy. If the source has a change
/// log, the copy leaves no older state behind: it ends when none of the documents that it wrote last has changed in the
/// source meanwhile, or after 1,000 attempts.
///
/// Keel's own records are not copied: two stores with the same outbox would send its writes twice. Of a document that
/// cannot be read, the target keeps its own state.
package struct DocumentCopy: Sendable {
    /// The size of the bodies in bytes after which a batch is committed, smaller than the limit of servers.
    static let longestBatch = 4 << 20

    let source: any StorageAdapter
    let target: any StorageAdapter
    let collections: [CollectionPath]
    let pageSize: Int

    /// Creates a copy of collections, without those below their documents, or of everything for an empty list.
    ///
    /// A page has `pageSize` documents, 1 to 500.
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

    /// Returns the default file of the checkpoint in a folder.
    package static func checkpointFile(for subject: String, in folder: URL) -> URL {
        folder.appending(path: "keel-copy-\(name(of: subject)).checkpoint")
    }

    /// Returns a short name of a copy.
    static func name(of subject: String) -> String {
        SHA256.hash(data: Array(subject.utf8)).hexadecimal(bytes: 6)
    }

    /// Starts or resumes a copy, and compares both stores at the end.
    ///
    /// - Parameters:
    ///   - start: The checkpoint to start from.
    ///   - file: The file of the checkpoint, which is removed after the comparison.
    ///   - onProgress: Called after each page with the number of copied documents.
    /// - Returns: The report.
    /// - Throws: `StorageError`, `CancellationError`, or an error of writing the checkpoint. The file then remains.
    package func run(
        from start: CopyCheckpoint,
        checkpoint file: URL,
        onProgress: (Int) -> Void = { _ in }
    ) async throws -> CopyReport {
        for collection in collections {
            // The client rejects an invalid path; the adapter alone would not.
            _ = try await StorageClient(source).page(DocumentQuery(collection), size: 1)
        }
        var state = start
        // The reader of an unfinished copy that this one replaces would keep the source's log for days.
        if let former = try? CopyCheckpoint.read(file, of: start.subject) {
            state.reader = former.reader
        }
        var last = LastPage()
        while !state.isRead {
            if source.capabilities.contains(.changeLog) {
                try await copyChanges(&state, after: &last)
            } else {
                try await copyCollection(&state)
            }
            try state.write(to: file)
            onProgress(state.copied)
            try Task.checkCancellation()
        }
        // The copy no longer needs the log, so a failure here has no effect on it.
        if state.cursor != nil { try? await leave(state) }
        let report = try await compare(state)
        try? FileManager.default.removeItem(at: file)
        return report
    }

    /// The number of documents to copy; nil for a copy of everything, which cannot be counted in advance.
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
        // Documents that could not be copied are not compared; the report has their paths.
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
        report.outboxWrites = try await outboxWriteCount()
        return report
    }

    /// The number of writes in the source's outboxes; 0 for a copy of collections, and for a server.
    private func outboxWriteCount() async throws(StorageError) -> Int {
        guard collections.isEmpty, source.capabilities.contains(.collectionListing) else {
            return 0
        }
        // The client leaves out Keel's own collections. `Outbox` names the collection of its writes.
        let result = try await source.read(ReadRequest(.collections(under: nil)))
        guard case .names(let names) = result.payload else { return 0 }
        var count = 0
        for name in names where name.hasPrefix("__outbox.") && name.hasSuffix("__") {
            count += try await StorageClient(source).count(DocumentQuery(CollectionPath(name)))
        }
        return count
    }
}

/// The result of a copy and of the comparison that follows it.
package struct CopyReport: Sendable {
    /// The documents of a scope in both stores.
    package struct Comparison: Hashable, Sendable {
        package let scope: DocumentScope
        package let source: ScopeDigest
        package let target: ScopeDigest

        package var isSame: Bool { source == target }
    }

    /// The number of copied documents, including those of earlier runs.
    package var copied = 0
    /// The reasons why documents of the source could not be read, by path.
    package var unreadable: [String: String] = [:]
    /// Whether the target keeps the times and revisions of the source.
    package var keepsTimes = false
    /// The comparisons in the order of the collections; sorted by name for a copy of everything.
    package var comparisons: [Comparison] = []
    /// The number of writes in the source's outboxes, which were not copied; 0 for a copy of some collections, or
    /// from a server.
    package var outboxWrites = 0

    /// Whether both stores have the same documents in all scopes, and all of the source could be read.
    package var isVerified: Bool { unreadable.isEmpty && comparisons.allSatisfy(\.isSame) }
}
