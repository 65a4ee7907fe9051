#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import KeelHTTP
import NIOCore

/// A request body as a sequence of buffers for AsyncHTTPClient.
///
/// Produced no faster than the network takes it: see ``SendWindow``.
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
        var rest: ArraySlice<UInt8> = []

        mutating func next() async throws -> ByteBuffer? {
            do throws(TransportError) {
                await window.waitForRoom()
                var chunks = self.chunks
                if chunks == nil { chunks = try await body.open().makeAsyncIterator() }
                while rest.isEmpty, let chunk = try await chunks?.next() { rest = chunk }
                self.chunks = chunks
                // Copies only the piece: the chunk may be a whole large body.
                let piece = rest.prefix(ByteBuffer.pieceSize)
                rest = rest.dropFirst(piece.count)
                window.produced(piece.count)
                return piece.isEmpty ? nil : ByteBuffer(bytes: piece)
            } catch {
                guard error.code != .bodyProducerFailed else { throw error }
                throw TransportError(.bodyProducerFailed, cause: error)
            }
        }
    }
}

extension ByteBuffer {
    /// The number of bytes written at once: ``SendStallTimeout`` sees only whole pieces being taken.
    static let pieceSize = 64 * 1024

    mutating func readPiece() -> ByteBuffer? {
        readableBytes == 0 ? nil : readSlice(length: min(readableBytes, Self.pieceSize))
    }
}
#endif
