import HTTPTypes
import KeelHTTP
import KeelHTTPCompression
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A vendor's ingest for tests: it takes what the vendor takes, refuses what the vendor refuses and
/// counts an event once where the vendor does.
///
/// It answers requests as `FaultServer` of KeelTestServer and ``InProcessHTTPNetwork`` hand them
/// over, so the same double stands behind a real socket or none:
///
/// ```swift
/// let segment = AnalyticsServerDouble.segment(writeKey: "key")
/// try await FaultServer.run(answering: segment.answer) { server in
///     try await track(to: server)
/// }
/// #expect(segment.events.map(\.name) == ["Signed Up"])
/// ```
///
/// Its rules are written from the vendors' public pages, apart from Keel's destinations, and are
/// stricter where a vendor is silent: a field of the wrong type is a refusal here. They are as of
/// November 2026.
public final class AnalyticsServerDouble: Sendable {
    /// An event that was counted.
    public struct Event: Sendable, Hashable {
        /// The event's name, or what kind of record it is.
        public var name: String
        /// The field by which the vendor recognises it; empty where there is none.
        public var id: String
        /// The user or the device, as the vendor names them.
        public var subject: String
        /// The whole event as JSON, with its members in order.
        public var json: String
    }

    /// What goes wrong with one request.
    public enum Fault: Sendable, Hashable {
        /// The request is acted on, and the connection reset before the answer.
        case lostReply
        /// The request is not acted on, and the connection reset before the answer.
        case lostRequest
        /// The request is not acted on, and answered with this status and a Retry-After field.
        case status(Int, retryAfter: String? = nil)
        /// The request is acted on, and answered with this status, as a gateway in front does.
        case statusAfterWork(Int)
        /// The request is acted on, and the answer waits, on the server's clock.
        case slow(Duration)
        /// The request is acted on, and the answer's body is this text.
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

    // MARK: What it saw

    /// The events that count, in the order of their arrival.
    public var events: [Event] { state.withLock { $0.events } }

    /// The ids of the events that were recognised as repetitions.
    public var duplicates: [String] { state.withLock { $0.duplicates } }

    /// Why requests and events were refused, in order.
    public var refusals: [String] { state.withLock { $0.refusals } }

    /// How many requests there were, the faulty ones included.
    public var requests: Int { state.withLock { $0.requests } }

    /// Lets something go wrong with the requests that come next, in order; nil is a good one.
    public func enqueue(_ faults: Fault?...) {
        state.withLock { $0.faults.append(contentsOf: faults) }
    }

    // MARK: Answering

    /// Answers one request.
    ///
    /// - Parameter request: The request, with its whole body.
    /// - Returns: The vendor's answer, or what a fault makes of it.
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
        case .statusAfterWork(let status):
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

/// What a vendor takes.
protocol VendorRules: Sendable {
    /// Judges a request, without remembering anything.
    func judge(_ request: VendorRequest) -> VendorVerdict
}

/// What becomes of a request.
struct VendorVerdict {
    /// An event that the vendor takes, and the key by which it knows it again; empty is none.
    struct Counted {
        var event: AnalyticsServerDouble.Event
        var key: String
    }

    var status = 200
    var counted: [Counted] = []
    var refusals: [String] = []
    /// Makes the body from what was new among ``counted``; nil is none.
    var body: ([Bool]) -> String? = { _ in nil }

    /// A request of which nothing is taken.
    static func refused(_ status: Int, _ reason: String, body: String? = nil) -> VendorVerdict {
        VendorVerdict(status: status, refusals: [reason], body: { _ in body })
    }
}

/// A request with its body decoded.
struct VendorRequest {
    let method: String
    let path: String
    let query: [String: String]
    let mediaType: String
    /// The user of basic authorization.
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

    /// A form's fields, as the query of a URL has them too.
    static func form(_ text: Substring) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? decoded(parts[1]) : ""
            fields[decoded(parts[0])] = value
        }
        return fields
    }

    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var units = text.utf8[...]
        while let unit = units.popFirst() {
            if unit == UInt8(ascii: "%"),
                let byte = UInt8(String(decoding: units.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(byte)
                units = units.dropFirst(2)
            } else {
                bytes.append(unit == UInt8(ascii: "+") ? UInt8(ascii: " ") : unit)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decompresses through the layer that does it for responses.
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
