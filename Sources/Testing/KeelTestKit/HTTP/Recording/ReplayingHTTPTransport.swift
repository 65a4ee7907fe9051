internal import HTTPTypes
internal import KeelCore
public import KeelHTTP
internal import Synchronization

/// The parts that a call and a recorded request must have in common.
public struct ReplayMatching: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The method.
    public static let method = Self(rawValue: 1 << 0)
    /// The scheme, host and port.
    public static let origin = Self(rawValue: 1 << 1)
    /// The path without its query.
    public static let path = Self(rawValue: 1 << 2)
    /// The items of the query, in any order.
    public static let query = Self(rawValue: 1 << 3)
    /// The body; JSON texts are compared by value.
    public static let body = Self(rawValue: 1 << 4)

    /// All parts.
    public static let standard: Self = [.method, .origin, .path, .query, .body]
}

/// A transport that answers from an archive and never sends anything.
///
/// Each entry answers one call; entries that match the same call answer in order. Calls are redacted like the entries
/// before they are compared, so that a new token makes no difference. A call without a matching entry fails with the
/// code `unknown` and a message that names it.
public final class ReplayingHTTPTransport: HTTPTransport {
    private struct State {
        var isUsed: [Bool]
        var unmatched: [String] = []
        var isShutDown = false
    }

    private let entries: [HTTPArchive.Entry]
    private let keys: [ReplayKey]
    private let matching: ReplayMatching
    private let isStrictlyOrdered: Bool
    private let rules: RecordingRules
    private let state: Mutex<State>

    public let features: HTTPTransportFeatures = [.streamingUpload]

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - archive: The recorded exchanges.
    ///   - matching: The parts that a call and an entry must have in common.
    ///   - isStrictlyOrdered: Whether a call must match the next unused entry.
    ///   - rules: The rules with which the archive was recorded.
    public init(
        _ archive: HTTPArchive,
        matching: ReplayMatching = .standard,
        isStrictlyOrdered: Bool = false,
        rules: RecordingRules = RecordingRules()
    ) {
        entries = archive.log.entries
        keys = entries.map { ReplayKey($0.request, matching) }
        self.matching = matching
        self.isStrictlyOrdered = isStrictlyOrdered
        self.rules = rules
        state = Mutex(State(isUsed: entries.map { _ in false }))
    }

    /// The calls without a matching entry, as method and redacted URL.
    public var unmatchedCalls: [String] { state.withLock { $0.unmatched } }

    /// The entries that answered no call.
    public var unusedEntries: [HTTPArchive.Entry] {
        state.withLock { state in
            zip(entries, state.isUsed).filter { !$0.1 }.map(\.0)
        }
    }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        guard !state.withLock({ $0.isShutDown }) else {
            throw TransportError(.clientShutdown, processed: .no)
        }
        let body = try await call.readBody()
        let request = archived(call.head, body)
        let key = ReplayKey(request, matching)
        let position = state.withLock { state -> Int? in
            let found =
                isStrictlyOrdered
                ? state.isUsed.firstIndex(of: false).flatMap { keys[$0] == key ? $0 : nil }
                : keys.indices.first { !state.isUsed[$0] && keys[$0] == key }
            if let found { state.isUsed[found] = true }
            return found
        }
        guard let position else { throw unmatched(call, key) }
        return try reply(entries[position].response)
    }

    public func shutdown() async { state.withLock { $0.isShutDown = true } }

    private func archived(_ head: HTTPRequest, _ body: [UInt8]) -> HTTPArchive.Request {
        let shown = rules.redactor.redact(head)
        let type = head.headerFields[.contentType]
        let kept = ArchivedBody(
            body,
            type: type,
            coding: head.headerFields[.contentEncoding],
            rules: rules
        )
        return HTTPArchive.Request(
            method: head.method.rawValue,
            url: shown.archivedURL,
            httpVersion: "",
            headers: [],
            queryString: shown.archivedQuery,
            postData: kept.text.map {
                HTTPArchive.PostData(mimeType: type ?? "", text: $0, encoding: kept.encoding)
            },
            bodySize: body.count
        )
    }

    private func unmatched(_ call: HTTPCall, _ key: ReplayKey) -> TransportError {
        let name = "\(call.head.method.rawValue) \(rules.redactor.redactURL(call.redactedURL))"
        let used = state.withLock { state in
            state.unmatched.append(name)
            return state.isUsed
        }
        let reason: String
        if isStrictlyOrdered, let next = used.firstIndex(of: false) {
            reason = "The next entry is \(entries[next].request.method) \(keys[next].place)."
        } else if keys.indices.contains(where: { keys[$0] == key }) {
            reason = "All entries for it are used."
        } else if keys.contains(where: { $0.isNear(key) }) {
            reason = "There are entries for this target with another method, query or body."
        } else {
            reason = "There is no entry for this target."
        }
        return TransportError(
            .unknown,
            "The archive has no answer to \(name). \(reason)",
            phase: .build,
            url: call.redactedURL
        )
    }

    private func reply(_ response: HTTPArchive.Response) throws(TransportError) -> HTTPReply {
        if let name = response.error {
            let code = TransportError.Code.known.first { $0.name == name }
            throw TransportError(code ?? .unknown, "The recorded exchange failed: \(name).")
        }
        var fields = HTTPFields()
        for pair in response.headers {
            guard let name = HTTPField.Name(pair.name) else { continue }
            fields.append(HTTPField(name: name, value: pair.value))
        }
        let body = ArchivedBody.bytes(response.content.text, response.content.encoding)
        // The recorded body may differ in length from the one that was received.
        if fields[.contentLength] != nil { fields[.contentLength] = "\(body.count)" }
        return HTTPReply(
            head: HTTPResponse(
                status: HTTPResponse.Status(
                    code: response.status,
                    reasonPhrase: response.statusText
                ),
                headerFields: fields
            ),
            body: .chunks(body.isEmpty ? [] : [body])
        )
    }
}
