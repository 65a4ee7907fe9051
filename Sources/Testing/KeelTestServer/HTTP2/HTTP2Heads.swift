#if TestServer
import KeelTestKit
import NIOCore
import NIOHPACK

/// A decoder that assembles and reads header blocks.
struct HTTP2Heads {
    struct Block: Sendable {
        var stream: UInt32
        /// Whether the block ends the stream.
        var ends: Bool
        var pairs: [HTTPTestRequest.Field]

        /// The fields without the pseudo-fields.
        var fields: [HTTPTestRequest.Field] { pairs.filter { !$0.name.hasPrefix(":") } }

        /// The request that the block begins.
        var request: HTTPTestRequest {
            func value(_ name: String) -> String? { pairs.first { $0.name == name }?.value }
            let host = value(":authority").map { [HTTPTestRequest.Field("host", $0)] } ?? []
            return HTTPTestRequest(
                method: value(":method") ?? "",
                target: value(":path") ?? value(":authority") ?? "",
                version: "HTTP/2",
                fields: host + fields
            )
        }
    }

    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    private var bytes: [UInt8] = []
    private var ends = false

    /// Adds a frame; returns the block that the frame completes, if any.
    mutating func add(_ frame: HTTP2Frame) throws -> Block? {
        if frame.kind == .headers {
            bytes = []
            ends = frame.has(HTTP2Frame.Flag.endStream)
        }
        bytes += frame.content
        guard frame.has(HTTP2Frame.Flag.endHeaders) else { return nil }
        var buffer = ByteBuffer(bytes: bytes)
        let pairs = try decoder.decodeHeaders(from: &buffer).map {
            HTTPTestRequest.Field($0.name, $0.value)
        }
        return Block(stream: frame.stream, ends: ends, pairs: pairs)
    }
}
#endif
