#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import KeelHTTP
import NIOCore

/// A request body as the sequence of buffers that AsyncHTTPClient sends.
///
/// AsyncHTTPClient asks for the next buffer once the connection takes more, so the body is produced
/// no faster than it is sent.
struct RequestBodyChunks: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let body: HTTPBody

    func makeAsyncIterator() -> Iterator {
        Iterator(body: body)
    }

    struct Iterator: AsyncIteratorProtocol, Sendable {
        let body: HTTPBody
        var chunks: HTTPByteStream.Iterator?

        init(body: HTTPBody) {
            self.body = body
        }

        mutating func next() async throws -> ByteBuffer? {
            do throws(TransportError) {
                var chunks = self.chunks
                if chunks == nil { chunks = try await body.open().makeAsyncIterator() }
                let chunk = try await chunks?.next()
                self.chunks = chunks
                return chunk.map { ByteBuffer(bytes: $0) }
            } catch {
                guard error.code != .bodyProducerFailed else { throw error }
                throw TransportError(.bodyProducerFailed, cause: error)
            }
        }
    }
}
#endif
