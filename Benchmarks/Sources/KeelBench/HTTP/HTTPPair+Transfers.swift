import AsyncHTTPClient
import Crypto
import Foundation
import KeelHTTP
import NIOCore
import NIOHTTP1
import Synchronization

extension HTTPPair {
    private static let piece = [UInt8](repeating: 0x78, count: 1 << 16)

    struct GetBytes: ServiceEndpoint {
        let count: Int
        var path: EndpointPath { "/bytes/\(count)" }
    }

    struct CountBytes: Endpoint {
        typealias Response = Int
        var path: EndpointPath { "/count" }
    }

    // MARK: Streams

    @concurrent
    func keelDownload(_ count: Int) async throws {
        var received = 0
        for try await piece in try await client.stream(GetBytes(count: count)).body {
            received += piece.count
        }
        guard received == count else { throw Flaw("Keel got another body.") }
    }

    @concurrent
    func peerDownload(_ count: Int) async throws {
        let request = HTTPClientRequest(url: "\(address)/bytes/\(count)")
        let response = try await peer.execute(request, deadline: .now() + .hours(1))
        var received = 0
        for try await piece in response.body { received += piece.readableBytes }
        guard received == count else { throw Flaw("The peer got another body.") }
    }

    @concurrent
    func keelUpload(_ count: Int) async throws {
        let body = HTTPBody(length: Int64(count), isReplayable: true) {
            let left = Mutex(count)
            return HTTPByteStream { () async throws(TransportError) in
                let size = left.withLock { left in
                    let size = min(left, Self.piece.count)
                    left -= size
                    return size
                }
                return size > 0 ? Self.piece[..<size] : nil
            }
        }
        let type = "application/octet-stream"
        let taken = try await client.upload(.stream(body, contentType: type), to: CountBytes())
        guard taken == count else { throw Flaw("The server got \(taken) bytes from Keel.") }
    }

    @concurrent
    func peerUpload(_ count: Int) async throws {
        var request = HTTPClientRequest(url: "\(address)/count")
        request.method = .POST
        request.body = .stream(Pieces(count: count), length: .known(Int64(count)))
        let response = try await peer.execute(request, deadline: .now() + .hours(1))
        let taken = String(buffer: try await response.body.collect(upTo: 100))
        guard Int(taken) == count else { throw Flaw("The server got \(taken) bytes.") }
    }

    private struct Pieces: AsyncSequence, Sendable {
        typealias Element = ByteBuffer
        private static let piece = ByteBuffer(bytes: HTTPPair.piece)

        let count: Int

        func makeAsyncIterator() -> Iterator { Iterator(left: count) }

        struct Iterator: AsyncIteratorProtocol {
            var left: Int

            mutating func next() async -> ByteBuffer? {
                let size = Swift.min(left, Pieces.piece.readableBytes)
                left -= size
                return size > 0 ? Pieces.piece.getSlice(at: 0, length: size) : nil
            }
        }
    }

    // MARK: Files

    /// Downloads to a file and returns the checksum of the written bytes.
    @concurrent
    func keelFile(_ count: Int, _ file: URL) async throws -> SHA256.Digest {
        let hash = Mutex(SHA256())
        try await client.download(
            from: GetBytes(count: count),
            to: file,
            observer: .chunks { chunk in hash.withLock { $0.update(data: chunk) } }
        )
        return hash.withLock { $0.finalize() }
    }

    /// Writes each piece on arrival and then, if asked, does what Keel promises: the bytes are on disk before the file
    /// gets its name.
    @concurrent
    func peerFile(_ count: Int, _ file: URL, syncs: Bool) async throws -> SHA256.Digest {
        let partial = file.path + ".part"
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_TRUNC, 0o666)
        guard descriptor >= 0 else { throw Flaw("The peer cannot open its file.") }
        defer { close(descriptor) }
        let request = HTTPClientRequest(url: "\(address)/bytes/\(count)")
        let response = try await peer.execute(request, deadline: .now() + .hours(1))
        var hash = SHA256()
        for try await piece in response.body {
            try piece.withUnsafeReadableBytes { bytes in
                hash.update(bufferPointer: bytes)
                guard write(descriptor, bytes.baseAddress, bytes.count) == bytes.count else {
                    throw Flaw("The peer cannot write its file.")
                }
            }
        }
        if syncs { guard fsync(descriptor) == 0 else { throw Flaw("The peer cannot sync.") } }
        guard rename(partial, file.path) == 0 else { throw Flaw("The peer cannot rename.") }
        return hash.finalize()
    }
}
