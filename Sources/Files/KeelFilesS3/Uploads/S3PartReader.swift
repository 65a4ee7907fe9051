#if Crypto
internal import KeelFiles
internal import Synchronization

final class S3PartReader: Sendable {
    private struct State {
        var hashes: [FileChecksum.Algorithm: FileHash] = [:]
        /// The bytes that were read but are not yet in a part.
        var rest: [UInt8] = []
        var count = 0
        var isOver = false
    }

    private let reader: FileReader
    private let state: Mutex<State>

    init(
        _ content: FileContent,
        algorithms: [FileChecksum.Algorithm?]
    ) async throws(FileStoreError) {
        var state = State()
        for algorithm in algorithms {
            if let algorithm { state.hashes[algorithm] = try FileHash(algorithm) }
        }
        self.state = Mutex(state)
        reader = try await content.open()
    }

    var count: Int { state.withLock { $0.count } }

    func checksum(_ algorithm: FileChecksum.Algorithm?) -> FileChecksum? {
        algorithm.flatMap { algorithm in state.withLock { $0.hashes[algorithm]?.checksum } }
    }

    func next(_ byteCount: Int) async throws(FileStoreError) -> [UInt8] {
        var part = state.withLock { state in
            defer { state.rest = [] }
            return state.rest
        }
        part.reserveCapacity(min(byteCount, 64 << 20))
        while part.count < byteCount, let piece = try await read() { part += piece }
        guard part.count > byteCount else { return part }
        state.withLock { $0.rest = Array(part[byteCount...]) }
        part.removeLast(part.count - byteCount)
        return part
    }

    func isOver() async throws(FileStoreError) -> Bool {
        if state.withLock({ !$0.rest.isEmpty }) { return false }
        guard let piece = try await read() else { return true }
        state.withLock { $0.rest = piece }
        return false
    }

    private func read() async throws(FileStoreError) -> [UInt8]? {
        try FileStoreError.checkCancellation()
        guard !state.withLock({ $0.isOver }) else { return nil }
        guard let piece = try await reader.next() else {
            state.withLock { $0.isOver = true }
            return nil
        }
        state.withLock { state in
            state.count += piece.count
            for algorithm in state.hashes.keys { state.hashes[algorithm]?.update(piece) }
        }
        return piece
    }

    func checkArrival(of file: S3NewFile) throws(S3Failure) {
        do throws(FileStoreError) {
            let algorithm = file.options.checksum?.algorithm ?? .crc32c
            let empty = try FileHash(algorithm).checksum
            let found = checksum(algorithm) ?? empty
            try FileIntegrityCheck.check(count, found, of: file.content, file.options, file.path)
        } catch {
            throw .failed(error)
        }
    }
}
#endif
