import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import Synchronization

protocol RetrySuite { var clock: TestClock { get } }

extension RetrySuite {
    /// Returns a client without a total limit, whose pauses are the longest that the policy allows.
    func client(
        _ transport: some HTTPTransport,
        _ change: (inout NetworkClient.Configuration) -> Void = { _ in }
    ) throws -> NetworkClient {
        var configuration = try NetworkClient.Configuration("https://api.example.com/v1")
        configuration.clock = clock
        configuration.timeout = nil
        configuration.retry.jitter = { 1 }
        change(&configuration)
        return NetworkClient(configuration, transport: transport)
    }

    func call(
        _ method: HTTPRequest.Method,
        _ fields: HTTPFields = [:],
        body: HTTPBody? = nil
    ) -> HTTPCall {
        HTTPCall(HTTPRequest("https://api.example.com/x", method, fields), body: body)
    }

    /// Runs a call and advances the clock whenever the call pauses.
    func run<Value: Sendable>(_ call: @escaping @Sendable () async -> Value) async -> Value {
        do {
            return try await clock.run { await call() }
        } catch {
            preconditionFailure("The call does not throw.")
        }
    }

    func failure(
        _ call: @escaping @Sendable () async -> Result<NetworkResponse, TransportError>
    ) async throws -> TransportError {
        guard case .failure(let error) = await run(call) else {
            throw TransportError(.unknown, "The call succeeded.")
        }
        return error
    }
}

extension HTTPNext {
    /// The end of a chain that answers each call with a status and an empty body.
    static func answering(_ status: HTTPResponse.Status) -> HTTPNext {
        HTTPNext { _ async throws(TransportError) in HTTPReply(head: HTTPResponse(status: status)) }
    }
}

struct Post: ServiceEndpoint {
    var key: String?
    var isIdempotent: Bool?
    var body: RequestBody? { .bytes([1, 2, 3]) }
    var method: HTTPRequest.Method { .post }
    var path: EndpointPath { "/things" }
    var headers: HTTPFields { key.map { [.idempotencyKey: $0] } ?? [:] }
    var options: HTTPCallOptions {
        var options = HTTPCallOptions()
        options.isIdempotent = isIdempotent
        return options
    }
}

/// A recorder of the events of calls.
final class EventLog: HTTPEventObserver {
    private let state = Mutex<[HTTPEvent]>([])

    var events: [HTTPEvent] { state.withLock { $0 } }

    var pauses: [Duration] {
        events.compactMap { event in
            guard case .retrying(let pause, _) = event.kind else { return nil }
            return pause
        }
    }

    var refusals: [RetryRefusal] {
        events.compactMap { event in
            guard case .notRetried(let refusal) = event.kind else { return nil }
            return refusal
        }
    }

    var attempts: Set<Int> { Set(events.map(\.attempt)) }

    func observe(_ event: HTTPEvent) { state.withLock { $0.append(event) } }
}
