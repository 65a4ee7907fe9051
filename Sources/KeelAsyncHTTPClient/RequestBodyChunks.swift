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
        var rest = ByteBuffer()

        init(body: HTTPBody, window: SendWindow) {
            self.body = body
            self.window = window
        }

        mutating func next() async throws -> ByteBuffer? {
            do throws(TransportError) {
                await window.waitForRoom()
                var chunks = self.chunks
                if chunks == nil { chunks = try await body.open().makeAsyncIterator() }
                while rest.readableBytes == 0, let chunk = try await chunks?.next() {
                    rest = ByteBuffer(bytes: chunk)
                }
                self.chunks = chunks
                let piece = rest.readPiece()
                window.produced(piece?.readableBytes ?? 0)
                return piece
            } catch {
                guard error.code != .bodyProducerFailed else { throw error }
                throw TransportError(.bodyProducerFailed, cause: error)
            }
        }
    }
}

extension ByteBuffer {
    /// How many bytes are given to the network at once: ``SendWatch`` sees only whole pieces taken.
    private static let pieceSize = 64 * 1024

    /// Takes the next bytes away, no more than are sent in one piece; nil if there are none.
    mutating func readPiece() -> ByteBuffer? {
        readableBytes == 0 ? nil : readSlice(length: min(readableBytes, Self.pieceSize))
    }
}
#endif
