import Combine
import Foundation
import KeelCore
import KeelLocation
import Synchronization
import Testing

@Suite("The publisher of states on a stand-in", .timeLimit(.minutes(2)))
struct PublisherTests {
    /// `@unchecked`, because of the subscription, which is set before anything else is called.
    private final class Sink: Subscriber, @unchecked Sendable {
        typealias Input = LocationState
        typealias Failure = Never

        private var subscription: (any Subscription)?
        private let received = Mutex<[LocationState]>([])
        private let signal = Signal()
        private let demand: Subscribers.Demand

        init(_ demand: Subscribers.Demand) { self.demand = demand }

        func receive(subscription: any Subscription) {
            self.subscription = subscription
            subscription.request(demand)
        }

        func receive(_ input: LocationState) -> Subscribers.Demand {
            received.withLock { $0.append(input) }
            signal.raise()
            return .none
        }

        func receive(completion: Subscribers.Completion<Never>) {}

        var states: [LocationState] { received.withLock { $0 } }

        func request(_ demand: Subscribers.Demand) { subscription?.request(demand) }

        func cancel() { subscription?.cancel() }

        func wait(for count: Int) async {
            while !Task.isCancelled {
                let generation = signal.generation
                if states.count >= count { return }
                await signal.wait(since: generation)
            }
        }
    }

    private func fix(_ longitude: Double) throws -> LocationFix {
        try LocationFix(
            LocationCoordinate(latitude: 1, longitude: longitude),
            time: Date(timeIntervalSince1970: 0)
        )
    }

    @Test("A subscriber gets the states, and nobody monitors after it")
    func states() async throws {
        let adapter = ScriptedLocationAdapter()
        let sink = Sink(.unlimited)
        let publisher = LocationService(adapter).statePublisher
        #expect(adapter.monitoringCount == 0)
        publisher.receive(subscriber: sink)
        await sink.wait(for: 1)
        let fix = try fix(2)
        adapter.send(.fix(fix))
        await sink.wait(for: 2)
        #expect(sink.states == [.searching, .fixed(fix)])
        sink.cancel()
        await adapter.waitForMonitors(0)
    }

    @Test("One that asks for less gets the newest when it asks again")
    func demand() async throws {
        let adapter = ScriptedLocationAdapter()
        let sink = Sink(.max(1))
        let location = LocationService(adapter)
        location.statePublisher.receive(subscriber: sink)
        await sink.wait(for: 1)
        for longitude in 0..<20 { adapter.send(.fix(try fix(Double(longitude)))) }
        #expect(sink.states.count == 1)
        // One state was taken out before there was a demand for it.
        sink.request(.max(2))
        await sink.wait(for: 3)
        #expect(sink.states.last == .fixed(try fix(19)))
        sink.cancel()
        await adapter.waitForMonitors(0)
    }
}
