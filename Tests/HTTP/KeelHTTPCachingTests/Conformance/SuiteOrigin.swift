import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import Synchronization

/// The suite's server: answers each request as the case says, and records what it received.
final class SuiteOrigin: HTTPTransportDouble {
    struct Seen: Sendable {
        var number: Int
        var method: String
        var fields: HTTPFields
        /// The fields that a client must have if its response came from here.
        var promised: [(name: String, text: String)]
    }

    private struct State {
        var seen: [Seen] = []
        /// The fields of each answer, with dates inserted.
        var written: [Int: [(name: String, text: String)]] = [:]
    }

    private let test: CacheCase
    private let token: String
    private let clock: SuiteClock
    private let state = Mutex(State())

    init(_ test: CacheCase, token: String, clock: SuiteClock) {
        self.test = test
        self.token = token
        self.clock = clock
    }

    let features: HTTPTransportFeatures = [.streamingUpload]

    var seen: [Seen] { state.withLock { $0.seen } }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        _ = try await call.body?.open().collect(upTo: .max)
        let count = state.withLock { $0.seen.count } + 1
        let fields = call.head.headerFields
        let number = SuiteRun.field("req-num", in: fields).flatMap { Int($0) } ?? count
        guard test.requests.indices.contains(number - 1) else {
            return HTTPReply(head: HTTPResponse(status: .conflict))
        }
        let request = test.requests[number - 1]
        if let pause = request.responsePause { clock.advance(by: pause) }
        let now = clock.milliseconds
        let path = call.head.path ?? ""
        var head = HTTPResponse(status: status(of: request, number, fields))
        append("Server-Base-Url", path, to: &head)
        append("Server-Request-Count", String(count), to: &head)
        append("Client-Request-Count", String(number), to: &head)
        append("Server-Now", String(now), to: &head)
        var written: [(name: String, text: String)] = []
        var promised: [(name: String, text: String)] = []
        for entry in request.responseHeaders ?? [] {
            let (name, text) = request.fixed(entry, now: now, base: path)
            written.append((name, text))
            append(name, text, to: &head)
            let parts = entry.list
            if parts.count < 3 || parts[2] == .flag(true) {
                promised.removeAll { $0.name == name }
                promised.append((name, SuiteRun.field(name, in: head.headerFields) ?? ""))
            }
        }
        if head.headerFields[.contentType] == nil {
            append("Content-Type", "text/plain", to: &head)
        }
        let numbers = state.withLock { state in
            state.seen.append(
                Seen(
                    number: number,
                    method: call.head.method.rawValue,
                    fields: fields,
                    promised: promised
                )
            )
            state.written[number] = written
            return state.seen.map { String($0.number) }
        }
        append("Request-Numbers", numbers.joined(separator: " "), to: &head)
        if request.disconnect == true { throw TransportError(.connectionLost) }
        return reply(head, to: call.head.method, request, now)
    }

    /// Adds the fields that Node adds, and the body.
    private func reply(
        _ head: HTTPResponse,
        to method: HTTPRequest.Method,
        _ request: CacheCase.Request,
        _ now: Int64
    ) -> HTTPReply {
        var head = head
        if head.headerFields[.date] == nil {
            append("Date", SuiteDate.text(now / 1000, isRFC850: false), to: &head)
        }
        append("Connection", "keep-alive", to: &head)
        append("Keep-Alive", "timeout=5", to: &head)
        guard ![204, 304].contains(head.status.code) else { return HTTPReply(head: head) }
        var body = Array((request.responseBody?.text ?? token).utf8)
        if let length = head.headerFields[.contentLength].flatMap({ Int($0) }) {
            body = Array(body.prefix(length))
        } else {
            append("Content-Length", String(body.count), to: &head)
        }
        return HTTPReply(head: head, body: method == .head ? .empty : .chunks([body]))
    }

    private func status(
        of request: CacheCase.Request,
        _ number: Int,
        _ fields: HTTPFields
    ) -> HTTPResponse.Status {
        if request.expectedType?.hasSuffix("validated") == true {
            // A request answered from the cache leaves the case's own fields unchanged.
            let previous =
                state.withLock { $0.written[number - 1] }
                ?? (test.requests[number - 2].responseHeaders ?? []).compactMap { entry in
                    guard let name = entry.list.first?.text, let text = entry.list[1].text else {
                        return nil
                    }
                    return (name, text)
                }
            func isNamed(_ condition: String, _ validator: String) -> Bool {
                let text = previous.last { $0.name.lowercased() == validator }?.text
                return text != nil && SuiteRun.field(condition, in: fields) == text
            }
            if isNamed("if-modified-since", "last-modified") || isNamed("if-none-match", "etag") {
                return .notModified
            }
            return HTTPResponse.Status(code: 999, reasonPhrase: "304 Not Generated")
        }
        guard let given = request.responseStatus else { return .ok }
        return HTTPResponse.Status(
            code: given.first?.number ?? 200,
            reasonPhrase: given.last?.text ?? ""
        )
    }

    private func append(_ name: String, _ text: String, to head: inout HTTPResponse) {
        guard let name = HTTPField.Name(name) else { return }
        head.headerFields.append(HTTPField(name: name, value: text))
    }
}

/// The clock of a run, which moves only on demand.
final class SuiteClock: Sendable {
    private let micros = Mutex<Int64>(1_800_000_000_250_000)

    var microseconds: Int64 { micros.withLock { $0 } }
    var milliseconds: Int64 { microseconds / 1000 }

    func advance(by seconds: Double) { micros.withLock { $0 += Int64(seconds * 1_000_000) } }
}
