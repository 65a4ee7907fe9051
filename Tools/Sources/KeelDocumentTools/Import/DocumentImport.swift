package import Foundation
package import KeelStorage
internal import KeelStorageFirestore
internal import KeelToolSupport

/// Imports a file of JSON into a store, batch by batch, so that it can be continued.
///
/// After each call that the store acknowledged a checkpoint is written. A run that is killed at
/// any moment is continued behind it; a batch that was under way is committed again with the same
/// id and the same documents, so that a store with idempotent commits applies it once, and any
/// other stores the same documents again.
package struct DocumentImport: Sendable {
    /// What to import and how.
    package struct Settings: Sendable {
        /// The file.
        package var file: URL
        /// Where documents go.
        package var collection: CollectionPath?
        /// The field that holds the id.
        package var idField: FieldPath?
        /// What the file is made of.
        package var format = ImportFormat.auto
        /// Whether typed documents keep their times and revisions.
        package var isExact = false
        /// How many documents are committed at once, 1 to 500.
        package var batchSize = 500
        /// How many batches are committed by one call: a local store waits for its disk once.
        package var batchesAtOnce = 8
        /// Whether to go on from the checkpoint of an earlier run.
        package var resumes = false
        /// Where the checkpoint is; nil is beside the file.
        package var checkpoint: URL?
        /// Where bad elements are kept as they were.
        package var badLines: URL?

        package init(file: URL) { self.file = file }

        /// Where the checkpoint is.
        package var checkpointFile: URL {
            checkpoint
                ?? file.deletingLastPathComponent()
                .appending(path: "\(file.lastPathComponent).keel-import")
        }
    }

    /// The most bytes of text in a batch, below what servers take in a request.
    static let longestBatch = 4 << 20
    /// The most bad elements of a batch: what is kept of them must not fill the memory.
    static let mostRefused = 1000

    let adapter: any StorageAdapter
    let settings: Settings

    package init(into adapter: any StorageAdapter, _ settings: Settings) {
        self.adapter = adapter
        self.settings = settings
    }

    /// Imports the file, or what is left of it.
    ///
    /// - Parameters:
    ///   - onBadElement: Is told of each element that is not imported.
    ///   - onProgress: Is told how far it has come, after each batch.
    /// - Returns: What was done, earlier runs included.
    /// - Throws: `ToolError` or `StorageError`; the checkpoint then stays.
    package func run(
        onBadElement: (BadElement) -> Void = { _ in },
        onProgress: (ImportProgress) -> Void = { _ in }
    ) async throws -> ImportProgress {
        let start = try startingPoint()
        let committer = ImportCommitter(adapter: adapter, run: start.run)
        var session = try ImportSession(self, from: start)
        onProgress(session.progress)
        var next: [ImportBatch]? = try session.nextBatches()
        while let batches = next {
            async let outcomes = committer.commit(batches)
            // While the store writes some batches, the next ones are read.
            let isLast = batches.last?.isLast != false
            let following = Result { isLast ? nil : try session.nextBatches() }
            try session.finish(batches, try await outcomes, onBadElement)
            onProgress(session.progress)
            try Task.checkCancellation()
            next = try following.get()
        }
        try? FileManager.default.removeItem(at: settings.checkpointFile)
        return session.progress
    }

    /// Where to begin: at the checkpoint of an earlier run, or at the file's first byte.
    private func startingPoint() throws -> ImportCheckpoint {
        let mark = try FileMark(settings.file)
        let earlier = settings.resumes ? try ImportCheckpoint.read(settings.checkpointFile) : nil
        let form = try ImportForm(of: settings.file, as: settings.format)
        guard form.isTyped || settings.collection != nil else {
            throw ToolError(
                "a file whose documents have no names needs a collection",
                advice: "Add --collection."
            )
        }
        guard !settings.isExact || form.isTyped else {
            throw ToolError(
                "only documents in the typed form have times and revisions to keep",
                advice: "Leave out --exact."
            )
        }
        guard !settings.isExact || adapter.capabilities.contains(.replication) else {
            throw ToolError(
                "the store cannot keep the times and revisions of documents",
                advice: "Leave out --exact: the documents then get times of their own."
            )
        }
        let fresh = ImportCheckpoint(
            run: DocumentPath.randomID(),
            file: mark,
            collection: settings.collection?.string,
            idField: settings.idField?.description,
            isTyped: form.isTyped,
            isExact: settings.isExact,
            container: form.container
        )
        guard let earlier else { return fresh }
        guard earlier.continues(fresh) else {
            throw ToolError(
                "the file or the options are not those of the import to be resumed",
                advice: "Use the same ones, or leave out --resume to import from the beginning."
            )
        }
        return earlier
    }
}
