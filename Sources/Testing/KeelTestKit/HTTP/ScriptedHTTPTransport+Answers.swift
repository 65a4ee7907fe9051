public import HTTPTypes
public import KeelHTTP

extension ScriptedHTTPTransport.Answer {
    /// Makes a response with this status, these fields and this body.
    public static func status(
        _ status: HTTPResponse.Status,
        headers: HTTPFields = [:],
        body: [UInt8] = []
    ) -> Self {
        chunks(body.isEmpty ? [] : [body], status: status, headers: headers)
    }

    /// Makes a response with a JSON text.
    public static func json(
        _ text: String,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Self {
        var headers = headers
        headers[.contentType] = "application/json"
        return chunks([Array(text.utf8)], status: status, headers: headers)
    }

    /// Makes a response whose body arrives in these chunks and then ends or fails with the error.
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

    /// Makes a redirect to another address.
    public static func redirect(
        to location: String,
        status: HTTPResponse.Status = .found
    ) -> Self {
        .status(status, headers: [.location: location])
    }

    /// Makes a failed exchange.
    public static func failure(_ error: TransportError) -> Self {
        Self { _ async throws(TransportError) in throw error }
    }

    /// An exchange that waits until its caller is canceled.
    public static let stall = Self { _ async throws(TransportError) in
        await waitForCancellation()
        throw TransportError(.cancelled)
    }

    /// Makes a response whose body arrives in these chunks and then waits until its reader is canceled.
    ///
    /// `onStall` is called when the reader has consumed the chunks.
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
}

extension ScriptedHTTPTransport.Answer {
    /// Makes a response with a value as JSON in the service's conventions, and further header fields.
    public static func value(
        _ value: some Encodable & Sendable,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:],
        coding: JSONCoding = .standard
    ) -> Self {
        Self { call async throws(TransportError) in
            let bytes: [UInt8]
            do {
                bytes = try coding.encode(value)
            } catch {
                throw TransportError(.unknown, "The scripted value has no JSON form.", cause: error)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            return try await json(text, status: status, headers: headers).perform(call)
        }
    }

    /// Returns this answer, delayed by a pause.
    public func delayed(
        by pause: Duration,
        on clock: any Clock<Duration> = ContinuousClock()
    ) -> Self {
        let perform = perform
        return Self { call async throws(TransportError) in
            do {
                try await clock.sleep(for: pause)
            } catch {
                throw TransportError(.cancelled)
            }
            return try await perform(call)
        }
    }
}

extension HTTPByteStream {
    /// Makes an endless stream of bytes, each after a pause.
    package static func endless(_ pause: Duration, on clock: TestClock) -> HTTPByteStream {
        chunks([]).mapReads { _ async throws(TransportError) in
            if pause > .zero {
                do {
                    try await clock.sleep(for: pause)
                } catch {
                    throw TransportError(.cancelled)
                }
            }
            return [UInt8](repeating: 32, count: pause > .zero ? 1 : 1 << 16)[...]
        }
    }
}

extension [ScriptedHTTPTransport.Answer] {
    /// Makes several equal failures: `.failures(2, .connectionLost) + [.json("{}")]`.
    public static func failures(_ count: Int, _ code: TransportError.Code) -> Self {
        Array(repeating: .failure(TransportError(code)), count: count)
    }
}
