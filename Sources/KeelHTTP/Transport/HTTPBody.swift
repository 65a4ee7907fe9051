/// The body of a request: bytes at hand, or bytes that are produced while they are sent.
public struct HTTPBody: Sendable {
    /// A function that starts the body from its first byte.
    public typealias Open = @Sendable () async throws(TransportError) -> HTTPByteStream

    /// How many bytes the body has, or nil if that is not known before its end.
    public let length: Int64?

    /// Whether ``open`` may be called again and then gives the same bytes.
    ///
    /// A body that is not replayable is never sent twice, neither by a redirect nor by a retry.
    public let isReplayable: Bool

    /// Starts the body from its first byte.
    public let open: Open

    /// The bytes, where the whole body is in memory: a transport may send them in one go.
    package let bytes: [UInt8]?

    /// The file, where the whole body is one: a transport may have the system send it.
    package internal(set) var file: HTTPBodyFile?

    /// Creates a body that is produced while it is sent.
    ///
    /// - Parameters:
    ///   - length: How many bytes `open` will give; nil sends the body in chunks of unknown total.
    ///   - isReplayable: Whether `open` gives the same bytes each time.
    ///   - open: Starts the body. An error that it or its stream throws fails the exchange.
    public init(length: Int64?, isReplayable: Bool, open: @escaping Open) {
        self.length = length
        self.isReplayable = isReplayable
        self.open = open
        bytes = nil
    }

    /// Creates a body of bytes that are in memory.
    public init(_ bytes: [UInt8]) {
        length = Int64(bytes.count)
        isReplayable = true
        open = { .chunks([bytes]) }
        self.bytes = bytes
    }
}
