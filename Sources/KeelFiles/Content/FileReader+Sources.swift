internal import Synchronization

extension FileReader {
    /// Reads pieces in memory.
    package init(pieces: [[UInt8]]) {
        let rest = PieceList(pieces)
        self.init { () throws(FileStoreError) in rest.next() }
    }

    /// Reads the pieces of a sequence.
    init<Pieces: AsyncSequence & Sendable>(sequence: Pieces) where Pieces.Element == [UInt8] {
        let source = SequenceSource(sequence)
        self.init { () async throws(FileStoreError) in try await source.next() }
    }
}

/// Lets the first one pass.
final class OnceGate: Sendable {
    private let isOpen = Mutex(true)

    func pass() throws(FileStoreError) {
        let isFirst = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard isFirst else {
            throw FileStoreError(.contentConsumed, "The content was read before.")
        }
    }
}

private final class PieceList: Sendable {
    private let rest: Mutex<ArraySlice<[UInt8]>>

    init(_ pieces: [[UInt8]]) { rest = Mutex(pieces[...]) }

    func next() -> [UInt8]? { rest.withLock { $0.popFirst() } }
}

/// The iterator of a sequence, asked by one task at a time.
private actor SequenceSource<Pieces: AsyncSequence & Sendable> where Pieces.Element == [UInt8] {
    private var iterator: Pieces.AsyncIterator

    init(_ pieces: Pieces) { iterator = pieces.makeAsyncIterator() }

    func next() async throws(FileStoreError) -> [UInt8]? {
        do {
            while true {
                // An actor cannot lend a property while it waits.
                var iterator = iterator
                let piece = try await iterator.next(isolation: self)
                self.iterator = iterator
                guard let piece else {
                    // Streams end, without an error, when the task that reads them is cancelled.
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
                "What was to be put ended in an error.",
                cause: error
            )
        }
    }
}

extension FileStoreError {
    /// What a cancelled call throws.
    package static var cancellation: FileStoreError {
        FileStoreError(.cancelled, "The call was cancelled.", cause: CancellationError())
    }

    /// Throws when the task was cancelled.
    package static func checkCancellation() throws(FileStoreError) {
        if Task.isCancelled { throw cancellation }
    }
}
