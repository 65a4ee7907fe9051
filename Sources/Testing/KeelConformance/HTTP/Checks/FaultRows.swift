import HTTPTypes
import KeelHTTP
import KeelTestKit

extension HTTPFaultCheck {
    typealias Row = (
        fault: String, answer: HTTPTestAnswer, outcome: ServerFault.Outcome
    )

    private static let path = "/item?token=s3cret"
    private static let text = HTTPTestAnswer.text("a whole answer")

    /// The timeouts of a row, which only silence needs; elsewhere a slow machine must not fail the check.
    private static func limits(
        for outcome: ServerFault.Outcome,
        _ limit: Duration
    ) -> HTTPTimeouts {
        guard outcome.codes.contains(.responseTimeout) else { return HTTPTimeouts() }
        return outcome.phases.contains(.readBody)
            ? HTTPTimeouts(idle: limit) : HTTPTimeouts(firstByte: limit)
    }

    static let lostEarly = ServerFault.Outcome(.connectionLost, .awaitHead, .maybe)
    static let lostLate = ServerFault.Outcome(.connectionLost, .readBody, .yes)
    static let truncated = ServerFault.Outcome(.truncatedBody, .readBody, .yes)
    static let silent = ServerFault.Outcome(.responseTimeout, .awaitHead, .maybe)
    static let noHTTP = ServerFault.Outcome(.protocolViolation, .awaitHead, .maybe)

    package static let plainFaults: [Self] =
        plainRows.map { row($0) }
        + [
            staleRow("closes a reused connection during its next request", .close),
            staleRow("resets a reused connection during its next request", .reset),
        ]

    private static let plainRows: [Row] = [
        ("closes before the head", text.interrupted(.beforeHead, by: .close), lostEarly),
        ("resets before the head", text.interrupted(.beforeHead, by: .reset), lostEarly),
        ("closes inside the head", text.interrupted(.insideHead, by: .close), lostEarly),
        ("resets inside the head", text.interrupted(.insideHead, by: .reset), lostEarly),
        ("stalls before the head", text.interrupted(.beforeHead, by: .stall), silent),
        ("stalls inside the head", text.interrupted(.insideHead, by: .stall), silent),
        (
            "stalls after the head", text.interrupted(.insideBody(after: 0), by: .stall),
            ServerFault.Outcome(.responseTimeout, .readBody, .yes)
        ),
        (
            "stalls inside the body", text.interrupted(.insideBody(after: 4), by: .stall),
            ServerFault.Outcome(.responseTimeout, .readBody, .yes)
        ),
        (
            "truncates a body of known length",
            text.interrupted(.insideBody(after: 4), by: .close), truncated
        ),
        (
            "truncates a body right after the head",
            text.interrupted(.insideBody(after: 0), by: .close), truncated
        ),
        (
            "truncates a chunked body",
            text.framed(.chunked).interrupted(.insideBody(after: 4), by: .close), truncated
        ),
        ("resets inside the body", text.interrupted(.insideBody(after: 4), by: .reset), lostLate),
        (
            "resets inside a chunked body",
            text.framed(.chunked).interrupted(.insideBody(after: 4), by: .reset), lostLate
        ),
        (
            "breaks the chunk coding", .brokenChunks,
            ServerFault.Outcome(.protocolViolation, .readBody, .yes)
        ),
        ("sends garbage", .garbage, noHTTP),
        ("sends a header field of 400,000 bytes", .hugeField(bytes: 400_000), noHTTP),
    ]

    /// Returns a row whose fault is a single answer.
    private static func row(
        _ row: Row,
        traits: HTTPTransportTraits = [],
        on script: HTTPTestScript = HTTPTestScript()
    ) -> Self {
        Self(ServerFault(row.fault), row.outcome, traits: traits, on: script) { subject in
            var error: TransportError?
            for limit in [Duration.milliseconds(300), .seconds(30)] {
                subject.origin.enqueue(row.answer)
                var call = subject.call(path)
                call.timeouts = limits(for: row.outcome, limit)
                error = await subject.failure(of: call)
                // A slow machine may not even send the request within a short limit.
                guard error?.code == .responseTimeout, error?.processed == .no else { break }
            }
            return error
        }
    }

    private static func staleRow(_ fault: String, _ action: HTTPTestAnswer.Action) -> Self {
        Self(
            ServerFault(fault),
            ServerFault.Outcome(.staleConnection, .awaitHead, .maybe),
            traits: [.connectionReuse, .singleAttempt]
        ) { subject in
            _ = try await subject.answer(text)
            subject.origin.enqueue(text.interrupted(.beforeHead, by: action))
            return await subject.failure(of: subject.call(path, .post))
        }
    }

    // MARK: TLS

