internal import Foundation
internal import KeelStorage

/// The state of one run of an import.
struct ImportSession {
    private var reader: ElementReader
    private let adapter: any StorageAdapter
    private let settings: DocumentImport.Settings
    private var checkpoint: ImportCheckpoint
    private var pending: [(write: DocumentWrite, element: ImportElement)] = []
    private var pendingBytes = 0
    private var badLines: BadLineFile?
    private let resumedFrom: Int

    init(_ importing: DocumentImport, from start: ImportCheckpoint) throws {
        adapter = importing.adapter
        settings = importing.settings
        checkpoint = start
        resumedFrom = start.imported
        reader = try ElementReader(
            settings.file,
            container: start.container,
            from: start.offset,
            number: start.number
        )
        if let file = settings.badLines {
            badLines = try BadLineFile(
                file,
                source: settings.file,
                length: start.badLinesLength
            )
        }
        // Before the first commit: a run that dies in it has its id on disk.
        try checkpoint.write(to: settings.checkpointFile)
    }

    var isFull: Bool {
        pending.count >= settings.batchSize || pendingBytes >= DocumentImport.longestBatch
    }

    /// The next element, nil at the end of the file.
    mutating func next() throws -> ImportElement? {
        checkpoint.isFinished ? nil : try reader.next()
    }

    var progress: ImportProgress {
        ImportProgress(
            imported: checkpoint.imported,
            bad: checkpoint.bad,
            bytes: checkpoint.offset,
            size: checkpoint.file.size,
            resumedFrom: resumedFrom,
            number: checkpoint.number
        )
    }

    mutating func add(_ write: DocumentWrite, of element: ImportElement) {
        pending.append((write, element))
        pendingBytes += element.text.count
    }

    mutating func refuse(
        _ element: ImportElement,
        _ reason: String,
        _ onBadElement: (BadElement) -> Void
    ) throws {
        checkpoint.bad += 1
        try badLines?.keep(element.range)
        onBadElement(BadElement(number: element.number, reason: reason))
    }

    /// Commits what is pending, and notes that it is done.
    mutating func commit(
        isLast: Bool = false,
        _ onBadElement: (BadElement) -> Void
    ) async throws {
        if !pending.isEmpty {
            do throws(StorageError) {
                try await commit(pending.map(\.write))
                checkpoint.imported += pending.count
            } catch {
                guard Self.isRefusal(error) else { throw error }
                try await commitOneByOne(onBadElement)
            }
        }
        pending = []
        pendingBytes = 0
        checkpoint.offset = reader.offset
        checkpoint.number = reader.number
        checkpoint.badLinesLength = badLines?.length ?? 0
        checkpoint.isFinished = isLast
        try checkpoint.write(to: settings.checkpointFile)
    }

    /// Finds out which documents of a batch the store refuses.
    private mutating func commitOneByOne(_ onBadElement: (BadElement) -> Void) async throws {
        for (write, element) in pending {
            do throws(StorageError) {
                try await commit([write], of: element.number)
                checkpoint.imported += 1
            } catch {
                guard Self.isRefusal(error) else { throw error }
                try refuse(element, error.message, onBadElement)
            }
        }
    }

    private func commit(
        _ writes: [DocumentWrite],
        of number: Int? = nil
    ) async throws(StorageError) {
        // The id says which bytes of the file: the same id always means the same documents, also
        // after a resumption with batches of another size.
        let place = "\(checkpoint.offset)-\(reader.offset)"
        let id = "import-\(checkpoint.run)-\(place)" + (number.map { "-\($0)" } ?? "")
        // A store without idempotent commits refuses ids; the same documents again do no harm there.
        let keepsIDs = adapter.capabilities.contains(.idempotentCommits)
        let results = try await adapter.commit([WriteBatch(id: keepsIDs ? id : nil, writes)])
        guard let result = results.first else {
            throw StorageError(.unknown, "the store did not answer a batch", effect: .unknown)
        }
        _ = try result.get()
    }

    /// Whether the store will not take a document, however often it is sent.
    private static func isRefusal(_ error: StorageError) -> Bool {
        error.effect == .none
            && [.invalidArgument, .tooLarge, .encodingFailed].contains(error.code)
    }
}
