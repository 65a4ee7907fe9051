#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import KeelHTTP
import NIOCore

/// A request body as the sequence of buffers that AsyncHTTPClient sends.
///
/// The body is produced no faster than the network takes it: see ``SendWindow``.
struct RequestBodyChunks: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let body: HTTPBody
    let window: SendWindow

    func makeAsyncIterator() -> Iterator {
        Iterator(body: body, window: window)
    }

    struct Iterator: AsyncIteratorProtocol, Sendable {
        let body: HTTPBody
        let window: SendWindow
        var chunks: HTTPByteStream.Iterator?

        init(body: HTTPBody, window: SendWindow) {
            self.body = body
            self.window = window
        }

        mutating func next() async throws -> ByteBuffer? {
            do throws(TransportError) {
                await window.waitForRoom()
                var chunks = self.chunks
                if chunks == nil { chunks = try await body.open().makeAsyncIterator() }
                let chunk = try await chunks?.next()
                self.chunks = chunks
                window.produced(chunk?.count ?? 0)
                return chunk.map { ByteBuffer(bytes: $0) }
            } catch {
                guard error.code != .bodyProducerFailed else { throw error }
                throw TransportError(.bodyProducerFailed, cause: error)
            }
        }
    }
}
#endif
