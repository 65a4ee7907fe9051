import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPCompression
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A vendor's ingest endpoint for tests, with the vendor's validation and deduplication.
///
/// It answers requests from `FaultServer` of KeelTestServer, over real sockets, and from ``InProcessHTTPNetwork``:
///
/// ```swift
/// let segment = AnalyticsServerDouble.segment(writeKey: "key")
/// try await FaultServer.run(answering: segment.answer) { server in
///     try await track(to: server)
/// }
/// #expect(segment.events.map(\.name) == ["Signed Up"])
/// ```
///
/// The rules follow the vendors' public pages as of November 2026 and share no code with Keel's destinations. Where a
/// vendor is silent, they are stricter: a field of the wrong type is refused.
public final class AnalyticsServerDouble: Sendable {
    /// An event that the double counted.
    public struct Event: Sendable, Hashable {
        /// The event's name, or the kind of record.
        public var name: String
        /// The event's id, by which most vendors deduplicate; empty if there is none.
        public var id: String
        /// The user or device, as the vendor names it.
        public var subject: String
        /// The whole event as JSON, with its members sorted by name.
        public var json: String
    }

    /// A fault in one request.
    public enum Fault: Sendable, Hashable {
        /// The request is processed, and the connection is reset before the response.
        case lostReply
        /// The request is not processed, and the connection is reset before a response.
        case lostRequest
        /// The request is not processed; the response has this status and `Retry-After` field.
        case status(Int, retryAfter: String? = nil)
        /// The request is processed, and the response has this status, as from a gateway in front.
        case statusAfterProcessing(Int)
        /// The request is processed, and the response is delayed on the server's clock.
        case slow(Duration)
        /// The request is processed, and the response has status 200 and this JSON text as its body.
        case body(String)
    }

    private struct State {
        var events: [Event] = []
        var keys: Set<String> = []
        var duplicates: [String] = []
        var refusals: [String] = []
        var requests = 0
        var faults: ArraySlice<Fault?> = []
    }

    private let rules: any VendorRules
    private let state = Mutex(State())

    init(_ rules: any VendorRules) {
        self.rules = rules
    }

    // MARK: Recorded requests

    /// The counted events, in the order of their arrival.
    public var events: [Event] { state.withLock { $0.events } }

    /// The ids of the events recognized as duplicates.
    public var duplicates: [String] { state.withLock { $0.duplicates } }

    /// The reasons why requests and events were refused, in order.
    public var refusals: [String] { state.withLock { $0.refusals } }

    /// The number of requests, including faulty ones.
    public var requests: Int { state.withLock { $0.requests } }

    /// Queues faults for the next requests, in order; nil processes a request normally.
    public func enqueue(_ faults: Fault?...) {
        state.withLock { $0.faults.append(contentsOf: faults) }
    }

    // MARK: Answering

    /// Answers one request.
    ///
    /// - Parameter request: The request, with its whole body.
    /// - Returns: The vendor's response, or the effect of a queued fault.
    public func answer(_ request: HTTPTestRequest) async -> HTTPTestAnswer {
        let fault = state.withLock { state in
            state.requests += 1
            return state.faults.popFirst() ?? nil
        }
        switch fault {
        case .lostRequest:
            return HTTPTestAnswer().interrupted(.beforeHead, by: .reset)
        case .status(let status, let retryAfter):
            var headers = HTTPFields()
            headers[.retryAfter] = retryAfter
            return .status(.init(code: status), headers: headers)
        case .lostReply:
            return await work(request).interrupted(.beforeHead, by: .reset)
        case .statusAfterProcessing(let status):
            _ = await work(request)
            return .status(.init(code: status))
        case .slow(let pause):
            return await work(request).delayed(by: pause)
        case .body(let text):
            _ = await work(request)
            return .json(text)
        case nil:
            return await work(request)
        }
    }

