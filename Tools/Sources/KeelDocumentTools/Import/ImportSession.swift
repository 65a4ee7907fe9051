internal import Foundation
internal import KeelStorage

/// The open files of an import: the imported file, the checkpoint and the file of rejected elements.
struct ImportSession {
    private var reader: ElementReader
    private let rule: ImportRule
    private let settings: DocumentImport.Settings
    private var checkpoint: ImportCheckpoint
    private var badLines: BadLineFile?
    private let resumedFrom: Int

    init(_ importing: DocumentImport, from start: ImportCheckpoint) throws {
        settings = importing.settings
        rule = ImportRule(
            collection: settings.collection,
            idField: settings.idField,
            isTyped: start.isTyped,
            isExact: start.isExact
        )
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
                length: start.badLinesLength ?? 0
            )
        }
        // Written before the first commit, so that a killed run leaves its id.
        try checkpoint.write(to: settings.checkpointFile)
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

    mutating func nextBatches() throws -> [ImportBatch] {
        var batches: [ImportBatch] = []
        repeat {
            batches.append(try nextBatch())
        } while batches.count < settings.batchesAtOnce
            && batches.last?.isLast == false
            && batches.reduce(0) { $0 + $1.byteCount } < DocumentImport.longestBatch
        return batches
    }

    /// Reads the next batch, which is full except at the end of the file; the last one may be empty.
    private mutating func nextBatch() throws -> ImportBatch {
        var batch = ImportBatch(start: reader.offset, number: reader.number)
        while !isFull(batch) {
            guard !checkpoint.isFinished, let element = try reader.next() else {
                batch.isLast = true
                break
            }
            do throws(StorageError) {
                let write = try rule.write(element)
                batch.entries.append(
                    .init(write: write, number: element.number, range: element.range)
                )
                batch.byteCount += element.text.count
            } catch {
                let bad = BadElement(number: element.number, reason: error.message)
                batch.refused.append(.init(element: bad, range: element.range))
            }
        }
        // After a flaw that reaches the end of the file, the next run would report the end as another one.
        if reader.state == .done { batch.isLast = true }
        batch.end = reader.offset
        batch.number = reader.number
        return batch
    }

    private func isFull(_ batch: ImportBatch) -> Bool {
        batch.entries.count >= settings.batchSize
            || batch.refused.count >= DocumentImport.mostRefused
            || batch.byteCount >= DocumentImport.longestBatch
    }

    /// Writes the rejected elements, and a checkpoint after the batches.
    mutating func finish(
        _ batches: [ImportBatch],
        _ outcomes: [ImportBatch.Outcome],
        _ onBadElement: (BadElement) -> Void
    ) throws {
        for (batch, outcome) in zip(batches, outcomes) {
            for refused in batch.refused + outcome.refused {
                try badLines?.keep(refused.range)
                onBadElement(refused.element)
                checkpoint.bad += 1
            }
            checkpoint.imported += outcome.imported
            checkpoint.offset = batch.end
            checkpoint.number = batch.number
            checkpoint.isFinished = batch.isLast
        }
        checkpoint.badLinesLength = badLines?.length
        try checkpoint.write(to: settings.checkpointFile)
    }
}

/// The progress of an import.
package struct ImportProgress: Hashable, Sendable {
    /// The number of acknowledged documents, including those of earlier runs.
    package var imported = 0
    package var bad = 0
    /// The number of finished bytes of the file.
    package var bytes = 0
    /// The size of the file in bytes.
    package var size = 0
    /// The number of documents that earlier runs imported.
    package var resumedFrom = 0
    /// The number of the last finished element.
    package var number = 0
}

/// An element that could not be imported.
package struct BadElement: Hashable, Sendable {
    /// The number of its line, or its position in the array, starting at 1.
    package let number: Int
    package let reason: String
}
