public import HTTPTypes
public import KeelHTTP

extension ScriptedHTTPTransport.Answer {
    /// A response with this status, these fields and this body.
    public static func status(
        _ status: HTTPResponse.Status,
        headers: HTTPFields = [:],
        body: [UInt8] = []
    ) -> Self {
        chunks(body.isEmpty ? [] : [body], status: status, headers: headers)
    }

    /// A response with a JSON text.
    public static func json(
        _ text: String,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Self {
        var headers = headers
        headers[.contentType] = "application/json"
        return chunks([Array(text.utf8)], status: status, headers: headers)
    }

    /// A response whose body comes in these pieces and then ends, or fails if an error is given.
    public static func chunks(
        _ chunks: [[UInt8]],
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:],
        thenThrow error: TransportError? = nil
    ) -> Self {
        Self { _ async throws(TransportError) in
            HTTPReply(
                head: HTTPResponse(status: status, headerFields: headers),
                body: .chunks(chunks, thenThrow: error)
            )
        }
    }

    /// A redirect to another address.
    public static func redirect(
        to location: String,
        status: HTTPResponse.Status = .found
    ) -> Self {
        .status(status, headers: [.location: location])
    }

    /// A failed exchange.
    public static func failure(_ error: TransportError) -> Self {
        Self { _ async throws(TransportError) in throw error }
    }

    /// An exchange that waits until its caller is cancelled.
    public static let stall = Self { _ async throws(TransportError) in
        await waitForCancellation()
        throw TransportError(.cancelled)
    }

    /// A response whose body comes in these pieces and then waits until its reader is cancelled.
    ///
    /// `onStall` is called when the reader has come to the end of the pieces.
    public static func stallingBody(
        after chunks: [[UInt8]],
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:],
        onStall: @escaping @Sendable () -> Void = {}
    ) -> Self {
        Self { _ async throws(TransportError) in
            let pieces = HTTPByteStream.chunks(chunks)
            let body = pieces.mapReads { read async throws(TransportError) in
                if let piece = try await read() { return piece }
                onStall()
                await waitForCancellation()
                throw TransportError(.cancelled, phase: .readBody)
            }
            return HTTPReply(
                head: HTTPResponse(status: status, headerFields: headers),
                body: body
            )
        }
    }

    private static func waitForCancellation() async {
        // A stream that never has an element ends when its reader's task is cancelled.
        let (never, continuation) = AsyncStream.makeStream(of: Never.self)
        await withTaskCancellationHandler {
            for await _ in never {}
        } onCancel: {
            continuation.finish()
        }
    }
}