    private func work(_ request: HTTPTestRequest) async -> HTTPTestAnswer {
        guard let vendorRequest = await VendorRequest(request) else {
            state.withLock { $0.refusals.append("the body's content coding cannot be read") }
            return .status(.badRequest)
        }
        let verdict = rules.judge(vendorRequest)
        let isNew = state.withLock { state in
            state.refusals += verdict.refusals
            return verdict.counted.map { event in
                guard event.key.isEmpty || state.keys.insert(event.key).inserted else {
                    state.duplicates.append(event.event.id)
                    return false
                }
                state.events.append(event.event)
                return true
            }
        }
        guard let body = verdict.body(isNew) else { return .status(.init(code: verdict.status)) }
        return .json(body, status: .init(code: verdict.status))
    }
}

protocol VendorRules: Sendable {
    /// Judges a request without keeping state.
    func judge(_ request: VendorRequest) -> VendorVerdict
}

struct VendorVerdict {
    /// An accepted event and the key that deduplicates it; an empty key never matches.
    struct Counted {
        var event: AnalyticsServerDouble.Event
        var key: String
    }

    var status = 200
    var counted: [Counted] = []
    var refusals: [String] = []
    /// Makes the response body from the flags that say which of ``counted`` are new; nil sends no body.
    var body: ([Bool]) -> String? = { _ in nil }

    static func refused(_ status: Int, _ reason: String, body: String? = nil) -> VendorVerdict {
        VendorVerdict(status: status, refusals: [reason], body: { _ in body })
    }
}

struct VendorRequest {
    let method: String
    let path: String
    let query: [String: String]
    let mediaType: String
    /// The user name of basic authorization.
    let basicUser: String?
    let bearerToken: String?
    let body: [UInt8]

    init?(_ request: HTTPTestRequest) async {
        switch request["content-encoding"]?.lowercased() {
        case nil, "identity": body = request.body
        case "gzip":
            guard let bytes = await Self.gunzip(request.body) else { return nil }
            body = bytes
        default: return nil
        }
        method = request.method
        path = request.path
        query = Self.form(request.target.drop { $0 != "?" }.dropFirst())
        mediaType = (request["content-type"] ?? "").prefix { $0 != ";" }.lowercased()
        let authorization = request["authorization"] ?? ""
        basicUser =
            authorization.hasPrefix("Basic ")
            ? Data(base64Encoded: String(authorization.dropFirst(6)))
                .map { String(decoding: $0, as: UTF8.self) }
                .flatMap { $0.hasSuffix(":") ? String($0.dropLast()) : nil }
            : nil
        bearerToken =
            authorization.hasPrefix("Bearer ") ? String(authorization.dropFirst(7)) : nil
    }

    /// The body as JSON, or as the field `data` of an HTML form.
    var json: VendorJSON? {
        if mediaType == "application/x-www-form-urlencoded" {
            return Self.form(String(decoding: body, as: UTF8.self)[...])["data"]
                .flatMap { VendorJSON(Array($0.utf8)) }
        }
        return mediaType == "application/json" ? VendorJSON(body) : nil
    }

    static func form(_ text: Substring) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? PercentEncoding.decode(parts[1], plusIsSpace: true) : ""
            fields[PercentEncoding.decode(parts[0], plusIsSpace: true)] = value
        }
        return fields
    }

    private static func gunzip(_ bytes: [UInt8]) async -> [UInt8]? {
        let compressed = HTTPNext { _ in
            HTTPReply(
                head: HTTPResponse(status: .ok, headerFields: [.contentEncoding: "gzip"]),
                body: .chunks([bytes])
            )
        }
        let call = HTTPCall(HTTPRequest(method: .get, scheme: "http", authority: "x", path: "/"))
        let reply = try? await ResponseDecompression(for: .rawContentCoding).intercept(
            call,
            next: compressed
        )
        return try? await reply?.body.collect(upTo: 64 * 1024 * 1024)
    }
}
