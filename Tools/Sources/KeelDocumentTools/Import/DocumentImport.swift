package import Foundation
package import KeelStorage
internal import KeelStorageFirestore
internal import KeelToolSupport

/// Imports a JSON file into a store in batches.
///
/// An interrupted import can be resumed after its checkpoint, which it writes after each acknowledged call. Batches
/// after the checkpoint are committed again with the same ids: a store with idempotent commits applies each once, and
/// any other store overwrites the documents with the same content.
package struct DocumentImport: Sendable {
    package struct Settings: Sendable {
        package var file: URL
        /// The collection of the documents; nil for the one named by each typed document.
        package var collection: CollectionPath?
        /// The field that has the document's id; nil for the id of a typed document's name, or else a derived id.
        package var idField: FieldPath?
        package var format = ImportFormat.auto
        /// Whether typed documents keep their times and revisions.
        package var isExact = false
        /// The number of documents per batch, 1 to 500.
        package var batchSize = 500
        /// The maximum number of batches per call.
        package var batchesAtOnce = 8
        /// Whether to resume from the checkpoint of an earlier run, if there is one.
        package var resumes = false
        /// The file of the checkpoint; nil for a file beside the imported one.
        package var checkpoint: URL?
        /// The file that collects the rejected elements.
        package var badLines: URL?
        /// The store's name, which must be the same for a resumed import.
        package var store: String?
        /// The files of the store, which ``check()`` keeps from being overwritten.
        package var storeFiles: [URL] = []

        package init(file: URL) { self.file = file }

        package var checkpointFile: URL {
            checkpoint
                ?? file.deletingLastPathComponent()
                .appending(path: "\(file.lastPathComponent).keel-import")
        }

        /// Refuses settings that do not fit the file, and outputs that would overwrite other files.
        ///
        /// - Throws: `ToolError`, with the exit code of a wrong command line unless the file cannot be read, or that of
        ///   the checkpoint is something else.
        package func check() throws {
            _ = try FileMark(file)
            _ = try form()
            try refuseOneFileForTwo()
            // The checkpoint replaces a former one, and no other file.
            _ = try ImportCheckpoint.read(checkpointFile)
        }

        /// Refuses outputs that are the imported file, a file of the store, or each other.
        private func refuseOneFileForTwo() throws {
            let advice = "Name another file for --bad-lines or --checkpoint."
            var needed = [file] + storeFiles
            for output in [checkpointFile] + (badLines.map { [$0] } ?? []) {
                try SeparateFiles.refuse(output, over: needed, advice: advice)
                needed.append(output)
            }
        }

        /// Returns the format of the file.
        ///
        /// - Throws: `ToolError` if the settings do not fit it.
        func form() throws -> ImportForm {
            let form = try ImportForm(of: file, as: format)
            guard form.isTyped || collection != nil else {
                throw ToolError(
                    "a file whose documents have no names needs a collection",
                    advice: "Type it after the file: keel documents import FILE COLLECTION.",
                    exit: .usage
                )
            }
            guard !isExact || form.isTyped else {
                throw ToolError(
                    "only documents in the typed form have times and revisions to keep",
                    advice: "Leave out --exact.",
                    exit: .usage
                )
            }
            return form
        }
    }

    /// The size of the text in bytes after which a batch is full, smaller than the limit of servers.
    static let longestBatch = 4 << 20
    /// The maximum number of rejected elements in a batch, which limits the memory.
    static let mostRefused = 1000

    let adapter: any StorageAdapter
    let settings: Settings

    package init(into adapter: any StorageAdapter, _ settings: Settings) {
        self.adapter = adapter
        self.settings = settings
    }

    /// Starts or resumes the import.
    ///
    /// - Parameters:
    ///   - onBadElement: Called for each element that is not imported.
    ///   - onProgress: Called at the beginning and after each call to the store.
    /// - Returns: The progress at the end, including earlier runs.
    /// - Throws: `ToolError`, `StorageError`, `CancellationError`, or an error of reading the file. The checkpoint then
    ///   remains.
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
            // The next batches are read while the store commits the previous ones.
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

    /// Returns the checkpoint of an earlier run, or one at the beginning of the file.
    private func startingPoint() throws -> ImportCheckpoint {
        let mark = try FileMark(settings.file)
        let earlier = settings.resumes ? try ImportCheckpoint.read(settings.checkpointFile) : nil
        let form = try settings.form()
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
            container: form.container,
            store: settings.store,
            badLinesLength: settings.badLines == nil ? nil : 0
        )
        guard let earlier else { return fresh }
        guard earlier.continues(fresh) else {
            throw ToolError(
                "the file, the store or the options are not those of the import to be resumed",
                advice: "Use the same ones, or leave out --resume to import from the beginning."
            )
        }
        return earlier
    }
}

/// The format of a file to import.
package enum ImportFormat: String, Sendable, Codable, CaseIterable {
    /// The format that the beginning of the file suggests.
    case auto
    /// A JSON array of objects.
    case json
    /// One object per line.
    case jsonl
    /// Documents in Firestore's typed form, one per line or in an array.
    case typed
}

struct ImportForm {
    let container: ElementReader.Container
    let isTyped: Bool

    /// Detects the format from the beginning of a file.
    ///
    /// A file that begins with “[” is an array. If its first element is a typed document, all elements must be.
    init(of file: URL, as format: ImportFormat) throws {
        var probe = try ElementReader(file, container: .array)
        while let byte = try probe.peek(), byte.isJSONSpace { probe.skip() }
        let isArray = try probe.peek() == UInt8(ascii: "[")
        container =
            switch format {
            case .json: .array
            case .jsonl: .lines
            case .auto, .typed: isArray ? .array : .lines
            }
        guard format == .auto else {
            isTyped = format == .typed
            return
        }
        var reader = try ElementReader(file, container: container)
        let first = try reader.next()
        // A file without elements, such as the export of an empty collection, lacks nothing.
        isTyped = first.map { (try? DocumentJSON.document(typed: $0.text)) != nil } ?? true
    }
}
