import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import Synchronization

/// The messages of a reply that is a list over REST, as frames of gRPC.
///
/// An error in the list becomes the status.
final class GRPCResults: Sendable {
    private struct State {
        var elements = JSONElements()
        var status: GRPCStatus?
    }

    private let type: String
    private let pieces: HTTPByteStream
    private let state = Mutex(State())

    init(_ pieces: HTTPByteStream, of type: String) {
        self.pieces = pieces
        self.type = type
    }

    /// The status, once all messages have been returned.
    var trailers: HTTPFields? { state.withLock { $0.status?.trailers } }

    /// Returns the frames of the next messages; nil at the end.
    ///
    /// - Throws: `TransportError/Code/cancelled` if the task is canceled.
    func next() async throws(TransportError) -> ArraySlice<UInt8>? {
        var iterator = pieces.makeAsyncIterator()
        while state.withLock({ $0.status == nil }) {
            let piece: ArraySlice<UInt8>?
            do throws(TransportError) {
                piece = try await iterator.next()
            } catch {
                guard error.code != .cancelled else { throw error }
                let cause = error.cause as? StorageError
                end(ServingFailure(cause ?? StorageError(.unknown, "the response ended early")))
                break
            }
            guard let piece else {
                state.withLock { $0.status = $0.status ?? .ok }
                break
            }
            let frames = frames(of: piece)
            if !frames.isEmpty { return frames[...] }
        }
        return nil
    }

    private func frames(of piece: ArraySlice<UInt8>) -> [UInt8] {
        var frames: [UInt8] = []
        for element in state.withLock({ $0.elements.append(piece) }) {
            do throws(ServingFailure) {
                let json = try GRPCResults.parsed(element)
                if json["error"] != nil {
                    let error = FirestoreDecoding.error(httpStatus: 500, json, isWrite: false)
                    end(ServingFailure(error))
                    continue
                }
                GRPCFrames.append(try GRPCResults.message(json, of: type), to: &frames)
            } catch {
                end(error)
                break
            }
        }
        return frames
    }

    private func end(_ failure: ServingFailure) {
        state.withLock { $0.status = $0.status ?? GRPCStatus(failure) }
    }

    // MARK: Single messages

    static func parsed(_ bytes: [UInt8]) throws(ServingFailure) -> FirestoreJSON {
        do throws(FirestoreJSONError) {
            return try FirestoreJSON(parsing: bytes)
        } catch {
            throw ServingFailure(StorageError(.unknown, "the reply is malformed: \(error)"))
        }
    }

    static func message(
        _ json: FirestoreJSON,
        of type: String
    ) throws(ServingFailure) -> [UInt8] {
        do throws(FirestoreProtobufError) {
            return try FirestoreProtobuf.bytes(json, of: type)
        } catch {
            throw ServingFailure(StorageError(.unknown, "the reply is malformed: \(error)"))
        }
    }
}

/// Divides the text of a list of objects into the objects.
struct JSONElements {
    private var element: [UInt8] = []
    private var level = 0
    private var isInString = false
    private var isEscaped = false

    /// Adds a piece of the text, and returns the objects that are now complete.
    mutating func append(_ piece: ArraySlice<UInt8>) -> [[UInt8]] {
        var complete: [[UInt8]] = []
        var start = piece.startIndex
        for (position, byte) in zip(piece.indices, piece) {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                level += 1
                if level == 2 { start = position }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                level -= 1
                guard level == 1 else { continue }
                complete.append(element + piece[start...position])
                element = []
                start = piece.index(after: position)
            default: continue
            }
        }
        if level > 1 { element += piece[start...] }
        return complete
    }
}
