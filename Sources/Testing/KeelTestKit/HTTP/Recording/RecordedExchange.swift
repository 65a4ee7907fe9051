import HTTPTypes
import KeelCore
import KeelHTTP
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An exchange under recording; it becomes an entry at its end, or when its reader drops it.
final class RecordedExchange: Sendable {
    private struct State {
        var sent: [UInt8]
        var response: HTTPResponse?
        var connection: ConnectionInfo?
        var body: [UInt8] = []
        var headAt: Duration?
        var isWritten = false
    }

    private let head: HTTPRequest
    private let rules: RecordingRules
    private let startedAt: Date
    private let elapsed: @Sendable () -> Duration
    private let write: @Sendable (HTTPArchive.Entry) -> Void
    private let state: Mutex<State>

    init(
        _ head: HTTPRequest,
        body: [UInt8],
        rules: RecordingRules,
        startedAt: Date,
        elapsed: @escaping @Sendable () -> Duration,
        write: @escaping @Sendable (HTTPArchive.Entry) -> Void
    ) {
        self.head = head
        self.rules = rules
        self.startedAt = startedAt
        self.elapsed = elapsed
        self.write = write
        state = Mutex(State(sent: body))
    }

    deinit { end(nil) }

    func beginSending() { state.withLock { $0.sent = [] } }

    func sent(_ piece: ArraySlice<UInt8>?) {
        guard let piece else { return }
        state.withLock { state in
            // One byte beyond the limit shows that the limit was exceeded.
            state.sent += piece.prefix(max(0, rules.bodyLimit + 1 - state.sent.count))
        }
    }

    func received(_ reply: HTTPReply) {
        state.withLock { state in
            state.response = reply.head
            state.connection = reply.connection
            state.headAt = elapsed()
        }
    }

    func received(_ piece: ArraySlice<UInt8>?) {
        guard let piece else { return end(nil) }
        state.withLock { state in
            state.body += piece.prefix(max(0, rules.bodyLimit + 1 - state.body.count))
        }
    }

    func failed(_ error: TransportError) { end(error) }

    private func end(_ error: TransportError?) {
        let entry = state.withLock { state -> HTTPArchive.Entry? in
            guard !state.isWritten else { return nil }
            state.isWritten = true
            return makeEntry(state, error)
        }
        if let entry { write(entry) }
    }

    private func makeEntry(_ state: State, _ error: TransportError?) -> HTTPArchive.Entry {
        let redactor = rules.redactor
        let shown = redactor.redact(head)
        let response = state.response.map { redactor.redact($0) }
        let sent = ArchivedBody(
            state.sent,
            type: head.headerFields[.contentType],
            coding: head.headerFields[.contentEncoding],
            rules: rules
        )
        let body = ArchivedBody(
            state.body,
            type: state.response?.headerFields[.contentType],
            coding: state.response?.headerFields[.contentEncoding],
            rules: rules
        )
        let total = elapsed()
        let version = state.connection?.version ?? "HTTP/1.1"
        return HTTPArchive.Entry(
            startedDateTime: startedAt.formatted(
                Date.ISO8601FormatStyle(includingFractionalSeconds: true)
            ),
            time: total.milliseconds,
            request: HTTPArchive.Request(
                method: head.method.rawValue,
                url: shown.archivedURL,
                httpVersion: version,
                headers: shown.headerFields.archived,
                queryString: shown.archivedQuery,
                postData: sent.text.map { text in
                    HTTPArchive.PostData(
                        mimeType: head.headerFields[.contentType] ?? "",
                        text: text,
                        encoding: sent.encoding
                    )
                },
                bodySize: state.sent.count
            ),
            response: HTTPArchive.Response(
                status: error == nil ? response?.status.code ?? 0 : 0,
                statusText: response?.status.reasonPhrase ?? "",
                httpVersion: version,
                headers: response?.headerFields.archived ?? [],
                content: HTTPArchive.Content(
                    size: state.body.count,
                    mimeType: state.response?.headerFields[.contentType] ?? "",
                    text: body.text,
                    encoding: body.encoding
                ),
                redirectURL: response?.headerFields[.location] ?? "",
                bodySize: state.body.count,
                error: error?.code.name ?? (response == nil ? "cancelled" : nil)
            ),
            timings: HTTPArchive.Timings(
                send: -1,
                wait: (state.headAt ?? total).milliseconds,
                receive: state.headAt.map { (total - $0).milliseconds } ?? -1
            ),
            serverIPAddress: nil,
            connection: state.connection?.id,
            comment: [sent.comment, body.comment].compactMap { $0 }.first
        )
    }
}

extension HTTPRequest {
    var archivedURL: String { "\(scheme ?? "http")://\(authority ?? "")\(path ?? "/")" }

    var archivedQuery: [HTTPArchive.Pair] {
        guard let path, let mark = path.firstIndex(of: "?") else { return [] }
        return path[path.index(after: mark)...].split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return HTTPArchive.Pair(
                name: String(parts[0]),
                value: parts.count > 1 ? String(parts[1]) : ""
            )
        }
    }
}

extension HTTPFields {
    var archived: [HTTPArchive.Pair] {
        map { HTTPArchive.Pair(name: $0.name.rawName, value: $0.value) }
    }
}

extension Duration {
    fileprivate var milliseconds: Double {
        Double(components.seconds) * 1_000 + Double(components.attoseconds) / 1e15
    }
}
