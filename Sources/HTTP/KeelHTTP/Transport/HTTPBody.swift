/// The body of a request: bytes in memory, or bytes that are produced while they are sent.
public struct HTTPBody: Sendable {
    /// A function that opens a body at its first byte.
    public typealias Open = @Sendable () async throws(TransportError) -> HTTPByteStream

    /// The size of the body in bytes, or nil if it is not known in advance.
    public let length: Int64?

    /// Whether each call of ``open`` produces the same bytes.
    ///
    /// A body that is not replayable is never sent twice.
    public let isReplayable: Bool

    /// Opens the body at its first byte.
    public let open: Open

    /// The bytes, if the whole body is in memory; a transport may send them at once.
    package let bytes: [UInt8]?

    /// The file, if the whole body is one; a transport may have the system send it.
    package internal(set) var file: HTTPBodyFile?

    /// Creates a body that is produced while it is sent.
    ///
    /// - Parameters:
    ///   - length: The number of bytes that `open` will produce; nil if it is unknown.
    ///   - isReplayable: Whether `open` produces the same bytes each time.
    ///   - open: Opens the body. An error that it or its stream throws fails the exchange.
    public init(length: Int64?, isReplayable: Bool, open: @escaping Open) {
        self.length = length
        self.isReplayable = isReplayable
        self.open = open
        bytes = nil
    }

    /// Creates a body from bytes in memory.
    public init(_ bytes: [UInt8]) {
        length = Int64(bytes.count)
        isReplayable = true
        open = { .chunks([bytes]) }
        self.bytes = bytes
    }
}
