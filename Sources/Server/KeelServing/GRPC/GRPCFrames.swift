import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import Synchronization

/// The messages in the bytes of a gRPC body: each has a byte that is 1 if it is compressed, its length in four bytes,
/// and its bytes.
struct GRPCFrames {
    private static let prefix = 5

    /// The maximum size of a message, in bytes.
    let most: Int
    private var bytes: [UInt8] = []
    private var taken = 0

    init(most: Int) { self.most = most }

    var isEmpty: Bool { taken == bytes.count }

    mutating func append(_ more: some Collection<UInt8>) {
        bytes.removeFirst(taken)
        taken = 0
        bytes += more
    }

    /// Returns the next complete message; nil if there is none yet.
    ///
    /// - Throws: A failure if the message is compressed or too large.
    mutating func next() throws(ServingFailure) -> ArraySlice<UInt8>? {
        let rest = bytes[taken...]
        guard rest.count >= Self.prefix else { return nil }
        guard rest[taken] == 0 else {
            throw ServingFailure(
                StorageError(.unsupported, "compressed messages are not supported")
            )
        }
        let length = rest.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard length <= most else {
            throw ServingFailure(
                StorageError(
                    .tooLarge,
                    "a message has \(length) bytes, and at most \(most) are allowed"
                ),
                as: .resourceExhausted
            )
        }
        guard rest.count >= Self.prefix + length else { return nil }
        let start = taken + Self.prefix
        taken = start + length
        let message = bytes[start..<taken]
        // A stream may wait for the next message for hours, and keeps no room of this one.
        if isEmpty { (bytes, taken) = ([], 0) }
        return message
    }

    static func append(_ message: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(0)
        withUnsafeBytes(of: UInt32(message.count).bigEndian) { bytes.append(contentsOf: $0) }
        bytes += message
    }
}

/// The messages of a request, for one reader.
final class GRPCMessageReader: Sendable {
    private struct State {
        var frames: GRPCFrames
        var body: HTTPByteStream?
        var isOpen = false
    }

    private let source: HTTPBody?
    private let state: Mutex<State>

    init(_ body: HTTPBody?, most: Int) {
        source = body
        state = Mutex(State(frames: GRPCFrames(most: most)))
    }

    /// Returns the next message; nil at the end of the request.
    ///
    /// - Throws: A failure if the request is malformed or breaks off.
    func next() async throws(ServingFailure) -> ArraySlice<UInt8>? {
        while true {
            let message = try state.withLock { state throws(ServingFailure) in
                try state.frames.next()
            }
            if let message { return message }
            do throws(TransportError) {
                if let piece = try await nextPiece() {
                    state.withLock { $0.frames.append(piece) }
                    continue
                }
            } catch {
                throw Self.broken
            }
            guard state.withLock({ $0.frames.isEmpty }) else { throw Self.broken }
            return nil
        }
    }

    private static let broken = ServingFailure(
        StorageError(.cancelled, "the request ended within a message")
    )

    private func nextPiece() async throws(TransportError) -> ArraySlice<UInt8>? {
        let isOpen = state.withLock { state in
            defer { state.isOpen = true }
            return state.isOpen
        }
        if !isOpen {
            let body = try await source?.open()
            state.withLock { $0.body = body }
        }
        var iterator = state.withLock { $0.body?.makeAsyncIterator() }
        return try await iterator?.next()
    }
}