    package static let secureFaults: [Self] =
        [
            ("presents an expired certificate", .expired, untrusted),
            ("presents a certificate that is not valid yet", .notYetValid, untrusted),
            ("presents a self-signed certificate", .selfSigned, untrusted),
            ("presents a certificate of an unknown authority", .unknownAuthority, untrusted),
            (
                "presents a certificate of another host", .wrongHost,
                ServerFault.Outcome(.tlsHostnameMismatch, .tls, .no)
            ),
            ("sends plain text instead of TLS", .plainText, noHandshake),
            ("sends garbage instead of TLS", .garbage, noHandshake),
            ("closes during the handshake", .closingHandshake, noHandshake),
            (
                // A reset does not refuse TLS and may be transient.
                "resets during the handshake", .resettingHandshake,
                ServerFault.Outcome(.connectionLost, .tls, .no).or(.connect)
            ),
            (
                "requests a certificate that the client does not have", .clientCertificate,
                ServerFault.Outcome(.tlsClientCertificate, .tls, .no)
            ),
        ].map(secureRow)
        + [
            Self(
                ServerFault("never answers the handshake"),
                ServerFault.Outcome(.connectTimeout, .connect, .no).or(.tls),
                traits: [.customTrust, .connectTimeout],
                on: HTTPTestScript(security: .stallingHandshake)
            ) { await $0.failure(of: $0.call(path)) },
            Self(
                ServerFault("rejects the client's certificate"),
                ServerFault.Outcome(.tlsClientCertificate, .tls, .no),
                needs: .clientCertificates,
                traits: .customTrust,
                on: HTTPTestScript(security: .clientCertificate, client: .unknown)
            ) { await $0.failure(of: $0.call(path)) },
            Self(
                ServerFault("has a key that is not pinned"),
                ServerFault.Outcome(.tlsPinMismatch, .tls, .no),
                needs: .pinning,
                traits: .customTrust,
                on: HTTPTestScript(security: .trusted, pins: .mismatching)
            ) { await $0.failure(of: $0.call(path)) },
            row(
                (
                    "truncates a body of known length below TLS",
                    text.interrupted(.insideBody(after: 4), by: .cut), truncated
                ),
                traits: .customTrust,
                on: HTTPTestScript(security: .trusted)
            ),
            row(
                (
                    "truncates a body without length below TLS",
                    text.framed(.untilClose).interrupted(.insideBody(after: 4), by: .cut),
                    truncated
                ),
                traits: .customTrust,
                on: HTTPTestScript(security: .trusted)
            ),
        ]

    private static let untrusted = ServerFault.Outcome(.tlsUntrusted, .tls, .no)
    private static let noHandshake = ServerFault.Outcome(.tlsHandshakeFailed, .tls, .no)

    private static func secureRow(
        _ fault: String,
        _ security: HTTPTestScript.Security,
        _ outcome: ServerFault.Outcome
    ) -> Self {
        Self(
            ServerFault(fault),
            outcome,
            traits: .customTrust,
            on: HTTPTestScript(security: security)
        ) { await $0.failure(of: $0.call(path)) }
    }

    // MARK: HTTP/2

    package static let streamFaults: [Self] =
        streamRows.map {
            row(
                $0,
                traits: [.customTrust, .http2, .singleAttempt],
                on: HTTPTestScript(version: .http2, security: .trusted)
            )
        }
        + [
            row(
                ("never sends the settings of HTTP/2", text, silent),
                traits: [.customTrust, .http2],
                on: HTTPTestScript(version: .silentHTTP2, security: .trusted)
            )
        ]

    private static let refused = ServerFault.Outcome(.streamRefused, .awaitHead, .no)

    private static let streamRows: [Row] = [
        (
            "refuses the stream",
            text.interrupted(.beforeHead, by: .resetStream(code: 7)), refused
        ),
        (
            "goes away without processing the stream",
            text.interrupted(.beforeHead, by: .goAway(code: 0, processed: false)), refused
        ),
        (
            "resets the stream before the head",
            text.interrupted(.beforeHead, by: .resetStream(code: 2)),
            ServerFault.Outcome(.streamReset, .awaitHead, .maybe)
        ),
        (
            "resets the stream inside the body",
            text.interrupted(.insideBody(after: 4), by: .resetStream(code: 2)),
            ServerFault.Outcome(.streamReset, .readBody, .yes)
        ),
        (
            "goes away inside the body",
            text.interrupted(.insideBody(after: 4), by: .goAway(code: 2, processed: true)),
            lostLate
        ),
        (
            "closes an HTTP/2 connection before the head",
            text.interrupted(.beforeHead, by: .close), lostEarly
        ),
        (
            "closes an HTTP/2 connection inside the body",
            text.interrupted(.insideBody(after: 4), by: .close), lostLate
        ),
        (
            "stalls an HTTP/2 stream before the head",
            text.interrupted(.beforeHead, by: .stall), silent
        ),
        (
            "stalls an HTTP/2 stream inside the body",
            text.interrupted(.insideBody(after: 4), by: .stall),
            ServerFault.Outcome(.responseTimeout, .readBody, .yes)
        ),
        ("breaks the framing of HTTP/2", .raw([UInt8](repeating: 0xff, count: 64)), noHTTP),
    ]
}
