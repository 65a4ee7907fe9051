#if Crypto
internal import HTTPTypes
internal import KeelCore
internal import KeelFiles
internal import KeelHTTP
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The connection of one adapter: signs, sends and repeats requests, and interprets refusals.
final class S3Connection: Sendable {
    /// The maximum size of a document: a list of a thousand keys of maximum length, with each byte encoded as three.
    private static let largestDocument = 8 << 20
    private static let largestRefusal = 64 << 10
    /// The clock difference in seconds from which an unexplained refusal is attributed to it.
    private static let tolerance: TimeInterval = 240
    /// The maximum correction of the clock: with more, an attacker could keep requests that were signed for later days.
    private static let largestSkew: TimeInterval = 86_400

    let address: S3Address
    let signer: AWSSignatureV4
    let configuration: S3FileStoreAdapter.Configuration
    private let transport: any HTTPTransport
    private let clock: any Clock<Duration>
    private let watchClock: any Clock<Duration>
    private let systemTime: @Sendable () -> Date
    /// The correction of this machine's clock to the server's, if one was needed.
    private let skew = Mutex<TimeInterval>(0)
    let lacksDeleteObjects = Mutex(false)

    init(
        _ configuration: S3FileStoreAdapter.Configuration,
        transport: any HTTPTransport,
        clock: any Clock<Duration>,
        watchClock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date
    ) throws(FileStoreError) {
        address = try S3Address(configuration)
        signer = AWSSignatureV4(region: configuration.region, service: "s3", rules: .s3)
        self.configuration = configuration
        self.transport = transport
        self.clock = clock
        self.watchClock = watchClock
        systemTime = now
    }

    func with(_ settings: S3FileStoreAdapter.Configuration) throws(S3Failure) -> S3Connection {
        do throws(FileStoreError) {
            let skew = skew.withLock { $0 }
            let systemTime = systemTime
            return try S3Connection(
                settings,
                transport: transport,
                clock: clock,
                watchClock: watchClock
            ) { systemTime().addingTimeInterval(skew) }
        } catch {
            throw .failed(error)
        }
    }

    var leavesBodiesEncoded: Bool { transport.features.contains(.rawContentCoding) }

    var now: Date { systemTime().addingTimeInterval(skew.withLock { $0 }) }

    // MARK: Sending

    func reply(to call: S3Call) async throws(S3Failure) -> HTTPReply {
        try await repeating(call) { () async throws(S3Failure) in try await self.attempt(call) }
    }

    func head(of call: S3Call) async throws(S3Failure) -> HTTPResponse {
        try await repeating(call) { () async throws(S3Failure) in
            let reply = try await self.attempt(call)
            // Reading the body lets the connection serve the next request.
            _ = try await self.body(of: reply, upTo: Self.largestRefusal)
            return reply.head
        }
    }

    /// Sends a request and returns the document of the successful reply.
    ///
    /// For copies and the completion of uploads, the body of a reply with status 200 may contain a refusal.
    func document(
        of call: S3Call
    ) async throws(S3Failure) -> (head: HTTPResponse, document: XMLElement) {
        try await repeating(call) { () async throws(S3Failure) in
            let reply = try await self.attempt(call)
            let bytes = try await self.body(of: reply, upTo: Self.largestDocument)
            let document: XMLElement
            do throws(XMLFlaw) {
                document = try XMLElement(parsing: bytes)
            } catch {
                throw .failed(.invalidReply(error.reason))
            }
            guard document.name != "Error" else {
                throw .refused(S3ErrorReply(reply.head, document))
            }
            return (reply.head, document)
        }
    }

    private func repeating<Value>(
        _ call: S3Call,
        _ operation: () async throws(S3Failure) -> Value
    ) async throws(S3Failure) -> Value {
        try await repeating(where: { $0.mayRepeat(call) }, operation: operation)
    }

    func repeating<Value>(
        where shouldRetry: (S3Failure) -> Bool,
        operation: () async throws(S3Failure) -> Value
    ) async throws(S3Failure) -> Value {
        try await withRetry(
            configuration.retry,
            clock: clock,
            serverDelay: { $0.refusal?.retryAfter },
            shouldRetry: shouldRetry,
            operation: { (_: Int) async throws(S3Failure) in try await operation() }
        )
    }

    /// Sends a request once, and again if the clock or the credentials were the reason of a refusal.
    private func attempt(_ call: S3Call) async throws(S3Failure) -> HTTPReply {
        let credentials = try await credentials { () async throws in
            try await self.configuration.credentials.credentials()
        }
        let correction = skew.withLock { $0 }
        do throws(S3Failure) {
            return try await send(call, credentials)
        } catch {
            guard let refusal = error.refusal else { throw error }
            if adoptsTime(of: refusal, after: correction) {
                return try await send(call, credentials)
            }
            // A reply to HEAD has no body: of an expired session, it says no more than this status.
            let maySayExpired =
                call.method == .head && credentials.sessionToken != nil && refusal.code.isEmpty
                && refusal.status == 400
            guard refusal.isAboutExpiry || maySayExpired else { throw error }
            let next = try await self.credentials { () async throws in
                try await self.configuration.credentials.credentials(after: credentials)
            }
            guard next != credentials else { throw error }
            return try await send(call, next)
        }
    }

