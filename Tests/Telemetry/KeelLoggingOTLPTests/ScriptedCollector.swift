#if Logging

import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import Synchronization

/// A collector that accepts logs in JSON and counts each record by its identifier.
///
/// It misbehaves by scripted answers to the next requests, or by a rule for their records.
final class ScriptedCollector: HTTPTransportDouble {
    /// A record as received by the collector.
    struct Seen: Hashable {
        let id: String
        let body: String
    }

    /// The behavior for a request.
    enum Behavior: Sendable {
        /// Accepts the records.
        case takes
        /// Accepts the records, and loses the reply.
        case losesReply
        /// Cannot be reached.
        static var isAway: Self { .fails(.connectionRefused) }
        /// Fails, without accepting the records.
        case fails(TransportError.Code)
        /// Answers with a status and fields, and accepts nothing.
        case answers(Int, HTTPFields = [:])
        /// Accepts the records, and reports this number of them as refused.
        case refuses(Int)
        /// Gives a test's answer, and accepts the records if it is one of success.
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

    /// Sets the behavior for the next requests, and for those after them.
    func behave(_ script: [Behavior], then fallback: Behavior = .takes) {
        state.withLock { state in
            state.script = script
            state.fallback = fallback
        }
    }

    /// Sets the behavior for requests with certain records; nil leaves it to the script.
    func rule(_ rule: @escaping @Sendable ([Seen]) -> Behavior?) {
        state.withLock { $0.rule = rule }
    }

    /// The number of arrivals of each text, for any identifier.
    var bodies: [String: Int] {
        state.withLock { state in
            state.taken.values.reduce(into: [:]) { $0[$1.body, default: 0] += 1 }
        }
    }

    /// The number of arrivals of each identifier.
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
        case .fails(let code): throw TransportError(code)
        case .answers(let status, let fields):
            return HTTPReply(head: HTTPResponse(status: .init(code: status), headerFields: fields))
        case .replies(let reply) where reply().head.status.kind != .successful: return reply()
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
