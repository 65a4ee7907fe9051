import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import Synchronization

/// Keel's behavior towards failing servers, in virtual time.
extension HTTPGroup {
    // MARK: A dead server

    static func deadLoad(_ options: Options) -> Measure {
        Measure(
            name: "dead server, requests per call / 3 attempts",
            unit: "",
            target: .keelAtMost(1.10),
            maximumRounds: 7,
            keel: { try await callDead(options.scaled(1_000)) { try $0.keel() }.load },
            peer: { try await callDead(options.scaled(1_000)) { $0.naive() }.load }
        )
    }

    static func deadTime(_ options: Options) -> Measure {
        Measure(
            name: "dead server, time to an error / 3 attempts",
            unit: "ms",
            target: .atMost(0.25),
            maximumRounds: 7,
            keel: { try await callDead(options.scaled(1_000)) { try $0.keel() }.median },
            peer: { try await callDead(options.scaled(1_000)) { $0.naive() }.median }
        )
    }

    private typealias Call = @Sendable () async throws -> Void

    /// Makes calls that all fail; returns the requests per call and the median time in milliseconds.
    @concurrent
    private static func callDead(
        _ count: Int,
        _ make: @Sendable (DeadServer) throws -> Call
    ) async throws -> (load: Double, median: Double) {
        let server = DeadServer()
        let call = try make(server)
        var times: [Double] = []
        for _ in 0..<count {
            let start = server.clock.now
            do {
                try await call()
                throw Flaw("A dead server answered.")
            } catch is TransportError {
                times.append(start.duration(to: server.clock.now) / .milliseconds(1))
            }
        }
        return (Double(server.transport.calls.count) / Double(count), times.median)
    }

    /// A server that refuses each connection after 20 ms.
    private struct DeadServer: Sendable {
        let clock: ImmediateClock
        let transport: ScriptedHTTPTransport

        init() {
            let clock = ImmediateClock()
            self.clock = clock
            transport = ScriptedHTTPTransport(
                then: .init { _ async throws(TransportError) in
                    try? await clock.sleep(for: .milliseconds(20))
                    throw TransportError(.connectionRefused)
                }
            )
        }

        /// Keel's client with its default retries.
        func keel() throws -> Call {
            let transport = transport
            guard let address = URL(string: "http://dead.example.com") else {
                throw Flaw("No address.")
            }
            var configuration = NetworkClient.Configuration(baseURL: address)
            configuration.clock = clock
            // On this clock a limit would expire immediately.
            configuration.timeout = nil
            let client = NetworkClient(configuration, transport: transport)
            return { _ = try await client.response(to: HTTPPair.GetSmall()).get() }
        }

        /// Three attempts with the same random delays and no budget.
        func naive() -> Call {
            let (clock, transport) = (clock, transport)
            return {
                let head = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/")
                for pause in [50.0, 100] {
                    do throws(TransportError) {
                        _ = try await transport.send(HTTPCall(head))
                        return
                    } catch {
                        try await clock.sleep(for: .milliseconds(pause * .random(in: 0...1)))
                    }
                }
                _ = try await transport.send(HTTPCall(head))
            }
        }
    }

    // MARK: A server that is slow now and then

    static func hedgedLatency(_ options: Options) -> Measure {
        let count = options.scaled(30_000)
        return Measure(
            name: "hedging, p99 with 1 % slow / without",
            unit: "ms",
            target: .atMost(0.35),
            maximumRounds: 7,
            keel: { try await callSlow(count, hedges: true).p99 },
            peer: { try await callSlow(count, hedges: false).p99 }
        )
    }

    static func hedgedLoad(_ options: Options) -> Measure {
        let count = options.scaled(30_000)
        return Measure(
            name: "hedging, requests per call / without",
            unit: "",
            target: .keelAtMost(1.03),
            maximumRounds: 7,
            keel: { try await callSlow(count, hedges: true).load },
            peer: { try await callSlow(count, hedges: false).load }
        )
    }

    @concurrent
    private static func callSlow(
        _ count: Int,
        hedges: Bool
    ) async throws -> (load: Double, p99: Double) {
        let time = VirtualTime()
        let requests = Mutex((sent: 0, slow: 0))
        let server = HTTPNext { _ async throws(TransportError) in
            let isSlow = requests.withLock { requests in
                // One in each hundred, at a random position.
                if requests.sent.isMultiple(of: 100) {
                    requests.slow = requests.sent + .random(in: 0..<100)
                }
                defer { requests.sent += 1 }
                return requests.sent == requests.slow
            }
            let usual = Duration.milliseconds(Int.random(in: 50...100))
            guard (try? await time.sleep(for: isSlow ? usual * 20 : usual)) != nil else {
                throw TransportError(.cancelled)
            }
            return HTTPReply(head: HTTPResponse(status: .ok))
        }
        let layer = HedgingMiddleware(clock: time)
        let head = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/")
        let times = try await time.run {
            var times: [Double] = []
            for _ in 0..<count {
                let start = time.now
                if hedges {
                    _ = try await layer.intercept(HTTPCall(head), next: server)
                } else {
                    _ = try await server(HTTPCall(head))
                }
                times.append(start.duration(to: time.now) / .milliseconds(1))
            }
            return times
        }
        return (Double(requests.withLock { $0.sent }) / Double(count), times.p99)
    }
}

extension [Double] {
    /// The 99th percentile.
    var p99: Double { isEmpty ? .nan : sorted()[count * 99 / 100] }
}
