import Combine
import CoreLocation
import Foundation
import KeelCore
import KeelLocation
import Synchronization
import Testing

@Suite("The publishers on a stand-in", .timeLimit(.minutes(2)))
struct PublisherTests {
    /// `@unchecked`, because of the subscription, which is set before any other call.
    private final class Sink<Input: Sendable, Failure: Error>: Subscriber, @unchecked Sendable {
        private struct Memory {
            var inputs: [Input] = []
            var completion: Subscribers.Completion<Failure>?
        }

        private var subscription: (any Subscription)?
        private let memory = Mutex(Memory())
        private let signal = Signal()
        private let demand: Subscribers.Demand

        init(_ demand: Subscribers.Demand) { self.demand = demand }

        func receive(subscription: any Subscription) {
            self.subscription = subscription
            subscription.request(demand)
        }

        func receive(_ input: Input) -> Subscribers.Demand {
            memory.withLock { $0.inputs.append(input) }
            signal.raise()
            return .none
        }

        func receive(completion: Subscribers.Completion<Failure>) {
            memory.withLock { $0.completion = completion }
            signal.raise()
        }

        var states: [Input] { memory.withLock { $0.inputs } }

        var completion: Subscribers.Completion<Failure>? { memory.withLock { $0.completion } }

        func request(_ demand: Subscribers.Demand) { subscription?.request(demand) }

        func cancel() { subscription?.cancel() }

        func wait(for count: Int) async { await wait { self.states.count >= count } }

        func waitForCompletion() async { await wait { self.completion != nil } }

        func wait(until condition: () -> Bool) async {
            while !Task.isCancelled {
                let generation = signal.generation
                if condition() { return }
                await signal.wait(since: generation)
            }
        }
    }

    /// Settings with which no position becomes stale during a test.
    private let configuration = LocationService.Configuration(staleAfter: .seconds(3600))

    private func fix(_ longitude: Double) throws -> LocationFix {
        try LocationFix(
            LocationCoordinate(latitude: 1, longitude: longitude),
            time: Date(timeIntervalSince1970: 0)
        )
    }

    @Test("A subscriber receives the states, and monitoring ends with the subscription")
    func states() async throws {
        let adapter = ScriptedLocationAdapter()
        let sink = Sink<LocationState, Never>(.unlimited)
        let publisher = LocationService(adapter, configuration: configuration).statePublisher
        #expect(adapter.totalMonitorCount == 0)
        publisher.receive(subscriber: sink)
        await sink.wait(for: 1)
        let fix = try fix(2)
        adapter.send(.fix(fix))
        await sink.wait(for: 2)
        #expect(sink.states == [.searching, .fixed(fix)])
        sink.cancel()
        await adapter.waitForMonitors(0)
    }

    @Test("A subscriber with limited demand receives the newest state when it asks again")
    func demand() async throws {
        let adapter = ScriptedLocationAdapter()
        let sink = Sink<LocationState, Never>(.max(1))
        let location = LocationService(adapter, configuration: configuration)
        location.statePublisher.receive(subscriber: sink)
        await sink.wait(for: 1)
        for longitude in 0..<20 { adapter.send(.fix(try fix(Double(longitude)))) }
        #expect(sink.states.count == 1)
        // The subscription may already have taken an older state, which it passes on first.
        sink.request(.max(2))
        let newest = LocationState.fixed(try fix(19))
        await sink.wait { sink.states.last == newest }
        #expect(sink.states.last == newest)
        #expect(sink.states.count <= 3)
        sink.cancel()
        await adapter.waitForMonitors(0)
    }

    @Test("A subscriber receives fixes that are far enough apart, and monitoring ends with it")
    func fixes() async throws {
        let adapter = ScriptedLocationAdapter()
        let sink = Sink<LocationFix, LocationError>(.unlimited)
        let publisher = LocationService(adapter).fixPublisher(minimumDistance: 1000)
        #expect(adapter.totalMonitorCount == 0)
        publisher.receive(subscriber: sink)
        await adapter.waitForMonitors(1)
        let fixes = try [2, 2.0001, 3].map { try fix($0) }
        for fix in fixes { adapter.send(.fix(fix)) }
        await sink.wait(for: 2)
        #expect(sink.states == [fixes[0], fixes[2]])
        sink.cancel()
        await adapter.waitForMonitors(0)
        #expect(sink.completion == nil)
    }

    @Test("Fixes are converted to Core Location values by the publisher's map")
    func mapped() async throws {
        let adapter = ScriptedLocationAdapter()
        let location = LocationService(adapter)
        let sink = Sink<CLLocation, LocationError>(.unlimited)
        let publisher = location.fixPublisher(minimumDistance: 10).map(CLLocation.init)
        publisher.receive(subscriber: sink)
        await adapter.waitForMonitors(1)
        adapter.send(.fix(try fix(2)))
        await sink.wait(for: 1)
        #expect(sink.states.map(\.coordinate.longitude) == [2])
        sink.cancel()
        await adapter.waitForMonitors(0)
    }

    @Test("A lasting failure ends the fixes, and a transient failure does not")
    func failure() async throws {
        let adapter = ScriptedLocationAdapter()
        let sink = Sink<LocationFix, LocationError>(.unlimited)
        LocationService(adapter).fixPublisher().receive(subscriber: sink)
        await adapter.waitForMonitors(1)
        adapter.send(.failure(LocationError(.unavailable, "It is away.")))
        adapter.send(.fix(try fix(2)))
        await sink.wait(for: 1)
        adapter.send(.failure(LocationError(.permissionDenied, "No.")))
        await sink.waitForCompletion()
        guard case .failure(let error) = sink.completion else {
            Issue.record("no failure: \(String(describing: sink.completion))")
            return
        }
        #expect(error.code == .permissionDenied)
        await adapter.waitForMonitors(0)
    }

    @Test("A subscriber that asks for two fixes receives two, and the rest when it asks again")
    func demandOfFixes() async throws {
        let adapter = ScriptedLocationAdapter()
        let sink = Sink<LocationFix, LocationError>(.max(2))
        LocationService(adapter).fixPublisher().receive(subscriber: sink)
        await adapter.waitForMonitors(1)
        let fixes = try (0..<5).map { try fix(Double($0)) }
        for fix in fixes { adapter.send(.fix(fix)) }
        await sink.wait(for: 2)
        #expect(sink.states == Array(fixes.prefix(2)))
        sink.request(.unlimited)
        await sink.wait(for: 5)
        #expect(sink.states == fixes)
        sink.cancel()
        await adapter.waitForMonitors(0)
    }
}
