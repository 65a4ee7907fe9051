public import HTTPTypes

extension HTTPTestAnswer {
    // MARK: Factories

    /// Makes an answer with this status and without a body.
    public static func status(
        _ status: HTTPResponse.Status,
        headers: HTTPFields = [:]
    ) -> Self {
        Self(status: status, headers: headers)
    }

    /// Makes an answer with these bytes as its body, in one chunk.
    public static func bytes(
        _ bytes: [UInt8],
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Self {
        Self(status: status, headers: headers, body: bytes.isEmpty ? [] : [bytes])
    }

    /// Makes an answer with a text as its body.
    public static func text(
        _ text: String,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Self {
        var headers = headers
        if headers[.contentType] == nil { headers[.contentType] = "text/plain; charset=utf-8" }
        return bytes(Array(text.utf8), status: status, headers: headers)
    }

    /// Makes an answer with JSON text as its body.
    public static func json(
        _ text: String,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) -> Self {
        var headers = headers
        headers[.contentType] = "application/json"
        return bytes(Array(text.utf8), status: status, headers: headers)
    }

    /// Makes a redirect to another address.
    public static func redirect(
        to location: String,
        status: HTTPResponse.Status = .found
    ) -> Self {
        Self(status: status, headers: [.location: location])
    }

    /// Makes an answer of bytes that follow no rule, then performs an action.
    ///
    /// Over HTTP/2 the bytes are sent between frames.
    public static func raw(_ bytes: [UInt8], then action: Action? = .close) -> Self {
        var answer = Self()
        answer.rawBytes = bytes
        answer.interruption = action.map { Interruption(.afterBody, $0) }
        return answer
    }

    /// Bytes that are not HTTP.
    public static let garbage = raw(Array("\u{1}\u{2} no such protocol\r\n\r\n".utf8))

    /// An HTTP/1.1 body with an invalid chunk header after the first chunk.
    public static let brokenChunks = raw(
        Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n".utf8)
    )

    /// Makes an answer with a header field of this many bytes.
    public static func hugeField(bytes count: Int) -> Self {
        var headers = HTTPFields()
        if let name = HTTPField.Name("x-huge") {
            headers[name] = String(repeating: "x", count: count)
        }
        return text("after the huge field", headers: headers)
    }

    // MARK: Additions

    /// Delays the answer on the server's clock.
    public func delayed(by delay: Duration) -> Self {
        with { $0.delay = delay }
    }

    /// Sends the body in pieces of this many bytes, with pauses in between.
    public func throttled(bytes: Int, every interval: Duration) -> Self {
        with { $0.throttle = Throttle(bytes: bytes, every: interval) }
    }

    /// Interrupts the answer.
    public func interrupted(_ place: Place, by action: Action) -> Self {
        with { $0.interruption = Interruption(place, action) }
    }

    /// Closes the connection after the answer without announcing it.
    ///
    /// The client keeps the connection for its next request and finds it stale.
    public func thenClosing() -> Self {
        interrupted(.afterBody, by: .close)
    }

    /// Changes how the end of the body is marked.
    public func framed(_ framing: Framing) -> Self {
        with { $0.framing = framing }
    }

    /// Sends trailers after the body.
    public func trailing(_ trailers: HTTPFields) -> Self {
        with { $0.trailers = trailers }
    }

    /// Sends an informational (1xx) head before the answer.
    public func preceded(
        by status: HTTPResponse.Status,
        headers: HTTPFields = [:]
    ) -> Self {
        with { $0.informational.append(HTTPResponse(status: status, headerFields: headers)) }
    }

    /// Changes how much of the request is read before the answer.
    public func reading(_ reading: Reading) -> Self {
        with { $0.reading = reading }
    }

    private func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}
