import KeelHTTP
import KeelStorage
import Synchronization

/// The body of a reply.
enum ReplyBody: Sendable {
    case whole([UInt8])
    /// Made while it is read: a failure in the middle cuts it off.
    case pieces(HTTPByteStream)

    /// How many bytes a piece has, about.
    static let pieceSize = 128 << 10

    /// The body that pieces make up, whole where there is only one.
    ///
    /// What fails until the second piece is thrown, and so has a status of its own.
    static func made(by pieces: some ReplyPieces) async throws(StorageError) -> ReplyBody {
        var pieces = pieces
        let first = try await pieces.next() ?? []
        guard let second = try await pieces.next() else { return .whole(first) }
        let maker = ReplyMaker(pieces, after: [first, second])
        return .pieces(HTTPByteStream { () async throws(TransportError) in try await maker.next() })
    }
}

/// Makes the body of a reply piece by piece.
protocol ReplyPieces: Sendable {
    /// The next piece, nil after the last one.
    mutating func next() async throws(StorageError) -> [UInt8]?
}

/// Makes the pieces of a body as they are read.
private final class ReplyMaker<Pieces: ReplyPieces>: Sendable {
    private struct State {
        var made: ArraySlice<[UInt8]>
        /// Nil while a piece is being made, and after the last one.
        var pieces: Pieces?
    }

    private let state: Mutex<State>

    init(_ pieces: Pieces, after made: [[UInt8]]) {
        state = Mutex(State(made: made[...], pieces: pieces))
    }

    func next() async throws(TransportError) -> ArraySlice<UInt8>? {
        if let piece = state.withLock({ $0.made.popFirst() }) { return piece[...] }
        guard !Task.isCancelled else { throw TransportError(.cancelled, phase: .readBody) }
        guard var pieces = state.withLock({ $0.pieces.take() }) else { return nil }
        do throws(StorageError) {
            guard let piece = try await pieces.next() else { return nil }
            state.withLock { [pieces] in $0.pieces = pieces }
            return piece[...]
        } catch {
            throw TransportError(
                error.code == .cancelled ? .cancelled : .bodyProducerFailed,
                phase: .readBody,
                cause: error
            )
        }
    }
}