    private func send(
        _ call: S3Call,
        _ credentials: AWSCredentials
    ) async throws(S3Failure) -> HTTPReply {
        let reply: HTTPReply
        do throws(TransportError) {
            reply = try await exchange(httpCall(call, credentials))
        } catch {
            throw .unanswered(error)
        }
        guard reply.head.status.kind != .successful else { return reply }
        let bytes = try await body(of: reply, upTo: Self.largestRefusal)
        throw .refused(S3ErrorReply(reply.head, bytes))
    }

    private func exchange(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        guard let bytes = call.body?.bytes, bytes.count > UploadStallTimeout.pieceByteCount,
            let limit = call.timeouts.firstByte
        else { return try await transport.send(call) }
        let watch = UploadStallTimeout(bytes, limit: limit)
        var watched = call
        watched.body = watch.body
        watched.timeouts.firstByte = nil
        let (request, transport) = (watched, transport)
        return try await watch.guarding(watchClock) { () async throws(TransportError) in
            try await transport.send(request)
        }
    }

    private func body(of reply: HTTPReply, upTo limit: Int) async throws(S3Failure) -> [UInt8] {
        do throws(TransportError) {
            return try await reply.body.collect(upTo: limit)
        } catch {
            throw .unanswered(error)
        }
    }

    // MARK: Signing

    func request(_ call: S3Call) -> HTTPRequest {
        var path = address.path(of: call.key)
        if !call.query.isEmpty { path += "?" + CanonicalRequest.query(call.query) }
        var request = HTTPRequest(
            method: call.method,
            scheme: address.scheme,
            authority: address.authority,
            path: path
        )
        for field in call.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            request.headerFields[name] = field.value
        }
        return request
    }

    func presigned(_ call: S3Call, for duration: Duration) async throws(S3Failure) -> HTTPRequest {
        let credentials = try await credentials { () async throws in
            try await self.configuration.credentials.credentials()
        }
        return signer.presigned(
            request(call),
            for: duration,
            payload: .unsigned,
            by: credentials,
            at: now
        )
    }

    private func httpCall(_ call: S3Call, _ credentials: AWSCredentials) -> HTTPCall {
        let payload: AWSSignatureV4.Payload
        if let body = call.body, !body.bytes.isEmpty {
            payload =
                address.isSecure && configuration.payloadSigning == .overPlainConnections
                ? .unsigned : body.hash.map { .hash($0) } ?? .bytes(body.bytes)
        } else {
            payload = .empty
        }
        let signed = signer.signed(request(call), payload: payload, by: credentials, at: now)
        var options = HTTPCallOptions()
        options.isIdempotent = call.isRepeatable
        return HTTPCall(
            signed,
            body: call.body.map { HTTPBody($0.bytes) },
            timeouts: configuration.timeouts,
            options: options
        )
    }

    private func credentials(
        _ fetch: () async throws -> AWSCredentials
    ) async throws(S3Failure) -> AWSCredentials {
        do {
            return try await fetch()
        } catch let error as FileStoreError {
            throw .failed(error)
        } catch is CancellationError {
            throw .failed(.cancellation)
        } catch {
            let isPassing = (error as? any KeelError)?.isTransient ?? false
            throw .failed(
                FileStoreError(
                    isPassing ? .unavailable : .credentialsMissing,
                    "The credentials provider has no credentials.",
                    cause: error
                )
            )
        }
    }

    /// Corrects the clock to the server's if a refusal is about time; returns whether to sign the request again.
    ///
    /// Over a plain connection, an attacker may have written the reply. `correction` is that with which the refused
    /// request was signed.
    private func adoptsTime(
        of refusal: S3ErrorReply,
        after correction: TimeInterval
    ) -> Bool {
        guard address.isSecure || address.isLoopback, let seconds = refusal.serverTime else {
            return false
        }
        let difference = Date(timeIntervalSince1970: TimeInterval(seconds))
            .timeIntervalSince(systemTime().addingTimeInterval(correction))
        let isReason =
            refusal.isAboutTime || refusal.isUnexplained && abs(difference) > Self.tolerance
        // Only once: a server that refuses its own time cannot be helped.
        guard isReason, abs(difference) > 1 else { return false }
        return skew.withLock { skew in
            // A request that was refused at the same time has corrected the clock.
            guard skew == correction else { return true }
            guard abs(skew + difference) <= Self.largestSkew else { return false }
            skew += difference
            return true
        }
    }
}

extension FileStoreError {
    static func invalidReply(_ reason: String) -> FileStoreError {
        FileStoreError(.invalidReply, "The server's reply is invalid: \(reason).")
    }
}

struct S3Call: Sendable {
    struct Body: Sendable {
        let bytes: [UInt8]
        var hash: [UInt8]?
    }

    let method: HTTPRequest.Method
    /// The key of the object; nil for the bucket.
    let key: String?
    var query: [(name: String, value: String)] = []
    var fields: [(name: String, value: String)] = []
    var body: Body?
    var isRepeatable = true

    init(_ method: HTTPRequest.Method, _ key: String?) {
        self.method = method
        self.key = key
    }
}

extension HTTPFields {
    func first(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { self[$0] }
    }
}
#endif
