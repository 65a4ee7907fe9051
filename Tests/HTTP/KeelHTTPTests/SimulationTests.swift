import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

/// Random faults on a virtual clock.
///
/// `KEEL_SCHEDULES` sets the number of schedules, `KEEL_SEED` the first seed.
@Suite("Simulated origins", .timeLimit(.minutes(10)))
struct SimulationTests {
    private static let baseURL = URL(string: "https://api.example.com/v1")

    private static let schedules = TestLength.count(
        "KEEL_SCHEDULES",
        5_000 as UInt64,
        thorough: 20_000
    )
    private static let seed = SeededRandom.chosenSeed()
    private static let parts: UInt64 = TestLength.count(2, thorough: 8)

    private struct Operation: ServiceEndpoint {
        var method: HTTPRequest.Method
        var key: String?
        var path: EndpointPath { "/things/7" }
        var body: RequestBody? { method == .post || method == .put ? .bytes([1, 2]) : nil }
        var headers: HTTPFields { key.map { [.idempotencyKey: $0] } ?? [:] }
        var isIdempotent: Bool { method != .post || key != nil }
    }

    private static func operation(_ random: inout SeededRandom) -> Operation {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: Operation(method: .get)
        case 1: Operation(method: .put)
        case 2: Operation(method: .post, key: "k")
        default: Operation(method: .post)
        }
    }

    private static func client(
        _ origin: SimulatedOrigin,
        _ clock: any Clock<Duration>,
        _ change: (inout NetworkClient.Configuration) -> Void = { _ in }
    ) throws -> NetworkClient {
        var configuration = NetworkClient.Configuration(baseURL: try #require(baseURL))
        configuration.clock = clock
        configuration.timeout = nil
        configuration.redirects = .all
        configuration.retry.jitter = { 0.5 }
        change(&configuration)
        return NetworkClient(configuration, transport: origin)
    }

    @Test(
        "No work is done twice, no success is lost and no attempt limit is exceeded",
        arguments: 0..<parts
    )
    func keepsPromises(part: UInt64) async throws {
        let count = (Self.schedules + Self.parts - 1) / Self.parts
        for number in 0..<count {
            let seed = Self.seed &+ part &* count &+ number
            let failure = try await Self.run(seed)
            guard failure == nil else { return fail("seed \(seed): \(failure ?? "")") }
        }
    }

    /// Runs one schedule; returns a description of the failure, if any.
    private static func run(_ seed: UInt64) async throws -> String? {
        var random = SeededRandom(seed: seed)
        let rate = [0.2, 0.5, 0.9][Int.random(in: 0..<3, using: &random)]
        let schedule = FaultSchedule.random(12, rate: rate, using: &random)
        let operation = operation(&random)
        let clock = ImmediateClock()
        let origin = SimulatedOrigin(schedule, clock: clock)
        let client = try client(origin, clock)
        let result = await client.response(to: operation)
        return verdict(result, operation, schedule, origin)
    }

    private static func verdict(
        _ result: Result<NetworkResponse, TransportError>,
        _ operation: Operation,
        _ schedule: FaultSchedule,
        _ origin: SimulatedOrigin
    ) -> String? {
        let requests = origin.requests
        let met = (0..<requests.count).map {
            schedule.faults.indices.contains($0) ? schedule.faults[$0] : nil
        }
        let story =
            "\(operation.method) \(operation.key ?? "") met \(FaultSchedule(met)): \(result)"
        if operation.method == .post, origin.work["POST /v1/things/7", default: 0] > 1 {
            return "the work was done twice; \(story)"
        }
        // Attempts are counted per hop.
        for target in Set(requests.map(\.path)) {
            let hop = zip(requests, met).filter { $0.0.path == target }.map(\.1)
            if attempts(hop) > 3 { return "too many attempts; \(story)" }
        }
        guard let last = met.last else { return "nothing was sent; \(story)" }
        let method = requests.last?.method ?? .get
        if case .success(let response) = result, response.status.code == 200 {
            let name = "\(method.rawValue) /v1/things/7"
            guard response.body == Array(name.utf8),
                origin.work[name, default: 0] > 0 || operation.key != nil
            else { return "the response is not whole; \(story)" }
            return nil
        }
        if last == nil { return "a success was lost; \(story)" }
        if case .drip = last { return "a slow success was lost; \(story)" }
        // A repeatable call is retried as often as allowed.
        let tries = attempts(
            zip(requests, met).filter { $0.0.path == requests.last?.path }.map(\.1)
        )
        let mayRepeat = operation.isIdempotent || method != .post
        let isFinal: Bool =
            switch last {
            case .throttled(let seconds): seconds > 60
            case .status(let status): status == 421 || status == 425
            case .redirect: true
            default: false
            }
        if mayRepeat, tries < 3, !isFinal, last != .staleSent, last != .staleUnsent {
            return "it was given up early; \(story)"
        }
        return nil
    }

    /// Counts the attempts of these requests; within an attempt, the first closed connection is free.
    private static func attempts(_ faults: [FaultSchedule.Fault?]) -> Int {
        var count = 0
        var hadFreeOne = false
        for fault in faults {
            let isStale = fault == .staleSent || fault == .staleUnsent
            if isStale, !hadFreeOne {
                hadFreeOne = true
            } else {
                count += 1
                hadFreeOne = false
            }
        }
        return count
    }

    @Test("No limit on attempt, rate or total time fires early, and no work is done twice")
    func keepsLimits() async throws {
        for number in 0..<200 {
            let seed = Self.seed &+ UInt64(number)
            var random = SeededRandom(seed: seed)
            let schedule = FaultSchedule.random(12, rate: 0.7, using: &random)
            let operation = Self.operation(&random)
            let clock = TestClock()
            let origin = SimulatedOrigin(schedule, clock: clock)
            let client = try Self.client(origin, clock) {
                $0.timeout = .seconds(6)
                $0.timeouts.attempt = .seconds(2)
                $0.timeouts.minimumRate = TransferRate(bytes: 2, per: .seconds(1))
            }
            let result = try await clock.run { await client.response(to: operation) }
            if case .failure(let error) = result {
                #expect(
                    error.code != .deadlineExceeded || clock.elapsed >= .seconds(6),
                    "seed \(seed): \(result)"
                )
                let late = error.attempts.filter { $0.outcome == .failed(.attemptTimeout) }
                #expect(late.allSatisfy { $0.duration >= .seconds(2) }, "seed \(seed): \(late)")
            }
            #expect(
                operation.method != .post || origin.work["POST /v1/things/7", default: 0] <= 1,
                "seed \(seed): \(result)"
            )
        }
    }

    @Test("The same seed gives the same run")
    func repeats() async throws {
        var runs: [[HTTPRequest]] = []
        for _ in 1...2 {
            var random = SeededRandom(seed: 7)
            let clock = ImmediateClock()
            let schedule = FaultSchedule.random(200, rate: 0.5, using: &random)
            let origin = SimulatedOrigin(schedule, clock: clock)
            let client = try Self.client(origin, clock) { $0.retry.budget = .unlimited }
            for _ in 1...50 { _ = await client.response(to: Operation(method: .get)) }
            runs.append(origin.requests)
        }
        #expect(runs[0] == runs[1])
    }

    @Test("A thousand calls put at most a tenth more load on a dead server")
    func sparesDeadServers() async throws {
        let clock = ImmediateClock()
        let dead = FaultSchedule(Array(repeating: .refused, count: 3000))
        let origin = SimulatedOrigin(dead, clock: clock)
        let client = try Self.client(origin, clock)
        for _ in 1...1000 { _ = await client.response(to: Operation(method: .get)) }
        #expect(origin.requests.count <= 1100)
    }
}
