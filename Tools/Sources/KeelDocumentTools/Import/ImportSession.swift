internal import Foundation
internal import KeelStorage

/// The files of one run of an import: what is read, how far it has come, and what was bad.
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
                length: start.badLinesLength
            )
        }
        // Before the first commit: a run that dies in it has its id on disk.
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

    /// Reads the next batches, as many as are stored by one call; the last of them may be the last.
    mutating func nextBatches() throws -> [ImportBatch] {
        var batches: [ImportBatch] = []
        repeat {
            batches.append(try nextBatch())
        } while batches.count < settings.batchesAtOnce
            && batches.last?.isLast == false
            && batches.reduce(0) { $0 + $1.byteCount } < DocumentImport.longestBatch
        return batches
    }

    /// Reads the next batch, full unless the file ends.
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
        batch.end = reader.offset
        batch.number = reader.number
        return batch
    }

    private func isFull(_ batch: ImportBatch) -> Bool {
        batch.entries.count >= settings.batchSize
            || batch.refused.count >= DocumentImport.mostRefused
            || batch.byteCount >= DocumentImport.longestBatch
    }

    /// Keeps what was bad, and notes that some batches are done.
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
        checkpoint.badLinesLength = badLines?.length ?? 0
        try checkpoint.write(to: settings.checkpointFile)
    }
}
