internal import Synchronization

extension FileReader {
    package init(pieces: [[UInt8]]) {
        let rest = Mutex(pieces[...])
        self.init { () throws(FileStoreError) in rest.withLock { $0.popFirst() } }
    }

    init<Pieces: AsyncSequence & Sendable>(sequence: Pieces) where Pieces.Element == [UInt8] {
        let source = SequenceSource(sequence)
        self.init { () async throws(FileStoreError) in try await source.next() }
    }
}

private actor SequenceSource<Pieces: AsyncSequence & Sendable> where Pieces.Element == [UInt8] {
    private var iterator: Pieces.AsyncIterator

    init(_ pieces: Pieces) { iterator = pieces.makeAsyncIterator() }

    func next() async throws(FileStoreError) -> [UInt8]? {
        do {
            while true {
                // An actor cannot lend a property across a suspension.
                var iterator = iterator
                let piece = try await iterator.next(isolation: self)
                self.iterator = iterator
                guard let piece else {
                    // A stream ends without an error if the task that reads it is canceled.
                    try FileStoreError.checkCancellation()
                    return nil
                }
                if !piece.isEmpty { return piece }
            }
        } catch let error as FileStoreError {
            throw error
        } catch is CancellationError {
            throw FileStoreError.cancellation
        } catch {
            throw FileStoreError(
                .sourceFailed,
                "The source of the content failed.",
                cause: error
            )
        }
    }
}

extension FileStoreError {
    package static var cancellation: FileStoreError {
        FileStoreError(.cancelled, "The call was canceled.", cause: CancellationError())
    }

    package static func checkCancellation() throws(FileStoreError) {
        if Task.isCancelled { throw cancellation }
    }
}
