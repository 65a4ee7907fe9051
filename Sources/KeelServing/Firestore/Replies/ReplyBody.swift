import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import Synchronization

/// The body of a reply.
enum ReplyBody: Sendable {
    case whole([UInt8])
    /// Made while it is read: a failure in the middle cuts it off.
    case pieces(HTTPByteStream)
    /// Tells what there is, and the error that says what it could not tell.
    case incomplete([UInt8], StorageError)

    /// How many bytes a piece has, about.
    static let pieceSize = 128 << 10

    /// The body that pieces make up, whole where there is only one.
    ///
    /// What fails until the second piece is thrown, and so has a status of its own. An incomplete reply
    /// of up to two pieces has its status too, and the error at its beginning. The error of a longer one
    /// is at its end. Not all of Google's clients look for it there, so that the reply is then cut off.
    ///
    /// - Parameters:
    ///   - pieces: What makes the pieces.
    ///   - isCut: Whether a longer reply is cut off behind its error.
    /// - Returns: The body.
    /// - Throws: What fails until the second piece.
    static func made(
        by pieces: some ReplyPieces,
        cuttingOff isCut: Bool
    ) async throws(StorageError) -> ReplyBody {
        var pieces = pieces
        var first = try await pieces.next() ?? []
        let second = try await pieces.next()
        if pieces.isOver, let failure = pieces.failure {
            let error = FirestoreEncoding.error(failure, status: FirestoreStatus(failure.code))
            error.begin(&first)
            return .incomplete(first + (second ?? []), failure)
        }
        guard let second else { return .whole(first) }
        let maker = ReplyMaker(pieces, after: [first, second], isCut: isCut)
        return .pieces(HTTPByteStream { () async throws(TransportError) in try await maker.next() })
    }
}

/// Makes the body of a reply piece by piece.
protocol ReplyPieces: Sendable {
    /// The next piece, nil after the last one.
    mutating func next() async throws(StorageError) -> [UInt8]?

    /// Lets the store hold the moment longer that the rest of the pieces is of; called for each piece that
    /// the client takes.
    func keepMoment() async throws(StorageError)

    /// Whether the last piece has been made.
    var isOver: Bool { get }

    /// What the reply could not tell; complete once ``isOver`` says so.
    var failure: StorageError? { get }
}

extension FirestoreJSON {
    /// Puts an error in front of the first element of a list, or of the first member of an object.
    fileprivate func begin(_ reply: inout [UInt8]) {
        guard let kind = reply.first else { return }
        reply.replaceSubrange(..<1, with: [kind] + text(in: kind) + [UInt8(ascii: ",")])
    }

    /// Puts an error behind the last element of a list, or the last member of an object.
    fileprivate func end(_ reply: inout [UInt8]) {
        guard let kind = reply.popLast() else { return }
        reply += [UInt8(ascii: ",")] + text(in: kind) + [kind]
    }

    /// The error as an element, or its only member as that of an object.
    private func text(in kind: UInt8) -> ArraySlice<UInt8> {
        let isList = [UInt8(ascii: "["), UInt8(ascii: "]")].contains(kind)
        return isList ? bytes[...] : bytes.dropFirst().dropLast()
    }
}

/// Makes the pieces of a body as they are read.
private final class ReplyMaker<Pieces: ReplyPieces>: Sendable {
    private struct State {
        var made: ArraySlice<[UInt8]>
        /// Nil while a piece is being made, and after the last one.
        var pieces: Pieces?
        /// Whether the reply ends as if the connection had broken.
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
            FirestoreEncoding.error(failure, status: FirestoreStatus(failure.code)).end(&piece)
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
