#if Crypto
internal import KeelFiles
internal import Synchronization

/// A reading of an object by several requests at a time, for one reader.
///
/// The first part is returned as it arrives; the next parts wait in memory for their turn.
final class S3ParallelReading: Sendable {
    private typealias Part = Task<Result<[[UInt8]], FileStoreError>, Never>

    private struct State {
        /// The parts that are not requested yet, the last one first.
        var waiting: [S3Download]
        var requested: [Part] = []
        /// The pieces of the part that is returned, the last one first.
        var pieces: [[UInt8]] = []
        var isFirstOver = false
        var hash: FileHash?
    }

    private let first: FileReader
    private let limit: Int
    private let state: Mutex<State>

    /// Creates a reading, which requests nothing before the first call of ``next()``.
    init(_ first: FileReader, rest: [S3Download], limit: Int, hash: FileHash?) {
        self.first = first
        self.limit = limit
        state = Mutex(State(waiting: rest.reversed(), hash: hash))
    }

    deinit { state.withLock { for part in $0.requested { part.cancel() } } }

    var checksum: FileChecksum? { state.withLock { $0.hash?.checksum } }

    func next() async throws(FileStoreError) -> [UInt8]? {
        var piece = try await nextOfFirst()
        if piece == nil { piece = try await nextOfRest() }
        if let piece { state.withLock { $0.hash?.update(piece) } }
        return piece
    }

    private func nextOfFirst() async throws(FileStoreError) -> [UInt8]? {
        let isOver = state.withLock { state in
            request(&state, limit - (state.isFirstOver ? 0 : 1))
            return state.isFirstOver
        }
        guard !isOver else { return nil }
        if let piece = try await first.next() { return piece }
        state.withLock { $0.isFirstOver = true }
        return nil
    }

    private func nextOfRest() async throws(FileStoreError) -> [UInt8]? {
        while true {
            try FileStoreError.checkCancellation()
            let (piece, part) = state.withLock { state in
                if let piece = state.pieces.popLast() { return ([UInt8]?.some(piece), Part?.none) }
                request(&state, limit)
                return (nil, state.requested.first)
            }
            if let piece { return piece }
            guard let part else { return nil }
            let result = await withTaskCancellationHandler {
                await part.value
            } onCancel: {
                part.cancel()
            }
            let pieces = try result.get()
            state.withLock { state in
                state.requested.removeFirst()
                state.pieces = pieces.reversed()
                request(&state, limit)
            }
        }
    }

    private func request(_ state: inout State, _ count: Int) {
        while state.requested.count < count, let part = state.waiting.popLast() {
            state.requested.append(
                Part {
                    do throws(FileStoreError) {
                        return .success(try await part.pieces())
                    } catch {
                        return .failure(error)
                    }
                }
            )
        }
    }
}
#endif
