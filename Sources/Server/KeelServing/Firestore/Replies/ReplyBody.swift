import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import Synchronization

enum ReplyBody: Sendable {
    case whole([UInt8])
    /// A streamed body; a failure cuts it off.
    case pieces(HTTPByteStream)
    /// A body without some documents, and the error that reports them.
    case incomplete([UInt8], StorageError)

    /// The approximate size of a piece, in bytes.
    static let pieceSize = 128 << 10

    /// Returns the body of the given pieces, whole if there is only one.
    ///
    /// An incomplete reply of up to two pieces has an error status, and the error at its beginning. A longer one has
    /// the error at its end, where some of Google's clients ignore it; with `isCut`, it is then cut off.
    ///
    /// - Throws: A failure before the end of the second piece.
    static func made(
        by pieces: some ReplyPieces,
        cuttingOff isCut: Bool
    ) async throws(StorageError) -> ReplyBody {
        var pieces = pieces
        var first = try await pieces.next() ?? []
        let second = try await pieces.next()
        if pieces.isOver, let failure = pieces.failure {
            let error = FirestoreEncoding.error(failure, status: FirestoreStatus(failure))
            error.begin(&first)
            return .incomplete(first + (second ?? []), failure)
        }
        guard let second else { return .whole(first) }
        let maker = ReplyMaker(pieces, after: [first, second], isCut: isCut)
        return .pieces(HTTPByteStream { () async throws(TransportError) in try await maker.next() })
    }
}

/// A source of the pieces of a reply.
protocol ReplyPieces: Sendable {
    /// Returns the next piece; nil after the last one.
    mutating func next() async throws(StorageError) -> [UInt8]?

    /// Extends the hold on the moment of the remaining pieces; called for each piece that the client takes.
    func keepMoment() async throws(StorageError)

    var isOver: Bool { get }

    /// The error that reports omitted documents; complete once ``isOver`` is true.
    var failure: StorageError? { get }
}

extension FirestoreJSON {
    fileprivate func begin(_ reply: inout [UInt8]) {
        guard let kind = reply.first else { return }
        reply.replaceSubrange(..<1, with: [kind] + text(in: kind) + [UInt8(ascii: ",")])
    }

    fileprivate func end(_ reply: inout [UInt8]) {
        guard let kind = reply.popLast() else { return }
        reply += [UInt8(ascii: ",")] + text(in: kind) + [kind]
    }

    /// Returns the error as an element of a list, or as a member of an object.
    private func text(in kind: UInt8) -> ArraySlice<UInt8> {
        let isList = [UInt8(ascii: "["), UInt8(ascii: "]")].contains(kind)
        return isList ? bytes[...] : bytes.dropFirst().dropLast()
    }
}

/// A producer of pieces while the body is read.
private final class ReplyMaker<Pieces: ReplyPieces>: Sendable {
    private struct State {
        var made: ArraySlice<[UInt8]>
        /// Nil while a piece is being produced, and after the last one.
        var pieces: Pieces?
        var isToBeCut = false
    }

    private let state: Mutex<State>
    private let isCut: Bool

    init(_ pieces: Pieces, after made: [[UInt8]], isCut: Bool) {
        self.isCut = isCut
        state = Mutex(State(made: made[...], pieces: pieces))
    }

    func next() async throws(TransportError) -> ArraySlice<UInt8>? {
        guard !Task.isCancelled else { throw TransportError(.cancelled, phase: .readBody) }
        guard !state.withLock({ $0.isToBeCut }) else {
            throw TransportError(.bodyProducerFailed, phase: .readBody)
        }
        guard var pieces = state.withLock({ $0.pieces.take() }) else { return nil }
        do throws(StorageError) {
            try await pieces.keepMoment()
            if let piece = state.withLock({ $0.made.popFirst() }) {
                state.withLock { [pieces] in $0.pieces = pieces }
                return piece[...]
            }
            guard var piece = try await pieces.next() else { return nil }
            guard pieces.isOver, let failure = pieces.failure else {
                state.withLock { [pieces] in $0.pieces = pieces }
                return piece[...]
            }
            FirestoreEncoding.error(failure, status: FirestoreStatus(failure)).end(&piece)
            state.withLock { $0.isToBeCut = isCut }
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
