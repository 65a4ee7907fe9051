#if Logging

import Foundation
import HTTPTypes
import KeelHTTP
import Synchronization

/// A collector that takes logs in JSON and counts each record by its identifier.
///
/// It is made to misbehave: by answers for the next requests, or by a rule over their records.
final class ScriptedCollector: HTTPTransport {
    /// What a collector knows of a record.
    struct Seen: Hashable {
        let id: String
        let body: String
    }

    /// What becomes of a request.
    enum Behavior: Sendable {
        /// Its records are taken.
        case takes
        /// Its records are taken, and the answer is lost.
        case losesReply
        /// It cannot be reached.
        case isAway
        /// It answers with a status and fields, and takes nothing.
        case answers(Int, HTTPFields = [:])
        /// It takes them, and says that it has refused so many.
        case refuses(Int)
        /// It gives an answer of the test's own; one of success means that its records are taken.
        case replies(@Sendable () -> HTTPReply)
    }

    struct State {
        var script: [Behavior] = []
        var fallback = Behavior.takes
        var rule: (@Sendable ([Seen]) -> Behavior?)?
        var taken: [String: (count: Int, body: String)] = [:]
        var requests: [(head: HTTPRequest, body: [UInt8])] = []
    }

    let state = Mutex(State())
    let features: HTTPTransportFeatures = []

    /// Sets what becomes of the next requests, and of those after them.
    func behave(_ script: [Behavior], then fallback: Behavior = .takes) {
        state.withLock { state in
            state.script = script
            state.fallback = fallback
        }
    }

    /// Sets what becomes of requests with certain records; nil leaves them to the script.
    func rule(_ rule: @escaping @Sendable ([Seen]) -> Behavior?) {
        state.withLock { $0.rule = rule }
    }

    /// How often each text has arrived, whatever the identifier.
    var bodies: [String: Int] {
        state.withLock { state in
            state.taken.values.reduce(into: [:]) { $0[$1.body, default: 0] += 1 }
        }
    }

    /// How often the record of each identifier has arrived.
    var arrivals: [Int] { state.withLock { $0.taken.values.map(\.count) } }

    var requestCount: Int { state.withLock { $0.requests.count } }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let body = try await call.body?.open().collect(upTo: .max) ?? []
        let records = Self.records(body)
        let behavior = state.withLock { state in
            state.requests.append((call.head, body))
            if let decided = state.rule?(records) { return decided }
            return state.script.isEmpty ? state.fallback : state.script.removeFirst()
        }
        switch behavior {
        case .isAway:
            throw TransportError(.connectionRefused)
        case .answers(let status, let fields):
            return HTTPReply(head: HTTPResponse(status: .init(code: status), headerFields: fields))
        case .replies(let reply) where reply().head.status.kind != .successful:
            return reply()
        case .takes, .losesReply, .refuses, .replies:
            state.withLock { state in
                for record in records {
                    state.taken[record.id, default: (0, record.body)].count += 1
                }
            }
        }
        if case .losesReply = behavior { throw TransportError(.connectionLost) }
        if case .replies(let reply) = behavior { return reply() }
        var text = "{}"
        if case .refuses(let count) = behavior {
            text = #"{"partialSuccess":{"rejectedLogRecords":"\#(count)","errorMessage":"no"}}"#
        }
        return HTTPReply(
            head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
            body: .chunks([Array(text.utf8)])
        )
    }

    func shutdown() async {}

    private static func records(_ body: [UInt8]) -> [Seen] {
        struct Request: Decodable {
            struct Resource: Decodable { let scopeLogs: [Scope] }
            struct Scope: Decodable { let logRecords: [Record] }
            struct Record: Decodable {
                let body: Value
                let attributes: [Attribute]
            }
            struct Attribute: Decodable {
                let key: String
                let value: Value
            }
            struct Value: Decodable { let stringValue: String? }
            let resourceLogs: [Resource]
        }
        guard let request = try? JSONDecoder().decode(Request.self, from: Data(body)) else {
            return []
        }
        return request.resourceLogs.flatMap(\.scopeLogs).flatMap(\.logRecords).map { record in
            let id = record.attributes.first { $0.key == "log.record.uid" }?.value.stringValue
            return Seen(id: id ?? "", body: record.body.stringValue ?? "")
        }
    }
}

#endif
